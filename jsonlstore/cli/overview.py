"""A glance at everything that is remembered, for `setup`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.cli.listing import last_active
from jsonlstore.core.errors import JsonlStoreError

if TYPE_CHECKING:
    from jsonlstore.store import IndexEntry, SessionStore

_LOOKED_THROUGH = 50  # a newcomer may have years of history: the latest sessions say what matters now


@dataclass(frozen=True, slots=True)
class OpenTask:
    """A task nobody finished, and where it stands."""

    task_id: str
    title: str
    stage: str
    session_id: str
    at: str


@dataclass(frozen=True, slots=True)
class LastSession:
    """One of the latest sessions, in a line."""

    session_id: str
    at: str
    channel: str
    agent_id: str | None
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """A glance at everything that is remembered."""

    sessions: int
    projects: tuple[str, ...]
    tasks: tuple[OpenTask, ...]
    last: tuple[LastSession, ...]


def overview(store: SessionStore, *, projects: int = 5, tasks: int = 5, sessions: int = 3) -> Overview:
    """The projects most worked on, the newest open tasks and the last sessions with anything in them."""
    everything = sorted(store.entries(), key=last_active, reverse=True)
    latest = everything[:_LOOKED_THROUGH]
    counted = Counter(name for entry in latest for name in entry.active_projects)
    said = [entry for entry in latest if entry.hot_topics or entry.active_projects or entry.pending_task_count]
    return Overview(
        sessions=len(everything),
        projects=tuple(name for name, _ in counted.most_common(projects)),
        tasks=_open_tasks(store, latest, tasks),
        last=tuple(
            LastSession(entry.session_id, last_active(entry), entry.channel, entry.agent_id, entry.hot_topics[:4])
            for entry in said[:sessions]
        ),
    )


def _open_tasks(store: SessionStore, entries: list[IndexEntry], limit: int) -> tuple[OpenTask, ...]:
    found: dict[str, OpenTask] = {}
    for entry in entries:
        if not entry.pending_task_count or len(found) >= limit:
            continue
        try:
            state = store.get(entry.session_id)
        except JsonlStoreError:
            continue  # forgotten or unreadable since: the doctor's to tell
        for task in state.pending_tasks:
            found.setdefault(
                task.task_id, OpenTask(task.task_id, task.title, task.stage, entry.session_id, last_active(entry))
            )
    return tuple(list(found.values())[:limit])
