"""`list`, `show`, `chain`: what is in the store."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.people import ago, bullets, heading, plain, shorten, table, terminal_width
from jsonlstore.cli.session import Session, json_option, now_option, pass_session, print_json, say, with_example
from jsonlstore.clock import time_before
from jsonlstore.errors import JsonlStoreError

if TYPE_CHECKING:
    from datetime import datetime

    from jsonlstore.model import SessionState
    from jsonlstore.store.projection import IndexEntry
    from jsonlstore.store.store import SessionStore


@with_example("jsonlstore list --days 7 --project lbf-ham-radio", "jsonlstore list --json | jq '.[0].session_id'")
@click.command("list")
@click.option("--days", type=click.FloatRange(min=0), metavar="N", help="Only sessions alive in the last N days.")
@click.option("--agent", metavar="A", help="Only this agent's sessions.")
@click.option("--project", metavar="P", help="Only sessions that worked on this project.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, metavar="N", help="At most N.")
@now_option
@json_option
@pass_session
def list_sessions(
    session: Session,
    days: float | None,
    agent: str | None,
    project: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Sessions, newest first, archived ones included."""
    store = session.open_store()
    now = session.clock()
    since = time_before(now, timedelta(days=days)) if days is not None else ""
    found = []
    for entry in store.entries():
        if agent is not None and entry.agent_id != agent:
            continue
        if project is not None and project.lower() not in (each.lower() for each in entry.active_projects):
            continue
        if max(entry.end_time or "", entry.updated_at or "", entry.start_time) < since and not _open(entry):
            continue
        found.append(entry)
        if len(found) == limit:
            break
    rows = [_row(store, entry) for entry in found]
    if as_json:
        print_json(rows)
    elif not rows:
        click.echo("no sessions", err=True)
    else:
        _print_list(rows, now)


def _open(entry: IndexEntry) -> bool:
    return entry.end_time is None


def _row(store: SessionStore, entry: IndexEntry) -> dict[str, Any]:
    """The documented keys of one session; an archived one's topics are read from the archive."""
    topics = list(entry.hot_topics)
    if entry.archived:
        try:
            topics = list(store.get(entry.session_id).hot_topics)
        except JsonlStoreError:
            topics = []  # gone from the archive since: the index still knows the rest
    return {
        "session_id": entry.session_id,
        "agent_id": entry.agent_id,
        "channel": entry.channel,
        "start_time": entry.start_time,
        "end_time": entry.end_time,
        "hot_topics": topics,
        "active_projects": list(entry.active_projects),
        "pending_task_count": entry.pending_task_count,
        "pin_count": entry.pin_count,
        "crash_recovered": entry.crash_recovered,
        "previous_session_id": entry.previous_session_id,
        "continued_by": entry.continued_by,
        "end_reason": entry.end_reason,
        "archived": entry.archived is not None,
    }


def _print_list(rows: list[dict[str, Any]], now: datetime) -> None:
    lines = []
    for row in rows:
        ended = "open" if row["end_time"] is None else ago(row["end_time"], now)
        about = ", ".join([*row["active_projects"][:2], *row["hot_topics"][:6]]) or "-"
        tasks = str(row["pending_task_count"] or "-")
        lines.append([row["session_id"][:13], row["channel"][:10], ago(row["start_time"], now), ended, tasks, about])
    table(["session", "channel", "started", "ended", "tasks", "about"], lines, flexible=5)


@with_example("jsonlstore show 3fca9cad", "jsonlstore show 3fca9cad --json | jq .pending_tasks")
@click.command("show")
@click.argument("session_id", metavar="ID")
@now_option
@json_option
@pass_session
def show(session: Session, session_id: str, as_json: bool) -> None:
    """One session. ID may be shortened to a unique prefix."""
    store = session.open_store()
    state = store.get(store.resolve(session_id))
    if as_json:
        print_json(state.to_dict())
    else:
        _print_state(state, session.clock())


def _print_state(state: SessionState, now: datetime) -> None:
    ended = f"ended {ago(state.end_time, now)}" if state.end_time else "open"
    reason = f" ({state.end_reason})" if state.end_reason else ""
    say(state.session_id, bold=True)
    say(plain(f"{state.channel}, started {ago(state.start_time, now)}, {ended}{reason}"))
    if state.crash_recovered:
        say("recovered after a crash", fg="yellow")
    for label, value in (("previous", state.previous_session_id), ("continued by", state.continued_by)):
        if value:
            say(f"{label}: {value}")
    for label, value in (("last topic", state.last_topic), ("next step", state.next_step)):
        if value:
            say(plain(f"{label}: {value}"))
    sections = (
        ("pending tasks", [f"[{task.task_id}] {task.title} ({task.stage or '?'})" for task in state.pending_tasks]),
        ("pins", [f"{pin.label}: {pin.content}" if pin.label else pin.content for pin in state.working_memory]),
        ("in progress", list(state.in_progress)),
        ("notes", [f"{note.type}: {note.content}" for note in state.notes]),
        ("learnings", list(state.recent_learnings)),
    )
    for name, items in sections:
        if items:
            heading(name)
            bullets(items)
    for name, words in (("projects", state.active_projects), ("topics", state.hot_topics)):
        if words:
            say(plain(f"{name}: {', '.join(words)}"))


@with_example("jsonlstore chain 3fca9cad --depth 5")
@click.command("chain")
@click.argument("session_id", metavar="ID")
@click.option(
    "--depth", type=click.IntRange(min=1), default=5, show_default=True, metavar="N", help="At most N sessions."
)
@now_option
@json_option
@pass_session
def chain(session: Session, session_id: str, depth: int, as_json: bool) -> None:
    """A session and those before it, oldest first."""
    store = session.open_store()
    states = store.chain(store.resolve(session_id), depth)
    if as_json:
        print_json([state.to_dict() for state in states])
        return
    for number, state in enumerate(states):
        if number:
            say("   |")
        about = ", ".join([*state.active_projects[:2], *state.hot_topics[:6]]) or "-"
        say(shorten(f"{state.session_id}  {ago(state.end_time, session.clock())}  {about}", terminal_width()))
