"""What our own logs know of each transcript: how far it was read, whether it has ended, what it is called.

There is no cursor file: all of this comes from the index, and for sessions that are still open, from their logs.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.transcripts.openclaw.endings import corrects
from jsonlstore.transcripts.source import Cursor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from jsonlstore.store.store import SessionStore

Key = tuple[str, str]
_LAST = "\uffff"  # after every session id


@dataclass(frozen=True, slots=True)
class Known:
    """The newest stretch of one runtime session as our log has it."""

    session_id: str
    stretch: int = 0
    mark: str | None = None
    cursor: Cursor | None = None
    ended: bool = False
    session_key: str | None = None
    channel: str = "unknown"
    last_at: str | None = None  # of its last entry, as far as it was read
    end_time: str | None = None
    end_reason: str | None = None

    def is_over(self, ending: str | None) -> bool:
        """Whether an end that is read off the disk now is no news."""
        return ending is None or (self.ended and not corrects(ending, self.end_reason))


@dataclass(frozen=True, slots=True)
class Past:
    """An ended session, as far as a link to it needs."""

    session_id: str
    end_time: str
    channel: str
    session_key: str | None


class History:
    """The ended sessions of one agent in the order they ended, by conversation and by channel too."""

    def __init__(self) -> None:
        self._ended: dict[str, Past] = {}
        self._groups: dict[tuple[str | None, str | None], list[tuple[str, str]]] = {}

    def add(self, past: Past) -> None:
        """Take a session in, or its new end."""
        before = self._ended.get(past.session_id)
        if before == past:
            return
        if before is not None:
            for group in _groups_of(before.session_key, before.channel):
                self._groups[group].remove((before.end_time, before.session_id))
        self._ended[past.session_id] = past
        for group in _groups_of(past.session_key, past.channel):
            insort(self._groups.setdefault(group, []), (past.end_time, past.session_id))

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


class Ledger:
    """Every transcript our store has seen, by agent and the runtime's session id."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._known: dict[Key, Known] = {}
        self._owner: dict[str, str] = {}
        self._past: dict[str, History] = {}
        self._forgotten: set[str] = set()
        self.reload()

    def reload(self) -> None:
        """Read everything anew: other processes end, forget and archive sessions too."""
        self._known, self._owner, self._past, self._forgotten = {}, {}, {}, set()
        for session_id, entry in self._store.index.lazy_entries().items():
            if entry.get("forgotten"):
                self._forgotten.add(session_id)
                continue
            if entry.get("end_time"):
                self._take(session_id, entry, entry.get("source"))
            else:
                self._take_open(session_id, entry)

    def _take_open(self, session_id: str, entry: Mapping[str, Any]) -> None:
        """The index follows boundaries only: of an open session the log itself knows the cursor."""
        try:
            folded = self._store.folded(session_id)
        except JsonlStoreError:
            return
        state = folded.to_dict()
        self._take(session_id, {**entry, **{key: state[key] for key in _FROM_STATE}}, folded.source)

    def _take(self, session_id: str, entry: Mapping[str, Any], source: Mapping[str, Any] | None) -> None:
        end_time = entry.get("end_time")
        known = Known(
            session_id,
            ended=end_time is not None,
            session_key=entry.get("session_key"),
            channel=entry.get("channel") or "unknown",
            last_at=(source or {}).get("last_at") or entry.get("updated_at"),
            end_time=end_time,
            end_reason=entry.get("end_reason"),
        )
        agent = entry.get("agent_id") or ""
        if end_time:
            past = Past(session_id, end_time, known.channel, known.session_key)
            self._past.setdefault(agent, History()).add(past)
        if not source:
            return
        runtime_id = str(source.get("session_id") or session_id)
        stretch = source.get("stretch")
        mark, cursor = how_far(source)
        self.put(
            (str(source.get("agent_id") or agent), runtime_id),
            replace(known, stretch=stretch if isinstance(stretch, int) else 0, mark=mark, cursor=cursor),
        )

    def get(self, key: Key) -> Known | None:
        return self._known.get(key)

    def put(self, key: Key, known: Known) -> None:
        """Remember the newest stretch of a transcript; older ones only as somebody's past."""
        before = self._known.get(key)
        if before is None or before.stretch <= known.stretch or before.session_id == known.session_id:
            self._known[key] = known
        self._owner.setdefault(key[1], key[0])
        if known.ended and known.end_time:
            past = Past(known.session_id, known.end_time, known.channel, known.session_key)
            self._past.setdefault(key[0], History()).add(past)

    def drop(self, key: Key) -> None:
        """Forget how far we thought it was read: it is read again. That there is such a session stays known."""
        known = self._known.get(key)
        if known is not None:
            self._known[key] = replace(known, mark=None, cursor=None)

    def remove(self, key: Key) -> None:
        """Make room for an earlier stretch: the one that was the newest is not in the transcript any more."""
        self._known.pop(key, None)

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
            self._known.pop((before, runtime_id), None)
        self._owner[runtime_id] = agent

    def open(self) -> Iterator[tuple[Key, Known]]:
        """Every transcript whose session has not ended."""
        return iter([(key, known) for key, known in self._known.items() if not known.ended])

    def previous(self, agent: str, start: str, channel: str, session_key: str | None, itself: str) -> str | None:
        """The session that ended last before `start`: of the same conversation, else channel, else agent (17)."""
        history = self._past.get(agent)
        if history is None:
            return None
        return history.latest(start, channel, session_key, self._forgotten | {itself} if self._forgotten else {itself})


def how_far(source: Mapping[str, Any]) -> tuple[str | None, Cursor | None]:
    """How far a session's log says its transcript was read.

    A stretch that a reset has closed says nothing about it: the one after it does, and if that is missing we died
    between the two.
    """
    if source.get("final"):
        return None, None
    mark = source.get("mark")
    return mark if isinstance(mark, str) else None, Cursor.from_json(dict(source))


_FROM_STATE = ("session_key", "channel", "updated_at", "end_time", "agent_id")
