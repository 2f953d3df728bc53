"""The layout on disk, as paths. Nothing here reads or writes a file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from jsonlstore.core.errors import InvalidSessionId, quoted_value

_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")
_RESERVED = frozenset({"sessions", "metrics", "archive", "states"})


def check_session_id(session_id: object) -> str:
    """Return `session_id` if it is a plain id; it becomes a file name, so anything else is refused."""
    if not isinstance(session_id, str) or not is_session_id(session_id):
        raise InvalidSessionId(
            f"not a session id: {quoted_value(session_id)}",
            hint="1 to 128 letters, digits, '.', '_' or '-', starting with a letter or digit",
        )
    return session_id


def is_session_id(text: str) -> bool:
    """Whether `session_id` is a plain id, fit to be a file name."""
    return bool(_SESSION_ID.match(text)) and not text.endswith(".lock") and text.lower() not in _RESERVED


def resolve_state_dir(option: str | os.PathLike[str] | None = None, env: Mapping[str, str] = os.environ) -> Path:
    """The option, else `$OPENCLAW_STATE_DIR`, else `$OPENCLAW_HOME/.openclaw`, else `~/.openclaw`."""
    if option:
        return _absolute(option)
    if env.get("OPENCLAW_STATE_DIR"):
        return _absolute(env["OPENCLAW_STATE_DIR"])
    if env.get("OPENCLAW_HOME"):
        return _absolute(env["OPENCLAW_HOME"]) / ".openclaw"
    return _absolute("~/.openclaw")


def shorten_home(path: str | os.PathLike[str], home: str | None = None) -> str:
    """`path` with the home directory written as `~`, as records store it."""
    text = os.fspath(path)
    root = (home or os.path.expanduser("~")).rstrip("/")
    if root and (text == root or text.startswith(root + "/")):
        return "~" + text[len(root) :]
    return text


def _absolute(path: str | os.PathLike[str]) -> Path:
    return Path(os.path.abspath(os.path.expanduser(os.fspath(path))))


class StatePaths:
    """Every path jsonlstore owns under one state directory.

    `sessions` holds the mirrors and the archive and may be moved by the config. `states` never moves, because OpenClaw
    takes a `sessions.json` or `*.jsonl` directly in `sessions/` for its own legacy state.
    """

    def __init__(self, state_dir: Path, sessions: Path) -> None:
        self.state_dir: Final = state_dir
        self.sessions: Final = sessions
        self.archive: Final = sessions / "archive"
        self.states: Final = state_dir / "sessions" / "states"
        self.index: Final = self.states / "sessions.json"
        self.metrics: Final = self.states / "metrics.jsonl"
        self.metrics_head: Final = self.states / "metrics.head"
        self.search: Final = self.states / "search.sqlite"
        self.quarantine: Final = self.states / "quarantine"
        # written by the OpenClaw plugin: when it was loaded, when it last fired
        self.plugin_heartbeat: Final = self.states / "openclaw-plugin.json"
        self.hook_log: Final = self.states / "openclaw-hook.log"

    @classmethod
    def of(cls, state_dir: Path, sessions_dir: str | None = None) -> StatePaths:
        """The layout of `state_dir`, with the mirrors in `sessions_dir` if given."""
        return cls(state_dir, _absolute(sessions_dir) if sessions_dir else state_dir / "sessions")

    def workspace_file(self, setting: str) -> Path:
        """The path of another program's file in a setting: absolute, `~`, or relative to the state directory."""
        return self.state_dir / os.path.expanduser(setting)

    def log(self, session_id: str) -> Path:
        return self.states / f"{check_session_id(session_id)}.jsonl"

    def mirror(self, session_id: str) -> Path:
        return self.sessions / f"{check_session_id(session_id)}.json"

    def archived_state(self, session_id: str, month: str) -> Path:
        return self.archive / month / f"{check_session_id(session_id)}.json"

    def archived_log(self, session_id: str, month: str) -> Path:
        return self.archive / month / f"{check_session_id(session_id)}.jsonl"
