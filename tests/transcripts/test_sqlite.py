"""The SQLite era is read in every situation OpenClaw leaves, and nothing under `agents/` changes by it."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jsonlstore.transcripts import readonly
from jsonlstore.transcripts.openclaw import DATABASE
from jsonlstore.transcripts.openclaw.sqlite import SqliteSource
from jsonlstore.transcripts.readonly import opened_readonly
from jsonlstore.transcripts.source import Ending, Transcript

if TYPE_CHECKING:
    from types import ModuleType

# Holds the database open with committed, not yet checkpointed rows until it is killed or told to stop.
WRITER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA wal_autocheckpoint=0")
insert = "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES ('s', 500, ?, 1)"
database.execute(insert, (sys.argv[2],))
print("written", flush=True)
sys.stdin.readline()
database.close()
"""
LATEST = '{"type":"message","id":"late","parentId":null,"message":{"role":"user","content":"late"}}'


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    return tmp_path / "agents" / "main"


def build(make: ModuleType, agent: Path, schema: int = 23) -> Path:
    with closing(make.create_database(agent / DATABASE, schema)) as database:
        talk = make.ordinary("s", "the database", version=4).assistant("long " * 500)
        make.add_session(database, "agent:main:main", "s", talk.records)
    return agent / DATABASE


def snapshot(folder: Path) -> dict[str, tuple[str, int]]:
    """Names, hashes and mtimes of everything below `folder`, directories included."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            path.stat().st_mtime_ns,
        )
        for path in [folder, *folder.rglob("*")]
    }


def read_everything(agent: Path) -> list[str | None]:
    source = SqliteSource(agent)
    ids = []
    for one in source.transcripts():
        reading = source.read(one)
        ids += [entry.id for entry in reading]
        source.has_new(one, reading.cursor)
        source.measure(one)
    assert source.warnings == ()
    return ids


@pytest.mark.parametrize("schema", [19, 23])
def test_a_database_of_either_schema_is_read_row_for_row(make: ModuleType, agent: Path, schema: int) -> None:
    build(make, agent, schema)
    source = SqliteSource(agent)
    (one,) = source.transcripts()
    entries = list(source.read(one))
    assert [dict(entry.raw) for entry in entries] == make.ordinary("s", "the database", version=4).assistant(
        "long " * 500
    ).records
    assert [entry.position for entry in entries] == list(range(len(entries)))
    assert (one.session_key, one.channel, one.ending) == ("agent:main:main", "webchat", None)
    with closing(sqlite3.connect(source.path)) as database:
        packed = 0
        if schema == 23:
            packed = database.execute("SELECT count(*) FROM transcript_events WHERE event_json IS NULL").fetchone()[0]
    assert packed == (1 if schema == 23 else 0)


def test_a_cleanly_closed_database_is_left_byte_for_byte(make: ModuleType, agent: Path) -> None:
    path = build(make, agent)
    assert not Path(f"{path}-wal").exists()
    before = snapshot(agent)
    with opened_readonly(path) as database:
        assert database.situation == "immutable"
    assert read_everything(agent)
    assert snapshot(agent) == before


@pytest.mark.parametrize("end", ["running", "killed"])
def test_rows_in_the_log_are_read_while_the_writer_lives_and_after_kill_9(
    make: ModuleType, agent: Path, end: str
) -> None:
    path = build(make, agent)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, path, LATEST], stdin=-1, stdout=-1, text=True)
    with writer:
        assert writer.stdin
        assert writer.stdout
        writer.stdout.readline()
        if end == "killed":
            writer.kill()
            writer.wait()
        before = snapshot(agent)
        assert {f"{DATABASE}-wal", f"{DATABASE}-shm"} <= set(before)
        with opened_readonly(path) as database:
            assert database.situation == "shared"
        assert read_everything(agent)[-1] == "late"
        assert snapshot(agent) == before
        writer.kill()


def test_a_log_without_shared_memory_is_read_from_a_private_copy(make: ModuleType, agent: Path, tmp_path: Path) -> None:
    path = build(make, agent)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, path, LATEST], stdin=-1, stdout=-1, text=True)
    with writer:
        assert writer.stdout
        writer.stdout.readline()
        other = tmp_path / "copied" / "main"
        (other / "agent").mkdir(parents=True)
        for suffix in ("", "-wal"):
            shutil.copy2(f"{path}{suffix}", f"{other / DATABASE}{suffix}")
        writer.kill()
    before = snapshot(other)
    with opened_readonly(other / DATABASE) as database:
        assert database.situation == "copy"
        copy = Path(database.connection.execute("PRAGMA database_list").fetchone()[2].decode())
    assert not copy.exists()
    assert read_everything(other)[-1] == "late"
    assert snapshot(other) == before


def test_a_gateway_that_writes_all_the_time_loses_us_nothing(make: ModuleType, agent: Path) -> None:
    path = build(make, agent)
    source = SqliteSource(agent)
    (one,) = source.transcripts()
    cursor, got, deadline = None, [], time.monotonic() + 60
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        for number in range(60):
            event = LATEST.replace("late", f"n{number}")
            make.add_event(writer, "s", 1000 + number, event.encode(), packed=False)
            if number % 7 == 0:
                writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            reading = source.read(one, cursor)
            got += [entry.id for entry in reading if entry.position >= 1000]
            assert not reading.restarted
            cursor = reading.cursor
            assert time.monotonic() < deadline
    assert got == [f"n{number}" for number in range(60)]


def test_a_write_under_an_immutable_read_is_noticed_and_read_again(make: ModuleType, agent: Path) -> None:
    path = build(make, agent)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        for number in range(600):
            make.add_event(writer, "s", 100 + number, LATEST.replace("late", f"n{number}").encode(), packed=False)
    source = SqliteSource(agent)
    (one,) = source.transcripts()
    entries = iter(source.read(one))
    got = [next(entries).id]
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        make.add_event(writer, "s", 5000, LATEST.encode(), packed=False)
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    got += [entry.id for entry in entries]
    assert got[-1] == "late"
    assert len(got) == len(set(got)) == len(make.ordinary("s", "x").records) + 1 + 600 + 1


def test_a_rewrite_watermark_means_reading_from_the_start(make: ModuleType, agent: Path) -> None:
    path = build(make, agent)
    source = SqliteSource(agent)
    (one,) = source.transcripts()
    reading = source.read(one)
    count = len(list(reading))
    assert not source.has_new(one, reading.cursor)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("UPDATE transcript_rewrite_watermarks SET generation = 'second'")
    assert source.has_new(one, reading.cursor)
    again = source.read(one, reading.cursor)
    assert len(list(again)) == count
    assert again.restarted


def test_why_a_session_ended_is_read_from_windows_and_nodes(make: ModuleType, agent: Path) -> None:
    with closing(make.create_database(agent / DATABASE, 23)) as database:
        key = "agent:main:main"
        make.add_session(database, key, "one", make.ordinary("one", "x").records)
        make.add_session(database, key, "two", make.ordinary("two", "x").records, previous="one", reason="rollover")
        make.add_session(database, "agent:main:subagent:x", "sub", make.ordinary("sub", "x").records)
        make.add_session(database, "agent:main:discord:dm:9", "gone", make.ordinary("gone", "x").records, current=False)
    found = {one.session_id: one for one in SqliteSource(agent).transcripts()}
    assert found["one"].ending == Ending("rollover", make.iso(0))
    assert found["two"].ending is None
    assert found["gone"].ending == Ending("unreferenced")
    assert (found["sub"].skip, found["gone"].channel) == ("subagent", "discord")


@pytest.mark.parametrize("encoding", ["identity", "zstd"])
def test_a_deleted_session_is_read_from_the_archive_table(make: ModuleType, agent: Path, encoding: str) -> None:
    path = build(make, agent)
    talk = make.ordinary(make.WAS_DELETED, "archive").bytes()
    blob = make.compress(talk) if encoding == "zstd" else talk
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        row = (make.WAS_DELETED, "g1", "agent:main:main", "deleted", encoding, blob, "name", make.START)
        database.execute("INSERT INTO session_transcript_archives VALUES (?,?,?,?,?,?,?,?)", row)
    source = SqliteSource(agent)
    (one,) = (one for one in source.transcripts() if one.session_id == make.WAS_DELETED)
    reading = source.read(one)
    assert len(list(reading)) == 8
    assert (one.state, one.ending) == ("deleted", Ending("deleted", make.iso(0)))
    assert not source.has_new(one, reading.cursor)


def test_cold_sessions_are_read_from_their_file_or_warned_about(make: ModuleType, agent: Path) -> None:
    path = build(make, agent)
    (agent / "cold").mkdir()
    (agent / "cold" / "one.zst").write_bytes(make.compress(make.ordinary("cold", "archive").bytes()))
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(
            "CREATE TABLE session_transcript_cold_archives (session_id TEXT PRIMARY KEY, generation TEXT, "
            "archive_name TEXT, archived_at INTEGER, storage TEXT, archive_blob BLOB)"
        )
        insert = "INSERT INTO session_transcript_cold_archives VALUES (?, 'g', ?, 1, ?, ?)"
        database.execute(insert, ("cold", "one.zst", "file", None))
        database.execute(insert, ("lost", "two.zst", "file", None))
        database.execute(insert, ("inside", "three", "sqlite", make.ordinary("inside", "archive").bytes()))
    source = SqliteSource(agent)
    counts = {one.session_id: len(list(source.read(one))) for one in source.transcripts()}
    assert counts == {"s": 9, "cold": 8, "inside": 8}
    assert "two.zst" in source.warnings[0]


def test_an_unknown_schema_is_a_warning_never_silence(agent: Path) -> None:
    (agent / "agent").mkdir(parents=True)
    with closing(sqlite3.connect(agent / DATABASE)) as database:
        database.execute("CREATE TABLE something_else (x)")
        database.execute("PRAGMA user_version=99")
    source = SqliteSource(agent)
    assert source.transcripts() == []
    assert "unknown schema 99" in source.warnings[0]


def test_a_newer_schema_with_the_same_tables_is_read(make: ModuleType, agent: Path) -> None:
    path = build(make, agent)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version=42")
        database.execute("ALTER TABLE transcript_events ADD COLUMN new_thing TEXT")
    assert len(read_everything(agent)) == 9


def test_a_file_that_is_no_database_is_a_warning(agent: Path) -> None:
    (agent / "agent").mkdir(parents=True)
    (agent / DATABASE).write_bytes(b"not a database" * 500)
    source = SqliteSource(agent)
    assert source.transcripts() == []
    assert source.warnings


cells = st.tuples(
    st.none() | st.text(max_size=30) | st.just(LATEST) | st.binary(max_size=30),
    st.none() | st.binary(max_size=40) | st.just("text"),
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(cells, max_size=8))
def test_fuzzed_cells_are_skipped_and_counted_and_hide_nothing(
    make: ModuleType, tmp_path: Path, rows: list[tuple[object, object]]
) -> None:
    agent = tmp_path / "fuzz"
    shutil.rmtree(agent, ignore_errors=True)
    path = build(make, agent)
    good = make.compress(LATEST.replace("late", "last").encode())
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for number, (text, blob) in enumerate([*rows, (None, good)]):
            columns = "(session_id, seq, event_json, created_at, event_zstd)"
            row = (100 + number, text, blob)
            database.execute(f"INSERT INTO transcript_events {columns} VALUES ('s', ?, ?, 0, ?)", row)
    source = SqliteSource(agent)
    reading = source.read(Transcript("main", "sqlite", path, "s"))
    entries = list(reading)
    assert entries[-1].id == "last"
    assert len(entries) + reading.bad_count == 9 + len(rows) + 1


def test_a_zstd_bomb_is_not_unpacked(make: ModuleType, agent: Path) -> None:
    path = build(make, agent)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        query = "INSERT INTO transcript_events (session_id, seq, created_at, event_zstd) VALUES ('s', 100, 0, ?)"
        database.execute(query, (make.compress(b"a" * 3_000_000),))
    reading = SqliteSource(agent, max_line=1_000_000).read(Transcript("main", "sqlite", path, "s"))
    assert len(list(reading)) == 9
    assert reading.bad_count == 1


def test_a_row_above_the_limit_is_skipped_and_counted(make: ModuleType, agent: Path) -> None:
    path = build(make, agent, 19)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        make.add_event(database, "s", 100, LATEST.replace('"late"}}', f'"{"x" * 50_000}"}}}}').encode(), packed=False)
        make.add_event(database, "s", 101, LATEST.encode(), packed=False)
    reading = SqliteSource(agent, max_line=10_000).read(Transcript("main", "sqlite", path, "s"))
    assert [entry.position for entry in reading][-2:] == [8, 101]
    assert [bad.position for bad in reading.bad] == [100]


def test_reading_leaves_no_temporary_files(
    make: ModuleType, agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build(make, agent)
    Path(f"{path}-wal").write_bytes(b"a torn log")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", os.fspath(temporary))
    assert len(read_everything(agent)) == 9
    assert list(temporary.iterdir()) == []


def test_a_private_copy_has_no_name_while_it_is_read_and_an_old_one_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Transcripts are full of secrets: a process that is killed while it reads must not leave them lying about."""
    temp = tmp_path / "temp"
    temp.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temp))
    left, young = temp / "jsonlstore-copy-old", temp / "jsonlstore-copy-new"
    for folder in (left, young):
        folder.mkdir()
        (folder / "copy.sqlite").write_text("secret")
    os.utime(left, (1_000_000_000, 1_000_000_000))
    readonly._sweep.cache_clear()
    path = tmp_path / "one.sqlite"
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("CREATE TABLE said (what)")
    writer.execute("INSERT INTO said VALUES ('in the log only')")
    writer.commit()
    for suffix in ("", "-wal"):  # a log without shared memory, as after a crash elsewhere
        shutil.copyfile(f"{path}{suffix}", tmp_path / f"two.sqlite{suffix}")
    writer.close()
    with readonly.opened_readonly(tmp_path / "two.sqlite") as database:
        assert database.situation == "copy"
        assert sorted(temp.iterdir()) == [young]
        assert database.connection.execute("SELECT what FROM said").fetchall() == [(b"in the log only",)]
        assert database.columns("said") == {"what"}


@pytest.mark.parametrize("windows", [True, False], ids=["session_windows", "session_nodes alone"])
def test_the_models_window_is_that_of_the_keys_current_session(make: ModuleType, agent: Path, windows: bool) -> None:
    """An entry says it for the session that is current; one before it may have had another model, and says nothing."""
    with closing(make.create_database(agent / DATABASE, 23)) as database:
        make.add_session(database, "agent:main:main", "old", make.ordinary("old", "what was").records)
        make.add_session(database, "agent:main:main", "new", make.ordinary("new", "what is").records, previous="old")
        entry = '{"contextTokens": 64000, "compactionCount": 2}'
        with database:
            database.execute("UPDATE session_nodes SET entry_json = ? WHERE current_session_id = 'new'", (entry,))
            if not windows:
                database.execute("DELETE FROM session_windows")
    found = {one.session_id: (one.context_tokens, one.compactions) for one in SqliteSource(agent).transcripts()}
    assert found == {"old": (None, None), "new": (64000, 2)}
