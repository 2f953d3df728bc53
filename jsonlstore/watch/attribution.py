"""Old sessions whose conversation OpenClaw no longer knows: say which it was where only one answer is possible.

Up to 2026.7 a reset takes a transcript out of OpenClaw's index, and with it the conversation it belonged to. Read live,
we know better; read afterwards, nobody does, and such a session would never come back (decision 53). But where an agent
talks to nobody but its owner, on one channel only, it was that one, unless a chat was wiped from the index without any
trace. A single chat with a named peer, and nothing is inferred.
"""

from __future__ import annotations

from dataclasses import dataclass

from jsonlstore.core.session_key import agent_of, names_a_peer
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts.runtimes import runtimes

_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Attribution:
    """How many sessions were given their channel, and how many stay without."""

    attributed: int = 0
    unknown: int = 0


def attribute(store: SessionStore, *, dry_run: bool = False) -> Attribution:
    """Give sessions of no known conversation the one channel their agent has, if that is all it has."""
    channels: dict[str, str | None] = {}
    attributed = unknown = 0
    for entry in list(store.entries()):
        if entry.session_key or entry.channel != _UNKNOWN or entry.archived or not entry.end_time or not entry.agent_id:
            continue
        if entry.agent_id not in channels:
            channels[entry.agent_id] = _only_channel(store, entry.agent_id)
        channel = channels[entry.agent_id]
        if channel is None or entry.end_reason == "delete":  # what was deleted is in no index, whoever it was with
            unknown += 1
            continue
        attributed += 1
        if not dry_run:
            store.update(entry.session_id, {"channel": channel}, by="watcher")
    return Attribution(attributed, unknown)


def _only_channel(store: SessionStore, agent_id: str) -> str | None:
    """The channel of an agent that has one, and no chat with anybody in particular."""
    current: dict[str, str] = {}
    for runtime in runtimes():
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
