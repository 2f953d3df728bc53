"""Export: the table follows the store, and nothing else in the file moves."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from jsonlstore.bridges.braindb import attach, export_sessions
from jsonlstore.bridges.braindb.schema import COLUMNS, CREATE_TABLE, INDEXES
from jsonlstore.core.config import Config
from jsonlstore.core.errors import LockTimeout, Unreadable, WriteFailed
from tests.bridges.conftest import database_backups

PIN = {"content": "CRITICAL: never force-push", "pinnedAt": "2026-11-10T08:00:00.000Z", "label": "rule"}


def a_session(store, session_id="s-1", **fields):
    store.start(session_id, channel="cli", working_memory=[PIN], hot_topics=["cortex"], **fields)
    return session_id


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def run(path, sql, *values):
    with closing(sqlite3.connect(path)) as db:
        found = db.execute(sql, values).fetchall()
        db.commit()
        return found


def test_a_new_file_gets_the_table_and_indexes_of_the_specification_and_is_private(store, brain):
    a_session(store)
    report = export_sessions(store, brain)
    assert report.created
    assert report.backup is None
    schema = dict(run(brain, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    expected = {"session_states": CREATE_TABLE, **{name: sql for name, (sql, _) in INDEXES.items()}}
    assert schema == {name: sql.replace("IF NOT EXISTS ", "") for name, sql in expected.items()}
    assert stat.S_IMODE(brain.stat().st_mode) == 0o600
    assert run(brain, "PRAGMA journal_mode") == [("delete",)]
    assert sorted(path.name for path in brain.parent.iterdir()) == ["brain.db", "state"]


def test_a_row_holds_what_the_session_is(store, brain, clock, rows):
    a_session(
        store, previous_session_id="s-0", pending_tasks=[{"task_id": "task-1", "title": "ship", "stage": "build"}]
    )
    clock.advance(hours=2)
    store.end("s-1", reason="new")
    store.link("s-1", "s-2")
    export_sessions(store, brain)
    row = rows(brain)["s-1"]
    assert {key: row[key] for key in ("start_time", "end_time", "channel", "previous_session_id", "continued_by")} == {
        "start_time": "2026-11-10T09:00:00.000Z",
        "end_time": "2026-11-10T11:00:00.000Z",
        "channel": "cli",
        "previous_session_id": "s-0",
        "continued_by": "s-2",
    }
    assert json.loads(row["working_memory"]) == [PIN]
    assert json.loads(row["pending_tasks"])[0]["task_id"] == "task-1"
    assert row["confidence_updates"] == "[]"
    assert (row["crash_recovered"], row["schema_version"]) == (0, 1)
    assert row["created_at"] == row["start_time"]


def test_a_recovered_session_is_marked(store, brain, rows):
    a_session(store)
    store.recover("s-1", "2026-11-10T10:00:00Z")
    export_sessions(store, brain)
    assert rows(brain)["s-1"]["crash_recovered"] == 1


@pytest.mark.parametrize("with_ledger", [True, False])
def test_a_second_run_writes_nothing(store, brain, with_ledger):
    for number in range(5):
        a_session(store, f"s-{number}")
    store.end("s-3")
    export_sessions(store, brain)
    before = digest(brain), brain.stat().st_mtime_ns
    if not with_ledger:
        for path in (store.paths.states / "exports").iterdir():
            path.unlink()
    report = export_sessions(store, brain)
    assert (report.added, report.updated, report.removed, report.unchanged) == (0, 0, [], 5)
    assert (digest(brain), brain.stat().st_mtime_ns) == before


def test_only_what_changed_is_written_even_when_the_clock_stands_still(store, brain, rows):
    a_session(store, "s-1")
    a_session(store, "s-2")
    export_sessions(store, brain)
    store.update("s-2", {"recent_learnings": ["mem-9"]})
    report = export_sessions(store, brain)
    assert (report.added, report.updated) == (0, 1)
    assert rows(brain)["s-2"]["recent_learnings"] == '["mem-9"]'


def test_a_session_that_woke_up_again_has_no_end(store, brain, rows):
    a_session(store)
    store.end("s-1")
    export_sessions(store, brain)
    store.resume("s-1")
    export_sessions(store, brain)
    assert rows(brain)["s-1"]["end_time"] is None


def test_archived_sessions_leave_the_hot_table_and_come_back_with_new_life(store, brain, clock, rows):
    a_session(store, "old")
    store.end("old")
    a_session(store, "new")
    export_sessions(store, brain)
    clock.advance(days=40)
    store.archive("old")
    report = export_sessions(store, brain)
    assert report.removed == ["old"]
    assert set(rows(brain)) == {"new"}
    assert json.loads((store.paths.archive / "2026-11" / "old.json").read_bytes())["session_id"] == "old"
    store.resume("old")
    assert export_sessions(store, brain).added == 1
    assert set(rows(brain)) == {"new", "old"}


def test_a_row_that_says_more_than_the_archive_is_kept(store, brain, rows):
    a_session(store)
    store.end("s-1")
    export_sessions(store, brain)
    run(brain, "UPDATE session_states SET recent_learnings = '[\"mem-from-elsewhere\"]'")
    store.archive("s-1")
    report = export_sessions(store, brain)
    assert (report.removed, report.kept) == ([], ["s-1"])
    assert rows(brain)["s-1"]["recent_learnings"] == '["mem-from-elsewhere"]'


def test_forgotten_sessions_leave_the_table_whatever_others_wrote_there(store, brain, rows):
    a_session(store, recent_learnings=["the thing nobody may know", *(f"filler {n}" for n in range(900))])
    a_session(store, "s-2")
    export_sessions(store, brain)
    assert b"nobody may know" in brain.read_bytes()
    run(brain, "UPDATE session_states SET channel = 'elsewhere' WHERE id = 's-1'")
    store.forget("s-1")
    assert export_sessions(store, brain).removed == ["s-1"]
    assert set(rows(brain)) == {"s-2"}
    assert export_sessions(store, brain).written == 0
    assert b"nobody may know" not in brain.read_bytes()
    assert b"filler" not in brain.read_bytes()


def test_rows_of_others_are_never_touched(store, brain, rows):
    a_session(store)
    export_sessions(store, brain)
    run(brain, "INSERT INTO session_states (id, start_time, created_at) VALUES ('theirs', 'whenever', 'x')")
    theirs = rows(brain)["theirs"]
    store.end("s-1")
    store.archive("s-1")
    export_sessions(store, brain)
    assert rows(brain) == {"theirs": theirs}


def test_extra_columns_and_links_set_by_others_survive_an_update(store, brain, rows):
    a_session(store)
    export_sessions(store, brain)
    run(brain, "ALTER TABLE session_states ADD COLUMN mood TEXT")
    run(brain, "UPDATE session_states SET mood = 'good', continued_by = 'their-next', sop_interactions = '[{}]'")
    store.update("s-1", {"hot_topics": ["other"]})
    export_sessions(store, brain)
    row = rows(brain)["s-1"]
    assert (row["mood"], row["continued_by"], row["sop_interactions"]) == ("good", "their-next", "[{}]")
    assert row["hot_topics"] == '["other"]'


def test_a_later_change_by_another_writer_is_not_undone(store, brain, rows):
    a_session(store)
    export_sessions(store, brain)
    run(brain, "UPDATE session_states SET channel = 'signal', updated_at = '2030-01-01T00:00:00.000Z'")
    assert export_sessions(store, brain).written == 0
    assert rows(brain)["s-1"]["channel"] == "signal"


def test_rows_that_were_lost_come_back(store, brain, rows):
    a_session(store, "s-1")
    a_session(store, "s-2")
    export_sessions(store, brain)
    run(brain, "DELETE FROM session_states WHERE id = 's-1'")
    run(brain, "UPDATE session_states SET updated_at = '2001-01-01T00:00:00.000Z', hot_topics = '[]'")
    report = export_sessions(store, brain)
    assert (report.added, report.updated) == (1, 1)
    assert rows(brain)["s-2"]["hot_topics"] == '["cortex"]'
    brain.unlink()
    assert export_sessions(store, brain).added == 2


def test_since_writes_only_what_was_active_then(store, brain, clock, rows):
    a_session(store, "old")
    store.end("old")
    clock.advance(days=9)
    a_session(store, "new")
    export_sessions(store, brain, since=clock() - timedelta(days=7))
    assert set(rows(brain)) == {"new"}
    assert export_sessions(store, brain).added == 1


def test_a_dry_run_counts_the_same_and_changes_no_byte(store, cortex):
    for number in range(3):
        a_session(store, f"s-{number}")
    untouched = {path: digest(path) for path in cortex.parent.iterdir() if path.is_file()}
    dry = export_sessions(store, cortex, dry_run=True)
    assert {path: digest(path) for path in cortex.parent.iterdir() if path.is_file()} == untouched
    assert not (store.paths.states / "exports").exists()
    export_sessions(store, cortex)
    store.forget("s-0")
    store.update("s-1", {"hot_topics": ["x"]})
    a_session(store, "s-9")
    before = digest(cortex)
    dry = export_sessions(store, cortex, dry_run=True)
    assert digest(cortex) == before
    wet = export_sessions(store, cortex)
    assert (dry.added, dry.updated, dry.removed) == (wet.added, wet.updated, wet.removed) == (1, 1, ["s-0"])


def test_a_dry_run_without_a_file_creates_none(store, brain):
    a_session(store)
    assert export_sessions(store, brain, dry_run=True).added == 1
    assert not brain.exists()


def test_an_existing_database_is_backed_up_before_its_first_migration_only(store, cortex, neighbours):
    a_session(store)
    with closing(sqlite3.connect(cortex)) as open_elsewhere:
        open_elsewhere.execute("INSERT INTO memories VALUES ('in the log', 'not yet in the file')")
        open_elsewhere.commit()
        before = neighbours(cortex)
        assert Path(f"{cortex}-wal").stat().st_size
        report = export_sessions(store, cortex)
    assert report.backup is not None
    assert database_backups(cortex) == [report.backup]
    assert report.backup.parent == cortex.parent
    assert stat.S_IMODE(report.backup.stat().st_mode) == 0o600
    assert neighbours(report.backup) == before == neighbours(cortex)
    assert run(report.backup, "SELECT count(*) FROM sqlite_master WHERE name LIKE '%session%'") == [(0,)]
    store.update("s-1", {"hot_topics": ["x"]})
    assert export_sessions(store, cortex).backup is None
    assert database_backups(cortex) == [report.backup]


def test_half_made_backups_of_the_dead_are_removed_and_failed_migrations_leave_none(store, cortex):
    a_session(store)
    dead = cortex.with_name("brain.db.backup-20200101T000000Z.partial-999999999")
    dead.write_bytes(b"half")
    with closing(sqlite3.connect(cortex, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(LockTimeout, match="locked by another process") as caught:
            export_sessions(store, cortex, wait=0.05)
        assert caught.value.hint
        holder.execute("ROLLBACK")
    assert not dead.exists()
    assert database_backups(cortex) == []
    assert export_sessions(store, cortex).added == 1


@pytest.mark.parametrize("mode", ["wal", "delete", "persist", "truncate"])
def test_the_journal_mode_stays_what_it_was(store, brain, mode):
    with closing(sqlite3.connect(brain)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.execute("CREATE TABLE theirs (x)")
    in_the_file = brain.read_bytes()[18:20]
    a_session(store)
    export_sessions(store, brain)
    assert brain.read_bytes()[18:20] == in_the_file


def test_missing_indexes_are_added_and_missing_columns_are_named(store, brain, rows):
    kept = [name for name in COLUMNS if name not in ("sop_interactions", "channel")]
    with closing(sqlite3.connect(brain)) as db:
        db.execute(f"CREATE TABLE session_states ({', '.join(kept).replace('id,', 'id TEXT PRIMARY KEY,', 1)})")
    a_session(store)
    report = export_sessions(store, brain)
    assert report.problems == ["session_states has no column channel, sop_interactions: left out"]
    assert rows(brain)["s-1"]["hot_topics"] == '["cortex"]'
    names = {name for (name,) in run(brain, "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")}
    assert names == {"idx_session_endtime", "idx_session_prev"}


def test_a_name_taken_by_something_else_is_refused_and_left_alone(store, brain):
    run(brain, "CREATE VIEW session_states AS SELECT 1 AS id")
    a_session(store)
    before = digest(brain)
    with pytest.raises(Unreadable, match="not the table"):
        export_sessions(store, brain)
    assert digest(brain) == before


def test_what_is_no_database_is_refused_and_left_alone(store, brain):
    brain.write_bytes(b"not a database at all, but someone's notes\n" * 50)
    before = digest(brain)
    a_session(store)
    with pytest.raises(Unreadable, match="not an SQLite database"):
        export_sessions(store, brain)
    assert digest(brain) == before


def test_a_read_only_database_is_a_clear_error_and_stays_as_it_is(store, cortex, read_only):
    a_session(store)
    read_only(cortex)
    before = digest(cortex)
    with pytest.raises(WriteFailed, match="cannot write") as raised:
        export_sessions(store, cortex)
    assert "read-only" in raised.value.hint
    assert digest(cortex) == before
    assert database_backups(cortex) == [], "nothing was migrated, so nothing had to be kept"


def test_a_file_one_may_not_write_is_a_clear_error(store, cortex):
    a_session(store)
    cortex.chmod(0o400)
    if os.access(cortex, os.W_OK):
        pytest.skip("root may write anywhere")
    with pytest.raises(WriteFailed, match="cannot write"):
        export_sessions(store, cortex)


def test_readers_that_never_pause_do_not_make_a_commit_wait_with_the_door_shut(store, brain):
    """Without WAL a reader keeps a commit out; rather than keep others out meanwhile, the commit is taken back."""
    a_session(store)
    export_sessions(store, brain)
    store.update("s-1", {"hot_topics": ["x"]})
    with closing(sqlite3.connect(brain, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM session_states").fetchone()
        with pytest.raises(LockTimeout, match="busy"):
            export_sessions(store, brain, wait=0.2)
        with closing(sqlite3.connect(brain, timeout=0)) as another:
            assert another.execute("SELECT count(*) FROM session_states").fetchone() == (1,)
        reader.execute("COMMIT")
    assert export_sessions(store, brain).updated == 1


@pytest.fixture
def once_read(monkeypatch):
    """Have something happen between the moment the export has read a session and the moment it writes its row."""
    from jsonlstore.bridges.braindb import reconcile

    def arrange(happens):
        def then(name):
            read = getattr(reconcile, name)

            def read_first(*args):
                found = read(*args)
                if found is not None and pending:
                    pending.pop()()
                return found

            monkeypatch.setattr(reconcile, name, read_first)

        pending = [happens]
        then("read_desired")  # how a session that goes on is read
        then("ended_row")  # and one that ended

    return arrange


@pytest.mark.parametrize("mode", ["wal", "delete"])
@pytest.mark.parametrize("ended", [False, True])
def test_a_log_that_grows_while_it_is_exported_is_read_again(store, brain, rows, once_read, mode, ended):
    """An older state never overwrites the newer row a live writer put there first."""
    run(brain, f"PRAGMA journal_mode = {mode}")
    a_session(store)
    if ended:
        store.end("s-1")
    attach(store, Config(brain_db_enabled=True, brain_db_path=str(brain)))
    once_read(lambda: store.update("s-1", {"hot_topics": ["newer"]}))
    export_sessions(store, brain)
    assert rows(brain)["s-1"]["hot_topics"] == '["newer"]'
    assert export_sessions(store, brain).written == 0


def test_a_log_that_grows_unseen_by_the_database_is_caught_up_by_the_next_export(store, brain, rows, once_read):
    a_session(store)
    once_read(lambda: store.update("s-1", {"hot_topics": ["newer"]}))
    assert export_sessions(store, brain).added == 1
    export_sessions(store, brain)
    assert rows(brain)["s-1"]["hot_topics"] == '["newer"]'
    assert export_sessions(store, brain).written == 0


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize("live", [False, True])
def test_a_session_forgotten_while_it_is_exported_is_not_written_back(store, brain, rows, once_read, live, ended):
    """Also where the table never had its row, so that the live writer had nothing to remove."""
    a_session(store)
    if ended:
        store.end("s-1")
    if live:
        attach(store, Config(brain_db_enabled=True, brain_db_path=str(brain)))
    once_read(lambda: store.forget("s-1"))
    export_sessions(store, brain)
    assert rows(brain) == {}


def test_a_session_archived_while_it_is_exported_is_not_written_back(store, brain, rows, clock, once_read):
    a_session(store)
    store.end("s-1")
    clock.advance(days=40)
    once_read(lambda: store.archive("s-1"))
    export_sessions(store, brain)
    assert rows(brain) == {}


def test_rows_there_was_no_time_for_are_written_with_the_next(store, brain, rows, monkeypatch):
    """A transaction that is full after a few rows leaves the others, each of which is written once."""
    from jsonlstore.bridges.braindb import database, reconcile

    monkeypatch.setattr(reconcile, "_BATCH", 5)
    monkeypatch.setattr(reconcile, "_SLICE", 2)
    monkeypatch.setattr(database, "HOLD_SECONDS", 0.0)
    monkeypatch.setattr(database, "_LEAST_SECONDS", 0.0)
    for number in range(12):
        store.start(f"s-{number}")
        store.end(f"s-{number}")
    steps = []
    report = export_sessions(store, brain, progress=lambda done, total: steps.append((done, total)))
    assert (report.added, report.updated, report.unchanged) == (12, 0, 0)
    assert steps == [(done, 12) for done in (2, 4, 6, 8, 10, 12)]
    assert len(rows(brain)) == 12
    assert export_sessions(store, brain).unchanged == 12


def test_no_secret_reaches_the_file(store, brain):
    a_session(store, pending_tasks=[{"task_id": "t", "title": "rotate password=hunter2-Xyz9! now"}])
    export_sessions(store, brain)
    assert b"hunter2" not in brain.read_bytes()
    assert b"[REDACTED]" in brain.read_bytes()


def test_a_row_the_table_refuses_does_not_keep_the_others_out(store, brain, rows):
    export_sessions(store, brain)
    run(
        brain,
        "CREATE TRIGGER no BEFORE INSERT ON session_states WHEN new.id = 's-3' BEGIN SELECT RAISE(ABORT, 'no'); END",
    )
    for number in range(7):
        a_session(store, f"s-{number}")
    report = export_sessions(store, brain)
    assert report.added == 6
    assert report.problems == ["s-3: the table refuses its row: no"]
    assert sorted(rows(brain)) == ["s-0", "s-1", "s-2", "s-4", "s-5", "s-6"]
    run(brain, "DROP TRIGGER no")
    assert export_sessions(store, brain).added == 1


@pytest.mark.parametrize("odd", [["cli"], {"a": 1}, 2**63 + 5])
@pytest.mark.parametrize("ended", [False, True])
def test_a_log_that_says_what_no_column_can_hold_keeps_no_other_session_out(store, brain, rows, odd, ended):
    a_session(store, "s-1")
    if ended:
        store.end("s-1")
    log = store.paths.log("s-1")
    log.write_bytes(log.read_bytes().replace(b'"channel":"cli"', b'"channel":' + json.dumps(odd).encode()))
    a_session(store, "s-2")
    report = export_sessions(store, brain)
    assert (report.added, set(rows(brain))) == (1, {"s-2"})
    assert [problem.partition(": ")[0] for problem in report.problems] == ["s-1"]
    sync = attach(store, Config(brain_db_enabled=True, brain_db_path=str(brain)))
    sync("s-1", None)
    a_session(store, "s-3")
    assert set(rows(brain)) == {"s-2", "s-3"}
    assert "refuses" in sync.problem


def test_a_log_under_another_name_is_the_session_its_name_says(store, brain, rows):
    a_session(store)
    store.end("s-1")
    store.paths.log("copy").write_bytes(store.paths.log("s-1").read_bytes())
    export_sessions(store, brain)
    assert set(rows(brain)) == {"s-1", "copy"}
    assert export_sessions(store, brain).written == 0
