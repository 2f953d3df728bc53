"""Another program's SQLite file, written to politely: bounded waits, short transactions, clear errors.

No pragma that outlives the connection is ever set, and the journal mode stays what its owner chose.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from jsonlstore.core.errors import JsonlStoreError, LockTimeout, Unreadable, WriteFailed
from jsonlstore.core.files import Disk, write_failed
from jsonlstore.core.logs import logger
from jsonlstore.transcripts import Database, consistently

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

log = logger(__name__)

T = TypeVar("T")

HOLD_SECONDS = 0.025  # how long a transaction is meant to last, its commit included; the promise is 0.1
COMMIT_SECONDS = 0.04  # how long a commit may wait for readers while it keeps new ones out
_POLITE_SECONDS = 1.0  # how long after another writer was noticed it is given more room
_LEAST_SECONDS = 0.002  # what statements get however slow commits are
_SLEEPS = (0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.025, 0.025, 0.05, 0.05, 0.1)  # of SQLite's busy handler

_BUSY_HINT = "try again when the program that uses it is less busy"
_HINTS = {
    sqlite3.SQLITE_READONLY: "the file or its directory is read-only for you",
    sqlite3.SQLITE_CANTOPEN: "check that the file exists and that you may write to its directory",
    sqlite3.SQLITE_FULL: "the disk is full: free some space and try again",
}

# Reading byte-cleanly may mean copying the file, and closing a file drops every lock this process has on it, those of
# a connection in another thread included. So in one process either is done alone.
_ONE_AT_A_TIME = threading.RLock()


def explain(path: Path, problem: sqlite3.Error) -> JsonlStoreError:
    """SQLite's error as one of ours, with what to do about it."""
    extended = getattr(problem, "sqlite_errorcode", None) or 0
    code = extended & 0xFF
    if extended == sqlite3.SQLITE_READONLY_DBMOVED:
        message = f"cannot write {path}: it was moved or replaced meanwhile"
        return WriteFailed(message, hint="the next try finds the new one", path=path)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LockTimeout(f"{path} is locked by another process", hint=_BUSY_HINT, path=path)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        hint = "check it with `sqlite3 FILE 'PRAGMA integrity_check'`; nothing was written"
        return Unreadable(f"{path} is damaged or not an SQLite database: {problem}", hint=hint, path=path)
    return WriteFailed(f"cannot write {path}: {problem}", hint=_HINTS.get(code), path=path)


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
    _check_is_file(path)
    with _ONE_AT_A_TIME, explained(path):
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(path))}?mode=rw", uri=True, timeout=max(wait, 0.0), isolation_level=None
        )
        try:
            connection.text_factory = decode_leniently
            _configure(connection)
            yield connection
        finally:
            connection.close()


def _configure(connection: sqlite3.Connection) -> None:
    """Settings of this connection only; nothing of them is kept in the file."""
    # what a forgotten session's row said is overwritten, not just unlinked
    connection.execute("PRAGMA secure_delete = ON")
    # no page reaches the file before its commit: without a write-ahead log that would shut readers out early
    connection.execute("PRAGMA cache_spill = OFF")
    if _journal_mode(connection) == "wal":
        # safe with a write-ahead log, and nobody waits for our disk: a lock is held for the statements alone
        connection.execute("PRAGMA synchronous = NORMAL")


def make_durable(path: Path) -> None:
    """Sync what is in the write-ahead log, with no lock held.

    Only the log: opening and closing the database file itself would drop the locks SQLite holds on it for us.
    """
    try:
        with open(f"{os.path.realpath(path)}-wal", "rb", buffering=0) as file:
            os.fsync(file.fileno())
    except FileNotFoundError:
        return  # another journal mode, where every commit is durable
    except OSError as problem:
        raise write_failed(path, problem) from problem


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

    def ask(database: Database) -> T:
        database.connection.text_factory = decode_leniently
        return query(database.connection)

    _check_is_file(path)
    with _ONE_AT_A_TIME, explained(path):
        return consistently(path, ask)


def _check_is_file(path: Path) -> None:
    """Refuse a directory, and a pipe before it keeps us waiting; what is not there is for others to say."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise Unreadable(f"{path} is not a file", hint="name the database itself", path=path)


class Writer:
    """Short write transactions on one connection, with room for others between them.

    `longest` is the longest time, in seconds, a write lock was held: from being granted to the end of the commit.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        wait: float,
        *,
        bulk: bool = False,
        timer: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """With `bulk`, for many transactions, a write-ahead log is checkpointed between them and not within."""
        self.connection = connection
        self.path = path
        self.longest = 0.0
        self._wait = wait
        self._timer = timer
        self._sleep = sleep
        self._held = 0.0
        self._released: float | None = None
        self._commit_cost = 0.0
        self._version: int | None = None
        self._polite_until = float("-inf")
        self._checkpoints = bulk and _journal_mode(connection) == "wal"
        if self._checkpoints:
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # of this connection

    def transact(self, work: Callable[[Callable[[], bool]], T]) -> T:
        """Run `work` in one transaction and commit it. It is asked to stop when the callable it gets says so.

        A commit that readers keep waiting is taken back, so that nobody queues behind it, and tried again; `work`
        must therefore be ready to run twice.
        """
        deadline = self._timer() + self._wait
        pause = 0.001
        while True:
            self._leave_gap()
            done = self._attempt(work, deadline)
            if done is not None:
                return done[0]
            if self._timer() + pause >= deadline:
                message = f"{self.path} is busy: readers left no room for a commit"
                raise LockTimeout(message, hint=_BUSY_HINT, path=self.path)
            self._sleep(pause)
            pause = min(pause * 2, 0.1)

    def wipe(self) -> None:
        """Leave nothing of what was deleted in a write-ahead log, unless somebody is reading from it just now.

        The log is copied first, with everybody at liberty to write; only what is all copied is cut off, in no time.
        """
        self._wait_at_most(0)
        try:
            _, logged, copied = self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if logged == copied > 0:
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as problem:
            log.warning("what was removed stays in the log of %s until its next checkpoint: %s", self.path, problem)
        finally:
            self._wait_at_most(self._wait)

    def version(self) -> int:
        """A number that is another one once anybody else has committed something."""
        with explained(self.path):
            return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    def _leave_gap(self) -> None:
        """Stay away from the lock long enough for whoever waited for it to look again.

        Then a neighbour waits for one transaction of ours at most, never for the whole export. Mostly the time went
        by already, with reading what is to be written next. Where others do write, there is time to wake up late.
        """
        version = self.version()
        now = self._timer()
        if self._version not in (None, version):
            self._polite_until = now + _POLITE_SECONDS
        self._version = version
        if self._released is None:
            return
        gap = asleep_after(self._held) * (2 if now < self._polite_until else 1)
        if self._released + gap > now:
            self._sleep(self._released + gap - now)

    def _attempt(self, work: Callable[[Callable[[], bool]], T], deadline: float) -> tuple[T] | None:
        with explained(self.path):
            self._wait_at_most(deadline - self._timer())
            self.connection.execute("BEGIN IMMEDIATE")
            begun = committing = self._timer()
            # what the last commits cost is kept free for the next: on a slow disk transactions must be small
            full = begun + max(HOLD_SECONDS - self._commit_cost, _LEAST_SECONDS)
            try:
                result = work(lambda: self._timer() >= full)
                self._wait_at_most(min(COMMIT_SECONDS, deadline - self._timer()))
                committing = self._timer()
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
                self._release(begun, committing)
                self._wait_at_most(self._wait)  # reads outside of transactions may wait in full again
            if self._checkpoints:
                self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # nobody waits for it, nor it for anybody
            return (result,)

    def _release(self, begun: float, committing: float) -> None:
        now = self._released = self._timer()
        self._held = now - begun
        self.longest = max(self.longest, self._held)
        # one slow commit is remembered for a few more, one quick commit is no promise
        self._commit_cost = max(now - committing, self._commit_cost * 0.75)

    def _wait_at_most(self, seconds: float) -> None:
        # a setting of this connection, not of the file
        self.connection.execute(f"PRAGMA busy_timeout = {max(0, int(seconds * 1000))}")


def asleep_after(waited: float) -> float:
    """How long SQLite sleeps at most before it looks for a lock again that it has been waiting for since `waited`."""
    total = 0.0
    for sleep in _SLEEPS:
        total += sleep
        if total > waited:
            return sleep
    return _SLEEPS[-1]


def _journal_mode(connection: sqlite3.Connection) -> str:
    return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


def decode_leniently(data: bytes) -> str:
    """Text as somebody stored it, who may have taken anything for text."""
    return data.decode("utf-8", "replace")
