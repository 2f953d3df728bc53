"""The watcher's periodic chores: the status report, systemd's watchdog, archiving, updating copies of the store."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from datetime import timedelta

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger
from jsonlstore.core.process import return_free_memory
from jsonlstore.store import SessionStore, repair_unfinished
from jsonlstore.watch.instance import Report, write_report
from jsonlstore.watch.observer import Hints, Observer

log = logger("jsonlstore.watch")

_ROUND = 3600.0
_AGAIN = 60.0  # retry delay after a failure, doubled after each further one
_PATIENCE = 0.2


class Maintenance:
    """The chores of one watcher, each run when it is due."""

    def __init__(self, store: SessionStore, report_every: float) -> None:
        self._store = store
        self._report_every = report_every
        self._alive_every = keep_alive_seconds()
        self._started_at = store.now()
        self._archived_on: str | None = None
        self._report_at = 0.0
        self._alive_at = 0.0
        self._copies_at = 0.0
        self._copies_again = _AGAIN
        self.last_event_at: str | None = None
        self.last_scan_at: str | None = None

    @property
    def due_at(self) -> float:
        """When the next chore is due, on the monotonic clock."""
        return min(self._report_at, self._alive_at)

    def keep_alive(self) -> None:
        """Send systemd's watchdog message, if systemd asks for it and it is due."""
        now = time.monotonic()
        if now >= self._alive_at:
            self._alive_at = now + (self._alive_every or _ROUND)
            if self._alive_every:
                notify("WATCHDOG=1")

    def report(self, observer: Observer, hints: Hints, problem: str | None) -> None:
        """Write the report that `status` reads, if it is due; `problem` says why sessions cannot be written."""
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
            problem=problem,
            polling_because=observer.problem,
        )
        try:
            write_report(self._store.paths, report)
        except JsonlStoreError as failure:
            log.warning("%s", failure.message)

    def update_copies(self) -> None:
        """At start and once an hour, bring every copy of the store, such as brain.db, up to date with missed writes."""
        now = time.monotonic()
        if now < self._copies_at:
            return
        copies = [bring for each in self._store.listeners if (bring := getattr(each, "catch_up", None))]
        done = [bring(wait=_PATIENCE) for bring in copies]  # each copy logs its own problems
        return_free_memory()  # the first time, all that was read at start is behind us
        if all(done):
            self._copies_at, self._copies_again = now + _ROUND, _AGAIN
            return
        self._copies_at = now + self._copies_again
        self._copies_again = min(self._copies_again * 2, _ROUND)

    def repair(self) -> None:
        """Complete the changes that a killed watcher left unfinished."""
        try:
            mended = repair_unfinished(self._store)
        except JsonlStoreError as problem:
            log.warning("%s", problem.message)
            return
        if mended:
            log.info("mended %d session%s after a crash", mended, "" if mended == 1 else "s")

    def archive(self, after_days: int) -> None:
        """Once a day, move sessions that ended long ago to the archive."""
        today = self._store.now()[:10]
        if today == self._archived_on:
            return
        self._archived_on = today
        try:
            done = self._store.archive_older(timedelta(days=after_days), self._store.index.lazy_entries())
        except JsonlStoreError as problem:
            log.warning("archiving stopped: %s", problem.message)
            return
        if done:
            log.info("archived %d session%s", len(done), "" if len(done) == 1 else "s")


def notify(message: str, env: Mapping[str, str] = os.environ) -> bool:
    """Send one `sd_notify` message; False if there is no socket or no listener."""
    address = env.get("NOTIFY_SOCKET", "")
    if not address or address[0] not in "/@":
        return False
    if address[0] == "@":
        address = "\0" + address[1:]  # a leading @ stands for Linux's abstract socket namespace
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            channel.connect(address)
            channel.sendall(message.encode())
    except OSError:
        return False
    return True


def keep_alive_seconds(env: Mapping[str, str] = os.environ) -> float | None:
    """The interval of systemd's watchdog messages: half of its timeout.

    None if systemd wants none from this process.
    """
    wanted = env.get("WATCHDOG_USEC", "")
    pid = env.get("WATCHDOG_PID", "")
    if not wanted.isdigit() or not int(wanted) or (pid and pid != str(os.getpid())):
        return None
    return int(wanted) / 2_000_000
