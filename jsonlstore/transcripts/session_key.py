"""What a session key says: the channel a session runs on, and whether it is a conversation of the user's at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SKIPPED_BY_DEFAULT = frozenset({"subagent", "cron", "temp"})
_NOT_CHANNELS = frozenset({"main", "cron", "subagent", "acp", "hook", "recovered", "node", "explicit"})


def skip_reason(session_key: str | None) -> str | None:
    """Why a session key is no conversation of the user's: `subagent`, `cron`, `temp`; None if it is one."""
    if not session_key:
        return None
    parts = session_key.split(":")
    if parts[0] == "temp" or (len(parts) > 2 and parts[0] == "agent" and parts[2] == "temp"):
        return "temp"
    if "subagent" in parts:
        return "subagent"
    return "cron" if "cron" in parts else None


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
    if len(parts) >= 4 and parts[0] == "agent" and parts[2] and parts[2] not in _NOT_CHANNELS:
        return parts[2]
    return "unknown"
