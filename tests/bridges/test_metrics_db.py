"""metrics.db: our five events in Cortex's table, when there is one."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from jsonlstore.bridges.braindb import MetricsDb, attach
from jsonlstore.core.config import Config

SURFACED = {
    "event": "pending_task_surfaced",
    "task_id": "task-1",
    "title": "what the user calls it",
    "stage": "build",
    "days_pending": 2,
    "source": "pipeline_state",
}
TRAVERSAL = {
    "event": "session_chain_traversal",
    "start_session_id": "s-1",
    "requested_depth": 5,
    "sessions_found": 3,
    "oldest_session_age_hours": -1.5,
}


@pytest.fixture
def metrics_db(store):
    path = store.paths.state_dir / "metrics.db"
    store.start("s-1")
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "CREATE TABLE cortex_metrics (id INTEGER PRIMARY KEY, timestamp TEXT NOT NULL, metric_name TEXT NOT NULL, "
            "metric_value REAL NOT NULL CHECK (metric_value >= 0), context TEXT)"
        )
    return path


def read(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT metric_name, metric_value, context FROM cortex_metrics ORDER BY id").fetchall()


def test_events_arrive_with_a_number_and_their_fields(store, metrics_db):
    attach(store, Config(metrics_db=True))
    store.metrics.emit(SURFACED, TRAVERSAL)
    (first, second) = read(metrics_db)
    assert first[:2] == ("pending_task_surfaced", 2.0)
    assert json.loads(first[2])["task_id"] == "task-1"
    assert second[:2] == ("session_chain_traversal", 3.0)
    assert json.loads(second[2])["oldest_session_age_hours"] == -1.5
    assert store.metrics.verify().records == 2


def test_no_title_goes_where_forget_cannot_reach(store, metrics_db):
    attach(store, Config(metrics_db=True))
    store.metrics.emit(SURFACED)
    assert json.loads(read(metrics_db)[0][2])["title"] == ""
    assert b"what the user calls it" not in metrics_db.read_bytes()


def test_off_by_default_and_neither_file_nor_table_is_created(store, metrics_db):
    attach(store, Config())
    store.metrics.emit(TRAVERSAL)
    assert read(metrics_db) == []
    metrics_db.unlink()
    attach(store, Config(metrics_db=True))
    store.metrics.emit(TRAVERSAL)
    assert not metrics_db.exists()


def test_trouble_with_it_never_reaches_the_caller(store, metrics_db):
    bridge = MetricsDb(metrics_db)
    store.metrics.listeners.append(bridge)
    with closing(sqlite3.connect(metrics_db, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        store.metrics.emit(TRAVERSAL)
    assert "locked" in bridge.problem
    store.metrics.emit(TRAVERSAL)
    assert bridge.problem is None
    metrics_db.write_bytes(b"garbage" * 1000)
    store.metrics.emit(TRAVERSAL)
    assert "not an SQLite database" in bridge.problem
    metrics_db.unlink()
    with closing(sqlite3.connect(metrics_db)) as db:
        db.execute("CREATE TABLE cortex_metrics (other)")
    store.metrics.emit(TRAVERSAL)
    assert "no table cortex_metrics" in bridge.problem
    assert store.metrics.verify().records == 4
