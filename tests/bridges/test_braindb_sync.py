"""Live write-through: prompt when it can be, never in the way, and caught up later."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest

from jsonlstore.bridges.braindb import attach, brain_db_status, export_sessions
from jsonlstore.cli.main import main
from jsonlstore.core.config import Config
from jsonlstore.store.store import SessionStore
from jsonlstore.watch.loop import Watcher
from tests.bridges.conftest import database_backups


def config(brain, **settings):
    return Config(brain_db_path=str(brain), **settings)


def test_every_boundary_and_turn_is_in_the_table_at_once(store, cortex, rows, neighbours):
    before = neighbours(cortex)
    attach(store, config(cortex))
    store.start("s-1", channel="cli")
    assert rows(cortex)["s-1"]["channel"] == "cli"
    store.update("s-1", {"hot_topics": ["now"]})
    assert rows(cortex)["s-1"]["hot_topics"] == '["now"]'
    store.end("s-1")
    assert rows(cortex)["s-1"]["end_time"] == store.get("s-1").end_time
    store.resume("s-1")
    assert rows(cortex)["s-1"]["end_time"] is None
    store.link("s-1", "s-2")
    assert rows(cortex)["s-1"]["continued_by"] == "s-2"
    assert neighbours(cortex) == before
    assert len(database_backups(cortex)) == 1
    assert brain_db_status(store, config(cortex)).warning is None


def test_archiving_and_forgetting_remove_the_row_at_once(store, brain, rows):
    export_sessions(store, brain)
    attach(store, config(brain))
    for session_id in ("kept", "cold", "gone"):
        store.start(session_id)
    store.end("cold")
    store.archive("cold")
    store.forget("gone")
    assert set(rows(brain)) == {"kept"}


def test_auto_means_only_when_the_file_exists_and_off_means_never(store, brain):
    attach(store, config(brain))
    store.start("s-1")
    assert not brain.exists()
    assert brain_db_status(store, config(brain)).to_dict()["enabled"] is False
    assert brain_db_status(store, config(brain)).warning is None
    export_sessions(store, brain)
    before = brain.read_bytes()
    other = SessionStore.open(store.paths.state_dir)
    assert attach(other, config(brain, brain_db_enabled=False)) is None
    assert attach(other, config(brain, enabled=False)) is None
    other.start("s-2")
    assert brain.read_bytes() == before


def test_a_table_made_by_the_live_writer_gets_the_older_sessions_too(store, cortex, rows):
    store.start("older")
    attach(store, config(cortex))
    store.start("newer")
    assert set(rows(cortex)) == {"older", "newer"}
    assert brain_db_status(store, config(cortex)).warning is None


def test_a_missing_file_that_should_be_there_is_made(store, brain, rows):
    forced = config(brain, brain_db_enabled=True)
    store.start("older")
    attach(store, forced)
    store.start("s-1")
    assert set(rows(brain)) == {"older", "s-1"}
    assert brain_db_status(store, forced).warning is None


def test_one_that_cannot_be_made_is_a_warning_and_is_caught_up(store, brain, rows):
    place = brain.parent / "in-the-way"
    place.write_text("")
    forced = config(place / "brain.db", brain_db_enabled=True)
    sync = attach(store, forced)
    store.start("s-1")
    store.update("s-1", {"hot_topics": ["x"]})
    status = brain_db_status(store, forced)
    assert status.warning
    assert status.behind == 1
    assert sync.catch_up() is False
    place.unlink()
    store.start("s-2")
    assert set(rows(place / "brain.db")) == {"s-1", "s-2"}
    assert brain_db_status(store, forced).warning is None


def test_a_locked_file_costs_a_bounded_wait_once_and_another_process_catches_up(store, brain, rows):
    export_sessions(store, brain)
    sync = attach(store, config(brain))
    with closing(sqlite3.connect(brain, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        store.start("s-1")
        store.start("s-2")
        assert "locked" in sync.problem
        assert brain_db_status(store, config(brain)).behind == 2
        for turn in range(20):
            assert not sync.healthy  # whoever waited in vain does not wait in full again
            store.update("s-1", {"hot_topics": [f"turn {turn}"]})
        holder.execute("ROLLBACK")
    another = SessionStore.open(store.paths.state_dir)
    attach(another, config(brain))
    another.start("s-3")
    assert set(rows(brain)) == {"s-1", "s-2", "s-3"}
    assert rows(brain)["s-1"]["hot_topics"] == '["turn 19"]'
    assert brain_db_status(store, config(brain)).warning is None


def test_a_damaged_file_never_hurts_the_session(store, brain):
    brain.write_bytes(b"this is not a database" * 100)
    attach(store, config(brain))
    assert store.start("s-1") is True
    assert store.end("s-1") is True
    status = brain_db_status(store, config(brain))
    assert "not an SQLite database" in status.warning
    assert brain.read_bytes() == b"this is not a database" * 100


def test_a_read_only_database_is_a_warning_and_is_caught_up(store, brain, rows, read_only):
    export_sessions(store, brain)
    writable = brain.read_bytes()
    read_only(brain)
    attach(store, config(brain))
    assert store.start("s-1") is True
    assert store.end("s-1") is True
    status = brain_db_status(store, config(brain))
    assert "readonly" in status.warning
    assert status.behind == 1
    brain.write_bytes(writable)
    assert store.start("s-2") is True
    assert set(rows(brain)) == {"s-1", "s-2"}
    assert rows(brain)["s-1"]["end_time"] is not None
    assert brain_db_status(store, config(brain)).warning is None


def test_a_damaged_file_is_caught_up_when_it_is_whole_again(store, brain, rows):
    export_sessions(store, brain)
    whole = brain.read_bytes()
    brain.write_bytes(b"\0" * 100 + whole[100:])
    attach(store, config(brain))
    store.start("s-1")
    assert brain_db_status(store, config(brain)).warning
    brain.write_bytes(whole)
    store.start("s-2")
    assert set(rows(brain)) == {"s-1", "s-2"}
    assert brain_db_status(store, config(brain)).warning is None


def test_status_says_it_and_the_session_is_whole_in_our_store(store, brain, monkeypatch, capsys):
    """What `status` prints is where somebody would look."""
    monkeypatch.delenv("CORTEX_DATA_DIR", raising=False)
    usual = store.paths.state_dir / "workspace" / "memory" / "brain.db"
    export_sessions(store, usual)
    attach(store, Config())
    with closing(sqlite3.connect(usual, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        store.start("s-1")
        store.end("s-1")
    assert store.get("s-1").end_time is not None
    main(["--state-dir", str(store.paths.state_dir), "status", "--json"])
    brain_db = json.loads(capsys.readouterr().out)["bridges"]["brain_db"]
    assert brain_db["behind"] == 1
    assert "locked" in brain_db["warning"]


def test_a_file_one_may_not_write_is_a_warning(store, brain):
    export_sessions(store, brain)
    brain.chmod(0o400)
    if os.access(brain, os.W_OK):
        pytest.skip("root may write anywhere")
    attach(store, config(brain))
    store.start("s-1")
    assert "read-only" in brain_db_status(store, config(brain)).warning


def test_a_row_the_table_refuses_is_a_warning_and_keeps_no_other_out(store, brain, rows):
    export_sessions(store, brain)
    with closing(sqlite3.connect(brain)) as db:
        db.execute(
            "CREATE TRIGGER no BEFORE INSERT ON session_states WHEN new.id = 's-1' "
            "BEGIN SELECT RAISE(ABORT, 'not today'); END"
        )
    sync = attach(store, config(brain))
    assert store.start("s-1") is True
    assert "not today" in sync.problem
    store.start("s-2")
    assert set(rows(brain)) == {"s-2"}
    assert brain_db_status(store, config(brain)).behind == 1
    report = export_sessions(store, brain)
    assert report.problems == ["s-1: the table refuses its row: not today"]
    with closing(sqlite3.connect(brain)) as db:
        db.execute("DROP TRIGGER no")
    store.start("s-3")
    assert set(rows(brain)) == {"s-1", "s-2", "s-3"}
    assert brain_db_status(store, config(brain)).warning is None


def test_what_is_too_much_to_name_is_caught_up_as_a_whole(store, brain, rows):
    forced = config(brain, brain_db_enabled=True)
    with store.index.batch():
        for number in range(30):
            store.start(f"s-{number}")
    sync = attach(store, forced)
    from jsonlstore.bridges.braindb.backlog import Backlog

    Backlog(store).add([f"imagined-{n}" for n in range(2000)], "many")
    assert brain_db_status(store, forced).everything_behind
    export_sessions(store, brain, since=store.clock() + timedelta(days=1))
    assert rows(brain) == {}
    assert sync.catch_up() is True
    assert len(rows(brain)) == 30
    assert brain_db_status(store, forced).warning is None


def test_a_damaged_backlog_counts_as_everything(store, brain, rows):
    export_sessions(store, brain)
    store.start("s-1")
    (store.paths.states / "brain-db-behind.json").write_bytes(b'{"torn')
    assert brain_db_status(store, config(brain)).everything_behind
    attach(store, config(brain))
    store.start("s-2")
    assert set(rows(brain)) == {"s-1", "s-2"}


def test_attaching_alone_does_not_load_sqlite(tmp_path):
    """A hook that has no brain.db pays nothing for the bridge."""
    import subprocess
    import sys

    code = (
        "import sys\n"
        "from jsonlstore.bridges.braindb import attach\n"
        "from jsonlstore.core.config import Config\n"
        "from jsonlstore.store.store import SessionStore\n"
        "store = SessionStore.open(sys.argv[1])\n"
        "attach(store, Config())\n"
        "store.start('s-1')\n"
        "print('sqlite3' in sys.modules)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env={"HOME": str(tmp_path)},
    )
    assert out.stdout == "False\n"


def test_a_backlog_that_cannot_be_read_or_written_never_hurts_the_session(store, brain, rows):
    export_sessions(store, brain)
    (store.paths.states / "brain-db-behind.json").mkdir(parents=True)
    attach(store, config(brain))
    assert store.start("s-1") is True
    assert set(rows(brain)) == {"s-1"}
    brain.write_bytes(b"garbage" * 1000)
    assert store.end("s-1") is True
    assert brain_db_status(store, config(brain)).warning


def test_two_stores_at_once_leave_the_newer_state(store, brain, rows):
    """The row is read from the log inside the transaction, so whoever writes last writes the latest."""
    export_sessions(store, brain)
    mine, theirs = store, SessionStore.open(store.paths.state_dir)
    late = attach(mine, config(brain))
    mine.start("s-1")
    old = mine.folded("s-1")
    theirs.update("s-1", {"hot_topics": ["newer"]})
    late("s-1", old)
    assert rows(brain)["s-1"]["hot_topics"] == '["newer"]'


def test_a_watcher_brings_what_a_killed_process_never_wrote(store, brain, rows):
    """Killed between the log and the row, it could not even note that the row is missing; and then there are many."""
    export_sessions(store, brain)
    store.start("a")
    attach(store, config(brain))
    assert rows(brain) == {}
    watcher = Watcher(store, config(brain))
    watcher.step()
    assert set(rows(brain)) == {"a"}
    with closing(sqlite3.connect(brain)) as db:
        db.execute("DELETE FROM session_states")
        db.commit()
    watcher.step()
    assert rows(brain) == {}, "once an hour is enough"


def test_a_locked_brain_does_not_keep_a_watcher_from_watching(store, brain, rows):
    export_sessions(store, brain)
    store.start("a")
    sync = attach(store, config(brain))
    with closing(sqlite3.connect(brain, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        Watcher(store, config(brain)).step()
        assert sync.problem is None, "nobody knows of anything that is missing"
    assert sync.catch_up() is True
    assert set(rows(brain)) == {"a"}


def refuse(brain, pattern):
    with closing(sqlite3.connect(brain)) as db:
        db.execute(
            f"CREATE TRIGGER no BEFORE INSERT ON session_states WHEN new.id LIKE '{pattern}' "
            "BEGIN SELECT RAISE(ABORT, 'not today'); END"
        )


def allow(brain):
    with closing(sqlite3.connect(brain)) as db:
        db.execute("DROP TRIGGER no")


def test_a_row_the_table_refuses_stays_behind_however_often_everything_is_compared(store, brain, rows, clock):
    export_sessions(store, brain)
    refuse(brain, "bad")
    sync = attach(store, config(brain))
    store.start("bad")
    store.start("good")
    since = brain_db_status(store, config(brain)).since
    for _ in range(2):
        clock.advance(hours=1)
        assert sync.catch_up() is False
        assert "the table refuses the row: not today" in sync.problem
        status = brain_db_status(store, config(brain))
        assert (status.behind, status.everything_behind, status.since) == (1, False, since)
    assert set(rows(brain)) == {"good"}
    allow(brain)
    assert sync.catch_up() is True
    assert sync.problem is None
    assert set(rows(brain)) == {"bad", "good"}


def test_a_refusal_nobody_knew_of_is_noted_by_whoever_compares_everything(store, brain, rows):
    """The process that should have written the row was killed before it came to that."""
    export_sessions(store, brain)
    refuse(brain, "bad")
    store.start("bad")
    sync = attach(store, config(brain))
    assert sync.catch_up() is False
    assert "not today" in sync.problem
    allow(brain)
    store.start("good")
    assert set(rows(brain)) == {"bad", "good"}
    assert sync.problem is None


def test_a_row_refused_while_looking_back_stays_behind(store, brain, rows):
    """More was missing than could be named; all of it is written then but for one, and that can be named."""
    from jsonlstore.bridges.braindb.backlog import Backlog

    export_sessions(store, brain)
    refuse(brain, "bad")
    for session_id in ("bad", "old"):
        store.start(session_id)
    Backlog(store).add((), "the disk is full", everything=True)
    sync = attach(store, config(brain))
    store.start("new")
    assert set(rows(brain)) == {"old", "new"}
    assert "not today" in sync.problem
    assert Backlog(store).read().session_ids == ("bad",)
    assert not Backlog(store).read().everything


def test_refused_rows_in_any_number_keep_no_other_waiting_for_good(store, brain, rows):
    export_sessions(store, brain)
    refuse(brain, "bad-%")
    attach(store, config(brain))
    with store.index.batch():
        for number in range(120):
            store.start(f"bad-{number}")
    with closing(sqlite3.connect(brain, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        store.start("late")
        holder.execute("ROLLBACK")
    another = SessionStore.open(store.paths.state_dir)
    sync = attach(another, config(brain))
    for turn in range(3):
        another.start(f"good-{turn}")
    assert set(rows(brain)) == {"late", "good-0", "good-1", "good-2"}
    assert brain_db_status(store, config(brain)).behind == 120
    assert "not today" in sync.problem
