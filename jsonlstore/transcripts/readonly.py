"""Other programs' SQLite databases, read so that no byte of theirs changes.

Plain `mode=ro` writes: it leaves `-wal` and `-shm` beside a cleanly closed database and touches the `-shm` of an open
one. So: nothing in the write-ahead log: `immutable=1`, and look afterwards whether the file changed meanwhile; log and
shared memory in order: `readonly_shm=1`; anything else: a private copy.
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
_STALE_SECONDS = 600.0  # no copy takes that long to make

_SHM_HEADER = 48  # twice, so that a reader can tell a torn one
_SHM_VERSION = 3007000
_shared: dict[Path, int] = {}


class Changed(Exception):
    """The database changed under an immutable read: what was read since the last check must be thrown away."""


class Database:
    """One open read-only view; call `check` after each batch, before using it."""

    def __init__(self, path: Path, situation: Situation, connection: sqlite3.Connection, before: object) -> None:
        self.path = path
        self.situation = situation
        self.connection = connection
        self._before = before

    @property
    def changed(self) -> bool:
        """Whether what was just read may mix two states of the file."""
        return self.situation == "immutable" and fingerprint(self.path) != self._before

    def check(self) -> None:
        """Raise `Changed` if so."""
        if self.changed:
            raise Changed

    def columns(self, table: str) -> frozenset[str]:
        """The columns of `table`, none if it is not there."""
        rows = self.connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return frozenset(cell_text(row[0]) for row in rows)

    def rows(self, table: str, fields: Iterable[str], where: str = "1", given: tuple[Any, ...] = ()) -> list[Any]:
        """Rows of a table, none if it is not there; a column that it does not have reads as NULL.

        Names and conditions are always ours; what comes from outside is `given`.
        """
        columns = self.columns(table)
        if not columns:
            return []
        # what is no plain name is an expression
        wanted = (one if one in columns or not one.isidentifier() else f"NULL AS {one}" for one in fields)
        query = f"SELECT {', '.join(wanted)} FROM {table} WHERE {where}"  # noqa: S608
        return self.connection.execute(query, given).fetchall()

    @property
    def schema_version(self) -> int:
        return int(self.connection.execute("PRAGMA user_version").fetchone()[0])


def fingerprint(path: Path) -> tuple[tuple[int, int, int, int] | None, ...]:
    """Size, mtime and inode of the database and its log: equal means nothing was written."""
    path = _resolved(path)
    return tuple(_stat(Path(f"{path}{suffix}")) for suffix in ("", "-wal", "-journal"))


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    """`path` open for reading in the way that suits its present situation; SQLite's own errors come through."""
    path = _resolved(path)
    situation = _situation(path)
    before = fingerprint(path)
    try:
        connection = _open_copy(path) if situation == "copy" else _connect(path, situation)
    except sqlite3.Error:
        if situation == "copy":
            raise
        # locked, half-initialised or unreadable shared memory: the files themselves still tell
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
    """The result of `query` on one state of the database; it is asked again when somebody wrote meanwhile.

    SQLite's own errors come through, unless pages of two states were only taken for damage.
    """
    for _ in range(_READ_ATTEMPTS):
        with opened(path) as database:
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
    """Whether the shared memory has been set up; SQLite waits ten seconds for somebody to do it, at every opening.

    After a power cut nobody will. Not looked at while we have it open: closing a file drops a process's locks on it.
    """
    if _shared.get(path):
        return True
    for _ in range(_ATTEMPTS):
        try:
            with open(f"{path}-shm", "rb", buffering=0) as file:
                first, second = file.read(_SHM_HEADER), file.read(_SHM_HEADER)
        except OSError:
            return False
        if first == second:  # else somebody is just writing it
            return len(second) == _SHM_HEADER and struct.unpack_from("=I", first)[0] == _SHM_VERSION and first[12] == 1
    return False


def _connect(file: Path, situation: Situation) -> sqlite3.Connection:
    option = {"immutable": "mode=ro&immutable=1", "shared": "mode=ro&readonly_shm=1", "copy": "mode=rw"}[situation]
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(file))}?{option}", uri=True, timeout=_BUSY_SECONDS, isolation_level=None
    )
    connection.text_factory = bytes
    try:
        # until something is read SQLite opens nothing
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _open_copy(path: Path) -> sqlite3.Connection:
    """A copy of database and log, open for reading and without a name: whatever happens, nothing of it stays behind."""
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
    """Remove, once, what processes killed in the middle of copying left: transcripts are nobody else's business."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_COPY}*"):
        with suppress(OSError):  # another user's, or gone
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
    """Where the file itself is: SQLite keeps log and shared memory beside that, not beside a symlink to it."""
    return Path(os.path.realpath(path))


def _stat(path: Path) -> tuple[int, int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns, stat.st_dev, stat.st_ino


def cell_text(value: object) -> str:
    """A cell as text: connections of ours read text as bytes, so that damage in it cannot fail a query."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
