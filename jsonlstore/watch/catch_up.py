"""Catching up with single sessions: debounce, one slice of time each, retries, and the problems to report.

`loop` decides when to look at which sessions; this module brings each of them up to date, and no failure of one keeps
the others from being captured. What did not work is kept here until it works or the session is gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta

from jsonlstore.core.clock import parse_time
from jsonlstore.core.errors import JsonlStoreError, SourceUnreadable
from jsonlstore.core.logs import logger
from jsonlstore.redact import sanitised
from jsonlstore.store import SessionStore
from jsonlstore.transcripts import Catalogue, RecordedSession
from jsonlstore.watch.cursors import Key, Position
from jsonlstore.watch.maintenance import Maintenance
from jsonlstore.watch.search_writer import SearchWriter
from jsonlstore.watch.tail import Progress, Tailer

log = logger("jsonlstore.watch")

_SCANS_UNTIL_VANISHED = 2


@dataclass(frozen=True, slots=True)
class Timing:
    """The intervals and limits of a watcher, in seconds; the defaults are for a personal machine."""

    rescan: float = 5.0
    poll: float = 1.0
    longest: float = 15.0
    slice: float = 0.25
    debounce: float = 0.1
    report: float = 5.0
    grace: float = 10.0
    settling: float = 0.0075  # less than the granularity of file times
    live_within: timedelta = timedelta(minutes=10)
    missed_before_polling: int = 5


class CatchUp:
    """Brings sessions up to date one after another, and keeps what has to be continued or retried."""

    def __init__(
        self,
        store: SessionStore,
        timing: Timing,
        maintenance: Maintenance,
        tailer: Tailer,
        catalogue: Catalogue,
        search: SearchWriter,
        *,
        stopping: Callable[[], bool],
    ) -> None:
        self._store = store
        self._timing = timing
        self._maintenance = maintenance
        self._tailer = tailer
        self._catalogue = catalogue
        self._search = search
        self._stopping = stopping
        self._written_at: dict[Key, float] = {}
        self._missing: dict[Key, int] = {}
        self._unfinished: dict[Key, None] = {}
        # Both are retried. An unreadable transcript is the runtime's and mostly passes; a session we cannot write is
        # our own problem: a disk that is full, read-only or locked.
        self._unread: dict[Key, str] = {}
        self._unwritten: dict[Key, str] = {}
        self.live = False  # once the first pass is done, an end that is found has just happened

    @property
    def problems(self) -> list[str]:
        """The sessions that could not be read or written and will be retried."""
        return [*self._unread.values(), *self._unwritten.values()]

    @property
    def write_problem(self) -> str | None:
        """The first session that could not be written, for the report that `status` reads."""
        return next(iter(self._unwritten.values()), None)

    @property
    def unfinished(self) -> bool:
        """Whether a session was interrupted at the end of its slice or debounced."""
        return bool(self._unfinished)

    def take_unfinished(self) -> list[Key]:
        """The sessions to continue with, removed from the list."""
        waiting, self._unfinished = list(self._unfinished), {}
        return waiting

    def run(self, sessions: Iterable[RecordedSession], *, live: bool) -> int:
        """Catch up with these sessions, each for one slice; returns the number of sessions written to."""
        written = 0
        for session in sessions:
            if self._stopping():
                break
            written += self._run_one(session, live=live)
            self._maintenance.keep_alive()
        return written

    def _run_one(self, session: RecordedSession, *, live: bool) -> bool:
        key = session.key
        if self._is_debounced(key, session):
            log.debug("%s: debounced, it was written to a moment ago", session.session_id)
            self._unfinished[key] = None
            return False
        if self._awaits_index_entry(session):
            log.debug("%s: new and not in the runtime's index yet", session.session_id)
            self._catalogue.invalidate()
            return False
        progress = self._attempt(key, session, live=live or self._is_recent(session))
        if progress is Progress.MORE:
            self._unfinished[key] = None
        elif progress is not None:
            self._clear_problems(key)
        if progress in (Progress.WRITTEN, Progress.NOTHING):
            self._search.note_if_behind(session)
        if progress is Progress.WRITTEN:
            self._written_at[key] = time.monotonic()
            self._maintenance.last_event_at = self._store.now()
        return progress is Progress.WRITTEN

    def _attempt(self, key: Key, session: RecordedSession, *, live: bool) -> Progress | None:
        """Catch up for one slice; None if that failed and must be retried."""
        try:
            return self._tailer.catch_up(session, live=live, seconds=self._timing.slice)
        except (SourceUnreadable, OSError) as problem:
            log.debug("%s: %s", session.session_id, problem)
            self._unread[key] = f"{session.session_id}: {problem}"
            self._tailer.cursors.release(key)
            self._tailer.cursors.unsettle(key)
            self._catalogue.invalidate()
        except JsonlStoreError as problem:
            # our own disk is full, read-only or locked; the cursor did not move, so nothing is lost
            self._note_write_problem(key, problem.message)
        except Exception as problem:  # one odd transcript must not stop the capture of all the others
            self._note_write_problem(key, f"{session.session_id} cannot be followed: {sanitised(repr(problem))[:300]}")
            log.debug("%s", session.session_id, exc_info=True)
        return None

    def _note_write_problem(self, key: Key, problem: str) -> None:
        """Log a problem once, keep it for `status`, and have the session read again."""
        if self._unwritten.get(key) != problem:
            log.error("%s", problem)
        self._unwritten[key] = problem
        self._tailer.cursors.discard(key)
        self._catalogue.invalidate()

    def _clear_problems(self, key: Key) -> None:
        self._unread.pop(key, None)
        self._unwritten.pop(key, None)

    def _is_debounced(self, key: Key, session: RecordedSession) -> bool:
        """Whether to wait for the rest of a burst, so that it becomes one record; an end is written at once."""
        if session.end_reason is not None:
            return False
        return time.monotonic() - self._written_at.get(key, -1e9) < self._timing.debounce

    def _awaits_index_entry(self, session: RecordedSession) -> bool:
        """Whether a new transcript may still be named in its index: runtimes write the transcript first.

        Without this wait it would be recorded as abandoned at once.
        """
        ending = session.ending
        if ending is None or ending.reason != "unreferenced" or not self.live:
            return False
        if self._tailer.cursors.get(session.key) is not None:
            return False
        return abs(self._age(session)) < self._timing.grace  # the time may lie ahead: clocks are set back or differ

    def _age(self, session: RecordedSession) -> float:
        try:
            return (parse_time(self._store.now()) - parse_time(session.updated_at or "")).total_seconds()
        except ValueError:
            return float("inf")

    def _is_recent(self, session: RecordedSession) -> bool:
        return 0 <= self._age(session) < self._timing.live_within.total_seconds()

    def end_vanished(self, present: Collection[Key]) -> int:
        """End the open sessions whose transcript was missing in two scans in a row; returns how many were written to.

        One scan is not enough: a runtime may rename a file while the directory is listed. An agent with an unreadable
        source loses no session, because the transcript may be there.
        """
        readable = {source.agent_id for source in self._catalogue.sources} if not self._catalogue.warnings else set()
        written, missing = 0, {}
        for key, position in self._tailer.cursors.open():
            if key in present or key[0] not in readable or self._is_skipped(key):
                continue
            missing[key] = self._missing.get(key, 0) + 1
            if missing[key] >= _SCANS_UNTIL_VANISHED:
                written += self._end_vanished(key, position)
            else:
                self._catalogue.invalidate()
        self._missing = missing
        known = {*present, *(key for key, _ in self._tailer.cursors.open())}
        for key in {*self._unread, *self._unwritten} - known:
            self._clear_problems(key)  # the transcript is gone, so there is nothing to retry
        return written

    def _end_vanished(self, key: Key, position: Position) -> bool:
        try:
            done = self._tailer.vanish(key, position)
        except JsonlStoreError as problem:
            self._note_write_problem(key, problem.message)
            return False
        self._clear_problems(key)
        # The transcript may have moved to another agent, whose copy was refused while this agent had it.
        if self._tailer.cursors.unsettle_copies(key[1]):
            self._catalogue.invalidate()
        return done

    def _is_skipped(self, key: Key) -> bool:
        """Whether the transcript exists and is skipped, because it turned out not to be a user's conversation."""
        return any(
            (one.agent_id, one.session_id) == key for source in self._catalogue.sources for one in source.transcripts()
        )
