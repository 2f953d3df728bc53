"""The watcher: events make it prompt, a look at everything every few seconds makes it right."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from jsonlstore.core.clock import parse_time
from jsonlstore.core.config import Config
from jsonlstore.core.errors import JsonlStoreError, SourceUnreadable
from jsonlstore.core.logs import logger
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.transcripts.runtimes import discover, runtimes
from jsonlstore.transcripts.session import Session
from jsonlstore.watch.cursors import Key, Position
from jsonlstore.watch.instance import remove_report
from jsonlstore.watch.maintenance import Maintenance, notify
from jsonlstore.watch.observer import Hints, Observer
from jsonlstore.watch.search_writer import SearchWriter
from jsonlstore.watch.tail import Progress, Tailer, skipped_by

log = logger("jsonlstore.watch")

_MANY = 20
_SAVE_INDEX_EVERY = 200


@dataclass(frozen=True, slots=True)
class Timing:
    """How often and how long, in seconds; the defaults are for a person's machine."""

    rescan: float = 5.0
    poll: float = 1.0
    longest: float = 15.0
    slice: float = 0.25
    debounce: float = 0.1
    report: float = 5.0
    grace: float = 10.0
    settling: float = 0.0075  # a fraction of what file times are coarse by
    live_within: timedelta = timedelta(minutes=10)
    missed_before_polling: int = 5


class Watcher:
    """Follows every transcript of one state directory until told to stop."""

    def __init__(
        self,
        store: SessionStore,
        config: Config,
        *,
        timing: Timing | None = None,
        reload: Callable[[], Config] | None = None,
    ) -> None:
        self._store = store
        self._timing = timing or Timing()
        self._reload = reload
        state_dir = store.paths.state_dir
        watched = [path for runtime in runtimes() for path in runtime.watched(state_dir)]
        self.hints = Hints()
        self.observer = Observer(watched, self.hints, ignored=[one for each in runtimes() for one in each.ignored])
        self._stopping = False
        self._reload_wanted = False
        self._unfinished: dict[Key, None] = {}
        self._written_at: dict[Key, float] = {}
        self._by_path: dict[str, Session] = {}
        self._by_key: dict[Key, Session] = {}
        self._observing = False
        self._not_before = 0.0
        self._hinted = False
        self._missing: dict[Key, int] = {}
        self._missed = 0
        # What will be tried again. Transcripts we cannot read are the runtime's, and mostly pass; sessions we cannot
        # write are ours: a disk that is full, read-only or locked.
        self._unread: dict[Key, str] = {}
        self._unwritten: dict[Key, str] = {}
        self._first_pass_done = False
        self._scan_at = 0.0
        self.maintenance = Maintenance(store, self._timing.report)
        self._configure(config)

    def _configure(self, config: Config) -> None:
        self._config = config
        self.catalogue = Catalogue(partial(discover, self._store.paths.state_dir), skip=skipped_by(config))
        self.tailer = Tailer.of(self._store, config, self.catalogue, live=True)
        self.search = SearchWriter.beside_captures(self._store, config)
        self.search.remove_if_disabled()
        self._search_noted = False

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
            self.maintenance.repair()
            written += self.rescan()  # watch first, then look: what is written in between raises a hint
            self._first_pass_done = True
            notify(f"READY=1\nSTATUS=watching {self._store.paths.state_dir}")
            while not self._stopping:
                self.hints.bell.wait(self._patience())
                written += self.step()
        finally:
            notify("STOPPING=1")
            self.search.close()
            self.observer.stop()
            remove_report(self._store.paths)
        return written

    def once(self) -> int:
        """Catch up with everything there is now; the number of sessions written to."""
        self.maintenance.repair()
        written = self.rescan()
        while self._unfinished:
            written += self._continue_with(self._take_unfinished())
        self._first_pass_done = True
        self.search.run()
        self.search.reconcile()
        self.search.update_memory()
        self.search.tidy(wholly=True)
        self.search.close()
        return written

    @property
    def problems(self) -> list[str]:
        """What could not be read in the last look, or not be kept, and waits for another try."""
        return list(dict.fromkeys([*self.catalogue.warnings, *self._unread.values(), *self._unwritten.values()]))

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
            written += self._continue_with(self._take_unfinished())
        self._index_some()
        self.maintenance.update_copies()
        self.maintenance.report(self.observer, self.hints, next(iter(self._unwritten.values()), None))
        self.maintenance.keep_alive()
        return written

    def _note_all_for_search(self) -> None:
        """Once: the index may be younger than the logs. From then on whatever is caught up with is noted by itself."""
        if self._search_noted:
            return
        self._search_noted = True
        for session in self._by_key.values():
            self.search.note_if_behind(session)

    def _index_some(self) -> None:
        """Index what was captured, for one slice: the next capture is not kept waiting."""
        self.search.run(self._timing.slice)
        self.search.reconcile()
        if not self._unfinished:
            self.search.tidy()

    def rescan(self, *, hinted: bool = False) -> int:
        """Look at everything; catch up with whatever changed since it was last looked at."""
        if self._observing:
            self.observer.check()
        waiting = self._take_unfinished()
        hinted = hinted or not self.catalogue.settled  # the last hint may have been for what is found only now
        started = time.monotonic()
        news = self.catalogue.look()
        took = time.monotonic() - started
        if news:
            self._by_key = {one.key: one for one in self.catalogue.sessions}
            self._by_path = _by_path(self.catalogue.sessions)
            changed = self._changed()
            log.debug("looked at %d sessions in %.3f s, %d have changed", len(self._by_key), took, len(changed))
            done = self._catch_up_all(changed)
            written = done + self._notice_vanished()
            if done and hinted:
                self._missed = 0
            elif done and self._first_pass_done and any(map(self._is_watched, changed)):
                self._hint_missed()
            for warning in self.catalogue.warnings:
                log.debug("%s", warning)
        else:
            written = self._continue_with(waiting)
        self._note_all_for_search()
        self.search.update_memory()
        self.maintenance.last_scan_at = self._store.now()
        self.maintenance.archive(self._config.archive_after_days)
        # with many transcripts a look costs more: it may take a hundredth of the time, but never goes out of sight
        now = time.monotonic()
        interval = self._timing.rescan if self.observer.mode == "events" else self._timing.poll
        self._scan_at = now + min(max(interval, 100 * took), self._timing.longest)
        self._not_before = now + max(self._timing.debounce, 2 * took)
        if not self.catalogue.settled:
            self._scan_at = min(self._scan_at, now + self._timing.settling)
        return written

    def _changed(self) -> list[Session]:
        """What differs from the last look, those that have ended first: their successors will link to them."""
        found = [one for key, one in self._by_key.items() if not self.tailer.cursors.is_settled(key, one)]
        if self._first_pass_done:
            return sorted(found, key=lambda one: (one.end_reason is None, one.updated_at or ""))
        starts = {id(one): self._start_of(one) for one in found if self.tailer.is_behind(one)}
        return sorted(found, key=lambda one: (starts.get(id(one), ""), one.session_id))

    def _start_of(self, session: Session) -> str:
        try:
            return self.catalogue.start_of(session) or ""
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

    def _patience(self) -> float:
        if self._unfinished:
            return self._timing.debounce / 2
        return max(0.01, min(self._scan_at, self.maintenance.due_at) - time.monotonic())

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
            touched[session.key] = session
        return [fresh for one in touched.values() if (fresh := one.refreshed())], unknown

    def _catch_up(self, sessions: Iterable[Session], *, live: bool) -> int:
        written = 0
        for session in sessions:
            if self._stopping:
                break
            written += self._catch_up_one(session, live=live)
            self.maintenance.keep_alive()
        return written

    def _catch_up_one(self, session: Session, *, live: bool) -> bool:
        key = session.key
        if self._too_soon(key, session):
            log.debug("%s: written to a moment ago, the rest of the burst may come with it", session.session_id)
            self._unfinished[key] = None
            return False
        if self._may_be_named_yet(session):
            log.debug("%s: new, and may be named in the index in a moment", session.session_id)
            self.catalogue.look_again()
            return False
        progress = self._attempt(key, session, live=live or self._is_recent(session))
        if progress is Progress.MORE:
            self._unfinished[key] = None
        elif progress is not None:
            self._recovered(key)
        if progress in (Progress.WRITTEN, Progress.NOTHING):
            self.search.note_if_behind(session)
        if progress is Progress.WRITTEN:
            self._written_at[key] = time.monotonic()
            self.maintenance.last_event_at = self._store.now()
        return progress is Progress.WRITTEN

    def _attempt(self, key: Key, session: Session, *, live: bool) -> Progress | None:
        """Catch up for one slice; None if it did not work and must be tried again."""
        try:
            return self.tailer.catch_up(session, live=live, seconds=self._timing.slice)
        except (SourceUnreadable, OSError) as problem:
            log.debug("%s: %s", session.session_id, problem)
            self._unread[key] = f"{session.session_id}: {problem}"
            self.tailer.cursors.release(key)
            self.tailer.cursors.unsettle(key)
            self.catalogue.look_again()
        except JsonlStoreError as problem:
            # our own disk: full, read-only, locked. Nothing is lost: the cursor did not move
            self._complain(key, problem.message)
        except Exception as problem:  # one odd transcript must not blind us to all the others
            self._complain(key, f"{session.session_id} cannot be followed: {problem!r}"[:300])
            log.debug("%s", session.session_id, exc_info=True)
        return None

    def _complain(self, key: Key, problem: str) -> None:
        """Say it once, show it in `status`, and try again."""
        if self._unwritten.get(key) != problem:
            log.error("%s", problem)
        self._unwritten[key] = problem
        self.tailer.cursors.discard(key)
        self.catalogue.look_again()

    def _recovered(self, key: Key) -> None:
        self._unread.pop(key, None)
        self._unwritten.pop(key, None)

    def _too_soon(self, key: Key, session: Session) -> bool:
        """A burst becomes one record, not one per line; an end is never kept waiting."""
        if session.end_reason is not None:
            return False
        return time.monotonic() - self._written_at.get(key, -1e9) < self._timing.debounce

    def _may_be_named_yet(self, session: Session) -> bool:
        """A transcript can be there a moment before the index that names it: do not call it abandoned at once."""
        ending = session.ending
        if ending is None or ending.reason != "unreferenced" or not self._first_pass_done:
            return False
        if self.tailer.cursors.get(session.key) is not None:
            return False
        return abs(self._age(session)) < self._timing.grace  # a clock may have been put back, or run ahead elsewhere

    def _age(self, session: Session) -> float:
        try:
            return (parse_time(self._store.now()) - parse_time(session.updated_at or "")).total_seconds()
        except ValueError:
            return float("inf")

    def _is_recent(self, session: Session) -> bool:
        return 0 <= self._age(session) < self._timing.live_within.total_seconds()

    def _take_unfinished(self) -> list[Key]:
        waiting, self._unfinished = list(self._unfinished), {}
        return waiting

    def _continue_with(self, keys: Iterable[Key]) -> int:
        """Go on with sessions that were put off, each for one slice: a hot one does not starve the rest."""
        found = [fresh for key in keys if (one := self._by_key.get(key)) and (fresh := one.refreshed())]
        return self._catch_up(found, live=self._first_pass_done)

    # what only a look at everything shows

    def _notice_vanished(self) -> int:
        """End open sessions whose transcript is gone from a place that can be read: twice missing is gone."""
        readable = {source.agent_id for source in self.catalogue.sources} if not self.catalogue.warnings else set()
        written, missing = 0, {}
        for key, position in self.tailer.cursors.open():
            if key in self._by_key or key[0] not in readable or self._is_skipped(key):
                continue
            missing[key] = self._missing.get(key, 0) + 1
            if missing[key] >= 2:
                written += self._vanish(key, position)
            else:
                self.catalogue.look_again()
        self._missing = missing
        there = {*self._by_key, *(key for key, _ in self.tailer.cursors.open())}
        for key in {*self._unread, *self._unwritten} - there:
            self._recovered(key)  # what is gone cannot be tried again
        return written

    def _vanish(self, key: Key, position: Position) -> bool:
        try:
            done = self.tailer.vanish(key, position)
        except JsonlStoreError as problem:
            self._complain(key, problem.message)
            return False
        self._recovered(key)
        # it may lie with another agent now, whose it was not as long as it was here
        if self.tailer.cursors.unsettle_copies(key[1]):
            self.catalogue.look_again()
        return done

    def _is_skipped(self, key: Key) -> bool:
        """It is there, but turned out to be no conversation of the user's."""
        return any(
            (one.agent_id, one.session_id) == key for source in self.catalogue.sources for one in source.transcripts()
        )

    def _is_watched(self, session: Session) -> bool:
        """Whether its files lie where events come from."""
        return any(self.observer.covers(copy.path) for _, copy in session.copies)

    def _hint_missed(self) -> None:
        """A look found what no event had told: now and then that is timing, again and again it is blindness."""
        self._missed += 1
        if self.observer.mode == "events" and self._missed >= self._timing.missed_before_polling:
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
    """The session of every file that holds nothing else."""
    return {os.fspath(file): one for one in sessions for source, copy in one.copies if (file := source.file_of(copy))}
