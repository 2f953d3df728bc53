"""`catch_up`: from the cursor in a session's own log to the end of its transcript, idempotent.

Everything is computed outside the lock and appended only if the log's cursor still is the one it started from. What
was derived from a transcript replaces what was derived from it before, so reading again never counts twice.
"""

from __future__ import annotations

import logging
import os
from collections import OrderedDict
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from jsonlstore.errors import InvalidSessionId, SessionForgotten, SessionNotFound, StaleSource
from jsonlstore.paths import check_session_id, shorten_home
from jsonlstore.signals.options import SignalOptions
from jsonlstore.store.cleaning import clean
from jsonlstore.store.state import OWN_FOLD
from jsonlstore.watch.endings import corrects, ending_of, reason_of, rollover_reason
from jsonlstore.watch.follower import Follower, Told, mark_of
from jsonlstore.watch.ledger import Key, Known, Ledger, how_far
from jsonlstore.watch.pinned import pins_now, with_earlier_pins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from jsonlstore.store.state import SessionFold
    from jsonlstore.store.store import SessionStore
    from jsonlstore.transcripts.library import Session

log = logging.getLogger("jsonlstore.watch")

FOLLOWED_AT_ONCE = 32
_TAKEN_OVER = ("agent_id", "channel", "session_key")


class Outcome(Enum):
    """What one call did."""

    NOTHING = "nothing new"
    WRITTEN = "written"
    MORE = "more to read"
    REFUSED = "not ours to keep"


class Tailer:
    """Brings our logs after the transcripts, one session per call."""

    def __init__(
        self,
        store: SessionStore,
        options: SignalOptions | None = None,
        *,
        pin_file: Path | None = None,
        successor_start: Callable[[str, str], str | None] = lambda _agent, _key: None,
    ) -> None:
        self._store = store
        self._options = options or SignalOptions()
        self._pin_file = pin_file
        self._successor_start = successor_start
        self._followers: OrderedDict[Key, Follower] = OrderedDict()
        self._quiet: dict[Key, str] = {}
        self._warned: set[str] = set()
        self.ledger = Ledger(store)

    def catch_up(self, session: Session, *, live: bool = False, seconds: float = float("inf")) -> Outcome:
        """Make our log say what the transcript says, working for about `seconds`.

        `live`: the session's end, if it is found now, happened just now, so what is pinned now belongs to it.
        """
        key = (session.agent_id, session.session_id)
        if not self.wants(session):
            return Outcome.REFUSED
        mark, ending = mark_of(session), ending_of(session)
        known = self.ledger.get(key)
        follower = self._followers.get(key)
        if follower is None or not follower.reading:
            if self._quiet.get(key) == mark and (known is None or known.is_over(ending)):
                return self._rename(key, known, session)
            if known is not None and self._is_read(session, known, mark, follower):
                return self._only_end(key, known, session, ending, live=live)
        if follower is None:
            follower = self._follow(key)
        self._followers.move_to_end(key)
        if not follower.advance(session, seconds):
            return Outcome.MORE
        return self._commit(key, follower, session, mark, ending, live=live)

    def is_behind(self, session: Session) -> bool:
        """Whether there is anything in the transcript that our log does not have."""
        known = self.ledger.get((session.agent_id, session.session_id))
        return known is None or not self._is_read(session, known, mark_of(session), None)

    def release(self, key: Key) -> None:
        """Let go of what is kept in memory for a session; its log has everything."""
        self._followers.pop(key, None)

    def discard(self, key: Key) -> None:
        """Something went wrong: begin again from what the log says."""
        self.release(key)
        self.ledger.drop(key)
        self._quiet.pop(key, None)

    def vanish(self, key: Key, known: Known) -> bool:
        """The transcript of an open session is gone for good: it ended with its last entry."""
        self.release(key)
        self._quiet.pop(key, None)
        return self._end(key, known, "forgotten", known.updated_at)

    # what there is to do

    def wants(self, session: Session) -> bool:
        """Whether to keep this session: not one that was forgotten, nor another agent's seen through a link."""
        session_id = session.session_id
        if self.ledger.is_forgotten(session_id) and all(copy.kind == "jsonl" for _, copy in session.copies):
            # a database may hold later stretches under the same id, which nobody asked to forget
            return False
        try:
            check_session_id(session_id)
        except InvalidSessionId as problem:
            self._warn_once(session_id, f"skipped: {problem.message}")
            return False
        owner = self.ledger.owner(session_id)
        if owner not in (None, session.agent_id):
            self._warn_once(
                f"{session.agent_id}:{session_id}",
                f"{session_id} is also found under agent {session.agent_id}; it is kept as {owner}'s",
            )
            return False
        return True

    def _warn_once(self, what: str, message: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            log.warning("%s", message)

    def _is_read(self, session: Session, known: Known, mark: str, follower: Follower | None) -> bool:
        if known.mark == mark:
            return True
        if follower is not None or len(session.copies) != 1 or known.cursor is None:
            return False
        # the file was touched, or a line is still being written: look for a complete one before reading it all
        source, transcript = session.copies[0]
        return transcript.state == "live" and not source.has_new(transcript, known.cursor)

    def _follow(self, key: Key) -> Follower:
        follower = self._followers[key] = Follower(key[1], self._options)
        while len(self._followers) > FOLLOWED_AT_ONCE:
            self._followers.popitem(last=False)
        return follower

    def _rename(self, key: Key, known: Known | None, session: Session) -> Outcome:
        """Record a channel or session key that was not known, or changed."""
        if known is None:
            return Outcome.NOTHING
        learned = {
            name: value
            for name, value, before in (
                ("session_key", session.session_key, known.session_key),
                ("channel", session.channel, known.channel),
            )
            if value not in (None, "unknown", before)
        }
        if not learned or known.ended:
            return Outcome.NOTHING
        written = self._store.update(known.session_id, learned, by="watcher")
        session_key, channel = (learned.get(name, getattr(known, name)) for name in ("session_key", "channel"))
        self.ledger.put(key, replace(known, session_key=session_key, channel=channel))
        return Outcome.WRITTEN if written else Outcome.NOTHING

    def _only_end(
        self, key: Key, known: Known, session: Session, ending: str | None, *, live: bool, mark: str | None = None
    ) -> Outcome:
        """Nothing new to read; perhaps the runtime has moved on since. With `mark` that is what was read to its end."""
        if ending is None or known.is_over(ending):
            self._quiet[key] = mark_of(session)
            return self._rename(key, known, session)
        fields: dict[str, Any] = self._pinned_at_end(known.session_id) if live and not known.ended else {}
        reason = self._refined(ending, session, known.updated_at, live=live)
        moved = self._moved(known, session, mark) if mark else None
        done = self._end(key, known, reason, known.updated_at, fields, moved)
        return Outcome.WRITTEN if done else Outcome.NOTHING

    # writing

    def _commit(
        self, key: Key, follower: Follower, session: Session, mark: str, ending: str | None, *, live: bool
    ) -> Outcome:
        known = self.ledger.get(key)
        if not follower.fresh and not follower.rebuilt:
            # a line is still being written, or a file was renamed
            if known is not None:
                return self._only_end(key, known, session, ending, live=live, mark=mark)
            self._quiet[key] = mark
            return Outcome.NOTHING
        told = follower.told()
        wrote = False
        try:
            before: str | None = None
            for number, one in enumerate(told):
                following = told[number + 1].stretch if number + 1 < len(told) else None
                reason = reason_of(following.begun_by) if following else ending
                if one.entries:
                    source = self._source(session, one, follower, mark, final=following is not None)
                    wrote |= self._keep(key, session, one, source, reason, before, live=live)
                before = one.stretch.id
        except StaleSource as problem:
            log.debug("%s; reading it again", problem.message)
            self.discard(key)
            return Outcome.MORE
        follower.settle()
        self._quiet[key] = mark
        if ending is not None:
            self.release(key)
        return Outcome.WRITTEN if wrote else Outcome.NOTHING

    def _source(self, session: Session, told: Told, follower: Follower, mark: str, *, final: bool) -> dict[str, Any]:
        """The cursor as it travels with the state; `final` for a stretch that a reset has closed."""
        assert follower.cursor is not None
        transcript = session.copies[-1][1]
        return {
            **follower.cursor.to_json(),
            "agent_id": session.agent_id,
            "session_id": session.session_id,
            "stretch": told.stretch.number,
            "mark": mark if not follower.problems else None,  # a copy that could not be read is worth another look
            "file": self._shown(transcript.path),
            "final": final,
        }

    def _moved(self, known: Known, session: Session, mark: str) -> dict[str, Any] | None:
        """The cursor of a transcript that was read before and only has another name now."""
        folded = self._folded(known.session_id)
        if folded is None or not folded.source or folded.source.get("final"):
            return None
        return {**folded.source, "mark": mark, "file": self._shown(session.copies[-1][1].path)}

    def _shown(self, path: Path) -> str:
        try:
            return os.fspath(path.relative_to(self._store.paths.state_dir))
        except ValueError:
            return shorten_home(path)

    def _keep(
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
                if reason is None and folded.ended and (last > (_end_time(folded) or "") or _was_only_moved(folded)):
                    self._store.resume(session_id, by="watcher")
                    log.info("%s woke up again", session_id)
                wrote = self._update(session_id, folded, fields, source)
        except SessionForgotten:
            self.ledger.forget(session_id)
            return False
        kept = self._folded(session_id) or folded
        known = self._known(session_id, told, source, kept)
        self.ledger.put(key, known)
        if reason is not None:
            at_end = self._pinned_at_end(session_id) if live and was_open else {}
            wrote |= self._end(key, known, self._refined(reason, session, last, live=live), last, at_end)
        return wrote

    def _begin(
        self, session: Session, session_id: str, fields: dict[str, Any], source: dict[str, Any], before: str | None
    ) -> bool:
        previous = before
        if previous is None or self.ledger.is_forgotten(previous):
            previous = self.ledger.previous(
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

    def _end(
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
            self.ledger.forget(known.session_id)
            return False
        if done:
            log.info("%s ended: %s", known.session_id, reason)
        mark = source["mark"] if source else known.mark
        self.ledger.put(key, replace(known, ended=True, end_time=end_time, end_reason=reason, mark=mark))
        return done

    def _refined(self, reason: str, session: Session, last: str | None, *, live: bool) -> str:
        """`daily` or `idle` where the successor's first words, or our having been there, tell which."""
        if reason != "rollover":
            return reason
        known = self.ledger.get((session.agent_id, session.session_id))
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
            updated_at=state["updated_at"],
            end_time=state["end_time"],
            end_reason=state["end_reason"],
        )

    def _pinned_at_end(self, session_id: str) -> dict[str, Any]:
        """What is pinned at the moment of a live end, beside what the transcript tells (DECISION 52)."""
        pins = pins_now(self._pin_file) if self._pin_file else []
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


def _was_only_moved(folded: SessionFold) -> bool:
    """Whether all that ended the session was that its transcript was not in its place, as during an import."""
    return set(folded.ends) == {"watcher"} and folded.ends["watcher"].get("reason") in ("import", "forgotten", "delete")


def _end_time(folded: SessionFold) -> str | None:
    end: str | None = folded.to_dict()["end_time"]
    return end
