"""Attribution of old sessions to a channel, where only one channel is possible.

Up to 2026.7 a reset takes a transcript out of OpenClaw's index, and with it the conversation it belonged to. A live
watcher has recorded the conversation; a later reader cannot know it, and such a session would never be restored
(decision 53). If an agent has only its owner's conversation on a single channel, the session is attributed to that
channel; the one remaining risk is a chat that was deleted from the index without a trace. If the agent has any chat
with a named peer, nothing is inferred.
"""

from __future__ import annotations

from dataclasses import dataclass

from jsonlstore.core.session_key import agent_of, names_a_peer
from jsonlstore.store import SessionStore
from jsonlstore.transcripts import registered_runtimes

_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Attribution:
    """How many sessions were given a channel, and how many remain without one."""

    attributed: int = 0
    unknown: int = 0


def attribute(store: SessionStore, *, dry_run: bool = False) -> Attribution:
    """Set the channel of unattributed sessions whose agent has only one channel."""
    channels: dict[str, str | None] = {}
    attributed = unknown = 0
    for entry in list(store.entries()):
        if entry.session_key or entry.channel != _UNKNOWN or entry.archived or not entry.end_time or not entry.agent_id:
            continue
        if entry.agent_id not in channels:
            channels[entry.agent_id] = _only_channel(store, entry.agent_id)
        channel = channels[entry.agent_id]
        if channel is None or entry.end_reason == "delete":  # a deleted chat is in no index, whichever peer it was with
            unknown += 1
            continue
        attributed += 1
        if not dry_run:
            store.update(entry.session_id, {"channel": channel}, by="watcher")
    return Attribution(attributed, unknown)


def _only_channel(store: SessionStore, agent_id: str) -> str | None:
    """The channel of an agent that has exactly one and no chat with a named peer; None otherwise."""
    current: dict[str, str] = {}
    for runtime in registered_runtimes():
        current |= runtime.channels(store.paths.state_dir, agent_id)
    known = {
        (entry.session_key, entry.channel)
        for entry in store.entries()
        if agent_of(entry.agent_id, entry.session_key) == agent_id
    }
    keys = {*current, *(key for key, _ in known if key)}
    if not current or any(map(names_a_peer, keys)):
        return None
    channels = {*current.values(), *(channel for _, channel in known)}
    channels.discard(_UNKNOWN)
    return channels.pop() if len(channels) == 1 else None
