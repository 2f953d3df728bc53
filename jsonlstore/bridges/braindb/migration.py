"""Adding `session_states` to a brain.db: only what is missing, and never without a copy of what was there."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import closing
from itertools import count
from pathlib import Path

from jsonlstore.bridges.braindb.database import Writer, connected, create_empty
from jsonlstore.bridges.braindb.schema import CREATE_TABLE, INDEXES, TABLE
from jsonlstore.core.clock import system_clock
from jsonlstore.core.errors import LockTimeout, Unreadable
from jsonlstore.core.files import Disk
from jsonlstore.core.process import process_exists

_PAGES_PER_STEP = 256  # the source is readable, and in any mode writable again, between two steps
_PARTIAL = re.compile(r"\.partial-(\d+)(?:-journal|-wal|-shm)?\Z")


def columns_of(connection: sqlite3.Connection, table: str = TABLE) -> tuple[str, ...]:
    """The columns of a table in their order; none if it is not there."""
    return tuple(str(row[0]) for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)))


def has_rowid(connection: sqlite3.Connection) -> bool:
    """Do the table's rows have numbers? One of somebody else's making may have none."""
    try:
        connection.execute("SELECT _rowid_ FROM session_states LIMIT 0")
    except sqlite3.OperationalError:
        return False
    return True


def is_migrated(connection: sqlite3.Connection) -> bool:
    """Are the table and every index its columns allow there?"""
    return not _missing(connection)


def migrate_table(writer: Writer, wait: float) -> Path | None:
    """Create what is missing of the table and its indexes; returns the backup made of an existing database, if any."""
    connection, path = writer.connection, writer.path
    if not _missing(connection):
        return None
    used = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    backup = back_up_database(path, wait) if used else None
    try:
        writer.transact(lambda _full: _create(connection))
    except BaseException:
        # nothing was migrated: the next try makes a copy of its own, and copies must not pile up
        if backup is not None:
            backup.unlink(missing_ok=True)
        raise
    return backup


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(CREATE_TABLE)
    for statement in _missing(connection):
        connection.execute(statement)


def _missing(connection: sqlite3.Connection) -> list[str]:
    """The statements that would complete the schema."""
    found = dict(connection.execute("SELECT lower(name), type FROM sqlite_master").fetchall())
    if found.get(TABLE) is None:
        return [CREATE_TABLE, *(statement for statement, _ in INDEXES.values())]
    columns = set(columns_of(connection))
    if found[TABLE] != "table" or not {"id", "start_time"} <= columns:
        hint = "another program uses the name; nothing was changed"
        raise Unreadable(f"{TABLE} is there but is not the table the specification describes", hint=hint)
    if not _has_key(connection):
        hint = "make it one with `CREATE UNIQUE INDEX … ON session_states(id)`; nothing was changed"
        raise Unreadable(f"{TABLE} is there but its id is no key: a session could have several rows", hint=hint)
    missing = {name: index for name, index in INDEXES.items() if name not in found}
    return [statement for statement, needs in missing.values() if columns.issuperset(needs)]


def _has_key(connection: sqlite3.Connection) -> bool:
    """Is there at most one row of an id? Only then can one be brought up to date."""
    keys = [name for name, place in connection.execute("SELECT name, pk FROM pragma_table_info(?)", (TABLE,)) if place]
    if keys == ["id"]:
        return True
    whole = "SELECT name FROM pragma_index_list(?) WHERE [unique] AND NOT partial"
    return any(
        connection.execute("SELECT name FROM pragma_index_info(?)", index).fetchall() == [("id",)]
        for index in connection.execute(whole, (TABLE,)).fetchall()
    )


def back_up_database(path: Path, wait: float) -> Path:
    """Copy a database beside itself, private to the user, what is still in its write-ahead log included."""
    path = Path(os.path.realpath(path))
    _sweep(path)
    stamp = system_clock().strftime("%Y%m%dT%H%M%SZ")
    partial = path.with_name(f"{path.name}.backup-{stamp}.partial-{os.getpid()}")
    create_empty(partial)
    try:
        _copy(path, partial, time.monotonic() + wait)
        target = _free_name(path, stamp)
        with open(partial, "rb") as file:
            os.fsync(file.fileno())
        Disk().move(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def _copy(source: Path, target: Path, deadline: float) -> None:
    def on_time(_status: int, remaining: int, _total: int) -> None:
        if remaining and time.monotonic() > deadline:
            raise LockTimeout(
                f"{source} is too large or too busy to be backed up in time",
                hint="`jsonlstore export brain-db` takes the time it needs",
                path=source,
            )

    with connected(source, 1.0) as reading, closing(sqlite3.connect(target)) as writing:
        writing.execute("PRAGMA journal_mode = OFF")  # our own copy, thrown away if it is not finished
        reading.backup(writing, pages=_PAGES_PER_STEP, progress=on_time, sleep=0.001)


def _free_name(path: Path, stamp: str) -> Path:
    names = (f"{path.name}.backup-{stamp}" + (f"-{number}" if number > 1 else "") for number in count(1))
    return next(target for name in names if not (target := path.with_name(name)).exists())


def _sweep(path: Path) -> None:
    """Remove half-made copies whose maker is gone."""
    try:
        names = [name for name in os.listdir(path.parent) if name.startswith(f"{path.name}.backup-")]
    except OSError:
        return  # whoever cannot list the directory cannot write there either, and hears of it then
    for name in names:
        maker = _PARTIAL.search(name)
        # our own number in a name is an earlier process's: this one has not made a copy yet
        if maker is not None and ((pid := int(maker[1])) == os.getpid() or not process_exists(pid)):
            path.with_name(name).unlink(missing_ok=True)
