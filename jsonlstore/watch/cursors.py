"""How far each transcript was read: the one place in memory that knows, filled from our own logs.

There is no cursor file. What outlives us comes from the index and, for sessions that are still open, from their logs;
beside it stands what this process has seen since: the session as it was when it was last read to its end, and the
followers that can read on.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts.session import Session
from jsonlstore.transcripts.source import Cursor
from jsonlstore.watch.follower import Follower

Key = tuple[str, str]
FOLLOWED_AT_ONCE = 32
VANISHED = "vanished"
GONE = frozenset({VANISHED, "forgotten"})  # the second is the word of older logs
# ends concluded from what is missing; all others were left in writing by the runtime
INFERRED = frozenset({"idle", "daily", "rollover", "import", *GONE})
# ends that say nothing but that the transcript was not in its place
MISSED = frozenset({"import", "delete", *GONE})
_LAST = "\uffff"  # after every session id


def corrects(reason: str, recorded: str | None) -> bool:
    """Whether `reason` is better founded than the one on record: told, where that was only inferred."""
    return recorded is None or (recorded in INFERRED and reason not in INFERRED)


@dataclass(frozen=True, slots=True)
class Position:
    """Where our log stands in one transcript: the newest stretch in it, and how far that was read."""

    session_id: str
    stretch: int = 0
    extent: str | None = None  # digest of the copies' extents up to which everything is in the log
    cursor: Cursor | None = None
    ended: bool = False
    session_key: str | None = None
    channel: str = "unknown"
    last_at: str | None = None  # of its last entry, as far as it was read
    end_time: str | None = None
    end_reason: str | None = None

    @classmethod
    def of(cls, session_id: str, state: Mapping[str, Any], source: Mapping[str, Any] | None) -> Position:
        """Where a session stands by its state, or its index entry, and by the `source` its log keeps."""
        source = source or {}
        stretch, extent = source.get("stretch"), source.get("mark")
        # A stretch that a reset has closed says nothing about how far its transcript was read: the one after it does,
        # and if that is missing we died between the two.
        final = bool(source.get("final"))
        return cls(
            session_id,
            stretch=stretch if isinstance(stretch, int) else 0,
            extent=extent if isinstance(extent, str) and not final else None,
            cursor=Cursor.from_json(dict(source)) if not final else None,
            ended=state.get("end_time") is not None,
            session_key=state.get("session_key"),
            channel=state.get("channel") or "unknown",
            last_at=source.get("last_at") or state.get("updated_at"),
            end_time=state.get("end_time"),
            end_reason=state.get("end_reason"),
        )

    def is_over(self, reason: str | None) -> bool:
        """Whether an end that is read off the disk now is no news."""
        return reason is None or (self.ended and not corrects(reason, self.end_reason))


class EndedSessions:
    """The ended sessions of one agent in the order they ended, by conversation and by channel too."""

    def __init__(self) -> None:
        self._ended: dict[str, Position] = {}
        self._groups: dict[tuple[str | None, str | None], list[tuple[str, str]]] = {}

    def add(self, session: Position) -> None:
        """Take a session in, or its new end."""
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
        """The last to end by `start`: of this conversation, else of this channel, else of all."""
        for group in _groups_of(session_key, channel):
            ended = self._groups.get(group, [])
            for at in range(bisect_right(ended, (start, _LAST)) - 1, -1, -1):
                if ended[at][1] not in but:
                    return ended[at][1]
        return None


def _groups_of(session_key: str | None, channel: str) -> list[tuple[str | None, str | None]]:
    """The groups a session belongs to, the closest first."""
    known = channel if channel != "unknown" else None
    groups = [(session_key, known), (session_key, None), (None, known), (None, None)]
    return list(dict.fromkeys(groups))


class Cursors:
    """Every transcript our store or this process has seen, by agent and the runtime's session id."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._positions: dict[Key, Position] = {}
        self._settled: dict[Key, tuple[Session, str]] = {}
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
        """The index follows boundaries only: of an open session the log itself knows the cursor."""
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
            self.put((str(source.get("agent_id") or agent), str(source.get("session_id") or session_id)), position)

    def _add_ended(self, agent: str, position: Position) -> None:
        if position.end_time:
            self._ended.setdefault(agent, EndedSessions()).add(position)

    # where our logs stand

    def get(self, key: Key) -> Position | None:
        return self._positions.get(key)

    def put(self, key: Key, position: Position) -> None:
        """Remember the newest stretch of a transcript; older ones only as sessions to link to."""
        before = self._positions.get(key)
        if before is None or before.stretch <= position.stretch or before.session_id == position.session_id:
            self._positions[key] = position
        self._owner.setdefault(key[1], key[0])
        self._add_ended(key[0], position)

    def remove(self, key: Key) -> None:
        """Make room for an earlier stretch: the one that was the newest is not in the transcript any more."""
        self._positions.pop(key, None)

    def open(self) -> Iterator[tuple[Key, Position]]:
        """Every transcript whose session has not ended."""
        return iter([(key, position) for key, position in self._positions.items() if not position.ended])

    def previous(self, agent: str, start: str, channel: str, session_key: str | None, itself: str) -> str | None:
        """The session that ended last before `start`: of the same conversation, else channel, else agent (17)."""
        ended = self._ended.get(agent)
        if ended is None:
            return None
        return ended.latest(start, channel, session_key, self._forgotten | {itself} if self._forgotten else {itself})

    # what this process has read

    def settle(self, key: Key, session: Session, extent: str) -> None:
        """The session, as it is, has been dealt with to its end, whether or not anything of it is kept."""
        self._settled[key] = session, extent

    def is_settled(self, key: Key, session: Session) -> bool:
        """Whether nothing about the session differs from what was dealt with: neither extent nor name nor end."""
        return key in self._settled and self._settled[key][0] == session

    def settled_extent(self, key: Key) -> str | None:
        """The extent up to which the session was dealt with by this process."""
        return self._settled[key][1] if key in self._settled else None

    def unsettle(self, key: Key) -> None:
        """Deal with the session again, though nothing about it may have changed."""
        self._settled.pop(key, None)

    def unsettle_copies(self, session_id: str) -> bool:
        """The same for a session under whatever agent it is found; False if none was dealt with."""
        found = [key for key in self._settled if key[1] == session_id]
        for key in found:
            del self._settled[key]
        return bool(found)

    def follower(self, key: Key) -> Follower | None:
        return self._followers.get(key)

    def follow(self, key: Key, follower: Follower) -> None:
        """Keep a follower, the latest ones only: any of them can be made again from its transcript."""
        self._followers[key] = follower
        self._followers.move_to_end(key)
        while len(self._followers) > FOLLOWED_AT_ONCE:
            self._followers.popitem(last=False)

    def release(self, key: Key) -> None:
        """Let go of what is kept in memory to read on; the log has everything."""
        self._followers.pop(key, None)

    def discard(self, key: Key) -> None:
        """Read it again from what the log says. That there is such a session stays known."""
        self.release(key)
        self.unsettle(key)
        position = self._positions.get(key)
        if position is not None:
            self._positions[key] = replace(position, extent=None, cursor=None)

    # whose a session is

    def forget(self, session_id: str) -> None:
        self._forgotten.add(session_id)

    def is_forgotten(self, session_id: str) -> bool:
        return session_id in self._forgotten

    def owner(self, runtime_id: str) -> str | None:
        """The agent that this id belongs to, if it is known: a copied or linked directory shows it under two."""
        return self._owner.get(runtime_id)

    def hand_over(self, runtime_id: str, agent: str) -> None:
        """The id is another agent's from now on; it is read anew, so that its log says whose it is."""
        before = self._owner.get(runtime_id)
        if before is not None:
            self._positions.pop((before, runtime_id), None)
        self._owner[runtime_id] = agent
        self.unsettle((agent, runtime_id))  # dealt with so far by leaving it to the other agent
