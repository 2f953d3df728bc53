"""The watcher: file events make it prompt, a rescan of everything every few seconds makes it correct."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from functools import partial

from jsonlstore.core.config import Config
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger
from jsonlstore.store import SessionStore
from jsonlstore.transcripts import Catalogue, RecordedSession, discover, registered_runtimes
from jsonlstore.watch.catch_up import CatchUp, Timing
from jsonlstore.watch.cursors import Key
from jsonlstore.watch.instance import remove_report
from jsonlstore.watch.maintenance import Maintenance, notify
from jsonlstore.watch.observer import Hints, Observer
from jsonlstore.watch.search_writer import SearchWriter
from jsonlstore.watch.tail import Tailer, skipped_by

log = logger("jsonlstore.watch")

_MANY = 20
_SAVE_INDEX_EVERY = 200


class Watcher:
    """Follows every transcript of one state directory until stopped."""

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
        watched = [path for runtime in registered_runtimes() for path in runtime.watched(state_dir)]
        self.hints = Hints()
        self.observer = Observer(
            watched, self.hints, ignored=[one for each in registered_runtimes() for one in each.ignored]
        )
        self._stopping = False
        self._reload_wanted = False
        self._by_path: dict[str, RecordedSession] = {}
        self._by_key: dict[Key, RecordedSession] = {}
        self._observing = False
        self._not_before = 0.0
        self._hinted = False
        self._missed = 0
        self._first_pass_done = False
        self._scan_at = 0.0
        self.on_ready: Callable[[], object] = lambda: None  # called once what was there before is read
        self.maintenance = Maintenance(store, self._timing.report)
        self._configure(config)

    def _configure(self, config: Config) -> None:
        self._config = config
        self.catalogue = Catalogue(partial(discover, self._store.paths.state_dir), skip=skipped_by(config))
        self.tailer = Tailer.of(self._store, config, self.catalogue, live=True)
        self.tailer.others_wait = self.hints.bell.is_set
        self.search = SearchWriter.for_watcher(self._store, config)
        self.search.remove_if_disabled()
        self._search_noted = False
        self._sessions = CatchUp(
            self._store,
            self._timing,
            self.maintenance,
            self.tailer,
            self.catalogue,
            self.search,
            stopping=lambda: self._stopping,
        )
        self._sessions.live = self._first_pass_done

    # -- called from outside

    def stop(self) -> None:
        """Stop after the current append; safe in a signal handler."""
        self._stopping = True
        self.hints.bell.set()

    def reload(self) -> None:
        """Read the settings again before the next pass; safe in a signal handler."""
        self._reload_wanted = True
        self.hints.bell.set()

    def run(self) -> int:
        """Watch until stopped; returns the number of sessions written to."""
        written = 0
        try:
            self._observing = True
            self.maintenance.repair()
            written += self.rescan()  # events first, then the scan: a write between the two raises an event
            self._finish_first_pass()
            notify(f"READY=1\nSTATUS=watching {self._store.paths.state_dir}")
            self.on_ready()
            while not self._stopping:
                self.hints.bell.wait(self._patience())
                written += self.step()
        finally:
            notify("STOPPING=1")
            if self._stopping and self.tailer.handoffs is not None:
                self.tailer.handoffs.stop()
            self.tailer.take_worded()
            self.search.close()
            self.observer.stop()
            remove_report(self._store.paths)
        return written

    def once(self) -> int:
        """Catch up with everything there is now; returns the number of sessions written to."""
        self.maintenance.repair()
        written = self.rescan()
        while self._sessions.unfinished:
            written += self._continue_with(self._sessions.take_unfinished())
        self._finish_first_pass()
        self.tailer.take_worded(wait=True)
        self.search.run()
        self.search.reconcile()
        self.search.update_memory()
        self.search.tidy(wholly=True)
        self.search.close()
        return written

    def _finish_first_pass(self) -> None:
        self._first_pass_done = self._sessions.live = True

    @property
    def problems(self) -> list[str]:
        """What could not be read in the last scan or not be written, and will be retried."""
        return list(dict.fromkeys([*self.catalogue.warnings, *self._sessions.problems]))

    # -- the loop

    def step(self) -> int:
        """One turn: follow the events, continue unfinished sessions, rescan when it is due."""
        paths, everything = self.hints.take()
        if self._reload_wanted:  # checked after the bell is cleared: a hangup signal in between would otherwise be lost
            self._read_settings()
        touched, unknown = self._sessions_at(paths)
        # the least to read first: who wrote much is not what others wait for
        written = self._sessions.run(sorted(touched, key=self._lag) if len(touched) > 1 else touched, live=True)
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
            written += self._continue_with(self._sessions.take_unfinished())
        self._index_some()
        self.tailer.take_worded()
        self.maintenance.update_copies()
        self.maintenance.report(self.observer, self.hints, self._sessions.write_problem)
        self.maintenance.keep_alive()
        return written

    def _note_all_for_search(self) -> None:
        """Queue every session that the search index lacks, once: the index may be older than the logs.

        Later captures queue themselves.
        """
        if self._search_noted:
            return
        self._search_noted = True
        for session in self._by_key.values():
            self.search.note_if_behind(session)

    def _index_some(self) -> None:
        """Index captured sessions for one slice, so that the next capture is not delayed."""
        self.search.run(self._timing.slice, self.hints.bell.is_set)
        self.search.reconcile()
        if not self._sessions.unfinished:
            self.search.tidy()

    def rescan(self, *, hinted: bool = False) -> int:
        """Scan every source and catch up with the sessions that changed since they were last read."""
        if self._observing:
            self.observer.check()
        waiting = self._sessions.take_unfinished()
        # an event may have come before the change became visible to a scan
        hinted = hinted or not self.catalogue.settled
        started = time.monotonic()
        news = self.catalogue.refresh()
        took = time.monotonic() - started
        if news:
            self._by_key = {one.key: one for one in self.catalogue.sessions}
            self._by_path = _by_path(self.catalogue.sessions)
            changed = self._changed()
            log.debug("looked at %d sessions in %.3f s, %d have changed", len(self._by_key), took, len(changed))
            done = self._catch_up_all(changed)
            written = done + self._sessions.end_vanished(self._by_key)
            if done and hinted:
                self._missed = 0
            elif done and self._first_pass_done and any(map(self._is_watched, changed)):
                self._note_missed_event()
            for warning in self.catalogue.warnings:
                log.debug("%s", warning)
        else:
            written = self._continue_with(waiting)
        self._note_all_for_search()
        self.search.update_memory()
        self.maintenance.last_scan_at = self._store.now()
        self.maintenance.archive(self._config.archive_after_days)
        # a scan may use a hundredth of the time, so its interval grows with its duration, up to `longest`
        now = time.monotonic()
        interval = self._timing.rescan if self.observer.mode == "events" else self._timing.poll
        self._scan_at = now + min(max(interval, 100 * took), self._timing.longest)
        self._not_before = now + max(self._timing.debounce, 2 * took)
        if not self.catalogue.settled:
            self._scan_at = min(self._scan_at, now + self._timing.settling)
        return written

    def _changed(self) -> list[RecordedSession]:
        """The sessions that changed since the last scan; ended ones first, because their successors link to them."""
        found = [one for key, one in self._by_key.items() if not self.tailer.cursors.is_settled(key, one)]
        if self._first_pass_done:
            return sorted(found, key=lambda one: (one.end_reason is None, one.updated_at or ""))
        starts = {id(one): self._start_of(one) for one in found if self.tailer.is_behind(one)}
        return sorted(found, key=lambda one: (starts.get(id(one), ""), one.session_id))

    def _start_of(self, session: RecordedSession) -> str:
        try:
            return self.catalogue.start_of(session) or ""
        except (JsonlStoreError, OSError):
            return ""  # catching up will report the error

    def _catch_up_all(self, sessions: list[RecordedSession]) -> int:
        if len(sessions) < _MANY:
            return self._sessions.run(sessions, live=self._first_pass_done)
        written = 0
        for at in range(0, len(sessions), _SAVE_INDEX_EVERY):
            with self._store.index.batch():
                written += self._sessions.run(sessions[at : at + _SAVE_INDEX_EVERY], live=self._first_pass_done)
        return written

    def _patience(self) -> float:
        if self._sessions.unfinished or self.search.unfinished:
            return self._timing.debounce / 2
        return max(0.01, min(self._scan_at, self.maintenance.due_at) - time.monotonic())

    def _sessions_at(self, paths: Iterable[str]) -> tuple[list[RecordedSession], bool]:
        """The sessions at the touched paths, and whether a path belongs to no known session."""
        touched: dict[Key, RecordedSession] = {}
        unknown = False
        for path in paths:
            session = self._by_path.get(path)
            if session is None:
                # an index, a database or a new file: only a scan tells which sessions it concerns
                unknown = True
                continue
            touched[session.key] = session
        return [fresh for one in touched.values() if (fresh := one.refreshed())], unknown

    def _lag(self, session: RecordedSession) -> int:
        """How much of a session is to be read."""
        position = self.tailer.cursors.get(session.key)
        try:
            return session.lag(position.cursor if position else None)
        except (JsonlStoreError, OSError):
            return 0  # catching up will report the error

    def _continue_with(self, keys: Iterable[Key]) -> int:
        """Continue interrupted sessions, each for one slice, so that a busy one does not starve the others."""
        found = [fresh for key in keys if (one := self._by_key.get(key)) and (fresh := one.refreshed())]
        return self._sessions.run(found, live=self._first_pass_done)

    def _is_watched(self, session: RecordedSession) -> bool:
        """Whether file events cover the session's files."""
        return any(self.observer.covers(copy.path) for _, copy in session.copies)

    def _note_missed_event(self) -> None:
        """Count a change that a scan found without an event; several in a row mean that events are unreliable."""
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


def _by_path(sessions: Iterable[RecordedSession]) -> dict[str, RecordedSession]:
    """The session of each file that holds one session only."""
    return {os.fspath(file): one for one in sessions for source, copy in one.copies if (file := source.file_of(copy))}
