"""`catch_up`: from the cursor in a session's own log to the end of its transcript, idempotent.

Everything is computed without a lock and appended only if the log's cursor is still the one it started from. What is
derived from a transcript replaces what was derived from it before, so reading it again never counts twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from enum import Enum
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore.core.config import Config
from jsonlstore.core.errors import InvalidSessionId, SourceUnreadable, StaleSource
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import check_session_id
from jsonlstore.core.session_key import SKIPPED_BY_DEFAULT
from jsonlstore.signals import SignalOptions
from jsonlstore.store import SessionStore
from jsonlstore.transcripts import LIVE, Catalogue, RecordedSession, registered_runtimes
from jsonlstore.watch.cursors import GONE, INFERRED, MISSED, VANISHED, Cursors, Key, Position
from jsonlstore.watch.follower import DistilledStretch, FinishedReading, Follower
from jsonlstore.watch.writer import Observation, SessionWriter

if TYPE_CHECKING:
    from jsonlstore.watch.checkpoints import Checkpoints
    from jsonlstore.watch.handoffs import HandoffTriggers

log = logger("jsonlstore.watch")


class Progress(Enum):
    """The outcome of one call."""

    NOTHING = "nothing new"
    WRITTEN = "written"
    MORE = "more to read"
    REFUSED = "not ours to keep"


def skipped_by(config: Config) -> AbstractSet[str]:
    """The kinds of sessions that are left out because they are not users' conversations."""
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
        handoffs: HandoffTriggers | None = None,
        heavy: tuple[int, int] = (32 * 1024, 10),
        scope: str | None = None,
    ) -> None:
        self._heavy = heavy if handoffs is not None else None
        self.handoffs = handoffs
        self._store = store
        self._options = options or SignalOptions()
        self.again = False  # whether to read every transcript again: today's rules may extract more than older ones did
        self._renewed: set[Key] = set()
        self._warned: set[str] = set()
        self.cursors = Cursors(store)
        self.others_wait: Callable[[], bool] = lambda: False  # asked while a long transcript is read
        self._checkpoints: Checkpoints | None = None
        self._writer = SessionWriter(store, self.cursors, pin_file, successor_start, handoffs, scope=scope)

    @classmethod
    def of(cls, store: SessionStore, config: Config, catalogue: Catalogue, *, live: bool = False) -> Tailer:
        """A tailer with the settings of `config`; a live one captures the pins when a session ends."""
        options = SignalOptions(project_roots=config.project_roots, pending_stages=frozenset(config.pending_stages))
        pin_file = store.paths.state_dir / os.path.expanduser(config.working_memory)
        tailer = cls(
            store,
            options,
            pin_file=pin_file if live else None,
            successor_start=catalogue.successor_start,
            handoffs=_handoffs(store, config) if live and config.handoff_enabled else None,
            heavy=(config.handoff_tool_bytes, config.handoff_tool_calls),
            scope=config.scope if live else None,
        )
        if live:
            from jsonlstore.watch.checkpoints import Checkpoints

            tailer._checkpoints = Checkpoints(store)
        return tailer

    def catch_up(
        self,
        session: RecordedSession,
        *,
        live: bool = False,
        seconds: float = float("inf"),
        done: FinishedReading | None = None,
    ) -> Progress:
        """Bring our log up to date with the transcript, for about `seconds`.

        With `live`, an end found now has just happened, so the present pins belong to the session. `done` is what was
        read of it already; it counts only if the transcript is still as it was.
        """
        seen = Observation(session, session.extent, session.end_reason, live)
        if done is not None and done.extent != seen.extent:
            done = None
        progress = self._catch_up(seen, seconds, done) if self.accepts(session) else Progress.REFUSED
        if progress is not Progress.MORE:
            self.cursors.settle(seen.key, session, seen.extent)
        return progress

    def follower(self, session: RecordedSession) -> Follower:
        """A follower that has read nothing yet."""
        return Follower(session.session_id, self._options, self._heavy, facts=self._checkpoints is not None)

    def _catch_up(self, seen: Observation, seconds: float, done: FinishedReading | None) -> Progress:
        key, session = seen.key, seen.session
        position = self.cursors.get(key)
        follower = self.cursors.follower(key)
        if follower is None or not follower.reading:
            back = position is not None and seen.reason is None and _is_open_again(session, position)
            over = position is None or position.is_over(seen.reason)
            if self.cursors.settled_extent(key) == seen.extent and over and not back:
                log.debug("%s: nothing has changed since it was last read", key[1])
                return self._record_names(seen, position)
            if position is not None and self._is_read(session, position, seen.extent, follower):
                log.debug("%s: everything in it is in our log", key[1])
                return self._record_end(seen, position)
        if follower is None:
            follower = self.follower(session)
            log.debug("%s: %s", key[1], "there is more in it than in our log" if position else "not in our log yet")
        self.cursors.follow(key, follower)
        if done is not None:
            follower.adopt(done)
        elif not follower.advance(session, seconds, self.others_wait):
            log.debug("%s: more to read than one turn allows, the others come first", key[1])
            return Progress.MORE
        self._renewed.add(key)
        return self._commit(seen, follower)

    def take_worded(self, *, wait: bool = False) -> None:
        """Record the checkpoints that a configured command has worded meanwhile."""
        if self._checkpoints is not None:
            self._checkpoints.take_worded(wait=wait)

    def is_behind(self, session: RecordedSession) -> bool:
        """Whether the transcript has anything that our log does not have."""
        position = self.cursors.get(session.key)
        return position is None or not self._is_read(session, position, session.extent, None)

    def vanish(self, key: Key, position: Position) -> bool:
        """End an open session whose transcript is gone, as of its last entry."""
        self.cursors.release(key)
        self.cursors.unsettle(key)
        return self._writer.end(key, position, VANISHED, position.last_at)

    # -- deciding what to do

    def accepts(self, session: RecordedSession) -> bool:
        """Whether to keep this session: it was not forgotten, and it is not another agent's session seen through a
        link.
        """
        session_id = session.session_id
        # a session that keeps its id over resets may have later stretches, which the user did not ask to forget
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

    def other_owner(self, session: RecordedSession) -> str | None:
        """The other agent that owns this session; None if there is none or it is unknown."""
        owner = self.cursors.owner(session.session_id)
        return owner if owner != session.agent_id else None

    def _has_left(self, agent: str, session_id: str) -> bool:
        """Whether an agent certainly no longer has a session: the agent was renamed, or the transcript was moved."""
        position = self.cursors.get((agent, session_id))
        if position is None:
            return False
        if position.end_reason in GONE:
            return True
        file = self._writer.file_of(position.session_id)
        state_dir = self._store.paths.state_dir
        return file is not None and any(one.agent_is_gone(state_dir, agent, file) for one in registered_runtimes())

    def _warn_once(self, what: str, message: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            log.warning("%s", message)

    def _is_read(self, session: RecordedSession, position: Position, extent: str, follower: Follower | None) -> bool:
        if self.again and (session.agent_id, session.session_id) not in self._renewed:
            return False
        if position.extent == extent:
            return True
        if follower is not None or len(session.copies) != 1 or position.cursor is None:
            return False
        # the file was touched, or a line is still being written: check for a complete line before reading all of it
        source, transcript = session.copies[0]
        return transcript.state == LIVE and not source.has_new(transcript, position.cursor)

    def _record_names(self, seen: Observation, position: Position | None) -> Progress:
        """Record a channel or session key that is new or changed."""
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

    def _record_end(self, seen: Observation, position: Position, *, read_on: bool = False) -> Progress:
        """Record an end or a reopening without anything new to read; `read_on`: it was read to its end just now."""
        reason = seen.reason
        if reason is None and _is_open_again(seen.session, position) and self._writer.reopen(seen.key, position):
            return Progress.WRITTEN
        if reason is None or position.is_over(reason):
            log.debug("%s: %s", seen.key[1], f"that it ended ({reason}) is no news" if reason else "has not ended")
            return self._record_names(seen, position)
        pins = self._writer.pinned_at_end(position.session_id) if seen.live and not position.ended else {}
        refined = self._writer.refined(reason, seen, position.last_at)
        moved = self._writer.moved(position, seen) if read_on else None
        done = self._writer.end(seen.key, position, refined, position.last_at, pins, moved)
        return Progress.WRITTEN if done else Progress.NOTHING

    # -- writing

    def _commit(self, seen: Observation, follower: Follower) -> Progress:
        key = seen.key
        position = self.cursors.get(key)
        if not follower.fresh and not follower.rebuilt:
            # a line is still being written, or a file was renamed
            log.debug("%s: nothing new that is complete", key[1])
            return Progress.NOTHING if position is None else self._record_end(seen, position, read_on=True)
        stretches = follower.distilled()
        end = f"ended ({seen.reason})" if seen.reason else "still open"
        log.debug("%s: %d stretches, the last one %s", key[1], len(stretches), end)
        try:
            wrote = self._end_removed_stretch(seen, position, stretches, follower)
            wrote |= self._write(seen, follower, stretches)
        except StaleSource as problem:
            log.debug("%s; reading it again", problem.message)
            self.cursors.discard(key)
            return Progress.MORE
        if seen.reason is not None:
            self.cursors.release(key)
        else:
            follower.settle(seen.session)
            self._note_turn(seen, stretches[-1], follower)
        if not wrote:
            log.debug("%s: what was read changes nothing we keep", key[1])
        return Progress.WRITTEN if wrote else Progress.NOTHING

    def _note_turn(self, seen: Observation, last: DistilledStretch, follower: Follower) -> None:
        """A checkpoint where one is due; the turn itself is in our log already."""
        if self._checkpoints is None or last.facts is None or not last.entries:
            return
        cursor = follower.cursor.to_json() if follower.cursor and len(seen.session.copies) == 1 else None
        window = seen.session.context_tokens
        self._checkpoints.after_turn(last.stretch.id, last.signals, last.facts, window, cursor)

    def _write(self, seen: Observation, follower: Follower, stretches: list[DistilledStretch]) -> bool:
        """Write each stretch as a session of its own; all but the last ended with the reset that begins the next."""
        wrote, before = False, None
        for one, following in zip_longest(stretches, stretches[1:]):
            why = seen.reason
            if following:
                why = seen.session.newest_source.end_reason(following.stretch.begun_by or "reset")
            if one.entries:
                source = self._writer.source(seen, one, follower, final=following is not None)
                if self.handoffs is not None:
                    self.handoffs.note(one.stretch.id, one.window, partial(follower.digest, seen.session))
                wrote |= self._writer.keep(replace(seen, reason=why), one, source, before)
            before = one.stretch.id
        return wrote

    def _end_removed_stretch(
        self, seen: Observation, position: Position | None, stretches: list[DistilledStretch], follower: Follower
    ) -> bool:
        """End the stretch whose reset a rewrite has removed; the stretch before it continues."""
        if position is None or position.stretch <= stretches[-1].stretch.number:
            return False
        if follower.problems or any(source.warnings for source, _ in seen.session.copies):
            # the reset may be in a part that is unreadable for the moment, so it may still exist
            raise SourceUnreadable(f"not all of {seen.session.session_id} can be read")
        done = not position.ended and self._writer.end(seen.key, position, VANISHED, position.last_at)
        self.cursors.remove(seen.key)
        return done


def _handoffs(store: SessionStore, config: Config) -> HandoffTriggers:
    from jsonlstore.watch.handoffs import HandoffTriggers  # with it comes all that restores: a backfill needs none

    return HandoffTriggers(store, config)


def _is_open_again(session: RecordedSession, position: Position) -> bool:
    """Whether a session that we recorded as ended is open: its transcript is back, or its index names it again.

    The absence of an end is not enough, because a session in an unreadable index has no end either.
    """
    named = [one.session_key is not None for _, one in session.copies if one.state == LIVE]
    return (position.end_reason in MISSED and bool(named)) or (position.end_reason in INFERRED and any(named))
