"""How a session stands in our store right now: what its row must say, or that it must have none."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import orjson

from jsonlstore.bridges.braindb.rows import Row, agrees, as_dict, to_row
from jsonlstore.bridges.braindb.schema import COLUMNS
from jsonlstore.errors import Unreadable
from jsonlstore.store.archive import find_month
from jsonlstore.store.files import read_bytes
from jsonlstore.store.log import FULL_STATE_TYPES
from jsonlstore.store.projection import fold_events

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Container, Mapping

    from jsonlstore.store.log import Scan
    from jsonlstore.store.reader import SessionReader

_TAIL_BYTES = 256 * 1024
_NEEDED = {*COLUMNS, "session_id"} - {"id", "created_at"}

Mark = tuple[int, int]  # size and mtime of a log: it only ever grows, so equal means unchanged


@dataclass(frozen=True, slots=True)
class Standing:
    """`hot` with a row to write, `archived` or `forgotten` with none to keep, or `unknown` and none of our business."""

    kind: Literal["hot", "archived", "forgotten", "unknown"]
    row: Row | None = None
    state: Mapping[str, Any] | None = None
    mark: Mark | None = None  # of the hot log, as it was read


def mark_of(states: str, session_id: str) -> Mark | None:
    """What tells whether a log in the directory `states` has grown; None if the session has no hot log."""
    try:
        found = os.stat(f"{states}/{session_id}.jsonl")
    except FileNotFoundError:
        return None
    return _mark(found)


def hot_marks(store: SessionReader, wanted: Container[str]) -> dict[str, Mark | None]:
    """Every hot log, with its mark where that is wanted: asking costs, and a log that is read anyway tells it."""
    try:
        with os.scandir(store.paths.states) as listing:
            ids = [item.name[:-6] for item in listing if item.name.endswith(".jsonl")]
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise Unreadable(f"cannot read {store.paths.states}: {problem.strerror}") from problem
    states = str(store.paths.states)
    # a log may move to the archive between being listed and being looked at
    return {each: mark_of(states, each) if each in wanted else None for each in ids if each != "metrics"}


def _mark(found: os.stat_result) -> Mark:
    return found.st_size, found.st_mtime_ns


def standing_of(store: SessionReader, session_id: str) -> Standing:
    """Read one session straight from its log, hot or archived."""
    states = str(store.paths.states)
    ended = _full_last_line(f"{states}/{session_id}.jsonl")
    if ended is not None:
        data, mark = ended
        return _hot(session_id, data["state"], data["layers"], mark)
    before = mark_of(states, session_id)
    scan = store.open_log(store.paths.log(session_id)).scan_recent()
    if scan is not None and scan.events:
        return _standing(session_id, scan, before)
    month = find_month(store.paths, session_id)
    if month is None or not store.paths.archived_state(session_id, month).exists():
        return Standing("unknown")
    state = _archived(store, session_id, month)
    return Standing("archived", state=state) if state is not None else Standing("unknown")


def _full_last_line(path: str) -> tuple[Mapping[str, Any], Mark] | None:
    """The data of a log's last line if that carries the full state, as every ended session's does, and its mark.

    Then there is nothing to fold, and reading it is most of what exporting a session costs.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None  # whoever reads the log properly says what is wrong
    try:
        mark = size, _ = _mark(os.fstat(file))
        tail = os.pread(file, min(size, _TAIL_BYTES), max(0, size - _TAIL_BYTES))
    finally:
        os.close(file)
    start = tail.rfind(b"\n", 0, -1) + 1
    if not tail.endswith(b"\n") or (not start and size > _TAIL_BYTES):
        return None
    try:
        event = orjson.loads(tail[start:])
    except orjson.JSONDecodeError:
        return None
    data = event.get("data") if isinstance(event, dict) and event.get("type") in FULL_STATE_TYPES else None
    return (data, mark) if isinstance(data, dict) and _is_full(data) else None


def _is_full(data: Mapping[str, Any]) -> bool:
    state = data.get("state")
    return isinstance(state, dict) and "layers" in data and state.keys() >= _NEEDED


def _hot(session_id: str, state: Mapping[str, Any], layers: Mapping[str, Any], mark: Mark | None) -> Standing:
    given: set[str] = set().union(*layers.values())
    return Standing("hot", to_row(session_id, state, given), state, mark)


def _standing(session_id: str, scan: Scan, mark: Mark | None) -> Standing:
    folded = fold_events(session_id, (placed.event for placed in scan.events))
    if folded.forgotten:
        return Standing("forgotten", mark=mark)
    return _hot(session_id, folded.to_dict(), folded.layers, mark)


def _archived(store: SessionReader, session_id: str, month: str) -> Mapping[str, Any] | None:
    try:
        state = orjson.loads(read_bytes(store.paths.archived_state(session_id, month)) or b"null")
    except orjson.JSONDecodeError:
        return None
    return state if isinstance(state, dict) else None


def may_go(connection: sqlite3.Connection, session_id: str, standing: Standing) -> bool:
    """May the row be removed? A forgotten session's always; an archived one's if the archive has all it says."""
    if standing.kind == "forgotten":
        return True
    if standing.kind != "archived" or standing.state is None:
        return False
    cursor = connection.execute("SELECT * FROM session_states WHERE id = ?", (session_id,))
    found = cursor.fetchone()
    return found is not None and agrees(as_dict(cursor, found), standing.state)
