"""What is written of a session: its start, what became known since, its end, each only if it is news."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jsonlstore.core.errors import SessionForgotten, SessionNotFound
from jsonlstore.core.paths import shorten_home
from jsonlstore.redact import redact_text
from jsonlstore.store.fold import OWN_FOLD
from jsonlstore.store.sanitise import clean
from jsonlstore.transcripts.openclaw.endings import MISSED, corrects, rollover_reason
from jsonlstore.watch.cursors import Key, Known, Ledger, how_far
from jsonlstore.watch.pins import pins_now, with_earlier_pins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from jsonlstore.store.fold import SessionFold
    from jsonlstore.store.store import SessionStore
    from jsonlstore.transcripts.catalogue import Session
    from jsonlstore.watch.follower import Follower, Told

log = logging.getLogger("jsonlstore.watch")

_TAKEN_OVER = ("agent_id", "channel", "session_key")


class Scribe:
    """Writes what transcripts tell into our logs, and keeps the ledger in step."""

    def __init__(
        self,
        store: SessionStore,
        ledger: Ledger,
        pin_file: Path | None,
        successor_start: Callable[[str, str], str | None],
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._pin_file = pin_file
        self._successor_start = successor_start

    def source(self, session: Session, told: Told, follower: Follower, mark: str, *, final: bool) -> dict[str, Any]:
        """The cursor as it travels with the state; `final` for a stretch that a reset has closed."""
        assert follower.cursor is not None
        transcript = session.copies[-1][1]
        return {
            **follower.cursor.to_json(),
            "agent_id": session.agent_id,
            "session_id": session.session_id,
            "stretch": told.stretch.number,
            "last_at": told.signals.end_time,
            "mark": mark if not follower.problems else None,  # a copy that could not be read is worth another look
            "file": self._shown(transcript.path),
            "final": final,
        }

    def moved(self, known: Known, session: Session, mark: str) -> dict[str, Any] | None:
        """The cursor of a transcript that was read before and only has another name now."""
        folded = self._folded(known.session_id)
        if folded is None or not folded.source or folded.source.get("final"):
            return None
        return {**folded.source, "mark": mark, "file": self._shown(session.copies[-1][1].path)}

    def lay_below(self, session_id: str, directory: str) -> bool:
        """Whether a session was last read from a file in `directory` of the state directory."""
        folded = self._folded(session_id)
        file = folded.source.get("file") if folded and folded.source else None
        return isinstance(file, str) and file.startswith(directory)

    def _shown(self, path: Path) -> str:
        try:
            shown = os.fspath(path.relative_to(self._store.paths.state_dir))
        except ValueError:
            shown = shorten_home(path)
        return redact_text(shown)

    def keep(
        self,
        key: Key,
        session: Session,
        told: Told,
        source: dict[str, Any],
        reason: str | None,
        before: str | None,
        *,
        live: bool,
    ) -> bool:
        """Start, update, resume and end one stretch's session, each only if it is news."""
        session_id = told.stretch.id
        fields = self._fields(session, told)
        last = told.signals.end_time or fields["updated_at"]
        try:
            folded = self._folded(session_id)
            if folded is not None and source["final"] and _is_settled(folded, fields):
                return False
            was_open = folded is not None and not folded.ended
            if folded is None:
                wrote = self._begin(session, session_id, fields, source, before)
                folded = self._folded(session_id)
                assert folded is not None
                if not wrote:
                    wrote = self._update(session_id, folded, fields, source)
            else:
                if reason is None and folded.ended and (last > (_end_time(folded) or "") or _was_no_end(folded)):
                    self._store.resume(session_id, by="watcher")
                    log.info("%s woke up again", session_id)
                wrote = self._update(session_id, folded, fields, source)
        except SessionForgotten:
            self._ledger.forget(session_id)
            return False
        kept = self._folded(session_id) or folded
        known = self._known(session_id, told, source, kept)
        self._ledger.put(key, known)
        if reason is not None:
            at_end = self.pinned_at_end(session_id) if live and was_open else {}
            wrote |= self.end(key, known, self.refined(reason, session, last, live=live), last, at_end)
        return wrote

    def _begin(
        self, session: Session, session_id: str, fields: dict[str, Any], source: dict[str, Any], before: str | None
    ) -> bool:
        previous = before
        if previous is None or self._ledger.is_forgotten(previous):
            previous = self._ledger.previous(
                session.agent_id, fields["start_time"], session.channel, session.session_key, session_id
            )
        if previous:
            fields = {**fields, "previous_session_id": previous}
        started = self._store.start(session_id, by="watcher", source=source, **fields)
        if started:
            log.info("%s started (%s, %s)", session_id, session.agent_id, session.channel)
        return started

    def _update(self, session_id: str, folded: SessionFold, fields: dict[str, Any], source: dict[str, Any]) -> bool:
        fields = with_earlier_pins(fields, folded)
        return self._store.update(session_id, fields, by="watcher", source=source, expect_source=folded.source)

    def end(
        self,
        key: Key,
        known: Known,
        reason: str,
        last: str | None,
        fields: Mapping[str, Any] | None = None,
        source: Mapping[str, Any] | None = None,
    ) -> bool:
        reason = reason if known.end_reason is None or corrects(reason, known.end_reason) else known.end_reason
        try:
            done = self._store.end(known.session_id, fields, reason=reason, end_time=last, by="watcher", source=source)
            end_time = _end_time(self._store.folded(known.session_id))
        except (SessionForgotten, SessionNotFound):
            self._ledger.forget(known.session_id)
            return False
        if done:
            log.info("%s ended: %s", known.session_id, reason)
        mark = source["mark"] if source else known.mark
        self._ledger.put(key, replace(known, ended=True, end_time=end_time, end_reason=reason, mark=mark))
        return done

    def wake(self, key: Key, known: Known) -> bool:
        """Reopen a session that only we took for ended, and that turns out to be somebody's as it was."""
        folded = self._folded(known.session_id)
        if folded is None or set(folded.ends) != {"watcher"} or not folded.ended:
            return False
        self._store.resume(known.session_id, by="watcher")
        log.info("%s is back", known.session_id)
        self._ledger.put(key, replace(known, ended=False, end_time=None, end_reason=None))
        return True

    def refined(self, reason: str, session: Session, last: str | None, *, live: bool) -> str:
        """`daily` or `idle` where the successor's first words, or our having been there, tell which."""
        if reason != "rollover":
            return reason
        known = self._ledger.get((session.agent_id, session.session_id))
        session_key = session.session_key or (known.session_key if known else None)
        if session_key is None:
            return reason
        moved_on = self._successor_start(session.agent_id, session_key) or (self._store.now() if live else None)
        return rollover_reason(last, moved_on)

    def _fields(self, session: Session, told: Told) -> dict[str, Any]:
        # said outright: what is not known any more replaces what was thought before
        fields = {"last_topic": None, "next_step": None, **told.signals.to_fields()}
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

    def _known(self, session_id: str, told: Told, source: Mapping[str, Any], folded: SessionFold) -> Known:
        state = folded.to_dict()
        mark, cursor = how_far(source)
        return Known(
            session_id,
            stretch=told.stretch.number,
            mark=mark,
            cursor=cursor,
            ended=folded.ended,
            session_key=state["session_key"],
            channel=state["channel"],
            last_at=source.get("last_at") or state["updated_at"],
            end_time=state["end_time"],
            end_reason=state["end_reason"],
        )

    def pinned_at_end(self, session_id: str) -> dict[str, Any]:
        """What is pinned at the moment of a live end, beside what the transcript tells (DECISION 52)."""
        pins = pins_now(self._pin_file, self._store) if self._pin_file else []
        folded = self._folded(session_id)
        if not pins or folded is None:
            return {}
        return with_earlier_pins({"working_memory": pins, "pins_captured": True}, folded, always=True)


def _is_settled(folded: SessionFold, fields: Mapping[str, Any]) -> bool:
    """Whether a stretch that was closed before still is what it was: then it stays where it is, archived or not."""
    if not folded.ended or not (folded.source or {}).get("final"):
        return False
    layer = folded.layers.get("watcher", {})
    given = clean(with_earlier_pins(fields, folded))
    return all(layer.get(name) == value for name, value in given.items() if name not in OWN_FOLD)


def _was_no_end(folded: SessionFold) -> bool:
    """Whether all that ended the session was that its transcript was missed, or a reset that was taken back since."""
    if set(folded.ends) != {"watcher"}:
        return False
    return folded.ends["watcher"].get("reason") in MISSED or bool((folded.source or {}).get("final"))


def _end_time(folded: SessionFold) -> str | None:
    end: str | None = folded.to_dict()["end_time"]
    return end
