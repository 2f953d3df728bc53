"""What a checkpoint is made of: the evidence of a stretch, with what the user asked, as it stands now."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.signals.ending import is_nudge
from jsonlstore.signals.evidence import WorkLog
from jsonlstore.signals.options import ToolNames
from jsonlstore.signals.sentences import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from jsonlstore.signals.conversation import Exchange
    from jsonlstore.signals.evidence import ChangedFile, Family, GitCommit
    from jsonlstore.transcripts import Entry, ToolCall

_MOST_ASKS = 10
_LONGEST_ASK = 240
_MOST_IDENTIFIERS = 24
_READ_BACK = 40  # exchanges whose identifiers are worth keeping
_READ_OF_EACH = 2_000
_IDENTIFIER = re.compile(
    r"https?://[^\s<>\"'`)\]]{4,160}|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b|(?<![\w&])#\d{1,6}\b|\bv\d+\.\d+(?:\.\d+)?\b"
    r"|\b(?:localhost|\d{1,3}(?:\.\d{1,3}){3}):\d{2,5}\b"
)


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """The evidence of one stretch. `turn_over` is true while the agent is not at work."""

    user_messages: int
    messages: int
    compactions: int
    turn_over: bool
    asks: tuple[str, ...]
    commits: tuple[GitCommit, ...]
    files: tuple[ChangedFile, ...]
    commands: tuple[Family, ...]
    identifiers: tuple[str, ...]
    memory_writes: tuple[tuple[int, str], ...]  # in which turn, which file
    turn_ends: Mapping[int, str]  # when each of the latest turns was answered
    taken_back: int = 0  # how often something was taken back that was said before these entries

    @property
    def memory_files(self) -> tuple[str, ...]:
        """The files under `memory/` that were written, each once, the latest last."""
        return tuple(dict.fromkeys(path for _, path in self.memory_writes))


def memory_files_in(entries: Iterable[Entry]) -> tuple[str, ...]:
    """The files under `memory/` that were written, read from the tool calls alone: each once, the latest last."""
    work = WorkLog()
    waiting: dict[str, ToolCall] = {}
    for entry in entries:
        if entry.type == "session" and isinstance(cwd := entry.raw.get("cwd"), str):
            work.start_in(cwd)
        elif entry.role == "assistant":
            waiting.update((call.id, call) for call in entry.tool_calls if "memory/" in str(call.arguments))
        elif waiting and entry.role == "toolResult":
            call = waiting.pop(entry.tool_call_id or "", None)
            if call and not entry.is_error:
                work.wrote(ToolNames.plain(call.name), call.arguments)
    return tuple(dict.fromkeys(path for _, path in work.memory_writes))


def requests_in(talk: Sequence[Exchange]) -> tuple[str, ...]:
    """What the user asked, in their words: the first request, which set the goal, and the latest ones."""
    said = [shorten(one.user.text, _LONGEST_ASK) for one in talk if one.user.text and not is_nudge(one.user.text)]
    kept = said if len(said) <= _MOST_ASKS else [said[0], *said[1 - _MOST_ASKS :]]
    return tuple(dict.fromkeys(kept))


def identifiers_in(talk: Sequence[Exchange], commits: Iterable[GitCommit]) -> tuple[str, ...]:
    """Addresses, ids, issue numbers and versions that were named lately, and the newest commits, newest last."""
    found: dict[str, None] = {}
    for text in _texts(talk[-_READ_BACK:]):
        for match in _IDENTIFIER.finditer(text[:_READ_OF_EACH]):
            name = match[0].rstrip(".,;:")
            found.pop(name, None)
            found[name] = None
    for commit in commits:
        if commit.sha:
            found[commit.sha] = None
    return tuple(found)[-_MOST_IDENTIFIERS:]


def _texts(talk: Iterable[Exchange]) -> Iterator[str]:
    for one in talk:
        yield one.user.text
        if one.closing:
            yield one.closing.text
