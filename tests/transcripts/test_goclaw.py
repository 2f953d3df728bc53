"""GoClaw's databases, as documented and as shipped, are read without changing them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.transcripts.goclaw import GoclawSource

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

DOCUMENTED = """
CREATE TABLE sessions (key TEXT PRIMARY KEY, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, metadata JSON);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_key TEXT NOT NULL, parent_id TEXT, type TEXT NOT NULL,
    timestamp INTEGER NOT NULL, data JSON NOT NULL);
"""
SHIPPED = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL);
CREATE TABLE sessions (key TEXT PRIMARY KEY, id TEXT UNIQUE, created_at INTEGER, updated_at INTEGER, model TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_key TEXT NOT NULL, parent_id TEXT, timestamp INTEGER NOT NULL,
    role TEXT NOT NULL, content TEXT NOT NULL DEFAULT '', tool_call_id TEXT, tool_name TEXT, tool_input TEXT,
    tool_result TEXT, tool_is_error INTEGER DEFAULT 0);
CREATE TABLE checkpoints (id TEXT PRIMARY KEY, session_key TEXT, parent_id TEXT, timestamp INTEGER, summary TEXT,
    topics TEXT, key_decisions TEXT, open_questions TEXT);
CREATE TABLE compactions (id TEXT PRIMARY KEY, session_key TEXT, parent_id TEXT, timestamp INTEGER, summary TEXT,
    first_kept_entry_id TEXT, tokens_before INTEGER);
"""
MIGRATIONS = [
    "ALTER TABLE compactions ADD COLUMN needs_summary_retry INTEGER DEFAULT 0",
    "ALTER TABLE messages ADD COLUMN transcript_indexed_at INTEGER",
    "ALTER TABLE messages ADD COLUMN thinking TEXT",
    "ALTER TABLE messages ADD COLUMN supervisor TEXT",
    "CREATE TABLE provider_state (session_key TEXT, provider_key TEXT, state_json TEXT)",
]


def test_the_documented_schema_is_read_by_time_then_row(tmp_path: Path, make: ModuleType) -> None:
    path = tmp_path / "goclaw" / "sessions.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript(DOCUMENTED)
        database.execute("INSERT INTO sessions VALUES ('goclaw:main:main', 1, ?, '{}')", (make.START,))
        rows = [
            ("c", "message", make.START + 5, {"role": "assistant", "content": "two"}),
            ("a", "message", make.START, {"message": {"role": "user", "content": "one"}}),
            ("b", "checkpoint", make.START + 5, {"checkpoint": {"summary": "so far"}}),
        ]
        for entry_id, kind, at, data in rows:
            row = (entry_id, kind, at, json.dumps(data))
            database.execute("INSERT INTO messages VALUES (?, 'goclaw:main:main', NULL, ?, ?, ?)", row)
        database.execute("INSERT INTO messages VALUES ('bad', 'goclaw:main:main', NULL, 'message', 0, '{')")
    before = path.read_bytes()
    (session,) = Catalogue.open(tmp_path).sessions
    reading = session.read()
    assert [(entry.id, entry.type, entry.text) for entry in reading] == [
        ("a", "message", "one"),
        ("c", "message", "two"),
        ("b", "checkpoint", ""),
    ]
    assert reading.bad_count == 1
    assert session.agent_id == "main"
    assert (path.read_bytes(), list(path.parent.iterdir())) == (before, [path])


@pytest.mark.parametrize("version", range(1, 7))
def test_every_shipped_schema_is_read(tmp_path: Path, version: int) -> None:
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript(SHIPPED)
        for change in MIGRATIONS[: version - 1]:
            database.execute(change)
        database.execute("INSERT INTO sessions VALUES ('agent:main:main', 'abc', 1790000000, 1790000000, NULL)")
        tool = "tool_call_id, tool_name, tool_input, tool_result, tool_is_error"
        columns = f"(id, session_key, timestamp, role, content, {tool})"
        for row in [
            ("1", 1790000000, "user", "hello", None, None, None, None, 0),
            ("2", 1790000001, "tool_use", "", "c1", "exec", '{"command": "ls"}', None, 0),
            ("3", 1790000001, "tool_result", "", "c1", "exec", None, "notes.txt", 1),
            ("4", 1790000003, "assistant", "done", None, None, None, None, 0),
        ]:
            values = (row[0], "agent:main:main", *row[1:])
            database.execute(f"INSERT INTO messages {columns} VALUES (?,?,?,?,?,?,?,?,?,?)", values)
        database.execute(
            "INSERT INTO compactions (id, session_key, timestamp, summary, first_kept_entry_id, tokens_before) "
            "VALUES ('k', 'agent:main:main', 1790000002, 'sum', '2', 10)"
        )
    source = GoclawSource(path)
    (one,) = source.transcripts()
    reading = source.read(one)
    entries = list(reading)
    assert [(entry.id, str(entry.speaker)) for entry in entries] == [
        ("1", "user"),
        ("2", "assistant"),
        ("3", "tool"),
        ("k", "none"),
        ("4", "assistant"),
    ]
    assert entries[1].tool_calls[0].arguments == {"command": "ls"}
    assert (entries[2].text, entries[2].is_error, entries[3].summary) == ("notes.txt", True, "sum")
    assert entries[0].timestamp == "2026-09-21T14:13:20.000Z"
    assert one.session_id == "abc"
    assert not source.has_new(one, reading.cursor)


def test_a_strange_database_is_a_warning(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as database:
        database.execute("CREATE TABLE messages (x)")
    source = GoclawSource(tmp_path / "sessions.db")
    assert source.transcripts() == []
    assert "unknown schema" in source.warnings[0]
