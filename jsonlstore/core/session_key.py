"""What a session key says: the agent, the channel, and whether the session is a user's conversation or a utility run.

A runtime names a conversation `agent:<id>:<channel>:<kind>:<peer>` or shorter; older ones wrote `group:<id>` or a bare
number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# the first part of our own sessions' keys, and the name of our directory in the state directory
OWN_RUNTIME = "jsonlstore"
_RUNTIMES = frozenset({"agent", OWN_RUNTIME})  # the first part of keys that name an agent
DEFAULT_AGENT = "main"  # the agent of a runtime that has only one
SKIPPED_BY_DEFAULT = frozenset({"subagent", "cron", "temp"})
_TEMPORARY = ("temp", "internal-session-effects")  # the latter are OpenClaw's own runs over a conversation (2026.9)
_NOT_CHANNELS = frozenset({"main", "cron", "subagent", "acp", "hook", "recovered", "node", "explicit"})
_SHARED_KEYS = ("main", "global", "unknown")


def agent_of(agent_id: str | None, session_key: str | None) -> str:
    """The agent of a session: the one given, else the one its key names, else the default one."""
    if agent_id:
        return agent_id
    parts = (session_key or "").split(":")
    return parts[1] if len(parts) > 2 and parts[0] in _RUNTIMES and parts[1] else DEFAULT_AGENT


def names_a_peer(session_key: str | None) -> bool:
    """Whether a key belongs to a chat with one person or group, that is, to any but an agent's main conversation."""
    if not session_key or session_key in _SHARED_KEYS:
        return False
    # an unknown form counts as a person's chat: a wrong guess would show one person's words to another
    parts = session_key.split(":")
    if len(parts) == 3 and parts[0] == OWN_RUNTIME:
        return parts[2] != "main"  # a custom agent may name a conversation after a person
    return len(parts) != 3 or parts[0] != "agent"


def skip_reason(session_key: str | None) -> str | None:
    """The reason a key is not a user's conversation (`subagent`, `cron`, `temp`); None if it is one."""
    if not session_key:
        return None
    parts = session_key.split(":")
    if parts[0] == "temp" or (len(parts) > 2 and parts[0] in _RUNTIMES and parts[2] in _TEMPORARY):
        return "temp"
    if "subagent" in parts:
        return "subagent"
    return "cron" if "cron" in parts else None


def is_utility_run(session_key: object) -> bool:
    """Whether a key is a sub-agent's, a cron job's or a utility run's, not a user's conversation (decision 50)."""
    return isinstance(session_key, str) and skip_reason(session_key) is not None


def channel_of(entry: Mapping[str, Any], session_key: str | None, known: str | None = None) -> str:
    """The channel of a session: from its index entry, else its key, else `unknown` (decision 51)."""
    candidates = [entry.get("lastChannel"), known]
    holders = (("deliveryContext", "channel"), ("origin", "provider"), ("route", "channel"), ("delivery", "channel"))
    for holder, field in holders:
        inner = entry.get(holder)
        candidates.append(inner.get(field) if isinstance(inner, dict) else None)
    for candidate in candidates:
        if isinstance(candidate, str) and candidate:
            return candidate
    parts = (session_key or "").split(":")
    if len(parts) >= 4 and parts[0] in _RUNTIMES and parts[2] and parts[2] not in _NOT_CHANNELS:
        return parts[2]
    return "unknown"


def window_of(entry: Mapping[str, Any]) -> int | None:
    """The model's context window in an index entry; None if the entry has none."""
    return _count(entry.get("contextTokens")) or None


def compactions_of(entry: Mapping[str, Any]) -> int | None:
    """The number of compactions in an index entry; None if the entry has none."""
    return _count(entry.get("compactionCount"))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
