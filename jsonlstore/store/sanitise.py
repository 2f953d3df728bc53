"""Input to a session: checked, normalised, redacted, capped.

Invalid input is refused with the field's name before any write.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import orjson

from jsonlstore.core.clock import normalise_time
from jsonlstore.core.errors import InvalidSessionId, UsageError, quoted_value
from jsonlstore.core.model import LINKS, PART_LISTS, RESTORE_ONLY, SCALARS, SINGLE_PARTS, STRING_LISTS, TIMES, Part
from jsonlstore.core.paths import check_session_id
from jsonlstore.redact import hide_generated, hide_generated_in, is_secret_id, sanitised
from jsonlstore.store.limits import MAX_STATE_BYTES, cap, shrink

# exempt: the field's name reads like a secret's, but `agent:main:main` is an address, and every session start has one
_ADDRESS = "session_key"
# set by events of their own or derived, never by an update
_NOT_GIVEN = frozenset({"session_id", "continued_by", "crash_recovered", "schema_version", "trimmed", *RESTORE_ONLY})
_PART_TIMES = ("pinnedAt", "timestamp", "injected_at", "at")

_NEXT = "next step:"


def clean(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event as they are written; raises `UsageError` naming the first invalid one."""
    return cap(_without_generated(without_secrets(check_fields(fields))))


def clean_event(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of an event that is not made of state fields: JSON without secrets, of bounded size."""
    checked: dict[str, Any] = check_fields({"data": dict(data)})["data"]
    return shrink(without_secrets(checked), MAX_STATE_BYTES)


def _without_generated(record: dict[str, Any]) -> dict[str, Any]:
    """A record whose prose is free of machine-generated words."""
    out = dict(record)
    for key in PART_LISTS.keys() & record.keys():
        out[key] = [hide_generated_in(part) for part in record[key]]
    for key in _PROSE & record.keys():
        value = record[key]
        if isinstance(value, str):
            out[key] = hide_generated(value)
        elif isinstance(value, list):
            out[key] = [hide_generated(item) if isinstance(item, str) else item for item in value]
    return out


_PROSE = frozenset({"last_topic", "next_step", "in_progress", "hot_topics"})


def without_secrets(record: dict[str, Any]) -> dict[str, Any]:
    """A record without secrets."""
    cleaned: dict[str, Any] = sanitised({key: value for key, value in record.items() if key != _ADDRESS})
    if _ADDRESS not in record:
        return cleaned
    # restored in its old place: the order of the fields is visible to readers and tests
    address = sanitised(record[_ADDRESS])
    rest = iter(cleaned.items())
    return dict((key, address) if key == _ADDRESS else next(rest) for key in record)


def check_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as they go to disk; raises `UsageError` naming the first invalid one."""
    out: dict[str, Any] = {}
    for key, value in given.items():
        if not isinstance(key, str):
            raise UsageError(f"field names are strings, not {key!r}")
        if key in _NOT_GIVEN:
            continue
        out[clean_text(key)] = _check(key, value)
    try:
        orjson.dumps(out)
    except (TypeError, orjson.JSONEncodeError) as problem:
        raise UsageError(f"not JSON: {problem}") from problem
    return out


def _check(key: str, value: Any) -> Any:
    if key in PART_LISTS:
        return [_check_part(key, PART_LISTS[key], item) for item in _as_list(key, value)]
    if key in STRING_LISTS:
        items = _as_list(key, value)
        if not all(isinstance(item, str) for item in items):
            raise UsageError(f"{key} must be a list of strings")
        return [clean_text(item) for item in items]
    if value is None:
        return None
    return _check_single(key, value)


def _check_single(key: str, value: Any) -> Any:
    if key in SINGLE_PARTS:
        return _check_part(key, SINGLE_PARTS[key], value)
    if key in TIMES:
        return check_time(key, value)
    if key in SCALARS or key in LINKS:
        if not isinstance(value, str):
            raise UsageError(f"{key} must be a string")
        if key in LINKS:
            return _check_link(key, value)
        return clean_text(_without_label(value) if key == "next_step" else value)
    return _clean(key, value)


def _without_label(text: str) -> str:
    """A next step without the words "Next step:", which whoever shows it puts before it."""
    bare = text.lstrip()
    while bare[: len(_NEXT)].lower() == _NEXT:
        bare = bare[len(_NEXT) :].lstrip()
    return bare or text


def _check_link(key: str, value: str) -> str:
    try:
        return plain_link(value)
    except InvalidSessionId as problem:
        raise InvalidSessionId(f"{key}: {problem.message}", hint=problem.hint) from problem


def plain_link(session_id: str) -> str:
    """The id of another session; for one that looks like a secret the id that stands for it everywhere."""
    check_session_id(session_id)
    if not is_secret_id(session_id):
        return session_id
    from jsonlstore.transcripts import usable_id

    return usable_id(session_id)


def check_new_id(session_id: str) -> str:
    """The id of a session that is about to be kept: it becomes a file's name, so it must not be a secret."""
    if is_secret_id(check_session_id(session_id)):
        raise InvalidSessionId(
            "the session id looks like a secret",
            hint="give another, or what `jsonlstore.transcripts.usable_id` derives from it, as hooks do",
        )
    return session_id


def check_time(key: str, value: Any) -> str:
    """A time, normalised to our on-disk form."""
    if isinstance(value, str):
        try:
            return normalise_time(value)
        except ValueError:
            pass  # reported below with the field's name
    raise UsageError(f"{key} must be an ISO 8601 time, not {quoted_value(value)}")


def _as_list(key: str, value: Any) -> list[Any]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, (list, tuple, set, frozenset)):
        raise UsageError(f"{key} must be a list")
    return list(value) if isinstance(value, (list, tuple)) else sorted(value)


def _check_part(key: str, kind: type[Part], item: Any) -> dict[str, Any]:
    raw = item.to_dict() if isinstance(item, Part) else item
    try:
        part = kind.from_dict(raw).to_dict()
    except ValueError as problem:
        raise UsageError(f"{key}: {problem}") from problem
    cleaned: dict[str, Any] = _clean(key, part)
    for name in _PART_TIMES:
        if cleaned.get(name):
            try:
                cleaned[name] = normalise_time(cleaned[name])
            except ValueError:
                # another program's pin may carry any date; the pin is kept all the same
                continue
    return cleaned


def clean_text(text: str) -> str:
    """`text` without lone surrogates, which no UTF-8 file can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _clean(key: str, value: Any, depth: int = 0) -> Any:
    if depth > 64:
        raise UsageError(f"{key} is nested too deeply")
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{key} holds a number that JSON has no form for")
    if isinstance(value, Mapping):
        return {clean_text(str(name)): _clean(key, item, depth + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(key, item, depth + 1) for item in value]
    return value
