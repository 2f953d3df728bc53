"""What a session key says: whose conversation it is, of which agent, or that it is nobody's.

A runtime names a conversation `agent:<id>:<channel>:<kind>:<peer>` or shorter; older ones wrote `group:<id>` or a bare
number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OWN_RUNTIME = "jsonlstore"  # the first part of our own sessions' keys, and our directory in the state directory
_RUNTIMES = frozenset({"agent", OWN_RUNTIME})  # what keys that name an agent begin with
DEFAULT_AGENT = "main"  # the agent a runtime with one agent runs
SKIPPED_BY_DEFAULT = frozenset({"subagent", "cron", "temp"})
_NOT_CHANNELS = frozenset({"main", "cron", "subagent", "acp", "hook", "recovered", "node", "explicit"})
_SHARED_KEYS = ("main", "global", "unknown")


def agent_of(agent_id: str | None, session_key: str | None) -> str:
    """The agent a session belongs to: the one given, else the one its key names, else the default one."""
    if agent_id:
        return agent_id
    parts = (session_key or "").split(":")
    return parts[1] if len(parts) > 2 and parts[0] in _RUNTIMES and parts[1] else DEFAULT_AGENT


def names_a_peer(session_key: str | None) -> bool:
    """Whether a key belongs to one person's chat or one group: any but that of an agent's main conversation."""
    if not session_key or session_key in _SHARED_KEYS:
        return False
    # a form nobody has seen yet counts as somebody's: a wrong guess would show one person's words to another
    parts = session_key.split(":")
    if len(parts) == 3 and parts[0] == OWN_RUNTIME:
        return parts[2] != "main"  # an agent of one's own may name a conversation after a person
    return len(parts) != 3 or parts[0] != "agent"


def skip_reason(session_key: str | None) -> str | None:
    """Why a session key is no conversation of the user's: `subagent`, `cron`, `temp`; None if it is one."""
    if not session_key:
        return None
    parts = session_key.split(":")
    if parts[0] == "temp" or (len(parts) > 2 and parts[0] in _RUNTIMES and parts[2] == "temp"):
        return "temp"
    if "subagent" in parts:
        return "subagent"
    return "cron" if "cron" in parts else None


def is_utility_run(session_key: object) -> bool:
    """Whether a key is a sub-agent's, a cron job's or a utility run's: nobody's conversation (decision 50)."""
    return isinstance(session_key, str) and skip_reason(session_key) is not None


def channel_of(entry: Mapping[str, Any], session_key: str | None, known: str | None = None) -> str:
    """The channel a session runs on: from its index entry, else its key, else `unknown` (decision 51)."""
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
    """The model's context window in an index entry; None if it does not say."""
    return _count(entry.get("contextTokens")) or None


def compactions_of(entry: Mapping[str, Any]) -> int | None:
    """How often a session's history was compacted, as its index entry counts; None if it does not say."""
    return _count(entry.get("compactionCount"))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
