"""One record on its way to disk: checked, given an id, a parent and a time, without secrets, as one line.

The format is OpenClaw's and pi's, header version 3. `checkpoint` records are ours and GoClaw's; other readers pass over
what they do not know.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from jsonlstore.core.clock import format_time
from jsonlstore.core.errors import RecordRefused, UsageError
from jsonlstore.redact import redact_value
from jsonlstore.transcripts import MAX_LINE, parse_object, read_millis

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

VERSION = 3
HEADER = "session"
MAX_KEY = 512

# What a reader of each type relies on: pi takes these fields for granted and fails without them.
_REQUIRED: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "message": {"message": (dict,)},
    "compaction": {"summary": (str,), "firstKeptEntryId": (str,), "tokensBefore": (int,)},
    "checkpoint": {"checkpoint": (dict,)},
    "model_change": {"provider": (str,), "modelId": (str,)},
    "thinking_level_change": {"thinkingLevel": (str,)},
    "custom": {"customType": (str,)},
    "custom_message": {"customType": (str,), "content": (str, list)},
    "branch_summary": {"fromId": (str,), "summary": (str,)},
    "label": {"targetId": (str,)},
}
_CONTENT_ROLES = frozenset({"user", "assistant", "toolResult", "custom"})

# Ids, times and types of these shapes hold no secret, and the redactor leaves them alone (a test compares). To ask it
# nevertheless would be half of what an append costs.
_ENVELOPE = ("type", "id", "parentId", "timestamp")
_PLAIN = re.compile(r"[0-9]{13}_[0-9a-f]{8}|[0-9a-f]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z|[a-z_]{1,24}")


class Line(NamedTuple):
    """One record as it is written, without its newline, and what a backend wants to know of it."""

    data: bytes
    type: str
    id: str | None
    parent_id: str | None
    millis: int | None
    hidden: bool = False


def new_record_id(now: datetime) -> str:
    """`1706803200000_a1b2c3d4`: the time keeps ids of different moments apart, the rest those of the same one."""
    return f"{_millis(now)}_{os.urandom(4).hex()}"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked record without secrets, ready but for its place in the conversation."""

    record: Mapping[str, Any]
    linked: bool
    millis: int
    hidden: bool

    def line(self, parent: str | None) -> Line:
        """The record as it goes to disk, after `parent` unless it names its parent itself."""
        record = self.record if self.linked else {**self.record, "parentId": parent}
        return Line(_dump(record), record["type"], record["id"], record.get("parentId"), self.millis, self.hidden)


def make_header(key: str, cwd: str | None, now: datetime) -> Line:
    """The first line of a new session. The key is in it so that a lost `sessions.json` can be made again."""
    header = {
        "type": HEADER,
        "version": VERSION,
        "id": str(uuid.uuid4()),
        "timestamp": format_time(now),
        "cwd": cwd or os.getcwd(),
        "sessionKey": key,
    }
    return _prepared(header, _millis(now), linked=True).line(None)


def prepare(record: Mapping[str, Any], now: datetime) -> Prepared:
    """`record` ready for disk; a missing id and time are filled in. Refuses what nobody could read back."""
    kind = _check(record)
    given = dict(record)
    del given["type"]
    linked = "parentId" in given
    entry_id, parent, moment = (given.pop(name, None) for name in ("id", "parentId", "timestamp"))
    if not isinstance(entry_id, str | None) or not isinstance(parent, str | None):
        raise RecordRefused("id and parentId of a record must be texts")
    millis = read_millis(moment) if moment else _millis(now)
    if millis is None:
        raise RecordRefused(f"timestamp must be a time, not {moment!r}")
    envelope = {
        "type": kind,
        "id": entry_id or new_record_id(now),
        "parentId": parent,
        "timestamp": moment or format_time(now),
    }
    return _prepared({**envelope, **given}, millis, linked=linked)


def read_line(data: bytes) -> Line | None:
    """A line that was written before, byte for byte unless a secret has to be hidden in it; None if it is no record."""
    raw = parse_object(data)
    if raw is None or not isinstance(raw.get("type"), str):
        return None
    clean = _without_secrets(raw)
    hidden = clean is not raw
    entry_id, parent = clean.get("id"), clean.get("parentId")
    return Line(
        _dump(clean) if hidden else data,
        clean["type"],
        entry_id if isinstance(entry_id, str) else None,
        parent if isinstance(parent, str) else None,
        read_millis(clean.get("timestamp")),
        hidden,
    )


def last_id(lines: Sequence[Line], before: str | None) -> str | None:
    """The id of the newest record that another can follow: the last one that has an id and is no header."""
    return next((line.id for line in reversed(lines) if line.id and line.type != HEADER), before)


def check_key(key: object) -> str:
    """`key` if it can name a session. It is stored and listed, so one that holds a secret is refused, not altered."""
    if not isinstance(key, str) or not key or len(key) > MAX_KEY or not key.isprintable():
        raise UsageError(f"not a session key: {key!r:.60}", hint="1 to 512 printable characters, as agent:main:main")
    if _holds_secret(key):
        raise UsageError("the session key holds what looks like a secret", hint="name the session otherwise")
    return key


@lru_cache(maxsize=1024)
def _holds_secret(key: str) -> bool:
    """Asked on every append, of the same few keys."""
    return bool(redact_value({"sessionKey": key})["sessionKey"] != key)


def _check(record: Mapping[str, Any]) -> str:
    kind = record.get("type") if isinstance(record, Mapping) else None
    if not isinstance(kind, str) or not kind:
        raise RecordRefused("a record is an object with a type")
    if kind == HEADER:
        raise RecordRefused("the header is the store's to write", hint="append messages and other records only")
    for name, types in _REQUIRED.get(kind, {}).items():
        value = record.get(name)
        if not isinstance(value, types) or isinstance(value, bool):
            wanted = " or ".join(_JSON_NAMES[one] for one in types)
            raise RecordRefused(f"{kind}.{name} must be {wanted}, not {type(value).__name__}")
    if kind == "message":
        _check_message(record["message"])
    if kind == "checkpoint" and not isinstance(record["checkpoint"].get("summary"), str):
        raise RecordRefused("checkpoint.summary must be a text")
    return kind


def _check_message(message: Mapping[str, Any]) -> None:
    role = message.get("role")
    if not isinstance(role, str) or not role:
        raise RecordRefused("message.role must be a text such as user or assistant")
    if role in _CONTENT_ROLES and not isinstance(message.get("content"), str | list):
        raise RecordRefused(f"the content of a {role} message must be a text or a list of blocks")


_JSON_NAMES: Mapping[type, str] = {str: "a text", int: "a whole number", dict: "an object", list: "a list"}


def _prepared(record: dict[str, Any], millis: int, *, linked: bool) -> Prepared:
    plain, size = as_json(record, "a record")
    if size >= MAX_LINE - MAX_KEY:
        raise RecordRefused(
            f"a record of {size:,} bytes is longer than any reader takes ({MAX_LINE:,})",
            hint="keep large output in a file and name the file",
        )
    clean = _without_secrets(plain)
    return Prepared(clean, linked, millis, clean is not plain)


def as_json(value: Mapping[str, Any], what: str) -> tuple[dict[str, Any], int]:
    """The value as a reader will find it, and its size. Only then does the redactor see all that goes to disk.

    orjson writes tuples, dataclasses and enumerations too, which nobody looks into for secrets.
    """
    try:
        data = orjson.dumps(value)
        plain: dict[str, Any] = orjson.loads(data)
    except (TypeError, orjson.JSONDecodeError) as problem:
        return _mended(value, what, problem)
    return plain, len(data)


def _mended(value: Mapping[str, Any], what: str, problem: Exception) -> tuple[dict[str, Any], int]:
    """The same for a value with half characters in it: the slower encoder takes them, the redactor replaces them."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        plain: dict[str, Any] = redact_value(json.loads(text))
        orjson.dumps(plain)
    except (TypeError, ValueError, RecursionError):
        raise RecordRefused(f"{what} must be JSON: {problem}") from problem
    return plain, len(text)


def _without_secrets(record: dict[str, Any]) -> dict[str, Any]:
    """The record without secrets; the very same object where there are none."""
    rest = dict(record)
    for name in _ENVELOPE:
        value = rest.get(name, "")
        if value is None or (isinstance(value, str) and _PLAIN.fullmatch(value)):
            rest.pop(name, None)
    if redact_value(rest) is rest:
        return record
    clean: dict[str, Any] = redact_value(record)
    return clean


def _dump(record: object) -> bytes:
    return orjson.dumps(record)


def _millis(now: datetime) -> int:
    return int(now.timestamp() * 1000)  # cut, as in `format_time`
