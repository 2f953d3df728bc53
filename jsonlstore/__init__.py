"""Cross-session memory for AI agents on one machine.

The public names are loaded on first use, so that a hook pays only for what it touches.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from jsonlstore.context.session import Session
    from jsonlstore.context.store import TranscriptStore
    from jsonlstore.core.config import Config
    from jsonlstore.core.errors import JsonlStoreError
    from jsonlstore.restore.manager import SessionPersistenceManager
    from jsonlstore.restore.model import RestoredSessionContext
    from jsonlstore.store.fold import SessionState
    from jsonlstore.store.store import SessionStore

_HOME = {
    "Config": "jsonlstore.core.config",
    "JsonlStoreError": "jsonlstore.core.errors",
    "RestoredSessionContext": "jsonlstore.restore.model",
    "Session": "jsonlstore.context.session",
    "SessionPersistenceManager": "jsonlstore.restore.manager",
    "SessionState": "jsonlstore.store.fold",
    "SessionStore": "jsonlstore.store.store",
    "TranscriptStore": "jsonlstore.context.store",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'jsonlstore' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
