"""Reading sessions: takes no lock, and changes nothing on disk except a stale index."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

from jsonlstore.core.clock import Clock, format_time, time_before
from jsonlstore.core.errors import AmbiguousSessionId, JsonlStoreError, SessionForgotten, SessionNotFound
from jsonlstore.core.files import Disk, read_bytes
from jsonlstore.core.locks import Locks
from jsonlstore.core.model import SessionState
from jsonlstore.core.paths import StatePaths, check_session_id
from jsonlstore.store.archive import find_month
from jsonlstore.store.fold import SessionFold, fold_events
from jsonlstore.store.index import Index
from jsonlstore.store.log import FULL_STATE_TYPES, Event, SessionLog, Signature, parse_event
from jsonlstore.store.projection import IndexEntry, RawIndexEntry

_CACHED_FOLDS = 128


def not_found(session_id: str) -> SessionNotFound:
    return SessionNotFound(f"no session {session_id}", hint="`jsonlstore list` shows what there is")


class CachedFold(NamedTuple):
    """A fold and the signature of the file it was read from: valid until another process writes to the file."""

    folded: SessionFold
    signature: Signature
    end: int
    since_full: int


class SessionReader:
    """The reading half of a store.

    Arguments:
        session_id: the session's whole id
        prefix: the beginning of an id, as long as no other id begins so
        kinds: the types of events wanted, such as `session.ended`; all without it
        days: how far back, in days
        limit: at most so many; all without it
        now: the present, where it is not the clock's
        depth: at most so many sessions, the named one included
        older_than: a `timedelta`
        among: index entries to look through instead of all of them
    """

    def __init__(self, paths: StatePaths, clock: Clock, disk: Disk, locks: Locks) -> None:
        self.paths = paths
        self.clock = clock
        self.disk = disk
        # functions instead of bound methods: no reference cycle, so a store in memory is freed with its last reference
        self.now: Callable[[], str] = lambda: format_time(clock())
        self.open_log: Callable[[Path], SessionLog] = partial(SessionLog, quarantine=paths.quarantine, disk=disk)
        self.index = Index(paths, disk, locks, self.open_log)
        self._known: OrderedDict[str, CachedFold] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, session_id: str) -> SessionState:
        """The state of one session, hot or archived."""
        return self.folded(session_id).state()

    def folded(self, session_id: str) -> SessionFold:
        """The state with the store's bookkeeping; raises `SessionNotFound` or `SessionForgotten`."""
        known = self._load(check_session_id(session_id))
        month = find_month(self.paths, session_id) if known is None else None
        if known is None and month is None:
            known = self._load(session_id)  # another process brought it back from the archive between the two reads
        if known is None:
            if month is None:
                raise not_found(session_id)
            scan = self.open_log(self.paths.archived_log(session_id, month)).scan_recent()
            folded = fold_events(session_id, scan.events if scan else ())
        else:
            folded = known.folded
        if folded.forgotten:
            raise SessionForgotten(f"session {session_id} was forgotten", hint="nothing of it is left to show")
        return folded.copy()

    def events(self, session_id: str, kinds: Collection[str] | None = None) -> list[Event]:
        """The events of these kinds, or all, in a session's whole log, hot or archived, oldest first."""
        paths = [self.paths.log(check_session_id(session_id))]
        month = find_month(self.paths, session_id)
        if month is not None:
            paths.append(self.paths.archived_log(session_id, month))
        for path in paths:
            data = read_bytes(path)
            if data:
                if kinds is None:
                    return [event for event in map(parse_event, data.split(b"\n")) if event is not None]
                # most lines are updates of the state: only lines that contain a kind's name are worth parsing
                marks = tuple(b'"type":"%s"' % kind.encode() for kind in kinds)
                lines = (line for line in data.split(b"\n") if any(mark in line for mark in marks))
                return [event for event in map(parse_event, lines) if event is not None and event.type in kinds]
        return []

    def entry(self, session_id: str) -> IndexEntry | None:
        """The index entry of a session."""
        raw = self.index.entries().get(check_session_id(session_id))
        return IndexEntry.of(session_id, raw) if raw is not None else None

    def entries(self) -> Iterator[IndexEntry]:
        """The index entries of every session that was not forgotten, newest start first."""
        found = [item for item in self.index.entries().items() if not item[1].get("forgotten")]
        found.sort(key=lambda item: (item[1].get("start_time") or "", item[0]), reverse=True)
        return (IndexEntry.of(session_id, raw) for session_id, raw in found)

    def recent(self, days: float = 7, limit: int | None = None, now: datetime | None = None) -> list[IndexEntry]:
        """Sessions that ended within the last `days`, latest end first."""
        since = time_before(now or self.clock(), timedelta(days=days))
        found = [
            (raw["end_time"], session_id, raw)
            for session_id, raw in self.index.entries().items()
            if (raw.get("end_time") or "") >= since
        ]
        found.sort(key=lambda item: item[:2], reverse=True)
        return [IndexEntry.of(session_id, raw) for _, session_id, raw in found[:limit]]

    def resolve(self, prefix: str) -> str:
        """The one session id that starts with `prefix`; an exact id always wins."""
        check_session_id(prefix)  # a prefix of a valid id is itself a valid id
        entries = self.index.entries()
        if prefix in entries:
            return prefix
        found = sorted(key for key in entries if key.startswith(prefix))
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(found[:5]) + (" …" if len(found) > 5 else "")
            raise AmbiguousSessionId(f"{prefix!r} fits {len(found)} sessions: {shown}", hint="type more of the id")
        raise not_found(prefix)

    def stretches(self, session_id: str) -> list[str]:
        """The other sessions of the runtime's transcript that `session_id` was cut from at a reset."""
        check_session_id(session_id)
        return sorted(
            key
            for key, entry in self.index.entries().items()
            if key != session_id and (entry.get("source") or {}).get("session_id") == session_id
        )

    def chain(self, session_id: str, depth: int = 5) -> list[SessionState]:
        """The session and its predecessors, oldest first, at most `depth`; stops at gaps and at cycles."""
        found: list[SessionState] = []
        seen: set[str] = set()
        current: str | None = check_session_id(session_id)
        while current is not None and current not in seen and len(found) < depth:
            seen.add(current)
            try:
                state = self.get(current)
            except JsonlStoreError:
                if current == session_id:
                    raise
                break
            found.append(state)
            current = state.previous_session_id
        return found[::-1]

    def archivable(self, older_than: timedelta, among: Mapping[str, RawIndexEntry | None] | None = None) -> list[str]:
        """The ended, hot sessions that ended longer than `older_than` ago, oldest first."""
        line = time_before(self.clock(), older_than)
        due = [
            (entry["end_time"], session_id)
            for session_id, entry in (self.index.entries() if among is None else among).items()
            if entry and not (entry.get("forgotten") or entry.get("archived")) and (entry.get("end_time") or "~") < line
        ]
        return [session_id for _, session_id in sorted(due)]

    def _load(self, session_id: str) -> CachedFold | None:
        """The fold of a hot log, cached while the file is unchanged; None if there is no such session."""
        session_log = self.open_log(self.paths.log(session_id))
        signature = session_log.signature()
        known = self._known.get(session_id)
        if known is not None and known.signature == signature:
            return known
        scan = session_log.scan_recent() if signature and signature[2] else None
        if scan is None or not scan.events:
            return None
        assert signature is not None
        folded = fold_events(session_id, scan.events)
        first, last = scan.events[0], scan.events[-1]
        since = last.end - (first.end if first.event.type in FULL_STATE_TYPES else 0)
        return self._remember(session_id, CachedFold(folded, signature, last.end, since))

    def _remember(self, session_id: str, known: CachedFold) -> CachedFold:
        with self._guard:
            self._known[session_id] = known
            self._known.move_to_end(session_id)
            while len(self._known) > _CACHED_FOLDS:
                self._known.popitem(last=False)
        return known

    def _drop_known(self, session_id: str) -> None:
        with self._guard:
            self._known.pop(session_id, None)
