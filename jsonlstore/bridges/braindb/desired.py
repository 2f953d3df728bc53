"""The desired row of a session, read from its log: what `session_states` must say of it, or that it has no row."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import orjson

from jsonlstore.bridges.braindb.rows import Row, to_row
from jsonlstore.bridges.braindb.schema import IMPORTER
from jsonlstore.core.files import read_bytes, unreadable
from jsonlstore.store import FULL_STATE_TYPES, find_month, fold_events

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Mapping
    from pathlib import Path

    from jsonlstore.core.paths import StatePaths
    from jsonlstore.store import Scan, SessionReader

_TAIL_BYTES = 256 * 1024
_ADD_NO_MORE = ("session.continued", "session.inherited")  # than the next session's id

LogVersion = tuple[int, int]  # size and mtime of a log: it only ever grows, so equal means unchanged
StoreVersion = tuple[int, ...]  # of a store: see `store_version`


@dataclass(frozen=True, slots=True)
class Desired:
    """`hot` with a row to write, `archived` or `forgotten` with none to keep, or `unknown` and none of our business."""

    kind: Literal["hot", "archived", "forgotten", "unknown"]
    row: Row | None = None
    version: LogVersion | None = None  # of the hot log, as it was read
    imported: bool = False  # from a row, and nobody else has spoken since
    state: Mapping[str, Any] | None = None  # of the archived session


def log_version(states: str, session_id: str) -> LogVersion | None:
    """What tells whether a log in the directory `states` has grown; None if the session has no hot log."""
    try:
        found = os.stat(f"{states}/{session_id}.jsonl")
    except FileNotFoundError:
        return None
    return _log_version(found)


def hot_logs(store: SessionReader, wanted: Container[str]) -> dict[str, LogVersion | None]:
    """Every hot log, with the version of those `wanted`: a log that will be read anyway tells its version then."""
    try:
        ids = [name[:-6] for name in os.listdir(store.paths.states) if name.endswith(".jsonl")]
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise unreadable(store.paths.states, problem) from problem
    states = str(store.paths.states)
    # a log may move to the archive between being listed and being looked at
    return {each: log_version(states, each) if each in wanted else None for each in ids if each != "metrics"}


def store_version(paths: StatePaths) -> StoreVersion:
    """A value that differs once any session was forgotten, archived or unarchived.

    Each of them renames a file into the directory and then replaces the index by a new file. A log that only grew
    does not show.
    """
    return *_signature(paths.states), *_signature(paths.index)


def _signature(path: Path) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return ()
    except OSError as problem:
        raise unreadable(path, problem) from problem
    return found.st_ino, found.st_size, found.st_mtime_ns


def _log_version(found: os.stat_result) -> LogVersion:
    return found.st_size, found.st_mtime_ns


def read_desired(store: SessionReader, session_id: str) -> Desired:
    """Read one session straight from its log, hot or archived."""
    states = str(store.paths.states)
    ended = ended_row(states, session_id)
    if ended is not None:
        return Desired("hot", *ended)
    before = log_version(states, session_id)
    scan = store.open_log(store.paths.log(session_id)).scan_recent()
    if scan is not None and scan.events:
        return _from_events(session_id, scan, before)
    month = find_month(store.paths, session_id)
    if month is None or not store.paths.archived_state(session_id, month).exists():
        return Desired("unknown")
    state = _archived(store, session_id, month)
    return Desired("archived", state=state) if state is not None else Desired("unknown")


def ended_row(states: str, session_id: str) -> tuple[Row, LogVersion, bool] | None:
    """Row, log version and "only imported" of a session whose log ends with its full state; None for any other.

    The log of every ended session does. There is nothing to fold: this path is most of what an export costs.
    """
    try:
        file = os.open(f"{states}/{session_id}.jsonl", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None  # whoever reads the log properly says what is wrong
    try:
        version = size, _ = _log_version(os.fstat(file))
        tail = os.pread(file, _TAIL_BYTES, size - _TAIL_BYTES) if size > _TAIL_BYTES else os.pread(file, size, 0)
    finally:
        os.close(file)
    if tail[-1:] != b"\n":
        return None
    try:
        return _from_full_line(session_id, tail, version)
    except (ValueError, LookupError, TypeError, AttributeError):
        return None  # not as we write it: whoever folds the log sorts it out


def _from_full_line(session_id: str, tail: bytes, version: LogVersion) -> tuple[Row, LogVersion, bool] | None:
    end = len(tail)
    successor: str | None = None
    while True:
        start = tail.rfind(b"\n", 0, end - 1) + 1
        if not start and version[0] > len(tail):
            return None  # the line began before what was read
        event = orjson.loads(tail[start:end])
        if event["type"] in FULL_STATE_TYPES:
            break
        if not start or event["type"] not in _ADD_NO_MORE:
            return None
        named = event["data"].get("session_id") if event["type"] == "session.continued" else None
        if successor is None and isinstance(named, str):
            successor = named  # the last one counts
        end = start
    data = event["data"]
    state = data["state"]
    said = data.get("said") or data["layers"]  # logs of the first versions have the layers whole
    if successor is not None:
        state["continued_by"] = successor
    return _row(session_id, state, said), version, IMPORTER in said and _only_imported(said)


def _only_imported(said: Mapping[str, Collection[str]]) -> bool:
    return [by for by, fields in said.items() if fields] == [IMPORTER]


def _row(session_id: str, state: Mapping[str, Any], said: Mapping[str, Collection[str]]) -> Row:
    # mostly one writer spoke, and its fields need no set of their own
    given = next(iter(said.values()), ()) if len(said) < 2 else set().union(*said.values())
    return to_row(session_id, state, given)


def _from_events(session_id: str, scan: Scan, version: LogVersion | None) -> Desired:
    folded = fold_events(session_id, scan.events)
    if folded.forgotten:
        return Desired("forgotten", version=version)
    row = _row(session_id, folded.to_dict(), folded.layers)
    return Desired("hot", row, version, imported=_only_imported(folded.layers))


def _archived(store: SessionReader, session_id: str, month: str) -> Mapping[str, Any] | None:
    try:
        state = orjson.loads(read_bytes(store.paths.archived_state(session_id, month)) or b"null")
    except orjson.JSONDecodeError:
        return None
    return state if isinstance(state, dict) else None
