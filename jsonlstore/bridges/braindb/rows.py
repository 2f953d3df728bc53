"""A session as a row of `session_states`, and a row, whoever wrote it, as a session."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.bridges.braindb.schema import COLUMNS, LISTS
from jsonlstore.core.clock import format_time, from_millis, normalise_time
from jsonlstore.core.errors import UsageError
from jsonlstore.core.model import KNOWN_FIELDS, PART_LISTS, SCALARS, STRING_LISTS
from jsonlstore.core.paths import is_session_id
from jsonlstore.store import clean

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Mapping

_NUMBER = re.compile(r"\d{10}(\d{3})?(\.\d+)?")  # of seconds or milliseconds in this century; else digits are a date

Row = tuple[Any, ...]  # one value per column of COLUMNS; None where we have nothing to say

_UNKNOWN = (None, "", "unknown")
_LINKS = ("previous_session_id", "continued_by")
_TAKEN = frozenset({"by", "owner", "self", "source"})  # words that mean something else where sessions are started
_OUR_SCALARS = frozenset(SCALARS) - {"channel"}


def to_row(session_id: str, state: Mapping[str, Any], given: Collection[str]) -> Row:
    """The row of a stored state. `given` names the fields some writer spoke of: only they replace what is there."""
    lists = [
        None if name not in given else orjson.dumps(items).decode() if (items := state[name]) else "[]"
        for name in LISTS
    ]
    return (
        session_id,
        state["start_time"],
        state["end_time"],
        None if state["channel"] in _UNKNOWN else state["channel"],
        *lists,
        state["previous_session_id"],
        state["continued_by"],
        int(state["crash_recovered"]),
        state["schema_version"],
        state["start_time"],
        state["updated_at"],
    )


# Inserting fills gaps with the table's own defaults; updating keeps what is there. An open end is told, not a gap.
_DEFAULTS = {"channel": "'unknown'", **dict.fromkeys(LISTS, "'[]'")}
_NOT_UPDATED = ("id", "created_at")
_TOLD = ("end_time",)


def upsert_sql(columns: Collection[str]) -> str:
    """The statement that inserts a row or updates only what differs, for a table that has these columns."""
    use = [(name, number) for number, name in enumerate(COLUMNS, 1) if name in columns]
    values = [f"coalesce(?{n}, {_DEFAULTS[name]})" if name in _DEFAULTS else f"?{n}" for name, n in use]
    updated = [(name, n) for name, n in use if name not in _NOT_UPDATED]
    new = [f"?{n}" if name in _TOLD else f"coalesce(?{n}, {name})" for name, n in updated]
    sets = ", ".join(f"{name} = {value}" for (name, _), value in zip(updated, new, strict=True))
    old = ", ".join(name for name, _ in updated)
    return (
        f"INSERT INTO session_states ({', '.join(name for name, _ in use)}) VALUES ({', '.join(values)}) "  # noqa: S608
        f"ON CONFLICT(id) DO UPDATE SET {sets} WHERE ({old}) IS NOT ({', '.join(new)})"
    )


def would_change(existing: Mapping[str, Any], row: Row) -> bool:
    """Would the upsert change this row?"""
    return any(
        existing[name] != value
        for name, value in zip(COLUMNS, row, strict=True)
        if name in existing and name not in _NOT_UPDATED and (value is not None or name in _TOLD)
    )


def update_of_imported(existing: Mapping[str, Any], row: Row) -> Row:
    """The update of an imported session's row: that it ended or crashed, and which session continues it.

    Everything else was read from that row, and what we could not read or had to cut is kept nowhere else.
    """
    ours = dict(zip(COLUMNS, row, strict=True))
    ended = existing.get("end_time") is None
    told = {
        **{name: existing.get(name) for name in ("id", "start_time", "created_at")},  # a row is never without them
        "end_time": ours["end_time"] if ended else existing["end_time"],
        "continued_by": ours["continued_by"],
        "crash_recovered": ours["crash_recovered"] if ended else None,
    }
    return tuple(told.get(name) for name in COLUMNS)


def as_dict(cursor: sqlite3.Cursor, row: Row) -> dict[str, Any]:
    """A fetched row by column name."""
    return dict(zip((item[0] for item in cursor.description), row, strict=True))


@dataclass(frozen=True, slots=True)
class ReadRow:
    """What a row says, in our terms, and what of it could not be understood."""

    session_id: str
    fields: dict[str, Any]  # as `SessionStore.start` takes them
    end_time: str | None
    continued_by: str | None
    crash_recovered: bool
    problems: tuple[str, ...]


def read_row(row: Mapping[str, Any]) -> ReadRow:
    """Read a row leniently: a column that makes no sense is left out and named, the rest is kept."""
    problems: list[str] = []
    fields: dict[str, Any] = {}
    for name in ("start_time", "created_at", "updated_at"):
        moment = _time(row, name, problems)
        if moment is not None:
            fields[name] = moment
    created = fields.pop("created_at", None)
    fields.setdefault("start_time", created or fields.get("updated_at"))
    end_time = _time(row, "end_time", problems)
    if fields["start_time"] is None:
        fields["start_time"] = end_time
    channel = _word(row, "channel", problems)
    if channel is not None:
        fields["channel"] = channel
    for name in LISTS:
        items = read_list(name, row.get(name), problems)
        if items is not None:
            fields[name] = items
    crashed = row.get("crash_recovered") in (1, True, "1", "true")
    if crashed and end_time is None:
        problems.append("crash_recovered without an end_time")
    words = {name: _word(row, name, problems) or None for name in _LINKS}
    fields.update(_extra(row, problems))
    links = {name: _link(name, words[name], problems) for name in _LINKS}
    if links["previous_session_id"] is not None:
        fields["previous_session_id"] = links["previous_session_id"]
    return ReadRow(str(row.get("id")), fields, end_time, links["continued_by"], crashed, tuple(problems))


def _word(row: Mapping[str, Any], name: str, problems: list[str]) -> str | None:
    value = row.get(name)
    if value is None or isinstance(value, str):
        return value
    problems.append(f"{name} is not text")
    return None


def _link(name: str, value: str | None, problems: list[str]) -> str | None:
    # what is no session id cannot be followed; the session itself is still good
    if value is None or is_session_id(value):
        return value
    problems.append(f"{name} is not a session id")
    return None


def parse_stored_time(value: Any) -> str | None:
    """A time as some program stored it (ISO with or without zone, epoch seconds or milliseconds) in our form.

    Raises `ValueError` for anything else; None stays None.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)  # a column of text makes text of the numbers some programs keep
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        try:
            moment = from_millis(value if abs(value) > 1e11 else value * 1000)
        except OverflowError as problem:
            raise ValueError(f"no time: {value}") from problem
        return format_time(moment)
    if isinstance(value, str):
        return normalise_time(value)
    raise ValueError("no time")


def _time(row: Mapping[str, Any], name: str, problems: list[str]) -> str | None:
    try:
        return parse_stored_time(row.get(name))
    except ValueError:
        problems.append(f"{name} is not a time")
        return None


def read_list(name: str, value: Any, problems: list[str]) -> list[Any] | None:
    """The list a column holds, without the items that are not what they should be; None if it holds none."""
    if value is None or value == "":
        return None
    try:
        items = orjson.loads(value) if isinstance(value, (str, bytes)) else value
    except orjson.JSONDecodeError:
        problems.append(f"{name} is not JSON")
        return None
    if not isinstance(items, list):
        problems.append(f"{name} is not a list")
        return None
    good = [item for item in items if _fits(name, item)]
    if len(good) < len(items):
        problems.append(f"{name}: {len(items) - len(good)} of {len(items)} items could not be read")
    return good


def _fits(name: str, item: Any) -> bool:
    if name in STRING_LISTS:
        return isinstance(item, str)
    try:
        PART_LISTS[name].from_dict(item)
    except ValueError:
        return False
    return True


def _extra(row: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    """Columns the specification does not have: ours by name, the rest kept as unknown fields."""
    out: dict[str, Any] = {}
    for name, value in row.items():
        if name in COLUMNS or value is None:
            continue
        plain = isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))
        if not plain or (name in KNOWN_FIELDS and not (name in _OUR_SCALARS and isinstance(value, str))):
            problems.append(f"column {name} was left out")
        else:
            out[f"brain_db_{name}" if name in _TAKEN else name] = value
    return out


def is_contained_in(existing: Mapping[str, Any], state: Mapping[str, Any]) -> bool:
    """Does the state hold everything the row says? Only then may the row go."""
    read = read_row(existing)
    if read.problems:
        return False
    try:
        said = clean(read.fields)  # as the store would have taken it
    except UsageError:
        return False
    said = {**said, "end_time": read.end_time, "continued_by": read.continued_by, "updated_at": None}
    empty: Iterable[Any] = (None, "", "unknown", [])
    return all(value in empty or state.get(name) == value for name, value in said.items())
