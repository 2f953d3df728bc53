"""`states/sessions.json`: the facts that scoring and listing need, one line per session.

It is a cache. An entry is the projection of a log up to its last boundary event, so the whole file can be rebuilt from
logs and archive, byte for byte. Missing and stale entries are projected again when the index is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from pathlib import Path

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import Disk, Piece, listed, read_bytes, read_from, stat_of
from jsonlstore.core.locks import Locks
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import StatePaths, check_session_id
from jsonlstore.store.archive import months_of
from jsonlstore.store.fold import BOUNDARIES
from jsonlstore.store.index_text import Lines, parse_index, serialise, splice
from jsonlstore.store.log import SessionLog
from jsonlstore.store.projection import RawIndexEntry, project_log

log = logger(__name__)

_BOUNDARY_MARKS = tuple(b'"type":"%s"' % name.encode() for name in sorted(BOUNDARIES))

ProgressCallback = Callable[[int, int], None]


def silent(_done: int, _total: int) -> None:
    """The progress callback that shows nothing."""


class Index:
    """Reads, refreshes and writes the index of one store."""

    def __init__(self, paths: StatePaths, disk: Disk, locks: Locks, open_log: Callable[[Path], SessionLog]) -> None:
        self._paths = paths
        self._disk = disk
        self._locks = locks
        self._open_log = open_log
        self._waiting: dict[str, RawIndexEntry | None] | None = None
        self._to_sync: set[Path] = set()
        self._cached: tuple[tuple[int, int, int], dict[str, RawIndexEntry]] | None = None

    def entries(self) -> Mapping[str, RawIndexEntry]:
        """Every session's entry; entries that were missing, broken or stale on disk are projected again."""
        found, refreshed = self._compared()
        if refreshed == found or (found is None and not refreshed):
            return refreshed
        try:
            with self._locks.index():
                found, refreshed = self._compared()
                if refreshed != found:
                    self._write_bytes(serialise(refreshed))
        except JsonlStoreError as problem:
            log.warning("the session index could not be saved and stays stale on disk: %s", problem)
        return refreshed

    def _compared(self) -> tuple[Mapping[str, RawIndexEntry] | None, Mapping[str, RawIndexEntry]]:
        """The entries on disk, and the entries the logs call for; the same object twice if nothing is stale."""
        found = self._read()
        stale = None if found is None else self._stale(found, self._log_sizes())
        return found, found if found is not None and not stale else self._refreshed(found, stale)

    def lazy_entries(self) -> Mapping[str, RawIndexEntry]:
        """The entries like `entries`, each parsed on access: a watcher must not keep thousands of them in memory."""
        found = Lines.of(read_bytes(self._paths.index) or b"")
        try:
            if found is not None and not self._stale(found, self._log_sizes()):
                return found
        except ValueError:
            log.debug("the session index has another layout than ours and is parsed whole")
        refreshed = self.entries()
        self._cached = None
        return refreshed

    def put(self, session_id: str, entry: RawIndexEntry | None, *, sweep: bool = False) -> None:
        """Set or drop one entry. Call it with the session's lock held, after its log is synced.

        With `sweep` the write is durable and leaves no temporary file: a forgotten session must not survive in an old
        copy.
        """
        if self._waiting is not None and not sweep:
            self._waiting[session_id] = entry
            return
        if self._waiting is not None:
            self._waiting.pop(session_id, None)  # the newer entry replaces the one that waits for the end of the batch
        self._put({session_id: entry}, sweep=sweep)

    @contextmanager
    def batch(self) -> Iterator[Mapping[str, RawIndexEntry | None]]:
        """Collect the changes put inside the block and write them once at its end, or not at all if the block fails.

        Yields the changes. The logs are synced by then, so a process that reads the old file meanwhile, or after a
        failure, refreshes it from them. If another process has written to a session since it was put, that session's
        log decides. A nested block is part of the outer one.
        """
        if self._waiting is not None:
            yield self._waiting
            return
        waiting: dict[str, RawIndexEntry | None] = {}
        self._waiting = waiting
        try:
            yield waiting
        finally:
            self._waiting = None
            self._sync_now()
        if waiting:
            self._put(waiting, late=True)

    def sync_later(self, directory: Path) -> bool:
        """Sync the names in `directory` at the end of the running batch; False if there is no batch."""
        if self._waiting is None:
            return False
        self._to_sync.add(directory)
        return True

    def _sync_now(self) -> None:
        while self._to_sync:
            directory = self._to_sync.pop()
            try:
                self._disk.sync_dir(directory)
            except OSError as problem:
                log.warning("mirrors in %s may be older after a power cut: %s", directory, problem)

    def _put(self, changes: dict[str, RawIndexEntry | None], *, sweep: bool = False, late: bool = False) -> None:
        with self._locks.index():
            if late:
                changes.update(self._overtaken(changes))
            if sweep:
                self._disk.sweep(self._paths.states, self._paths.index.name)
            before = read_bytes(self._paths.index) or b""
            after = splice(before, changes)
            if after is None:
                entries = {**self._refreshed(None, None, known=changes.keys()), **changes}
                after = [serialise({key: entry for key, entry in entries.items() if entry is not None})]
            if after:
                self._write_bytes(*after, lasting=sweep)

    def _overtaken(self, changes: Mapping[str, RawIndexEntry | None]) -> dict[str, RawIndexEntry | None]:
        """Entries projected again for the sessions to which another process has written since they were put."""
        told = {session_id: entry for session_id, entry in changes.items() if entry is not None}
        sizes = {one: found.st_size for one in changes if (found := stat_of(self._paths.log(one)))}
        stale = self._stale(told, sizes)
        return dict.fromkeys(stale) | self._refreshed({}, stale) if stale else {}

    def rebuild(self, progress: ProgressCallback = silent) -> bool:
        """Write the index again from logs and archive; True if that changed the file."""
        with self._locks.index():
            data = self.expected(progress)
            changed = data != read_bytes(self._paths.index)
            if changed:
                self._write_bytes(data)
            return changed

    def expected(self, progress: ProgressCallback = silent) -> bytes:
        """The bytes a rebuild would write."""
        return serialise(self._refreshed(None, None, progress))

    def _read(self) -> dict[str, RawIndexEntry] | None:
        """The entries on disk, or None if the file is missing, empty, broken or of another version."""
        found = stat_of(self._paths.index)
        if found is None:
            return None
        signature = (found.st_ino, found.st_size, found.st_mtime_ns)
        if self._cached and self._cached[0] == signature:
            return self._cached[1]
        entries = parse_index(read_bytes(self._paths.index) or b"")
        if entries is not None:
            self._cached = (signature, entries)
        return entries

    def _write_bytes(self, *pieces: Piece, lasting: bool = True) -> None:
        self._cached = None
        self._disk.replace(self._paths.index, pieces, self._paths.states, lasting=lasting)

    def _stale(self, entries: Mapping[str, RawIndexEntry], sizes: Mapping[str, int]) -> set[str]:
        """The sessions whose entry does not match their log's size.

        An ended session's log ends with its last boundary.
        """
        recorded = {
            session_id: entry.get("log_bytes", -1) for session_id, entry in entries.items() if not entry.get("archived")
        }
        if sizes == recorded:
            return set()
        suspects = {session_id for session_id, _ in sizes.items() ^ recorded.items()}
        return {one for one in suspects if self._differs(one, entries.get(one), sizes.get(one))}

    def _differs(self, session_id: str, entry: RawIndexEntry | None, size: int | None) -> bool:
        if entry is None or entry.get("archived"):
            return bool(size)
        if size is None:
            return True
        recorded = entry.get("log_bytes", -1)
        return (
            size < recorded
            or bool(entry.get("end_time") or entry.get("forgotten"))
            or self._boundary_after(session_id, recorded)
        )

    def _log_sizes(self) -> dict[str, int]:
        """Every hot log and its size."""
        sizes = listed(self._paths.states, ".jsonl", "st_size")
        sizes.pop("metrics", None)
        return sizes

    def _boundary_after(self, session_id: str, offset: int) -> bool:
        found = read_from(self._paths.states / f"{session_id}.jsonl", offset)
        return found is None or any(mark in found[0] for mark in _BOUNDARY_MARKS)

    def _refreshed(
        self,
        entries: Mapping[str, RawIndexEntry] | None,
        stale: set[str] | None,
        progress: ProgressCallback = silent,
        known: AbstractSet[str] = frozenset(),
    ) -> dict[str, RawIndexEntry]:
        """`entries` with the stale ones projected again; without an index all are projected, archive included.

        Those `known` are left out: the caller has their entries.
        """
        out = dict(entries or {})
        hot = self._log_sizes().keys()
        todo = hot if stale is None else stale
        archived = self.archived() if stale is None or stale - hot else {}
        if stale is None:
            todo = (hot | archived.keys()) - known
        for number, session_id in enumerate(sorted(todo)):
            progress(number, len(todo))
            entry = self._project(session_id, session_id in hot, archived.get(session_id))
            if entry is None:
                out.pop(session_id, None)
            else:
                out[session_id] = entry
        progress(len(todo), len(todo))
        return out

    def _project(self, session_id: str, is_hot: bool, month: str | None) -> RawIndexEntry | None:
        try:
            check_session_id(session_id)
            if is_hot:
                entry = project_log(self._open_log(self._paths.log(session_id)), session_id)
                if entry is not None or month is None:
                    return entry
            if month is None:
                return None
            return project_log(self._open_log(self._paths.archived_log(session_id, month)), session_id, month)
        except JsonlStoreError as problem:
            log.warning("session %s is left out of the index: %s", session_id, problem)
            return None

    def archived(self) -> dict[str, str]:
        """Every archived session and its month."""
        folders = ((month, self._paths.archive / month) for month in months_of(self._paths))
        return {item.name[:-6]: month for month, folder in folders for item in folder.glob("*.jsonl")}
