"""Whose pins are whose: `working_memory.json` is one file for every conversation of an agent (DECISION 53)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import normalise_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jsonlstore.core.model import WorkingMemoryPin
    from jsonlstore.restore.scope import Scope

_ORIGIN = re.compile(r"\[inherited from (\S+) @ [^\[\]]*\]\s*\Z")


def own_pins(
    pins: Sequence[WorkingMemoryPin], scope: Scope, session_id: str, raw: Mapping[str, Mapping[str, Any]], now: str
) -> list[WorkingMemoryPin]:
    """The pins this conversation may call its own.

    An inherited pin belongs to where it came from. Any other belongs to whoever was talking when it was set: while
    another conversation was open at that moment nobody can tell, so it is left to the transcript to say.
    """
    if scope.reach == "all" or not pins:
        return list(pins)
    reaches = scope.in_reach()
    foreign = {
        other: entry
        for other, entry in raw.items()
        if other != session_id and not entry.get("forgotten") and not reaches(entry)
    }
    return [pin for pin in pins if not foreign or not _is_foreign(pin, foreign, raw, now)]


def _is_foreign(
    pin: WorkingMemoryPin, foreign: Mapping[str, Mapping[str, Any]], raw: Mapping[str, Any], now: str
) -> bool:
    origin = _ORIGIN.search(pin.label or "")
    if origin and origin[1] in raw:
        return origin[1] in foreign
    try:
        at = normalise_time(pin.pinned_at)
    except ValueError:
        return True  # set at an unknown time, with strangers about
    return any(entry["start_time"] <= at <= (entry.get("end_time") or now) for entry in foreign.values())
