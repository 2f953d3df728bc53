"""Transcripts in one SQLite database, in the specification's schema.

`data` holds the whole record as it was written, so that nothing is lost on the way to JSONL and back; the other columns
are for queries. Within a session `timestamp` never goes back, whatever the clock does: by time, then by row, is the
order of writing (decision 39).
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from jsonlstore.context.backend import Backend, Build, Stored, Tail
from jsonlstore.context.place import APPLICATION_ID
from jsonlstore.context.records import HEADER, new_record_id
from jsonlstore.core.clock import from_millis, system_clock
from jsonlstore.core.errors import LockTimeout, Unreadable, WriteFailed
from jsonlstore.core.files import Disk, write_failed
from jsonlstore.transcripts import parse_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from jsonlstore.context.records import Line
    from jsonlstore.core.clock import Clock
    from jsonlstore.core.errors import JsonlStoreError

SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (
    key TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    metadata JSON
);
CREATE TABLE IF NOT EXISTS messages (
    id TEXT PRIMARY KEY,
    session_key TEXT NOT NULL,
    parent_id TEXT,
    type TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    data JSON NOT NULL,
    FOREIGN KEY (session_key) REFERENCES sessions(key)
);
CREATE INDEX IF NOT EXISTS idx_messages_session ON messages(session_key, timestamp);
CREATE INDEX IF NOT EXISTS idx_messages_parent ON messages(parent_id);
"""
_BUSY_SECONDS = 10.0
_PAGE_ROWS = 512
_PAGE_BYTES = 1 << 20
_FIRST = (-(2**63), -1)
_LAST = (2**63 - 1, 2**63 - 1)


class _End(NamedTuple):
    """Where a session ends: the time of its newest row, and the record that the next one follows."""

    at: int
    entry_id: str | None = None
    row_id: str | None = None


class SqliteBackend(Backend):
    """One database file; shared between threads, and between processes by SQLite's own locks."""

    kind = "sqlite"

    def __init__(self, path: Path, *, disk: Disk | None = None, clock: Clock = system_clock) -> None:
        self.path = path
        self._clock = clock
        self._disk = disk or Disk()
        self._mutex = threading.RLock()
        self._pid = os.getpid()
        self._identity: tuple[int, int] | None = None
        self._connection: sqlite3.Connection | None = self._open()

    def _open(self) -> sqlite3.Connection:
        self._disk.make_dir(self.path.parent)
        self._touch()
        with self._refusals():
            connection = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=64
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._identity = _identity(self.path)
            return connection

    def _touch(self) -> None:
        """SQLite gives a new file, and everything beside it, the mode the umask allows; ours are private."""
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            raise write_failed(self.path, problem) from problem
        try:
            if not os.fstat(fd).st_size:
                os.fchmod(fd, 0o600)
                self._disk.sync_dir(self.path.parent)
        finally:
            os.close(fd)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        execute = connection.execute
        if (version := execute("PRAGMA user_version").fetchone()[0]) > SCHEMA_VERSION:
            raise Unreadable(
                f"{self.path} was written by a newer jsonlstore (schema {version})",
                hint="update jsonlstore, or name another place",
                path=self.path,
            )
        if execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            execute("BEGIN IMMEDIATE")
            for statement in filter(str.strip, _SCHEMA.split(";")):
                execute(statement)
            execute(f"PRAGMA application_id = {APPLICATION_ID}")
            execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            execute("COMMIT")
        # after the schema: the file's own header must say whose it is before there is a log to look into
        _turn_on_log(connection)
        execute(f"PRAGMA synchronous = {'FULL' if self._disk.sync else 'OFF'}")
        execute("PRAGMA foreign_keys = ON")

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        with self._mutex, self._refusals():
            if self._connection is None or self._pid != os.getpid():
                # closed, or carried over a fork, where SQLite's locks are not: the old one is left alone
                self._pid, self._connection = os.getpid(), self._open()
            elif _identity(self.path) != self._identity:
                # the file was removed or replaced: what is written to the old one is lost with it
                self._connection.close()
                self._connection = self._open()
            yield self._connection

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as problem:
            raise self._refused(problem) from problem

    def _refused(self, problem: sqlite3.Error) -> JsonlStoreError:
        name = getattr(problem, "sqlite_errorname", "")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return LockTimeout(
                f"{self.path} is held by another process",
                hint="another program keeps a transaction open",
                path=self.path,
            )
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return Unreadable(f"cannot read {self.path}: {problem}", path=self.path)
        hint = "the disk is probably full: free some space and try again" if "FULL" in name else None
        return WriteFailed(f"cannot write {self.path}: {problem}", hint=hint, path=self.path)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._using() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # SQLite rolls back by itself when the disk is full
                    connection.execute("ROLLBACK")
                raise

    def stored(self, key: str) -> Stored | None:
        with self._using() as connection:
            row = connection.execute(f"{_STORED} WHERE key = ?", (key,)).fetchone()
        return self._described(row) if row else None

    def sessions(self) -> tuple[Stored, ...]:
        with self._using() as connection:
            rows = connection.execute(f"{_STORED} ORDER BY key").fetchall()
        return tuple(map(self._described, rows))

    def _described(self, row: tuple[Any, ...]) -> Stored:
        key, created, updated, metadata = row
        details = (parse_object(metadata.encode()) if isinstance(metadata, str) else None) or {}
        session_id = details.pop("sessionId", None)
        return Stored(key, session_id if isinstance(session_id, str) else key, created, updated, self.path, details)

    def lines(self, key: str) -> Iterator[bytes]:
        return self._pages(key, _FORWARD, _FIRST)

    def lines_back(self, key: str) -> Iterator[bytes]:
        return self._pages(key, _BACKWARD, _LAST)

    def _pages(self, key: str, query: str, start: tuple[int, int]) -> Iterator[bytes]:
        """Line by line, in pages of bounded size: no transaction is open while the caller works."""
        position = start
        while True:
            page: list[bytes] = []
            size = 0
            with self._using() as connection:
                rows = connection.execute(query, (key, *position, _PAGE_ROWS))
                for at, rowid, data in rows:
                    page.append(data.encode() if isinstance(data, str) else bytes(data))
                    position = at, rowid
                    size += len(page[-1])
                    if size >= _PAGE_BYTES:
                        break
                rows.close()
            if not page:
                return
            page.reverse()
            while page:
                yield page.pop()

    def append(self, key: str, build: Build) -> Sequence[Line]:
        with self._transaction() as connection:
            session_id, created, metadata = self._session(connection, key)
            end = self._end(connection, key)
            lines = build(Tail(session_id, end.entry_id))
            if not lines:
                return lines
            now = round(self._clock().timestamp() * 1000)
            if session_id is None:
                first = lines[0]
                session_id = first.id if first.type == HEADER and first.id else new_record_id(from_millis(now))
                created = first.millis or now
                metadata = orjson.dumps({"sessionId": session_id}).decode()
                end = end._replace(at=created)
            connection.execute(_UPSERT, (key, created, max(now, created), metadata))
            self._insert(connection, key, lines, end)
        return lines

    def _session(self, connection: sqlite3.Connection, key: str) -> tuple[str | None, int, str | None]:
        row = connection.execute(f"{_STORED} WHERE key = ?", (key,)).fetchone()
        return (self._described(row).session_id, row[1], row[3]) if row else (None, 0, None)

    def _end(self, connection: sqlite3.Connection, key: str) -> _End:
        """The newest record that another can follow; the newest row says at which time."""
        at: int | None = None
        for moment, rowid, row_id, kind in connection.execute(_NEWEST, (key,)):
            at = moment if at is None else at
            if kind == HEADER:
                break
            entry_id: str | None = row_id
            if row_id.startswith(f"{key}/"):
                # made by us from the key, or an id that only looks like that: the record itself knows
                (data,) = connection.execute("SELECT data FROM messages WHERE rowid = ?", (rowid,)).fetchone()
                entry_id = _record_id(data)
            if entry_id:
                return _End(at, entry_id, row_id)
        return _End(at or 0)

    def _insert(self, connection: sqlite3.Connection, key: str, lines: Sequence[Line], end: _End) -> None:
        """Add rows after `end`. Each record nearly always follows the one before, whose row is known without asking."""
        at, last_id, last_row = end
        for line in lines:
            at = max(at, min(line.millis if line.millis is not None else at, _LAST[0]))
            parent = last_row if line.parent_id == last_id else self._row_of(connection, key, line.parent_id)
            row = key, parent, line.type, at, _cell(line.data)
            for row_id in _row_ids(key, line.id, at):
                if connection.execute(_INSERT, (row_id, *row)).rowcount:
                    break
            if line.id and line.type != HEADER:
                last_id, last_row = line.id, row_id

    def _row_of(self, connection: sqlite3.Connection, key: str, parent: str | None) -> str | None:
        """What the parent is called in the table: its plain id may be another session's."""
        if parent is None:
            return None
        found = connection.execute("SELECT session_key FROM messages WHERE id = ?", (parent,)).fetchone()
        return parent if found is None or found[0] == key else f"{key}/{parent}"

    def describe(self, key: str, details: Mapping[str, Any]) -> None:
        with self._transaction() as connection:
            session_id, _, _ = self._session(connection, key)
            metadata = orjson.dumps({"sessionId": session_id, **details}).decode()
            connection.execute("UPDATE sessions SET metadata = ? WHERE key = ?", (metadata, key))

    def remove(self, key: str) -> bool:
        if self.stored(key) is None:
            return False
        self._disk.replace(self._unscrubbed, b"", self.path.parent)
        with self._transaction() as connection:
            connection.execute("DELETE FROM messages WHERE session_key = ?", (key,))
            connection.execute("DELETE FROM sessions WHERE key = ?", (key,))
        return True

    def scrub(self) -> None:
        """Write the file anew: free pages, and gaps within pages that others still use, hold words of what is gone."""
        if not self._unscrubbed.exists():
            return
        with self._using() as connection:
            connection.execute("VACUUM")
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise LockTimeout(
                f"{self.path} is being read: words of a removed session are still in it",
                hint="forget the session again once the other program is done",
                path=self.path,
            )
        self._disk.remove(self._unscrubbed)

    @property
    def _unscrubbed(self) -> Path:
        """There while a removal is unfinished; a file, because the row that could say so is among what goes."""
        return self.path.with_name(f"{self.path.name}.unscrubbed")

    def close(self) -> None:
        with self._mutex:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None


_STORED = "SELECT key, created_at, updated_at, metadata FROM sessions"
_UPSERT = (
    "INSERT INTO sessions (key, created_at, updated_at, metadata) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET updated_at = max(updated_at, excluded.updated_at)"
)
_INSERT = (
    "INSERT INTO messages (id, session_key, parent_id, type, timestamp, data) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (id) DO NOTHING"
)
_NEWEST = "SELECT timestamp, rowid, id, type FROM messages WHERE session_key = ? ORDER BY timestamp DESC, rowid DESC"
_FORWARD = (
    "SELECT timestamp, rowid, data FROM messages WHERE session_key = ? AND (timestamp, rowid) > (?, ?) "
    "ORDER BY timestamp, rowid LIMIT ?"
)
_BACKWARD = (
    "SELECT timestamp, rowid, data FROM messages WHERE session_key = ? AND (timestamp, rowid) < (?, ?) "
    "ORDER BY timestamp DESC, rowid DESC LIMIT ?"
)


def _turn_on_log(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log. SQLite does not wait for others here, as it does everywhere else."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.005)


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is there; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _row_ids(key: str, entry_id: str | None, at: int) -> Iterator[str]:
    """What a row may be called: as its record, `key/id` where another session has that, else something unique."""
    if entry_id:
        yield entry_id
        yield f"{key}/{entry_id}"
    yield f"{key}/{entry_id or ''}#{at}_{os.urandom(4).hex()}"


def _record_id(data: str | bytes) -> str | None:
    """The id inside the record, which is not always the row's."""
    raw = parse_object(data.encode() if isinstance(data, str) else bytes(data))
    entry_id = raw.get("id") if raw and raw.get("type") != HEADER else None
    return entry_id if isinstance(entry_id, str) else None


def _cell(data: bytes) -> str | bytes:
    """Text, as JSON columns hold it; what is not UTF-8 stays the bytes it was."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
