"""The interface every source of transcripts implements.

A source is one place on disk: an agent's directory of files, or a database. It lists its transcripts, reads entries
after a cursor, and answers every question about its format: whether it changed, how far behind a cursor is, whether a
transcript only grew, why a session ended. No other module depends on the kind of source.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import format_time
from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.redact import is_secret_id
from jsonlstore.transcripts.records import Entry

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

LIVE = "live"
_KEPT_BAD = 1000
_LONGEST_REASON = 40


@dataclass(frozen=True, slots=True)
class Cursor:
    """The position a transcript was read to, as plain JSON; `identity` and `generation` tell whether it still fits."""

    kind: str
    identity: str
    position: int
    generation: str | None = None
    last_entry_id: str | None = None
    changed_at: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The cursor as it is kept. An entry id that is a secret stays out: the position says where to read on."""
        kept = asdict(self)
        if self.last_entry_id and is_secret_id(self.last_entry_id):
            kept["last_entry_id"] = None
        return kept

    @classmethod
    def from_json(cls, value: object) -> Cursor | None:
        """The cursor in `value`; None if it is incomplete or absent. The source decides whether it still fits."""
        if not isinstance(value, dict):
            return None
        names = ("kind", "identity", "generation", "last_entry_id")
        texts = {name: text for name in names if isinstance(text := value.get(name), str)}
        position, changed = value.get("position"), value.get("changed_at")
        if not {"kind", "identity"} <= texts.keys() or not isinstance(position, int) or isinstance(position, bool):
            return None
        texts["kind"] = intern(texts["kind"])  # one of a few, in thousands of cursors
        return cls(**texts, position=position, changed_at=changed if isinstance(changed, int) else None)


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a session: the reason in its source's own words and, if known, the time."""

    reason: str
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """One copy of one session's history in one place.

    `state` is `live` while its runtime may still append; any other word is the source's own. `native_id` is the
    runtime's id where that cannot be an id of ours. The extent of a file is in `size` and `updated_at`, that of
    database rows in `newest` and `generation`; `part` names the transcript's part of a shared file.
    """

    agent_id: str
    kind: str
    path: Path
    session_id: str
    state: str = LIVE
    session_key: str | None = None
    channel: str = "unknown"
    size: int = 0
    updated_at: str | None = None
    ending: Ending | None = None
    skip: str | None = None
    part: str = ""
    native_id: str | None = None
    newest: int | None = None
    generation: str | None = None
    context_tokens: int | None = None  # the model's context window, if the runtime records it
    compactions: int | None = None  # as counted by the runtime


@dataclass(frozen=True, slots=True)
class BadLine:
    """Bytes that are not a record: their offset, their length, and why they were skipped."""

    position: int
    length: int
    reason: str


class Reading(Iterable["Entry"]):
    """Entries in reading order, to be iterated once; skipped lines and cursor are complete after the iteration.

    `problems` lists what could not be read at all; then there is no cursor, so that reading is retried.
    """

    def __init__(self) -> None:
        self.bad_count = 0
        self.bad: list[BadLine] = []
        self.problems: list[str] = []
        self.restarted = False
        self.position = 0
        self.last_entry_id: str | None = None
        self.cursor: Cursor | None = None
        self._entries: Iterator[Entry] = iter(())

    def deliver(self, entries: Iterator[Entry]) -> Reading:
        """Set the entries to read from."""
        self._entries = entries
        return self

    def skip(self, position: int, length: int, reason: str) -> None:
        """Count bytes that are not a record; the positions of the first thousand are kept."""
        self.bad_count += 1
        if len(self.bad) < _KEPT_BAD:
            self.bad.append(BadLine(position, length, reason))

    def absorb(self, part: Reading) -> None:
        """Take over the problems and the cursor of reading one of several copies; the last copy's cursor is kept."""
        self.bad_count += part.bad_count
        self.bad += part.bad
        self.problems += part.problems
        self.cursor = part.cursor

    def __iter__(self) -> Iterator[Entry]:
        return self._entries


class BegunHash:
    """The hash of a transcript up to a position, to go on from."""

    def __init__(self) -> None:
        self.position: int | None = None
        self._found: Hash | None = None

    def go_on(self, pieces: Iterable[bytes], position: int) -> str:
        """Take in what follows; unless all of it could be read, nothing is taken in."""
        import hashlib  # only what hands over needs it

        found = self._found.copy() if self._found is not None else hashlib.sha256()
        for piece in pieces:
            found.update(piece)
        self._found, self.position = found, position
        return found.hexdigest()


class TranscriptSource(ABC):
    """One place that holds transcripts of one agent. Reading never changes a byte of it.

    Five methods must be written; the others have defaults that suit a source of whole files that only grow.
    """

    kind: str  # the word that `status` shows
    agent_id: str
    path: Path
    medium = "files"  # the form of its transcripts, in the words of `setup`
    lag_unit = "bytes"  # or `events`
    _warnings: Sequence[str] = ()
    ids_span_resets = False  # whether a session keeps its id when a reset begins a new stretch

    # -- listing and reading

    @property
    def warnings(self) -> tuple[str, ...]:
        """The problems of the last listing, so that a source that is partly unreadable does not look healthy."""
        return tuple(self._warnings)

    @abstractmethod
    def transcripts(self) -> list[Transcript]:
        """Every transcript here, including those to skip, which say so in `skip`."""

    @abstractmethod
    def read(self, transcript: Transcript, after: Cursor | None = None) -> Reading:
        """The entries after `after`; from the start, with `restarted` set, when the cursor no longer fits."""

    @abstractmethod
    def has_new(self, transcript: Transcript, cursor: Cursor | None) -> bool:
        """Whether reading after the cursor would yield anything, as cheaply as possible."""

    @abstractmethod
    def measure(self, transcript: Transcript) -> tuple[int, int]:
        """The number of bytes and of records, malformed ones included."""

    def start_of(self, transcript: Transcript) -> str | None:
        """The time of the first entry that has one."""
        return next((entry.timestamp for entry in self.read(transcript) if entry.timestamp), None)

    def mentions(self, transcript: Transcript, text: bytes) -> bool:
        """Whether a transcript certainly holds these bytes, found without reading it; False if that is not known."""
        return False

    def unknown_records(self) -> int:
        """The number of records in a form that has no reader."""
        return 0

    # -- detecting changes

    @abstractmethod
    def version(self) -> object:
        """A value that is equal as long as nothing was written, renamed or removed here."""

    def forget_listing(self) -> None:  # noqa: B027 - most remember nothing
        """Drop what was remembered only to list again faster."""

    def is_settled(self, now: float) -> bool:
        """Whether any later write is sure to change `version`; it may not at once, because file times are coarse."""
        return True

    def file_of(self, transcript: Transcript) -> Path | None:
        """The file of this transcript alone; None if several share one, so that only a listing tells which of them
        grew.
        """
        return None

    def refreshed(self, transcript: Transcript) -> Transcript | None:
        """The transcript with its present extent; None if its file is gone."""
        path = self.file_of(transcript)
        if path is None:
            return transcript
        try:
            stat = os.stat(path)
        except OSError:
            return None
        at = format_time(datetime.fromtimestamp(stat.st_mtime, UTC))
        return replace(transcript, size=stat.st_size, updated_at=at)

    def extent(self, transcript: Transcript) -> tuple[object, ...]:
        """The transcript's extent: equal as long as nothing was written.

        Our logs keep its digest, so it must be stable.
        """
        one = transcript
        return one.kind, one.path.name, one.state, one.part, one.size, one.updated_at, one.newest, one.generation

    def identity(self, transcript: Transcript) -> str:
        """The identity of the file, independent of its name."""
        return file_identity(transcript.path)

    def imprint(self, transcript: Transcript, cursor: Cursor) -> bytes | None:
        """A digest of what was read so far, if that may be overwritten; `only_grew` compares it."""
        return None

    def only_grew(self, before: Transcript, now: Transcript, cursor: Cursor, imprint: bytes | None) -> bool:
        """Whether reading on after `cursor` is enough, as far as can be told before `read` checks the cursor."""
        return cursor.kind == self.kind

    def lag(self, transcript: Transcript, cursor: Cursor | None) -> int:
        """The amount after the cursor, in `lag_unit`."""
        known = cursor.position if cursor is not None and cursor.kind == self.kind else 0
        return max(0, transcript.size - known)

    def digest(self, transcript: Transcript, cursor: Cursor, begun: BegunHash | None = None) -> str:
        """The SHA-256 of what was read up to the cursor, as hex; empty if this source keeps no texts to hash.

        `begun` is the hash of an earlier call for a transcript that only grew since: it goes on from there.
        """
        return ""

    # -- copies of one session, and its end

    def precedence(self, transcript: Transcript) -> int:
        """The rank of this copy among others of the same session: higher is newer, and adds later entries."""
        return 4

    @staticmethod
    def end_reason(word: str) -> str:
        """The reason we store for a word of the runtime's; an unknown word is kept as it is."""
        return word.strip().lower()[:_LONGEST_REASON] or "reset"

    @staticmethod
    def rollover_reason(last_activity: str | None, successor_start: str | None) -> str:  # noqa: ARG004 - for overrides
        """A more exact reason than `rollover`, if the last entry's time and the successor's start allow one."""
        return "rollover"

    def leftover_reason(self, transcript: Transcript) -> str | None:
        """The end reason of a session with only copies like this left; None if such a copy does not mean an end."""
        return None


@contextmanager
def reading_from(path: Path) -> Iterator[None]:
    """Turn every `OSError` from reading `path` into `SourceUnreadable`."""
    try:
        yield
    except OSError as problem:
        raise SourceUnreadable(f"cannot read {path}: {problem.strerror or problem}", path=path) from problem


def file_identity(path: Path) -> str:
    """Device and inode of a file."""
    with reading_from(path):
        stat = os.stat(path)
    return f"{stat.st_dev}:{stat.st_ino}"
