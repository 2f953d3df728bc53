"""What the agent put into long-term memory, and how sure it became: from the memory tools' calls and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.core import expressions as re
from jsonlstore.core.model import ConfidenceUpdate

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_UPDATES = 500

_ID_KEYS = ("id", "memory_id", "memoryId", "stm_id", "mem_id")
_NEW_KEYS = ("confidence", "new_confidence", "newConfidence", "new_score", "newScore", "confidence_score")
_OLD_KEYS = ("old_confidence", "oldConfidence", "old_score", "oldScore", "previous_confidence", "previous")
_ID_IN_TEXT = re.compile(
    r"\b(?:memory[_ ]?id|id|memory|learning|stored as|saved as|added)\b[\s:=#(\"'`\[]{0,4}"
    r"((?:[A-Za-z]{2,12}[_-])?(?=[\w-]*\d)[A-Za-z0-9][\w-]{3,63})\b",
    re.IGNORECASE,
)
_CHANGE_IN_TEXT = re.compile(
    r"\b(?:confidence|score)\b\D{0,24}(\d(?:\.\d+)?)\s*(?:->|→|to)\s*(\d(?:\.\d+)?)", re.IGNORECASE
)


class MemoryCalls:
    """Memories created and confidences changed in one session."""

    def __init__(self, most_learnings: int = 200) -> None:
        self._most = most_learnings
        self._learnings: dict[str, None] = {}
        self._updates: list[ConfidenceUpdate] = []
        self._known: dict[str, float] = {}

    def learned(self, arguments: Mapping[str, Any], details: Mapping[str, Any], text: str) -> str | None:
        """A memory was added: remember its id, if the tool said which it is."""
        memory_id = find_memory_id(details, text) or _string(arguments, _ID_KEYS)
        if memory_id:
            self._learnings.pop(memory_id, None)
            self._learnings[memory_id] = None
            confidence = _number({**arguments, **details}, _NEW_KEYS)
            if confidence is not None:
                self._known[memory_id] = confidence
            while len(self._learnings) > self._most:
                del self._learnings[next(iter(self._learnings))]
        return memory_id

    def adjusted(self, arguments: Mapping[str, Any], details: Mapping[str, Any], text: str, at: str) -> None:
        """A memory was changed: if its confidence was, note from what to what."""
        memory_id = _string(arguments, _ID_KEYS) or find_memory_id(details, text)
        told = _CHANGE_IN_TEXT.search(text[:2000])
        new = _number(arguments, _NEW_KEYS)
        new = _number(details, _NEW_KEYS) if new is None else new
        new = float(told[2]) if new is None and told else new
        if not memory_id or new is None:
            return
        old = _number(details, _OLD_KEYS)
        old = float(told[1]) if old is None and told else old
        old = self._known.get(memory_id) if old is None else old
        reason = arguments.get("reason") or details.get("reason")
        self._note(memory_id, old, new, reason if isinstance(reason, str) else "manual", at)

    def reported(self, details: Mapping[str, Any], at: str) -> None:
        """Any tool may report changes of confidence its hooks made."""
        listed = details.get("confidence_updates", details.get("confidenceUpdates"))
        for raw in listed[:100] if isinstance(listed, list) else ():
            if not isinstance(raw, dict):
                continue
            memory_id, new, old = _string(raw, _ID_KEYS), _number(raw, _NEW_KEYS), _number(raw, _OLD_KEYS)
            if memory_id and new is not None:
                before = self._known.get(memory_id) if old is None else old
                reason, when = raw.get("reason"), raw.get("timestamp")
                self._note(
                    memory_id,
                    before,
                    new,
                    reason if isinstance(reason, str) else "",
                    when if isinstance(when, str) else at,
                )

    def learnings(self) -> list[str]:
        """The ids of memories created, oldest first."""
        return list(self._learnings)

    def updates(self) -> list[ConfidenceUpdate]:
        """The changes of confidence, oldest first."""
        return list(self._updates)

    def _note(self, memory_id: str, old: float | None, new: float, reason: str, at: str) -> None:
        if old is not None:  # from what to what: a change whose beginning nobody told is not one to report
            self._updates.append(ConfidenceUpdate(memory_id, old, new, reason[:80], at))
        del self._updates[:-MOST_UPDATES]
        if memory_id in self._known or len(self._known) < 10_000:
            self._known[memory_id] = new


def find_memory_id(details: Mapping[str, Any], text: str) -> str | None:
    """The memory's id in a tool result: in its details, in a JSON answer, or named in its words."""
    found = _string(details, _ID_KEYS)
    if found:
        return found
    head = text[:4000].strip()
    if head.startswith("{"):
        try:
            answer = orjson.loads(head)
        except orjson.JSONDecodeError:
            answer = None
        if isinstance(answer, dict):
            nested = answer.get("memory") or answer.get("result")
            found = _string(answer, _ID_KEYS) or (_string(nested, _ID_KEYS) if isinstance(nested, dict) else None)
            if found:
                return found
    named = _ID_IN_TEXT.search(head)
    return named[1] if named else None


def categories_of(arguments: Mapping[str, Any]) -> list[str]:
    """The categories a memory call names, at most ten."""
    found = []
    for key in ("categories", "category", "to_categories", "tags"):
        value = arguments.get(key)
        listed = value if isinstance(value, list) else [value]
        found += [item for item in listed if isinstance(item, str) and item]
    return found[:10]


def _string(source: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        value = source.get(key)
        if isinstance(value, str) and 0 < len(value) <= 128:
            return value
        if isinstance(value, int) and not isinstance(value, bool) and key != "previous":
            return str(value)
    return None


def _number(source: Mapping[str, Any], keys: tuple[str, ...]) -> float | None:
    for key in keys:
        value = source.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e6:
            return float(value)
    return None
