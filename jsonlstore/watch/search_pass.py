"""One reading of a transcript for the full-text index, in slices: nothing is written until it is complete.

What a message costs to redact is bounded, but many of them are not, and a capture must not wait for the index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.redact import Redactor
from jsonlstore.transcripts import CopyMerger, CursorOutdated, Reading, Stretch, by_stretch, read_copies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonlstore.recall import Turn
    from jsonlstore.transcripts import Cursor, Entry, RecordedSession

BATCH_BYTES = 4 << 20  # of words are held before they are written
_PAUSE_AFTER = 64  # entries, or one that is long


class SearchPass:
    """The words of a transcript after a cursor, stretch by stretch."""

    def __init__(
        self,
        session: RecordedSession,
        turns: Callable[[Entry, Redactor], Iterator[Turn]],
        after: tuple[Cursor, Stretch, Redactor] | None = None,
    ) -> None:
        self.session = session
        self.extent = session.extent
        self._turns = turns
        self._begin(after)

    def _begin(self, after: tuple[Cursor, Stretch, Redactor] | None) -> None:
        self.from_start = after is None
        self.reading = Reading()
        cursor, self.stretch, self.redactor = after or (None, Stretch.first(self.session.session_id), Redactor())
        self._held: list[tuple[Stretch, list[Turn]]] = []
        self._size = 0
        self._running = self._read(cursor)

    def advance(self, pause: Callable[[], bool]) -> bool:
        """Read on until it is complete or as much as may be held; False if it paused before."""
        try:
            for part in self._running:
                if part is not None:
                    self._held.append(part)
                    self._size += sum(len(turn.text) for turn in part[1])
                    if self._size >= BATCH_BYTES:
                        return True
                elif pause():
                    return False
        except CursorOutdated:
            if self.from_start:
                raise
            self._begin(None)
            return self.advance(pause)
        return True

    def parts(self) -> Iterator[tuple[Stretch, list[Turn]]]:
        """What was read, and what is left to read; the cursor is known at the end."""
        yield from self._held
        yield from (part for part in self._running if part is not None)
        if self.reading.problems:
            raise SourceUnreadable(self.reading.problems[0])

    def _read(self, after: Cursor | None) -> Iterator[tuple[Stretch, list[Turn]] | None]:
        """Each part of a stretch as it is complete, and None wherever a pause would do no harm."""
        merger = CopyMerger() if len(self.session.copies) > 1 else None
        pending: list[Turn] = []
        size = 0
        entries = read_copies(self.session.copies, self.reading, merger, after)
        for count, (place, entry) in enumerate(by_stretch(self.stretch, entries), 1):
            if place.id != self.stretch.id or size >= BATCH_BYTES:
                yield self.stretch, pending
                self.redactor = self.redactor if place.id == self.stretch.id else Redactor()
                self.stretch, pending, size = place, [], 0
            for turn in self._turns(entry, self.redactor):
                pending.append(turn)
                size += len(turn.text)
            if entry.is_long or count % _PAUSE_AFTER == 0:
                yield None
        yield self.stretch, pending
