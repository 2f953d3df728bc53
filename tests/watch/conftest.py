"""A small OpenClaw on disk, and the promise that nothing of it is ever touched."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.core.config import Config
from jsonlstore.store.bulk import BulkStore
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.watch.backfill import backfill_sessions
from jsonlstore.watch.catch_up import Timing
from jsonlstore.watch.loop import Watcher
from jsonlstore.watch.tail import Tailer

if TYPE_CHECKING:
    from collections.abc import Iterator

# DECISION 47: what is a function of the transcript
DERIVED = (
    "hot_topics", "active_projects", "pending_tasks", "recent_learnings", "confidence_updates", "sop_interactions",
    "notes", "start_time", "last_topic", "in_progress", "next_step", "end_time", "working_memory",
    "last_request", "last_answer", "open_questions", "constraints", "commits", "files", "failing", "closed",
    "references", "grounds",
)  # fmt: skip
IMPATIENT = Timing(rescan=0.2, poll=0.1, debounce=0.0, report=0.2, grace=0.0)


def stamp(number: int, day: int = 21) -> str:
    return f"2026-09-{day:02}T{14 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"


class Talk:
    """The records of one session, as OpenClaw writes them."""

    def __init__(self, session_id: str, *, day: int = 21, version: int = 3) -> None:
        self.session_id, self.day, self.number, self.last = session_id, day, 0, None
        self.header = {
            "type": "session",
            "version": version,
            "id": session_id,
            "timestamp": stamp(0, day),
            "cwd": "/home/u/w",
        }

    def _entry(self, kind: str, **fields: Any) -> dict[str, Any]:
        self.number += 1
        entry_id = f"{hashlib.sha256(self.session_id.encode()).hexdigest()[:6]}{self.number:06x}"
        record = {
            "type": kind,
            "id": entry_id,
            "parentId": self.last,
            "timestamp": stamp(self.number, self.day),
            **fields,
        }
        self.last = entry_id
        return record

    def user(self, text: str) -> dict[str, Any]:
        return self._entry("message", message={"role": "user", "content": [{"type": "text", "text": text}]})

    def assistant(self, text: str) -> dict[str, Any]:
        return self._entry(
            "message",
            message={
                "role": "assistant",
                "content": [{"type": "text", "text": text}],
                "provider": "mock",
                "model": "m",
            },
        )

    def reset(self, reason: str = "new") -> dict[str, Any]:
        return self._entry("reset", reason=reason)

    def turn(self, about: str) -> list[dict[str, Any]]:
        return [
            self.user(f"Please look at the {about} again. TODO: repair the {about} before Friday."),
            self.assistant(f"I decided to use a new {about}. The {about} is blocked by the missing part."),
        ]


def line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


class OpenClaw:
    """Writes what OpenClaw would, and remembers what the tree looked like after its own last write."""

    def __init__(self, state_dir: Path, agent: str = "main") -> None:
        self.state_dir = state_dir
        self.agent_dir = state_dir / "agents" / agent
        self.sessions = self.agent_dir / "sessions"
        self.sessions.mkdir(parents=True, exist_ok=True)
        self.index: dict[str, dict[str, Any]] = {}
        self.remember()

    def remember(self) -> None:
        self.expected = snapshot(self.state_dir / "agents")

    def assert_untouched(self) -> None:
        assert snapshot(self.state_dir / "agents") == self.expected

    def path(self, session_id: str) -> Path:
        return self.sessions / f"{session_id}.jsonl"

    def append(self, session_id: str, *records: dict[str, Any]) -> Path:
        self.write(session_id, b"".join(map(line, records)))
        return self.path(session_id)

    def write(self, session_id: str, data: bytes, mode: str = "ab") -> None:
        with self.path(session_id).open(mode) as file:
            file.write(data)
        self.remember()

    def refer(self, key: str, session_id: str, channel: str = "webchat") -> None:
        self.index[key] = {"sessionId": session_id, "lastChannel": channel}
        self.save_index()

    def save_index(self) -> None:
        temp = self.sessions / "sessions.json.1.tmp"
        temp.write_text(json.dumps(self.index))
        os.replace(temp, self.sessions / "sessions.json")
        self.remember()

    def rename(self, session_id: str, suffix: str) -> Path:
        target = self.sessions / f"{session_id}.jsonl.{suffix}"
        self.path(session_id).rename(target)
        self.remember()
        return target

    def begin(self, session_id: str, *topics: str, day: int = 21, key: str = "agent:main:main") -> Talk:
        talk = Talk(session_id, day=day)
        self.append(session_id, talk.header, *(record for topic in topics for record in talk.turn(topic)))
        self.refer(key, session_id)
        return talk


class Database:
    """The SQLite era of one agent, closed after every write so that no `-wal` is left."""

    def __init__(self, openclaw: OpenClaw, make: Any) -> None:
        self._openclaw = openclaw
        self._make = make
        self.path = openclaw.agent_dir / "agent" / "openclaw-agent.sqlite"
        make.create_database(self.path, 23).close()
        openclaw.remember()

    def run(self, *statements: tuple[str, tuple[Any, ...]]) -> None:
        database = sqlite3.connect(self.path, isolation_level=None)
        database.execute("BEGIN")
        for statement, values in statements:
            database.execute(statement, values)
        database.execute("COMMIT")
        database.close()
        self._openclaw.remember()

    def add(self, session_id: str, records: list[dict[str, Any]], **window: Any) -> None:
        database = sqlite3.connect(self.path, isolation_level=None)
        self._make.add_session(database, window.pop("key", "agent:main:main"), session_id, records, **window)
        database.close()
        self._openclaw.remember()

    def texts(self, session_id: str) -> list[bytes]:
        """The texts of the stored events, in their order."""
        database = sqlite3.connect(self.path)
        query = "SELECT event_json FROM transcript_events WHERE session_id = ? ORDER BY seq"
        found = [row[0].encode() for row in database.execute(query, (session_id,))]
        database.close()
        return found

    def append(self, session_id: str, seq: int, *records: dict[str, Any]) -> None:
        insert = "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES (?, ?, ?, ?)"
        self.run(
            *((insert, (session_id, seq + at, json.dumps(one), seq + at)) for at, one in enumerate(records)),
        )


def snapshot(folder: Path) -> dict[str, tuple[str, int]]:
    """Names, hashes and mtimes of everything below `folder`, directories included."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and os.access(path, os.R_OK) else "",
            path.lstat().st_mtime_ns,
        )
        for path in [folder, *folder.rglob("*")]
    }


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture(autouse=True)
def openclaw(state_dir: Path) -> Iterator[OpenClaw]:
    """OpenClaw's tree; whatever a test does, in the end nothing of it was changed but by OpenClaw."""
    made = OpenClaw(state_dir)
    yield made
    made.assert_untouched()


@pytest.fixture
def database(openclaw: OpenClaw, make: Any) -> Database:
    return Database(openclaw, make)


@pytest.fixture(scope="session")
def make() -> Any:
    import importlib.util

    path = Path(__file__).parents[2] / "fixtures" / "make_transcripts.py"
    spec = importlib.util.spec_from_file_location("make_transcripts", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def watcher(state_dir: Path, **config: Any) -> Watcher:
    """A new watcher process, as far as memory goes."""
    return Watcher(SessionStore.open(state_dir), Config(**config), timing=IMPATIENT)


def once(state_dir: Path) -> int:
    """What `watch --once` does."""
    return watcher(state_dir).once()


def clean_backfill(state_dir: Path, tmp_path: Path) -> dict[str, dict[str, Any]]:
    """The derived fields of every session after one backfill of the same files into an empty store."""
    root = tmp_path / "clean"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    shutil.copytree(state_dir / "agents", root / "agents", symlinks=True)
    store, catalogue = BulkStore.of(SessionStore.open(root)), Catalogue.open(root)
    backfill_sessions(Tailer(store), store, catalogue, catalogue.sessions, archive_after=None)
    return derived(root)


def derived(state_dir: Path) -> dict[str, dict[str, Any]]:
    """What DECISION 47 promises to be a function of the transcripts, per session."""
    store = SessionStore.open(state_dir)
    return {
        entry.session_id: {name: store.get(entry.session_id).to_dict()[name] for name in DERIVED}
        for entry in store.entries()
    }
