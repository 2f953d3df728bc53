"""One state directory with one agent of OpenClaw's, watched."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.bridges.openclaw import HandoffFiles
from jsonlstore.core.config import Config
from jsonlstore.core.paths import StatePaths
from jsonlstore.handoff import HandoffRecord, kept_handoff
from jsonlstore.store.schema import problems
from jsonlstore.store.store import SessionStore
from jsonlstore.watch.loop import Watcher
from tests.watch.conftest import IMPATIENT, Talk

if TYPE_CHECKING:
    from pathlib import Path

ID = "11111111-2222-4333-8444-555555555555"
OTHER = "22222222-2222-4333-8444-555555555555"
KEY = "agent:main:main"
SECRET = "ghp_" + "q7v2kd9zt5m1" * 3


class Place:
    """What OpenClaw of the files' era writes, and what we make of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sessions = path / "agents" / "main" / "sessions"
        self.sessions.mkdir(parents=True)
        self.file = self.sessions / f"{ID}.jsonl"
        self.talk = Talk(ID)
        self.lines = [self.talk.header]
        self.now = datetime(2026, 9, 21, 15, 0, tzinfo=UTC)
        self.refer(ID)

    def refer(self, session_id: str) -> None:
        """The session index names the current session of the key."""
        entry = {"sessionId": session_id, "updatedAt": 1, "contextTokens": 64000}
        (self.sessions / "sessions.json").write_text(json.dumps({KEY: entry}))

    def store(self) -> SessionStore:
        store = SessionStore(StatePaths.of(self.path), clock=lambda: self.now)
        store.listeners.append(HandoffFiles(store))
        return store

    def say(self, *records: dict[str, Any]) -> None:
        self.lines += records
        self.file.write_text("".join(json.dumps(one) + "\n" for one in self.lines))

    def watch(self, **settings: Any) -> HandoffRecord | None:
        Watcher(self.store(), Config(search_enabled=False, **settings), timing=IMPATIENT).once()
        return self.kept()

    def kept(self, session_id: str = ID) -> HandoffRecord | None:
        return kept_handoff(self.store().folded(session_id))

    def work(self, turns: int) -> None:
        for number in range(turns):
            self.say(
                self.talk.user(f"Please fix part {number} of the antenna. The token is {SECRET}"),
                self.talk.assistant(f"Part {number} is fixed. Next step: measure part {number + 1}."),
            )

    def tools(self, calls: int, size: int = 10) -> None:
        """A turn with so many tool calls, and results of this size."""
        self.say(self.talk.user("Please read the log of the antenna."))
        for number in range(calls):
            call = {"type": "toolCall", "id": f"c{number}", "name": "read", "arguments": {"path": f"log{number}"}}
            self.say(self.talk._entry("message", message={"role": "assistant", "content": [call]}))
            content = [{"type": "text", "text": "x" * size}]
            result = {"role": "toolResult", "toolCallId": f"c{number}", "toolName": "read", "content": content}
            self.say(self.talk._entry("message", message=result))

    @property
    def folder(self) -> Path:
        return self.path / "agents" / "main" / "handoff"

    @property
    def files(self) -> list[Path]:
        return [path for path in self.folder.rglob("*") if path.is_file()]


def check_files(folder: Path) -> list[str]:
    """Every file below a handoff folder is what its schema says, small and private; their names."""
    for path in folder.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
        if path.is_dir():
            continue
        if path.parent.name == "patterns":
            for line in path.read_bytes().splitlines():
                assert problems("handoff-pattern", orjson.loads(line)) == [], path
        elif path.parent.name == "resume":
            assert problems("handoff-pending", orjson.loads(path.read_bytes())) == [], path
        else:
            assert problems("handoff", orjson.loads(path.read_bytes())) == [], path
            assert path.stat().st_size <= 8 * 1024
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
