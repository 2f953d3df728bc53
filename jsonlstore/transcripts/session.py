"""One session with every copy of its history, merged so that each entry appears once.

A session may have several copies: a live file, an archive, a database that an import has filled. This is the one place
that merges them and that computes their common extent.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.core.hashes import sha256
from jsonlstore.core.session_key import skip_reason
from jsonlstore.transcripts.records import Entry
from jsonlstore.transcripts.source import LIVE, Cursor, Ending, Reading, Transcript, TranscriptSource
from jsonlstore.transcripts.stretches import Stretch, by_stretch

Copy = tuple["TranscriptSource", "Transcript"]


class CursorOutdated(Exception):
    """The file under the cursor is not the file that was read before."""


class CopyMerger:
    """Yields each entry once although several copies of a session hold it; entries are compared by id."""

    def __init__(self) -> None:
        self._seen: Counter[object] = Counter()
        self._here: Counter[object] = Counter()

    def next_copy(self) -> None:
        """Begin the next copy."""
        self._seen |= self._here
        self._here = Counter()

    def unseen(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The entries that no earlier copy has."""
        for entry in entries:
            key = "session" if entry.type == "session" else entry.id or _digest(entry)
            self._here[key] += 1  # a repetition within one copy is a real repetition
            if self._here[key] > self._seen[key]:
                yield entry


def read_copies(
    copies: Sequence[Copy], reading: Reading, merger: CopyMerger | None, after: Cursor | None = None
) -> Iterator[Entry]:
    """The entries of all copies, oldest copy first, each once; with a cursor, only what follows it in the newest copy.

    An unreadable older copy is a problem noted in `reading`; an unreadable newest copy fails the reading.
    """
    for source, transcript in copies[:-1] if after is None else ():
        part = source.read(transcript)
        try:
            yield from merger.unseen(part) if merger else part
        except SourceUnreadable as problem:
            part.problems.append(problem.message)
        if merger:
            merger.next_copy()
        reading.absorb(part)
    source, transcript = copies[-1]
    part = source.read(transcript, after)
    for entry in merger.unseen(part) if merger else part:
        if part.restarted:
            raise CursorOutdated
        yield entry
    if part.restarted:
        raise CursorOutdated
    reading.absorb(part)


def copy_order(copy: Copy) -> tuple[int, str, str]:
    """The sort key of a copy: older copies first, because they have the original order and newer ones add to it."""
    source, transcript = copy
    return source.precedence(transcript), transcript.updated_at or "", transcript.path.name


def _digest(entry: Entry) -> object:
    """A digest that is equal for records with the same content; a record nested too deeply to compare equals none."""
    try:
        return sha256(json.dumps(entry.raw, sort_keys=True).encode()).digest()
    except RecursionError:
        return object()


@dataclass(frozen=True, slots=True)
class Outline:
    """A summary of one stretch of a session: number of entries, start, end, and why it ended."""

    stretch: Stretch
    entries: int
    started_at: str | None
    last_at: str | None
    ending: Ending | None


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """One session of one agent, with every copy of its history, oldest first.

    `certain` is false when something of this agent's could not be read: the live copy may be among that.
    """

    agent_id: str
    session_id: str
    copies: tuple[tuple[TranscriptSource, Transcript], ...]
    certain: bool = True
    # the session's identity, because two agents may have sessions with the same id; made once, as tables share it
    key: tuple[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", (self.agent_id, self.session_id))

    @property
    def session_key(self) -> str | None:
        return next((copy.session_key for _, copy in reversed(self.copies) if copy.session_key), None)

    @property
    def channel(self) -> str:
        return next((copy.channel for _, copy in reversed(self.copies) if copy.channel != "unknown"), "unknown")

    @property
    def context_tokens(self) -> int | None:
        """The context window of the session's model, if a runtime records it."""
        return next((copy.context_tokens for _, copy in reversed(self.copies) if copy.context_tokens), None)

    @property
    def compactions(self) -> int | None:
        """The number of compactions, if a runtime records it."""
        return next((copy.compactions for _, copy in reversed(self.copies) if copy.compactions is not None), None)

    @property
    def skip(self) -> str | None:
        return next((copy.skip for _, copy in self.copies if copy.skip), None) or skip_reason(self.session_key)

    @property
    def ending(self) -> Ending | None:
        """Why it ended; None while any copy is a current session of its runtime."""
        lives = [copy for _, copy in self.copies if copy.state == LIVE]
        if any(copy.ending is None for copy in lives):
            return None
        endings = [copy.ending for _, copy in self.copies if copy.ending]
        if not endings:  # only backups and imported files are left
            return Ending("unreferenced") if self.certain else None
        stated = [ending for ending in endings if ending.reason != "unreferenced"]
        return (stated or endings)[-1]

    @property
    def end_reason(self) -> str | None:
        """Why the session ended, in the words we store; None while it is a current session of its runtime."""
        leftovers = [source.leftover_reason(copy) for source, copy in self.copies]
        if self.certain and all(leftovers):
            return leftovers[-1]
        ending = self.ending
        return self.newest_source.end_reason(ending.reason) if ending is not None else None

    @property
    def newest_source(self) -> TranscriptSource:
        """The source of the newest copy."""
        return self.copies[-1][0]

    @property
    def updated_at(self) -> str | None:
        return max((copy.updated_at for _, copy in self.copies if copy.updated_at), default=None)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(sorted({copy.kind for _, copy in self.copies}))

    @property
    def extent(self) -> str:
        """A digest of every copy's extent: unchanged as long as nothing was written."""
        extents = [source.extent(copy) for source, copy in self.copies]
        return sys.intern(sha256(repr(extents).encode()).hexdigest()[:20])

    @property
    def size(self) -> int:
        """The bytes to read; a database row counts as a kilobyte, which is about its average."""
        return sum(copy.size or 1024 * ((copy.newest or 0) + 1) for _, copy in self.copies)

    def refreshed(self) -> RecordedSession | None:
        """The session with the present extent of its files; None if a file is gone, which the next listing explains."""
        copies = []
        for source, copy in self.copies:
            present = source.refreshed(copy)
            if present is None:
                return None
            copies.append((source, present))
        return replace(self, copies=tuple(copies))

    def lag(self, cursor: Cursor | None) -> int:
        """The amount after the cursor, in the unit of the newest copy's source."""
        source, newest = self.copies[-1]
        if cursor is not None and cursor.kind == source.kind:
            return source.lag(newest, cursor)
        return sum(each.lag(copy, None) for each, copy in self.copies if each.lag_unit == source.lag_unit)

    def read(self, after: Cursor | None = None) -> Reading:
        """Every entry once, copies compared by entry id; those after the cursor, if it is one of the newest copy's."""
        source, newest = self.copies[-1]
        if after is not None and after.kind == source.kind:
            return source.read(newest, after)
        if len(self.copies) == 1:
            return source.read(newest)
        reading = Reading()
        return reading.deliver(self._merged(reading))

    def _merged(self, reading: Reading) -> Iterator[Entry]:
        entry = None
        try:
            for entry in read_copies(self.copies, reading, CopyMerger()):
                yield entry
        except SourceUnreadable as problem:
            reading.problems.append(problem.message)
        if reading.problems:
            reading.cursor = None
        if entry is None and reading.problems:
            raise SourceUnreadable(reading.problems[0])

    def stretches(self) -> Iterator[tuple[Stretch, Entry]]:
        """Every entry once, with the stretch between resets it belongs to."""
        return by_stretch(self.session_id, self.read())

    def outline(self) -> list[Outline]:
        """Its stretches in order; each ends with the reset that begins the next, and the last with the session."""
        found = []
        for _, pairs in groupby(self.stretches(), key=lambda pair: pair[0].number):
            stretch, first = next(pairs)
            count, last = 1, first
            for count, (_, last) in enumerate(pairs, 2):  # noqa: B007 - the last ones are what we are after
                pass
            found.append(Outline(stretch, count, first.timestamp, last.timestamp, self.ending))
        ended = [
            replace(one, ending=Ending(following.stretch.begun_by or "reset", following.started_at))
            for one, following in pairwise(found)
        ]
        return [*ended, *found[-1:]]
