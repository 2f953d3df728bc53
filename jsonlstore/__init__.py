"""Cross-session memory for AI agents on one machine.

The public names are loaded on first use, so that a hook pays only for what it touches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.forgetters import FORGETTERS
from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.context import Session, TranscriptStore
    from jsonlstore.core.config import Config
    from jsonlstore.core.errors import JsonlStoreError
    from jsonlstore.core.model import SessionState
    from jsonlstore.core.paths import StatePaths
    from jsonlstore.restore import RestoredSessionContext, SessionPersistenceManager
    from jsonlstore.store import SessionStore

__version__ = "0.1.0"

__all__ = [
    "Config",
    "JsonlStoreError",
    "RestoredSessionContext",
    "Session",
    "SessionPersistenceManager",
    "SessionState",
    "SessionStore",
    "TranscriptStore",
    "__version__",
]

__getattr__ = lazy(
    __name__,
    {
        "context.session": "Session",
        "context.store": "TranscriptStore",
        "core.config": "Config",
        "core.errors": "JsonlStoreError",
        "core.model": "SessionState",
        "restore.manager": "SessionPersistenceManager",
        "restore.result": "RestoredSessionContext",
        "bridges.braindb.library": "SessionStore",
    },
)


def _forget_words(paths: StatePaths, session_id: str) -> None:
    """Take a session's words out of the search index, whoever forgets it; without an index no code is loaded."""
    if paths.search.exists():
        from jsonlstore.recall import forget_words

        forget_words(paths.search, session_id)


FORGETTERS.append(_forget_words)
