"""A real OpenClaw with our bridge in it: a gateway, the mock model, the watcher if the mode wants one."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonlstore
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.paths import StatePaths
from jsonlstore.store.store import SessionStore
from tests.openclaw.lab import OpenClaw, wait_until
from tests.openclaw.model import Model, said_by_user, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

BRIDGE = Path(jsonlstore.__file__).parent / "bridges" / "openclaw"
PINS = Path(__file__).parent / "pins"
COMMAND = [sys.executable, "-m", "jsonlstore"]
MODES = ("plugin", "watcher", "both")
# looks like a token to the redactor, and never was one
SECRET = "ghp_" + "q7v2kd9zt5m1" * 3
UTILITY = "Based on this conversation, generate a short"
GREETING = "A new session was started via /new or /reset"
_BLOCK = re.compile(r"<session-continuity.*?</session-continuity>", re.DOTALL)


def settings_for(mode: str, version: str, ours: dict[str, Any] | None = None) -> dict[str, Any]:
    """openclaw.json's part for a mode: our plugin with settings of ours, or our hook, and always pins that forget."""
    entries: dict[str, Any] = {"pins": {"enabled": True}}
    paths = [str(PINS)]
    internal: dict[str, Any] = {"enabled": True}
    if mode in ("plugin", "both"):
        paths.append(str(BRIDGE / "plugin"))
        entries["jsonlstore"] = {"enabled": True, "config": {"command": COMMAND, "timeoutMs": 5000, **(ours or {})}}
        if version >= "2026.4":
            entries["jsonlstore"]["hooks"] = {"allowConversationAccess": True}
    if mode in ("watcher", "both"):
        internal["load"] = {"extraDirs": [str(BRIDGE / "hook")]}
        ours = {"enabled": True, "command": COMMAND, "timeoutMs": 5000}
        internal["entries"] = {"jsonlstore": ours, "session-memory": {"enabled": True}}
    settings: dict[str, Any] = {
        "plugins": {"load": {"paths": paths}, "entries": entries},
        "hooks": {"internal": internal},
    }
    if version >= "2026.8":
        settings["tools"] = {"toolSearch": False}
    return settings


@dataclass(frozen=True, slots=True)
class Sent:
    """One request to the model: what stands inside our wrapper, and what stands outside it."""

    inside: str
    outside: str

    @classmethod
    def of(cls, body: dict[str, Any]) -> Sent:
        text = "\n".join(text_of(one.get("content")) for one in body.get("messages", []))
        return cls("\n".join(_BLOCK.findall(text)), _BLOCK.sub("", text))

    @property
    def blocks(self) -> int:
        return self.inside.count("<session-continuity")


class Stage:
    """Everything that runs during one story."""

    def __init__(
        self, version: str, mode: str, home: Path, ours: dict[str, Any] | None = None, **settings: Any
    ) -> None:
        self.mode, self.version = mode, version
        self.model = Model()
        self.openclaw = OpenClaw(version, home, self.model.port, **settings_for(mode, version, ours), **settings)
        self.state_dir = self.openclaw.state_dir
        self._settings = settings
        self._watcher: subprocess.Popen[bytes] | None = None
        if mode in ("watcher", "both"):
            command = [*COMMAND, "--state-dir", str(self.state_dir), "-q", "watch"]
            self._watcher = subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def upgrade(self, version: str) -> None:
        """Go on with the same home in another version of OpenClaw."""
        self.openclaw.stop()
        self.version = version
        settings = settings_for(self.mode, version)
        self.openclaw = OpenClaw(version, self.openclaw.home, self.model.port, **settings, **self._settings)
        self.openclaw.run("doctor", "--fix", "--non-interactive", "--yes", seconds=400)

    def close(self) -> None:
        self.openclaw.stop(signal.SIGKILL)
        self.model.close()
        if self._watcher is not None:
            self._watcher.terminate()
            self._watcher.wait(30)

    def turn(self, text: str, key: str) -> Sent:
        """One turn to its end; the first request it made."""
        words = text.partition("[[")[0].strip()
        self.openclaw.say(text, key)
        sent = self.wait_for_request(lambda said: words in said)
        wait_until(lambda: any(words in said for said in self.model.answered), what="the answer")
        return sent

    @property
    def compacts_when_asked(self) -> bool:
        """Whether a call makes a summary; up to 2026.3 it only cuts the file, and a full window has to do it."""
        return self.version >= "2026.4"

    def compact(self, key: str) -> None:
        """Have OpenClaw summarise a conversation."""
        self.openclaw.call("sessions.compact", key=key)

    def compactions(self) -> int:
        """How many summaries stand in the transcripts that are files."""
        return sum(path.read_bytes().count(b'"type":"compaction"') for path in self._transcripts())

    def _transcripts(self) -> list[Path]:
        return [path for path in (self.state_dir / "agents").rglob("*.jsonl*") if path.is_file()]

    def is_stored(self, words: str) -> bool:
        """Whether OpenClaw's own files hold these words; 2026.7's traces of what it sent are no history."""
        files = (path for path in (self.state_dir / "agents").rglob("*") if ".trajectory." not in path.name)
        return any(words.encode() in path.read_bytes() for path in files if path.is_file())

    def wait_for_request(self, wanted: Callable[[str], bool], since: int = 0) -> Sent:
        """The first request whose latest user words are the wanted ones."""

        def found() -> list[dict[str, Any]]:
            return [one for one in self.model.requests[since:] if wanted(said_by_user(one["messages"])[1])]

        wait_until(found, what="the request")
        return Sent.of(found()[0])

    def wait_for_state(self, task: str, pin: str) -> None:
        """Until our store has the open task and the pin: people are slower than this."""
        wait_until(lambda: self._kept(task, pin), 120, f"a state with {task!r}")

    def _kept(self, task: str, pin: str) -> bool:
        store = SessionStore.open(self.state_dir)
        try:
            states = [store.get(entry.session_id) for entry in store.entries()]
        except JsonlStoreError:
            return False
        return any(
            any(task in one.title for one in state.pending_tasks)
            and any(pin == one.label for one in state.working_memory)
            for state in states
        )

    def heartbeat(self) -> dict[str, Any]:
        path = StatePaths.of(self.state_dir).plugin_heartbeat
        try:
            found: dict[str, Any] = json.loads(path.read_bytes())
        except FileNotFoundError:
            return {}
        return found

    def runtime_runs(self, since: int, ours: Callable[[str], bool]) -> list[Sent]:
        """The requests since then that nobody's words led to: memory flushes, summaries, slugs."""
        return [Sent.of(one) for one in self.model.requests[since:] if not ours(said_by_user(one["messages"])[1])]

    def utility_runs(self) -> list[Sent]:
        return [Sent.of(one) for one in self.model.requests if said_by_user(one["messages"])[1].startswith(UTILITY)]

    def files_with_secret(self) -> list[Path]:
        """Our files that hold the secret; OpenClaw's own are OpenClaw's."""
        ours = [self.state_dir / "sessions", self.state_dir / "workspace" / "memory" / "working_memory.json"]
        files = [path for place in ours for path in (place, *place.rglob("*")) if path.is_file()]
        return [path for path in files if SECRET.encode() in path.read_bytes()]
