"""Transcripts of our own, for agents that have none: kept durably, read back as the model would see them.

An agent opens a `TranscriptStore`, loads its `Session`, appends records and asks how full the window is. Two backends
stand behind one interface: a SQLite database, and JSONL files in OpenClaw's own format, which OpenClaw and pi read too.
A record is checked and linked (`records`), stripped of secrets, and handed to a backend (`sqlite`, `jsonl`); reading
goes backwards from the newest record and stops where the model stops seeing (`session`). Histories are taken over from
OpenClaw (`inherit`), carried from one backend to the other (`migrate`) and removed without a trace (`forgetting`). The
watcher reads them as it reads any other runtime's: see `transcripts.own`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.context.session import Checkpoint, Session
    from jsonlstore.context.store import SessionInfo, TranscriptStore

__all__ = ["Checkpoint", "Session", "SessionInfo", "TranscriptStore"]

__getattr__ = lazy(__name__, {"session": "Checkpoint Session", "store": "SessionInfo TranscriptStore"})
