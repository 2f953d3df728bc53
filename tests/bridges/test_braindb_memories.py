"""Memories: read, never written."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing

import pytest

from jsonlstore.bridges.braindb import StmMemories
from jsonlstore.restore.inherit import decayed_memories
from jsonlstore.restore.score import DecayRate


def make(path, columns, *rows):
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"CREATE TABLE stm ({columns})")
        for row in rows:
            db.execute(f"INSERT INTO stm VALUES ({', '.join('?' * len(row))})", row)
        db.commit()


def files(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_stored_confidence_is_read_and_the_file_is_byte_identical(cortex):
    before = files(cortex.parent)
    assert StmMemories(cortex).confidences(["mem-25", "mem-49", "nobody"]) == {"mem-25": 0.5, "mem-49": 0.98}
    assert files(cortex.parent) == before


def test_without_a_confidence_column_a_memory_is_certain(brain):
    make(brain, "id TEXT, content TEXT", ("a", "x"))
    assert StmMemories(brain).confidences(["a", "b"]) == {"a": 1.0}


@pytest.mark.parametrize(
    ("stored", "read"), [(0.4, 0.4), (None, 1.0), ("0.7", 0.7), ("high", 1.0), (3, 3.0), (b"\x00", 1.0), ("inf", 1.0)]
)
def test_odd_confidences(brain, stored, read):
    make(brain, "id TEXT, confidence", ("a", stored))
    assert StmMemories(brain).confidences(["a"]) == {"a": read}


@pytest.mark.parametrize(
    ("until", "there"),
    [
        (None, True),
        ("", True),
        ("2026-11-10T09:00:00Z", False),
        ("2026-11-10T09:00:01Z", True),
        ("2026-11-10T10:30:00+02:00", False),
        ("2099-01-01", True),
        ("2001-01-01 00:00:00", False),
        (1700000000, False),
        (1900000000000, True),
        ("some day", True),
    ],
)
def test_nobody_is_sure_of_an_expired_memory(brain, clock, until, there):
    make(brain, "id TEXT, confidence REAL, expires_at", ("a", 0.5, until))
    assert StmMemories(brain, clock=clock).confidences(["a"]) == {"a": 0.5 if there else 0.0}


@pytest.mark.parametrize("column", ["expires_at TEXT", "expires_at INTEGER", "expires_at"])
def test_an_expired_memory_is_not_inherited_and_an_unknown_one_is_certain(store, brain, clock, column):
    make(brain, f"id TEXT, confidence REAL, {column}", ("old", 0.9, 1700000000), ("new", 0.9, 1900000000))
    store.start("s-1", recent_learnings=["old", "new", "elsewhere"])
    store.end("s-1")
    found = decayed_memories([store.get("s-1")], StmMemories(brain, clock=clock), clock(), DecayRate(0.3))
    assert {memory.memory_id: (memory.original_confidence, memory.excluded) for memory in found} == {
        "old": (0.0, True),
        "new": (0.9, False),
        "elsewhere": (1.0, False),
    }


def test_ids_may_be_numbers_and_many(brain):
    make(brain, "id INTEGER PRIMARY KEY, confidence REAL", *((n, 0.25) for n in range(1200)))
    found = StmMemories(brain).confidences([str(n) for n in range(1200)])
    assert found == {str(n): 0.25 for n in range(1200)}


def test_no_file_no_table_and_damage_are_no_memories(brain):
    memories = StmMemories(brain)
    assert memories.confidences(["a"]) == {}
    assert not brain.exists()
    with closing(sqlite3.connect(brain)) as db:
        db.execute("CREATE TABLE other (x)")
    assert memories.confidences(["a"]) == {}
    assert memories.problem is None
    brain.write_bytes(b"garbage" * 1000)
    assert memories.confidences(["a"]) == {}
    assert "not an SQLite database" in memories.problem
