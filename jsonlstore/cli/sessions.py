"""`list`, `show`, `chain`, and the overview that `setup` gives: what is in the store."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import answer, command, print_json, say, with_example
from jsonlstore.cli.formatting import (
    ago,
    bullets,
    counted,
    heading,
    lasted,
    local,
    say_line,
    say_value,
    table,
    window_use,
)
from jsonlstore.core.clock import time_before
from jsonlstore.core.errors import JsonlStoreError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from jsonlstore.cli.app import App
    from jsonlstore.core.model import PendingTask, SessionState
    from jsonlstore.store.projection import IndexEntry
    from jsonlstore.store.store import SessionStore
_LOOKED_THROUGH = 50  # a newcomer may have years of history: the latest sessions say what matters now
# of a session in `list --json`, in this order
_KEYS = (
    "session_id", "agent_id", "channel", "start_time", "end_time", "hot_topics", "active_projects",
    "pending_task_count", "pin_count", "crash_recovered", "previous_session_id", "continued_by", "end_reason",
)  # fmt: skip


@with_example("jsonlstore list --days 7 --project lbf-ham-radio", "jsonlstore list --json | jq '.[0].session_id'")
@command("list", "--now", "--json")
@click.option("--days", type=click.FloatRange(min=0), metavar="N", help="Only sessions alive in the last N days.")
@click.option("--agent", metavar="A", help="Only this agent's sessions.")
@click.option("--project", metavar="P", help="Only sessions that worked on this project.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, metavar="N", help="At most N.")
def list_sessions(
    app: App, days: float | None, agent: str | None, project: str | None, limit: int, as_json: bool
) -> None:
    """Sessions, newest first, archived ones included."""
    store = app.open_store()
    now = app.clock()
    since = time_before(now, timedelta(days=days)) if days is not None else ""
    found = (
        entry
        for entry in store.entries()
        if (agent is None or entry.agent_id == agent)
        and (project is None or project.lower() in (each.lower() for each in entry.active_projects))
        # an open session is alive, however long ago it was last heard of
        and (entry.end_time is None or last_active(entry) >= since)
    )
    rows = [_row(store, entry) for entry in islice(found, limit)]
    if as_json:
        print_json(rows)
    elif not rows:
        _nothing(filtered=any(given is not None for given in (days, agent, project)))
    else:
        _print_list(rows, now)


def _nothing(*, filtered: bool) -> None:
    if filtered:
        say("no sessions like that; `jsonlstore list` without options shows all", err=True)
        return
    say("no sessions yet", err=True)
    say("`jsonlstore backfill` reads the history there is, `jsonlstore watch` follows what comes,", err=True)
    say("`jsonlstore demo` shows how it works", err=True)


def _row(store: SessionStore, entry: IndexEntry) -> dict[str, Any]:
    """The documented keys of one session; an archived one's topics, and tokens, are not in the index."""
    topics, tokens = list(entry.hot_topics), None
    try:
        state = store.get(entry.session_id)
        topics = list(state.hot_topics) if entry.archived else topics
        tokens = state.tokens.to_dict() if state.tokens else None
    except JsonlStoreError:
        pass  # gone since: the index still knows the rest
    row = {name: getattr(entry, name) for name in _KEYS}
    return {**row, "hot_topics": topics, "archived": entry.archived is not None, "tokens": tokens}


def _print_list(rows: list[dict[str, Any]], now: datetime) -> None:
    lines = []
    for row in rows:
        ended = "open" if row["end_time"] is None else ago(row["end_time"], now)
        if row["crash_recovered"]:
            ended += "*"
        about = _about(row["active_projects"], row["hot_topics"]) or "-"
        tasks = str(row["pending_task_count"] or "-")
        lines.append([row["session_id"][:13], about, ago(row["start_time"], now), ended, tasks, row["channel"][:10]])
    table(["session", "about", "started", "ended", "tasks", "channel"], lines, flexible=1)
    if any(row["crash_recovered"] for row in rows):
        say_line("* by a crash, recovered", dim=True)


def _about(projects: Sequence[str], topics: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys([*projects[:2], *topics[:6]]))


@with_example("jsonlstore show 3fca9cad", "jsonlstore show 3fca9cad --json | jq .pending_tasks")
@command("show", "--now", "--json")
@click.argument("session_id", metavar="ID")
def show_session(app: App, session_id: str, as_json: bool) -> None:
    """One session. ID may be shortened to a unique prefix."""
    store = app.open_store()
    state = store.get(store.resolve(session_id))
    answer(as_json, state.to_dict(), lambda: _print_state(state, app.clock()))


def _print_state(state: SessionState, now: datetime) -> None:
    say_line(state.session_id, bold=True)
    say_value("started", f"{local(state.start_time)} ({ago(state.start_time, now)})", columns=14)
    say_value("ended", _ended(state, now), columns=14)
    values = (
        ("channel", state.channel),
        ("agent", state.agent_id),
        ("previous", state.previous_session_id),
        ("continued by", state.continued_by),
        ("projects", ", ".join(state.active_projects)),
        ("topics", ", ".join(state.hot_topics)),
        ("last topic", state.last_topic),
        ("next step", state.next_step),
        ("context", window_use(state.tokens.to_dict()) if state.tokens else None),
    )
    for label, value in values:
        if value:
            say_value(label, value, columns=14)
    sections = (
        ("pending tasks", [_task(task) for task in state.pending_tasks]),
        ("pins", [f"{pin.label}: {pin.content}" if pin.label else pin.content for pin in state.working_memory]),
        ("in progress", list(state.in_progress)),
        ("notes", [f"{note.type}: {note.content}" for note in state.notes]),
        ("learnings", list(state.recent_learnings)),
    )
    for name, items in sections:
        if items:
            heading(f"{name} ({len(items)})")
            bullets(items)


def _ended(state: SessionState, now: datetime) -> str:
    if state.end_time is None:
        return f"open, last heard of {ago(state.updated_at or state.start_time, now)}"
    reason = "by a crash, recovered" if state.crash_recovered else f"by {state.end_reason}" if state.end_reason else ""
    length = lasted(state.start_time, state.end_time)
    details = ", ".join(filter(None, (reason, f"after {length}" if length else "")))
    return f"{local(state.end_time)} ({ago(state.end_time, now)})" + (f", {details}" if details else "")


def _task(task: PendingTask) -> str:
    return f"[{task.task_id}] {task.title}" + (f" ({task.stage})" if task.stage else "")


@with_example("jsonlstore chain 3fca9cad --depth 5")
@command("chain", "--now", "--json")
@click.argument("session_id", metavar="ID")
@click.option(
    "--depth", type=click.IntRange(min=1), default=5, show_default=True, metavar="N", help="At most N sessions."
)
def chain(app: App, session_id: str, depth: int, as_json: bool) -> None:
    """A session and those before it, oldest first."""
    store = app.open_store()
    states = store.chain(store.resolve(session_id), depth)
    if as_json:
        print_json([state.to_dict() for state in states])
        return
    for number, state in enumerate(states):
        if number:
            say("  |")
        when = ago(state.end_time, app.clock()) if state.end_time else "open"
        say_line(f"{state.session_id}  {when}", bold=True)
        about = _about(state.active_projects, state.hot_topics)
        tasks = counted(len(state.pending_tasks), "pending task") if state.pending_tasks else ""
        say_line(f"  | {'; '.join(filter(None, (about, tasks))) or '-'}")
    if states and len(states) < depth and states[0].previous_session_id:
        say_line(f"(the session before, {states[0].previous_session_id}, is not kept)", dim=True)


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


def last_active(entry: IndexEntry) -> str:
    """When a session was last heard of."""
    return max(entry.end_time or "", entry.updated_at or "", entry.start_time)
