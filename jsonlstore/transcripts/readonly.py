"""Reading other programs' SQLite databases without changing a byte of their files.

Plain `mode=ro` does write: it leaves `-wal` and `-shm` beside a cleanly closed database and touches the `-shm` of an
open one. So: with an empty write-ahead log the database is opened `immutable=1`, and checked afterwards for changes
meanwhile; with log and shared memory in order it is opened `readonly_shm=1`; otherwise a private copy is read.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from jsonlstore.core.errors import SourceUnreadable

T = TypeVar("T")
Situation = Literal["immutable", "shared", "copy"]
_ATTEMPTS = 5
_READ_ATTEMPTS = 8
_BUSY_SECONDS = 2.0
_COPY = "jsonlstore-copy-"
_STALE_SECONDS = 600.0  # making a copy never takes that long

_SHM_HEADER = 48  # SQLite stores it twice, so that a reader can detect a torn write
_SHM_VERSION = 3007000
_shared: dict[Path, int] = {}


class Changed(Exception):
    """The database changed during an immutable read: everything read since the last check must be discarded."""


class Database:
    """One open read-only view. Call `check` after each batch and before using the batch."""

    def __init__(self, path: Path, situation: Situation, connection: sqlite3.Connection, before: object) -> None:
        self.path = path
        self.situation = situation
        self.connection = connection
        self._before = before

    @property
    def changed(self) -> bool:
        """Whether the rows just read may mix two states of the file."""
        return self.situation == "immutable" and fingerprint(self.path) != self._before

    def check(self) -> None:
        """Raise `Changed` if `changed` is true."""
        if self.changed:
            raise Changed

    def columns(self, table: str) -> frozenset[str]:
        """The columns of `table`; empty if the table is missing."""
        rows = self.connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return frozenset(cell_text(row[0]) for row in rows)

    def rows(self, table: str, fields: Iterable[str], where: str = "1", given: tuple[Any, ...] = ()) -> list[Any]:
        """Rows of a table, none if it is missing; a missing column reads as NULL.

        Names and conditions are always ours; values from outside are passed as `given`.
        """
        columns = self.columns(table)
        if not columns:
            return []
        # a column that is not a plain name is an SQL expression
        wanted = (one if one in columns or not one.isidentifier() else f"NULL AS {one}" for one in fields)
        query = f"SELECT {', '.join(wanted)} FROM {table} WHERE {where}"  # noqa: S608
        return self.connection.execute(query, given).fetchall()

    @property
    def schema_version(self) -> int:
        return int(self.connection.execute("PRAGMA user_version").fetchone()[0])


def fingerprint(path: Path) -> tuple[tuple[int, int, int, int] | None, ...]:
    """Size, mtime and inode of the database and its log: equal means that nothing was written."""
    path = _resolved(path)
    return tuple(_stat(Path(f"{path}{suffix}")) for suffix in ("", "-wal", "-journal"))


@contextmanager
def opened_readonly(path: Path) -> Iterator[Database]:
    """Open `path` for reading in the way that fits its present state; SQLite's own errors pass through."""
    path = _resolved(path)
    situation = _situation(path)
    before = fingerprint(path)
    try:
        connection = _open_copy(path) if situation == "copy" else _connect(path, situation)
    except sqlite3.Error:
        if situation == "copy":
            raise
        # the shared memory is locked, half initialised or unreadable: the files can still be copied
        situation, connection = "copy", _open_copy(path)
    if situation == "shared":
        _shared[path] = _shared.get(path, 0) + 1
    try:
        yield Database(path, situation, connection, before)
    finally:
        connection.close()
        if situation == "shared":
            _shared[path] -= 1


def consistently(path: Path, query: Callable[[Database], T]) -> T:
    """The result of `query` on one consistent state of the database; retried if another process wrote meanwhile.

    SQLite's own errors pass through, unless mixing two states of the file made it look damaged.
    """
    for _ in range(_READ_ATTEMPTS):
        with opened_readonly(path) as database:
            try:
                result = query(database)
                database.check()
            except Changed:
                continue
            except sqlite3.Error:
                if database.changed:
                    continue
                raise
            return result
    raise SourceUnreadable(f"{path} changes faster than it can be read", hint="try again in a moment", path=path)


def _situation(path: Path) -> Situation:
    log, memory = _stat(Path(f"{path}-wal")), _stat(Path(f"{path}-shm"))
    journal = _stat(Path(f"{path}-journal"))
    if journal is not None and journal[0]:
        return "copy"
    if log is None or log[0] == 0:
        return "immutable"
    return "shared" if memory is not None and _in_order(path) else "copy"


def _in_order(path: Path) -> bool:
    """Whether the shared memory is initialised; otherwise SQLite would wait ten seconds for that at every opening.

    After a power cut no process initialises it. It is not checked while we have the database open, because closing any
    descriptor of a file drops the process's locks on it.
    """
    if _shared.get(path):
        return True
    for _ in range(_ATTEMPTS):
        try:
            with open(f"{path}-shm", "rb", buffering=0) as file:
                first, second = file.read(_SHM_HEADER), file.read(_SHM_HEADER)
        except OSError:
            return False
        if first == second:  # two different copies: a writer is just updating it
            return len(second) == _SHM_HEADER and struct.unpack_from("=I", first)[0] == _SHM_VERSION and first[12] == 1
    return False


def _connect(file: Path, situation: Situation) -> sqlite3.Connection:
    option = {"immutable": "mode=ro&immutable=1", "shared": "mode=ro&readonly_shm=1", "copy": "mode=rw"}[situation]
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(file))}?{option}", uri=True, timeout=_BUSY_SECONDS, isolation_level=None
    )
    connection.text_factory = bytes
    try:
        # SQLite opens no file before the first read
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _open_copy(path: Path) -> sqlite3.Connection:
    """A private copy of database and log, open for reading and already unlinked, so that a crash leaves no copy."""
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=_COPY))
    try:
        target = folder / "copy.sqlite"
        for _ in range(_ATTEMPTS):
            before = fingerprint(path)
            for suffix in ("", "-wal", "-journal"):
                _copy(Path(f"{path}{suffix}"), Path(f"{target}{suffix}"), required=not suffix)
            if fingerprint(path) == before:
                break
        else:
            raise SourceUnreadable(f"{path} changes faster than it can be read", path=path)
        return _connect(target, "copy")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def _sweep() -> None:
    """Remove, once per process, the copies of killed processes: they hold transcripts."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_COPY}*"):
        with suppress(OSError):  # another user's directory, or already removed
            stat = folder.lstat()
            if stat.st_uid == os.getuid() and abs(time.time() - stat.st_mtime) > _STALE_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def _copy(source: Path, target: Path, *, required: bool) -> None:
    with suppress(FileNotFoundError):
        target.unlink()
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError:
        if required:
            raise SourceUnreadable(f"{source} is gone", path=source) from None
    except OSError as problem:
        raise SourceUnreadable(f"cannot read {source}: {problem.strerror}", path=source) from problem


def _resolved(path: Path) -> Path:
    """The real path of the file: SQLite keeps log and shared memory beside the file, not beside a symlink to it."""
    return Path(os.path.realpath(path))


def _stat(path: Path) -> tuple[int, int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns, stat.st_dev, stat.st_ino


def cell_text(value: object) -> str:
    """A cell as text: our connections read text as bytes, so that invalid UTF-8 cannot fail a query."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
