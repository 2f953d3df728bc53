"""The conversation as exchanges along the active path: who asked what, what followed, and how it stopped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

MOST_MOMENTS = 300
MOST_ANCHORS = 8_192
LONGEST_TEXT = 12_000
_SILENT_ANSWERS = ("NO_REPLY", "HEARTBEAT_OK")
# what the runtime asks of the agent for its own sake; the answers are no part of the conversation
_SILENT_PROMPTS = (
    "Pre-compaction memory flush", "Read HEARTBEAT.md", "[OpenClaw heartbeat", "A new session was started",
    "Continue where you left off. The previous model attempt failed",
)  # fmt: skip

USER, ASSISTANT, SYSTEM = "user", "assistant", "system"


@dataclass(slots=True)
class Moment:
    """One message that said something, and what the tools did until the next one."""

    number: int
    who: str
    text: str
    at: str
    id: str | None
    prev: int | None
    turn: int
    silent: bool = False
    waiting: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    changes: int = 0
    ends_with: str = "said"  # said, called or answered
    error: str = ""
    aborted: bool = False


@dataclass(slots=True)
class Exchange:
    """What the user said, and everything the assistant said until the user spoke again."""

    user: Moment
    answers: list[Moment] = field(default_factory=list)

    @property
    def closing(self) -> Moment | None:
        """The assistant's last words in it."""
        return next((one for one in reversed(self.answers) if one.text and not one.silent), None)

    @property
    def changed(self) -> bool:
        """Whether a tool changed something in it."""
        return any(moment.changes for moment in (self.user, *self.answers))

    @property
    def called(self) -> bool:
        """Whether a tool was used in it."""
        return any(moment.calls for moment in (self.user, *self.answers))

    @property
    def last(self) -> Moment:
        """Where it stopped."""
        return self.answers[-1] if self.answers else self.user


class Conversation:
    """Remembers the latest messages in bounded memory, with their places in the tree."""

    def __init__(self) -> None:
        self._moments: dict[int, Moment] = {}
        self._anchors: dict[str, int] = {}  # entry id -> the message it belongs to
        self._calls: dict[str, int] = {}
        self._count = 0
        self._latest: int | None = None
        self._leaf: int | None = None

    def hear(self, who: str, text: str, at: str, entry_id: str | None, parent_id: str | None, turn: int) -> Moment:
        """The next message of the file."""
        self._count += 1
        prev = self._anchor(parent_id)
        moment = Moment(self._count, who, text[:LONGEST_TEXT], at, entry_id, prev, turn)
        before = self._moments.get(prev) if prev is not None else None
        if who == SYSTEM:
            moment.silent = text.startswith(_SILENT_PROMPTS)
        elif who == ASSISTANT:
            prompted = before is not None and before.silent and before.who != USER
            moment.silent = prompted or text.strip().endswith(_SILENT_ANSWERS)
        self._moments[self._count] = moment
        while len(self._moments) > MOST_MOMENTS:
            del self._moments[next(iter(self._moments))]
        self._latest = self._count
        self._link(entry_id, self._count)
        return moment

    def passed(self, entry_id: str | None, parent_id: str | None) -> None:
        """Any other entry: it hangs where its parent hangs."""
        at = self._anchor(parent_id)
        if at is not None:
            self._link(entry_id, at)

    def called(self, entry_id: str | None, call_id: str, what: str) -> None:
        """A tool was called after what was last said."""
        moment = self._of(entry_id)
        if moment:
            moment.calls += 1
            moment.ends_with = "called"
            moment.waiting[call_id] = what
            self._calls[call_id] = moment.number
            while len(self._calls) > MOST_ANCHORS:
                del self._calls[next(iter(self._calls))]

    def answered(self, call_id: str, *, changed: bool) -> None:
        """A tool answered."""
        moment = self._moments.get(self._calls.pop(call_id, -1))
        if moment:
            moment.waiting.pop(call_id, None)
            moment.ends_with = "answered"
            moment.changes += changed

    def move_leaf(self, target: str | None) -> None:
        """A `leaf` record: the conversation goes on from another entry."""
        self._leaf = self._anchors.get(target) if target else None

    def path(self, on_path: Collection[str] | None = None) -> list[Moment]:
        """The remembered messages on the active path, oldest first."""
        if on_path is not None:
            return [one for one in self._moments.values() if one.id is None or one.id in on_path]
        path: list[Moment] = []
        at = self._leaf
        while at is not None and (moment := self._moments.get(at)) is not None:
            path.append(moment)
            at = moment.prev
        return path[::-1]

    def _anchor(self, parent_id: str | None) -> int | None:
        """Where an entry hangs; one without a parent follows what came last."""
        return self._anchors.get(parent_id, self._latest) if parent_id else self._latest

    def _of(self, entry_id: str | None) -> Moment | None:
        at = self._anchors.get(entry_id, self._latest) if entry_id else self._latest
        return self._moments.get(at) if at is not None else None

    def _link(self, entry_id: str | None, at: int) -> None:
        self._leaf = at
        if entry_id:
            self._anchors[entry_id] = at
            if len(self._anchors) > MOST_ANCHORS:
                del self._anchors[next(iter(self._anchors))]


def exchanges(path: Collection[Moment]) -> Iterator[Exchange]:
    """The path as exchanges; what the assistant said before anybody spoke, and silent turns, are left out."""
    current: Exchange | None = None
    for moment in path:
        if moment.who == USER:
            if current:
                yield current
            current = Exchange(moment)
        elif current is not None and moment.who == ASSISTANT and not moment.silent:
            current.answers.append(moment)
    if current:
        yield current
