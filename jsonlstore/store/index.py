"""`states/sessions.json`: what scoring and listing need of every session, one line each.

It is a cache. An entry is the projection of a log up to its last boundary event, so the whole file can be rebuilt
from logs and archive, byte for byte; whatever is missing or older than its log is mended when the index is read.
"""

from __future__ import annotations

import logging
import os
from bisect import bisect_left
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from jsonlstore.errors import JsonlStoreError
from jsonlstore.model import SCHEMA_VERSION, WorkingMemoryPin, read_parts
from jsonlstore.paths import StatePaths, check_session_id
from jsonlstore.store.files import Disk, read_bytes, unreadable
from jsonlstore.store.state import BOUNDARIES, SessionFold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from jsonlstore.store.locking import Locks
    from jsonlstore.store.log import Event, Scan, SessionLog

log = logging.getLogger(__name__)

_BOUNDARY_MARKS = tuple(b'"type":"%s"' % name.encode() for name in sorted(BOUNDARIES))
# an archived session keeps its links and cursor; what it was about is in the archive
_NOT_IN_STUB = frozenset({"hot_topics"})

_HEAD = b'{"schema_version":%d,"sessions":{' % SCHEMA_VERSION
_TAIL = b"\n}}\n"

Entry = dict[str, Any]
Progress = Callable[[int, int], None]


def silent(_done: int, _total: int) -> None:
    """No progress bar."""


class IndexEntry(NamedTuple):  # a dataclass of this size would cost every hook call some milliseconds
    """One session as the index knows it."""

    session_id: str
    start_time: str = ""
    end_time: str | None = None
    end_reason: str | None = None
    channel: str = "unknown"
    agent_id: str | None = None
    session_key: str | None = None
    updated_at: str | None = None
    hot_topics: tuple[str, ...] = ()
    active_projects: tuple[str, ...] = ()
    pending_task_count: int = 0
    pin_count: int = 0
    critical: bool = False
    crash_recovered: bool = False
    previous_session_id: str | None = None
    continued_by: str | None = None
    source: Mapping[str, Any] | None = None
    owner: Mapping[str, Any] | None = None
    archived: str | None = None
    forgotten: bool = False
    schema_version: int = SCHEMA_VERSION
    log_bytes: int = 0

    @classmethod
    def of(cls, session_id: str, raw: Mapping[str, Any]) -> IndexEntry:
        known = {key: value for key, value in raw.items() if key in _ENTRY_KEYS}
        for key in ("hot_topics", "active_projects"):
            known[key] = tuple(known.get(key) or ())
        return cls(session_id, **known)


_ENTRY_KEYS = frozenset(IndexEntry._fields) - {"session_id"}


def project(folded: SessionFold, log_bytes: int, archived: str | None = None) -> Entry:
    """The index entry of a session whose last boundary event ends at `log_bytes` of its log."""
    if folded.forgotten:
        return {"forgotten": True, "log_bytes": log_bytes}
    state = folded.to_dict()
    pins = read_parts(WorkingMemoryPin, state["working_memory"])
    entry: Entry = {
        "active_projects": state["active_projects"],
        "agent_id": state["agent_id"],
        "channel": state["channel"],
        "continued_by": state["continued_by"],
        "crash_recovered": state["crash_recovered"],
        "critical": any(pin.critical for pin in pins),
        "end_reason": state["end_reason"],
        "end_time": state["end_time"],
        "hot_topics": state["hot_topics"],
        "log_bytes": log_bytes,
        "owner": folded.owner,
        "pending_task_count": len(state["pending_tasks"]),
        "pin_count": len(pins),
        "previous_session_id": state["previous_session_id"],
        "schema_version": state["schema_version"],
        "session_key": state["session_key"],
        "source": folded.source,
        "start_time": state["start_time"],
        "updated_at": state["updated_at"],
    }
    if archived:
        entry = {key: value for key, value in entry.items() if key not in _NOT_IN_STUB} | {"archived": archived}
    return entry


def fold_events(session_id: str, events: Iterable[Event]) -> SessionFold:
    """Fold a log that may have lost its first line: the file's name still says whose it is."""
    folded = SessionFold()
    first: Event | None = None
    for event in events:
        first = first or event
        folded.apply(event)
    if folded.session_id is None and first is not None:
        folded.session_id = session_id
        folded.layer("unknown").setdefault("start_time", first.at)
    return folded


def project_log(session_log: SessionLog, session_id: str, archived: str | None = None) -> Entry | None:
    """The entry a log amounts to, or None if it holds no event."""
    recent = session_log.scan_recent()
    entry = _project_scan(recent, session_id, archived, none_yet=-1) if recent else None
    if entry is None and recent is not None:
        # a log that lost its first line has no boundary left: its first event stands in for one
        whole = session_log.scan()
        entry = _project_scan(whole, session_id, archived, none_yet=0) if whole and whole.events else None
    return entry


def _project_scan(scan: Scan, session_id: str, archived: str | None, none_yet: int) -> Entry | None:
    running = SessionFold()
    last = none_yet
    for number, placed in enumerate(scan.events):
        if running.is_boundary(placed.event):
            last = number
        running.apply(placed.event)
    if last < 0:
        return None
    return project(
        fold_events(session_id, (placed.event for placed in scan.events[: last + 1])), scan.events[last].end, archived
    )


class Index:
    """Reads, mends and writes the index of one store."""

    def __init__(self, paths: StatePaths, disk: Disk, locks: Locks, open_log: Callable[[Path], SessionLog]) -> None:
        self._paths = paths
        self._disk = disk
        self._locks = locks
        self._open_log = open_log
        self._waiting: dict[str, Entry | None] | None = None
        self._cached: tuple[tuple[int, int, int], dict[str, Entry]] | None = None

    def entries(self) -> Mapping[str, Entry]:
        """Every session's entry, mended where the file was missing, broken or older than the logs."""
        found = self._read()
        stale = None if found is None else self._stale(found)
        if found is not None and not stale:
            return found
        mended = self._mend(found, stale)
        if mended == found or (found is None and not mended):
            return mended
        try:
            with self._locks.index():
                found = self._read()
                mended = self._mend(found, None if found is None else self._stale(found))
                if mended != found:
                    self._write(mended)
        except JsonlStoreError as problem:
            log.warning("the session index could not be saved, going on without: %s", problem)
        return mended

    def put(self, session_id: str, entry: Entry | None, *, sweep: bool = False) -> None:
        """Set or drop one entry. Call it with the session's lock held, after its log is synced.

        With `sweep` no unfinished copy of the index outlives this either.
        """
        if self._waiting is not None:
            self._waiting[session_id] = entry
        else:
            self._put({session_id: entry}, sweep=sweep)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write what is put inside the block once, at its end, and not at all if the block fails.

        The logs are synced by then, so that whoever reads the old file meanwhile, or after a failure, mends it from
        them. A block inside another is part of it.
        """
        if self._waiting is not None:
            yield
            return
        self._waiting = {}
        try:
            yield
            waiting = self._waiting
        finally:
            self._waiting = None
        if waiting:
            self._put(waiting)

    def _put(self, changes: Mapping[str, Entry | None], *, sweep: bool = False) -> None:
        with self._locks.index():
            if sweep:
                self._disk.sweep(self._paths.states, self._paths.index.name)
            before = read_bytes(self._paths.index) or b""
            after = splice(before, changes)
            if after is None:
                entries = {**self._mend(None, None), **changes}
                after = serialise({key: entry for key, entry in entries.items() if entry is not None})
            if after != before:
                self._write_bytes(after)

    def rebuild(self, progress: Progress = silent) -> bool:
        """Write the index anew from logs and archive; True if that changed the file."""
        with self._locks.index():
            before = read_bytes(self._paths.index)
            data = serialise(self._mend(None, None, progress))
            if data == before:
                return False
            self._write_bytes(data)
            return True

    def expected(self, progress: Progress = silent) -> bytes:
        """What a rebuild would write."""
        return serialise(self._mend(None, None, progress))

    def _read(self) -> dict[str, Entry] | None:
        """The entries on disk, or None if the file is missing, empty, broken or not of our version."""
        try:
            found = os.stat(self._paths.index)
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise unreadable(self._paths.index, problem) from problem
        signature = (found.st_ino, found.st_size, found.st_mtime_ns)
        if self._cached and self._cached[0] == signature:
            return self._cached[1]
        entries = parse(read_bytes(self._paths.index) or b"")
        if entries is not None:
            self._cached = (signature, entries)
        return entries

    def _write(self, entries: Mapping[str, Entry]) -> None:
        self._write_bytes(serialise(entries))

    def _write_bytes(self, data: bytes) -> None:
        self._cached = None
        self._disk.replace(self._paths.index, data, self._paths.states)

    def _stale(self, entries: Mapping[str, Entry]) -> set[str]:
        """The sessions whose entry does not match their log. An ended session's log ends with its last boundary."""
        sizes = {session_id: found.st_size for session_id, found in self._hot_logs()}
        stale = {session_id for session_id in sizes.keys() - entries.keys() if sizes[session_id]}
        for session_id, entry in entries.items():
            size = sizes.get(session_id)
            if entry.get("archived"):
                changed = bool(size)
            elif size is None:
                changed = True
            else:
                recorded = entry.get("log_bytes", -1)
                changed = size != recorded and (
                    size < recorded
                    or bool(entry.get("end_time") or entry.get("forgotten"))
                    or self._boundary_after(session_id, recorded)
                )
            if changed:
                stale.add(session_id)
        return stale

    def _hot_logs(self) -> Iterator[tuple[str, os.stat_result]]:
        try:
            with os.scandir(self._paths.states) as listing:
                for item in listing:
                    name = item.name
                    if name.endswith(".jsonl") and name != "metrics.jsonl":
                        yield name[:-6], item.stat()
        except FileNotFoundError:
            return
        except OSError as problem:
            raise unreadable(self._paths.states, problem) from problem

    def _boundary_after(self, session_id: str, offset: int) -> bool:
        try:
            with open(self._paths.states / f"{session_id}.jsonl", "rb", buffering=0) as file:
                file.seek(offset)
                data = file.read()
        except OSError as problem:
            raise unreadable(self._paths.states / f"{session_id}.jsonl", problem) from problem
        return any(mark in data for mark in _BOUNDARY_MARKS)

    def _mend(
        self,
        entries: Mapping[str, Entry] | None,
        stale: set[str] | None,
        progress: Progress = silent,
    ) -> dict[str, Entry]:
        """`entries` with the stale ones projected anew; all of them, archive included, where there is no index."""
        out = dict(entries or {})
        hot = {session_id for session_id, _ in self._hot_logs()}
        todo = hot if stale is None else stale
        archived = self.archived() if stale is None or stale - hot else {}
        if stale is None:
            todo = hot | archived.keys()
        for number, session_id in enumerate(sorted(todo)):
            progress(number, len(todo))
            entry = self._project(session_id, session_id in hot, archived.get(session_id))
            if entry is None:
                out.pop(session_id, None)
            else:
                out[session_id] = entry
        progress(len(todo), len(todo))
        return out

    def _project(self, session_id: str, is_hot: bool, month: str | None) -> Entry | None:
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
        out: dict[str, str] = {}
        try:
            for month in sorted(self._paths.archive.iterdir()):
                if month.is_dir():
                    out.update((item.name[:-6], month.name) for item in month.glob("*.jsonl"))
        except FileNotFoundError:
            return out
        except OSError as problem:
            raise unreadable(self._paths.archive, problem) from problem
        return out


def serialise(entries: Mapping[str, Entry]) -> bytes:
    """The index file: keys sorted, a line per session."""
    return _join([_line(session_id, entries[session_id]) for session_id in sorted(entries)])


def splice(data: bytes, changes: Mapping[str, Entry | None]) -> bytes | None:
    """An index file with some entries set or dropped, the others untouched and unread; None if it is not such a file.

    Parsing and writing 10,000 entries to change one would take most of a session's end.
    """
    if not (data.startswith(_HEAD) and data.endswith(_TAIL)):
        return None
    body = data[len(_HEAD) : -len(_TAIL)]
    lines = body[1:].split(b",\n") if body else []
    for session_id, entry in changes.items():
        key = session_id.encode()
        place = bisect_left(lines, key, key=_key)
        there = place < len(lines) and _key(lines[place]) == key
        lines[place : place + there] = [] if entry is None else [_line(session_id, entry)]
    return _join(lines)


def _line(session_id: str, entry: Entry) -> bytes:
    return orjson.dumps(session_id) + b":" + orjson.dumps(entry, option=orjson.OPT_SORT_KEYS)


def _key(line: bytes) -> bytes:
    return line[1 : line.find(b'":')]


def _join(lines: list[bytes]) -> bytes:
    return _HEAD + (b"\n" + b",\n".join(lines) if lines else b"") + _TAIL


def parse(data: bytes) -> dict[str, Entry] | None:
    """The entries in an index file, or None if it is not one we can use."""
    try:
        raw = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(raw, dict) or raw.get("schema_version") != SCHEMA_VERSION:
        return None
    sessions = raw.get("sessions")
    if not isinstance(sessions, dict) or not all(isinstance(entry, dict) for entry in sessions.values()):
        return None
    return sessions
