"""The fold: a session's state as a pure function of the events in its log.

Two writers may feed one session: the runtime's hook and the watcher that reads its transcript. Each writer's fields are
a layer of their own; an update replaces what the same writer said before and never what another said. `layers` merges
them on read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jsonlstore.core.model import SCHEMA_VERSION, SessionState
from jsonlstore.store.handoff_fold import HANDOFF_EVENTS, PROJECT_EVENTS, fold_handoff
from jsonlstore.store.layers import UNKNOWN, as_mapping, merge, pack, unpack
from jsonlstore.store.limits import cap
from jsonlstore.store.log import Event, LocatedEvent

# fields that only a live writer can know; a later "unknown" never replaces them
_NEVER_DOWNGRADED = frozenset({"channel", "agent_id", "session_key", "end_reason"})
_BLANK = SessionState("", "").to_dict()
# folded from events of their own, so they are not kept in layers
_OF_A_CHECKPOINT = ("userMessages", "compactions", "percent", "tokensAtCheckpoint", "by")
EVENT_FIELDS = frozenset({"session_id", "end_time", "end_reason", "continued_by", "crash_recovered", "updated_at"})


class SessionFold:
    """The running fold of one session's events, with the bookkeeping the store needs besides the state."""

    def __init__(self) -> None:
        self.session_id: str | None = None
        self.layers: dict[str, dict[str, Any]] = {}
        self.ends: dict[str, dict[str, Any]] = {}
        self.continued: list[str] = []
        self.source: Mapping[str, Any] | None = None
        self.owner: Mapping[str, Any] | None = None
        self.inherited: bool = False
        self.block: str | None = None  # what the session was given, told again on every turn
        self.handoff: Mapping[str, Any] | None = None  # what it left for the next one, see `handoff_fold`
        self.handoff_from: str | None = None  # the session whose handoff it was given
        self.project: Mapping[str, Any] | None = None  # the project people set for it
        self.checkpoint: Mapping[str, Any] | None = None  # the latest: when and how far, without its text
        self.flush: Mapping[str, Any] | None = None  # the latest that was offered, and whether that is settled
        self.memory_files: tuple[str, ...] = ()  # written before the latest compaction
        self.crash_recovered = False
        self.forgotten = False
        self.updated_at: str | None = None
        self.was_heard_of = False  # since its start
        self.schema_version = SCHEMA_VERSION
        self.seq = 0
        self._stored: dict[str, Any] | None = None

    @property
    def started(self) -> bool:
        return self.session_id is not None and not self.forgotten

    @property
    def ended(self) -> bool:
        return bool(self.ends)

    @property
    def last_active_at(self) -> str | None:
        """The last sign of life; None if the session only started."""
        return self.updated_at if self.was_heard_of else None

    def apply(self, event: Event) -> None:
        """Apply one event. Unknown types and fields of newer writers are ignored here and stay in the log."""
        self._stored = None
        self.seq = max(self.seq, event.seq)
        step = _STEPS.get(event.type)
        if step is not None:
            step(self, event)

    def is_boundary(self, event: Event) -> bool:
        """Whether applying this event next would change the index. After an end every event does."""
        return self.ended or event.type in BOUNDARIES

    def copy(self) -> SessionFold:
        """An independent fold that continues from here.

        Values inside layers are replaced, never mutated, so they are shared.
        """
        twin = SessionFold()
        twin.__dict__.update(self.__dict__)
        twin.layers = {by: dict(fields) for by, fields in self.layers.items()}
        twin.ends = dict(self.ends)
        return twin

    def layer(self, by: str) -> dict[str, Any]:
        """The layer of one writer, to be extended."""
        self._stored = None
        return self.layers.setdefault(by, {})

    def state(self) -> SessionState:
        """The merged, capped state."""
        return SessionState.from_dict(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The stored form of the state, cached until the next event."""
        if self._stored is None:
            self._stored = self._merged()
        return {key: value.copy() if value.__class__ is list else value for key, value in self._stored.items()}

    def _merged(self) -> dict[str, Any]:
        if self.session_id is None:
            raise ValueError("the log never starts a session")
        merged = merge(self.layers)
        end = self.ends.get("told") or self.ends.get("watcher") or {}
        own = {
            "session_id": self.session_id,
            "start_time": merged.pop("start_time", None) or self.updated_at or "",
            "end_time": end.get("end_time"),
            "end_reason": next((e["reason"] for e in self._ends() if e.get("reason") not in UNKNOWN), None),
            "continued_by": self.continued[-1] if self.continued else None,
            "crash_recovered": self.crash_recovered,
            "updated_at": self.updated_at,
            "schema_version": self.schema_version,
        }
        blank = {key: value.copy() if value.__class__ in (list, dict) else value for key, value in _BLANK.items()}
        return cap({**blank, **own, **{key: value for key, value in merged.items() if value is not None}})

    def _ends(self) -> list[dict[str, Any]]:
        return [self.ends[slot] for slot in ("told", "watcher") if slot in self.ends]

    def full_state(self) -> dict[str, Any]:
        """Everything a later reader needs to continue from here without the earlier events."""
        state = self.to_dict()
        return {
            "state": state,
            **pack(self.layers, state),
            "ends": {slot: dict(end) for slot, end in self.ends.items()},
            "continued": list(self.continued),
            "source": self.source,
            "owner": self.owner,
            "inherited": self.inherited,
            **({} if self.was_heard_of else {"only_started": True}),
            **({} if self.block is None else {"block": self.block}),
            **({} if self.handoff is None else {"handoff": self.handoff}),
            **({} if self.handoff_from is None else {"handoff_from": self.handoff_from}),
            **({} if self.project is None else {"project": self.project}),
            **({} if self.checkpoint is None else {"checkpoint": self.checkpoint}),
            **({} if self.flush is None else {"flush": self.flush}),
            **({"memory_files": list(self.memory_files)} if self.memory_files else {}),
        }

    def _set(self, by: str, fields: Mapping[str, Any], at: str) -> None:
        layer = self.layer(by)
        for key, value in fields.items():
            if key in EVENT_FIELDS or (key in _NEVER_DOWNGRADED and value in UNKNOWN):
                continue
            layer[key] = value
        active = fields.get("updated_at")
        # a transcript read today may be years old: only live writers vouch for the event's own time
        if not isinstance(active, str):
            active = None if by in ("watcher", "import") else at
        if active is not None:
            self.updated_at = max(self.updated_at or active, active)


def _on_started(self: SessionFold, event: Event) -> None:
    data = event.data
    if not isinstance(data.get("session_id"), str):
        return
    if self.session_id is None:
        self.session_id = data["session_id"]
        self.owner = as_mapping(data.get("owner")) or None
        version = data.get("schema_version")
        self.schema_version = version if isinstance(version, int) else SCHEMA_VERSION
    _take(self, event)


def _on_updated(self: SessionFold, event: Event) -> None:
    self.was_heard_of = True
    _take(self, event)


def _take(self: SessionFold, event: Event) -> None:
    self._set(event.by, as_mapping(event.data.get("fields")), event.at)
    source = event.data.get("source")
    if isinstance(source, Mapping):
        self.source = source


def _on_noted(self: SessionFold, event: Event) -> None:
    note = event.data.get("note")
    if isinstance(note, Mapping):
        self.was_heard_of = True
        notes = [item for item in self.layer(event.by).get("notes", []) if item.get("id") != note.get("id")]
        self._set(event.by, {"notes": [*notes, dict(note)]}, event.at)


def _on_ended(self: SessionFold, event: Event) -> None:
    if _resume_from(self, event):
        return
    _on_updated(self, event)
    slot = "watcher" if event.by == "watcher" or event.data.get("inferred") is True else "told"
    reason = event.data.get("reason")
    if reason in UNKNOWN:
        reason = self.ends.get(slot, {}).get("reason")
    self.ends[slot] = {"end_time": event.data.get("end_time"), "reason": reason}
    if event.type == "session.recovered":
        self.crash_recovered = True
    elif slot == "told":
        self.crash_recovered = False


def _on_resumed(self: SessionFold, event: Event) -> None:
    self.ends.clear()
    self.was_heard_of = True
    self.crash_recovered = False
    owner = as_mapping(event.data.get("owner"))
    if owner:
        self.owner = owner


def _on_continued(self: SessionFold, event: Event) -> None:
    successor = event.data.get("session_id")
    if isinstance(successor, str):
        self.continued = [*(item for item in self.continued if item != successor), successor]


def _on_inherited(self: SessionFold, event: Event) -> None:
    self.inherited = True
    block = event.data.get("block")
    if isinstance(block, str):
        self.block = block
    source = event.data.get("handoff")
    if isinstance(source, str):
        self.handoff_from = source


def _on_handoff(self: SessionFold, event: Event) -> None:
    self.handoff = fold_handoff(self.handoff, event)


def _on_project(self: SessionFold, event: Event) -> None:
    self.project = dict(event.data) if event.type == "project.set" else None


def _on_checkpoint(self: SessionFold, event: Event) -> None:
    told = {name: event.data[name] for name in _OF_A_CHECKPOINT if name in event.data}
    self.checkpoint = {**told, "at": event.at}


def _on_flush_offered(self: SessionFold, event: Event) -> None:
    told = {name: event.data[name] for name in ("percent", "compaction") if name in event.data}
    self.flush = {**told, "at": event.data.get("at") or event.at, "settled": False}


def _on_flush_actioned(self: SessionFold, event: Event) -> None:
    if self.flush is not None:
        self.flush = {**self.flush, "settled": True, "actioned": event.data.get("actioned") is True}


def _on_compacted(self: SessionFold, event: Event) -> None:
    self.memory_files = _texts(event.data.get("memoryFiles"))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _on_forgotten(self: SessionFold, event: Event) -> None:
    seq = self.seq
    self.__init__()  # type: ignore[misc]  # nothing of the session may remain
    self.seq = seq
    self.forgotten = True
    session_id = event.data.get("session_id")
    self.session_id = session_id if isinstance(session_id, str) else None


def _resume_from(self: SessionFold, event: Event) -> bool:
    """Continue from an event that carries the full state; False if it carries none."""
    data = event.data
    state = as_mapping(data.get("state"))
    if not isinstance(state.get("session_id"), str) or "layers" not in data:
        return False
    self.session_id = state["session_id"]
    self.layers = unpack(data, state)
    self.ends = {slot: dict(as_mapping(end)) for slot, end in as_mapping(data.get("ends")).items()}
    self.continued = [item for item in data.get("continued") or () if isinstance(item, str)]
    self.source = as_mapping(data.get("source")) or None
    self.owner = as_mapping(data.get("owner")) or None
    self.inherited = data.get("inherited") is True
    block = data.get("block")
    self.block = block if isinstance(block, str) else None
    self.handoff = as_mapping(data.get("handoff")) or None
    source = data.get("handoff_from")
    self.handoff_from = source if isinstance(source, str) else None
    self.project = as_mapping(data.get("project")) or None
    self.checkpoint = as_mapping(data.get("checkpoint")) or None
    self.flush = as_mapping(data.get("flush")) or None
    self.memory_files = _texts(data.get("memory_files"))
    self.crash_recovered = state.get("crash_recovered") is True
    self.updated_at = state.get("updated_at")
    self.was_heard_of = data.get("only_started") is not True
    version = state.get("schema_version")
    self.schema_version = version if isinstance(version, int) else SCHEMA_VERSION
    return True


_STEPS: dict[str, Callable[[SessionFold, Event], object]] = {
    "session.started": _on_started,
    "state.updated": _on_updated,
    "pattern.noted": _on_noted,
    "session.ended": _on_ended,
    "session.recovered": _on_ended,
    "session.resumed": _on_resumed,
    "session.continued": _on_continued,
    "session.inherited": _on_inherited,
    "checkpoint.created": _on_checkpoint,
    "flush.offered": _on_flush_offered,
    "flush.actioned": _on_flush_actioned,
    "session.compacted": _on_compacted,
    "session.forgotten": _on_forgotten,
    "state.snapshot": _resume_from,
    "task.changed": _on_updated,  # somebody closed, added or reopened a task by hand: the index knows at once
    **dict.fromkeys(HANDOFF_EVENTS, _on_handoff),
    **dict.fromkeys(PROJECT_EVENTS, _on_project),
}
_INSIDE = ("state.updated", "pattern.noted", "session.inherited", "state.snapshot")
_OF_THE_WINDOW = ("checkpoint.created", "flush.offered", "flush.actioned", "session.compacted")
BOUNDARIES = frozenset(_STEPS) - {*_INSIDE, *_OF_THE_WINDOW, *HANDOFF_EVENTS, *PROJECT_EVENTS}


def fold_events(session_id: str, events: Iterable[LocatedEvent]) -> SessionFold:
    """The fold of a session's log. A log without its first line gets the id from its file name."""
    folded = SessionFold()
    first: Event | None = None
    for event, _ in events:
        first = first or event
        folded.apply(event)
    if folded.session_id is None and first is not None:
        folded.session_id = session_id
        folded.layer("unknown").setdefault("start_time", first.at)
    return folded
