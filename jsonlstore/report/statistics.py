"""Statistics of what is kept: weeks, projects, topics over time, open tasks by age, tokens, flushes and restores."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import format_time, parse_time
from jsonlstore.report.history import ACTIONED, OFFERED
from jsonlstore.restore import surfaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jsonlstore.core.model import SessionState
    from jsonlstore.report.history import History, RestoreRecord
    from jsonlstore.restore import Pipeline

# an age in days, and what tasks that are not older are called
AGES = ((1, "up to a day"), (7, "up to a week"), (30, "up to a month"), (None, "older"))
_LEADING = 8  # topics of a session: those further down its list are mentioned rather than worked on
_MOST_TOPICS = 30
_MOST_WEEKS = 20 * 53


@dataclass(frozen=True, slots=True)
class Statistics:
    """What `jsonlstore stats` prints; the fields are those of its JSON document."""

    now: str
    days: float | None
    project: str | None
    sessions: dict[str, int]
    weeks: list[dict[str, Any]]
    projects: list[dict[str, Any]]
    topics: list[dict[str, Any]]
    open_tasks: dict[str, Any]
    tokens: dict[str, Any]
    flushes: dict[str, int]
    restores: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def count_history(history: History) -> Statistics:
    """Count a history; a session that could not be read is counted as one and adds nothing more."""
    entries, states = history.entries, history.states
    counts = {
        "total": len(entries),
        "open": sum(entry.end_time is None for entry in entries),
        "crashed": sum(entry.crash_recovered for entry in entries),
        "unreadable": history.unreadable,
    }
    flushes = history.flushes
    return Statistics(
        now=format_time(history.now),
        days=history.days,
        project=history.project,
        sessions=counts,
        weeks=_weeks([entry.start_time for entry in entries], history.now),
        projects=_projects(states),
        topics=_topics(states),
        open_tasks=_open_tasks(states, history.pipeline, history.now),
        tokens=_tokens(states, history.compactions),
        flushes={"offered": flushes.get(OFFERED, 0), "actioned": flushes.get(ACTIONED, 0)},
        restores=_restores(history.restores),
    )


def _topics(states: Iterable[SessionState]) -> list[dict[str, Any]]:
    """The topics that lead most sessions, and how many of each week's sessions they lead."""
    found: dict[str, dict[str, Any]] = {}
    for state in states:
        week = _monday(state.start_time)
        for topic in dict.fromkeys(one.lower() for one in state.hot_topics[:_LEADING]):
            row = found.setdefault(topic, {"topic": topic, "sessions": 0, "last": "", "weeks": Counter()})
            row["sessions"] += 1
            row["last"] = max(row["last"], state.end_time or "", state.start_time)
            if week:
                row["weeks"][week] += 1
    ordered = sorted(found.values(), key=lambda row: (-row["sessions"], row["topic"]))[:_MOST_TOPICS]
    return [{**row, "weeks": dict(sorted(row["weeks"].items()))} for row in ordered]


def _restores(restores: Sequence[RestoreRecord]) -> dict[str, int]:
    return {
        "total": len(restores),
        "sessions": len({one.session_id for one in restores}),
        "by_hand": sum(one.forced for one in restores),
        "pins": sum(one.pins for one in restores),
        "tasks": sum(len(one.tasks) for one in restores),
        "arrived": sum(one.arrived == "yes" for one in restores),
        "missed": sum(one.arrived == "no" for one in restores),
    }


def _weeks(starts: Iterable[str], now: datetime) -> list[dict[str, Any]]:
    """Sessions by the week they began in, Monday first, as the wall clock has it; weeks without one included."""
    begun = Counter(monday for monday in map(_monday, starts) if monday)
    if not begun:
        return []
    first = date.fromisoformat(min(begun))
    last = date.fromisoformat(max(_monday(format_time(now)), *begun))
    count = (last - first).days // 7 + 1
    if count > _MOST_WEEKS:  # a clock was wrong once: half a million empty weeks would say no more
        return [{"week": week, "sessions": begun[week]} for week in sorted(begun)]
    weeks = [(first + timedelta(days=7 * number)).isoformat() for number in range(count)]
    return [{"week": week, "sessions": begun[week]} for week in weeks]


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
