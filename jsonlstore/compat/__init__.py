"""Cortex's names and shapes, for code written for its documents.

What it promises: every name the documents use is here, with their signatures, and nothing behind it is a second
implementation. `SessionManager` works on a brain.db, dicts in and dicts out; the functions work on a `SessionStore`;
the classes are those of the rooms they come from.
"""

from jsonlstore.compat.functions import (
    detect_crashed_sessions,
    get_recent_sessions,
    get_session_chain,
    mark_session_continued,
    recover_crashed_session,
    save_session_state,
)
from jsonlstore.compat.session_manager import SessionManager
from jsonlstore.restore import (
    ContextScorer,
    DecayEngine,
    PreambleInjector,
    SessionCapture,
    SessionPersistenceManager,
    SessionRestorer,
)
from jsonlstore.signals.topics import HotTopicExtractor

__all__ = [
    "ContextScorer", "DecayEngine", "HotTopicExtractor", "PreambleInjector", "SessionCapture", "SessionManager",
    "SessionPersistenceManager", "SessionRestorer", "apply_decay", "detect_crashed_sessions", "get_recent_sessions",
    "get_session_chain", "mark_session_continued", "recover_crashed_session", "save_session_state", "should_inherit",
]  # fmt: skip

apply_decay = DecayEngine.apply_decay
should_inherit = DecayEngine.should_inherit
