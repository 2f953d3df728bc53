"""What the store is doing when the fault strikes: a prepared store and a few steps, acknowledged as they return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from jsonlstore.core.errors import SessionForgotten, SessionNotFound
from jsonlstore.core.files import Disk
from jsonlstore.core.paths import StatePaths
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 2, 14, 9, 0, tzinfo=UTC)
SECRET = "marzipan"  # a word that must be gone once its session is forgotten

Step = Callable[[SessionStore], object]


def open_store(root: Path, sessions_dir: Path | None = None, *, sync: bool = False) -> SessionStore:
    """A store with a clock that stands still, so that doing a step again writes the same bytes.

    Only the run that is broken syncs: what comes before and after would not behave differently, just slower.
    """
    paths = StatePaths.of(root, str(sessions_dir) if sessions_dir else None)
    return SessionStore(paths, clock=lambda: NOW, disk=Disk(sync=sync))


@dataclass(frozen=True)
class Scenario:
    """`prepare` runs untroubled; the fault strikes during `steps`."""

    name: str
    prepare: Callable[[SessionStore], None]
    steps: tuple[Step, ...]
    forgets: str | None = None  # the session that must leave no trace


def visible(store: SessionStore) -> dict[str, Any]:
    """Everything a user of the store can see, leaving out where it is kept."""
    seen: dict[str, Any] = {}
    for session_id in ("a", "b", "c", "neighbour"):
        try:
            seen[session_id] = store.get(session_id).to_dict()
        except SessionNotFound:
            seen[session_id] = None
        except SessionForgotten:
            seen[session_id] = "forgotten"
    seen["listed"] = sorted(entry.session_id for entry in store.entries())
    return seen


def recorded(store: SessionStore) -> set[tuple[Any, ...]]:
    """What the metrics tell. A set: emitting is not idempotent, a step cut short and done again may count twice."""
    records = [record for record in store.metrics.read() if record["event"] != "metrics_resealed"]
    return {(record["event"], record.get("memory_id"), record.get("title")) for record in records}


def task(number: int, title: str = "finish the port") -> dict[str, Any]:
    return {"task_id": f"task-{number}", "title": title, "stage": "build", "flagged_incomplete": True}


def _neighbour(store: SessionStore) -> None:
    store.start("neighbour", channel="cli", start_time="2026-02-10T08:00:00Z")
    store.update("neighbour", {"hot_topics": ["radio", "antenna"]})
    store.end("neighbour", reason="new", end_time="2026-02-10T09:00:00Z")


def _nothing(_store: SessionStore) -> None:
    """A first start: not even the directories are there."""


def _open_session(store: SessionStore) -> None:
    _neighbour(store)
    store.start("a", channel="cli", start_time="2026-02-14T08:00:00Z", previous_session_id="neighbour")
    store.update("a", {"hot_topics": ["store"], "pending_tasks": [task(1)]})


def _ended_session(store: SessionStore) -> None:
    _open_session(store)
    store.end("a", reason="reset", end_time="2026-01-05T08:30:00Z")


def _archived_session(store: SessionStore) -> None:
    _ended_session(store)
    store.archive("a")


def _long_session(store: SessionStore) -> None:
    """One update short of a snapshot."""
    _open_session(store)
    for number in range(3):
        store.update("a", {"recent_learnings": [f"{number} " + "long words " * 1900]})


def _secret_session(store: SessionStore) -> None:
    _neighbour(store)
    store.start("a", channel="cli", start_time="2026-02-01T08:00:00Z")
    store.update("a", {"hot_topics": [SECRET], "pending_tasks": [task(1, f"bake {SECRET}"), task(2, f"eat {SECRET}")]})
    store.update("a", {"pending_tasks": [task(2, f"eat {SECRET}")], "recent_learnings": [f"{SECRET} is almonds"]})
    for number in (1, 2):
        store.metrics.emit(surfaced(number, f"{'bake' if number == 1 else 'eat'} {SECRET}"))
    store.metrics.emit(decayed("of-the-neighbour"))
    store.end("a", reason="new", end_time="2026-02-02T08:00:00Z")


def _secret_torn(store: SessionStore) -> None:
    """A secret session, open, with a torn tail in its log, its metrics, and in quarantine already."""
    _secret_session(store)
    store.resume("a")
    log, metrics = store.paths.log("a"), store.paths.metrics
    for _ in range(2):
        with open(log, "ab") as file:
            file.write(
                b'{"seq":99,"at":"2026-02-14T09:00:00.000Z","type":"state.updated","data":{"x":"' + SECRET.encode()
            )
        with open(metrics, "ab") as file:
            file.write(b'{"seq":99,"event":"pending_task_surfaced","task_id":"task-1","title":"bake ' + SECRET.encode())
        if store.update("a", {"next_step": "taste"}):
            store.metrics.emit(decayed("again"))


def _secret_archived(store: SessionStore) -> None:
    _secret_session(store)
    store.archive("a")


def surfaced(number: int, title: str) -> dict[str, Any]:
    return {
        "event": "pending_task_surfaced", "task_id": f"task-{number}", "title": title, "stage": "build",
        "days_pending": 1, "source": "working_memory_scan",
    }  # fmt: skip


def decayed(memory_id: str) -> dict[str, Any]:
    return {
        "event": "confidence_decay_applied", "memory_id": memory_id, "original_confidence": 0.9,
        "decayed_confidence": 0.8, "hours_elapsed": 24.0, "excluded": False,
    }  # fmt: skip


def _lose_index(store: SessionStore) -> None:
    _archived_session(store)
    store.paths.index.write_bytes(b"")


END = {"reason": "new", "end_time": "2026-02-14T08:59:00Z"}
LATER = str((NOW - timedelta(minutes=1)).isoformat())

SCENARIOS = (
    Scenario(
        "start",
        _nothing,
        (
            lambda store: store.start("a", channel="cli"),
            lambda store: store.start("b", channel="web", previous_session_id="a"),
        ),
    ),
    Scenario(
        "update",
        _open_session,
        (
            lambda store: store.update("a", {"hot_topics": ["fsync", "rename"]}),
            lambda store: store.update("a", {"next_step": "write the tests"}, by="operator"),
            lambda store: store.update("a", {"notes": [{"id": "n", "type": "decision", "content": "one write"}]}),
        ),
    ),
    Scenario(
        "snapshot",
        _long_session,
        (
            lambda store: store.update("a", {"recent_learnings": ["4 " + "long words " * 1900]}),
            lambda store: store.update("a", {"next_step": "rest"}),
        ),
    ),
    Scenario(
        "end",
        _open_session,
        (
            lambda store: store.end("a", {"next_step": "go on"}, **END),
            lambda store: store.update("a", {"hot_topics": ["after the end"]}, by="watcher"),
            lambda store: store.resume("a"),
            lambda store: store.recover("a", LATER),
        ),
    ),
    Scenario(
        "link",
        _ended_session,
        (lambda store: store.start("b", channel="cli", previous_session_id="a"), lambda store: store.link("a", "b")),
    ),
    Scenario("archive", _ended_session, (lambda store: store.archive("a"),)),
    Scenario(
        "unarchive",
        _archived_session,
        (
            lambda store: store.update("a", {"hot_topics": ["woken"]}, by="watcher"),
            lambda store: store.end("a", reason="idle", end_time="2026-02-14T08:00:00Z"),
            lambda store: store.archive("a"),
        ),
    ),
    Scenario("forget", _secret_session, (lambda store: store.forget("a"),), forgets="a"),
    Scenario("forget-torn", _secret_torn, (lambda store: store.forget("a"),), forgets="a"),
    Scenario("forget-archived", _secret_archived, (lambda store: store.forget("a"),), forgets="a"),
    Scenario("rebuild", _lose_index, (lambda store: store.index.rebuild(), lambda store: store.entry("a"))),
    Scenario(
        "metrics",
        _neighbour,
        (
            lambda store: store.metrics.emit(decayed("m1")),
            lambda store: store.metrics.emit(decayed("m2"), decayed("m3")),
            lambda store: store.metrics.emit(surfaced(1, "test")),
        ),
    ),
)
