"""The running state of one transcript: what its entries amount to so far, stretch by stretch.

A follower lives in memory only. It reads on from where it stands while the transcript only grows; whatever else
happened to the files (replaced, rewritten, truncated, another copy turned up) makes it begin again from the start.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.signals.distil import Distiller, Signals
from jsonlstore.signals.options import SignalOptions
from jsonlstore.transcripts.records import Entry
from jsonlstore.transcripts.session import CopyMerger, CursorOutdated, Session, read_copies
from jsonlstore.transcripts.source import Cursor, Reading, Transcript
from jsonlstore.transcripts.stretches import Stretch, by_stretch

_LOOK_AT_CLOCK_EVERY = 64
_MOST_RESTARTS = 4


@dataclass(frozen=True, slots=True)
class DistilledStretch:
    """One stretch and what it amounts to; `entries` counts what is more than the header."""

    stretch: Stretch
    signals: Signals
    entries: int


class Follower:
    """Reads one session's copies as one sequence of entries and distils it."""

    def __init__(self, session_id: str, options: SignalOptions) -> None:
        self._session_id = session_id
        self._options = options
        self._restarts = 0
        self._begin()

    def _begin(self) -> None:
        self.cursor: Cursor | None = None
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

    def _open(self, stretch: Stretch) -> None:
        self._stretch = stretch
        self._distiller = Distiller(self._options)
        self._entries = 0

    @property
    def reading(self) -> bool:
        """Whether a reading is under way that the last call did not finish."""
        return self._running is not None

    def advance(self, session: Session, seconds: float) -> bool:
        """Read on for about `seconds`; True once everything that was there has been read."""
        if self._running is None:
            self._running = self._start(session)
        deadline = time.monotonic() + seconds
        try:
            for count, (stretch, entry) in enumerate(self._running):
                self._take(stretch, entry)
                if count % _LOOK_AT_CLOCK_EVERY == _LOOK_AT_CLOCK_EVERY - 1 and time.monotonic() >= deadline:
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
        """Every stretch ended by a reset since the last call, and the present one."""
        finished, self._finished = self._finished, []
        return [*finished, self._result()]

    def settle(self, session: Session) -> None:
        """What was distilled is kept: from here on only what is new counts as such."""
        self.fresh, self.rebuilt = 0, False
        source, newest = session.copies[-1]
        if self.cursor is not None:
            self._imprint = source.imprint(newest, self.cursor)

    def _result(self) -> DistilledStretch:
        return DistilledStretch(self._stretch, self._distiller.result(), self._entries)

    def _take(self, stretch: Stretch, entry: Entry) -> None:
        if stretch is not self._stretch:
            self._finished.append(self._result())
            self._open(stretch)
        if entry.type != "session":
            self._entries += 1
        self.fresh += 1
        self._distiller.feed(entry)

    def _start(self, session: Session) -> Iterator[tuple[Stretch, Entry]]:
        """Read on, or from the start where that is not enough."""
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

    def _read(self, session: Session) -> Iterator[Entry]:
        source, newest = session.copies[-1]
        reading = Reading()
        identity = source.identity(newest)
        yield from read_copies(session.copies, reading, self._merger, self.cursor)
        # the cursor is taken from the path after the reading: another file there by now was never read
        if reading.cursor is None or source.identity(newest) != identity:
            raise CursorOutdated
        self.problems += reading.problems
        self.cursor = reading.cursor
