"""What a report shows, as plain data: rows for the table, details behind them, lists and drawings beside them.

The page is made of this and of nothing else, so that names can be hidden here, in one place.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import parse_time
from jsonlstore.report.drawings import Axis, heat_map, timeline, token_plot, topic_map, week_bars
from jsonlstore.report.statistics import count_history

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jsonlstore.core.model import SessionState
    from jsonlstore.report.drawings import HeatMap, Timeline, TokenPlot, TopicMap, WeekBars
    from jsonlstore.report.history import History, RestoreRecord
    from jsonlstore.report.statistics import Statistics

_LANES = 12
_TOPICS = 14
_ROW_TOPICS = 6
MOST_LISTED = 300  # decisions, tasks and restores on the page; the table and `--json` have the rest
_SURE = 0.7  # as in the preamble: what is less sure is in the session's state, not among the decisions
NO_PROJECT, OTHERS = "no project", "other projects"


@dataclass(frozen=True, slots=True)
class Drawings:
    """The drawings of a report; None where there is nothing to draw."""

    timeline: Timeline | None = None
    days: HeatMap | None = None
    weeks: WeekBars | None = None
    topics: TopicMap | None = None
    tokens: TokenPlot | None = None


@dataclass(frozen=True, slots=True)
class ReportView:
    """Everything on the page. `texts` and `details` are JSON; drawings hold names only as labels."""

    texts: dict[str, Any]
    rows: list[dict[str, Any]]
    details: list[dict[str, Any]]
    drawings: Drawings
    numbers: Statistics


@dataclass(frozen=True, slots=True)
class _Span:
    """A session's times on the wall clock."""

    start: datetime
    end: datetime
    minutes: int | None


def make_view(history: History) -> ReportView:
    """The view of a history; a session whose times cannot be read is in the table and in no drawing."""
    numbers = count_history(history)
    spans = [_span(state, history.now) for state in history.states]
    places = {state.session_id: number for number, state in enumerate(history.states)}
    restored: dict[str, list[RestoreRecord]] = {}
    for one in history.restores:
        restored.setdefault(one.session_id, []).append(one)
    rows = [
        _row(state, span, history.compactions.get(state.session_id), restored.get(state.session_id, ()), places)
        for state, span in zip(history.states, spans, strict=True)
    ]
    details = [_details(state, restored.get(state.session_id, ())) for state in history.states]
    return ReportView(
        texts={
            "period": _period(spans, history.now),
            "decisions": _decisions(history.states, places),
            "tasks": _tasks(numbers, history.states, places),
            "restores": [_restore(one, places) for one in history.restores[:MOST_LISTED]],
        },
        rows=rows,
        details=details,
        drawings=_draw(history, numbers, spans, rows),
        numbers=numbers,
    )


def wall_clock(text: str | None) -> str:
    """`2026-11-10 14:02` as the clock on the wall showed it; a time nobody can read as it stands."""
    if not text:
        return ""
    try:
        return f"{parse_time(text).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return text


def _span(state: SessionState, now: datetime) -> _Span | None:
    try:
        start = parse_time(state.start_time)
        last = parse_time(state.end_time or state.updated_at or state.start_time)
    except ValueError:
        return None
    if not 1 < start.year < 9999 or not 1 < last.year < 9999:
        return None  # no day before or after it
    minutes = int((last - start).total_seconds() // 60) if last >= start else None
    # a session dated into the far future would squeeze all others into one pixel
    end = min(max(start, last), max(now, start))
    return _Span(start.astimezone(), end.astimezone(), minutes)


def _row(
    state: SessionState,
    span: _Span | None,
    compactions: int | None,
    restores: Sequence[RestoreRecord],
    places: Mapping[str, int],
) -> dict[str, Any]:
    """What the table needs of a session; what is empty is left out, because there may be thousands."""
    tokens = state.tokens
    row: dict[str, Any] = {
        "id": state.session_id,
        "at": wall_clock(state.start_time),
        "min": span.minutes if span else None,
        "projects": list(state.active_projects),
        "topics": list(state.hot_topics[:_ROW_TOPICS]),
        "agent": state.agent_id,
        "channel": state.channel,
        "end": "crash" if state.crash_recovered else "open" if state.end_time is None else state.end_reason or "ended",
        "tasks": len(state.pending_tasks),
        "pins": len(state.working_memory),
        "used": tokens.used if tokens else None,
        "window": tokens.window if tokens else None,
        "compactions": compactions,
        "restored": len(restores),
        "prev": _place(state.previous_session_id, places),
        "next": _place(state.continued_by, places),
    }
    return {key: value for key, value in row.items() if value not in (None, "", 0, []) or key in ("prev", "next")}


def _place(session_id: str | None, places: Mapping[str, int]) -> int | str | None:
    """A session's number among the rows; its id if it is not among them."""
    return None if session_id is None else places.get(session_id, session_id)


def _details(state: SessionState, restores: Sequence[RestoreRecord]) -> dict[str, Any]:
    """The state as the panel shows it, and what was restored into the session."""
    shown: dict[str, Any] = {
        "topics": list(state.hot_topics),
        "next": state.next_step,
        "progress": list(state.in_progress),
        "tasks": [[task.task_id, task.title, task.stage] for task in state.pending_tasks],
        "notes": [[note.type, note.content, wall_clock(note.timestamp), note.resolved] for note in state.notes],
        "questions": list(state.open_questions),
        "constraints": list(state.constraints),
        "commits": [[one.sha, one.subject] for one in state.commits],
        "files": [[one.path, one.changes, one.uncommitted] for one in state.files],
        "closed": [[one.title, one.how] for one in state.closed],
        "pins": [[pin.label, pin.content] for pin in state.working_memory],
        "learnings": len(state.recent_learnings),
        "answer": state.last_answer,
        "key": state.session_key,
        "ended": wall_clock(state.end_time),
        "trimmed": dict(state.trimmed),
    }
    if state.last_request:
        shown["request"] = [state.last_request.text, state.last_request.fate]
    if state.failing:
        shown["failing"] = [state.failing.command, state.failing.summary]
    if restores:
        shown["restores"] = [
            {
                "at": wall_clock(one.at),
                "from": list(one.sources),
                "scores": [round(score, 2) for score in one.scores],
                "pins": one.pins,
                "tasks": list(one.tasks),
                "forced": one.forced,
                "arrived": one.arrived,
                "text": one.text,
            }
            for one in restores
        ]
    return {key: value for key, value in shown.items() if value not in (None, "", 0, [], {})}


def _decisions(states: Iterable[SessionState], places: Mapping[str, int]) -> list[dict[str, Any]]:
    """What was decided, newest first, as sure as the preamble wants it."""
    found = [
        {
            "at": wall_clock(note.timestamp or state.start_time)[:10],
            "sort": note.timestamp or state.start_time,
            "text": note.content,
            "project": next(iter(state.active_projects), ""),
            "row": places[state.session_id],
        }
        for state in states
        for note in state.notes
        if note.type == "decision" and note.confidence >= _SURE
    ]
    return sorted(found, key=lambda one: str(one["sort"]), reverse=True)


def _tasks(numbers: Statistics, states: Iterable[SessionState], places: Mapping[str, int]) -> list[dict[str, Any]]:
    """The open tasks, oldest first, each with the latest session that had it."""
    holders: dict[str, SessionState] = {}
    for state in states:  # newest first
        for task in state.pending_tasks:
            holders.setdefault(task.task_id, state)
    return [
        {
            "id": row["task_id"],
            "title": row["title"] or row["task_id"],
            "since": wall_clock(row["since"])[:10],
            "days": int(row["age_days"]),
            "project": next(iter(holders[row["task_id"]].active_projects), ""),
            "row": places[holders[row["task_id"]].session_id],
        }
        for row in numbers.open_tasks["tasks"]
    ]


def _restore(one: RestoreRecord, places: Mapping[str, int]) -> dict[str, Any]:
    return {
        "at": wall_clock(one.at),
        "row": places[one.session_id],
        "from": [_place(source, places) for source in one.sources],
        "pins": one.pins,
        "tasks": len(one.tasks),
        "forced": one.forced,
        "arrived": one.arrived,
    }


def _period(spans: Sequence[_Span | None], now: datetime) -> list[str]:
    starts = [span.start for span in spans if span]
    return (
        [f"{moment.day} {moment:%b %Y}" for moment in (min(starts), max([*starts, now.astimezone()]))] if starts else []
    )


def _draw(history: History, numbers: Statistics, spans: Sequence[_Span | None], rows: list[dict[str, Any]]) -> Drawings:
    placed = [(number, span) for number, span in enumerate(spans) if span]
    if not placed:
        return Drawings()
    axis = Axis.over([moment for _, span in placed for moment in (span.start, span.end)])
    by_name: dict[str, list[tuple[int, datetime, datetime]]] = {}
    named = {row["project"] for row in numbers.projects[:_LANES]}
    for number, span in placed:
        first = next(iter(history.states[number].active_projects), None)
        name = NO_PROJECT if first is None else first if first in named else OTHERS
        by_name.setdefault(name, []).append((number, span.start, span.end))
    # the busiest on top; what has no name of its own at the bottom
    ordered = sorted(by_name.items(), key=lambda lane: (lane[0] in (OTHERS, NO_PROJECT), -len(lane[1]), lane[0]))
    lanes = timeline(ordered, axis)
    for lane in lanes.lanes:
        for mark in lane.marks:
            rows[mark.row]["lane"] = lane.colour if lane.name not in (OTHERS, NO_PROJECT) else -1
    today = history.now.astimezone().date()
    days: Counter[date] = Counter(span.start.date() for _, span in placed)
    topics = [(row["topic"], row["sessions"], row["weeks"]) for row in numbers.topics[:_TOPICS] if row["sessions"] > 1]
    plotted = [
        (number, span.start, tokens.used, tokens.window, history.compactions.get(state.session_id, 0))
        for (number, span), state in ((one, history.states[one[0]]) for one in placed)
        if (tokens := state.tokens) and tokens.window
    ]
    return Drawings(
        timeline=lanes,
        days=heat_map(days, max(today, *days)),
        weeks=week_bars([(week["week"], week["sessions"]) for week in numbers.weeks]),
        topics=topic_map(topics, [week["week"] for week in numbers.weeks]) if topics else None,
        tokens=token_plot(plotted, axis) if plotted else None,
    )
