"""Values as JavaScript writes them: JSON that other parsers refuse, and times in every writer's form."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from jsonlstore.core.clock import format_time, from_millis, normalise_time, parse_time

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_PADDING = b"\0 \t\r\n"
_NUMBER_LIMIT = 2**53  # JavaScript's largest safe integer; infinity and NaN are not below it
_BOM = b"\xef\xbb\xbf"


def parse_object(text: bytes) -> dict[str, Any] | None:
    """The JSON object in `text`, None if there is none; accepts whatever JavaScript accepts."""
    try:
        raw = orjson.loads(text)
    except orjson.JSONDecodeError:
        raw = parse_leniently(text)
    return raw if isinstance(raw, dict) else None


def parse_leniently(line: bytes) -> object:
    """Parse what Node accepts and orjson refuses: lone surrogates, bad UTF-8, a BOM; NULs from a crash are skipped."""
    line = line.strip(_PADDING).removeprefix(_BOM)
    if not line.startswith(b"{") or not line.endswith(b"}"):
        return None
    text = line.decode("utf-8", "replace")
    try:
        raw = json.loads(text)
        return _whole_characters(raw) if "\\u" in text else raw
    except (ValueError, RecursionError):
        return None


def _whole_characters(value: object) -> object:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {_LONE_SURROGATE.sub("\ufffd", key): _whole_characters(item) for key, item in value.items()}
    return value


def read_millis(written: object) -> int | None:
    """A time in any writer's form, as epoch milliseconds; None if it is not a time."""
    if isinstance(written, str):
        try:
            return round(parse_time(written).timestamp() * 1000)
        except ValueError:
            return None
    if isinstance(written, int | float) and abs(written) < _NUMBER_LIMIT:
        return int(written)
    return None


def read_time(written: object) -> str | None:
    """A time in any writer's form (ISO text or epoch milliseconds), normalised; None if it is not a time."""
    try:
        if isinstance(written, str):
            return normalise_time(written)
        if isinstance(written, int | float) and not isinstance(written, bool):
            return format_time(from_millis(written))
    except (ValueError, OverflowError):
        return None
    return None
