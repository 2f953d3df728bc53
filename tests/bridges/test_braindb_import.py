"""Import: rows by anyone become sessions, once."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from jsonlstore.bridges.braindb import export_sessions, import_sessions
from jsonlstore.bridges.braindb.schema import CREATE_TABLE
from jsonlstore.core.errors import SessionForgotten, Unreadable

WRITER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("INSERT INTO session_states (id, start_time, created_at) VALUES ('b', '2026-11-02', 'x')")
db.commit()
print("written", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def berlin(monkeypatch):
    """Local time is Berlin's."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def fill(path, *rows, extra=""):
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(CREATE_TABLE)
        if extra:
            db.execute(f"ALTER TABLE session_states ADD COLUMN {extra}")
        for row in rows:
            whole = {"start_time": "2026-11-01T10:00:00", "created_at": "2026-11-01T10:00:00", **row}
            marks = ", ".join("?" * len(whole))
            db.execute(f"INSERT INTO session_states ({', '.join(whole)}) VALUES ({marks})", tuple(whole.values()))
        db.commit()


def files(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


def test_naive_local_times_become_utc(store, brain, berlin):
    fill(brain, {"id": "a", "start_time": "2026-11-01T10:00:00.123456", "end_time": "2026-07-01 12:00:00"})
    import_sessions(store, brain)
    state = store.get("a")
    assert (state.start_time, state.end_time) == ("2026-11-01T09:00:00.123Z", "2026-07-01T10:00:00.000Z")


def test_bad_json_nulls_and_wrong_items_cost_their_column_and_are_reported(store, brain):
    fill(
        brain,
        {
            "id": "a",
            "working_memory": '[{"content": "keep", "pinnedAt": "2026-11-01T10:00:00Z"}, {"label": "no content"}, 7]',
            "hot_topics": "[not json",
            "active_projects": '{"a": 1}',
            "recent_learnings": '["mem-1", null]',
            "channel": None,
            "updated_at": "yesterday",
        },
    )
    report = import_sessions(store, brain)
    assert report.imported == ["a"]
    assert report.problems["a"] == [
        "updated_at is not a time",
        "working_memory: 2 of 3 items could not be read",
        "hot_topics is not JSON",
        "active_projects is not a list",
        "recent_learnings: 1 of 2 items could not be read",
    ]
    state = store.get("a")
    assert [pin.content for pin in state.working_memory] == ["keep"]
    assert state.recent_learnings == ("mem-1",)
    assert state.channel == "unknown"


def test_extra_columns_are_kept(store, brain):
    fill(brain, {"id": "a", "source": "signal-bridge"}, extra="source TEXT")
    with closing(sqlite3.connect(brain)) as db:
        db.execute("ALTER TABLE session_states ADD COLUMN agent_id TEXT DEFAULT 'main'")
        db.execute("ALTER TABLE session_states ADD COLUMN mood INTEGER DEFAULT 5")
        db.commit()
    assert import_sessions(store, brain).problems == {}
    state = store.get("a")
    assert state.agent_id == "main"
    assert state.extra == {"brain_db_source": "signal-bridge", "mood": 5}


def test_ids_that_cannot_be_ours_are_reported_not_lost_in_silence(store, brain):
    fill(brain, {"id": "../../etc/passwd"}, {"id": "sessions"}, {"id": "fine"}, {"id": None})
    report = import_sessions(store, brain)
    assert report.imported == ["fine"]
    assert set(report.skipped) == {"../../etc/passwd", "sessions", "None"}
    assert all("not a session id" in reason for reason in report.skipped.values())


def test_chain_links_are_kept_and_bad_ones_named(store, brain):
    fill(
        brain,
        {"id": "a", "start_time": "2026-11-01T10:00:00Z", "end_time": "2026-11-01T11:00:00Z", "continued_by": "b"},
        {"id": "b", "start_time": "2026-11-02T10:00:00Z", "previous_session_id": "a"},
        {"id": "c", "start_time": "2026-11-03T10:00:00Z", "previous_session_id": "a/b", "continued_by": "x y"},
    )
    report = import_sessions(store, brain)
    assert [state.session_id for state in store.chain("b")] == ["a", "b"]
    assert store.get("a").continued_by == "b"
    assert report.problems == {"c": ["previous_session_id is not a session id", "continued_by is not a session id"]}


def test_crashes_and_open_ends_stay_what_they_are(store, brain):
    fill(
        brain,
        {"id": "crashed", "end_time": "2026-11-01T11:00:00Z", "crash_recovered": 1},
        {"id": "open", "updated_at": "2026-11-01T10:30:00Z"},
    )
    import_sessions(store, brain)
    assert store.get("crashed").crash_recovered
    assert store.get("open").end_time is None
    assert store.get("open").updated_at == "2026-11-01T10:30:00.000Z"


def test_importing_twice_adds_nothing(store, brain):
    fill(brain, {"id": "a", "end_time": "2026-11-01T11:00:00Z", "continued_by": "b"})
    import_sessions(store, brain)
    before = files(store.paths.states)
    report = import_sessions(store, brain)
    assert (report.imported, report.known) == ([], 1)
    assert files(store.paths.states) == before


def test_the_source_is_byte_identical_and_nothing_lies_beside_it(store, brain):
    fill(brain, {"id": "a"})
    before = files(brain.parent)
    import_sessions(store, brain)
    assert files(brain.parent) == before == {"brain.db": before["brain.db"]}


def test_what_is_still_in_the_write_ahead_log_is_imported_too(store, brain):
    fill(brain, {"id": "a"})
    elsewhere = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(brain)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with elsewhere:
        assert elsewhere.stdout.readline() == "written\n"
        before = files(brain.parent)
        assert import_sessions(store, brain).imported == ["a", "b"]
        assert files(brain.parent) == before
        assert set(before) == {"brain.db", "brain.db-wal", "brain.db-shm"}
        elsewhere.stdin.close()


def test_a_session_of_ours_is_not_overwritten_by_its_own_older_export(store, brain):
    store.start("a", pending_tasks=[{"task_id": "t", "title": "x"}])
    export_sessions(store, brain)
    store.update("a", {"pending_tasks": []})
    store.end("a")
    assert import_sessions(store, brain).known == 1
    assert store.get("a").pending_tasks == ()


def test_forgotten_sessions_stay_forgotten(store, brain):
    fill(brain, {"id": "a", "hot_topics": '["secret affair"]'}, {"id": "b"})
    store.forget("a")
    report = import_sessions(store, brain)
    assert (report.imported, report.forgotten) == (["b"], 1)
    with pytest.raises(SessionForgotten):
        store.get("a")


@pytest.mark.parametrize("crashed", [0, 1])
def test_an_import_cut_short_is_completed(store, brain, crashed):
    row = {"id": "a", "end_time": "2026-11-01T11:00:00Z", "continued_by": "b", "crash_recovered": crashed}
    fill(brain, row)
    store.start("a", by="import", start_time="2026-11-01T10:00:00", hot_topics=[])
    report = import_sessions(store, brain)
    assert report.completed == ["a"]
    state = store.get("a")
    assert (state.end_time, state.continued_by) == ("2026-11-01T11:00:00.000Z", "b")
    assert state.crash_recovered is bool(crashed)


def test_a_session_somebody_else_began_is_not_ended_by_an_import(store, brain):
    fill(brain, {"id": "a", "end_time": "2026-11-01T11:00:00Z"})
    store.start("a", by="hook", channel="cli")
    assert import_sessions(store, brain).known == 1
    assert store.get("a").end_time is None


def test_a_dry_run_says_the_same_and_writes_nothing(store, brain):
    fill(brain, {"id": "a", "hot_topics": "nope"}, {"id": "no good"})
    dry = import_sessions(store, brain, dry_run=True).to_dict()
    assert list(store.entries()) == []
    assert {**import_sessions(store, brain).to_dict(), "dry_run": True} == dry


def test_every_imported_event_says_so_and_secrets_stay_behind(store, brain):
    pins = json.dumps([{"content": "password=hunter2-Xyz9!", "pinnedAt": "2026-11-01T10:00:00Z"}])
    fill(brain, {"id": "a", "end_time": "2026-11-01T11:00:00Z", "working_memory": pins})
    import_sessions(store, brain)
    lines = store.paths.log("a").read_text().splitlines()
    assert {json.loads(line)["by"] for line in lines} == {"import"}
    assert "hunter2" not in "".join(lines)


def test_a_thousand_rows_leave_an_index_that_matches_the_logs(store, brain):
    fill(brain, *({"id": f"s-{n}", "end_time": "2026-11-01T11:00:00Z"} for n in range(60)))
    import_sessions(store, brain)
    assert store.paths.index.read_bytes() == store.index.expected()


def test_missing_file_missing_table_and_damage_are_said_plainly(store, brain):
    with pytest.raises(Unreadable, match="there is no"):
        import_sessions(store, brain)
    with closing(sqlite3.connect(brain)) as db:
        db.execute("CREATE TABLE other (x)")
    with pytest.raises(Unreadable, match="no table session_states"):
        import_sessions(store, brain)
    brain.write_bytes(b"garbage" * 500)
    with pytest.raises(Unreadable, match="not an SQLite database"):
        import_sessions(store, brain)
