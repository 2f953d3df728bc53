"""`list`, `show`, `chain`: what is in the store."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import click
import orjson

from jsonlstore.cli.console import answer, command, print_json, say, with_example
from jsonlstore.cli.formatting import (
    NO_SESSIONS_HINT,
    ago,
    bullets,
    counted,
    heading,
    is_terminal,
    lasted,
    local,
    plain,
    say_folded,
    say_line,
    say_value,
    table,
    window_use,
)
from jsonlstore.cli.listing import Filters, complete_session, filter_options, limit_option
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.redact import shown_document

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from jsonlstore.cli.app import App
    from jsonlstore.core.model import PendingTask, SessionState
    from jsonlstore.store import IndexEntry, SessionStore

_MOST = 10  # items of a list on a terminal
_FOLLOW_SECONDS = 1.0
# of a session in `list --json`, in this order
_KEYS = (
    "session_id", "agent_id", "channel", "start_time", "end_time", "hot_topics", "active_projects",
    "pending_task_count", "pin_count", "crash_recovered", "previous_session_id", "continued_by", "end_reason",
    "updated_at",
)  # fmt: skip


@with_example(
    "jsonlstore list --days 7 --project lbf-ham-radio",
    "jsonlstore list --since 2026-02-01 -n 200",
    "jsonlstore list --follow",
    "jsonlstore list --json | jq '.[0].session_id'",
)
@command("list", "--now", "--json")
@filter_options
@limit_option(50)
@click.option("--follow", is_flag=True, help="Go on, and print each session again when it changes, until Ctrl-C.")
def list_sessions(app: App, limit: int, follow: bool, as_json: bool, **filters: Any) -> None:
    """List sessions, latest activity first, archived ones included."""
    store = app.open_store()
    wanted = Filters(**filters)
    found = wanted.apply(store, app.clock())
    rows = [_row(store, entry) for entry in found[:limit]]
    if follow:
        _follow(app, store, wanted, as_json=as_json)
        return
    if as_json:
        print_json(rows)
    elif not rows:
        _nothing(filtered=bool(wanted))
    else:
        _print_list(rows, app.clock())
    if len(found) > limit:
        say(f"{limit:,} of {counted(len(found), 'session')}; -n {len(found)} shows all", err=True)


def _follow(app: App, store: SessionStore, wanted: Filters, *, as_json: bool) -> None:
    """Print sessions as they change: one line each, as text or as JSON. The index is read again every second."""
    seen = {entry.session_id: entry for entry in wanted.apply(store, app.clock())}
    say(f"following {counted(len(seen), 'session')}; Ctrl-C ends", err=True)
    while True:
        time.sleep(_FOLLOW_SECONDS)
        for entry in reversed(wanted.apply(store, app.clock())):
            if seen.get(entry.session_id) != entry:
                _print_change(_row(store, entry), as_json=as_json)
                seen[entry.session_id] = entry


def _print_change(row: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        click.echo(orjson.dumps(shown_document(row)).decode())
        return
    at = row["end_time"] or row["updated_at"] or row["start_time"]
    what = "ended" if row["end_time"] else "open"
    about = _about(row["active_projects"], row["hot_topics"]) or "-"
    say_line(f"{local(at)}  {row['session_id'][:13]}  {what:<5}  {about}")


def _nothing(*, filtered: bool) -> None:
    if filtered:
        say_folded("no session fits these options; `jsonlstore list` without options shows all", err=True)
        return
    say("there are no sessions yet", err=True)
    say_folded(NO_SESSIONS_HINT, err=True)


def _row(store: SessionStore, entry: IndexEntry) -> dict[str, Any]:
    """The documented keys of one session; an archived one's topics, and tokens, are not in the index."""
    row = {name: getattr(entry, name) for name in _KEYS}
    row |= {"hot_topics": list(entry.hot_topics), "archived": entry.archived is not None, "tokens": None}
    try:
        state = store.get(entry.session_id)
    except JsonlStoreError:
        return row  # removed since the index was read, or unreadable: the index still has the rest
    if entry.archived:
        row["hot_topics"] = list(state.hot_topics)
    return row | {"tokens": state.tokens.to_dict() if state.tokens else None}


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
@click.argument("session_id", metavar="ID", shell_complete=complete_session)
@click.option("--full", is_flag=True, help="Every item of every list.")
@click.option("--markdown", is_flag=True, help="As a Markdown document, to paste somewhere.")
@click.option("--explain", is_flag=True, help="Each statement with its evidence and confidence; JSON always has both.")
def show_session(app: App, session_id: str, full: bool, markdown: bool, explain: bool, as_json: bool) -> None:
    """Show one session. ID may be shortened to a unique prefix."""
    store = app.open_store()
    state = store.get(store.resolve(session_id))
    if markdown and not as_json:
        say(as_markdown(state, app.clock()))
        return
    # whoever reads a pipe cannot ask for more
    most = None if full or not is_terminal() else _MOST
    answer(as_json, state.to_dict(), lambda: _print_state(state, app.clock(), most, explain=explain))


def _print_state(state: SessionState, now: datetime, most: int | None, *, explain: bool = False) -> None:
    say_line(state.session_id, bold=True)
    for label, value in _values(state, now):
        if value:
            say_value(label, value, columns=14)
    for name, items in _sections(state):
        if items:
            heading(f"{name} ({len(items)})")
            bullets(items, most=most)
    if explain:
        heading("evidence")
        bullets(_explained(state), most=most)


def _explained(state: SessionState) -> list[str]:
    """Every statement with the entries it rests on; what hooks and operators said rests on their word."""
    from jsonlstore.cli.signals import evidence_of

    told: list[tuple[str, str, dict[str, Any]]] = [(one.field, one.text, one.to_dict()) for one in state.grounds]
    told += [("pending_tasks", one.title, one.to_dict()) for one in state.pending_tasks]
    told += [(one.type, one.content, one.to_dict()) for one in state.notes]
    told += [("last_request", state.last_request.text, state.last_request.to_dict())] if state.last_request else []
    told += [("earlier_requests", one.text, one.to_dict()) for one in state.earlier_requests]
    told += [("failing", state.failing.command, state.failing.to_dict())] if state.failing else []
    told += [("commits", one.subject, one.to_dict()) for one in state.commits]
    told += [("references", one.ref, one.to_dict()) for one in state.references]
    told += [("closed", one.title, one.to_dict()) for one in state.closed]
    said = "  [said by a hook, an operator or an import]"
    return [f"{name.replace('_', ' ')}: {text}{evidence_of(part) or said}" for name, text, part in told]


def _values(state: SessionState, now: datetime) -> tuple[tuple[str, str | None], ...]:
    """The single values of a session, each with its label."""
    return (
        ("started", f"{local(state.start_time)} ({ago(state.start_time, now)})"),
        ("ended", _ended(state, now)),
        ("channel", state.channel),
        ("agent", state.agent_id),
        ("previous", state.previous_session_id),
        ("continued by", state.continued_by),
        ("projects", ", ".join(state.active_projects)),
        ("topics", ", ".join(state.hot_topics)),
        ("last topic", state.last_topic),
        ("next step", state.next_step),
        ("last request", f"{state.last_request.text} ({state.last_request.fate})" if state.last_request else None),
        ("last answer", state.last_answer),
        ("failing", f"{state.failing.command}: {state.failing.summary}" if state.failing else None),
        ("context", window_use(state.tokens.to_dict()) if state.tokens else None),
    )


def _sections(state: SessionState) -> tuple[tuple[str, list[str]], ...]:
    """The lists of a session, each with its name."""
    return (
        ("pending tasks", [_task(task) for task in state.pending_tasks]),
        ("pins", [f"{pin.label}: {pin.content}" if pin.label else pin.content for pin in state.working_memory]),
        ("earlier requests", [f"{one.text} ({one.fate or 'fate unknown'})" for one in state.earlier_requests]),
        ("in progress", list(state.in_progress)),
        ("open questions", list(state.open_questions)),
        ("constraints", list(state.constraints)),
        ("commits", [f"{one.sha[:10]} {one.subject}".strip() for one in state.commits]),
        ("files", [f"{one.path} ({counted(one.changes, 'change')})" for one in state.files]),
        ("references", [f"{one.kind} {one.ref}" for one in state.references]),
        ("notes", [f"{note.type}: {note.content}" for note in state.notes]),
        ("learnings", list(state.recent_learnings)),
    )


def as_markdown(state: SessionState, now: datetime) -> str:
    """A session as a Markdown document; what it quotes cannot become markup of the document."""
    lines = [f"# {_escaped(state.session_id)}", ""]
    lines += [f"- **{label}:** {_escaped(value)}" for label, value in _values(state, now) if value]
    for name, items in _sections(state):
        if items:
            lines += ["", f"## {name.capitalize()}", "", *(f"- {_escaped(item)}" for item in items)]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", plain(text))


def _ended(state: SessionState, now: datetime) -> str:
    if state.end_time is None:
        return f"open, last heard of {ago(state.updated_at or state.start_time, now)}"
    known = f"reason {state.end_reason}" if state.end_reason else ""
    reason = "by a crash, recovered" if state.crash_recovered else known
    length = lasted(state.start_time, state.end_time)
    details = ", ".join(filter(None, (reason, f"lasted {length}" if length else "")))
    return f"{local(state.end_time)} ({ago(state.end_time, now)})" + (f", {details}" if details else "")


def _task(task: PendingTask) -> str:
    return f"[{task.task_id}] {task.title}" + (f" ({task.stage})" if task.stage else "")


@with_example("jsonlstore chain 3fca9cad --depth 5")
@command("chain", "--now", "--json")
@click.argument("session_id", metavar="ID", shell_complete=complete_session)
@click.option(
    "--depth", type=click.IntRange(min=1), default=5, show_default=True, metavar="N", help="At most N sessions."
)
def chain(app: App, session_id: str, depth: int, as_json: bool) -> None:
    """Show a session and those before it, oldest first."""
    manager = app.open_manager()
    start = manager.store.resolve(session_id)
    states = manager.store.chain(start, depth)  # the operator's: it sees every conversation
    manager.count_traversal(start, depth, states)
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
