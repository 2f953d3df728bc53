"""What our own session keys say."""

from __future__ import annotations

from jsonlstore.core.session_key import DEFAULT_AGENT


def agent_in(session_key: str | None) -> str:
    """The agent in `jsonlstore:<agent>:…`, whatever the first part is called."""
    parts = (session_key or "").split(":")
    return parts[1] if len(parts) > 1 and parts[1] else DEFAULT_AGENT
