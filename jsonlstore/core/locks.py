"""The one lock policy: filelock, a timeout, a short poll, and one order (session, then index, then metrics).

Of filelock the descriptor lock is used: the same native lock as its `FileLock`, at a tenth of the cost. The kernel
frees a lock when its holder dies, so a dead process blocks nobody. Lock files are never unlinked, because a waiter may
already have opened the old one. Session locks are striped over a fixed set of files: no two session locks are ever held
at once, and no file is left behind for every session that ever was.

`Locks` are a store's own; anything else that needs a lock file of its own takes it with `locked`.
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

    `timeout` is asked before each wait, so that a caller with a deadline never waits past it.
    """

    def __init__(self, directory: Path, timeout: Callable[[], float] = lambda: DEFAULT_TIMEOUT) -> None:
        self._directory = directory
        self._timeout = timeout
        self._held = threading.local()

    def session(self, session_id: str) -> AbstractContextManager[None]:
        """Nobody else writes this session's log or mirror meanwhile."""
        return self._hold(_SESSION, f"session-{zlib.crc32(session_id.encode()) % STRIPES:02d}.lock")

    def index(self) -> AbstractContextManager[None]:
        """Nobody else changes `sessions.json` meanwhile."""
        return self._hold(_INDEX, "index.lock")

    def metrics(self) -> AbstractContextManager[None]:
        """Nobody else extends the metrics chain meanwhile."""
        return self._hold(_METRICS, "metrics.lock")

    def pins(self) -> AbstractContextManager[None]:
        """Nobody else of us changes the pin file meanwhile. Taken alone: that file is another program's."""
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
    """Hold the lock file at `path`; gives its descriptor. Raises `LockTimeout`, or `WriteFailed` if it cannot be made.

    Every holder opens the file anew: on descriptors of their own, threads exclude each other as processes do.
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
            fcntl.flock(fd, fcntl.LOCK_UN)  # closing alone would not do while a forked child has the descriptor too
    finally:
        os.close(fd)


def _acquire(fd: int, path: Path | str, timeout: float) -> bool:
    """Take the lock, else ask again every millisecond until the time is up."""
    try:
        # The fast path: the very lock that filelock takes. Loading filelock to take a lock that is free, as it nearly
        # always is, would be a tenth of a hook call.
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        from filelock import lock_descriptor
    else:
        return True
    deadline = time.monotonic() + timeout
    with writing(path):  # a file system without locks, say
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
        os.fchmod(fd, 0o600)  # whatever the umask took away
        return fd
