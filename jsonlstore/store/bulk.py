"""A store for a great many changes at once: one sync for all of them instead of some for each.

No single change is acknowledged. A block of changes is made durable when it ends, and always before the index lists
them: a power cut in the middle loses records nobody relied on, and never leaves the index ahead of a log.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

from jsonlstore.core.clock import format_time
from jsonlstore.core.files import Disk, opened, writing
from jsonlstore.store.index import Index
from jsonlstore.store.projection import Entry
from jsonlstore.store.store import SessionStore


class BulkStore(SessionStore):
    """The same sessions as the store it is made of, for work that is done again if it is cut short."""

    _no_mirror_before = ""

    @classmethod
    def of(cls, store: SessionStore, archive_after: timedelta | None = None) -> Self:
        """A twin of `store`; where whole file systems cannot be synced, every change is, as ever.

        Sessions that ended longer than `archive_after` ago get no mirror: the caller archives them in a moment.
        """
        late = store.disk.sync and _syncfs() is not None
        twin = cls(store.paths, clock=store.clock, disk=Disk(sync=store.disk.sync and not late))
        twin.listeners = store.listeners
        if archive_after is not None:
            twin._no_mirror_before = format_time(store.clock() - archive_after)
        if late:
            twin.index = _SyncedIndex(twin, store.disk)
        return twin

    def sync(self) -> None:
        """Make everything written so far durable."""
        if self.disk.sync or not isinstance(self.index, _SyncedIndex):
            return
        devices = {os.stat(path).st_dev: path for path in (self.paths.states, self.paths.sessions) if path.is_dir()}
        for path in devices.values():
            sync_file_system(path)

    def _mirror(self, session_id: str, state: Mapping[str, Any]) -> None:
        if state["end_time"] >= self._no_mirror_before:
            super()._mirror(session_id, state)


class _SyncedIndex(Index):
    """An index that is written only after what it tells of is durable."""

    def __init__(self, store: BulkStore, disk: Disk) -> None:
        super().__init__(store.paths, disk, store.locks, store.open_log)
        self._sync_logs = store.sync

    def _put(self, changes: dict[str, Entry | None], *, sweep: bool = False, late: bool = False) -> None:
        self._sync_logs()
        super()._put(changes, sweep=sweep, late=late)


def sync_file_system(path: Path) -> None:
    """Make everything on the file system of `path` durable."""
    sync = _syncfs()
    assert sync is not None
    with writing(path), opened(path, os.O_RDONLY | os.O_DIRECTORY) as fd:
        sync(fd)


def _syncfs() -> Callable[[int], None] | None:
    """Linux's `syncfs`, which Python does not offer; None where there is none."""
    import ctypes

    function = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if function is None:
        return None

    def sync(fd: int) -> None:
        if function(fd):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return sync
