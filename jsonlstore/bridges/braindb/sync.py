"""Live write-through: every change in the store updates the session's row, best effort, and never holds anyone up."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from jsonlstore.bridges.braindb.backlog import Backlog, Missed
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from jsonlstore.store import SessionFold, SessionStore

log = logger(__name__)

WAIT_SECONDS = 0.1
_UNHEALTHY_SECONDS = 0.01
_AT_ONCE = 50  # sessions caught up within one session's turn
_SMALL_STORE = 500  # so many sessions are compared in no time; more are left to `export brain-db` and the watcher


class BrainDbSync:
    """A listener for `store.listeners`.

    What cannot be written (locked, read-only, corrupt, missing) is noted for `status` and written with the next
    success, by this process or another.
    """

    def __init__(self, store: SessionStore, path: Path, *, forced: bool) -> None:
        self.path = path
        self._store = store
        self._forced = forced
        self._backlog = Backlog(store)
        self._pending: dict[str, None] = {}
        self.healthy = True
        self._tried_everything = False
        self._guard = threading.Lock()

    @property
    def problem(self) -> str | None:
        """Why brain.db is behind, if it is."""
        missed = self._backlog.read()
        return missed.problem if missed else None

    def __call__(self, session_id: str, _folded: SessionFold) -> None:
        """Update the row of one session, and the rows that were missed before; never raises."""
        if not self._forced and not os.path.exists(self.path):
            return
        with self._guard:
            self._pending[session_id] = None
            # after a wait in vain the next turn does not wait as long
            self._write_through(WAIT_SECONDS if self.healthy else _UNHEALTHY_SECONDS)

    def catch_up(self, wait: float = 5.0) -> bool:
        """Reconcile everything; returns whether every row is up to date now.

        For callers with time, such as the watcher: a process killed between log and row left no backlog.
        """
        if not os.path.exists(self.path):
            return False
        with self._guard:
            missed = self._backlog.read() or Missed("", "", everything=True)
            return self._guarded(lambda: self._reconcile_all(missed, wait)) == {}

    def _write_through(self, wait: float) -> None:
        missed = self._backlog.read()
        old = missed.session_ids[:_AT_ONCE] if missed else ()
        due = list(dict.fromkeys([*self._pending, *old]))
        refused = self._guarded(lambda: self._write(due, time.monotonic() + wait))
        if refused is None:
            return
        missed = self._backlog.read()  # a table made just now lacks all older sessions
        if missed is not None or refused:
            self._backlog.settle(Missed("", "", tuple(due)), refused)
        if missed is not None and missed.everything and not self._tried_everything:
            self._reconcile_if_small(missed)

    def _reconcile_if_small(self, missed: Missed) -> None:
        """More is missing than could be named: reconcile everything, once per process and if that is quick."""
        self._tried_everything = True
        states = self._store.paths.states
        self._guarded(
            lambda: self._reconcile_all(missed, WAIT_SECONDS) if len(os.listdir(states)) <= _SMALL_STORE else {}
        )

    def _reconcile_all(self, missed: Missed, wait: float) -> dict[str, str]:
        """Reconcile every row; returns those the table refused, which alone are behind then."""
        from jsonlstore.bridges.braindb.export import export_sessions

        refused = export_sessions(self._store, self.path, wait=wait).refused
        self._pending.clear()
        self._backlog.settle(missed, refused)
        return refused

    def _guarded(self, work: Callable[[], dict[str, str]]) -> dict[str, str] | None:
        """The rows refused, as `work` says; None if it did not work: what went wrong is noted and goes no further."""
        try:
            refused = work()
        except Exception as problem:  # noqa: BLE001 - another program's file must never break a session
            self.healthy = False
            log.warning("brain.db is behind, the session goes on: %s", problem)
            if self._pending or self._backlog.read() is not None:
                self._backlog.add(self._pending, str(problem))
            return None
        self.healthy = True
        return refused

    def _write(self, session_ids: Sequence[str], deadline: float) -> dict[str, str]:
        """Reconcile these sessions' rows; returns which of them the table refused, and why."""
        from jsonlstore.bridges.braindb.database import Writer, connected, create_empty
        from jsonlstore.bridges.braindb.export import ExportReport
        from jsonlstore.bridges.braindb.migration import is_migrated, migrate_table
        from jsonlstore.bridges.braindb.reconcile import Reconciliation
        from jsonlstore.bridges.braindb.table import SessionTable

        if not os.path.exists(self.path):
            create_empty(self.path)  # only where it is switched on: see `__call__`
        report = ExportReport(self.path)
        wait = max(0.0, deadline - time.monotonic())
        with connected(self.path, wait) as connection:
            writer = Writer(connection, self.path, wait)
            if not is_migrated(connection):
                migrate_table(writer, max(0.02, deadline - time.monotonic()))
                # said before any row is written: a process killed in between leaves a table that looks complete
                self._backlog.add((), "the table is new: older sessions are still to come", everything=True)
            Reconciliation(self._store, SessionTable(connection, self.path), report, writer).run(session_ids)
        for session_id in session_ids:
            self._pending.pop(session_id, None)
        return report.refused
