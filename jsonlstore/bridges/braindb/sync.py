"""Live write-through: after every change in the store, the session's row, best effort and never in anyone's way."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from jsonlstore.bridges.braindb.backlog import Backlog, Missed
from jsonlstore.bridges.braindb.location import metrics_db, resolve_brain_db
from jsonlstore.core.errors import WriteFailed
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from jsonlstore.bridges.braindb.table import SessionTable
    from jsonlstore.core.config import Config
    from jsonlstore.store.fold import SessionFold
    from jsonlstore.store.store import SessionStore

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
        self._looked_back = False
        self._guard = threading.Lock()

    @property
    def problem(self) -> str | None:
        """Why brain.db is behind, if it is."""
        missed = self._backlog.read()
        return missed.problem if missed else None

    def __call__(self, session_id: str, _folded: SessionFold) -> None:
        """Bring one session's row after the store, and what was missed before; never raises."""
        if not self._forced and not os.path.exists(self.path):
            return
        with self._guard:
            self._pending[session_id] = None
            # whoever has waited in vain does not make the next turn wait too
            self._bring(WAIT_SECONDS if self.healthy else _UNHEALTHY_SECONDS)

    def catch_up(self, wait: float = 5.0) -> bool:
        """Write everything that was missed, however much it is, and whether or not anybody knows of it.

        For those with time, such as the watcher: a process killed between log and row tells nobody. Is it all there?
        """
        if not os.path.exists(self.path):
            return False
        with self._guard:
            missed = self._backlog.read() or Missed("", "", everything=True)
            return self._guarded(lambda: self._compare(missed, wait)) == {}

    def _bring(self, wait: float) -> None:
        missed = self._backlog.read()
        old = missed.session_ids[:_AT_ONCE] if missed else ()
        due = list(dict.fromkeys([*self._pending, *old]))
        refused = self._guarded(lambda: self._write(due, time.monotonic() + wait))
        if refused is None:
            return
        missed = self._backlog.read()  # a table made just now lacks all older sessions
        if missed is not None or refused:
            self._backlog.settle(Missed("", "", tuple(due)), refused)
        if missed is not None and missed.everything and not self._looked_back:
            self._look_back(missed)

    def _look_back(self, missed: Missed) -> None:
        """More is missing than could be named: compare everything, once per process and if that is quick."""

        def compare() -> dict[str, str]:
            quick = len(os.listdir(self._store.paths.states)) <= _SMALL_STORE
            return self._compare(missed, WAIT_SECONDS) if quick else {}

        self._looked_back = True
        self._guarded(compare)

    def _compare(self, missed: Missed, wait: float) -> dict[str, str]:
        """Bring every row after the store; returns those the table refused, which alone are missing then."""
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
        """Bring these rows after the store; returns which of them the table refused, and why."""
        from jsonlstore.bridges.braindb.database import Writer, connected
        from jsonlstore.bridges.braindb.migration import is_migrated, migrate
        from jsonlstore.bridges.braindb.table import SessionTable

        if not os.path.exists(self.path):
            raise WriteFailed(f"{self.path} is missing", hint="`jsonlstore export brain-db` creates it", path=self.path)
        wait = max(0.0, deadline - time.monotonic())
        with connected(self.path, wait) as connection:
            writer = Writer(connection, self.path, wait)
            if not is_migrated(connection):
                migrate(writer, max(0.02, deadline - time.monotonic()))
                self._backlog.add((), "the table is new: older sessions are still to come", everything=True)
            table = SessionTable(connection, self.path)
            left = list(session_ids)
            refused: dict[str, str] = {}
            while left:
                done = writer.transact(lambda full, some=tuple(left): self._fill(table, some, full, refused))  # type: ignore[misc]
                for session_id in left[:done]:
                    self._pending.pop(session_id, None)
                left = left[done:]
            if table.removed:
                writer.wipe()
        return refused

    def _fill(
        self, table: SessionTable, session_ids: Sequence[str], full: Callable[[], bool], refused: dict[str, str]
    ) -> int:
        """Read and write inside one transaction: two processes at once leave the newer state, not the slower one."""
        from jsonlstore.bridges.braindb.reconcile import standing_of
        from jsonlstore.bridges.braindb.rows import news
        from jsonlstore.bridges.braindb.table import RowRefused

        for number, session_id in enumerate(session_ids, 1):
            standing = standing_of(self._store, session_id)
            if standing.row is not None:
                there = table.rows([session_id]) if standing.imported else {}
                try:
                    table.put([news(there[session_id], standing.row) if there else standing.row])
                except RowRefused as problem:  # this one stays behind, the others go on
                    refused[session_id] = str(problem)
            elif table.may_go(session_id, standing):
                table.remove(session_id)
            if full():
                return number
        return len(session_ids)


def attach(store: SessionStore, config: Config, env: Mapping[str, str] = os.environ) -> BrainDbSync | None:
    """Make the store write through to brain.db (and metrics.db) as the config says; None if it says no."""
    if config.enabled and config.metrics_db:
        from jsonlstore.bridges.braindb.metrics import MetricsDb

        store.metrics.listeners.append(MetricsDb(metrics_db(store.paths.state_dir)))
    if not config.enabled or config.brain_db_enabled is False:
        return None
    path = resolve_brain_db(config, store.paths.state_dir, env)
    sync = BrainDbSync(store, path, forced=config.brain_db_enabled is True)
    store.listeners.append(sync)
    return sync
