"""OpenClaw's `sessions.json`: which session a key means now, and what else it knows of that session."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonlstore.core.session_key import channel_of, compactions_of, window_of
from jsonlstore.transcripts.json_values import parse_object

MAX_INDEX = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class IndexedSession:
    """The fields we use of one `sessions.json` entry."""

    session_key: str
    session_id: str
    channel: str
    file_name: str
    spawned: bool
    context_tokens: int | None
    compactions: int | None


def read_index(path: Path, warn: Callable[[str], object]) -> dict[str, IndexedSession] | None:
    """The entries by session id; None without a usable index, with a warning unless there is no file."""
    try:
        if path.stat().st_size > MAX_INDEX:
            warn(f"{path} is too large to read; session keys and channels are unknown")
            return None
        document = parse_object(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as problem:
        warn(f"cannot read {path}: {problem.strerror}; session keys and channels are unknown")
        return None
    if document is None:
        warn(f"{path} is empty or damaged; session keys and channels are unknown")
        return None
    entries = (_index_entry(key, value) for key, value in document.items() if isinstance(value, dict))
    return {entry.session_id: entry for entry in entries if entry}


def _index_entry(key: str, value: dict[str, Any]) -> IndexedSession | None:
    session_id = value.get("sessionId")
    if not isinstance(session_id, str) or not session_id:
        return None
    file = value.get("sessionFile")
    return IndexedSession(
        session_key=key,
        session_id=session_id,
        channel=channel_of(value, key),
        file_name=os.path.basename(file) if isinstance(file, str) else "",
        spawned=bool(value.get("spawnedBy")),
        context_tokens=window_of(value),
        compactions=compactions_of(value),
    )
