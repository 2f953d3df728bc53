"""The running state of one transcript: what its entries distil to so far, stretch by stretch.

A follower lives in memory only. It reads on from its position while the transcript only grows; any other change of the
files (replaced, rewritten, truncated, another copy found) makes it begin again from the start.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.handoff import MessageWindow, WindowFacts
from jsonlstore.signals import Distiller, SessionFacts, SignalOptions, Signals
from jsonlstore.transcripts import (
    BegunHash,
    CopyMerger,
    Cursor,
    CursorOutdated,
    Entry,
    Reading,
    RecordedSession,
    Stretch,
    Transcript,
    by_stretch,
    read_copies,
)

_LOOK_AT_CLOCK_EVERY = 64  # entries, and after each long one: a message may take a good part of a slice
_LEAST = 0.02  # seconds that a session gets before it makes way for others
_MOST_RESTARTS = 4


@dataclass(frozen=True, slots=True)
class DistilledStretch:
    """One stretch and its distilled signals; `entries` counts the records besides the header."""

    stretch: Stretch
    signals: Signals
    entries: int
    window: WindowFacts
    facts: SessionFacts | None = None  # of the stretch that is still open


@dataclass(frozen=True, slots=True)
class FinishedReading:
    """A transcript read to its end by somebody else: what a `Follower` would know of it then, but for reading on."""

    extent: str  # as it was before the reading began: nothing that was written later may count as read
    cursor: Cursor | None
    problems: list[str]
    fresh: int
    stretches: list[DistilledStretch]


class Follower:
    """Reads one session's copies as one sequence of entries and distils it."""

    def __init__(
        self,
        session_id: str,
        options: SignalOptions,
        heavy: tuple[int, int] | None = (32 * 1024, 10),
        *,
        facts: bool = True,
    ) -> None:
        """Without `heavy`, nothing is found out that only a handoff needs; without `facts`, that only a checkpoint."""
        self._heavy = heavy
        self._facts = facts
        self._session_id = session_id
        self._options = options
        self._restarts = 0
        self._begin()

    def _begin(self) -> None:
        self.cursor: Cursor | None = None
        self._hash = BegunHash()
        self.problems: list[str] = []
        self.fresh = 0
        self.rebuilt = True
        self._finished: list[DistilledStretch] = []
        self._open(Stretch.first(self._session_id))
        self._merger: CopyMerger | None = None
        self._earlier: list[tuple[object, ...]] | None = None
        self._newest: Transcript | None = None
        self._imprint: bytes | None = None
        self._running: Iterator[tuple[Stretch, Entry]] | None = None
        self._adopted: list[DistilledStretch] | None = None

    def _open(self, stretch: Stretch) -> None:
        self._stretch = stretch
        self._distiller = Distiller(self._options, facts=self._facts)
        self._window = MessageWindow(*self._heavy) if self._heavy else None
        self._entries = 0

    @property
    def reading(self) -> bool:
        """Whether the last call stopped in the middle of a reading."""
        return self._running is not None

    def advance(
        self, session: RecordedSession, seconds: float, others_wait: Callable[[], bool] = lambda: False
    ) -> bool:
        """Read on for about `seconds`, or until others wait; True once the end is reached."""
        if self._running is None:
            self._running = self._start(session)
        started = time.monotonic()
        try:
            for count, (stretch, entry) in enumerate(self._running):
                self._take(stretch, entry)
                if entry.is_long or count % _LOOK_AT_CLOCK_EVERY == _LOOK_AT_CLOCK_EVERY - 1:
                    spent = time.monotonic() - started
                    if spent >= seconds or (spent >= _LEAST and others_wait()):
                        return False
        except CursorOutdated:
            if self._restarts == _MOST_RESTARTS:
                raise SourceUnreadable(
                    f"the transcript of {self._session_id} changes faster than it can be read"
                ) from None
            self._restarts += 1
            self._begin()
            return False
        self._running = None
        self._restarts = 0
        return True

    def distilled(self) -> list[DistilledStretch]:
        """Every stretch that a reset ended since the last call, and the present one."""
        if self._adopted is not None:
            return self._adopted
        finished, self._finished = self._finished, []
        last = self._result()
        return [*finished, replace(last, facts=self._distiller.facts()) if self._facts else last]

    def finish(self, session: RecordedSession) -> FinishedReading:
        """Read to the end, for another follower to adopt."""
        extent = session.extent
        while not self.advance(session, float("inf")):
            continue
        return FinishedReading(extent, self.cursor, self.problems, self.fresh, self.distilled())

    def adopt(self, done: FinishedReading) -> None:
        """Take over what another process has read; whatever is written later is read from the start."""
        self._begin()
        self.cursor, self.problems, self.fresh, self._adopted = done.cursor, done.problems, done.fresh, done.stretches

    def digest(self, session: RecordedSession) -> str:
        """The hash of what was read of the newest copy."""
        source, newest = session.copies[-1]
        return source.digest(newest, self.cursor, self._hash) if self.cursor is not None else ""

    def settle(self, session: RecordedSession) -> None:
        """Mark what was distilled as written: only later entries count as fresh."""
        self.fresh, self.rebuilt = 0, False
        source, newest = session.copies[-1]
        if self.cursor is not None and self._adopted is None:  # what another process has read is not read on
            self._imprint = source.imprint(newest, self.cursor)

    def _result(self) -> DistilledStretch:
        window = self._window.facts() if self._window else WindowFacts()
        return DistilledStretch(self._stretch, self._distiller.result(), self._entries, window)

    def _take(self, stretch: Stretch, entry: Entry) -> None:
        if stretch is not self._stretch:
            self._finished.append(self._result())
            self._open(stretch)
        if entry.type != "session":
            self._entries += 1
        self.fresh += 1
        if self._window:
            self._window.feed(entry)  # before its body is parsed: the size of a long record is known without
        self._distiller.feed(entry)

    def _start(self, session: RecordedSession) -> Iterator[tuple[Stretch, Entry]]:
        """The entries to read: those after the cursor if the transcript only grew, else all from the start."""
        source, newest = session.copies[-1]
        earlier = [(copy.path, *each.extent(copy)) for each, copy in session.copies[:-1]]
        only_grew = (
            self.cursor is not None
            and self._newest is not None
            and earlier == self._earlier
            and source.only_grew(self._newest, newest, self.cursor, self._imprint)
        )
        if not only_grew:
            self._begin()
            self._earlier = earlier
            self._merger = CopyMerger() if earlier else None
        self._newest = newest
        return by_stretch(self._stretch, self._read(session))

    def _read(self, session: RecordedSession) -> Iterator[Entry]:
        source, newest = session.copies[-1]
        reading = Reading()
        identity = source.identity(newest)
        yield from read_copies(session.copies, reading, self._merger, self.cursor)
        # the cursor describes the file now at the path: if that is another file, it was not the one read
        if reading.cursor is None or source.identity(newest) != identity:
            raise CursorOutdated
        self.problems += reading.problems
        self.cursor = reading.cursor
