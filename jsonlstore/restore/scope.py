"""Whose sessions may come back: one person's words must not surface in another's conversation (DECISION 53)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jsonlstore.core.model import SessionState
    from jsonlstore.store.projection import IndexEntry

DEFAULT_AGENT = "main"  # the agent a runtime with one agent runs
_SHARED_KEYS = ("main", "global", "unknown")
_REDACTED = "[REDACTED]"  # a peer's id that looked like a secret: two such keys are alike without being the same


def agent_of(agent_id: str | None, session_key: str | None) -> str:
    """The agent a session belongs to: as told, else as its key `agent:<id>:…` says, else the default one."""
    if agent_id:
        return agent_id
    parts = (session_key or "").split(":")
    return parts[1] if len(parts) > 2 and parts[0] == "agent" and parts[1] else DEFAULT_AGENT


def names_a_peer(session_key: str | None) -> bool:
    """Whether a key belongs to one person's chat or one group: any but that of an agent's main conversation.

    `agent:<id>:<channel>:<kind>:<peer>`, `agent:<id>:<kind>:<peer>`, and what older runtimes wrote: `group:<id>`, a
    bare number. A form nobody has seen yet is somebody's, too.
    """
    if not session_key or session_key in _SHARED_KEYS:
        return False
    parts = session_key.split(":")
    return len(parts) != 3 or parts[0] != "agent"


def is_utility_run(session_key: object) -> bool:
    """Whether a key is a sub-agent's, a cron job's or a utility run's: nobody's conversation (DECISION 50)."""
    if not isinstance(session_key, str) or not any(mark in session_key for mark in ("subagent", "cron", "temp")):
        return False
    from jsonlstore.transcripts.session_key import skip_reason

    return skip_reason(session_key) is not None


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
