"""`SessionManager`: the class of the documents, on a brain.db, dicts in and dicts out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from jsonlstore.bridges.braindb import (
    COLUMNS,
    LISTS,
    Writer,
    as_dict,
    columns_of,
    connected,
    create_empty,
    migrate_table,
    parse_stored_time,
    resolve_brain_db,
)
from jsonlstore.core.clock import format_time, system_clock, time_before
from jsonlstore.core.errors import UsageError, quoted_value
from jsonlstore.core.paths import resolve_state_dir
from jsonlstore.redact import redact_text, redact_value
from jsonlstore.store import clean_text

if TYPE_CHECKING:
    from os import PathLike
    from sqlite3 import Connection

T = TypeVar("T")
WAIT_SECONDS = 5.0
_EVER = 4_000_000  # days: more than there are
_TIMES = ("start_time", "end_time", "created_at", "updated_at")
# what a later, fuller record must never take away again by saying nothing
_KEPT_WHEN_NONE = frozenset({"start_time", "channel", "created_at", *LISTS, "previous_session_id", "continued_by"})


class SessionManager:
    """Sessions in the `session_states` table of a brain.db, which is created where it is missing.

    Without a path: the config's, else `$CORTEX_DATA_DIR`, else OpenClaw's usual place.
    """

    def __init__(self, db_path: str | PathLike[str] | None = None) -> None:
        self._path = Path(db_path).expanduser().absolute() if db_path else default_path()
        self.db_path = str(self._path)
        create_empty(self._path)
        with connected(self._path, WAIT_SECONDS) as connection:
            migrate_table(Writer(connection, self._path, WAIT_SECONDS), WAIT_SECONDS)
            self._columns = columns_of(connection)

    def save_session(self, session_dict: dict[str, Any]) -> None:
        """Insert a session or update the fields given; secrets are hidden, links are never erased."""
        given = _columns(session_dict)
        now = format_time(system_clock())
        given["updated_at"] = given.get("updated_at") or now
        given = {name: value for name, value in given.items() if name in self._columns}

        def save(connection: Connection) -> None:
            known = connection.execute("SELECT 1 FROM session_states WHERE id = ?", (given["id"],)).fetchone()
            if known:
                changed = {name: value for name, value in given.items() if name not in ("id", "created_at")}
                _set(connection, given["id"], changed)
                return
            first = {name: now for name in ("start_time", "created_at") if name in self._columns} | given
            names, marks = ", ".join(first), ", ".join("?" * len(first))
            connection.execute(f"INSERT INTO session_states ({names}) VALUES ({marks})", (*first.values(),))  # noqa: S608

        self._change(save)

    def get_recent_sessions(self, days: int = 7, limit: int = 20) -> list[dict[str, Any]]:
        """The sessions that ended within the last `days`, latest end first, whatever zone their times are in."""
        span = timedelta(days=min(days, _EVER))
        line = time_before(system_clock(), span)
        # as text, times of different zones compare right to the day; the exact line is drawn below
        roughly = time_before(system_clock(), span + timedelta(days=1))[:10]
        found = self._select("WHERE end_time >= ?", roughly)
        recent = [session for session in found if _is_time(session["end_time"]) and session["end_time"] >= line]
        recent.sort(key=lambda session: str(session["end_time"]), reverse=True)
        return recent[: max(0, limit)]

    def get_crashed_sessions(self, active_session_id: str) -> list[dict[str, Any]]:
        """The sessions without an end, other than the active one."""
        return self._select("WHERE end_time IS NULL AND id IS NOT ?", active_session_id)

    def mark_continued(self, session_id: str, next_id: str) -> None:
        """Record that `next_id` goes on from this session."""
        if not isinstance(next_id, str) or not next_id:
            raise UsageError("next_id must be the id of a session")
        self._update(session_id, continued_by=_plain(next_id))

    def recover_crashed(self, session_id: str, estimated_end_time: str) -> None:
        """Give a crashed session an end, and say that it crashed."""
        end_time = _time("estimated_end_time", estimated_end_time)
        if end_time is None:
            raise UsageError("estimated_end_time is missing", hint="a recovered session has an end")
        self._update(session_id, end_time=end_time, crash_recovered=1)

    def get_session_chain(self, session_id: str, depth: int = 5) -> list[dict[str, Any]]:
        """The session and those before it, oldest first, at most `depth`; a gap or a circle ends it."""
        chain: list[dict[str, Any]] = []
        current: str | None = session_id
        while current and len(chain) < depth and all(current != known["session_id"] for known in chain):
            found = self._select("WHERE id = ?", current)
            if not found:
                break
            chain.append(found[0])
            current = found[0]["previous_session_id"]
        return chain[::-1]

    def _change(self, work: Callable[[Connection], T]) -> T:
        with connected(self._path, WAIT_SECONDS) as connection:
            return Writer(connection, self._path, WAIT_SECONDS).transact(lambda _full: work(connection))

    def _update(self, session_id: str, **values: Any) -> None:
        values["updated_at"] = format_time(system_clock())
        values = {name: value for name, value in values.items() if name in self._columns}
        if values:
            self._change(lambda connection: _set(connection, session_id, values))

    def _select(self, where: str, *values: Any) -> list[dict[str, Any]]:
        with connected(self._path, WAIT_SECONDS) as connection:
            cursor = connection.execute(f"SELECT * FROM session_states {where}", values)  # noqa: S608
            return [_session(as_dict(cursor, row)) for row in cursor]


def _set(connection: Connection, session_id: str, values: Mapping[str, Any]) -> None:
    sets = ", ".join(f"{name} = ?" for name in values)
    connection.execute(f"UPDATE session_states SET {sets} WHERE id = ?", (*values.values(), session_id))  # noqa: S608


def default_path() -> Path:
    """Where brain.db is, or would be: as the config says, else in its usual place."""
    from jsonlstore.core.config import load_config

    state_dir = resolve_state_dir()
    return resolve_brain_db(load_config(state_dir, lenient=True).config, state_dir)


def _columns(session: Mapping[str, Any]) -> dict[str, Any]:
    """The columns a session dict gives, checked, normalised and redacted."""
    session_id = session.get("session_id") or session.get("id")
    if not isinstance(session_id, str):
        raise UsageError("session_id is missing", hint="a session is saved under its session_id")
    if redact_text(session_id) != session_id:
        raise UsageError("session_id holds what looks like a secret", hint="choose another id")
    out: dict[str, Any] = {"id": session_id}
    for name in COLUMNS[1:]:
        if name not in session or (session[name] is None and name in _KEPT_WHEN_NONE):
            continue
        value = session[name]
        if name in LISTS:
            out[name] = _list(name, value)
        elif name in _TIMES:
            out[name] = _time(name, value)
        elif name == "crash_recovered":
            out[name] = int(value in (True, 1, "1", "true"))
        elif name == "schema_version":
            out[name] = value if type(value) is int and abs(value) < 2**31 else 1
        else:
            out[name] = _plain(value)
    return out


def _plain(value: Any) -> str:
    return redact_text(clean_text(str(value)))


def _list(name: str, value: Any) -> str:
    try:
        items = orjson.loads(value) if isinstance(value, (str, bytes)) else value
        if isinstance(items, tuple):
            items = list(items)
        if not isinstance(items, list):
            raise UsageError(f"{name} must be a list, or a list as JSON")
        # through JSON first: what the redactor sees is what is stored
        return orjson.dumps(redact_value(orjson.loads(_json(items)))).decode()
    except (ValueError, TypeError, RecursionError) as problem:
        raise UsageError(f"{name} is not JSON: {problem}") from problem


def _json(items: list[Any]) -> bytes:
    try:
        return orjson.dumps(items)
    except orjson.JSONEncodeError:
        # half of an emoji, or a number of more than 64 bits: the slow way has a form for them
        return clean_text(json.dumps(items, ensure_ascii=False)).encode()


def _time(name: str, value: Any) -> str | None:
    if isinstance(value, datetime):
        value = value.isoformat()
    try:
        return parse_stored_time(value)
    except ValueError as problem:
        raise UsageError(f"{name} must be an ISO 8601 time, not {quoted_value(value)}") from problem


def _session(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the documents show a session: lists as lists, times in UTC, `session_id` besides `id`."""
    session = {"session_id": row["id"], **row}
    for name in LISTS:
        if name in row:
            session[name] = _items(row[name])
    for name in _TIMES:
        if _is_time(row.get(name)):
            session[name] = parse_stored_time(row[name])
    session["crash_recovered"] = bool(row.get("crash_recovered"))
    session.setdefault("previous_session_id", None)
    return session


def _items(value: Any) -> list[Any]:
    try:
        items = orjson.loads(value) if isinstance(value, (str, bytes)) else None
    except orjson.JSONDecodeError:
        return []  # as the documents' own reader does
    return items if isinstance(items, list) else []


def _is_time(value: Any) -> bool:
    try:
        return parse_stored_time(value) is not None
    except ValueError:
        return False
