"""What a handoff needs of the last messages: their numbers, how tool-heavy the turns were, when people last spoke."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from jsonlstore.transcripts import Speaker

if TYPE_CHECKING:
    from jsonlstore.transcripts import Entry

WINDOW = 50
_NOWHERE = -1
_COMMAND = re.compile(r"\s*/(?:(handoff)|resume|continuity)(?:\s+(\S[^\n]*))?\s*\Z", re.IGNORECASE)
_ACTIONS = ("capture", "clear")


class WindowFacts(NamedTuple):
    """The last messages of a stretch in numbers. An index counts the stretch's messages from 0; -1 is nowhere."""

    last_index: int = _NOWHERE
    indexes: Mapping[str, int] = {}  # entry id -> index, of the last 50 messages
    tool_calls: int = 0  # in the last 50 messages
    heavy_at: int = _NOWHERE  # where a turn last became tool-heavy
    compacted_at: int = _NOWHERE
    active_at: str | None = None  # when the user or the model last spoke
    asked: tuple[str, str] | None = None  # the last `/handoff` in the transcript: "capture" or "clear", and when


class MessageWindow:
    """Takes in the entries of one stretch, in constant memory."""

    def __init__(self, heavy_bytes: int = 32 * 1024, heavy_calls: int = 10) -> None:
        self._heavy_bytes = heavy_bytes
        self._heavy_calls = heavy_calls
        self._last: deque[tuple[str | None, int, int]] = deque(maxlen=WINDOW)
        self._count = 0
        self._turn_bytes = 0
        self._turn_calls = 0
        self._turn_is_heavy = False
        self._heavy_at = self._compacted_at = _NOWHERE
        self._active_at: str | None = None
        self._asked: tuple[str, str] | None = None
        self._is_command = False

    def feed(self, entry: Entry) -> None:
        """Take in the next entry of the stretch."""
        if entry.type == "compaction":
            self._compacted_at = self._count
        if entry.type != "message":
            return
        calls, speaker = 0, entry.speaker
        if speaker is Speaker.USER:
            self._turn_bytes = self._turn_calls = 0
            self._turn_is_heavy = False
            self._active_at = entry.timestamp or self._active_at
            self._is_command = False
        elif speaker is Speaker.ASSISTANT:
            calls = len(entry.tool_calls)
            self._turn_calls += calls
            if not self._is_command:  # the answer to a command is no work
                self._active_at = entry.timestamp or self._active_at
        elif speaker is Speaker.TOOL:
            self._turn_bytes += entry.unread_bytes or len(entry.text)
        elif speaker is Speaker.SYSTEM:
            self._hear_command(entry)
        self._last.append((entry.id, self._count, calls))
        if not self._turn_is_heavy and (self._turn_bytes >= self._heavy_bytes or self._turn_calls > self._heavy_calls):
            self._turn_is_heavy, self._heavy_at = True, self._count
        self._count += 1

    def _hear_command(self, entry: Entry) -> None:
        found = _COMMAND.match(entry.text)
        if found is None:
            return
        self._is_command = True
        action = (found[2] or "capture").strip().lower()
        if found[1] and action in _ACTIONS and entry.timestamp:
            self._asked = action, entry.timestamp

    def facts(self) -> WindowFacts:
        """What is known now."""
        return WindowFacts(
            self._count - 1,
            {entry_id: index for entry_id, index, _ in self._last if entry_id},
            sum(calls for _, _, calls in self._last),
            self._heavy_at,
            self._compacted_at,
            self._active_at,
            self._asked,
        )
