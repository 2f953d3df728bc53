"""brain.db: exporting 10,000 sessions, and exporting them again when nothing changed.

pytest tests/benchmarks/test_braindb_bench.py --benchmark-only -s

Budgets: 60 us a row for the first, 0.2 s for the second. What counts on a busy machine is the ratio to a bare
`executemany` of the same rows into the same table, measured in the same run and in turns with it.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
import uuid
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.bridges.braindb import export_sessions
from jsonlstore.bridges.braindb.schema import COLUMNS, CREATE_TABLE, INDEXES
from jsonlstore.core.files import Disk
from jsonlstore.core.paths import StatePaths
from jsonlstore.store.fold import SessionFold
from jsonlstore.store.log import Event
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from pathlib import Path

SESSIONS = 10_000
ROUNDS = 5


def _id(number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, str(number)))


def _log(session_id: str, number: int) -> bytes:
    """The log of an ended session that another continued, of about 5 KB: what the store writes, without its syncs."""
    at, end = "2026-11-10T10:00:00.000Z", "2026-11-10T11:00:00.000Z"
    fields = {
        "start_time": at,
        "channel": "cli",
        "working_memory": [
            {"content": f"pin {n} of session {number}, with a sentence in it", "pinnedAt": at, "label": f"pin {n}"}
            for n in range(5)
        ],
        "hot_topics": [f"topic-{n}" for n in range(20)],
        "active_projects": ["jsonlstore", "cortex"],
        "pending_tasks": [
            {"task_id": f"task-{n:03}", "title": "finish what was begun", "stage": "build", "flagged_incomplete": False}
            for n in range(3)
        ],
        "previous_session_id": _id(number - 1),
        "recent_learnings": [f"mem-{number}-{n}" for n in range(4)],
        "confidence_updates": [],
        "sop_interactions": [],
    }
    started = {"session_id": session_id, "schema_version": 1, "fields": fields}
    first = Event(1, at, "session.started", "hook", started)
    last = Event(2, end, "session.ended", "hook", {"end_time": end, "reason": "new"})
    folded = SessionFold()
    folded.apply(first)
    folded.apply(last)
    full = Event(2, end, last.type, "hook", {**last.data, **folded.full_state()})
    link = Event(3, end, "session.continued", "hook", {"session_id": _id(number + 1)})
    return first.to_line() + full.to_line() + link.to_line()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> SessionStore:
    paths = StatePaths.of(tmp_path_factory.mktemp("state"))
    paths.states.mkdir(parents=True)
    for number in range(SESSIONS):
        session_id = _id(number)
        paths.log(session_id).write_bytes(_log(session_id, number))
    return SessionStore(paths, disk=Disk())


def _bare(path: Path, rows: list[Any]) -> float:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in (CREATE_TABLE, *(sql for sql, _ in INDEXES.values())):
            db.execute(statement)
        begun = time.perf_counter()
        db.execute("BEGIN")
        db.executemany(f"INSERT INTO session_states VALUES ({', '.join('?' * len(COLUMNS))})", rows)
        db.execute("COMMIT")
        return time.perf_counter() - begun


@pytest.mark.benchmark(group="brain.db, 10,000 sessions")
def test_export(benchmark: Any, store: SessionStore, tmp_path: Path) -> None:
    brain = tmp_path / "brain.db"
    export_sessions(store, brain)
    with closing(sqlite3.connect(brain)) as db:
        rows = db.execute("SELECT * FROM session_states").fetchall()
    bare: list[float] = []
    locks: list[float] = []

    def afresh() -> None:
        brain.unlink()
        shutil.rmtree(store.paths.states / "exports")
        bare.append(_bare(tmp_path / "bare.db", rows))

    def export() -> None:
        report = export_sessions(store, brain)
        assert report.added == SESSIONS
        locks.append(report.longest_lock_ms)

    benchmark.pedantic(export, setup=afresh, rounds=ROUNDS)
    best = benchmark.stats.stats.min
    print(
        f"\nexport: {best / SESSIONS * 1e6:.1f} us a row (budget 60), bare executemany "
        f"{min(bare) / SESSIONS * 1e6:.1f} us a row, ratio {best / min(bare):.1f}; longest lock {max(locks):.0f} ms"
    )


@pytest.mark.benchmark(group="brain.db, 10,000 sessions")
def test_export_again_with_nothing_changed(benchmark: Any, store: SessionStore, tmp_path: Path) -> None:
    brain = tmp_path / "brain.db"
    export_sessions(store, brain)
    # a new store each time, as a new process would have
    report = benchmark(lambda: export_sessions(SessionStore(store.paths), brain))
    assert (report.unchanged, report.written) == (SESSIONS, 0)
    print(f"\nnothing changed: {benchmark.stats.stats.min * 1000:.0f} ms (budget 200)")
