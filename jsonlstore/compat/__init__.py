"""Cortex's names and shapes, for code written for its documents.

What it promises: every name the documents use is here, with their signatures, and nothing behind it is a second
implementation. `SessionManager` works on a brain.db, dicts in and dicts out; the functions (cortex-api section 5, for
callers that bring their own life cycle) work on a `SessionStore`; the classes are those of the rooms they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from jsonlstore.compat.session_manager import SessionManager
from jsonlstore.compat.topics import HotTopicExtractor
from jsonlstore.core.errors import JsonlStoreError, SessionNotFound, UsageError
from jsonlstore.core.model import SessionState
from jsonlstore.restore import (
    ContextScorer,
    DecayEngine,
    PreambleInjector,
    SessionCapture,
    SessionPersistenceManager,
    SessionRestorer,
    find_crashed,
    last_activity,
)
from jsonlstore.store import SessionStore

__all__ = [
    "ContextScorer", "DecayEngine", "HotTopicExtractor", "PreambleInjector", "SessionCapture", "SessionManager",
    "SessionPersistenceManager", "SessionRestorer", "apply_decay", "detect_crashed_sessions", "get_recent_sessions",
    "get_session_chain", "mark_session_continued", "recover_crashed_session", "save_session_state", "should_inherit",
]  # fmt: skip

apply_decay = DecayEngine.apply_decay
should_inherit = DecayEngine.should_inherit
_STALE_AFTER = timedelta(minutes=120)


def save_session_state(store: SessionStore, state: SessionState | Mapping[str, Any]) -> None:
    """Insert or update a session; only the given fields change, and `continued_by` is never erased (decision 18)."""
    fields = state.to_dict() if isinstance(state, SessionState) else dict(state)
    session_id = fields.pop("session_id", None)
    if not isinstance(session_id, str):
        raise UsageError("session_id is missing")
    end_time, reason = fields.pop("end_time", None), fields.pop("end_reason", None)
    successor, crashed = fields.pop("continued_by", None), fields.pop("crash_recovered", False)
    given = {key: value for key, value in fields.items() if value is not None}
    if not store.start(session_id, by="import", **given):
        store.update(session_id, given, by="import")
    if end_time is not None and crashed:
        store.recover(session_id, end_time, by="import")
    elif end_time is not None:
        store.end(session_id, reason=reason, end_time=end_time, by="import")
    if successor is not None:
        store.link(session_id, successor, by="import")


def get_recent_sessions(store: SessionStore, days: float = 7, limit: int | None = 20) -> list[SessionState]:
    """Sessions that ended within the last `days`, latest end first."""
    found = []
    for entry in store.recent(days, limit):
        try:
            found.append(store.get(entry.session_id))
        except JsonlStoreError:
            continue  # gone since the index was read
    return found


def mark_session_continued(store: SessionStore, session_id: str, next_session_id: str) -> None:
    """Set `continued_by`: the last writer wins, and the log keeps every one."""
    store.link(session_id, next_session_id)


def detect_crashed_sessions(store: SessionStore, active_session_id: str | None = None) -> list[SessionState]:
    """The sessions that died without an end, the active one excepted."""
    found = find_crashed(store, store.entries(), store.clock(), stale_after=_STALE_AFTER, current=active_session_id)
    return [store.get(one.session_id) for one in found]


def recover_crashed_session(store: SessionStore, session_id: str) -> bool:
    """Close a session that is known to have died, as of its last activity; False if it had ended."""
    entry = store.entry(session_id)
    if entry is None:
        raise SessionNotFound(f"no session {session_id}")
    folded = store.folded(session_id)
    return store.recover(session_id, last_activity(folded.last_active_at, entry.start_time, store.clock()))


def get_session_chain(store: SessionStore, session_id: str, depth: int = 5) -> list[SessionState]:
    """The session and those before it, oldest first, at most `depth`."""
    return SessionPersistenceManager(store).get_session_chain(session_id, depth)
