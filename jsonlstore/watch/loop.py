"""The watcher: hints make it prompt, a look at everything every few seconds makes it right."""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING

from jsonlstore.core.clock import parse_time
from jsonlstore.core.errors import JsonlStoreError, SourceUnreadable
from jsonlstore.transcripts.openclaw.endings import ending_of
from jsonlstore.watch.failures import Troubles
from jsonlstore.watch.follow import Outcome, Tailer
from jsonlstore.watch.maintenance import Upkeep
from jsonlstore.watch.notify import notify
from jsonlstore.watch.observer import Hints, Observer
from jsonlstore.watch.settings import Pace, options_of, pin_file_of, skipped_by
from jsonlstore.watch.sources import SETTLING_SECONDS, Shelf, as_of_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jsonlstore.core.config import Config
    from jsonlstore.store.store import SessionStore
    from jsonlstore.transcripts.catalogue import Session
    from jsonlstore.watch.cursors import Key, Known

log = logging.getLogger("jsonlstore.watch")

_MANY = 20
_SAVE_INDEX_EVERY = 200


class Watcher:
    """Follows every transcript of one state directory until told to stop."""

    def __init__(
        self,
        store: SessionStore,
        config: Config,
        *,
        pace: Pace | None = None,
        reload: Callable[[], Config] | None = None,
    ) -> None:
        self._store = store
        self._pace = pace or Pace()
        self._reload = reload
        self.hints = Hints()
        self.observer = Observer(store.paths.agents, self.hints)
        self._stopping = False
        self._reload_wanted = False
        self._unfinished: dict[Key, None] = {}
        self._written_at: dict[Key, float] = {}
        self._by_path: dict[str, Session] = {}
        self._by_key: dict[Key, Session] = {}
        self._seen: dict[Key, Session] = {}
        self._observing = False
        self._not_before = 0.0
        self._hinted = False
        self._missing: dict[Key, int] = {}
        self._missed = 0
        self._troubles = Troubles()
        self._first_pass_done = False
        self._scan_at = 0.0
        self.upkeep = Upkeep(store, self._pace.report, self._troubles)
        self._configure(config)

    def _configure(self, config: Config) -> None:
        self._config = config
        self._seen = {}
        state_dir = self._store.paths.state_dir
        self.shelf = Shelf(state_dir, skip=skipped_by(config))
        self.tailer = Tailer(
            self._store,
            options_of(config),
            pin_file=pin_file_of(state_dir, config),
            successor_start=self.shelf.successor_start,
        )

    # from outside

    def stop(self) -> None:
        """Finish the append under way and come back; safe in a signal handler."""
        self._stopping = True
        self.hints.bell.set()

    def reload(self) -> None:
        """Read the settings again before the next pass; safe in a signal handler."""
        self._reload_wanted = True
        self.hints.bell.set()

    def run(self) -> int:
        """Watch until stopped; the number of sessions written to."""
        written = 0
        try:
            self._observing = True
            self.upkeep.mend()
            written += self.rescan()  # watch first, then look: what is written in between raises a hint
            self._first_pass_done = True
            notify(f"READY=1\nSTATUS=watching {self._store.paths.agents}")
            while not self._stopping:
                self.hints.bell.wait(self._patience())
                written += self.step()
        finally:
            notify("STOPPING=1")
            self.observer.stop()
            self.upkeep.finish()
        return written

    def once(self) -> int:
        """Catch up with everything there is now; the number of sessions written to."""
        self.upkeep.mend()
        written = self.rescan()
        while self._unfinished:
            written += self._go_on(self._take_unfinished())
        self._first_pass_done = True
        return written

    @property
    def troubles(self) -> list[str]:
        """What could not be read in the last look, or not be kept, and waits for another try."""
        return list(dict.fromkeys([*self.shelf.library.warnings, *self._troubles.all]))

    # the loop

    def step(self) -> int:
        """One turn: follow the hints, go on with what is unfinished, look at everything when it is time to."""
        paths, everything = self.hints.take()
        if self._reload_wanted:  # asked after the bell is quiet: asked before, a hangup in between would go unheard
            self._read_settings()
        touched, unknown = self._sessions_at(paths)
        written = self._catch_up(touched, live=True)
        if written:
            self._missed = 0
        now = time.monotonic()
        if unknown and now < self._not_before:
            self._scan_at = min(self._scan_at, self._not_before)
            self._hinted = True
        elif everything or unknown or now >= self._scan_at:
            hinted, self._hinted = bool(paths) or everything or self._hinted, False
            written += self.rescan(hinted=hinted)
        else:
            written += self._go_on(self._take_unfinished())
        self.upkeep.hand_on()
        self.upkeep.report(self.observer, self.hints)
        self.upkeep.keep_alive()
        return written

    def rescan(self, *, hinted: bool = False) -> int:
        """Look at everything; catch up with whatever changed since it was last looked at."""
        if self._observing:
            self.observer.check()
        waiting = self._take_unfinished()
        hinted = hinted or not self.shelf.settled  # the last hint may have been for what is found only now
        started = time.monotonic()
        news = self.shelf.look()
        took = time.monotonic() - started
        if news:
            self._by_key = {(one.agent_id, one.session_id): one for one in self.shelf.sessions}
            self._by_path = _by_path(self.shelf.sessions)
            changed = self._changed()
            log.debug("looked at %d sessions in %.3f s, %d have changed", len(self._by_key), took, len(changed))
            done = self._catch_up_all(changed)
            written = done + self._notice_vanished()
            if done and hinted:
                self._missed = 0
            elif done and self._first_pass_done and any(map(_is_watched, changed)):
                self._hint_missed()
            for warning in self.shelf.library.warnings:
                log.debug("%s", warning)
        else:
            written = self._go_on(waiting)
        self.upkeep.last_scan_at = self._store.now()
        self.upkeep.archive(self._config.archive_after_days)
        # with many transcripts a look costs more: it may take a hundredth of the time, but never goes out of sight
        now = time.monotonic()
        self._scan_at = now + min(max(self._interval(), 100 * took), self._pace.longest)
        self._not_before = now + max(self._pace.debounce, 2 * took)
        if not self.shelf.settled:
            self._scan_at = min(self._scan_at, now + SETTLING_SECONDS / 4)
        return written

    def _changed(self) -> list[Session]:
        """What differs from the last look, those that have ended first: their successors will link to them."""
        found = [one for key, one in self._by_key.items() if self._seen.get(key) != one]
        if self._first_pass_done:
            return sorted(found, key=lambda one: (ending_of(one) is None, one.updated_at or ""))
        starts = {id(one): self._start_of(one) for one in found if self.tailer.is_behind(one)}
        return sorted(found, key=lambda one: (starts.get(id(one), ""), one.session_id))

    def _start_of(self, session: Session) -> str:
        try:
            return self.shelf.start_of(session) or ""
        except (JsonlStoreError, OSError):
            return ""  # catching up will say what is wrong with it

    def _catch_up_all(self, sessions: list[Session]) -> int:
        if len(sessions) < _MANY:
            return self._catch_up(sessions, live=self._first_pass_done)
        written = 0
        for at in range(0, len(sessions), _SAVE_INDEX_EVERY):
            with self._store.index.batch():
                written += self._catch_up(sessions[at : at + _SAVE_INDEX_EVERY], live=self._first_pass_done)
        return written

    def _interval(self) -> float:
        return self._pace.rescan if self.observer.mode == "events" else self._pace.poll

    def _patience(self) -> float:
        if self._unfinished:
            return self._pace.debounce / 2
        return max(0.01, min(self._scan_at, self.upkeep.due_at) - time.monotonic())

    def _sessions_at(self, paths: Iterable[str]) -> tuple[list[Session], bool]:
        """The sessions at the touched paths, and whether there was a path that is not known to be one."""
        touched: dict[Key, Session] = {}
        unknown = False
        for path in paths:
            session = self._by_path.get(path)
            if session is None:
                # an index, a database, a new file: only a look tells whose it is
                unknown = True
                continue
            touched[session.agent_id, session.session_id] = session
        return [fresh for one in touched.values() if (fresh := as_of_now(one))], unknown

    def _catch_up(self, sessions: Iterable[Session], *, live: bool) -> int:
        written = 0
        for session in sessions:
            if self._stopping:
                break
            written += self._catch_up_one(session, live=live)
            self.upkeep.keep_alive()
        return written

    def _catch_up_one(self, session: Session, *, live: bool) -> bool:
        key = (session.agent_id, session.session_id)
        self._seen.pop(key, None)
        if self._too_soon(key, session):
            log.debug("%s: written to a moment ago, the rest of the burst may come with it", session.session_id)
            self._unfinished[key] = None
            return False
        if self._may_be_named_yet(session):
            log.debug("%s: new, and may be named in the index in a moment", session.session_id)
            self.shelf.look_again()
            return False
        outcome = self._attempt(key, session, live=live or self._is_recent(session))
        if outcome is Outcome.MORE:
            self._unfinished[key] = None
        elif outcome is not None:
            self._seen[key] = session
            self._troubles.over(key)
        if outcome is Outcome.WRITTEN:
            self._written_at[key] = time.monotonic()
            self.upkeep.last_event_at = self._store.now()
        return outcome is Outcome.WRITTEN

    def _attempt(self, key: Key, session: Session, *, live: bool) -> Outcome | None:
        """Catch up for one slice; None if it did not work and must be tried again."""
        try:
            return self.tailer.catch_up(session, live=live, seconds=self._pace.slice)
        except (SourceUnreadable, OSError) as problem:
            log.debug("%s: %s", session.session_id, problem)
            self._troubles.not_read(key, f"{session.session_id}: {problem}")
            self.tailer.release(key)
            self.shelf.look_again()
        except JsonlStoreError as problem:
            # our own disk: full, read-only, locked. Nothing is lost: the cursor did not move
            self._complain(key, problem.message)
        except Exception as problem:  # one odd transcript must not blind us to all the others
            self._complain(key, f"{session.session_id} cannot be followed: {problem!r}"[:300])
            log.debug("%s", session.session_id, exc_info=True)
        return None

    def _complain(self, key: Key, problem: str) -> None:
        """Say it once, show it in `status`, and try again."""
        self._troubles.not_kept(key, problem)
        self.tailer.discard(key)
        self.shelf.look_again()

    def _too_soon(self, key: Key, session: Session) -> bool:
        """A burst becomes one record, not one per line; an end is never kept waiting."""
        if ending_of(session) is not None:
            return False
        return time.monotonic() - self._written_at.get(key, -1e9) < self._pace.debounce

    def _may_be_named_yet(self, session: Session) -> bool:
        """A transcript can be there a moment before the index that names it: do not call it abandoned at once."""
        ending = session.ending
        if ending is None or ending.reason != "unreferenced" or not self._first_pass_done:
            return False
        if self.tailer.ledger.get((session.agent_id, session.session_id)) is not None:
            return False
        return abs(self._age(session)) < self._pace.grace  # a clock may have been put back, or run ahead elsewhere

    def _age(self, session: Session) -> float:
        try:
            return (parse_time(self._store.now()) - parse_time(session.updated_at or "")).total_seconds()
        except ValueError:
            return float("inf")

    def _is_recent(self, session: Session) -> bool:
        return 0 <= self._age(session) < self._pace.live_within.total_seconds()

    def _take_unfinished(self) -> list[Key]:
        waiting, self._unfinished = list(self._unfinished), {}
        return waiting

    def _go_on(self, keys: Iterable[Key]) -> int:
        """Go on with sessions that were put off, each for one slice: a hot one does not starve the rest."""
        found = [fresh for key in keys if (one := self._by_key.get(key)) and (fresh := as_of_now(one))]
        return self._catch_up(found, live=self._first_pass_done)

    # what only a look at everything shows

    def _notice_vanished(self) -> int:
        """End open sessions whose transcript is gone from a place that can be read: twice missing is gone."""
        readable = {source.agent_id for source in self.shelf.sources} if not self.shelf.library.warnings else set()
        written, missing = 0, {}
        for key, known in self.tailer.ledger.open():
            if key in self._by_key or key[0] not in readable or self._is_skipped(key):
                continue
            missing[key] = self._missing.get(key, 0) + 1
            if missing[key] >= 2:
                written += self._vanish(key, known)
            else:
                self.shelf.look_again()
        self._missing = missing
        self._troubles.limit_to({*self._by_key, *(key for key, _ in self.tailer.ledger.open())})
        return written

    def _vanish(self, key: Key, known: Known) -> bool:
        try:
            done = self.tailer.vanish(key, known)
        except JsonlStoreError as problem:
            self._complain(key, problem.message)
            return False
        self._troubles.over(key)
        # it may lie with another agent now, whose it was not as long as it was here
        moved = [other for other in self._seen if other[1] == key[1]]
        for other in moved:
            del self._seen[other]
            self.shelf.look_again()
        return done

    def _is_skipped(self, key: Key) -> bool:
        """It is there, but turned out to be no conversation of the user's."""
        return any(
            (one.agent_id, one.session_id) == key for source in self.shelf.sources for one in source.transcripts()
        )

    def _hint_missed(self) -> None:
        """A look found what no event had told: now and then that is timing, again and again it is blindness."""
        self._missed += 1
        if self.observer.mode == "events" and self._missed >= self._pace.missed_before_polling:
            self.observer.give_up("changes were found that no event had told of")

    def _read_settings(self) -> None:
        self._reload_wanted = False
        if self._reload is None:
            return
        try:
            config = self._reload()
        except JsonlStoreError as problem:
            log.error("settings not changed: %s", problem.message)  # noqa: TRY400 - the message says it all
            return
        if not config.enabled:
            log.info("disabled in the settings: nothing is followed any more")
            self.stop()
            return
        notify("RELOADING=1")
        self._configure(config)
        self._scan_at = 0.0
        notify("READY=1")
        log.info("settings read again")


def _by_path(sessions: Iterable[Session]) -> dict[str, Session]:
    return {os.fspath(copy.path): one for one in sessions for _, copy in one.copies if copy.kind == "jsonl"}


def _is_watched(session: Session) -> bool:
    """Whether its files lie where events come from."""
    return any(copy.kind != "goclaw" for _, copy in session.copies)
