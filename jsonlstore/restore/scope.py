"""Whose sessions may come back: one person's words must not surface in another's conversation (decision 53)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from jsonlstore.core.model import SessionState
from jsonlstore.core.session_key import agent_of, names_a_peer
from jsonlstore.store import IndexEntry

_REDACTED = "[REDACTED]"  # a peer's id that looked like a secret: two such keys are alike without being the same


class Scope(NamedTuple):
    """The conversation a session belongs to, and how far it may look (`conversation`, `agent` or `all`)."""

    reach: str
    agent: str
    session_key: str | None
    channel: str

    @classmethod
    def of(cls, reach: str, agent_id: str | None, session_key: str | None, channel: str | None) -> Scope:
        return cls(reach, agent_of(agent_id, session_key), session_key or None, channel or "unknown")

    @classmethod
    def of_session(cls, reach: str, session: IndexEntry | SessionState) -> Scope:
        """The scope a session already known would have."""
        return cls.of(reach, session.agent_id, session.session_key, session.channel)

    def allows(self, session: IndexEntry | SessionState) -> bool:
        """Whether a session's words may be used here."""
        return self.reaches(session.agent_id, session.session_key, session.channel)

    def same_conversation(self, session: IndexEntry | SessionState) -> bool:
        """Whether a session is of this very conversation, however far one may look."""
        return self._replace(reach="conversation").allows(session)

    def reaches(self, agent_id: str | None, session_key: str | None, channel: str | None) -> bool:
        """The same for the three things it depends on."""
        if self.reach == "all":
            return True
        if agent_of(agent_id, session_key) != self.agent:
            return False
        if self.reach == "agent":
            return True
        key = session_key or None
        if key is not None and self.session_key is not None:
            return key == self.session_key and _REDACTED not in key
        # One key is not known. A chat with a named peer is not opened to whoever happens to use the same channel.
        if names_a_peer(key) or names_a_peer(self.session_key):
            return False
        return (channel or "unknown") == self.channel

    def in_reach(self) -> Callable[[Mapping[str, Any]], bool]:
        """`reaches` for entries of an index: thousands of them share a few conversations."""
        known: dict[tuple[Any, Any, Any], bool] = {}

        def reaches(entry: Mapping[str, Any]) -> bool:
            get = entry.get
            place = (get("agent_id"), get("session_key"), get("channel"))
            try:
                return known[place]
            except KeyError:
                return known.setdefault(place, self.reaches(*place))

        return reaches
