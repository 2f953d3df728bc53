"""Reading sessions: takes no lock, and changes nothing on disk except a stale index."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

from jsonlstore.core.clock import Clock, format_time, time_before
from jsonlstore.core.errors import AmbiguousSessionId, JsonlStoreError, SessionForgotten, SessionNotFound
from jsonlstore.core.files import Disk
from jsonlstore.core.locks import Locks
from jsonlstore.core.model import SessionState
from jsonlstore.core.paths import StatePaths, check_session_id
from jsonlstore.store.archive import find_month
from jsonlstore.store.fold import SessionFold, fold_events
from jsonlstore.store.index import Index
from jsonlstore.store.log import FULL_STATE_TYPES, SessionLog, Signature
from jsonlstore.store.projection import Entry, IndexEntry

_CACHED_FOLDS = 128


def not_found(session_id: str) -> SessionNotFound:
    return SessionNotFound(f"no session {session_id}", hint="`jsonlstore list` shows what there is")


class CachedFold(NamedTuple):
    """A fold and the file it was read from: still true while nobody else has written to it."""

    folded: SessionFold
    signature: Signature
    end: int
    since_full: int


class SessionReader:
    """The reading half of a store."""

    def __init__(self, paths: StatePaths, clock: Clock, disk: Disk, locks: Locks) -> None:
        self.paths = paths
        self.clock = clock
        self.disk = disk
        # no bound methods: a store in memory goes away with its last reference, not with the next collection
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
            known = self._load(session_id)  # brought back from the archive between the two looks
        if known is None:
            if month is None:
                raise not_found(session_id)
            scan = self.open_log(self.paths.archived_log(session_id, month)).scan_recent()
            folded = fold_events(session_id, scan.events if scan else ())
        else:
            folded = known.folded
        if folded.forgotten:
            raise SessionForgotten(f"session {session_id} was forgotten")
        return folded.copy()

    def entry(self, session_id: str) -> IndexEntry | None:
        """What the index knows of a session."""
        raw = self.index.entries().get(check_session_id(session_id))
        return IndexEntry.of(session_id, raw) if raw is not None else None

    def entries(self) -> Iterator[IndexEntry]:
        """Every session that was not forgotten, as the index knows it, newest start first."""
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
        check_session_id(prefix)  # what an id starts with is itself one
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
        """The sessions that a runtime's one transcript was cut into at its resets, besides `session_id` itself."""
        check_session_id(session_id)
        return sorted(
            key
            for key, entry in self.index.entries().items()
            if key != session_id and (entry.get("source") or {}).get("session_id") == session_id
        )

    def chain(self, session_id: str, depth: int = 5) -> list[SessionState]:
        """The session and those before it, oldest first, at most `depth`; stops at gaps and never runs in circles."""
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

    def archivable(self, older_than: timedelta, among: Mapping[str, Entry | None] | None = None) -> list[str]:
        """The ended, hot sessions whose end lies further back than `older_than`, oldest first."""
        line = time_before(self.clock(), older_than)
        due = [
            (entry["end_time"], session_id)
            for session_id, entry in (self.index.entries() if among is None else among).items()
            if entry and not (entry.get("forgotten") or entry.get("archived")) and (entry.get("end_time") or "~") < line
        ]
        return [session_id for _, session_id in sorted(due)]

    def _load(self, session_id: str) -> CachedFold | None:
        """The fold of a hot log, from memory while the file is unchanged; None if there is no such session."""
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
