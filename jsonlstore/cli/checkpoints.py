"""`where`, `checkpoint list|show`: where a session stands, and where it stood."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import answer, command, print_json, with_example
from jsonlstore.cli.formatting import ago, heading, local, say_folded, say_line, say_value, table
from jsonlstore.cli.listing import Span, complete_session, span_options
from jsonlstore.core.errors import SessionNotFound, SourceUnreadable, UsageError

if TYPE_CHECKING:
    from jsonlstore.cli.app import App
    from jsonlstore.context import Checkpoint
    from jsonlstore.store import Event

_LISTS = (
    ("constraints", "Rules of the user"), ("asks", "Asked"), ("done", "Commits"), ("inProgress", "In progress"),
    ("tasks", "Open"), ("blocked", "In the way"), ("files", "Files changed"), ("memoryFiles", "Memory files"),
)  # fmt: skip
_SHOWN = 8


@with_example("jsonlstore where", "jsonlstore where 3fca9cad --json | jq .checkpoint.summary")
@command("where", "--now", "--json")
@click.argument("session_id", metavar="[ID]", required=False, shell_complete=complete_session)
def where(app: App, session_id: str | None, as_json: bool) -> None:
    """Show where a session stands right now, from its transcript: the running one, else the last. Reads only."""
    from jsonlstore.context import make_checkpoint
    from jsonlstore.signals import Distiller
    from jsonlstore.transcripts import Catalogue

    catalogue = Catalogue.open(app.state_dir)
    if session_id is None:
        known = catalogue.sessions
        if not known and catalogue.warnings:
            raise SourceUnreadable("no transcript can be read", hint="; ".join(catalogue.warnings[:2]))
        if not known:
            raise SessionNotFound(
                "there is no transcript yet", hint="`jsonlstore status` shows where they are looked for"
            )
        found, named = max(known, key=lambda one: (one.end_reason is None, one.updated_at or "")), None
    else:
        found, named = catalogue.find(session_id)
    distiller, current = Distiller(), named.id if named else None
    for part, entry in found.stretches():
        if named is None and part.id != current:
            distiller, current = Distiller(), part.id  # the latest stretch is the one that runs
        if part.id == current:
            distiller.feed(entry)
    signals = distiller.result()
    made = make_checkpoint(signals, distiller.facts(), signals.tokens.used if signals.tokens else 0)
    document = {"session_id": current or found.session_id, "at": made.timestamp, "checkpoint": made.to_dict()}
    answer(as_json, document, lambda: _print(str(document["session_id"]), made, found.context_tokens))


@with_example("jsonlstore checkpoint list 3fca9cad", "jsonlstore checkpoint show 3fca9cad")
@click.group("checkpoint")
def checkpoint() -> None:
    """Show the checkpoints that were recorded while sessions ran."""


@with_example("jsonlstore checkpoint list 3fca9cad")
@command("list", "--now", "--json")
@click.argument("session_id", metavar="ID", shell_complete=complete_session)
@span_options(50)
def list_checkpoints(app: App, session_id: str, as_json: bool, **span: Any) -> None:
    """List the checkpoints of a session, oldest first."""
    name, events = _recorded(app, session_id)
    rows = [
        {
            "number": number,
            "at": event.at,
            "trigger": event.data.get("trigger"),
            "tokens": event.data.get("tokensAtCheckpoint"),
            "messages": event.data.get("messageCountAtCheckpoint"),
            "summary": event.data.get("summary"),
        }
        for number, event in enumerate(events, 1)
    ]
    rows = Span(**span).pick(rows, lambda row: str(row["at"]), app.clock(), "checkpoint")
    if as_json:
        print_json(rows)
    elif not rows:
        say_folded(f"no checkpoint of session {name} was recorded; {_now_instead(name)}", err=True)
    else:
        lines = [
            [str(r["number"]), ago(str(r["at"]), app.clock()), f"{r['tokens'] or 0:,}", str(r["summary"])] for r in rows
        ]
        table(["no.", "made", "tokens", "summary"], lines, flexible=3, whole=True)


@with_example("jsonlstore checkpoint show 3fca9cad", "jsonlstore checkpoint show 3fca9cad 2 --json")
@command("show", "--json")
@click.argument("session_id", metavar="ID", shell_complete=complete_session)
@click.argument("number", type=click.IntRange(min=1), required=False)
def show_checkpoint(app: App, session_id: str, number: int | None, as_json: bool) -> None:
    """Show one checkpoint of a session. Without a number it is the newest."""
    from jsonlstore.context import Checkpoint

    name, events = _recorded(app, session_id)
    if not events or (number or 1) > len(events):
        if not events:
            raise UsageError(f"no checkpoint of session {name} was recorded", hint=_now_instead(name))
        have = f"session {name} has no checkpoint {number}"
        raise UsageError(have, hint=f"`jsonlstore checkpoint list {name[:13]}` lists them")
    event = events[(number or len(events)) - 1]
    made = Checkpoint.from_dict(dict(event.data), None, event.at)
    document = {"session_id": name, "at": event.at, "checkpoint": made.to_dict()}
    window = event.data.get("window")
    answer(as_json, document, lambda: _print(name, made, window if isinstance(window, int) else None))


checkpoint.add_command(list_checkpoints)
checkpoint.add_command(show_checkpoint)


def _now_instead(name: str) -> str:
    return f"`jsonlstore where {name[:13]}` says where it stands, if its transcript is still there"


def _recorded(app: App, session_id: str) -> tuple[str, list[Event]]:
    store = app.open_store(live=False)
    name = store.resolve(session_id)
    return name, store.events(name, ("checkpoint.created",))


def _print(session_id: str, made: Checkpoint, window: int | None) -> None:
    heading(f"{session_id[:13]}, {local(made.timestamp) if made.timestamp else 'no time known'}")
    say_folded(f"  {made.summary}", indent="  ")
    if made.tokens:
        share = f" of {window:,} ({round(100 * made.tokens / window)}%)" if window else ""
        say_value("tokens", f"{made.tokens:,}{share}")
    if made.topics:
        say_value("topics", ", ".join(made.topics))
    lists: list[tuple[str, tuple[str, ...]]] = [("Decided", made.key_decisions)]
    lists += [(title, made.texts(name)) for name, title in _LISTS]
    for title, items in [*lists, ("Open questions", made.open_questions)]:
        if items:
            heading(title)
            for one in items[:_SHOWN]:
                say_folded(f"  - {' '.join(one.split())}", indent="    ")
            if len(items) > _SHOWN:
                say_line(f"  and {len(items) - _SHOWN} more; --json has them", dim=True)
    _print_failing(made.evidence.get("failing"))


def _print_failing(failing: Any) -> None:
    if isinstance(failing, dict):
        heading("Fails")
        say_line(f"  {failing.get('command', '')}  {failing.get('summary', '')}".rstrip())
