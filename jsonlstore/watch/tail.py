"""`catch_up`: from the cursor in a session's own log to the end of its transcript, idempotent.

Everything is computed outside the lock and appended only if the log's cursor still is the one it started from. What
was derived from a transcript replaces what was derived from it before, so reading again never counts twice.
"""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from jsonlstore.core.errors import InvalidSessionId, SourceUnreadable, StaleSource
from jsonlstore.core.paths import check_session_id
from jsonlstore.core.session_key import SKIPPED_BY_DEFAULT
from jsonlstore.signals.options import SignalOptions
from jsonlstore.transcripts.runtimes import runtimes
from jsonlstore.transcripts.source import LIVE
from jsonlstore.watch.cursors import GONE, VANISHED, Cursors, Key, Position, is_inferred, is_missed
from jsonlstore.watch.follower import Follower
from jsonlstore.watch.writer import SessionWriter

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from jsonlstore.core.config import Config
    from jsonlstore.store.store import SessionStore
    from jsonlstore.transcripts.catalogue import Catalogue
    from jsonlstore.transcripts.session import Session
    from jsonlstore.watch.follower import DistilledStretch

log = logging.getLogger("jsonlstore.watch")


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
        key = (session.agent_id, session.session_id)
        extent = session.extent
        progress = self._catch_up(key, session, extent, live=live, seconds=seconds)
        if progress is not Progress.MORE:
            self.cursors.settle(key, session, extent)
        return progress

    def _catch_up(self, key: Key, session: Session, extent: str, *, live: bool, seconds: float) -> Progress:
        if not self.accepts(session):
            return Progress.REFUSED
        reason = session.end_reason
        position = self.cursors.get(key)
        follower = self.cursors.follower(key)
        if follower is None or not follower.reading:
            back = position is not None and reason is None and _is_back(session, position)
            over = position is None or position.is_over(reason)
            if self.cursors.settled_extent(key) == extent and over and not back:
                log.debug("%s: nothing has changed since it was last read", key[1])
                return self._rename(key, position, session)
            if position is not None and self._is_read(session, position, extent, follower):
                log.debug("%s: everything in it is in our log", key[1])
                return self._only_end(key, position, session, reason, live=live)
        if follower is None:
            follower = Follower(key[1], self._options)
            log.debug("%s: %s", key[1], "there is more in it than in our log" if position else "not in our log yet")
        self.cursors.follow(key, follower)
        if not follower.advance(session, seconds):
            log.debug("%s: more to read than one turn allows, the others come first", key[1])
            return Progress.MORE
        return self._commit(key, follower, session, extent, reason, live=live)

    def is_behind(self, session: Session) -> bool:
        """Whether there is anything in the transcript that our log does not have."""
        position = self.cursors.get((session.agent_id, session.session_id))
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

    @staticmethod
    def _is_read(session: Session, position: Position, extent: str, follower: Follower | None) -> bool:
        if position.extent == extent:
            return True
        if follower is not None or len(session.copies) != 1 or position.cursor is None:
            return False
        # the file was touched, or a line is still being written: look for a complete one before reading it all
        source, transcript = session.copies[0]
        return transcript.state == LIVE and not source.has_new(transcript, position.cursor)

    def _rename(self, key: Key, position: Position | None, session: Session) -> Progress:
        """Record a channel or session key that was not known, or changed."""
        if position is None:
            return Progress.NOTHING
        learned = {
            name: value
            for name, value, before in (
                ("session_key", session.session_key, position.session_key),
                ("channel", session.channel, position.channel),
            )
            if value not in (None, "unknown", before)
        }
        if not learned or position.ended:
            return Progress.NOTHING
        log.debug("%s: its %s is known now", key[1], " and ".join(learned))
        written = self._store.update(position.session_id, learned, by="watcher")
        session_key, channel = (learned.get(name, getattr(position, name)) for name in ("session_key", "channel"))
        self.cursors.put(key, replace(position, session_key=session_key, channel=channel))
        return Progress.WRITTEN if written else Progress.NOTHING

    def _only_end(
        self,
        key: Key,
        position: Position,
        session: Session,
        reason: str | None,
        *,
        live: bool,
        extent: str | None = None,
    ) -> Progress:
        """Nothing new to read; perhaps the runtime has moved on since. `extent`: up to there it was read just now."""
        if reason is None and _is_back(session, position) and self._writer.reopen(key, position):
            return Progress.WRITTEN
        if reason is None or position.is_over(reason):
            log.debug("%s: %s", key[1], f"that it ended ({reason}) is no news" if reason else "has not ended")
            return self._rename(key, position, session)
        fields: dict[str, Any] = self._writer.pinned_at_end(position.session_id) if live and not position.ended else {}
        refined = self._writer.refined(reason, session, position.last_at, live=live)
        moved = self._writer.moved(position, session, extent) if extent else None
        done = self._writer.end(key, position, refined, position.last_at, fields, moved)
        return Progress.WRITTEN if done else Progress.NOTHING

    # writing

    def _commit(
        self, key: Key, follower: Follower, session: Session, extent: str, reason: str | None, *, live: bool
    ) -> Progress:
        position = self.cursors.get(key)
        if not follower.fresh and not follower.rebuilt:
            # a line is still being written, or a file was renamed
            log.debug("%s: nothing new that is complete", key[1])
            if position is None:
                return Progress.NOTHING
            return self._only_end(key, position, session, reason, live=live, extent=extent)
        stretches = follower.distilled()
        log.debug(
            "%s: %d stretches, the last one %s", key[1], len(stretches), f"ended ({reason})" if reason else "still open"
        )
        try:
            wrote = self._end_what_was_cut(key, position, stretches, session, follower)
            wrote |= self._write(key, follower, stretches, session, extent, reason, live=live)
        except StaleSource as problem:
            log.debug("%s; reading it again", problem.message)
            self.cursors.discard(key)
            return Progress.MORE
        if reason is not None:
            self.cursors.release(key)
        else:
            follower.settle(session)
        if not wrote:
            log.debug("%s: what was read changes nothing we keep", key[1])
        return Progress.WRITTEN if wrote else Progress.NOTHING

    def _write(
        self,
        key: Key,
        follower: Follower,
        stretches: list[DistilledStretch],
        session: Session,
        extent: str,
        reason: str | None,
        *,
        live: bool,
    ) -> bool:
        """Each stretch as a session of its own; all but the last were ended by the reset that begins the next."""
        wrote, before = False, None
        for number, one in enumerate(stretches):
            following = stretches[number + 1].stretch if number + 1 < len(stretches) else None
            why = session.newest_source.end_reason(following.begun_by or "reset") if following else reason
            if one.entries:
                source = self._writer.source(session, one, follower, extent, final=following is not None)
                wrote |= self._writer.keep(key, session, one, source, why, before, live=live)
            before = one.stretch.id
        return wrote

    def _end_what_was_cut(
        self,
        key: Key,
        position: Position | None,
        stretches: list[DistilledStretch],
        session: Session,
        follower: Follower,
    ) -> bool:
        """A rewrite may take back a reset: the stretch it had begun is gone, and the one before goes on."""
        if position is None or position.stretch <= stretches[-1].stretch.number:
            return False
        if follower.problems or any(source.warnings for source, _ in session.copies):
            # the reset may be in what cannot be read for the moment, and then it is not gone
            raise SourceUnreadable(f"not all of {session.session_id} can be read")
        done = not position.ended and self._writer.end(key, position, VANISHED, position.last_at)
        self.cursors.remove(key)
        return done


def _is_back(session: Session, position: Position) -> bool:
    """Whether a session with nothing new in it is open after all: it was missed, or given up for another.

    That nobody says it is over does not show that; an index that cannot be read says nothing about anybody.
    """
    named = [one.session_key is not None for _, one in session.copies if one.state == LIVE]
    return (is_missed(position.end_reason) and bool(named)) or (is_inferred(position.end_reason) and any(named))
