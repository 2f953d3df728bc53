"""What the full-text index holds: documents, made of turns, stored in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from jsonlstore.recall.terms import passages_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BLOCK_CHARS = 16 * 1024
STATE_SEQ = -1  # the block of what is known about a session besides what was said in it
TURN_CHARS = 64 * 1024  # one turn is cut into pieces of this length, so that no block is much larger


class Turn(NamedTuple):
    """One thing somebody said; `text` is redacted, and its passages stand on lines of their own once stored."""

    entry_id: str | None
    at: str | None
    speaker: str
    text: str


class Document(NamedTuple):
    """What a set of turns belongs to."""

    kind: str  # "session" or "memory"
    id: str
    transcript: str
    agent_id: str | None = None
    session_key: str | None = None
    channel: str | None = None


class Block(NamedTuple):
    """A stored stretch of a document."""

    no: int
    document: int
    seq: int
    words: int
    languages: str
    turns: list[Turn]


class StoredDocument(NamedTuple):
    """A document as the index has it."""

    no: int
    kind: str
    id: str
    agent_id: str | None
    session_key: str | None
    channel: str | None
    started_at: str | None
    last_at: str | None


def pieces_of(turns: Iterable[Turn]) -> Iterator[Turn]:
    """Turns as they are stored: a passage a line, none longer than a block can bear."""
    for turn in turns:
        lines: list[str] = []
        size = 0
        for passage in passages_in(turn.text):
            if size + len(passage) > TURN_CHARS and lines:
                yield turn._replace(text="\n".join(lines))
                lines, size = [], 0
            lines.append(passage[:TURN_CHARS])
            size += len(passage) + 1
        if lines:
            yield turn._replace(text="\n".join(lines))
