"""The one lock policy: filelock, a timeout, a short poll, and one order (session, then index, then metrics).

Of filelock the descriptor lock is used: the same native lock as its `FileLock`, at a tenth of the cost. A lock that is
free is taken without loading filelock at all.
The kernel frees a lock when its holder dies, so a dead process never blocks anyone; lock files are never unlinked,
because a waiter may already have opened the old one. Session locks are striped over a fixed set of files: there are
never two session locks held at once, and no file is left behind for every session that ever was.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jsonlstore.core.errors import LockTimeout
from jsonlstore.store.files import write_failed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DEFAULT_TIMEOUT = 10.0
POLL_SECONDS = 0.001
STRIPES = 64

_SESSION, _INDEX, _METRICS = range(3)


class Locks:
    """The locks of one `states/` directory, for threads and processes alike.

    `timeout` is asked before each wait, so that a caller with a deadline never waits past it.
    """

    def __init__(self, directory: Path, timeout: Callable[[], float] = lambda: DEFAULT_TIMEOUT) -> None:
        self._directory = directory
        self._timeout = timeout
        self._held = threading.local()

    @contextmanager
    def session(self, session_id: str) -> Iterator[None]:
        """Nobody else writes this session's log or mirror meanwhile."""
        stripe = zlib.crc32(session_id.encode()) % STRIPES
        with self._hold(_SESSION, f"session-{stripe:02d}.lock"):
            yield

    @contextmanager
    def index(self) -> Iterator[None]:
        """Nobody else changes `sessions.json` meanwhile."""
        with self._hold(_INDEX, "index.lock"):
            yield

    @contextmanager
    def metrics(self) -> Iterator[None]:
        """Nobody else extends the metrics chain meanwhile."""
        with self._hold(_METRICS, "metrics.lock"):
            yield

    @contextmanager
    def pins(self) -> Iterator[None]:
        """Nobody else of us changes the pin file meanwhile. Taken alone: that file is another program's."""
        assert not self._held.__dict__.get("levels"), "the pin file's lock is taken alone"
        with self._hold(_METRICS, "pins.lock"):
            yield

    @contextmanager
    def named(self, name: str) -> Iterator[None]:
        """Nobody else of us changes the file this lock is named after. Taken alone or from `Locks` of one's own."""
        with self._hold(_METRICS, f"{name}.lock"):
            yield

    @contextmanager
    def _hold(self, level: int, name: str) -> Iterator[None]:
        held: list[int] = self._held.__dict__.setdefault("levels", [])
        assert not held or held[-1] < level, "lock order is session, index, metrics, and never two of a kind"
        path = f"{self._directory}/{name}"
        fd = self._acquire(path)
        held.append(level)
        try:
            yield
        finally:
            held.pop()
            _unlock(fd)  # closing alone would not do while a forked child has the descriptor too
            os.close(fd)

    def _acquire(self, path: str) -> int:
        """Lock the file, on a descriptor of this holder's own: that is what keeps threads apart as well."""
        timeout = max(0.0, self._timeout())
        try:
            fd = _open(path)
            try:
                locked = _wait(fd, timeout)
            except BaseException:
                os.close(fd)
                raise
        except OSError as problem:
            raise write_failed(path, problem) from problem
        if locked:
            return fd
        os.close(fd)
        raise LockTimeout(
            f"{path} is held by another process (waited {timeout:.1f} s)",
            hint="another jsonlstore process is busy or stuck: see `jsonlstore status`",
            path=path,
        )


def _wait(fd: int, timeout: float) -> bool:
    """Take the lock, free at once nearly always; else ask again every millisecond until the time is up."""
    if _free(fd):
        return True
    from filelock import lock_descriptor

    deadline = time.monotonic() + timeout
    while not lock_descriptor(fd, blocking=False):
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


# The very lock that filelock takes on such a system. Loading it to take a free lock would be a tenth of a hook call.
if sys.platform == "win32":

    def _free(_fd: int) -> bool:
        return False

    def _unlock(fd: int) -> None:
        from filelock import unlock_descriptor

        unlock_descriptor(fd)

else:
    import fcntl

    def _free(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False  # why is for filelock to say
        return True

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


def _open(path: str) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        fd = os.open(path, flags | os.O_CREAT, 0o600)
        os.fchmod(fd, 0o600)  # whatever the umask took away
        return fd
