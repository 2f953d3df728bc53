"""brain.db as strangers leave it: behind a symlink, under an odd name, with tables and values nobody expects."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from jsonlstore.bridges.braindb import (
    StmMemories,
    attach,
    brain_db_status,
    export_sessions,
    import_sessions,
    reconcile,
)
from jsonlstore.bridges.braindb.schema import CREATE_TABLE
from jsonlstore.compat import SessionManager
from jsonlstore.core.config import Config
from jsonlstore.core.errors import Unreadable, WriteFailed

CORTEX = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("INSERT INTO session_states (id, start_time, created_at) VALUES ('a', '2026-11-01', '')")
db.execute("INSERT INTO stm VALUES ('m', 0.5)")
print("written", flush=True)
sys.stdin.read()
"""


def stranger(path, **row):
    """Insert a row as some other program would, making the table where there is none."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(CREATE_TABLE)
        whole = {"start_time": "2026-11-01T10:00:00Z", "created_at": "2026-11-01T10:00:00Z", **row}
        marks = ", ".join("?" * len(whole))
        db.execute(f"INSERT INTO session_states ({', '.join(whole)}) VALUES ({marks})", tuple(whole.values()))
        db.commit()


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def linked(tmp_path):
    """A symlink to a brain.db elsewhere whose newest rows are still in the write-ahead log beside the real file."""
    real = tmp_path / "elsewhere" / "real.db"
    real.parent.mkdir()
    link = tmp_path / "link.db"
    link.symlink_to(real)
    with closing(sqlite3.connect(real, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(CREATE_TABLE)
        db.execute("CREATE TABLE stm (id TEXT PRIMARY KEY, confidence REAL)")
    command = [sys.executable, "-c", CORTEX, str(real)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as cortex:
        assert cortex.stdout.readline() == "written\n"
        yield link
        cortex.stdin.close()


def test_what_is_in_the_log_of_a_linked_database_is_seen_and_no_byte_changes(store, linked):
    real = linked.parent / "elsewhere"
    before = digests(real)
    assert StmMemories(linked).confidences(["m"]) == {"m": 0.5}
    assert import_sessions(store, linked).imported == ["a"]
    assert export_sessions(store, linked, dry_run=True).added == 0
    assert digests(real) == before
    assert set(before) == {"real.db", "real.db-wal", "real.db-shm"}


def test_a_linked_database_is_exported_to_where_it_is(store, linked, rows):
    store.start("b", hot_topics=["x"])
    assert export_sessions(store, linked).added == 1
    assert linked.is_symlink()
    assert set(rows(linked)) == {"a", "b"}
    assert export_sessions(store, linked).written == 0


@pytest.mark.parametrize("name", [b"br?ai#n%20.db", "bräin ü.db".encode(), b"br\xffain.db", b"a'b\"c;d.db"])
def test_any_file_name_will_do(store, tmp_path, name):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    store.start("a")
    try:
        assert export_sessions(store, path).added == 1
    except OSError:
        pytest.skip("not a name for this file system")
    assert path.exists()
    assert import_sessions(store, path).known == 1
    assert StmMemories(path).confidences(["m"]) == {}
    assert [session["id"] for session in SessionManager(path).get_crashed_sessions("")] == ["a"]


def test_a_table_whose_ids_are_no_key_is_refused_in_plain_words_and_left_alone(store, brain):
    """Nobody could say which of several rows is meant."""
    with closing(sqlite3.connect(brain)) as db:
        db.execute(CREATE_TABLE.replace("id TEXT PRIMARY KEY", "id TEXT"))
    before = brain.read_bytes()
    store.start("a")
    with pytest.raises(Unreadable, match="id is no key"):
        export_sessions(store, brain)
    with pytest.raises(Unreadable, match="id is no key"):
        SessionManager(brain)
    config = Config(brain_db_enabled=True, brain_db_path=str(brain))
    attach(store, config)
    store.start("b")
    assert "id is no key" in brain_db_status(store, config).warning
    assert brain.read_bytes() == before


@pytest.mark.parametrize("unique", ["id TEXT NOT NULL UNIQUE", "n INTEGER PRIMARY KEY, id TEXT UNIQUE"])
def test_any_unique_id_is_a_key(store, brain, rows, unique):
    with closing(sqlite3.connect(brain)) as db:
        db.execute(CREATE_TABLE.replace("id TEXT PRIMARY KEY", unique))
    store.start("a")
    assert export_sessions(store, brain).added == 1
    assert set(rows(brain)) == {"a"}


@pytest.mark.parametrize("index", ["(id) WHERE end_time IS NULL", "(id, start_time)", "(lower(id))"])
def test_half_a_key_is_no_key(store, brain, index):
    with closing(sqlite3.connect(brain)) as db:
        db.execute(CREATE_TABLE.replace("id TEXT PRIMARY KEY", "id TEXT"))
        db.execute(f"CREATE UNIQUE INDEX half ON session_states {index}")
    with pytest.raises(Unreadable, match="id is no key"):
        export_sessions(store, brain)


def test_two_rows_of_one_id_are_one_session_and_the_other_is_named(store, brain):
    with closing(sqlite3.connect(brain)) as db:
        db.execute(CREATE_TABLE.replace("id TEXT PRIMARY KEY", "id TEXT"))
    stranger(brain, id="a", hot_topics='["first"]')
    stranger(brain, id="a", hot_topics='["second"]')
    dry = import_sessions(store, brain, dry_run=True)
    report = import_sessions(store, brain)
    assert report.imported == dry.imported == ["a"]
    assert report.problems == dry.problems == {"a": ["there is another row of this id, which was left out"]}
    assert store.get("a").hot_topics == ("first",)
    again = import_sessions(store, brain)
    assert (again.imported, again.known, again.problems) == ([], 2, {})


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        (1762000000, "2025-11-01T12:26:40.000Z"),
        (1762000000.25, "2025-11-01T12:26:40.250Z"),
        (1762000000123, "2025-11-01T12:26:40.123Z"),
        ("1762000000", "2025-11-01T12:26:40.000Z"),
    ],
)
def test_times_that_are_numbers_are_read_though_the_column_made_them_text(store, brain, stored, read):
    stranger(brain, id="a", start_time=stored, created_at=stored)
    report = import_sessions(store, brain)
    assert (report.imported, report.problems) == (["a"], {})
    assert store.get("a").start_time == read


@pytest.mark.parametrize("stored", ["20261101120000", "202611011200", "176200000", "1762000000123456"])
def test_other_numbers_are_no_times(store, brain, stored):
    """Sixty years ago is no better a guess than none."""
    stranger(brain, id="a", start_time=stored)
    assert import_sessions(store, brain).problems == {"a": ["start_time is not a time"]}
    assert store.get("a").start_time == "2026-11-01T10:00:00.000Z"


@pytest.mark.parametrize("name", ["self", "by", "session_id", "fields", "select", "we'ird \"name", "password"])
def test_a_column_may_have_any_name(store, brain, name):
    stranger(brain, id="a")
    with closing(sqlite3.connect(brain)) as db:
        quoted = '"' + name.replace('"', '""') + '"'
        db.execute(f"ALTER TABLE session_states ADD COLUMN {quoted} TEXT DEFAULT 'hunter2-Xyz9!'")
        db.commit()
    assert import_sessions(store, brain).imported == ["a"]
    if name == "password":
        assert b"hunter2" not in store.paths.log("a").read_bytes()


def test_blobs_and_numbers_where_words_belong_are_left_out_and_named(store, brain):
    stranger(brain, id="a", channel=b"\xff", previous_session_id=b"b", continued_by=b"c", start_time=b"x")
    report = import_sessions(store, brain)
    assert report.problems == {
        "a": [
            "start_time is not a time",
            "channel is not text",
            "previous_session_id is not text",
            "continued_by is not text",
        ]
    }
    state = store.get("a")
    assert (state.channel, state.previous_session_id, state.continued_by) == ("unknown", None, None)


def test_text_that_is_none_costs_nothing_but_itself(store, brain):
    with closing(sqlite3.connect(brain)) as db:
        db.execute(CREATE_TABLE)
        db.execute(
            "INSERT INTO session_states (id, start_time, created_at, updated_at) VALUES "
            "('a', '2026-11-01', '2026-11-01', CAST(x'ff41' AS TEXT)), (CAST(x'ff' AS TEXT), 'x', 'x', NULL), "
            "(x'61', '2026-11-01', 'x', NULL)"
        )
        db.commit()
    report = import_sessions(store, brain)
    assert (report.imported, len(report.skipped)) == (["a"], 2)
    store.update("a", {"hot_topics": ["x"]})
    assert export_sessions(store, brain).updated == 1
    with closing(sqlite3.connect(brain)) as db:
        assert db.execute("SELECT hot_topics FROM session_states WHERE id = 'a'").fetchone() == ('["x"]',)
        assert db.execute("SELECT count(*) FROM session_states").fetchone() == (3,)


@pytest.mark.parametrize("journal", ["wal", "delete", "truncate"])
def test_nothing_of_a_forgotten_session_stays_while_others_have_the_database_open(store, brain, journal):
    """Also not in the write-ahead log, which lives as long as anybody is connected."""
    with closing(sqlite3.connect(brain, isolation_level=None)) as cortex:
        cortex.execute(f"PRAGMA journal_mode = {journal}")
        cortex.execute("CREATE TABLE t (x)")
        attach(store, Config(brain_db_enabled=True, brain_db_path=str(brain)))
        store.start("a", hot_topics=["averyquietaffair"])
        store.end("a")
        store.start("b", hot_topics=["anotheraffair"])
        store.forget("a")
        store.listeners.clear()
        store.forget("b")
        assert export_sessions(store, brain).removed == ["b"]
        assert cortex.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        for path in brain.parent.glob("brain.db*"):
            assert b"affair" not in path.read_bytes(), path


@pytest.mark.parametrize(
    "table",
    [
        CREATE_TABLE.replace("created_at TEXT NOT NULL,\n    updated_at TEXT", "created_at TEXT NOT NULL"),
        CREATE_TABLE.replace("updated_at TEXT\n", "updated_at TEXT GENERATED ALWAYS AS (end_time)\n"),
        "CREATE TABLE session_states (id TEXT PRIMARY KEY, start_time TEXT, end_time TEXT)",
    ],
    ids=["without its last column", "with one that nobody may write", "without most of them"],
)
def test_a_table_that_ends_early_gets_what_it_has_columns_for(store, brain, rows, table):
    with closing(sqlite3.connect(brain)) as db:
        db.execute(table)
    attach(store, Config(brain_db_enabled=True, brain_db_path=str(brain)))
    store.start("a", hot_topics=["x"])
    store.listeners.clear()
    store.end("a")
    store.start("b")
    report = export_sessions(store, brain)
    assert (report.added, report.updated) == (1, 1)
    assert "updated_at" in report.problems[0]
    assert rows(brain)["a"]["end_time"] == store.get("a").end_time
    assert export_sessions(store, brain).written == 0


def test_the_manager_makes_do_with_fewer_columns(brain):
    with closing(sqlite3.connect(brain)) as db:
        db.execute("CREATE TABLE session_states (id TEXT PRIMARY KEY, start_time TEXT, end_time TEXT)")
    manager = SessionManager(brain)
    manager.save_session({"session_id": "a", "hot_topics": ["x"]})
    manager.mark_continued("a", "b")
    manager.recover_crashed("a", "2026-11-01T10:00:00Z")
    (found,) = manager.get_session_chain("a")
    assert found["end_time"] == "2026-11-01T10:00:00.000Z"


def test_a_column_called_rowid_hides_no_row(store, brain):
    with closing(sqlite3.connect(brain)) as db:
        db.execute(CREATE_TABLE.replace("updated_at TEXT\n", "updated_at TEXT, rowid TEXT\n"))
    store.start("a")
    assert export_sessions(store, brain).added == 1
    assert export_sessions(store, brain).unchanged == 1


@pytest.mark.parametrize("schema", ["CREATE VIEW session_states AS SELECT 1 AS id, 2 AS start_time", "id is no key"])
def test_a_dry_run_refuses_what_the_export_would_refuse(store, brain, schema):
    with closing(sqlite3.connect(brain)) as db:
        db.execute(schema if schema[0] == "C" else CREATE_TABLE.replace("id TEXT PRIMARY KEY", "id TEXT"))
    store.start("a")
    with pytest.raises(Unreadable) as real:
        export_sessions(store, brain)
    with pytest.raises(Unreadable) as dry:
        export_sessions(store, brain, dry_run=True)
    assert dry.value.message == real.value.message


@pytest.mark.parametrize("kind", ["directory", "pipe"])
def test_what_is_no_file_is_refused_at_once(store, brain, kind):
    """A pipe would keep its reader waiting until somebody writes to it."""
    brain.mkdir() if kind == "directory" else os.mkfifo(brain)
    store.start("a")
    config = Config(brain_db_enabled=True, brain_db_path=str(brain))
    for use in (
        lambda: export_sessions(store, brain),
        lambda: export_sessions(store, brain, dry_run=True),
        lambda: import_sessions(store, brain),
        lambda: SessionManager(brain),
    ):
        with pytest.raises(Unreadable, match="is not a file"):
            use()
    assert "is not a file" in brain_db_status(store, config).warning
    assert StmMemories(brain).confidences(["m"]) == {}
    attach(store, config)
    assert store.start("b") is True


def test_a_database_replaced_during_an_export_is_said_plainly_and_the_next_export_fills_it(
    store, brain, rows, monkeypatch
):
    monkeypatch.setattr(reconcile, "_BATCH", 1)
    store.start("a")
    store.start("b")

    def replace(done, _total):
        if done == 1:
            brain.rename(brain.with_name("old.db"))
            stranger(brain, id="theirs")

    with pytest.raises(WriteFailed, match="moved or replaced"):
        export_sessions(store, brain, progress=replace)
    assert export_sessions(store, brain).added == 2
    assert set(rows(brain)) == {"a", "b", "theirs"}


MORE_THAN_WE_TAKE = {
    "start_time": "2026-11-01 10:00:00",
    "end_time": "2026-11-01 11:00:00",
    "updated_at": "2026-11-01 10:59:00",
    "hot_topics": json.dumps([f"topic {number}" for number in range(3000)]),
    "working_memory": '[{"content": "keep"}, {"label": "without content"}, 7]',
    "recent_learnings": "[1, 2]",
    "sop_interactions": "not json",
    "schema_version": 3,
}


@pytest.mark.parametrize("live", [False, True])
def test_a_row_is_not_written_over_by_what_was_only_read_from_it(store, brain, rows, live):
    """What we could not take in, or had to cut, is nowhere but there."""
    stranger(brain, id="a", **MORE_THAN_WE_TAKE)
    export_sessions(store, brain)  # adds the indexes
    before = rows(brain)
    assert import_sessions(store, brain).imported == ["a"]
    if live:
        sync = attach(store, Config(brain_db_enabled=True, brain_db_path=str(brain)))
        sync("a", None)
    assert export_sessions(store, brain, dry_run=True).written == 0
    assert export_sessions(store, brain).unchanged == 1
    assert rows(brain) == before


def test_what_became_of_an_imported_session_reaches_its_row(store, brain, rows):
    stranger(brain, id="a", **MORE_THAN_WE_TAKE)
    stranger(brain, id="b", **MORE_THAN_WE_TAKE | {"end_time": None})
    before = rows(brain)
    import_sessions(store, brain)
    store.link("a", "c")
    store.recover("b", "2026-11-01T12:00:00Z")
    assert export_sessions(store, brain).updated == 2
    assert rows(brain) == {
        "a": before["a"] | {"continued_by": "c"},
        "b": before["b"] | {"end_time": "2026-11-01T12:00:00.000Z", "crash_recovered": 1},
    }
    assert export_sessions(store, brain).written == 0


@pytest.mark.parametrize("live", [False, True])
def test_an_imported_session_that_goes_on_here_is_ours_to_tell(store, brain, rows, live):
    stranger(brain, id="a", hot_topics='["theirs"]', working_memory="not json")
    import_sessions(store, brain)
    if live:
        attach(store, Config(brain_db_enabled=True, brain_db_path=str(brain)))
    store.update("a", {"hot_topics": ["ours"]})
    assert export_sessions(store, brain).written == (0 if live else 1)
    assert rows(brain)["a"]["hot_topics"] == '["ours","theirs"]'
    assert rows(brain)["a"]["working_memory"] == "not json"


def test_an_imported_session_is_whole_in_another_database(store, brain, tmp_path, rows):
    stranger(brain, id="a", hot_topics='["x"]', end_time="2026-11-01T11:00:00Z")
    import_sessions(store, brain)
    export_sessions(store, tmp_path / "other.db")
    assert rows(tmp_path / "other.db")["a"]["hot_topics"] == '["x"]'
