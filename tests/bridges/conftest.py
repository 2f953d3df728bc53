"""A brain.db as Cortex fills it, and ways to look into one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from jsonlstore.core.files import Disk
from jsonlstore.core.paths import StatePaths
from jsonlstore.store.store import SessionStore
from tests.conftest import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NEIGHBOURS = """
CREATE TABLE stm (id TEXT PRIMARY KEY, content TEXT, confidence REAL, expires_at TEXT, created_at TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, role TEXT, body TEXT, at REAL);
CREATE TABLE atoms (id TEXT PRIMARY KEY, subject TEXT, action TEXT, outcome TEXT);
CREATE TABLE causal_links (from_id TEXT REFERENCES atoms(id), to_id TEXT, strength REAL, PRIMARY KEY (from_id, to_id));
CREATE TABLE embeddings (source_id TEXT PRIMARY KEY, vector BLOB);
CREATE TABLE working_memory (id INTEGER PRIMARY KEY, content TEXT);
CREATE TABLE categories (name TEXT PRIMARY KEY, weight REAL) WITHOUT ROWID;
CREATE TABLE todos (id TEXT PRIMARY KEY, title TEXT, done INTEGER CHECK (done IN (0, 1)));
CREATE TABLE memories (id TEXT PRIMARY KEY, body TEXT);
CREATE TABLE metrics (name TEXT, value REAL CHECK (value >= 0), at TEXT);
CREATE INDEX idx_messages_at ON messages(at);
CREATE VIEW open_todos AS SELECT * FROM todos WHERE done = 0;
CREATE TRIGGER todo_noted AFTER INSERT ON todos BEGIN INSERT INTO metrics VALUES ('todo', 1, new.id); END;
PRAGMA user_version = 3;
PRAGMA application_id = 1129337428;
"""


def database_backups(path: Path) -> list[Path]:
    """The finished copies an export made of a database, oldest first."""
    return sorted(copy for copy in path.parent.glob(f"{path.name}.backup-*") if ".partial-" not in copy.name)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock("2026-11-10T09:00:00+00:00")


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> SessionStore:
    # what reaches the platter is the store's own business and tested there
    return SessionStore(StatePaths.of(tmp_path / "state"), clock=clock, disk=Disk(sync=False))


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    """Where a brain.db would be; nothing is there yet."""
    return tmp_path / "brain.db"


@pytest.fixture
def cortex(brain: Path) -> Path:
    """A brain.db with every table Cortex has, filled, in WAL mode as Cortex leaves it, before session_states."""
    with closing(sqlite3.connect(brain)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(NEIGHBOURS)
        for n in range(50):
            db.execute("INSERT INTO stm VALUES (?, ?, ?, ?, ?)", (f"mem-{n}", f"fact {n}", n / 50, None, "2026-11-01"))
            db.execute("INSERT INTO messages (role, body, at) VALUES ('user', ?, ?)", (f"hello {n} \x00 ö", n * 1.5))
            db.execute("INSERT INTO atoms VALUES (?, 'a', 'b', 'c')", (f"atom-{n}",))
            db.execute("INSERT INTO causal_links VALUES (?, ?, 0.5)", (f"atom-{n}", f"atom-{n + 1}"))
            db.execute("INSERT INTO embeddings VALUES (?, ?)", (f"mem-{n}", bytes(range(n, n + 16))))
            db.execute("INSERT INTO working_memory (content) VALUES (?)", (f"pin {n}",))
            db.execute("INSERT INTO categories VALUES (?, 1.0)", (f"category {n}",))
            db.execute("INSERT INTO todos VALUES (?, 'do it', ?)", (f"todo-{n}", n % 2))
            db.execute("INSERT INTO memories VALUES (?, 'long ago')", (f"old-{n}",))
        db.commit()
    return brain


@pytest.fixture
def neighbours() -> Callable[[Path], list[str]]:
    """Everything in a database but session_states: schema, rows, and the settings that live in the file."""

    def dump(path: Path) -> list[str]:
        with closing(sqlite3.connect(path)) as db:
            lines = [line for line in db.iterdump() if "session_states" not in line and "idx_session_" not in line]
            pragmas = ("journal_mode", "user_version", "application_id", "page_size", "auto_vacuum", "encoding")
            lines += [f"{pragma} = {db.execute(f'PRAGMA {pragma}').fetchone()[0]}" for pragma in pragmas]
            assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            return lines

    return dump


@pytest.fixture
def rows() -> Callable[[Path], dict[str, dict[str, object]]]:
    """The rows of session_states by id."""

    def read(path: Path) -> dict[str, dict[str, object]]:
        with closing(sqlite3.connect(path)) as db:
            db.row_factory = sqlite3.Row
            return {row["id"]: dict(row) for row in db.execute("SELECT * FROM session_states")}

    return read


@pytest.fixture
def read_only() -> Callable[[Path], None]:
    """Make a database read-only for everybody, root included: SQLite never writes a file format newer than itself."""

    def mark(path: Path) -> None:
        with open(path, "r+b") as file:
            file.seek(18)  # the write version in the header
            file.write(b"\x03")

    return mark
