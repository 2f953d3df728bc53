"""Reading ahead of a backfill: other processes read and distil transcripts, the calling one writes, in its own order.

Reading is most of the work and needs nothing but the transcript, so it is shared by as many processes as there are
processors. They are forks that write nothing and end with the process that made them. Whatever one of them cannot do,
or all that is left after one has died, the caller does itself, as it does everything where there is one processor.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from jsonlstore.core.logs import logger
from jsonlstore.transcripts import RecordedSession
from jsonlstore.watch.follower import FinishedReading

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

log = logger("jsonlstore.watch")

_MOST_HELPERS = 3  # each takes as much memory as the caller
_WORTH_IT = 4 << 20  # bytes to read: below, a helper would take longer to begin than to read
_AHEAD = 64  # sessions that may be read and not written yet
_PIPE = 1 << 20  # bytes of results that may wait, so that no helper waits for a caller at work
_JOB = 4  # bytes of a number in the pipe of jobs
_COLLECT_AFTER = 20_000

Read = Callable[[RecordedSession], FinishedReading]


class ReadAhead:
    """The sessions of one backfill, each read once by whoever is free first."""

    def __init__(self, sessions: Sequence[RecordedSession], read: Read, helpers: int | None = None) -> None:
        """`helpers`: the number of further processes; by default as many as are worth it here."""
        self._sessions = sessions
        self._next = 0
        self._read = read
        self._done: dict[int, FinishedReading | None] = {}
        self._offered = 0
        self._pids: list[int] = []
        self._results: list[Connection] = []
        self._jobs = self._offers = -1
        wanted = _worthwhile(sessions) if helpers is None else helpers
        if wanted and len(sessions) > 1:
            self._start(min(wanted, len(sessions) - 1))
            if self._pids:
                self._offer(_AHEAD)

    def take(self, session: RecordedSession) -> FinishedReading | None:
        """What was read of a session; None if the caller has to read it. Asked for in the order of the sessions."""
        number = self._next
        if number == len(self._sessions) or self._sessions[number] is not session:
            return None  # there is nothing to read in it
        self._next += 1
        if not self._pids:
            return self._done.pop(number, None)
        self._offer(number + _AHEAD)
        while number not in self._done:
            self._receive(wait=False)
            if number in self._done or not self._pids:
                break
            job = self._next_job()
            if job == number:
                return None
            if job is None:
                self._receive(wait=True)
            else:  # a helper is at this one: meanwhile, another
                self._done[job] = self._attempt(job)
        return self._done.pop(number, None)

    def close(self) -> None:
        """End the helpers; whatever they are at is not wanted any more."""
        for fd in (self._jobs, self._offers):
            if fd >= 0:
                os.close(fd)
        self._jobs = self._offers = -1
        for one in self._results:
            one.close()
        for pid in self._pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        self._results, self._pids = [], []

    def _start(self, helpers: int) -> None:
        from multiprocessing.connection import Pipe

        self._jobs, self._offers = os.pipe()
        os.set_blocking(self._jobs, False)  # for all who share the pipe
        gc.freeze()  # what is there now is shared as long as nobody looks at it for garbage
        try:
            for _ in range(helpers):
                ours, theirs = Pipe(duplex=False)
                _widen(theirs.fileno())
                pid = os.fork()
                if pid == 0:
                    self._help(theirs, [ours, *self._results])
                theirs.close()
                self._results.append(ours)
                self._pids.append(pid)
        except OSError as problem:  # no more processes for this user: those there are will do
            log.debug("no further process to read ahead: %s", problem)
        finally:
            gc.unfreeze()

    def _help(self, results: Connection, not_ours: list[Connection]) -> None:
        """The whole life of a helper."""
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller decides, and ends us
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.close(self._offers)  # only the caller's end keeps the pipe open: with the caller we end, too
            for one in not_ours:
                one.close()
            with collecting_seldom():
                while (number := self._awaited_job()) is not None:
                    results.send_bytes(pickle.dumps((number, self._attempt(number)), pickle.HIGHEST_PROTOCOL))
            code = 0
        finally:
            os._exit(code)

    def _attempt(self, number: int) -> FinishedReading | None:
        """A session read, None for whatever prevents that: the caller meets it again, in its turn, and reports it."""
        try:
            return self._read(self._sessions[number])
        except Exception as problem:  # noqa: BLE001 - one odd transcript must not end a helper
            log.debug("%s: not read ahead: %r", self._sessions[number].session_id, problem)
            return None

    def _offer(self, until: int) -> None:
        until = min(until, len(self._sessions))
        if until > self._offered:
            os.write(self._offers, b"".join(job.to_bytes(_JOB, "big") for job in range(self._offered, until)))
            self._offered = until

    def _next_job(self) -> int | None:
        """The first session that nobody is at, which is then the caller's; None if there is none within reach."""
        try:
            return int.from_bytes(os.read(self._jobs, _JOB), "big")
        except BlockingIOError:
            return None

    def _awaited_job(self) -> int | None:
        """The same for a helper, which waits for one; None once the caller has closed the pipe or is gone."""
        while True:
            select.select([self._jobs], [], [])
            try:
                job = os.read(self._jobs, _JOB)
            except BlockingIOError:  # somebody else was faster
                continue
            return int.from_bytes(job, "big") if job else None

    def _receive(self, *, wait: bool) -> None:
        from multiprocessing.connection import wait as wait_for

        for one in wait_for(self._results, None if wait else 0):
            try:
                number, done = pickle.loads(one.recv_bytes())  # type: ignore[union-attr] # noqa: S301 - our own fork's
            except (EOFError, OSError):
                log.warning("a process that read ahead is gone; the rest is read by one")
                self.close()
                return
            self._done[number] = done


def _worthwhile(sessions: Sequence[RecordedSession]) -> int:
    """How many helpers are worth it: none where a fork is not safe or there is little to read."""
    if sys.platform != "linux" or threading.active_count() > 1 or sum(one.size for one in sessions) < _WORTH_IT:
        return 0
    return min(len(os.sched_getaffinity(0)) - 1, _MOST_HELPERS)


def _widen(fd: int) -> None:
    import fcntl

    with suppress(OSError, AttributeError):  # a small one will do
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Collect garbage rarely: reading makes no cycles, and looking for them would take a tenth of the time."""
    usual = gc.get_threshold()
    gc.set_threshold(_COLLECT_AFTER, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
