"""The running account of one transcript: what its entries amount to so far, stretch by stretch.

A follower lives in memory only. It reads on from where it stands while the transcript merely grows; whatever else
happened to the files (replaced, rewritten, truncated, another copy turned up) makes it begin again from the start.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.signals.distil import Distiller
from jsonlstore.transcripts.readonly import fingerprint
from jsonlstore.transcripts.source import Stretch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jsonlstore.signals.distil import Signals
    from jsonlstore.signals.options import SignalOptions
    from jsonlstore.transcripts.catalogue import Session
    from jsonlstore.transcripts.records import Entry
    from jsonlstore.transcripts.source import Cursor, Reading, Transcript

_LOOK_AT_CLOCK_EVERY = 64
_MOST_RESTARTS = 4
_IMPRINTED_WHOLE = 256 * 1024
_SAMPLES = 64


@dataclass(frozen=True, slots=True)
class Told:
    """One stretch and what it amounts to; `entries` counts what is more than the header."""

    stretch: Stretch
    signals: Signals
    entries: int


def mark_of(session: Session) -> str:
    """A short word for the present extent of every copy: as long as it is the same, nothing was written."""
    told = [
        (one.kind, one.path.name, one.state, one.part, one.size, one.updated_at, one.newest, one.generation)
        if one.kind != "goclaw"
        else (one.kind, one.part, fingerprint(one.path))  # its rows do not say how far they go
        for _, one in session.copies
    ]
    return hashlib.sha256(repr(told).encode()).hexdigest()[:20]


class Follower:
    """Reads one session's copies as one sequence of entries and distils it."""

    def __init__(self, session_id: str, options: SignalOptions) -> None:
        self._session_id = session_id
        self._options = options
        self._begin()

    def _begin(self) -> None:
        self.cursor: Cursor | None = None
        self.bad_count = 0
        self.fresh = 0
        self.rebuilt = True
        self._finished: list[Told] = []
        self._stretch = Stretch.first(self._session_id)
        self._distiller = Distiller(self._options)
        self._entries = 0
        self.problems: list[str] = []
        self._seen: Counter[object] | None = None
        self._here: Counter[object] = Counter()
        self._earlier: tuple[object, ...] | None = None
        self._last_extent: tuple[int, str | None] | None = None
        self._imprint: tuple[int, bytes] | None = None
        self._running: Iterator[Entry] | None = None
        self._restarts = 0

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
            for count, entry in enumerate(self._running):
                self._take(entry)
                if count % _LOOK_AT_CLOCK_EVERY == _LOOK_AT_CLOCK_EVERY - 1 and time.monotonic() >= deadline:
                    return False
        except _BeginAgain:
            restarts = self._restarts + 1
            if restarts > _MOST_RESTARTS:
                raise SourceUnreadable(
                    f"the transcript of {self._session_id} changes faster than it can be read"
                ) from None
            self._begin()
            self._restarts = restarts
            return False
        self._running = None
        self._restarts = 0
        return True

    def told(self) -> list[Told]:
        """Every stretch ended by a reset since the last call, and the present one."""
        finished, self._finished = self._finished, []
        return [*finished, Told(self._stretch, self._distiller.result(), self._entries)]

    def settle(self, session: Session) -> None:
        """What was told is kept: from here on only what is new counts as such."""
        self.fresh, self.rebuilt = 0, False
        last = session.copies[-1][1]
        if self.cursor is not None and last.kind == "jsonl":
            found = imprint(last.path, self.cursor.position)
            self._imprint = (self.cursor.position, found) if found else None

    def _take(self, entry: Entry) -> None:
        if entry.type == "reset":
            self._finished.append(Told(self._stretch, self._distiller.result(), self._entries))
            self._stretch = self._stretch.next(entry)
            self._distiller = Distiller(self._options)
            self._entries = 0
        if entry.type != "session":
            self._entries += 1
        self.fresh += 1
        self._distiller.feed(entry)

    def _start(self, session: Session) -> Iterator[Entry]:
        earlier = tuple(map(_extent, (one for _, one in session.copies[:-1])))
        _, last = session.copies[-1]
        if self.cursor is None or earlier != self._earlier or not self._merely_grew(last, self.cursor):
            restarts = self._restarts
            self._begin()
            self._restarts = restarts
            self._earlier = earlier
            if len(session.copies) > 1:
                self._seen = Counter()
            self._last_extent = last.size, last.updated_at
            return self._all(session)
        self._last_extent = last.size, last.updated_at
        return self._last(session, self.cursor)

    def _merely_grew(self, last: Transcript, cursor: Cursor) -> bool:
        """Whether reading on is enough, as far as can be told before; the cursor's own check comes on top."""
        if last.kind != cursor.kind:
            return False
        if last.kind == "jsonl":
            # written to and not a byte longer: it was written over
            extent = last.size, last.updated_at
            if extent == self._last_extent:
                return True
            unchanged = self._imprint is None or imprint(last.path, self._imprint[0]) == self._imprint[1]
            return last.size > cursor.position and unchanged
        return last.kind != "sqlite" or not last.part

    def _all(self, session: Session) -> Iterator[Entry]:
        for source, transcript in session.copies[:-1]:
            self._here = Counter()
            reading = source.read(transcript)
            try:
                yield from self._unseen(reading)
            except SourceUnreadable as problem:
                self.problems.append(problem.message)
            self.problems += reading.problems
            self.bad_count += reading.bad_count
            if self._seen is not None:
                self._seen |= self._here
        self._here = Counter()
        yield from self._last(session, None)

    def _last(self, session: Session, after: Cursor | None) -> Iterator[Entry]:
        source, transcript = session.copies[-1]
        before = _identity(transcript)
        reading = source.read(transcript, after)
        for entry in self._unseen(reading):
            if reading.restarted:
                raise _BeginAgain
            yield entry
        # the cursor is taken from the path after the reading: another file there by now was never read
        if reading.restarted or reading.cursor is None or _identity(transcript) != before:
            raise _BeginAgain
        self.bad_count += reading.bad_count
        self.cursor = reading.cursor

    def _unseen(self, reading: Reading) -> Iterator[Entry]:
        if self._seen is None:
            yield from reading
            return
        for entry in reading:
            key = "session" if entry.type == "session" else entry.id or _digest(entry)
            self._here[key] += 1  # what one copy says twice was said twice
            if self._here[key] > self._seen[key]:
                yield entry


class _BeginAgain(Exception):
    """The file under the cursor is not the one that was read before."""


def imprint(path: Path, length: int) -> bytes | None:
    """A digest of a file's first `length` bytes: of all while they are few, else of samples; None if unreadable.

    It tells a file that merely grew from one that was written over as well, without reading it all at every event.
    """
    if path.name.endswith(".zst"):
        return None
    digest = hashlib.blake2b(digest_size=16)
    steps = 1 if length <= _IMPRINTED_WHOLE else _SAMPLES
    piece = length if steps == 1 else _IMPRINTED_WHOLE // _SAMPLES
    try:
        with path.open("rb", buffering=0) as file:
            for step in range(steps):
                data = os.pread(file.fileno(), piece, step * (length - piece) // max(1, steps - 1))
                digest.update(data)
    except OSError:
        return None
    return digest.digest()


def _extent(transcript: Transcript) -> tuple[object, ...]:
    one = transcript
    return one.kind, one.path, one.state, one.part, one.size, one.updated_at, one.newest, one.generation


def _identity(transcript: Transcript) -> tuple[int, int]:
    try:
        stat = os.stat(transcript.path)
    except OSError as problem:
        raise SourceUnreadable(f"cannot read {transcript.path}: {problem.strerror}", path=transcript.path) from problem
    return stat.st_dev, stat.st_ino


def _digest(entry: Entry) -> object:
    """Equal for records that say the same; one nested too deeply to compare equals nothing."""
    try:
        return hashlib.sha256(json.dumps(entry.raw, sort_keys=True).encode()).digest()
    except RecursionError:
        return object()
