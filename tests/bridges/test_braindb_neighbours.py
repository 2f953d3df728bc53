"""Everything in a real brain.db that is not session_states is the same after whatever we do."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from jsonlstore.bridges.braindb import StmMemories, attach, export_sessions, import_sessions
from jsonlstore.cli.main import main
from jsonlstore.compat import SessionManager
from jsonlstore.core.config import Config
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
    clock.advance(days=40)
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


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_no_command_changes_another_table_and_reading_changes_nothing(
    store, cortex, neighbours, clock, mode, monkeypatch, capsys
):
    """Export, import, restore, continue, archive and forget as they are typed, with the live bridge on."""
    monkeypatch.delenv("CORTEX_DATA_DIR", raising=False)
    for number in range(4):
        store.start(f"s-{number}", channel="cli", hot_topics=["radio"], recent_learnings=[f"mem-{number}", "mem-40"])
        store.end(f"s-{number}")
        clock.advance(hours=1)
    brain = store.paths.state_dir / "workspace" / "memory" / "brain.db"
    brain.parent.mkdir(parents=True)
    cortex.rename(brain)
    with closing(sqlite3.connect(brain)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
    before = neighbours(brain)
    now = ("--now", clock().isoformat())

    def jsonlstore(*words):
        assert main(["--state-dir", str(store.paths.state_dir), *words]) == 0, words
        return capsys.readouterr().out

    for writing in (
        ("export", "brain-db"),
        ("restore", "--into", "new", "--channel", "cli", *now),
        ("continue", "s-1", "--into", "new", *now),
        ("archive", "--older-than", "1h", *now),
        ("forget", "s-3", "--yes"),
        ("export", "brain-db"),
    ):
        jsonlstore(*writing)
        assert neighbours(brain) == before, writing
    data = brain.read_bytes()
    for reading in (
        ("export", "brain-db", "--dry-run"),
        ("export", "brain-db"),  # nothing is left to export
        ("import", "brain-db"),  # nor to import
        ("restore", "--channel", "cli", "--explain", "--dry-run", *now),
        ("status", "--json"),
    ):
        jsonlstore(*reading)
        assert brain.read_bytes() == data, reading
    shown = json.loads(jsonlstore("restore", "--channel", "cli", "--dry-run", "--json", *now))
    assert "mem-40" in json.dumps(shown), "the memories were looked up"
    assert brain.read_bytes() == data
