"""`SessionStore`: start, update, end, recover, resume, continue, get, recent, chain, archive, forget.

Every change is one append to the session's own log, synced before it is acknowledged. Index and mirror follow the log
and can always be made from it again. Whatever is written has passed the redactor.
"""

from __future__ import annotations

import logging
import weakref
from collections import OrderedDict
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from jsonlstore.clock import Clock, format_time, parse_time, system_clock
from jsonlstore.errors import (
    AmbiguousSessionId,
    JsonlStoreError,
    NewerSchema,
    SessionForgotten,
    SessionNotFound,
    SessionOpen,
    StaleSource,
)
from jsonlstore.model import SCHEMA_VERSION, SessionState
from jsonlstore.paths import StatePaths, check_session_id, resolve_state_dir
from jsonlstore.store.archive import bring_back, find_month, store_cold
from jsonlstore.store.fields import check_fields, check_time
from jsonlstore.store.files import Disk
from jsonlstore.store.forget import Forgotten, forget_session
from jsonlstore.store.index import Index, IndexEntry, fold_events, project
from jsonlstore.store.limits import cap
from jsonlstore.store.locking import DEFAULT_TIMEOUT, Locks
from jsonlstore.store.log import FULL_STATE_TYPES, Event, SessionLog
from jsonlstore.store.metrics import Metrics
from jsonlstore.store.mirror import write_mirror

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from jsonlstore.store.state import SessionFold

log = logging.getLogger(__name__)

SNAPSHOT_EVERY = 64 * 1024
_CACHED_FOLDS = 128



def redact_value(value: Any) -> Any:
    """The package's own redactor, loaded on first use."""
    from jsonlstore.signals.redact import redact_value as redact

    return redact(value)


class _Known:
    """A fold and the file it was read from: still true while nobody else has written to it."""

    __slots__ = ("folded", "signature", "since_full")

    def __init__(self, folded: SessionFold, signature: tuple[int, int, int], since_full: int) -> None:
        self.folded = folded
        self.signature = signature
        self.since_full = since_full


class SessionStore:
    """The sessions of one state directory. Safe to share between threads, and with other processes."""

    def __init__(
        self,
        paths: StatePaths,
        *,
        clock: Clock = system_clock,
        disk: Disk | None = None,
        lock_timeout: Callable[[], float] = lambda: DEFAULT_TIMEOUT,
    ) -> None:
        self.paths = paths
        self._clock = clock
        self._disk = disk or Disk()
        self._locks = Locks(paths.states, lock_timeout)
        self.index = Index(paths, self._disk, self._locks, self.open_log)
        self.metrics = Metrics(paths, self._disk, self._locks, self.now)
        self._known: OrderedDict[str, _Known] = OrderedDict()

    @classmethod
    def open(
        cls, state_dir: str | Path | None = None, *, sessions_dir: str | None = None, clock: Clock = system_clock
    ) -> Self:
        """The store of a state directory (default: OpenClaw's). Nothing is created before the first write."""
        return cls(StatePaths.of(resolve_state_dir(state_dir), sessions_dir), clock=clock)

    @classmethod
    def in_memory(cls, *, clock: Clock = system_clock) -> Self:
        """A store that is gone with the object: unsynced files in a temporary directory of its own."""
        root = TemporaryDirectory(prefix="jsonlstore-")
        store = cls(StatePaths.of(Path(root.name)), clock=clock, disk=Disk(sync=False))
        weakref.finalize(store, root.cleanup)
        return store

    def now(self) -> str:
        return format_time(self._clock())

    def open_log(self, path: Path) -> SessionLog:
        return SessionLog(path, self.paths.quarantine, self._disk)

    # -- writing ---------------------------------------------------------------------------------------------------

    def start(
        self,
        session_id: str,
        *,
        by: str = "hook",
        owner: Mapping[str, Any] | None = None,
        source: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> bool:
        """Open a session; False if it was already there (whoever comes first starts it, the other adds nothing)."""
        given = self._checked({"start_time": self.now(), **fields})
        self._prepare()
        with self._locks.session(check_session_id(session_id)):
            known = self._load(session_id, bring_back_archived=True)
            if known is not None:
                self._writable(session_id, known.folded)
                return False
            data: dict[str, Any] = {"session_id": session_id, "schema_version": SCHEMA_VERSION, "fields": given}
            if owner:
                data["owner"] = dict(owner)
            if source:
                data["source"] = dict(source)
            self._commit(session_id, None, "session.started", by, data)
            return True

    def update(
        self,
        session_id: str,
        fields: Mapping[str, Any],
        *,
        by: str = "hook",
        source: Mapping[str, Any] | None = None,
        expect_source: Mapping[str, Any] | None = None,
    ) -> bool:
        """Record the given fields of a session; False if none of them is news.

        With `source`, the transcript cursor moves along in the same record, provided it still is `expect_source`;
        if another writer moved it meanwhile, `StaleSource` is raised and nothing is written.
        """
        given = self._checked(fields)
        with self._session(session_id) as known:
            changed = _changed(known.folded, by, given)
            data: dict[str, Any] = {"fields": changed}
            if source is not None:
                _same_source(session_id, known.folded, expect_source)
                if source != known.folded.source:
                    data["source"] = dict(source)
            if not changed and "source" not in data:
                return False
            self._commit(session_id, known, "state.updated", by, data)
            return True

    def end(
        self,
        session_id: str,
        fields: Mapping[str, Any] | None = None,
        *,
        reason: str | None = None,
        end_time: str | None = None,
        by: str = "hook",
        source: Mapping[str, Any] | None = None,
    ) -> bool:
        """Close a session with its final fields; False if it was closed so before."""
        given = self._checked(fields or {})
        with self._session(session_id) as known:
            when = check_time("end_time", end_time) if end_time else self.now()
            data: dict[str, Any] = {"end_time": when, "reason": reason, "fields": _changed(known.folded, by, given)}
            if source is not None and source != known.folded.source:
                data["source"] = dict(source)
            bare = Event(0, self.now(), "session.ended", by, data)
            after = known.folded.copy()
            after.apply(bare)
            same_end = after.ends == known.folded.ends and after.crash_recovered == known.folded.crash_recovered
            if same_end and not data["fields"] and "source" not in data:
                return False
            self._commit(session_id, known, "session.ended", by, data)
            return True

    def recover(self, session_id: str, end_time: str, *, by: str = "hook") -> bool:
        """Close a crashed session as of its last sign of life; False if it had ended after all."""
        with self._session(session_id) as known:
            if known.folded.ended:
                return False
            data = {"end_time": check_time("end_time", end_time), "reason": "crash"}
            self._commit(session_id, known, "session.recovered", by, data)
            return True

    def resume(self, session_id: str, *, by: str = "hook", owner: Mapping[str, Any] | None = None) -> bool:
        """Reopen a session that woke up again; its links stay. False if it was open."""
        with self._session(session_id) as known:
            if not known.folded.ended:
                return False
            self._commit(session_id, known, "session.resumed", by, {"owner": dict(owner)} if owner else {})
            return True

    def link(self, session_id: str, successor: str, *, by: str = "hook") -> bool:
        """Record that `successor` continues this session; False if it is already the latest to do so."""
        check_session_id(successor)
        with self._session(session_id) as known:
            if known.folded.continued[-1:] == [successor]:
                return False
            self._commit(session_id, known, "session.continued", by, {"session_id": successor})
            return True

    def note(self, session_id: str, kind: str, data: Mapping[str, Any], *, by: str = "hook") -> None:
        """Append an event of another kind: `session.inherited`, `pattern.noted`, `checkpoint.created`, `flush.…`."""
        checked = self._checked({"data": data})["data"]
        with self._session(session_id) as known:
            self._commit(session_id, known, kind, by, checked)

    def archive(self, session_id: str) -> str:
        """Move an ended session to cold storage; returns the month it is filed under."""
        with self._session(session_id, bring_back_archived=False) as known:
            if not known.folded.ended:
                raise SessionOpen(f"session {session_id} has not ended and stays where it is")
            month = store_cold(self.paths, self._disk, session_id, known.folded.to_dict())
            self._known.pop(session_id, None)
            self.index.put(session_id, project(known.folded, known.signature[2], month))
            return month

    def archivable(self, older_than: timedelta) -> list[str]:
        """The ended, hot sessions whose end lies further back than `older_than`, oldest first."""
        line = format_time(self._clock() - older_than)
        due = [
            (entry["end_time"], session_id)
            for session_id, entry in self.index.entries().items()
            if not entry.get("forgotten") and not entry.get("archived") and (entry.get("end_time") or "~") < line
        ]
        return [session_id for _, session_id in sorted(due)]

    def forget(self, session_id: str) -> Forgotten:
        """Remove a session everywhere we keep it; a tombstone stays so that no later scan brings it back."""
        self._prepare()
        with self._locks.session(check_session_id(session_id)):
            self._known.pop(session_id, None)
            outcome = forget_session(self.paths, self._disk, self.open_log, session_id, self.now())
            self.index.put(session_id, outcome.entry)
        self.metrics.blank(session_id, outcome.task_ids)
        return outcome

    # -- reading ---------------------------------------------------------------------------------------------------

    def get(self, session_id: str) -> SessionState:
        """The state of one session, hot or archived."""
        return self.folded(session_id).state()

    def folded(self, session_id: str) -> SessionFold:
        """The state with the store's bookkeeping; raises `SessionNotFound` or `SessionForgotten`."""
        known = self._load(check_session_id(session_id))
        if known is None:
            month = find_month(self.paths, session_id)
            if month is None:
                raise SessionNotFound(f"no session {session_id}", hint="`jsonlstore list` shows what there is")
            scan = self.open_log(self.paths.archived_log(session_id, month)).scan_recent()
            folded = fold_events(session_id, (placed.event for placed in scan.events) if scan else ())
        else:
            folded = known.folded
        if folded.forgotten:
            raise SessionForgotten(f"session {session_id} was forgotten")
        return folded.copy()

    def entry(self, session_id: str) -> IndexEntry | None:
        """What the index knows of a session."""
        raw = self.index.entries().get(session_id)
        return IndexEntry.of(session_id, raw) if raw is not None else None

    def entries(self) -> Iterator[IndexEntry]:
        """Every session that was not forgotten, as the index knows it, newest start first."""
        found = [item for item in self.index.entries().items() if not item[1].get("forgotten")]
        found.sort(key=lambda item: (item[1].get("start_time") or "", item[0]), reverse=True)
        return (IndexEntry.of(session_id, raw) for session_id, raw in found)

    def recent(self, days: float = 7, limit: int | None = None, now: datetime | None = None) -> list[IndexEntry]:
        """Sessions that ended within the last `days`, latest end first."""
        since = format_time((now or self._clock()) - timedelta(days=days))
        found = [
            (raw["end_time"], session_id, raw)
            for session_id, raw in self.index.entries().items()
            if (raw.get("end_time") or "") >= since
        ]
        found.sort(key=lambda item: item[:2], reverse=True)
        return [IndexEntry.of(session_id, raw) for _, session_id, raw in found[:limit]]

    def resolve(self, prefix: str) -> str:
        """The one session id that starts with `prefix`; an exact id always wins."""
        entries = self.index.entries()
        if prefix in entries:
            return prefix
        found = [] if not prefix else sorted(key for key in entries if key.startswith(prefix))
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(found[:5]) + (" …" if len(found) > 5 else "")
            raise AmbiguousSessionId(f"{prefix!r} fits {len(found)} sessions: {shown}", hint="type more of the id")
        check_session_id(prefix)
        raise SessionNotFound(f"no session {prefix}", hint="`jsonlstore list` shows what there is")

    def chain(self, session_id: str, depth: int = 5) -> list[SessionState]:
        """The session and those before it, oldest first, at most `depth`; stops at gaps and never runs in circles."""
        found: list[SessionState] = []
        seen: set[str] = set()
        current: str | None = session_id
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

    # -- inside ----------------------------------------------------------------------------------------------------

    def _checked(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Fields checked, redacted and capped: what may reach the disk."""
        cleaned: dict[str, Any] = redact_value(check_fields(fields))
        return cap(cleaned)

    def _prepare(self) -> None:
        self._disk.make_dir(self.paths.states)

    def _session(self, session_id: str, *, bring_back_archived: bool = True) -> _Held:
        return _Held(self, check_session_id(session_id), bring_back_archived)

    def _load(self, session_id: str, *, bring_back_archived: bool = False) -> _Known | None:
        """The fold of a hot log, from memory while the file is unchanged; None if there is no such session."""
        session_log = self.open_log(self.paths.log(session_id))
        signature = session_log.signature()
        known = self._known.get(session_id)
        if known is not None and known.signature == signature:
            return known
        scan = session_log.scan_recent() if signature and signature[2] else None
        if scan is None or not scan.events:
            month = find_month(self.paths, session_id) if bring_back_archived else None
            if month is None:
                return None
            bring_back(self.paths, self._disk, session_id, month)
            return self._load(session_id)
        assert signature is not None
        folded = fold_events(session_id, (placed.event for placed in scan.events))
        first = scan.events[0]
        since = scan.size - (first.end if first.event.type in FULL_STATE_TYPES else 0)
        return self._remember(session_id, _Known(folded, (*signature[:2], scan.size), since))

    def _remember(self, session_id: str, known: _Known) -> _Known:
        self._known[session_id] = known
        self._known.move_to_end(session_id)
        while len(self._known) > _CACHED_FOLDS:
            self._known.popitem(last=False)
        return known

    @staticmethod
    def _writable(session_id: str, folded: SessionFold) -> None:
        if folded.forgotten:
            raise SessionForgotten(f"session {session_id} was forgotten", hint="start it under another id")
        if folded.schema_version > SCHEMA_VERSION:
            raise NewerSchema(
                f"session {session_id} was written by a newer jsonlstore (schema {folded.schema_version})",
                hint="upgrade jsonlstore; reading still works",
            )

    def _commit(self, session_id: str, known: _Known | None, kind: str, by: str, data: dict[str, Any]) -> None:
        """Append one event, then bring index and mirror after it. Wants the session's lock."""
        from jsonlstore.store.state import SessionFold

        before = known.folded if known else SessionFold()
        event = Event(before.seq + 1, self.now(), kind, by, data)
        boundary = before.is_boundary(event)
        after = before.copy()
        after.apply(event)
        if kind in ("session.ended", "session.recovered"):
            event = Event(event.seq, event.at, kind, by, {k: v for k, v in data.items() if k != "fields"} | after.carry())
        lines = event.to_line()
        since = (known.since_full if known else 0) + len(lines)
        if kind in FULL_STATE_TYPES:
            since = 0
        elif not after.ended and since >= SNAPSHOT_EVERY:
            snapshot = Event(event.seq + 1, event.at, "state.snapshot", by, after.carry())
            line = snapshot.to_line()
            if since >= len(line):  # a snapshot must pay for itself
                after.apply(snapshot)
                lines, since = lines + line, 0
        self._known.pop(session_id, None)
        signature = self.open_log(self.paths.log(session_id)).append(lines)
        self._remember(session_id, _Known(after, signature, since))
        if boundary:
            self._follow(session_id, after, signature[2], mirror=after.ended)

    def _follow(self, session_id: str, folded: SessionFold, log_bytes: int, *, mirror: bool) -> None:
        """Bring the caches after the log. They can be made again: a failure here loses nothing and is only logged."""
        try:
            self.index.put(session_id, project(folded, log_bytes))
        except JsonlStoreError as problem:
            log.warning("index not updated for %s, the next reader will: %s", session_id, problem)
        if mirror:
            write_mirror(self.paths, self._disk, session_id, folded.to_dict())


class _Held:
    """A session's lock and its fold, for one change."""

    __slots__ = ("_bring_back", "_lock", "_session_id", "_store")

    def __init__(self, store: SessionStore, session_id: str, bring_back_archived: bool) -> None:
        self._store = store
        self._session_id = session_id
        self._bring_back = bring_back_archived
        self._lock = store._locks.session(session_id)  # noqa: SLF001 - a part of the store

    def __enter__(self) -> _Known:
        store, session_id = self._store, self._session_id
        store._prepare()  # noqa: SLF001
        self._lock.__enter__()
        try:
            known = store._load(session_id, bring_back_archived=self._bring_back)  # noqa: SLF001
            if known is None:
                raise SessionNotFound(f"no session {session_id}", hint="`jsonlstore list` shows what there is")
            store._writable(session_id, known.folded)  # noqa: SLF001
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise
        return known

    def __exit__(self, *problem: Any) -> None:
        self._lock.__exit__(*problem)


def _changed(folded: SessionFold, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The given fields that differ from what this writer said before."""
    layer = folded.layers.get(by, {})
    missing = object()
    return {key: value for key, value in given.items() if layer.get(key, missing) != value}


def _same_source(session_id: str, folded: SessionFold, expected: Mapping[str, Any] | None) -> None:
    if (folded.source or None) != (dict(expected) if expected else None):
        raise StaleSource(f"the transcript cursor of {session_id} was moved by another writer")
