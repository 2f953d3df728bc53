"""Statistics of what is kept: sessions per week, projects, how long tasks have been open, how full contexts became."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import format_time, parse_time, time_before
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.restore.tasks import Pipeline, surfaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jsonlstore.core.config import Config
    from jsonlstore.core.model import SessionState
    from jsonlstore.store.store import SessionStore

# an age in days, and what tasks that are not older are called
AGES = ((1, "up to a day"), (7, "up to a week"), (30, "up to a month"), (None, "older"))


@dataclass(frozen=True, slots=True)
class Statistics:
    """What `jsonlstore stats` prints; the fields are those of its JSON document."""

    now: str
    days: float | None
    sessions: dict[str, int]
    weeks: list[dict[str, Any]]
    projects: list[dict[str, Any]]
    open_tasks: dict[str, Any]
    tokens: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def statistics(
    store: SessionStore,
    config: Config,
    now: datetime,
    *,
    days: float | None = None,
    compactions: Mapping[str, int] | None = None,
) -> Statistics:
    """Count the sessions alive in the last `days`, or all; `compactions` by session, where a runtime counts them.

    Reads the state of each, and nothing else; a session that cannot be read is counted and adds nothing more.
    """
    since = time_before(now, timedelta(days=days)) if days is not None else ""
    chosen = [
        entry
        for entry in store.entries()
        if entry.end_time is None or max(entry.end_time, entry.updated_at or "", entry.start_time) >= since
    ]
    states = list(_states(store, [entry.session_id for entry in chosen]))
    counts = {
        "total": len(chosen),
        "open": sum(entry.end_time is None for entry in chosen),
        "crashed": sum(entry.crash_recovered for entry in chosen),
    }
    return Statistics(
        now=format_time(now),
        days=days,
        sessions=counts,
        weeks=_weeks([entry.start_time for entry in chosen], now),
        projects=_projects(states),
        open_tasks=_open_tasks(states, Pipeline.read(store.paths, config), now),
        tokens=_tokens(states, compactions or {}),
    )


def _states(store: SessionStore, session_ids: Iterable[str]) -> Iterable[SessionState]:
    for session_id in session_ids:
        try:
            yield store.get(session_id)
        except JsonlStoreError:
            continue  # forgotten since, or damaged: `doctor` tells which


def _weeks(starts: Iterable[str], now: datetime) -> list[dict[str, Any]]:
    """Sessions by the week they began in, Monday first, as the wall clock has it; weeks without one included."""
    begun = Counter(monday for monday in map(_monday, starts) if monday)
    if not begun:
        return []
    weeks = []
    day, last = min(begun), max(_monday(format_time(now)), *begun)
    while day <= last:
        weeks.append({"week": day, "sessions": begun[day]})
        day = (datetime.fromisoformat(day) + timedelta(days=7)).date().isoformat()
    return weeks


def _monday(text: str) -> str:
    try:
        moment = parse_time(text).astimezone()
        return (moment - timedelta(days=moment.weekday())).date().isoformat()
    except (ValueError, OverflowError):
        return ""


def _projects(states: Iterable[SessionState]) -> list[dict[str, Any]]:
    """Projects by how many sessions worked on them, then by which was worked on last."""
    found: dict[str, dict[str, Any]] = {}
    for state in states:
        last = max(state.end_time or "", state.start_time)
        for name in dict.fromkeys(state.active_projects):
            row = found.setdefault(name, {"project": name, "sessions": 0, "last": ""})
            row["sessions"] += 1
            row["last"] = max(row["last"], last)
    by_name = sorted(found.values(), key=lambda row: str(row["project"]))
    by_time = sorted(by_name, key=lambda row: str(row["last"]), reverse=True)
    return sorted(by_time, key=lambda row: -int(row["sessions"]))


def _open_tasks(states: Sequence[SessionState], pipeline: Pipeline, now: datetime) -> dict[str, Any]:
    """The tasks a restore would still call open, oldest first, and how many there are of each age."""
    since: dict[str, str] = {}
    for state in states:
        for task in state.pending_tasks:
            since[task.task_id] = min(since.get(task.task_id, state.start_time), state.start_time)
    tasks: list[dict[str, Any]] = []
    for task in surfaced(states, pipeline):
        age = _days(since[task.task_id], now)
        tasks.append({"task_id": task.task_id, "title": task.title, "since": since[task.task_id], "age_days": age})
    tasks.sort(key=lambda row: (-row["age_days"], row["task_id"]))
    by_age: Counter[str] = Counter(_age(row["age_days"]) for row in tasks)
    return {"total": len(tasks), "by_age": {name: by_age[name] for _, name in AGES}, "tasks": tasks}


def _days(text: str, now: datetime) -> float:
    try:
        return round(max(0.0, (now - parse_time(text)).total_seconds()) / 86400, 1)
    except ValueError:
        return 0.0


def _age(days: float) -> str:
    return next(name for most, name in AGES if most is None or days <= most)


def _tokens(states: Iterable[SessionState], compactions: Mapping[str, int]) -> dict[str, Any]:
    """How full each session's context was at last, the fullest first, and how often it was compacted.

    What is not known is None: nobody counts compactions, or no answer since the last one told how much it left.
    """
    rows: list[dict[str, Any]] = []
    for state in states:
        times = compactions.get(state.session_id)
        if state.tokens or times:
            tokens = state.tokens.to_dict() if state.tokens else {"used": None}
            rows.append({"session_id": state.session_id, **tokens, "compactions": times})
    rows.sort(key=lambda row: (-(row["used"] or 0), row["session_id"]))
    used = [row["used"] for row in rows if row["used"] is not None]
    return {
        "sessions": len(used),
        "median": used[len(used) // 2] if used else None,
        "largest": used[0] if used else None,
        "compactions": sum(row["compactions"] or 0 for row in rows),
        "per_session": rows,
    }
