"""A single watcher per state directory: a lock that the kernel frees when the watcher dies, and a small report beside
it.

Without a watcher, a runtime's hook starts one catch-up after a turn (`catch_up_unwatched`).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.core.errors import JsonlStoreError, LockTimeout
from jsonlstore.core.files import Disk, write_failed
from jsonlstore.core.locks import locked
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from jsonlstore.core.config import Config
    from jsonlstore.core.paths import StatePaths
    from jsonlstore.store import SessionStore

log = logger("jsonlstore.watch")

LOCK, REPORT = "watcher.lock", "watcher.json"
_CATCH_UP_LOCK = "catch-up.lock"
_LOOK_SECONDS = 0.5  # a process that only checks for a watcher holds the lock for a moment
_CATCH_UP_SECONDS = 20.0


class WatcherRunning(JsonlStoreError):
    """Another process watches this state directory."""

    code = "watcher_running"


@dataclass(frozen=True, slots=True)
class Report:
    """What a running watcher last reported."""

    pid: int
    started_at: str
    mode: str = "events"
    last_event_at: str | None = None
    last_scan_at: str | None = None
    overflows: int = 0
    restarts: int = 0
    problem: str | None = None
    polling_because: str | None = None


@contextmanager
def single_instance(paths: StatePaths, disk: Disk | None = None) -> Iterator[None]:
    """Hold the watcher lock of a state directory; raises `WatcherRunning` naming the current holder.

    The kernel frees the lock however its holder dies. The file stays: it only carries the holder's pid.
    """
    (disk or Disk()).make_dir(paths.states)
    path = paths.states / LOCK
    with ExitStack() as held:
        try:
            fd = held.enter_context(locked(path, _LOOK_SECONDS))
        except LockTimeout as problem:
            raise WatcherRunning(
                f"a watcher already runs for {paths.state_dir}: process {running(paths) or 'unknown'}",
                hint="`jsonlstore status` shows how it is doing; `jsonlstore watch --once` works beside it",
                path=path,
            ) from problem
        try:
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        except OSError as problem:
            # a full disk does not matter here: the lock is held, and only the pid is missing from the file
            log.info("%s", write_failed(path, problem).message)
        yield


def running(paths: StatePaths) -> int | None:
    """The pid of the watcher that holds the lock, if any. The check never blocks a watcher."""
    try:
        fd = os.open(paths.states / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
        return int(holder) if holder.isdigit() else 0
    else:
        return None
    finally:
        os.close(fd)


def write_report(paths: StatePaths, report: Report) -> None:
    """Write the report; unsynced, because it is worthless after a crash."""
    Disk(sync=False).replace(paths.states / REPORT, orjson.dumps(asdict(report)), paths.states)


def read_report(paths: StatePaths) -> Report | None:
    """The last report of a watcher; None if there is none or it is unreadable."""
    try:
        raw: Any = orjson.loads((paths.states / REPORT).read_bytes())
        known = {item.name for item in fields(Report)}
        return Report(**{key: value for key, value in raw.items() if key in known})
    except (OSError, orjson.JSONDecodeError, AttributeError, TypeError):
        return None


def remove_report(paths: StatePaths) -> None:
    """Remove the report, which would claim that a watcher runs here."""
    (paths.states / REPORT).unlink(missing_ok=True)


def catch_up_unwatched(store: SessionStore, config: Config) -> int | None:
    """Bring our logs up to date; None if a watcher does that, or another process has been catching up for too long."""
    if not config.enabled or running(store.paths) is not None:
        return None
    store.prepare()
    with ExitStack() as held:
        try:
            # waiting is necessary: the process before us may have missed the turn that we were called for
            held.enter_context(locked(store.paths.states / _CATCH_UP_LOCK, _CATCH_UP_SECONDS))
        except LockTimeout:
            log.info("another process has been catching up for %.0f s; left to it", _CATCH_UP_SECONDS)
            return None
        from jsonlstore.watch.loop import Watcher

        return Watcher(store, config).once()
