"""The owner of an imported row is at work in it just when we export what became of the session."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from jsonlstore.bridges.braindb import database, export_sessions, import_sessions, reconcile
from jsonlstore.bridges.braindb.schema import CREATE_TABLE

ROW = (
    "INSERT INTO session_states (id, start_time, channel, hot_topics, recent_learnings, created_at, updated_at) "
    "VALUES ('{}', '2026-11-01T10:00:00Z', 'tg', '[\"radio\"]', 'not json', '2026-11-01T10:00:00Z', "
    "'2026-11-01T10:00:00Z')"
)


@pytest.fixture(params=["wal", "delete"])
def owner(request, brain):
    """The owner's connection; the table has one row of theirs."""
    with closing(sqlite3.connect(brain, isolation_level=None)) as db:
        db.execute(f"PRAGMA journal_mode = {request.param}")
        db.execute(CREATE_TABLE)
        db.execute(ROW.format("a"))
        yield db


@pytest.fixture
def before_the_lock(monkeypatch, owner):
    """Have the owner do something once a row was looked at, right before the lock to write it is asked for.

    Gives what is yet to happen.
    """

    def arrange(statement, besides=lambda: None):
        looked, left = [], [statement]

        class Timed(sqlite3.Connection):
            def execute(self, sql, *values):
                if sql.startswith("SELECT * FROM session_states"):
                    looked.append(sql)
                elif sql == "BEGIN IMMEDIATE" and looked and left:
                    owner.execute(left.pop())
                    besides()
                return super().execute(sql, *values)

        connect = sqlite3.connect
        monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, **options, factory=Timed))
        return left

    return arrange


def test_an_end_the_owner_sets_meanwhile_is_not_taken_back(store, brain, rows, before_the_lock):
    import_sessions(store, brain)
    before = rows(brain)["a"]
    store.link("a", "b")
    left = before_the_lock("UPDATE session_states SET end_time = '2026-11-01 15:00:00'")
    export_sessions(store, brain)
    assert not left
    assert rows(brain)["a"] == before | {"end_time": "2026-11-01 15:00:00", "continued_by": "b"}
    assert export_sessions(store, brain).written == 0


def test_a_row_the_owner_removes_meanwhile_comes_back_with_all_we_know(store, brain, rows, before_the_lock):
    import_sessions(store, brain)
    before = rows(brain)["a"]
    store.end("a", end_time="2026-11-01T11:00:00Z")
    left = before_the_lock("DELETE FROM session_states")
    export_sessions(store, brain)
    assert not left
    row = rows(brain)["a"]
    assert row["end_time"] == "2026-11-01T11:00:00.000Z"
    assert (row["channel"], row["hot_topics"]) == (before["channel"], before["hot_topics"])
    assert export_sessions(store, brain).written == 0


def test_a_row_the_owner_brings_back_during_an_export_stays_theirs(store, brain, rows, owner, monkeypatch):
    """It was not there when the export began, and is there when its turn comes."""
    monkeypatch.setattr(reconcile, "_BATCH", 1)
    owner.execute(ROW.format("b"))
    import_sessions(store, brain)
    before = rows(brain)["b"]
    owner.execute("DELETE FROM session_states")

    def bring_back(done, _total):
        if done == 1:
            assert set(rows(brain)) == {"a"}
            owner.execute(ROW.format("b"))

    export_sessions(store, brain, progress=bring_back)
    assert set(rows(brain)) == {"a", "b"}
    assert rows(brain)["b"] == before


def test_an_imported_session_that_goes_on_here_meanwhile_is_ours_to_tell(
    store, brain, rows, owner, before_the_lock, monkeypatch
):
    """Also where it is read again together with rows there was no time for, and was only imported when it was first."""
    monkeypatch.setattr(reconcile, "_SLICE", 1)
    monkeypatch.setattr(database, "HOLD_SECONDS", 0.0)
    monkeypatch.setattr(database, "_LEAST_SECONDS", 0.0)
    owner.execute(ROW.format("b"))
    import_sessions(store, brain)
    for session_id in ("a", "b"):
        store.link(session_id, "c")
    left = before_the_lock("CREATE TABLE other (x)", lambda: store.update("a", {"hot_topics": ["ours"]}))
    export_sessions(store, brain)
    assert not left
    assert rows(brain)["a"]["hot_topics"] == '["ours","radio"]'
    assert rows(brain)["b"]["continued_by"] == "c"
    assert export_sessions(store, brain).written == 0
