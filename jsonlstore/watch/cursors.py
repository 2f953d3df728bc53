"""The cursors: how far each transcript was read. This is the only place in memory that knows.

There is no cursor file. At start the cursors come from the index and, for open sessions, from their logs. Added to them
is what this process has read since: each session as it was when it was last read to its end, and the followers that can
read on.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from sys import intern
from typing import Any

from jsonlstore.core.errors import JsonlStoreError, SourceUnreadable
from jsonlstore.store import SessionStore
from jsonlstore.transcripts import Cursor, RecordedSession
from jsonlstore.watch.follower import Follower

Key = tuple[str, str]
FOLLOWED_AT_ONCE = 32
VANISHED = "vanished"
GONE = frozenset({VANISHED, "forgotten"})  # older logs say "forgotten" for a vanished transcript
# ends concluded from something missing; the runtime recorded all other ends itself
INFERRED = frozenset({"idle", "daily", "rollover", "import", *GONE})
# ends that only mean that the transcript was not in its place
MISSED = frozenset({"import", "delete", *GONE})
_LAST = "\uffff"  # sorts after every session id


def corrects(reason: str, recorded: str | None) -> bool:
    """Whether `reason` replaces the recorded one: a reason the runtime recorded replaces an inferred one."""
    return recorded is None or (recorded in INFERRED and reason not in INFERRED)


@dataclass(frozen=True, slots=True)
class Position:
    """The position of our log in one transcript: the newest stretch, and how far it was read."""

    session_id: str
    stretch: int = 0
    extent: str | None = None  # digest of the copies' extents up to which everything is in the log
    cursor: Cursor | None = None
    ended: bool = False
    session_key: str | None = None
    channel: str = "unknown"
    last_at: str | None = None  # the time of the last entry read
    end_time: str | None = None
    end_reason: str | None = None

    @classmethod
    def of(cls, session_id: str, state: Mapping[str, Any], source: Mapping[str, Any] | None) -> Position:
        """The position given by a session's state or index entry, and by the `source` in its log."""
        source = source or {}
        stretch, extent = source.get("stretch"), source.get("mark")
        key, channel, reason = state.get("session_key"), state.get("channel") or "unknown", state.get("end_reason")
        # A stretch closed by a reset does not know how far its transcript was read; the stretch after it does. If that
        # one is missing, we were killed between writing the two.
        final = bool(source.get("final"))
        return cls(
            # a watcher keeps thousands of positions for days, and most of their texts are equal to others
            intern(session_id),
            stretch=stretch if isinstance(stretch, int) else 0,
            extent=intern(extent) if isinstance(extent, str) and not final else None,
            cursor=Cursor.from_json(dict(source)) if not final else None,
            ended=state.get("end_time") is not None,
            session_key=key and intern(key),
            channel=intern(channel),
            last_at=source.get("last_at") or state.get("updated_at"),
            end_time=state.get("end_time"),
            end_reason=reason and intern(reason),
        )

    def is_over(self, reason: str | None) -> bool:
        """Whether an end found on disk now adds nothing to the recorded one."""
        return reason is None or (self.ended and not corrects(reason, self.end_reason))


class EndedSessions:
    """The ended sessions of one agent in the order they ended, grouped by conversation and by channel."""

    def __init__(self) -> None:
        self._ended: dict[str, Position] = {}
        self._groups: dict[tuple[str | None, str | None], list[tuple[str, str]]] = {}

    def add(self, session: Position) -> None:
        """Add a session, or replace its end."""
        before = self._ended.get(session.session_id)
        if before == session:
            return
        if before is not None:
            for group in _groups_of(before.session_key, before.channel):
                self._groups[group].remove((before.end_time or "", before.session_id))
        self._ended[session.session_id] = session
        for group in _groups_of(session.session_key, session.channel):
            insort(self._groups.setdefault(group, []), (session.end_time or "", session.session_id))

    def latest(self, start: str, channel: str, session_key: str | None, but: AbstractSet[str]) -> str | None:
        """The session that ended last before `start`: in this conversation, else on this channel, else of the agent."""
        for group in _groups_of(session_key, channel):
            ended = self._groups.get(group, [])
            for at in range(bisect_right(ended, (start, _LAST)) - 1, -1, -1):
                if ended[at][1] not in but:
                    return ended[at][1]
        return None


def _groups_of(session_key: str | None, channel: str) -> list[tuple[str | None, str | None]]:
    """The groups a session belongs to, the most specific first."""
    known = channel if channel != "unknown" else None
    groups = [(session_key, known), (session_key, None), (None, known), (None, None)]
    return list(dict.fromkeys(groups))


class Cursors:
    """Every transcript our store or this process has seen, by agent and the runtime's session id."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._positions: dict[Key, Position] = {}
        self._settled: dict[Key, tuple[RecordedSession, str]] = {}
        self._followers: OrderedDict[Key, Follower] = OrderedDict()
        self._owner: dict[str, str] = {}
        self._ended: dict[str, EndedSessions] = {}
        self._forgotten: set[str] = set()
        self._load()

    def _load(self) -> None:
        for session_id, entry in self._store.index.lazy_entries().items():
            if entry.get("forgotten"):
                self._forgotten.add(session_id)
            elif entry.get("end_time"):
                self._take(session_id, entry, entry.get("source"))
            else:
                self._take_open(session_id)

    def _take_open(self, session_id: str) -> None:
        """Load an open session from its log: the index is only updated at boundaries, so its cursor may be old."""
        try:
            folded = self._store.folded(session_id)
        except JsonlStoreError:
            return
        self._take(session_id, folded.to_dict(), folded.source)

    def _take(self, session_id: str, state: Mapping[str, Any], source: Mapping[str, Any] | None) -> None:
        position = Position.of(session_id, state, source)
        agent = state.get("agent_id") or ""
        self._add_ended(agent, position)
        if source:
            runtime_id = str(source.get("session_id") or session_id)
            self.put((intern(str(source.get("agent_id") or agent)), intern(runtime_id)), position)

    def _add_ended(self, agent: str, position: Position) -> None:
        if position.end_time:
            self._ended.setdefault(agent, EndedSessions()).add(position)

    # -- positions of our logs

    def get(self, key: Key) -> Position | None:
        return self._positions.get(key)

    def put(self, key: Key, position: Position) -> None:
        """Store the position of a transcript's newest stretch; an older stretch is only kept as a session to link
        to.
        """
        before = self._positions.get(key)
        if before is None or before.stretch <= position.stretch or before.session_id == position.session_id:
            self._positions[key] = position
        self._owner.setdefault(key[1], key[0])
        self._add_ended(key[0], position)

    def remove(self, key: Key) -> None:
        """Drop a transcript's position, because its newest stretch is no longer in it and an earlier one takes its
        place.
        """
        self._positions.pop(key, None)

    def open(self) -> Iterator[tuple[Key, Position]]:
        """Every transcript whose session has not ended."""
        return iter([(key, position) for key, position in self._positions.items() if not position.ended])

    def previous(self, agent: str, start: str, channel: str, session_key: str | None, itself: str) -> str | None:
        """The session that ended last before `start`: of the same conversation, else channel, else agent (decision
        17).
        """
        ended = self._ended.get(agent)
        if ended is None:
            return None
        return ended.latest(start, channel, session_key, self._forgotten | {itself} if self._forgotten else {itself})

    # -- what this process has read

    def settle(self, key: Key, session: RecordedSession, extent: str) -> None:
        """Mark the session as read to its end in its present form, whether or not anything of it was kept."""
        self._settled[key] = session, extent

    def is_settled(self, key: Key, session: RecordedSession) -> bool:
        """Whether the session is unchanged since it was settled: the same extent, name and end."""
        return key in self._settled and self._settled[key][0] == session

    def settled_extent(self, key: Key) -> str | None:
        """The extent at which this process settled the session; None if it did not."""
        return self._settled[key][1] if key in self._settled else None

    def unsettle(self, key: Key) -> None:
        """Have the session read again even if it did not change."""
        self._settled.pop(key, None)

    def unsettle_copies(self, session_id: str) -> bool:
        """Unsettle a session under every agent that has a copy of it; False if none was settled."""
        found = [key for key in self._settled if key[1] == session_id]
        for key in found:
            del self._settled[key]
        return bool(found)

    def follower(self, key: Key) -> Follower | None:
        return self._followers.get(key)

    def follow(self, key: Key, follower: Follower) -> None:
        """Keep a follower. Only the latest few are kept: a follower can be rebuilt from its transcript."""
        self._followers[key] = follower
        self._followers.move_to_end(key)
        while len(self._followers) > FOLLOWED_AT_ONCE:
            self._followers.popitem(last=False)

    def release(self, key: Key) -> None:
        """Drop the follower; the log has everything that was read."""
        self._followers.pop(key, None)

    def discard(self, key: Key) -> None:
        """Have the session read again from the log's state; that the session is known stays recorded."""
        self.release(key)
        self.unsettle(key)
        position = self._positions.get(key)
        if position is not None:
            self._positions[key] = replace(position, extent=None, cursor=None)

    # -- owners and forgotten sessions

    def forget(self, session_id: str) -> None:
        self._forgotten.add(session_id)

    def is_forgotten(self, session_id: str) -> bool:
        return session_id in self._forgotten

    def owner(self, runtime_id: str) -> str | None:
        """The agent that owns this id, if known: a copied or linked directory shows the same session under two
        agents.
        """
        return self._owner.get(runtime_id)

    def hand_over(self, runtime_id: str, agent: str) -> None:
        """Give the id to another agent; its transcript is read again, so that the log names the new agent."""
        before = self._owner.get(runtime_id)
        if before is not None:
            self._positions.pop((before, runtime_id), None)
        self._owner[runtime_id] = agent
        self.unsettle((agent, runtime_id))  # it was settled by refusing it in favour of the other agent


def all_forgotten(session: RecordedSession, cursors: Cursors) -> bool:
    """Whether all of it was forgotten. A transcript that keeps its id over resets may go on after what was."""
    if not cursors.is_forgotten(session.session_id):
        return False
    try:
        return all(cursors.is_forgotten(stretch.id) for stretch, _ in session.stretches())
    except (SourceUnreadable, OSError):
        return False
