"""Another program's SQLite file, written to politely: bounded waits, short transactions, clear errors.

No pragma that outlives the connection is ever set, and the journal mode stays what its owner chose.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from jsonlstore.errors import JsonlStoreError, LockTimeout, Unreadable, WriteFailed
from jsonlstore.store.files import Disk, write_failed
from jsonlstore.transcripts.readonly import Changed, Database, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

T = TypeVar("T")

HOLD_SECONDS = 0.01  # how long statements may fill one transaction
COMMIT_SECONDS = 0.04  # how long a commit may wait for readers while it keeps new ones out
_POLITE_SECONDS = 1.0  # how long after another writer was noticed it is still given way
_READ_ATTEMPTS = 8
_CHANGED = "{} changes faster than it can be read"


def explain(path: Path, problem: sqlite3.Error) -> JsonlStoreError:
    """SQLite's error as one of ours, with what to do about it."""
    code = (getattr(problem, "sqlite_errorcode", None) or 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LockTimeout(
            f"{path} is locked by another process",
            hint="try again when the program that uses it is less busy",
            path=path,
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Unreadable(
            f"{path} is damaged or not an SQLite database: {problem}",
            hint="check it with `sqlite3 FILE 'PRAGMA integrity_check'`; nothing was written",
            path=path,
        )
    hints = {
        sqlite3.SQLITE_READONLY: "the file or its directory is read-only for you",
        sqlite3.SQLITE_CANTOPEN: "check that the file exists and that you may write to its directory",
        sqlite3.SQLITE_FULL: "the disk is full: free some space and try again",
    }
    return WriteFailed(f"cannot write {path}: {problem}", hint=hints.get(code), path=path)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Whatever SQLite raises inside comes out as one of our errors."""
    try:
        yield
    except sqlite3.Error as problem:
        raise explain(path, problem) from problem


@contextmanager
def connected(path: Path, wait: float) -> Iterator[sqlite3.Connection]:
    """An existing database, open for writing; locks are waited for at most `wait` seconds."""
    with explained(path):
        connection = sqlite3.connect(
            f"file:{quote(os.fspath(path))}?mode=rw", uri=True, timeout=max(wait, 0.0), isolation_level=None
        )
        try:
            connection.text_factory = _text
            # of this connection only: what a forgotten session's row said is overwritten, not just unlinked
            connection.execute("PRAGMA secure_delete = ON")
            yield connection
        finally:
            connection.close()


def create_empty(path: Path) -> bool:
    """Make an empty, private file that SQLite takes for a new database; False if one is there already."""
    Disk().make_dir(path.parent)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    except OSError as problem:
        raise write_failed(path, problem) from problem
    return True


def read_unchanged(path: Path, query: Callable[[sqlite3.Connection], T]) -> T:
    """The result of `query` on one state of the database, which is byte for byte the same afterwards."""
    for _ in range(_READ_ATTEMPTS):
        with opened(path) as database:
            database.connection.text_factory = _text
            try:
                result = query(database.connection)
                database.check()
            except Changed:
                continue
            except sqlite3.Error as problem:
                # pages of two states can look like damage: believe it only if nothing changed
                if _changed(database):
                    continue
                raise explain(path, problem) from problem
            return result
    raise Unreadable(_CHANGED.format(path), hint="try again in a moment", path=path)


def _changed(database: Database) -> bool:
    try:
        database.check()
    except Changed:
        return True
    return False


class Writer:
    """Short write transactions on one connection; `longest` is the longest time, in seconds, a lock was held."""

    def __init__(self, connection: sqlite3.Connection, path: Path, wait: float) -> None:
        self.connection = connection
        self.path = path
        self.longest = 0.0
        self._held = 0.0
        self._wait = wait
        self._version: int | None = None
        self._polite_until = 0.0

    def transact(self, work: Callable[[Callable[[], bool]], T]) -> T:
        """Run `work` in one transaction and commit it. It is asked to stop when the callable it gets says so.

        A commit that readers keep waiting is taken back, so that nobody queues behind it, and tried again; `work`
        must therefore be ready to run twice.
        """
        self._give_way()
        deadline = time.monotonic() + self._wait
        pause = 0.001
        while True:
            done = self._attempt(work, deadline)
            if done is not None:
                return done[0]
            if time.monotonic() + pause >= deadline:
                raise LockTimeout(
                    f"{self.path} is busy: readers left no room for a commit",
                    hint="try again when the program that uses it is less busy",
                    path=self.path,
                )
            time.sleep(pause)
            pause = min(pause * 2, 0.1)

    def _give_way(self) -> None:
        """Leave a gap between two transactions when somebody else has been writing.

        Whoever waits for SQLite's lock looks for it now and then; without gaps it could look at the wrong times only.
        """
        with explained(self.path):
            version = int(self.connection.execute("PRAGMA data_version").fetchone()[0])
        now = time.monotonic()
        if self._version not in (None, version):
            self._polite_until = now + _POLITE_SECONDS
        self._version = version
        if now < self._polite_until:
            time.sleep(min(2 * self._held, 2 * HOLD_SECONDS))

    def _attempt(self, work: Callable[[Callable[[], bool]], T], deadline: float) -> tuple[T] | None:
        with explained(self.path):
            self._wait_at_most(deadline - time.monotonic())
            self.connection.execute("BEGIN IMMEDIATE")
            begun = time.monotonic()
            try:
                result = work(lambda: time.monotonic() - begun >= HOLD_SECONDS)
                self._wait_at_most(min(COMMIT_SECONDS, deadline - time.monotonic()))
                self.connection.execute("COMMIT")
            except sqlite3.OperationalError as problem:
                self.connection.rollback()
                if (problem.sqlite_errorcode & 0xFF) != sqlite3.SQLITE_BUSY:
                    raise
                return None
            except BaseException:
                self.connection.rollback()
                raise
            finally:
                self._wait_at_most(self._wait)  # reads outside of transactions may wait in full again
                self._held = time.monotonic() - begun
                self.longest = max(self.longest, self._held)
            return (result,)

    def _wait_at_most(self, seconds: float) -> None:
        # a setting of this connection, not of the file
        self.connection.execute(f"PRAGMA busy_timeout = {max(0, int(seconds * 1000))}")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
