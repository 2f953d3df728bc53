"""Everything in a real brain.db that is not session_states is the same after whatever we do."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from jsonlstore.bridges.braindb import SessionManager, StmMemories, attach, export_sessions, import_sessions
from jsonlstore.config import Config
from jsonlstore.store.store import SessionStore


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_no_other_table_setting_or_schema_changes(store, cortex, neighbours, tmp_path, clock, mode):
    with closing(sqlite3.connect(cortex)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
    before = neighbours(cortex)
    assert sum(line.startswith("INSERT") for line in before) > 400

    for number in range(20):
        store.start(f"s-{number}", recent_learnings=[f"mem-{number}"])
        store.end(f"s-{number}")
    export_sessions(store, cortex)
    assert neighbours(cortex) == before, "after export"

    fresh = SessionStore.open(tmp_path / "fresh", clock=clock)
    assert len(import_sessions(fresh, cortex).imported) == 20
    assert neighbours(cortex) == before, "after import"

    bytes_before = cortex.read_bytes()
    StmMemories(cortex).confidences([f"mem-{number}" for number in range(20)])
    assert cortex.read_bytes() == bytes_before, "after reading memories"

    attach(store, Config(brain_db_path=str(cortex)))
    clock.forward(days=40)
    for number in range(10):
        store.archive(f"s-{number}")
    store.forget("s-11")
    store.start("live")
    store.update("live", {"hot_topics": ["x"]})
    assert neighbours(cortex) == before, "after archiving, forgetting and a live session"

    SessionManager(cortex).save_session({"session_id": "by-hand", "start_time": "2026-11-10T10:00:00Z"})
    assert neighbours(cortex) == before, "after SessionManager"
    with closing(sqlite3.connect(cortex)) as db:
        (count,) = db.execute("SELECT count(*) FROM session_states").fetchone()
    assert count == 20 - 10 - 1 + 1 + 1
