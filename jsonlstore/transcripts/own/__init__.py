"""Our own transcripts, which agents write through `jsonlstore.context`: read here like any other runtime's.

They are in one database or one directory of files, as the `session` settings say; after a migration in both. Both hold
every agent's sessions; the key names the agent.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jsonlstore.core.config import load_config, openclaw_json
from jsonlstore.core.session_key import DEFAULT_AGENT, OWN_RUNTIME
from jsonlstore.transcripts.runtimes import Discovery, Runtime, may_exist

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from jsonlstore.transcripts.source import TranscriptSource


class Own(Runtime):
    """The transcript store of this package."""

    def discover(self, state_dir: Path) -> Discovery:
        found: list[TranscriptSource] = []
        for kind, path in _locations(state_dir):
            if not may_exist(path):
                continue
            if kind == "sqlite":
                from jsonlstore.transcripts.own.sqlite import OwnDatabase

                found.append(OwnDatabase(path))
            else:
                from jsonlstore.transcripts.own.files import OwnFiles

                found.append(OwnFiles(path))
        return Discovery(found)

    def watched(self, state_dir: Path) -> list[Path]:
        return [path if kind == "jsonl" else path.parent for kind, path in _locations(state_dir)]

    def has_transcript(self, state_dir: Path, agent: str, session_id: str) -> bool:
        # most machines have no transcripts of ours, and a hook may ask this for many sessions
        if not may_exist(state_dir / OWN_RUNTIME) and _session_block(state_dir) is None:
            return False
        sources = self.discover(state_dir).sources
        return any(one.session_id == session_id for source in sources for one in source.transcripts())


def agent_in(session_key: str | None) -> str:
    """The agent in `jsonlstore:<agent>:…`; users may choose another first part."""
    parts = (session_key or "").split(":")
    return parts[1] if len(parts) > 1 and parts[1] else DEFAULT_AGENT


def _locations(state_dir: Path) -> list[tuple[str, Path]]:
    from jsonlstore.core.session_settings import SessionSettings, settings_from, transcript_place

    block = _session_block(state_dir)
    # invalid settings are reported when the store is opened; reading uses the defaults
    settings = SessionSettings() if block is None else settings_from(block, lambda _: None)
    return [(kind, transcript_place(state_dir, settings, kind)) for kind in ("sqlite", "jsonl")]


def _session_block(state_dir: Path) -> Mapping[str, Any] | None:
    """The `session` settings, parsed again only if the file changed, because the watcher asks every few seconds."""
    path = openclaw_json(state_dir)
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return _read_block(state_dir, (stat.st_ino, stat.st_size, stat.st_mtime_ns))


@lru_cache(maxsize=8)
def _read_block(state_dir: Path, _version: tuple[int, ...]) -> Mapping[str, Any] | None:
    return load_config(state_dir, lenient=True).session_block


RUNTIME = Own()
