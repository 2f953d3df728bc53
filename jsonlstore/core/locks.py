"""The one lock policy: filelock, a timeout, a short poll, and one order (session, then index, then metrics).

Of filelock the descriptor lock is used: the same native lock as its `FileLock`, at a tenth of the cost. The kernel
frees a lock when its holder dies, so a dead process blocks no other. Lock files are never unlinked, because a waiter
may already have opened the old one. Session locks are striped over a fixed set of files: no process holds two session
locks at once, and the number of lock files does not grow with the number of sessions.

`Locks` belong to one store; any other code that needs a lock file takes it with `locked`.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from jsonlstore.core.errors import LockTimeout
from jsonlstore.core.files import writing

DEFAULT_TIMEOUT = 10.0
POLL_SECONDS = 0.001
STRIPES = 64

_SESSION, _INDEX, _METRICS = range(3)


class Locks:
    """The locks of one `states/` directory, for threads and processes alike.

    `timeout` is called before each wait, so that a caller with a deadline never waits past it.
    """

    def __init__(self, directory: Path, timeout: Callable[[], float] = lambda: DEFAULT_TIMEOUT) -> None:
        self._directory = directory
        self._timeout = timeout
        self._held = threading.local()

    def session(self, session_id: str) -> AbstractContextManager[None]:
        """Exclude other writers of this session's log and mirror."""
        return self._hold(_SESSION, f"session-{zlib.crc32(session_id.encode()) % STRIPES:02d}.lock")

    def index(self) -> AbstractContextManager[None]:
        """Exclude other writers of `sessions.json`."""
        return self._hold(_INDEX, "index.lock")

    def metrics(self) -> AbstractContextManager[None]:
        """Exclude other writers of the metrics chain."""
        return self._hold(_METRICS, "metrics.lock")

    def pins(self) -> AbstractContextManager[None]:
        """Exclude our other processes from the pin file.

        Never held with another lock, because another program owns the file.
        """
        assert not self._held.__dict__.get("levels"), "the pin file's lock is taken alone"
        return self._hold(_METRICS, "pins.lock")

    @contextmanager
    def _hold(self, level: int, name: str) -> Iterator[None]:
        held: list[int] = self._held.__dict__.setdefault("levels", [])
        assert not held or held[-1] < level, "lock order is session, index, metrics, and never two of a kind"
        with locked(f"{self._directory}/{name}", self._timeout()):
            held.append(level)
            try:
                yield
            finally:
                held.pop()


@contextmanager
def locked(path: Path | str, timeout: float = DEFAULT_TIMEOUT) -> Iterator[int]:
    """Hold the lock file at `path` and yield its descriptor.

    Raises `LockTimeout`, or `WriteFailed` if the file cannot be created. Every holder opens the file anew, because only
    separate descriptors make threads exclude each other as processes do.
    """
    with writing(path):
        fd = _open(path)
    try:
        if not _acquire(fd, path, max(0.0, timeout)):
            raise LockTimeout(
                f"{path} is held by another process (waited {max(0.0, timeout):.1f} s)",
                hint="another jsonlstore process is busy or stuck: see `jsonlstore status`",
                path=path,
            )
        try:
            yield fd
        finally:
            # closing alone would not release the lock while a forked child shares the descriptor
            fcntl.flock(fd, fcntl.LOCK_UN)
    finally:
        os.close(fd)


def _acquire(fd: int, path: Path | str, timeout: float) -> bool:
    """Take the lock, retrying every millisecond until the timeout."""
    try:
        # The fast path takes the same native lock as filelock. The lock is nearly always free, and importing filelock
        # to take a free lock would cost a tenth of a hook call.
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        from filelock import lock_descriptor
    else:
        return True
    deadline = time.monotonic() + timeout
    with writing(path):  # for example, a file system without lock support
        while not lock_descriptor(fd, blocking=False):
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_SECONDS)
    return True


def _open(path: Path | str) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        fd = os.open(path, flags | os.O_CREAT, 0o600)
        os.fchmod(fd, 0o600)  # the umask may have removed bits from the mode
        return fd
