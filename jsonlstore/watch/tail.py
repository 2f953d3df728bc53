"""`catch_up`: from the cursor in a session's own log to the end of its transcript, idempotent.

Everything is computed outside the lock and appended only if the log's cursor still is the one it started from. What
was derived from a transcript replaces what was derived from it before, so reading again never counts twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from enum import Enum
from itertools import zip_longest
from pathlib import Path
from typing import Any

from jsonlstore.core.config import Config
from jsonlstore.core.errors import InvalidSessionId, SourceUnreadable, StaleSource
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import check_session_id
from jsonlstore.core.session_key import SKIPPED_BY_DEFAULT
from jsonlstore.signals.options import SignalOptions
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.transcripts.runtimes import runtimes
from jsonlstore.transcripts.session import Session
from jsonlstore.transcripts.source import LIVE
from jsonlstore.watch.cursors import GONE, INFERRED, MISSED, VANISHED, Cursors, Key, Position
from jsonlstore.watch.follower import DistilledStretch, Follower
from jsonlstore.watch.writer import Observation, SessionWriter

log = logger("jsonlstore.watch")


class Progress(Enum):
    """What one call did."""

    NOTHING = "nothing new"
    WRITTEN = "written"
    MORE = "more to read"
    REFUSED = "not ours to keep"


def skipped_by(config: Config) -> AbstractSet[str]:
    """Which kinds of sessions are nobody's conversation, and left out."""
    return frozenset() if config.capture_subagents else SKIPPED_BY_DEFAULT


class Tailer:
    """Brings our logs up to date with the transcripts, one session per call."""

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
        self.again = False  # read every transcript once more: today's rules may tell more than those of its time
        self._renewed: set[Key] = set()
        self._warned: set[str] = set()
        self.cursors = Cursors(store)
        self._writer = SessionWriter(store, self.cursors, pin_file, successor_start)

    @classmethod
    def of(cls, store: SessionStore, config: Config, catalogue: Catalogue, *, live: bool = False) -> Tailer:
        """A tailer with the settings of `config`; a live one captures the pins of the moment a session ends."""
        options = SignalOptions(project_roots=config.project_roots, pending_stages=frozenset(config.pending_stages))
        pin_file = store.paths.state_dir / os.path.expanduser(config.working_memory)
        return cls(store, options, pin_file=pin_file if live else None, successor_start=catalogue.successor_start)

    def catch_up(self, session: Session, *, live: bool = False, seconds: float = float("inf")) -> Progress:
        """Make our log say what the transcript says, working for about `seconds`.

        `live`: the session's end, if it is found now, happened just now, so what is pinned now belongs to it.
        """
        seen = Observation(session, session.extent, session.end_reason, live)
        progress = self._catch_up(seen, seconds) if self.accepts(session) else Progress.REFUSED
        if progress is not Progress.MORE:
            self.cursors.settle(seen.key, session, seen.extent)
        return progress

    def _catch_up(self, seen: Observation, seconds: float) -> Progress:
        key, session = seen.key, seen.session
        position = self.cursors.get(key)
        follower = self.cursors.follower(key)
        if follower is None or not follower.reading:
            back = position is not None and seen.reason is None and _is_back(session, position)
            over = position is None or position.is_over(seen.reason)
            if self.cursors.settled_extent(key) == seen.extent and over and not back:
                log.debug("%s: nothing has changed since it was last read", key[1])
                return self._rename(seen, position)
            if position is not None and self._is_read(session, position, seen.extent, follower):
                log.debug("%s: everything in it is in our log", key[1])
                return self._only_end(seen, position)
        if follower is None:
            follower = Follower(key[1], self._options)
            log.debug("%s: %s", key[1], "there is more in it than in our log" if position else "not in our log yet")
        self.cursors.follow(key, follower)
        if not follower.advance(session, seconds):
            log.debug("%s: more to read than one turn allows, the others come first", key[1])
            return Progress.MORE
        self._renewed.add(key)
        return self._commit(seen, follower)

    def is_behind(self, session: Session) -> bool:
        """Whether there is anything in the transcript that our log does not have."""
        position = self.cursors.get(session.key)
        return position is None or not self._is_read(session, position, session.extent, None)

    def vanish(self, key: Key, position: Position) -> bool:
        """The transcript of an open session is gone for good: it ended with its last entry."""
        self.cursors.release(key)
        self.cursors.unsettle(key)
        return self._writer.end(key, position, VANISHED, position.last_at)

    # what there is to do

    def accepts(self, session: Session) -> bool:
        """Whether to keep this session: not one that was forgotten, nor another agent's seen through a link."""
        session_id = session.session_id
        # a session that keeps its id over resets may have later stretches, which nobody asked to forget
        if self.cursors.is_forgotten(session_id) and not any(one.ids_span_resets for one, _ in session.copies):
            log.debug("%s: left out, it was forgotten", session_id)
            return False
        try:
            check_session_id(session_id)
        except InvalidSessionId as problem:
            self._warn_once(session_id, f"skipped: {problem.message}")
            return False
        owner = self.other_owner(session)
        if owner is None:
            return True
        if self._has_left(owner, session_id):
            log.info("%s is agent %s's now, it was %s's", session_id, session.agent_id, owner)
            self.cursors.hand_over(session_id, session.agent_id)
            return True
        self._warn_once(
            f"{session.agent_id}:{session_id}",
            f"{session_id} is also found under agent {session.agent_id}; it is kept as {owner}'s",
        )
        return False

    def other_owner(self, session: Session) -> str | None:
        """The other agent whose session this is, as far as we know."""
        owner = self.cursors.owner(session.session_id)
        return owner if owner != session.agent_id else None

    def _has_left(self, agent: str, session_id: str) -> bool:
        """Whether an agent surely does not have a session any more: it was renamed, or the transcript was moved."""
        position = self.cursors.get((agent, session_id))
        if position is None:
            return False
        if position.end_reason in GONE:
            return True
        file = self._writer.file_of(position.session_id)
        state_dir = self._store.paths.state_dir
        return file is not None and any(one.agent_is_gone(state_dir, agent, file) for one in runtimes())

    def _warn_once(self, what: str, message: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            log.warning("%s", message)

    def _is_read(self, session: Session, position: Position, extent: str, follower: Follower | None) -> bool:
        if self.again and (session.agent_id, session.session_id) not in self._renewed:
            return False
        if position.extent == extent:
            return True
        if follower is not None or len(session.copies) != 1 or position.cursor is None:
            return False
        # the file was touched, or a line is still being written: look for a complete one before reading it all
        source, transcript = session.copies[0]
        return transcript.state == LIVE and not source.has_new(transcript, position.cursor)

    def _rename(self, seen: Observation, position: Position | None) -> Progress:
        """Record a channel or session key that was not known, or changed."""
        if position is None or position.ended:
            return Progress.NOTHING
        found = {"session_key": seen.session.session_key, "channel": seen.session.channel}
        learned: dict[str, Any] = {
            name: value for name, value in found.items() if value not in (None, "unknown", getattr(position, name))
        }
        if not learned:
            return Progress.NOTHING
        log.debug("%s: its %s is known now", seen.key[1], " and ".join(learned))
        written = self._store.update(position.session_id, learned, by="watcher")
        self.cursors.put(seen.key, replace(position, **learned))
        return Progress.WRITTEN if written else Progress.NOTHING

    def _only_end(self, seen: Observation, position: Position, *, read_on: bool = False) -> Progress:
        """Nothing new to read; perhaps the runtime has moved on since. `read_on`: it was read to its end just now."""
        reason = seen.reason
        if reason is None and _is_back(seen.session, position) and self._writer.reopen(seen.key, position):
            return Progress.WRITTEN
        if reason is None or position.is_over(reason):
            log.debug("%s: %s", seen.key[1], f"that it ended ({reason}) is no news" if reason else "has not ended")
            return self._rename(seen, position)
        pins = self._writer.pinned_at_end(position.session_id) if seen.live and not position.ended else {}
        refined = self._writer.refined(reason, seen, position.last_at)
        moved = self._writer.moved(position, seen) if read_on else None
        done = self._writer.end(seen.key, position, refined, position.last_at, pins, moved)
        return Progress.WRITTEN if done else Progress.NOTHING

    # writing

    def _commit(self, seen: Observation, follower: Follower) -> Progress:
        key = seen.key
        position = self.cursors.get(key)
        if not follower.fresh and not follower.rebuilt:
            # a line is still being written, or a file was renamed
            log.debug("%s: nothing new that is complete", key[1])
            return Progress.NOTHING if position is None else self._only_end(seen, position, read_on=True)
        stretches = follower.distilled()
        end = f"ended ({seen.reason})" if seen.reason else "still open"
        log.debug("%s: %d stretches, the last one %s", key[1], len(stretches), end)
        try:
            wrote = self._end_what_was_cut(seen, position, stretches, follower)
            wrote |= self._write(seen, follower, stretches)
        except StaleSource as problem:
            log.debug("%s; reading it again", problem.message)
            self.cursors.discard(key)
            return Progress.MORE
        if seen.reason is not None:
            self.cursors.release(key)
        else:
            follower.settle(seen.session)
        if not wrote:
            log.debug("%s: what was read changes nothing we keep", key[1])
        return Progress.WRITTEN if wrote else Progress.NOTHING

    def _write(self, seen: Observation, follower: Follower, stretches: list[DistilledStretch]) -> bool:
        """Each stretch as a session of its own; all but the last were ended by the reset that begins the next."""
        wrote, before = False, None
        for one, following in zip_longest(stretches, stretches[1:]):
            why = seen.reason
            if following:
                why = seen.session.newest_source.end_reason(following.stretch.begun_by or "reset")
            if one.entries:
                source = self._writer.source(seen, one, follower, final=following is not None)
                wrote |= self._writer.keep(replace(seen, reason=why), one, source, before)
            before = one.stretch.id
        return wrote

    def _end_what_was_cut(
        self, seen: Observation, position: Position | None, stretches: list[DistilledStretch], follower: Follower
    ) -> bool:
        """A rewrite may take back a reset: the stretch it had begun is gone, and the one before goes on."""
        if position is None or position.stretch <= stretches[-1].stretch.number:
            return False
        if follower.problems or any(source.warnings for source, _ in seen.session.copies):
            # the reset may be in what cannot be read for the moment, and then it is not gone
            raise SourceUnreadable(f"not all of {seen.session.session_id} can be read")
        done = not position.ended and self._writer.end(seen.key, position, VANISHED, position.last_at)
        self.cursors.remove(seen.key)
        return done


def _is_back(session: Session, position: Position) -> bool:
    """Whether a session with nothing new in it is open after all: it was missed, or given up for another.

    That nobody says it is over does not show that; an index that cannot be read says nothing about anybody.
    """
    named = [one.session_key is not None for _, one in session.copies if one.state == LIVE]
    return (position.end_reason in MISSED and bool(named)) or (position.end_reason in INFERRED and any(named))
