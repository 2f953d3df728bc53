"""What a place for transcripts must be able to do; the store above does not ask which one it has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.context.records import Line


@dataclass(frozen=True, slots=True)
class Tail:
    """Where a session stands when something is about to be appended; no session id means there is none yet."""

    session_id: str | None
    last_id: str | None


Build = Callable[[Tail], Sequence["Line"]]


@dataclass(frozen=True, slots=True)
class Stored:
    """What a backend knows of one session without reading its records; `details` are tokens, counts and metadata."""

    key: str
    session_id: str
    created_at: int
    updated_at: int
    path: Path
    details: Mapping[str, Any] = field(default_factory=dict)


class Backend(ABC):
    """Sessions by key, each an append-only sequence of lines."""

    kind: str
    path: Path

    @abstractmethod
    def stored(self, key: str) -> Stored | None:
        """One session from outside; None if there is none."""

    @abstractmethod
    def sessions(self) -> tuple[Stored, ...]:
        """Every session from outside, by key."""

    @abstractmethod
    def lines(self, key: str) -> Iterator[bytes]:
        """Every line, oldest first, in bounded memory; without newlines, those that are no records included."""

    @abstractmethod
    def lines_back(self, key: str) -> Iterator[bytes]:
        """The same, newest first: whoever wants the end pays for the end."""

    @abstractmethod
    def append(self, key: str, build: Build) -> Sequence[Line]:
        """Add what `build` makes of the session's end, durably, all of it or nothing; nobody else writes meanwhile."""

    @abstractmethod
    def describe(self, key: str, details: Mapping[str, Any]) -> None:
        """Replace the details of a session."""

    @abstractmethod
    def remove(self, key: str) -> bool:
        """Remove a session; False if there was none. After `scrub` no byte of it is in our files."""

    @abstractmethod
    def scrub(self) -> None:
        """Finish removals, those that an earlier call had to leave included."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything that is open."""
