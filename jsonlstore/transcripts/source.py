"""The one interface to what other runtimes wrote: list transcripts, read entries after a cursor, tell why one ended."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from jsonlstore.core.errors import InvalidSessionId
from jsonlstore.core.paths import check_session_id
from jsonlstore.redact import is_secret_id

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.transcripts.records import Entry

Kind = Literal["jsonl", "sqlite", "goclaw"]
State = Literal["live", "reset", "deleted", "backup", "imported", "archived"]

# Permanent: derived session ids in people's stores depend on it.
STRETCH_NAMESPACE = uuid.UUID("6d1f0c1e-6f0a-5c55-9a55-3d2f4f7b9e10")

SKIPPED_BY_DEFAULT = frozenset({"subagent", "cron", "temp"})
_NOT_CHANNELS = frozenset({"main", "cron", "subagent", "acp", "hook", "recovered", "node", "explicit"})
_KEPT_BAD = 1000


def stretch_id(session_id: str, reset_entry_id: str) -> str:
    """The id of the stretch a `reset` record begins: the same wherever and whenever it is computed."""
    return str(uuid.uuid5(STRETCH_NAMESPACE, f"{session_id}:{reset_entry_id}"))


def usable_id(native: str) -> str:
    """`native` if it can name a session of ours, else a stable id derived from it: ids become file names."""
    try:
        if not is_secret_id(check_session_id(native)):
            return native
    except InvalidSessionId:
        pass  # what cannot be a file's name gets a derived one, as what must not be does
    name = native.encode("utf-8", "backslashreplace").decode()
    return str(uuid.uuid5(STRETCH_NAMESPACE, f"session:{name}"))


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a transcript was read, as plain JSON. It only answers whether there is anything new."""

    kind: Kind
    identity: str
    position: int
    generation: str | None = None
    last_entry_id: str | None = None
    changed_at: int | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: object) -> Cursor | None:
        """The cursor `value` describes; None if it is torn, foreign or absent."""
        if not isinstance(value, dict):
            return None
        kind, identity, position = value.get("kind"), value.get("identity"), value.get("position")
        if kind not in {"jsonl", "sqlite", "goclaw"} or not isinstance(identity, str):
            return None
        if not isinstance(position, int) or isinstance(position, bool):
            return None
        generation, last, changed = value.get("generation"), value.get("last_entry_id"), value.get("changed_at")
        return cls(
            kind,
            identity,
            position,
            generation if isinstance(generation, str) else None,
            last if isinstance(last, str) else None,
            changed if isinstance(changed, int) else None,
        )


@dataclass(frozen=True, slots=True)
class Ending:
    """That a session ended, why (new, reset, idle, deleted, replaced, unreferenced, …) and when, if known."""

    reason: str
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """One copy of one session's history in one place; `native_id` is its writer's id where that is none for us.

    Rows of a database say how far they go in `newest` and `generation`, as a file says it in `size` and `updated_at`.
    """

    agent_id: str
    kind: Kind
    path: Path
    session_id: str
    state: State = "live"
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

    @property
    def era(self) -> str:
        """`sqlite` since OpenClaw 2026.8, `jsonl` before it and for every file it left behind."""
        return self.kind


@dataclass(frozen=True, slots=True)
class BadLine:
    """Bytes that are not a record: where, how many, and why they were skipped."""

    position: int
    length: int
    reason: str


class Reading(Iterable["Entry"]):
    """Entries as they are read, once; what was skipped and the cursor are complete when the iteration is.

    `problems` say what could not be read at all; there is no cursor then, so that it is tried again.
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
        """Read from `entries`."""
        self._entries = entries
        return self

    def skip(self, position: int, length: int, reason: str) -> None:
        """Count bytes that are not a record; the first thousand are kept by position."""
        self.bad_count += 1
        if len(self.bad) < _KEPT_BAD:
            self.bad.append(BadLine(position, length, reason))

    def __iter__(self) -> Iterator[Entry]:
        return self._entries


class TranscriptSource(ABC):
    """One place that holds transcripts of one agent. Reading never changes a byte of it."""

    kind: Kind
    agent_id: str
    path: Path

    @property
    @abstractmethod
    def warnings(self) -> tuple[str, ...]:
        """What could not be read, so that nobody is green but blind; filled by `transcripts`."""

    @abstractmethod
    def transcripts(self) -> list[Transcript]:
        """Every transcript here, those to skip included (they say so in `skip`)."""

    @abstractmethod
    def read(self, transcript: Transcript, after: Cursor | None = None) -> Reading:
        """The entries after `after`; from the start, with `restarted` set, when the cursor no longer fits."""

    def start_of(self, transcript: Transcript) -> str | None:
        """The time of the first entry that has one."""
        return next((entry.timestamp for entry in self.read(transcript) if entry.timestamp), None)

    @abstractmethod
    def has_new(self, transcript: Transcript, cursor: Cursor | None) -> bool:
        """Whether reading would give anything the cursor has not seen, as cheaply as possible."""

    @abstractmethod
    def measure(self, transcript: Transcript) -> tuple[int, int]:
        """Bytes and records, bad ones included."""


def skip_reason(session_key: str | None) -> str | None:
    """Why a session key is no conversation of the user's: `subagent`, `cron`, `temp`; None if it is one."""
    if not session_key:
        return None
    parts = session_key.split(":")
    if parts[0] == "temp" or (len(parts) > 2 and parts[0] == "agent" and parts[2] == "temp"):
        return "temp"
    if "subagent" in parts:
        return "subagent"
    return "cron" if "cron" in parts else None


def channel_of(entry: dict[str, Any], session_key: str | None, known: str | None = None) -> str:
    """The channel a session runs on: from its index entry, else its key, else `unknown` (DECISION 51)."""
    candidates = [entry.get("lastChannel"), known]
    holders = (("deliveryContext", "channel"), ("origin", "provider"), ("route", "channel"), ("delivery", "channel"))
    for holder, field in holders:
        inner = entry.get(holder)
        candidates.append(inner.get(field) if isinstance(inner, dict) else None)
    for candidate in candidates:
        if isinstance(candidate, str) and candidate:
            return candidate
    parts = (session_key or "").split(":")
    if len(parts) >= 4 and parts[0] == "agent" and parts[2] and parts[2] not in _NOT_CHANNELS:
        return parts[2]
    return "unknown"


@dataclass(frozen=True, slots=True)
class Stretch:
    """What lies between two resets: a session of its own."""

    id: str
    number: int
    openclaw_id: str
    reset_entry_id: str | None
    begun_by: str | None

    @classmethod
    def first(cls, session_id: str) -> Stretch:
        """What lies before the first reset."""
        return cls(session_id, 0, session_id, None, None)

    def next(self, reset: Entry) -> Stretch:
        """The stretch that a `reset` record begins after this one."""
        entry_id = reset.id or f"@{reset.timestamp}"
        reason = reset.raw.get("reason")
        derived = stretch_id(self.openclaw_id, entry_id)
        return Stretch(
            derived, self.number + 1, self.openclaw_id, entry_id, reason if isinstance(reason, str) else "reset"
        )


def by_stretch(session_id: str, entries: Iterable[Entry]) -> Iterator[tuple[Stretch, Entry]]:
    """Each entry with the stretch it belongs to; a `reset` record is the first entry of the stretch it begins."""
    stretch = Stretch.first(session_id)
    for entry in entries:
        if entry.type == "reset":
            stretch = stretch.next(entry)
        yield stretch, entry
