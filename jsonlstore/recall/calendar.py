"""The words times are said with, and those a question has besides what it asks for; both stand in `words.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

_WORDS: dict[str, Any] = orjson.loads((Path(__file__).parent / "words.json").read_bytes())

MONTHS: tuple[str, ...] = tuple(_WORDS["months"])
WEEKDAYS: tuple[str, ...] = tuple(_WORDS["weekdays"])
SHORT: dict[str, str] = {name[:3]: name for name in (*MONTHS, *WEEKDAYS)} | _WORDS["nicknames"]
# words in their own right: a time only where nothing else can be meant ("in may", "march 2026", "sat" alone)
AMBIGUOUS = frozenset({"may", "march", *SHORT})
NUMBERS: dict[str, int] = _WORDS["numbers"]
UNITS: dict[str, str] = {unit: name for name, units in _WORDS["units"].items() for unit in units.split()}
PARTS: dict[str, tuple[int, int]] = {name: (first, after) for name, (first, after) in _WORDS["parts"].items()}
ANCHORS = frozenset(_WORDS["anchors"].split())
TO = frozenset(_WORDS["to"].split())
FILLER = frozenset(_WORDS["filler"].split())
