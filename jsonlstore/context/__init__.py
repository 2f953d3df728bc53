"""Transcripts of our own, for agents that have none: kept durably, read back as the model would see them.

An agent opens a `TranscriptStore`, loads its `Session`, appends records and asks how full the window is. Two backends
stand behind one interface: a SQLite database, and JSONL files in OpenClaw's own format, which OpenClaw and pi read too.
A record is checked and linked (`records`), stripped of secrets, and handed to a backend (`sqlite`, `jsonl`); reading
goes backwards from the newest record and stops where the model stops seeing (`session`). Histories are taken over from
OpenClaw (`inherit`) and carried from one backend to the other (`migrate`); `source` shows them to the watcher.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonlstore.context.session import Checkpoint, Session
    from jsonlstore.context.store import SessionInfo, TranscriptStore

_HOME = {
    "Checkpoint": "jsonlstore.context.session",
    "Session": "jsonlstore.context.session",
    "SessionInfo": "jsonlstore.context.store",
    "TranscriptStore": "jsonlstore.context.store",
}

__all__ = ["Checkpoint", "Session", "SessionInfo", "TranscriptStore"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
