"""The one lock policy: filelock, a timeout, a short poll, and one order (session, then index, then metrics).

The kernel frees a lock when its holder dies, so a dead process never blocks anyone; lock files are never unlinked,
because a waiter may already have opened the old one. Session locks are striped over a fixed set of files: there are
never two session locks held at once, and no file is left behind for every session that ever was.
"""

from __future__ import annotations

import threading
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jsonlstore.errors import LockTimeout
from jsonlstore.store.files import write_failed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from filelock import FileLock

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
        self._locks: dict[str, FileLock] = {}
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
    def _hold(self, level: int, name: str) -> Iterator[None]:
        held: list[int] = self._held.__dict__.setdefault("levels", [])
        assert not held or held[-1] < level, "lock order is session, index, metrics, and never two of a kind"
        lock = self._locks.get(name)
        if lock is None:
            lock = self._locks.setdefault(name, self._make(name))
        self._acquire(lock, name)
        held.append(level)
        try:
            yield
        finally:
            held.pop()
            lock.release()

    def _make(self, name: str) -> FileLock:
        from filelock import FileLock

        return FileLock(
            self._directory / name,
            mode=0o600,
            poll_interval=POLL_SECONDS,
            fallback_to_soft=False,
            preserve_lock_file=True,
        )

    def _acquire(self, lock: FileLock, name: str) -> None:
        from filelock import Timeout

        timeout = max(0.0, self._timeout())
        try:
            lock.acquire(timeout=timeout)
        except Timeout as problem:
            raise LockTimeout(
                f"{self._directory / name} is held by another process (waited {timeout:.1f} s)",
                hint="another jsonlstore process is busy or stuck: see `jsonlstore status`",
                path=self._directory / name,
            ) from problem
        except OSError as problem:
            raise write_failed(self._directory / name, problem) from problem
