"""The sessions that statistics and reports speak of, read once: their states, what was restored, what was flushed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import time_before
from jsonlstore.core.errors import JsonlStoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from jsonlstore.core.model import SessionState
    from jsonlstore.restore import Pipeline
    from jsonlstore.store import Event, IndexEntry, SessionStore

RESTORED, OFFERED, ACTIONED = "session.inherited", "flush.offered", "flush.actioned"
_KINDS = frozenset({RESTORED, OFFERED, ACTIONED})


@dataclass(frozen=True, slots=True)
class RestoreRecord:
    """One restore: into which session, when, what from whom, and the text that was given, where it was kept."""

    session_id: str
    at: str
    sources: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    pins: int = 0
    tasks: tuple[str, ...] = ()
    forced: bool = False
    text: str | None = None
    arrived: str = "unconfirmed"

    @classmethod
    def of(cls, session_id: str, event: Event, looked: tuple[str, bool] | None = None) -> RestoreRecord:
        """Read a `session.inherited` event; what is not of the expected type counts as not told.

        `looked` is when the block was last looked for in what the model was sent, and whether it was there.
        """
        data = event.data
        block = data.get("block")
        pins = data.get("pins")
        return cls(
            session_id,
            event.at,
            _texts(data.get("from")),
            tuple(float(one) for one in _items(data.get("scores")) if _is_number(one)),
            pins if isinstance(pins, int) else 0,
            _texts(data.get("tasks")),
            data.get("forced") is True,
            block if isinstance(block, str) else None,
            "unconfirmed" if looked is None or looked[0] < event.at else "yes" if looked[1] else "no",
        )


@dataclass(frozen=True, slots=True)
class History:
    """The sessions alive in a period, newest start first, with everything that is told of them."""

    now: datetime
    days: float | None
    project: str | None
    entries: tuple[IndexEntry, ...]
    states: tuple[SessionState, ...]
    restores: tuple[RestoreRecord, ...]
    flushes: Mapping[str, int]
    pipeline: Pipeline
    compactions: Mapping[str, int] = field(default_factory=dict)

    @property
    def unreadable(self) -> int:
        """Sessions that the index knows and whose log could not be read: `doctor` tells which."""
        return len(self.entries) - len(self.states)


def read_history(
    store: SessionStore,
    pipeline: Pipeline,
    now: datetime,
    *,
    days: float | None = None,
    project: str | None = None,
    compactions: Mapping[str, int] | None = None,
    arrivals: Mapping[str, tuple[str, bool]] | None = None,
) -> History:
    """The sessions alive in the last `days`, or all, of one `project`, or of all; an open session is alive."""
    looked = arrivals or {}
    since = time_before(now, timedelta(days=days)) if days is not None else ""
    entries = tuple(entry for entry in store.entries() if _is_chosen(entry, since, project))
    states: list[SessionState] = []
    restores: list[RestoreRecord] = []
    flushes: Counter[str] = Counter()
    for entry in entries:
        try:
            state, events = store.get(entry.session_id), store.events(entry.session_id, _KINDS)
        except JsonlStoreError:
            continue  # forgotten since, or damaged: counted as unreadable
        states.append(state)
        restores += [
            RestoreRecord.of(state.session_id, event, looked.get(state.session_id))
            for event in events
            if event.type == RESTORED
        ]
        flushes.update(
            event.type for event in events if event.type != RESTORED and event.data.get("actioned") is not False
        )
    restores.sort(key=lambda one: (one.at, one.session_id), reverse=True)
    return History(
        now, days, project, entries, tuple(states), tuple(restores), flushes, pipeline, dict(compactions or {})
    )


def _is_chosen(entry: IndexEntry, since: str, project: str | None) -> bool:
    if project is not None and project.lower() not in (each.lower() for each in entry.active_projects):
        return False
    return entry.end_time is None or max(entry.end_time, entry.updated_at or "", entry.start_time) >= since


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in _items(value) if isinstance(one, str))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
