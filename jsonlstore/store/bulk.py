"""A store for many changes at once: one sync for a block of changes instead of several per change.

No single change is acknowledged. A block of changes is synced when it ends, and always before the index lists them. A
power cut in the middle therefore loses only unacknowledged records and never leaves the index ahead of a log.
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
from jsonlstore.store.projection import RawIndexEntry
from jsonlstore.store.store import SessionStore


class BulkStore(SessionStore):
    """The sessions of another store, for work that is repeated if it is interrupted."""

    _no_mirror_before = ""

    @classmethod
    def of(cls, store: SessionStore, archive_after: timedelta | None = None) -> Self:
        """A bulk store for the sessions of `store`; on systems without `syncfs` every change is synced by itself.

        Sessions that ended longer than `archive_after` ago get no mirror, because the caller archives them right after.
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
        """Make every change so far durable."""
        if self.disk.sync or not isinstance(self.index, _SyncedIndex):
            return
        devices = {os.stat(path).st_dev: path for path in (self.paths.states, self.paths.sessions) if path.is_dir()}
        for path in devices.values():
            sync_file_system(path)

    def _mirror(self, session_id: str, state: Mapping[str, Any]) -> None:
        if state["end_time"] >= self._no_mirror_before:
            super()._mirror(session_id, state)


class _SyncedIndex(Index):
    """An index that is written only after the logs it describes are synced."""

    def __init__(self, store: BulkStore, disk: Disk) -> None:
        super().__init__(store.paths, disk, store.locks, store.open_log)
        self._sync_logs = store.sync

    def _put(self, changes: dict[str, RawIndexEntry | None], *, sweep: bool = False, late: bool = False) -> None:
        self._sync_logs()
        super()._put(changes, sweep=sweep, late=late)


def sync_file_system(path: Path) -> None:
    """Make everything on the file system of `path` durable."""
    sync = _syncfs()
    assert sync is not None
    with writing(path), opened(path, os.O_RDONLY | os.O_DIRECTORY) as fd:
        sync(fd)


def _syncfs() -> Callable[[int], None] | None:
    """Linux's `syncfs`, which Python does not expose; None on other systems."""
    import ctypes

    function = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if function is None:
        return None

    def sync(fd: int) -> None:
        if function(fd):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return sync
