"""`SessionStore`: a state directory's sessions, opened to read, to append to, and to archive, repair and forget.

Reading is `reader`'s, appending is `append`'s. Here is what removes or moves whole files: a log goes to the archive and
comes back, a damaged one is repaired, a forgotten one leaves a tombstone.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from jsonlstore.core.clock import Clock, system_clock
from jsonlstore.core.errors import SessionForgotten, SessionNotFound, SessionOpen
from jsonlstore.core.files import Disk, writing
from jsonlstore.core.forgetters import FORGETTERS
from jsonlstore.core.locks import DEFAULT_TIMEOUT, Locks
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import StatePaths, check_session_id, resolve_state_dir
from jsonlstore.store.append import SessionAppender
from jsonlstore.store.archive import finish_move, mirror_shows, move_to_archive, write_mirror
from jsonlstore.store.fold import SessionFold
from jsonlstore.store.index import ProgressCallback, silent
from jsonlstore.store.projection import RawIndexEntry, project
from jsonlstore.store.reader import not_found

if TYPE_CHECKING:
    from jsonlstore.store.forget import Forgotten
    from jsonlstore.store.metrics import Metrics

log = logger(__name__)


class SessionStore(SessionAppender):
    """The sessions of one state directory. Safe to share between threads, and with other processes.

    Arguments:
        paths: where everything is, as `StatePaths.of(state_dir)` says; `open` does that for you
        state_dir: OpenClaw's state directory; without it `$OPENCLAW_STATE_DIR`, or `~/.openclaw`
        sessions_dir: where mirrors and archive go instead; the logs stay in the state directory
        clock: a function that returns the present as an aware `datetime`; for tests
        disk: the write operations; for tests
        lock_timeout: a function that returns how many seconds to wait for a lock
        left: a function that returns how many seconds are left
        path: the log's file
        most: at most so many sessions
        progress: is called with what is done and the total
    """

    # what `open` adds: see the library's door, brain.db
    equipment: ClassVar[list[Callable[[SessionStore], object]]] = []

    def __init__(
        self,
        paths: StatePaths,
        *,
        clock: Clock = system_clock,
        disk: Disk | None = None,
        lock_timeout: Callable[[], float] = lambda: DEFAULT_TIMEOUT,
    ) -> None:
        super().__init__(paths, clock, disk or Disk(), Locks(paths.states, lock_timeout))
        self._origin: SessionStore | None = None
        self.memories: Any = None  # where inherited memories get their confidence from, if the store has such a place

    @classmethod
    def open(
        cls, state_dir: str | Path | None = None, *, sessions_dir: str | None = None, clock: Clock = system_clock
    ) -> Self:
        """Open the store of a state directory (default: OpenClaw's). Nothing is created before the first write."""
        store = cls(StatePaths.of(resolve_state_dir(state_dir), sessions_dir), clock=clock)
        for equip in cls.equipment:
            equip(store)
        return store

    @classmethod
    def in_memory(cls, *, clock: Clock = system_clock) -> Self:
        """A store in a temporary directory of its own, unsynced, removed with the object."""
        from tempfile import TemporaryDirectory

        root = TemporaryDirectory(prefix="jsonlstore-")
        store = cls(StatePaths.of(Path(root.name)), clock=clock, disk=Disk(sync=False))
        weakref.finalize(store, root.cleanup)
        return store

    @cached_property
    def metrics(self) -> Metrics:
        """The store's metrics, loaded on first use because most readers need none."""
        from jsonlstore.store.metrics import Metrics

        metrics = Metrics(self.paths, self.disk, self.locks, self.now)
        if self._origin is not None:
            metrics.listeners = self._origin.metrics.listeners
        return metrics

    def within(self, left: Callable[[], float]) -> Self:
        """The same store for a caller with a deadline: waits for a lock at most `left()` seconds."""
        twin = type(self)(
            self.paths, clock=self.clock, disk=self.disk, lock_timeout=lambda: min(DEFAULT_TIMEOUT, left())
        )
        twin.listeners, twin.memories = self.listeners, self.memories
        twin._origin = self  # noqa: SLF001 - a store in memory lives as long as anyone uses it
        return twin

    def archive(self, session_id: str) -> str:
        """Move an ended session to cold storage, or complete such a move; returns the month it is filed under."""
        self.prepare()
        with self.locks.session(check_session_id(session_id)):
            known = self._load(session_id)
            if known is None:
                entry = finish_move(self.paths, self.disk, session_id, self.open_log)
                if entry is None:
                    raise not_found(session_id)
                month: str = entry["archived"]
            else:
                self._writable(session_id, known.folded)
                if not known.folded.ended:
                    raise SessionOpen(f"session {session_id} has not ended and stays where it is")
                month = move_to_archive(self.paths, self.disk, session_id, known.folded.to_dict())
                entry = project(known.folded, known.end, month)
            self._drop_known(session_id)
            self._follow(session_id, entry)
        self._notify(session_id, known.folded if known else self.folded(session_id))
        return month

    def finish_archiving(self, session_id: str) -> None:
        """Complete or undo an archive move that a crash interrupted; where the log is decides."""
        with self.locks.session(check_session_id(session_id)):
            self._drop_known(session_id)
            entry = finish_move(self.paths, self.disk, session_id, self.open_log)
            self.index.put(session_id, entry)

    def archive_older(
        self,
        older_than: timedelta,
        among: Mapping[str, RawIndexEntry | None] | None = None,
        *,
        most: int | None = None,
        progress: ProgressCallback = silent,
    ) -> list[str]:
        """Archive the sessions that `archivable` lists, at most `most`, with one write of the index; returns them."""
        due, moved = self.archivable(older_than, among)[:most], []
        with self.index.batch():
            for number, session_id in enumerate(due, 1):
                try:
                    self.archive(session_id)
                except (SessionForgotten, SessionNotFound, SessionOpen) as problem:
                    # another process moved, resumed or removed it since the index was read
                    log.debug("session %s is not archived: %s", session_id, problem)
                else:
                    moved.append(session_id)
                progress(number, len(due))
        return moved

    def repair_log(self, session_id: str, path: Path) -> bool:
        """Repair a torn tail now instead of at the next append."""
        with self.locks.session(check_session_id(session_id)):
            self._drop_known(session_id)
            return self.open_log(path).repair()

    def quarantine_damage(self, session_id: str, path: Path) -> int:
        """Move the lines of a log that are not events into quarantine; returns how many."""
        with self.locks.session(check_session_id(session_id)):
            self._drop_known(session_id)
            return self.open_log(path).cut_damage()

    def repair_mirror(self, session_id: str) -> bool:
        """Write the mirror of an ended session again; False if it is as it should be, or there is to be none."""
        with self.locks.session(check_session_id(session_id)):
            known = self._load(session_id)
            if known is None or known.folded.forgotten or not known.folded.ended:
                return False
            if mirror_shows(self.paths, session_id, known.folded.to_dict()):
                with writing(self.paths.mirror(session_id)):
                    os.utime(self.paths.mirror(session_id))  # newer than the log again, so that nobody looks twice
                return False
            return write_mirror(self.paths, self.disk, session_id, known.folded.to_dict())

    def would_forget(self, session_id: str) -> Forgotten:
        """What `forget` would remove, and who holds pins inherited from it; nothing is changed."""
        from jsonlstore.store.forget import preview

        return preview(self.paths, self.open_log, check_session_id(session_id))

    def forget(self, session_id: str) -> Forgotten:
        """Remove every file of a session; a tombstone stays so that no later scan imports it again."""
        from jsonlstore.store.forget import forget_session, task_ids

        self.prepare()
        with self.locks.session(check_session_id(session_id)):
            self._drop_known(session_id)
            # first, while the log still lists the session's tasks
            self.metrics.blank(session_id, task_ids(self.paths, self.open_log, session_id))
            outcome = forget_session(self.paths, self.disk, self.open_log, session_id, self.now())
            self.index.put(session_id, outcome.entry, sweep=True)
        gone = SessionFold()
        gone.session_id, gone.forgotten = session_id, True
        self._notify(session_id, gone)
        for forget in FORGETTERS:
            forget(self.paths, session_id)
        return outcome
