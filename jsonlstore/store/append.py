"""Appending to sessions: start, update, end, recover, resume, link, and every other event.

Every change is one append to the session's own log, synced before it is acknowledged. Index and mirror follow the log
and can always be rebuilt from it. Every record passes the redactor before it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from jsonlstore.core.clock import Clock
from jsonlstore.core.errors import JsonlStoreError, NewerSchema, SessionForgotten, StaleSource, UsageError
from jsonlstore.core.files import Disk
from jsonlstore.core.locks import Locks
from jsonlstore.core.logs import logger
from jsonlstore.core.model import SCHEMA_VERSION
from jsonlstore.core.paths import StatePaths, check_session_id
from jsonlstore.store.archive import find_month, move_back, write_mirror
from jsonlstore.store.fold import EVENT_FIELDS, SessionFold
from jsonlstore.store.layers import UNKNOWN, WRITERS
from jsonlstore.store.log import FULL_STATE_TYPES, Event
from jsonlstore.store.projection import RawIndexEntry, project
from jsonlstore.store.reader import CachedFold, SessionReader, not_found
from jsonlstore.store.sanitise import check_new_id, check_time, clean, clean_event, clean_text, plain_link

log = logger(__name__)

SNAPSHOT_EVERY = 64 * 1024


class SessionAppender(SessionReader):
    """The appending half of a store.

    Arguments:
        fields: keys of the state with their new values; what is not given stays as it is
        by: who says it, one of hook, watcher, import, operator; each one's word is a layer of its own
        owner: `{pid, started}` of the process whose life is the session's, so that its death is noticed
        source: how far which transcript was read (the watcher's)
        expect_source: what `source` must be now for the update to be taken
        reason: why the session ended: new, reset, idle, daily, crash, …
        end_time: when it ended, if that was not now
        inferred: whether nobody said that it ended, and it was only concluded
        on_close: is called by whoever found the session open and closed it
        successor: the id of the session that continues this one
        kind: the type of the event
        data: what the event holds
        redacted: what passed the redactor before and is not read again
        decide: makes the event's type and data of the present fold, or None
        change: makes the changed fields of the present fold
    """

    def __init__(self, paths: StatePaths, clock: Clock, disk: Disk, locks: Locks) -> None:
        super().__init__(paths, clock, disk, locks)
        self.locks = locks
        self.listeners: list[Callable[[str, SessionFold], None]] = []
        self._prepared = False

    def start(
        self,
        session_id: str,
        *,
        by: str = "hook",
        owner: Mapping[str, Any] | None = None,
        source: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> bool:
        """Open a session; False if it already exists: hook and watcher may both start it, the second adds nothing."""
        checked = clean({"start_time": self.now(), **fields})
        self.prepare()
        with self.locks.session(check_session_id(session_id)):
            known = self._load(session_id) or self._unarchived(session_id)
            if known is not None:
                self._writable(session_id, known.folded)
                return False
            check_new_id(session_id)
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
        """Record the given fields of a session; False if none of them changes anything.

        With `source`, the transcript cursor moves in the same record, provided it is still `expect_source`; if another
        writer moved it meanwhile, `StaleSource` is raised and nothing is written.
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
        on_close: Callable[[], object] | None = None,
    ) -> bool:
        """Close a session with its final fields; False if it had ended. An explicit end replaces an `inferred` one.

        Said again, an explicit end adds what it has to add and moves nothing. Of several writers who end a session the
        one who found it open has `on_close` called.
        """
        given = clean(fields or {})
        with self._session(session_id) as known:
            was_open = not known.folded.ended
            before = known.folded.ends.get("told") if not (inferred or known.folded.crash_recovered) else None
            said = before.get("end_time") if before and by != "watcher" else None
            when = check_time("end_time", end_time) if end_time else said or self.now()
            why = clean({"end_reason": reason})["end_reason"]
            if said and before and before.get("reason") not in UNKNOWN:
                why = before["reason"]
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
        if was_open and on_close is not None:
            on_close()
        return True

    def recover(self, session_id: str, end_time: str, *, by: str = "hook") -> bool:
        """Close a crashed session as of its last activity; False if it had ended after all."""
        with self._session(session_id) as known:
            if known.folded.ended:
                return False
            data = {"end_time": check_time("end_time", end_time), "reason": "crash"}
            self._commit(session_id, known, "session.recovered", by, data)
            return True

    def resume(self, session_id: str, *, by: str = "hook", owner: Mapping[str, Any] | None = None) -> bool:
        """Reopen a session that continues, or give an open one a new owner; links are kept.

        False if nothing changes.
        """
        with self._session(session_id) as known:
            if not known.folded.ended and (not owner or known.folded.owner == dict(owner)):
                return False
            self._commit(session_id, known, "session.resumed", by, {"owner": dict(owner)} if owner else {})
            return True

    def link(self, session_id: str, successor: str, *, by: str = "hook") -> bool:
        """Record that `successor` continues this session; False if it is already the latest to do so."""
        successor = plain_link(successor)
        with self._session(session_id) as known:
            if known.folded.continued[-1:] == [successor]:
                return False
            self._commit(session_id, known, "session.continued", by, {"session_id": successor})
            return True

    def note(
        self,
        session_id: str,
        kind: str,
        data: Mapping[str, Any],
        *,
        by: str = "hook",
        redacted: Mapping[str, str] | None = None,
    ) -> None:
        """Append an event of another kind: `session.inherited`, `pattern.noted`, `checkpoint.created`, `flush.…`.

        `redacted` are texts put together from parts that each passed the redactor: as a whole they may look as if they
        held a secret ("LAST SESSION: …"), and no session start has the time to find out that they do not.
        """
        checked = clean_event(data) | {key: clean_text(text) for key, text in (redacted or {}).items()}
        with self._session(session_id) as known:
            self._commit(session_id, known, kind, by, checked)

    def append_if(
        self,
        session_id: str,
        decide: Callable[[SessionFold], tuple[str, Mapping[str, Any]] | None],
        *,
        by: str,
        redacted: Collection[str] = (),
    ) -> bool:
        """Append the event that `decide` makes of the session's present fold, under its lock; False if it makes none.

        Whoever decides sees every event before its own, so that of two writers the second knows what the first did.
        `redacted` names data that is made of parts of a stored state, each of which passed the redactor before.
        """
        with self._session(session_id) as known:
            event = decide(known.folded)
            if event is None:
                return False
            kind, data = event
            checked = clean_event({key: value for key, value in data.items() if key not in redacted})
            self._commit(session_id, known, kind, by, {key: data[key] for key in redacted if key in data} | checked)
            return True

    def change_tasks(self, session_id: str, change: Callable[[SessionFold], Mapping[str, Any]]) -> bool:
        """Record what somebody says of tasks by hand; `change` makes the fields from the fold. The index follows."""
        with self._session(session_id) as known:
            changed = _changed(known.folded, "operator", clean(change(known.folded)))
            if changed:
                self._commit(session_id, known, "task.changed", "operator", {"fields": changed})
            return bool(changed)

    def prepare(self) -> None:
        """Create the directory for the logs if it is missing."""
        if not self._prepared:
            self.disk.make_dir(self.paths.states)
            self._prepared = True

    @contextmanager
    def _session(self, session_id: str) -> Iterator[CachedFold]:
        """Hold a session's lock and yield its fold, for one change."""
        self.prepare()
        with self.locks.session(check_session_id(session_id)):
            known = self._load(session_id) or self._unarchived(session_id)
            if known is None:
                raise not_found(session_id)
            self._writable(session_id, known.folded)
            yield known
        self._notify_change(session_id, known)

    def _notify_change(self, session_id: str, before: CachedFold | None) -> None:
        """Notify the listeners of a change, with no lock held, because their work is not part of the write."""
        after = self._known.get(session_id)
        if after is None or after is before:
            return
        self._notify(session_id, after.folded)

    def _notify(self, session_id: str, folded: SessionFold) -> None:
        for listener in self.listeners:
            listener(session_id, folded)

    def _unarchived(self, session_id: str) -> CachedFold | None:
        """Bring a session back from the archive; None if it is not archived."""
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
        """Append one event, then update index and mirror. Requires the session's lock."""
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
            if since >= len(line):  # write a snapshot only when replaying the events since the last one costs more
                after.apply(snapshot)
                lines, since = lines + line, 0
        self._drop_known(session_id)
        signature = self.open_log(self.paths.log(session_id)).append(lines)
        self._remember(session_id, CachedFold(after, signature, signature[2], since))
        if boundary:
            self._follow(session_id, project(after, signature[2]))
            # what a handoff or a flush adds to the log is not part of the state that the mirror shows
            if after.ended and not (before.ended and after.to_dict() == before.to_dict()):
                self._mirror(session_id, after.to_dict())

    def _mirror(self, session_id: str, state: Mapping[str, Any]) -> None:
        later = self.index.sync_later(self.paths.sessions)
        write_mirror(self.paths, self.disk, session_id, state, lasting=not later)

    def _follow(self, session_id: str, entry: RawIndexEntry) -> None:
        """Update the index after the log. A failure is only logged: the index can be rebuilt."""
        try:
            self.index.put(session_id, entry)
        except JsonlStoreError as problem:
            log.warning("index not updated for %s, the next reader will: %s", session_id, problem)


def _changed(folded: SessionFold, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The given fields that differ from this writer's last values."""
    layer = folded.layers.get(by, {})
    missing = object()
    changed = {
        key: value for key, value in given.items() if key not in EVENT_FIELDS and layer.get(key, missing) != value
    }
    active = given.get("updated_at")
    if active is not None and active > (folded.updated_at or ""):
        changed["updated_at"] = active
    return changed
