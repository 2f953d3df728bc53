"""The writer from transcripts to logs: a session's start, its updates and its end, each written only if it changes
something.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore import restore  # by its names: only what ends live needs them
from jsonlstore.core.errors import SessionForgotten, SessionNotFound
from jsonlstore.core.logs import logger
from jsonlstore.core.model import WorkingMemoryPin, read_parts
from jsonlstore.core.paths import shorten_home
from jsonlstore.redact import redact_text, shown
from jsonlstore.signals import RULES
from jsonlstore.store import EVENT_FIELDS, SessionFold, SessionStore, clean
from jsonlstore.transcripts import RecordedSession
from jsonlstore.watch.cursors import MISSED, Cursors, Key, Position, corrects
from jsonlstore.watch.follower import DistilledStretch, Follower

if TYPE_CHECKING:
    from jsonlstore.watch.handoffs import HandoffTriggers

log = logger("jsonlstore.watch")

_LOOKED_AT = 20
_PINS_CAPTURED = "pins_captured"
_TAKEN_OVER = ("agent_id", "channel", "session_key")


@dataclass(frozen=True, slots=True)
class Observation:
    """One session as found on disk: its extent, and why it ended, if it did.

    With `live`, an end has just happened, so the present pins belong to the session.
    """

    session: RecordedSession
    extent: str
    reason: str | None
    live: bool

    @property
    def key(self) -> Key:
        return self.session.key


class SessionWriter:
    """Writes distilled transcripts into our logs and updates the cursors with them."""

    def __init__(
        self,
        store: SessionStore,
        cursors: Cursors,
        pin_file: Path | None,
        successor_start: Callable[[str, str], str | None],
        handoffs: HandoffTriggers | None = None,
        *,
        scope: str | None = None,
    ) -> None:
        """With `scope`, as for a watcher, a session that is closed is counted as captured; history is not."""
        self._scope = scope
        self._handoffs = handoffs
        self._store = store
        self._cursors = cursors
        self._pin_file = pin_file
        self._successor_start = successor_start

    def source(
        self, seen: Observation, distilled: DistilledStretch, follower: Follower, *, final: bool
    ) -> dict[str, Any]:
        """The cursor as stored beside the state; `final` for a stretch that a reset has closed."""
        assert follower.cursor is not None
        return {
            **follower.cursor.to_json(),
            "agent_id": seen.session.agent_id,
            "session_id": seen.session.session_id,
            "stretch": distilled.stretch.number,
            "last_at": distilled.signals.end_time,
            "mark": seen.extent
            if not follower.problems
            else None,  # an unreadable copy: no extent, so that it is read again
            "file": self._shown(seen.session.copies[-1][1].path),
            "final": final,
            "rules": RULES,
        }

    def moved(self, position: Position, seen: Observation) -> dict[str, Any] | None:
        """The cursor of a transcript that was only renamed since it was read."""
        folded = self._folded(position.session_id)
        if folded is None or not folded.source or folded.source.get("final"):
            return None
        return {**folded.source, "mark": seen.extent, "file": self._shown(seen.session.copies[-1][1].path)}

    def file_of(self, session_id: str) -> str | None:
        """The file a session was last read from, according to its log."""
        folded = self._folded(session_id)
        file = folded.source.get("file") if folded and folded.source else None
        return file if isinstance(file, str) else None

    def _shown(self, path: Path) -> str:
        try:
            place = os.fspath(path.relative_to(self._store.paths.state_dir))
        except ValueError:
            place = shorten_home(path)
        return shown(place)

    def keep(self, seen: Observation, distilled: DistilledStretch, source: dict[str, Any], before: str | None) -> bool:
        """Start, update, resume and end one stretch's session, each only if it changes something."""
        session, reason = seen.session, seen.reason
        session_id = distilled.stretch.id
        fields = self._fields(session, distilled)
        last = distilled.signals.end_time or fields["updated_at"]
        try:
            folded = self._folded(session_id)
            if folded is not None and source["final"] and _is_final(folded, fields):
                return False
            was_open = folded is not None and not folded.ended
            if folded is None:
                wrote = self._begin(session, session_id, fields, source, before)
                folded = self._folded(session_id)
                assert folded is not None
                if not wrote:
                    wrote = self._update(session_id, folded, fields, source)
            else:
                if (
                    reason is None
                    and folded.ended
                    and (last > (_end_time(folded) or "") or _was_ended_by_mistake(folded))
                ):
                    self._store.resume(session_id, by="watcher")
                    log.info("%s woke up again", session_id)
                wrote = self._update(session_id, folded, fields, source)
        except SessionForgotten:
            self._cursors.forget(session_id)
            return False
        kept = self._folded(session_id) or folded
        position = replace(Position.of(session_id, kept.to_dict(), source), ended=kept.ended)
        self._cursors.put(seen.key, position)
        if reason is not None:
            at_end = self.pinned_at_end(session_id) if seen.live and was_open else {}
            wrote |= self.end(seen.key, position, self.refined(reason, seen, last), last, at_end)
        elif wrote and self._handoffs is not None:
            self._handoffs.progressed(session_id)
        return wrote

    def _begin(
        self,
        session: RecordedSession,
        session_id: str,
        fields: dict[str, Any],
        source: dict[str, Any],
        before: str | None,
    ) -> bool:
        previous = before
        if previous is None or self._cursors.is_forgotten(previous):
            previous = self._cursors.previous(
                session.agent_id, fields["start_time"], session.channel, session.session_key, session_id
            )
        if previous:
            fields = {**fields, "previous_session_id": previous}
        started = self._store.start(session_id, by="watcher", source=source, **fields)
        if started:
            log.info("%s started (%s)", session_id, _whose(session.agent_id, session.channel, fields))
        return started

    def _update(self, session_id: str, folded: SessionFold, fields: dict[str, Any], source: dict[str, Any]) -> bool:
        fields = _with_earlier_pins(fields, folded)
        return self._store.update(session_id, fields, by="watcher", source=source, expect_source=folded.source)

    def end(
        self,
        key: Key,
        position: Position,
        reason: str,
        last: str | None,
        fields: Mapping[str, Any] | None = None,
        source: Mapping[str, Any] | None = None,
    ) -> bool:
        reason = reason if position.end_reason is None or corrects(reason, position.end_reason) else position.end_reason
        try:
            done = self._store.end(
                position.session_id, fields, reason=reason, end_time=last, by="watcher", source=source,
                on_close=partial(restore.emit_captured, self._store, position.session_id) if self._scope else None,
            )  # fmt: skip
            folded = self._store.folded(position.session_id)
            end_time = _end_time(folded)
        except (SessionForgotten, SessionNotFound):
            self._cursors.forget(position.session_id)
            return False
        if done:
            log.info(
                "%s ended: %s (%s)", position.session_id, reason, _whose(key[0], position.channel, folded.to_dict())
            )
            if self._handoffs is not None:
                self._handoffs.ended(position.session_id, reason)
        extent = source["mark"] if source else position.extent
        self._cursors.put(key, replace(position, ended=True, end_time=end_time, end_reason=reason, extent=extent))
        return done

    def reopen(self, key: Key, position: Position) -> bool:
        """Reopen a session that only the watcher had ended, and that turns out to be current in its runtime."""
        folded = self._folded(position.session_id)
        if folded is None or set(folded.ends) != {"watcher"} or not folded.ended:
            return False
        self._store.resume(position.session_id, by="watcher")
        log.info("%s is back", position.session_id)
        self._cursors.put(key, replace(position, ended=False, end_time=None, end_reason=None))
        return True

    def refined(self, reason: str, seen: Observation, last: str | None) -> str:
        """`daily` or `idle` instead of `rollover`, if the successor's start or a live observation tells which."""
        if reason != "rollover":
            return reason
        session = seen.session
        position = self._cursors.get(seen.key)
        session_key = session.session_key or (position.session_key if position else None)
        if session_key is None:
            return reason
        start = self._successor_start(session.agent_id, session_key) or (self._store.now() if seen.live else None)
        return session.newest_source.rollover_reason(last, start)

    def _fields(self, session: RecordedSession, distilled: DistilledStretch) -> dict[str, Any]:
        # explicit None: an unknown value replaces an earlier one
        fields = {"last_topic": None, "next_step": None, "tokens": None, **distilled.signals.to_fields()}
        if fields["tokens"] and session.context_tokens:
            fields["tokens"]["window"] = session.context_tokens
        last = fields.pop("end_time", None) or session.updated_at or self._store.now()
        fields.setdefault("start_time", last)
        fields["updated_at"] = last
        given = (session.agent_id, session.channel, session.session_key)
        fields |= {
            name: value for name, value in zip(_TAKEN_OVER, given, strict=True) if value not in (None, "unknown")
        }
        return fields

    def _folded(self, session_id: str) -> SessionFold | None:
        try:
            return self._store.folded(session_id)
        except SessionNotFound:
            return None

    def pinned_at_end(self, session_id: str) -> dict[str, Any]:
        """The pins at the moment of a live end, which no transcript records (decision 52)."""
        if self._pin_file is None:
            return {}
        found = restore.PinFile(self._pin_file, self._store).read()
        if found.problem:
            # a broken pin file yields no pins and is left unchanged
            log.warning("no pins captured: %s", found.problem)
        folded = self._folded(session_id)
        if not found.pins or folded is None:
            return {}
        scope = restore.Scope.of_session(self._scope or "conversation", folded.state())
        own = restore.own_pins(found.pins, scope, session_id, self._store.index.entries(), self._store.now())
        if len(own) < len(found.pins):
            log.warning(
                "%d of %d pins are not taken for those of %s: another conversation was open when they were set",
                len(found.pins) - len(own), len(found.pins), session_id,
            )  # fmt: skip
        if not own:
            return {}
        pins = [pin.to_dict() for pin in own]
        return _with_earlier_pins({"working_memory": pins, _PINS_CAPTURED: True}, folded, always=True)


def _with_earlier_pins(fields: Mapping[str, Any], folded: SessionFold, *, always: bool = False) -> dict[str, Any]:
    """`fields` with the pins captured at a live end kept: no transcript could bring them back."""
    layer = folded.layers.get("watcher", {})
    given = dict(fields)
    earlier = layer.get("working_memory") or []
    if not earlier or not (always or layer.get(_PINS_CAPTURED)):
        return given
    new = given.get("working_memory") or []
    have = {pin.key for pin in read_parts(WorkingMemoryPin, new)}
    kept = [pin.to_dict() for pin in read_parts(WorkingMemoryPin, earlier) if pin.key not in have]
    given["working_memory"] = [*new, *kept]
    return given


def _whose(agent_id: str, channel: str, fields: Mapping[str, Any]) -> str:
    """Agent, channel and project of a session, as far as they are known, for the log."""
    projects = fields.get("active_projects") or ["no project"]
    return ", ".join(filter(None, (agent_id, channel if channel != "unknown" else None, redact_text(projects[0]))))


def _is_final(folded: SessionFold, fields: Mapping[str, Any]) -> bool:
    """Whether a stretch closed by a reset is unchanged: then it is not written again, archived or not."""
    if not folded.ended or not (folded.source or {}).get("final"):
        return False
    layer = folded.layers.get("watcher", {})
    given = clean(_with_earlier_pins(fields, folded))
    return all(layer.get(name) == value for name, value in given.items() if name not in EVENT_FIELDS)


def _was_ended_by_mistake(folded: SessionFold) -> bool:
    """Whether the recorded end was wrong: the transcript was only out of its place, or the reset was rewritten away."""
    if set(folded.ends) != {"watcher"}:
        return False
    return folded.ends["watcher"].get("reason") in MISSED or bool((folded.source or {}).get("final"))


def _end_time(folded: SessionFold) -> str | None:
    end: str | None = folded.to_dict()["end_time"]
    return end


def any_of_older_rules(store: SessionStore) -> bool:
    """Whether the session that was read last was distilled by older rules, in which case all before it were."""
    ended = ((entry.get("end_time") or "", one) for one, entry in store.index.lazy_entries().items())
    for _, session_id in nlargest(_LOOKED_AT, ended):
        try:
            source = store.folded(session_id).source
        except (SessionForgotten, SessionNotFound):
            continue
        if source:
            return source.get("rules") != RULES
    return False
