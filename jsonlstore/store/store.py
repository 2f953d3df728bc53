"""`SessionStore`: start, update, end, recover, resume, continue, get, recent, chain, archive, forget.

Every change is one append to the session's own log, synced before it is acknowledged. Index and mirror follow the log
and can always be made from it again. Whatever is written has passed the redactor.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from jsonlstore.core.clock import Clock, system_clock
from jsonlstore.core.errors import (
    JsonlStoreError,
    NewerSchema,
    SessionForgotten,
    SessionNotFound,
    SessionOpen,
    StaleSource,
    UsageError,
)
from jsonlstore.core.files import Disk
from jsonlstore.core.locks import DEFAULT_TIMEOUT, Locks
from jsonlstore.core.logs import logger
from jsonlstore.core.model import SCHEMA_VERSION
from jsonlstore.core.paths import StatePaths, check_session_id, resolve_state_dir
from jsonlstore.store.archive import find_month, finish_move, move_back, move_to_archive, write_mirror
from jsonlstore.store.fold import EVENT_FIELDS, WRITERS, SessionFold
from jsonlstore.store.index import Progress, silent
from jsonlstore.store.log import FULL_STATE_TYPES, Event
from jsonlstore.store.projection import Entry, project
from jsonlstore.store.reader import CachedFold, SessionReader, not_found
from jsonlstore.store.sanitise import check_time, clean, clean_event

if TYPE_CHECKING:
    from jsonlstore.store.forget import Forgotten
    from jsonlstore.store.metrics import Metrics

log = logger(__name__)

SNAPSHOT_EVERY = 64 * 1024


class SessionStore(SessionReader):
    """The sessions of one state directory. Safe to share between threads, and with other processes."""

    def __init__(
        self,
        paths: StatePaths,
        *,
        clock: Clock = system_clock,
        disk: Disk | None = None,
        lock_timeout: Callable[[], float] = lambda: DEFAULT_TIMEOUT,
    ) -> None:
        self.locks = Locks(paths.states, lock_timeout)
        super().__init__(paths, clock, disk or Disk(), self.locks)
        self._prepared = False
        self._origin: SessionStore | None = None
        self.listeners: list[Callable[[str, SessionFold], None]] = []

    @classmethod
    def open(
        cls, state_dir: str | Path | None = None, *, sessions_dir: str | None = None, clock: Clock = system_clock
    ) -> Self:
        """The store of a state directory (default: OpenClaw's). Nothing is created before the first write."""
        return cls(StatePaths.of(resolve_state_dir(state_dir), sessions_dir), clock=clock)

    @cached_property
    def metrics(self) -> Metrics:
        """The store's metrics; loaded on first use, because most readers never ask."""
        from jsonlstore.store.metrics import Metrics

        metrics = Metrics(self.paths, self.disk, self.locks, self.now)
        if self._origin is not None:
            metrics.listeners = self._origin.metrics.listeners
        return metrics

    @classmethod
    def in_memory(cls, *, clock: Clock = system_clock) -> Self:
        """A store that is gone with the object: unsynced files in a temporary directory of its own."""
        from tempfile import TemporaryDirectory

        root = TemporaryDirectory(prefix="jsonlstore-")
        store = cls(StatePaths.of(Path(root.name)), clock=clock, disk=Disk(sync=False))
        weakref.finalize(store, root.cleanup)
        return store

    def within(self, left: Callable[[], float]) -> Self:
        """The same store for a caller with a deadline: no lock is waited for longer than `left()` seconds."""
        twin = type(self)(
            self.paths, clock=self.clock, disk=self.disk, lock_timeout=lambda: min(DEFAULT_TIMEOUT, left())
        )
        twin.listeners = self.listeners
        twin._origin = self  # noqa: SLF001 - a store in memory lives as long as anyone uses it
        return twin

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
        checked = clean({"start_time": self.now(), **fields})
        self.prepare()
        with self.locks.session(check_session_id(session_id)):
            known = self._load(session_id) or self._unarchived(session_id)
            if known is not None:
                self._writable(session_id, known.folded)
                return False
            data: dict[str, Any] = {"session_id": session_id, "schema_version": SCHEMA_VERSION, "fields": checked}
            data |= {"owner": clean_event(owner)} if owner else {}
            data |= {"source": dict(source)} if source else {}
            self._commit(session_id, None, "session.started", by, data)
        self._notify_change(session_id, None)
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
        given = clean(fields)
        with self._session(session_id) as known:
            changed = _changed(known.folded, by, given)
            data: dict[str, Any] = {"fields": changed}
            if source is not None:
                if (known.folded.source or None) != (dict(expect_source) if expect_source else None):
                    raise StaleSource(f"the transcript cursor of {session_id} was moved by another writer")
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
        inferred: bool = False,
    ) -> bool:
        """Close a session with its final fields; False if it was before. One only `inferred` gives way to one told."""
        given = clean(fields or {})
        with self._session(session_id) as known:
            when = check_time("end_time", end_time) if end_time else self.now()
            why = clean({"end_reason": reason})["end_reason"]
            data: dict[str, Any] = {"end_time": when, "reason": why, "fields": _changed(known.folded, by, given)}
            if source is not None and source != known.folded.source:
                data["source"] = dict(source)
            if inferred:
                data["inferred"] = True
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
        """Reopen a session that woke up again, or hand an open one to a new owner; its links stay. False if no news."""
        with self._session(session_id) as known:
            if not known.folded.ended and (not owner or known.folded.owner == dict(owner)):
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
        checked = clean_event(data)
        with self._session(session_id) as known:
            self._commit(session_id, known, kind, by, checked)

    def archive(self, session_id: str) -> str:
        """Move an ended session to cold storage, or finish such a move; returns the month it is filed under."""
        self.prepare()
        with self.locks.session(check_session_id(session_id)):
            known = self._load(session_id)
            if known is None:
                entry = finish_move(self.paths, self.disk, session_id, self.open_log)
                if entry is None:
                    raise not_found(session_id)
                month: str = entry["archived"]
            else:
                self._writable(session_id, known.folded)
                if not known.folded.ended:
                    raise SessionOpen(f"session {session_id} has not ended and stays where it is")
                month = move_to_archive(self.paths, self.disk, session_id, known.folded.to_dict())
                entry = project(known.folded, known.end, month)
            self._drop_known(session_id)
            self._follow(session_id, entry)
        self._notify(session_id, known.folded if known else self.folded(session_id))
        return month

    def finish_archiving(self, session_id: str) -> None:
        """Finish or undo a move to or from the archive that a crash cut short: the log decides."""
        with self.locks.session(check_session_id(session_id)):
            self._drop_known(session_id)
            entry = finish_move(self.paths, self.disk, session_id, self.open_log)
            self.index.put(session_id, entry)

    def repair_log(self, session_id: str, path: Path) -> bool:
        """Mend a torn tail now instead of at the next append."""
        with self.locks.session(check_session_id(session_id)):
            self._drop_known(session_id)
            return self.open_log(path).repair()

    def repair_mirror(self, session_id: str) -> bool:
        """Write the mirror of an ended session anew; False if there is nothing to mirror (any more)."""
        with self.locks.session(check_session_id(session_id)):
            known = self._load(session_id)
            if known is None or known.folded.forgotten or not known.folded.ended:
                return False
            return write_mirror(self.paths, self.disk, session_id, known.folded.to_dict())

    def archive_older(
        self,
        older_than: timedelta,
        among: Mapping[str, Entry | None] | None = None,
        *,
        most: int | None = None,
        progress: Progress = silent,
    ) -> list[str]:
        """Archive the sessions that `archivable` lists, at most `most`, with one write of the index; returns them."""
        due, moved = self.archivable(older_than, among)[:most], []
        with self.index.batch():
            for number, session_id in enumerate(due, 1):
                try:
                    self.archive(session_id)
                except (SessionForgotten, SessionNotFound, SessionOpen) as problem:
                    # another process moved, resumed or removed it since the index was read
                    log.debug("session %s is not archived: %s", session_id, problem)
                else:
                    moved.append(session_id)
                progress(number, len(due))
        return moved

    def forget(self, session_id: str) -> Forgotten:
        """Remove a session everywhere we keep it; a tombstone stays so that no later scan brings it back."""
        from jsonlstore.store.forget import forget_session, task_ids

        self.prepare()
        with self.locks.session(check_session_id(session_id)):
            self._drop_known(session_id)
            # first, while the log still says which tasks were the session's
            self.metrics.blank(session_id, task_ids(self.paths, self.open_log, session_id))
            outcome = forget_session(self.paths, self.disk, self.open_log, session_id, self.now())
            self.index.put(session_id, outcome.entry, sweep=True)
        gone = SessionFold()
        gone.session_id, gone.forgotten = session_id, True
        self._notify(session_id, gone)
        return outcome

    def prepare(self) -> None:
        """Make sure there is a directory to write to."""
        if not self._prepared:
            self.disk.make_dir(self.paths.states)
            self._prepared = True

    @contextmanager
    def _session(self, session_id: str) -> Iterator[CachedFold]:
        """A session's lock and its fold, for one change."""
        self.prepare()
        with self.locks.session(check_session_id(session_id)):
            known = self._load(session_id) or self._unarchived(session_id)
            if known is None:
                raise not_found(session_id)
            self._writable(session_id, known.folded)
            yield known
        self._notify_change(session_id, known)

    def _notify_change(self, session_id: str, before: CachedFold | None) -> None:
        """Let listeners know of a change, with no lock held: what they do is not part of the write."""
        after = self._known.get(session_id)
        if after is None or after is before:
            return
        self._notify(session_id, after.folded)

    def _notify(self, session_id: str, folded: SessionFold) -> None:
        for listener in self.listeners:
            listener(session_id, folded)

    def _unarchived(self, session_id: str) -> CachedFold | None:
        """Bring a session back from the archive; None if it is not there."""
        month = find_month(self.paths, session_id)
        if month is None:
            return None
        move_back(self.paths, self.disk, session_id, month)
        return self._load(session_id)

    @staticmethod
    def _writable(session_id: str, folded: SessionFold) -> None:
        if folded.forgotten:
            raise SessionForgotten(f"session {session_id} was forgotten", hint="start it under another id")
        if folded.schema_version > SCHEMA_VERSION:
            raise NewerSchema(
                f"session {session_id} was written by a newer jsonlstore (schema {folded.schema_version})",
                hint="upgrade jsonlstore; reading still works",
            )

    def _commit(self, session_id: str, known: CachedFold | None, kind: str, by: str, data: dict[str, Any]) -> None:
        """Append one event, then bring index and mirror after it. Wants the session's lock."""
        if by not in WRITERS:
            raise UsageError(f"no such writer: {by!r}", hint=f"one of {', '.join(WRITERS)}")
        before = known.folded if known else SessionFold()
        event = Event(before.seq + 1, self.now(), kind, by, data)
        boundary = before.is_boundary(event)
        after = before.copy()
        after.apply(event)
        if kind in ("session.ended", "session.recovered"):
            event = Event(
                event.seq, event.at, kind, by, {k: v for k, v in data.items() if k != "fields"} | after.full_state()
            )
        lines = event.to_line()
        since = (known.since_full if known else 0) + len(lines)
        if kind in FULL_STATE_TYPES:
            since = 0
        elif not boundary and since >= SNAPSHOT_EVERY:
            snapshot = Event(event.seq + 1, event.at, "state.snapshot", by, after.full_state())
            line = snapshot.to_line()
            if since >= len(line):  # a snapshot must pay for itself
                after.apply(snapshot)
                lines, since = lines + line, 0
        self._drop_known(session_id)
        signature = self.open_log(self.paths.log(session_id)).append(lines)
        self._remember(session_id, CachedFold(after, signature, signature[2], since))
        if boundary:
            self._follow(session_id, project(after, signature[2]))
            if after.ended:
                self._mirror(session_id, after.to_dict())

    def _mirror(self, session_id: str, state: Mapping[str, Any]) -> None:
        later = self.index.sync_later(self.paths.sessions)
        write_mirror(self.paths, self.disk, session_id, state, lasting=not later)

    def _follow(self, session_id: str, entry: Entry) -> None:
        """Bring the index after the log. It can be made again: a failure here loses nothing and is only logged."""
        try:
            self.index.put(session_id, entry)
        except JsonlStoreError as problem:
            log.warning("index not updated for %s, the next reader will: %s", session_id, problem)


def _changed(folded: SessionFold, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The given fields that differ from what this writer said before."""
    layer = folded.layers.get(by, {})
    missing = object()
    changed = {
        key: value for key, value in given.items() if key not in EVENT_FIELDS and layer.get(key, missing) != value
    }
    active = given.get("updated_at")
    if active is not None and active > (folded.updated_at or ""):
        changed["updated_at"] = active
    return changed
