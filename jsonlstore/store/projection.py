"""An entry of the index: the projection of a log up to its last boundary event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from jsonlstore.core.model import KNOWN_FIELDS, SCHEMA_VERSION, WorkingMemoryPin, read_parts
from jsonlstore.core.task_life import closed_here, open_here
from jsonlstore.store.fold import SessionFold, fold_events
from jsonlstore.store.log import Scan, SessionLog

# an archived session's entry keeps links and cursor; its content is in the archive
_NOT_IN_STUB = frozenset({"hot_topics", "closed"})
_MOST_CLOSED = 60
_LONGEST_CLOSED = 120

RawIndexEntry = dict[str, Any]


class IndexEntry(NamedTuple):  # named tuple: a dataclass of this size would cost every hook call some milliseconds
    """One session's entry in the index."""

    session_id: str
    start_time: str = ""
    end_time: str | None = None
    end_reason: str | None = None
    channel: str = "unknown"
    agent_id: str | None = None
    session_key: str | None = None
    updated_at: str | None = None
    hot_topics: tuple[str, ...] = ()
    active_projects: tuple[str, ...] = ()
    pending_task_count: int = 0
    pin_count: int = 0
    critical: bool = False
    crash_recovered: bool = False
    previous_session_id: str | None = None
    continued_by: str | None = None
    source: Mapping[str, Any] | None = None
    owner: Mapping[str, Any] | None = None
    archived: str | None = None
    forgotten: bool = False
    closed: tuple[tuple[str, str], ...] = ()  # (id, title) of what the session closed, the id empty if there is none
    schema_version: int = SCHEMA_VERSION
    log_bytes: int = 0

    @classmethod
    def of(cls, session_id: str, raw: Mapping[str, Any]) -> IndexEntry:
        known = {key: value for key, value in raw.items() if key in _ENTRY_KEYS}
        for key in ("hot_topics", "active_projects"):
            known[key] = tuple(known.get(key) or ())
        known["closed"] = tuple((one[0], one[1]) for one in known.get("closed") or ())
        return cls(session_id, **known)


_ENTRY_KEYS = frozenset(IndexEntry._fields) - {"session_id"}
# copied from the state under the same name; a newer writer's field of that name is not ours
_COPIED = (_ENTRY_KEYS & KNOWN_FIELDS) - {"closed"}


def project(folded: SessionFold, log_bytes: int, archived: str | None = None) -> RawIndexEntry:
    """The index entry of a session whose last boundary event ends at `log_bytes` of its log."""
    if folded.forgotten:
        return {"forgotten": True, "log_bytes": log_bytes}
    state = folded.to_dict()
    pins = read_parts(WorkingMemoryPin, state["working_memory"])
    entry: RawIndexEntry = {key: value for key, value in state.items() if key in _COPIED} | {
        "critical": any(pin.critical for pin in pins),
        "log_bytes": log_bytes,
        "owner": folded.owner,
        "pending_task_count": len(open_here(state["pending_tasks"], state["closed"])),
        "pin_count": len(pins),
        "source": folded.source,
        "closed": _closings(state) or None,
    }
    if archived:
        entry = {key: value for key, value in entry.items() if key not in _NOT_IN_STUB} | {"archived": archived}
    # every session start reads all entries, so unknown values are left out; an unknown end is kept, because it marks
    # the session as open
    return {key: value for key, value in entry.items() if value is not None or key == "end_time"}


def _closings(state: Mapping[str, Any]) -> list[list[str]]:
    """What a session closed, as short as matching allows: every session start reads it."""
    closed = closed_here(state["pending_tasks"], state["closed"])
    return [
        [str(one.get("id") or ""), one["title"][:_LONGEST_CLOSED]]
        for one in closed[-_MOST_CLOSED:]
        if isinstance(one.get("title"), str)
    ]


def project_log(session_log: SessionLog, session_id: str, archived: str | None = None) -> RawIndexEntry | None:
    """The index entry for a log, or None if the log holds no event."""
    recent = session_log.scan_recent()
    entry = _project_scan(recent, session_id, archived, none_yet=-1) if recent else None
    if entry is None and recent is not None:
        # a log that lost its first line has no boundary: its first event serves as one
        whole = session_log.scan()
        entry = _project_scan(whole, session_id, archived, none_yet=0) if whole and whole.events else None
    return entry


def _project_scan(scan: Scan, session_id: str, archived: str | None, none_yet: int) -> RawIndexEntry | None:
    running = SessionFold()
    last = none_yet
    for number, placed in enumerate(scan.events):
        if running.is_boundary(placed.event):
            last = number
        running.apply(placed.event)
    if last < 0:
        return None
    return project(fold_events(session_id, scan.events[: last + 1]), scan.events[last].end, archived)
