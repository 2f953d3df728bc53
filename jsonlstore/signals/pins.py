"""The pins an agent set in this session, replayed from its calls of the working-memory tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.core.model import WorkingMemoryPin

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_PINS = 10
LONGEST_CONTENT = 500
LONGEST_LABEL = 200


class PinBoard:
    """Working memory as the calls leave it: at most ten pins, a pin of the same label replaced."""

    def __init__(self) -> None:
        self._pins: list[WorkingMemoryPin] = []

    def apply(self, tool: str, arguments: Mapping[str, Any], at: str) -> WorkingMemoryPin | None:
        """Replay one successful call; returns the pin it set, if it set one."""
        action = str(arguments.get("action") or arguments.get("operation") or tool.rpartition("_")[2]).lower()
        if action in {"pin", "add", "set"}:
            return self._pin(arguments, at)
        if action in {"unpin", "remove", "delete"}:
            self._unpin(arguments)
        elif action in {"clear", "reset"}:
            self._pins.clear()
        return None

    def pins(self) -> tuple[WorkingMemoryPin, ...]:
        """What is pinned now, oldest first."""
        return tuple(self._pins)

    def _pin(self, arguments: Mapping[str, Any], at: str) -> WorkingMemoryPin | None:
        content = arguments.get("content") or arguments.get("text") or arguments.get("value")
        if not isinstance(content, str) or not content.strip():
            return None
        label = arguments.get("label") or arguments.get("key")
        importance = arguments.get("importance")
        pin = WorkingMemoryPin(
            content[:LONGEST_CONTENT],
            at,
            label[:LONGEST_LABEL] if isinstance(label, str) and label else None,
            extra={"importance": importance} if isinstance(importance, str) else {},
        )
        self._pins = [other for other in self._pins if other.key != pin.key]
        self._pins.append(pin)
        del self._pins[:-MOST_PINS]
        return pin

    def _unpin(self, arguments: Mapping[str, Any]) -> None:
        """By label, by content, or by place counted from 0 as the tool shows it."""
        place = arguments.get("index", arguments.get("position"))
        if isinstance(place, str) and place.isdecimal():
            place = int(place)
        if isinstance(place, int) and not isinstance(place, bool):
            if 0 <= place < len(self._pins):
                del self._pins[place]
            return
        wanted = {
            value for key in ("label", "content", "key", "text", "id") if isinstance(value := arguments.get(key), str)
        }
        self._pins = [pin for pin in self._pins if not wanted & {pin.label, pin.content}]
