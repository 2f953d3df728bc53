"""Hints about writes, from the kernel's file events where they work.

A hint may come late, twice or never; only promptness depends on it. What matters is to notice when hints are
unreliable: the event queue overflowed, a watch could not be set, a thread died, the file system sends no events.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver

log = logger("jsonlstore.watch")

# file systems on which changes from elsewhere (another host, the other side of a container) raise no event here
_SILENT = (
    "nfs", "cifs", "smb", "9p", "virtiofs", "fuse", "vboxsf", "prl_fs", "fakeowner", "osxfs", "afs", "ceph", "lustre",
    "glusterfs", "davfs", "gpfs", "ocfs2", "grpcfuse",
)  # fmt: skip
_NEVER_TRANSCRIPTS = (".lock", ".tmp", "-shm", "-journal")


class Bell:
    """Wakes the watcher, also from a signal handler, which may run while the bell is being rung or waited for.

    A `threading.Event` would deadlock then on the lock that its own thread holds; this queue has no such lock.
    """

    def __init__(self) -> None:
        self._rung: SimpleQueue[None] = SimpleQueue()

    def set(self) -> None:
        if self._rung.empty():
            self._rung.put(None)

    def is_set(self) -> bool:
        return not self._rung.empty()

    def wait(self, seconds: float) -> bool:
        """Whether it was rung since the last wait or clear, or is within so many seconds."""
        try:
            self._rung.get(timeout=seconds)
        except Empty:
            return False
        return True

    def clear(self) -> None:
        while not self._rung.empty():
            self.wait(0)


class Hints:
    """The touched paths, added by the observer's thread and taken by the watcher's."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._paths: set[str] = set()
        self.bell = Bell()
        self.overflows = 0
        self.look_at_all = False

    def add(self, path: str) -> None:
        with self._guard:
            self._paths.add(path)
        self.bell.set()

    def lost(self, *, overflow: bool) -> None:
        """Record that events may be missing, so that only a rescan of everything helps."""
        with self._guard:
            self.overflows += overflow
            self.look_at_all = True
        self.bell.set()

    def take(self) -> tuple[set[str], bool]:
        """The paths touched since the last call, and whether events may be missing."""
        with self._guard:
            paths, self._paths = self._paths, set()
            everything, self.look_at_all = self.look_at_all, False
            self.bell.clear()
        return paths, everything


class Observer:
    """Watches the directories the runtimes name, as long as events work; `mode` is `events` or `polling`."""

    def __init__(
        self,
        roots: Sequence[Path],
        hints: Hints,
        *,
        ignored: Sequence[str] = (),
        file_system: Callable[[Path], str | None] | None = None,
    ) -> None:
        self._roots = list(dict.fromkeys(roots))
        self._hints = hints
        self._ignored = tuple(ignored)
        self._file_system = file_system or file_system_of
        self._observer: BaseObserver | None = None
        self._watched: dict[Path, tuple[int, int] | None] = {}
        self._listening: _OverflowListener | None = None
        self._partial = False
        self.problem: str | None = None
        self.restarts = 0

    @property
    def mode(self) -> str:
        return "events" if self._observer is not None else "polling"

    def covers(self, path: Path) -> bool:
        """Whether events report changes at `path`."""
        return any(path.is_relative_to(root) for root in self._watched)

    def check(self) -> None:
        """Start missing watches, restart dead ones, and drop the watch of a directory that was replaced."""
        if self._observer is not None:
            replaced = [root for root, identity in self._watched.items() if _identity(root) != identity]
            if self._is_well() and not replaced:
                self._check_watches()
            else:
                where = ", ".join(map(str, replaced or self._watched))
                log.warning("watching %s again: the observer had stopped or the directory was replaced", where)
                self.stop()
                self.restarts += 1
                self._hints.lost(overflow=False)
        for root in self._roots:
            if root not in self._watched and self.problem is None and root.is_dir():
                self._watch(root)

    def _check_watches(self) -> None:
        """Fall back to polling if a directory has no watch: at its limit the kernel refuses watches without an error
        here.
        """
        watches = watches_set()
        directories = sum(1 for root in self._watched for _ in os.walk(root))  # directories behind links have no watch
        partial = watches is not None and watches < directories
        if partial and self._partial:
            where = ", ".join(map(str, self._watched))
            self.give_up(f"inotify's watch limit was reached below {where}: see fs.inotify.max_user_watches")
        self._partial = partial  # a single time may be a directory that was just created

    def give_up(self, why: str) -> None:
        """Stop relying on events."""
        self.stop()
        self.problem = why
        log.warning("polling instead of events: %s", why)

    def stop(self) -> None:
        observer, self._observer, self._watched = self._observer, None, {}
        if self._listening is not None:
            self._listening.detach()
            self._listening = None
        if observer is not None:
            observer.stop()
            if observer.is_alive():
                observer.join(2.0)

    def _is_well(self) -> bool:
        observer = self._observer
        return observer is not None and observer.is_alive() and all(one.is_alive() for one in observer.emitters)

    def _watch(self, root: Path) -> None:
        kind = self._file_system(root)
        if kind is not None and kind.startswith(_SILENT):
            self.give_up(f"{root} lies on {kind}, which does not tell of changes")
            return
        if self._observer is None:
            from watchdog.observers import Observer as SystemObserver

            # a directory made while its parent is being added is found by both the listing and its event: the library
            # adds it twice, with the same result, and would print this to the user
            warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
            self._observer, self._listening = SystemObserver(), _OverflowListener(self._hints)
        try:
            handler = _handler(self._hints, self._ignored)
            self._observer.schedule(handler, str(root), recursive=True, event_filter=_wanted_events())
            if not self._observer.is_alive():
                self._observer.start()
        except OSError as problem:
            self.give_up(f"cannot watch {root}: {problem.strerror or problem}")
            return
        self._watched[root] = _identity(root)


def _wanted_events() -> list[Any]:
    from watchdog import events

    return [
        events.FileCreatedEvent,
        events.FileModifiedEvent,
        events.FileMovedEvent,
        events.FileDeletedEvent,
        events.DirCreatedEvent,
        events.DirMovedEvent,
        events.DirDeletedEvent,
    ]


def _handler(hints: Hints, ignored: tuple[str, ...]) -> Any:
    from watchdog.events import FileSystemEvent, FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            for path in (event.src_path, event.dest_path):
                name = os.fsdecode(path)
                if name and not name.endswith(_NEVER_TRANSCRIPTS) and not any(part in name for part in ignored):
                    hints.add(name)

    return Handler()


class _OverflowListener(logging.Handler):
    """Detects what the event library only writes to its log: that the kernel dropped events, or that a watch failed."""

    def __init__(self, hints: Hints) -> None:
        super().__init__(logging.WARNING)
        self._hints = hints
        self._logger = logging.getLogger("watchdog")
        self._logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        # two layers of the library log the same overflow
        self._hints.lost(overflow="events were lost" in record.getMessage())

    def detach(self) -> None:
        self._logger.removeHandler(self)


def watches_set() -> int | None:
    """The number of inotify watches this process holds, as the kernel counts them; None on other systems."""
    try:
        fds = os.listdir("/proc/self/fd")
    except OSError:
        return None
    count = 0
    for fd in fds:
        try:
            if os.readlink(f"/proc/self/fd/{fd}") == "anon_inode:inotify":
                with open(f"/proc/self/fdinfo/{fd}", "rb") as info:
                    count += sum(line.startswith(b"inotify ") for line in info)
        except OSError:
            continue  # closed since it was listed
    return count


def file_system_of(path: Path) -> str | None:
    """The type of the file system of `path` on Linux; None elsewhere."""
    if not sys.platform.startswith("linux"):
        return None
    wanted = f"{os.path.realpath(path).rstrip('/')}/"
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as mounts:
            rows = [line.split()[1:3] for line in mounts]
    except OSError:
        return None
    points = [(row[0].replace("\\040", " ").rstrip("/") + "/", row[1]) for row in rows if len(row) == 2]
    holding = [(len(point), -at, kind) for at, (point, kind) in enumerate(points) if wanted.startswith(point)]
    return max(holding)[2] if holding else None


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
