"""What a watcher does beside watching: leave word of itself, tell systemd it lives, archive, mind the copies."""

from __future__ import annotations

import logging
import os
import time
from datetime import timedelta
from typing import TYPE_CHECKING

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.store.repair import repair_unfinished
from jsonlstore.watch.instance import Report, remove_report, write_report
from jsonlstore.watch.notify import keep_alive_seconds, notify

if TYPE_CHECKING:
    from jsonlstore.store.store import SessionStore
    from jsonlstore.watch.failures import Troubles
    from jsonlstore.watch.observer import Hints, Observer

log = logging.getLogger("jsonlstore.watch")

_ROUND = 3600.0
_AGAIN = 60.0  # after a failure, and twice as long after each one more
_PATIENCE = 0.2


class Upkeep:
    """The chores of one watcher, each done when it is due."""

    def __init__(self, store: SessionStore, report_every: float, troubles: Troubles) -> None:
        self._store = store
        self._troubles = troubles
        self._report_every = report_every
        self._alive_every = keep_alive_seconds()
        self._started_at = store.now()
        self._archived_on: str | None = None
        self._report_at = 0.0
        self._alive_at = 0.0
        self._hand_on_at = 0.0
        self._hand_on_again = _AGAIN
        self.last_event_at: str | None = None
        self.last_scan_at: str | None = None

    @property
    def due_at(self) -> float:
        """When the next chore is due, on the monotonic clock."""
        return min(self._report_at, self._alive_at)

    def keep_alive(self) -> None:
        """Tell systemd that we live, if it wants to know and it is time."""
        now = time.monotonic()
        if now >= self._alive_at:
            self._alive_at = now + (self._alive_every or _ROUND)
            if self._alive_every:
                notify("WATCHDOG=1")

    def report(self, observer: Observer, hints: Hints) -> None:
        """Leave word for `status`, if it is time."""
        now = time.monotonic()
        if now < self._report_at:
            return
        self._report_at = now + self._report_every
        report = Report(
            pid=os.getpid(),
            started_at=self._started_at,
            mode=observer.mode,
            last_event_at=self.last_event_at,
            last_scan_at=self.last_scan_at,
            overflows=hints.overflows,
            restarts=observer.restarts,
            problem=self._troubles.unkept,
            polling_because=observer.problem,
        )
        try:
            write_report(self._store.paths, report)
        except JsonlStoreError as problem:
            log.warning("%s", problem.message)

    def hand_on(self) -> None:
        """Once an hour, let those who keep a copy of the store bring it up to date: also with what nobody told them."""
        now = time.monotonic()
        if now < self._hand_on_at:
            return
        copies = [bring for each in self._store.listeners if (bring := getattr(each, "catch_up", None))]
        done = [bring(wait=_PATIENCE) for bring in copies]  # whatever is wrong there is theirs to say
        if all(done):
            self._hand_on_at, self._hand_on_again = now + _ROUND, _AGAIN
            return
        self._hand_on_at = now + self._hand_on_again
        self._hand_on_again = min(self._hand_on_again * 2, _ROUND)

    def mend(self) -> None:
        """Finish what a watcher that was killed left unfinished."""
        try:
            mended = repair_unfinished(self._store)
        except JsonlStoreError as problem:
            log.warning("%s", problem.message)
            return
        if mended:
            log.info("mended %d sessions after a crash", mended)

    def archive(self, after_days: int) -> None:
        """Once a day, move sessions that ended long ago to the archive."""
        today = self._store.now()[:10]
        if today == self._archived_on:
            return
        self._archived_on = today
        done = 0
        try:
            due = self._store.archivable(timedelta(days=after_days), self._store.index.lazy_entries())
            with self._store.index.batch():
                for session_id in due:
                    self._store.archive(session_id)
                    done += 1
        except JsonlStoreError as problem:
            log.warning("archiving stopped: %s", problem.message)
        if done:
            log.info("archived %d sessions", done)

    def finish(self) -> None:
        """Nobody runs here any more."""
        remove_report(self._store.paths)
