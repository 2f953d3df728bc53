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

from jsonlstore.core.errors import InvalidSessionId, SourceUnreadable, StaleSource
from jsonlstore.core.paths import check_session_id
from jsonlstore.signals.options import SignalOptions
from jsonlstore.transcripts.openclaw.endings import INFERRED, MISSED, ending_of, reason_of
from jsonlstore.watch.cursors import Key, Known, Ledger
from jsonlstore.watch.follower import Follower, mark_of
from jsonlstore.watch.writer import Scribe

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from jsonlstore.store.store import SessionStore
    from jsonlstore.transcripts.catalogue import Session
    from jsonlstore.watch.follower import Told

log = logging.getLogger("jsonlstore.watch")

FOLLOWED_AT_ONCE = 32


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
        again: bool = False,
    ) -> None:
        """`again`: read every transcript once more, because today's rules may tell more than those of its time."""
        self._again = again
        self._renewed: set[Key] = set()
        self._store = store
        self._options = options or SignalOptions()
        self._followers: OrderedDict[Key, Follower] = OrderedDict()
        self._quiet: dict[Key, str] = {}
        self._warned: set[str] = set()
        self.ledger = Ledger(store)
        self._scribe = Scribe(store, self.ledger, pin_file, successor_start)

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
        back = known is not None and ending is None and _is_back(session, known)
        if follower is None or not follower.reading:
            if self._quiet.get(key) == mark and (known is None or known.is_over(ending)) and not back:
                log.debug("%s: nothing has changed since it was last read", key[1])
                return self._rename(key, known, session)
            if known is not None and self._is_read(session, known, mark, follower):
                log.debug("%s: everything in it is in our log", key[1])
                return self._only_end(key, known, session, ending, live=live)
        if follower is None:
            follower = self._follow(key)
            log.debug("%s: %s", key[1], "there is more in it than in our log" if known else "not in our log yet")
        self._followers.move_to_end(key)
        if not follower.advance(session, seconds):
            log.debug("%s: more to read than one turn allows, the others come first", key[1])
            return Outcome.MORE
        self._renewed.add(key)
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
        return self._scribe.end(key, known, "forgotten", known.last_at)

    # what there is to do

    def wants(self, session: Session) -> bool:
        """Whether to keep this session: not one that was forgotten, nor another agent's seen through a link."""
        session_id = session.session_id
        if self.ledger.is_forgotten(session_id) and all(copy.kind == "jsonl" for _, copy in session.copies):
            # a database may hold later stretches under the same id, which nobody asked to forget
            log.debug("%s: left out, it was forgotten", session_id)
            return False
        try:
            check_session_id(session_id)
        except InvalidSessionId as problem:
            self._warn_once(session_id, f"skipped: {problem.message}")
            return False
        owner = self.rival(session)
        if owner is None:
            return True
        if self._has_left(owner, session_id):
            log.info("%s is agent %s's now, it was %s's", session_id, session.agent_id, owner)
            self.ledger.hand_over(session_id, session.agent_id)
            return True
        self._warn_once(
            f"{session.agent_id}:{session_id}",
            f"{session_id} is also found under agent {session.agent_id}; it is kept as {owner}'s",
        )
        return False

    def rival(self, session: Session) -> str | None:
        """The other agent whose session this is, as far as we know."""
        owner = self.ledger.owner(session.session_id)
        return owner if owner != session.agent_id else None

    def _has_left(self, agent: str, session_id: str) -> bool:
        """Whether an agent surely does not have a session any more: it was renamed, or the transcript was moved."""
        known = self.ledger.get((agent, session_id))
        if known is None:
            return False
        if known.end_reason == "forgotten":
            return True
        if not self._scribe.lay_below(known.session_id, f"agents/{agent}/"):
            return False  # read from elsewhere, or from a database of many agents: it never had a directory to lose
        try:
            os.stat(self._store.paths.agents / agent)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return False

    def _warn_once(self, what: str, message: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            log.warning("%s", message)

    def _is_read(self, session: Session, known: Known, mark: str, follower: Follower | None) -> bool:
        if self._again and (session.agent_id, session.session_id) not in self._renewed:
            return False
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
        log.debug("%s: its %s is known now", key[1], " and ".join(learned))
        written = self._store.update(known.session_id, learned, by="watcher")
        session_key, channel = (learned.get(name, getattr(known, name)) for name in ("session_key", "channel"))
        self.ledger.put(key, replace(known, session_key=session_key, channel=channel))
        return Outcome.WRITTEN if written else Outcome.NOTHING

    def _only_end(
        self, key: Key, known: Known, session: Session, ending: str | None, *, live: bool, mark: str | None = None
    ) -> Outcome:
        """Nothing new to read; perhaps the runtime has moved on since. With `mark` that is what was read to its end."""
        if ending is None and _is_back(session, known) and self._scribe.wake(key, known):
            return Outcome.WRITTEN
        if ending is None or known.is_over(ending):
            log.debug("%s: %s", key[1], f"that it ended ({ending}) is no news" if ending else "has not ended")
            self._quiet[key] = mark_of(session)
            return self._rename(key, known, session)
        fields: dict[str, Any] = self._scribe.pinned_at_end(known.session_id) if live and not known.ended else {}
        reason = self._scribe.refined(ending, session, known.last_at, live=live)
        moved = self._scribe.moved(known, session, mark) if mark else None
        done = self._scribe.end(key, known, reason, known.last_at, fields, moved)
        return Outcome.WRITTEN if done else Outcome.NOTHING

    # writing

    def _commit(
        self, key: Key, follower: Follower, session: Session, mark: str, ending: str | None, *, live: bool
    ) -> Outcome:
        known = self.ledger.get(key)
        if not follower.fresh and not follower.rebuilt:
            # a line is still being written, or a file was renamed
            log.debug("%s: nothing new that is complete", key[1])
            if known is not None:
                return self._only_end(key, known, session, ending, live=live, mark=mark)
            self._quiet[key] = mark
            return Outcome.NOTHING
        told = follower.told()
        log.debug(
            "%s: %d stretches, the last one %s", key[1], len(told), f"ended ({ending})" if ending else "still open"
        )
        wrote = False
        try:
            wrote |= self._end_what_was_cut(key, known, told, session, follower)
            before: str | None = None
            for number, one in enumerate(told):
                following = told[number + 1].stretch if number + 1 < len(told) else None
                reason = reason_of(following.begun_by) if following else ending
                if one.entries:
                    source = self._scribe.source(session, one, follower, mark, final=following is not None)
                    wrote |= self._scribe.keep(key, session, one, source, reason, before, live=live)
                before = one.stretch.id
        except StaleSource as problem:
            log.debug("%s; reading it again", problem.message)
            self.discard(key)
            return Outcome.MORE
        self._quiet[key] = mark
        if ending is not None:
            self.release(key)
        else:
            follower.settle(session)
        if not wrote:
            log.debug("%s: what was read changes nothing we keep", key[1])
        return Outcome.WRITTEN if wrote else Outcome.NOTHING

    def _end_what_was_cut(
        self, key: Key, known: Known | None, told: list[Told], session: Session, follower: Follower
    ) -> bool:
        """A rewrite may take back a reset: the stretch it had begun is gone, and the one before goes on."""
        if known is None or known.stretch <= told[-1].stretch.number:
            return False
        if follower.problems or any(source.warnings for source, _ in session.copies):
            # the reset may be in what cannot be read for the moment, and then it is not gone
            raise SourceUnreadable(f"not all of {session.session_id} can be read")
        done = not known.ended and self._scribe.end(key, known, "forgotten", known.last_at)
        self.ledger.remove(key)
        return done


def _is_back(session: Session, known: Known) -> bool:
    """Whether a session with nothing new in it shows that its end was none: it was missed, or given up for another.

    That nobody says it is over does not show that; an index that cannot be read says nothing about anybody.
    """
    named = [one.session_key is not None for _, one in session.copies if one.state == "live"]
    return (known.end_reason in MISSED and bool(named)) or (known.end_reason in INFERRED and any(named))
