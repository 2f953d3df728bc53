"""`jsonlstore transcripts`: what OpenClaw, pi and GoClaw left on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import dry_run_option, json_option, pass_app, print_json, progress, say, with_example
from jsonlstore.cli.formatting import counted, cut_to_width, is_terminal, local, megabytes, say_folded, table
from jsonlstore.cli.listing import Span, span_options
from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonlstore.cli.app import App
    from jsonlstore.transcripts import Catalogue, Entry, Transcript, TranscriptSource
    from jsonlstore.transcripts import RecordedSession as Found


@click.group()
def transcripts() -> None:
    """Look at the transcripts on this machine (reading only), and migrate those of your own agents."""


with_example("jsonlstore transcripts list --agent main")(transcripts)


@with_example("jsonlstore transcripts list --all --json")
@transcripts.command("list")
@click.option("--agent", metavar="ID", help="Only this agent.")
@click.option("--all", "everything", is_flag=True, help="Sub-agents, cron runs and utility runs too.")
@span_options(1000)
@json_option
@pass_app
def list_(app: App, /, *, agent: str | None, everything: bool, as_json: bool, **span: Any) -> None:
    """List every transcript found. Each with its agent, format, size, and why it ended."""
    catalogue = _catalogue(app, everything=everything)
    problems: list[str] = []
    wanted = [found for found in catalogue.sessions if agent in {None, found.agent_id}]
    shown = Span(**span).pick(wanted, lambda found: found.updated_at, app.clock(), "transcript")
    rows = [_row(found, problems) for found in shown]
    warnings = [*catalogue.warnings, *problems]
    if as_json:
        print_json({"transcripts": rows, "warnings": warnings})
        return
    if rows:
        _print_rows(rows)
    else:
        say("no transcripts found", err=True)
    _warn(warnings)


def _print_rows(rows: list[dict[str, Any]]) -> None:
    """A line a transcript, and one for each stretch between resets where there are several."""
    lines = []
    for row in rows:
        about = [row["agent_id"], "+".join(row["eras"]), f"{row['records']:,}", megabytes(row["bytes"])]
        lines.append([row["session_id"], *about, _end(row), row["channel"]])
        parts = row["stretches"] if len(row["stretches"]) > 1 else ()
        lines += [[f"  {part['session_id']}", "", "", f"{part['records']:,}", "", _end(part), ""] for part in parts]
    table(["session", "agent", "format", "records", "size", "end", "channel"], lines, flexible=0)


@with_example("jsonlstore transcripts show 6fabbc44")
@transcripts.command("show")
@click.argument("id_", metavar="ID")
@json_option
@pass_app
def show(app: App, /, *, id_: str, as_json: bool) -> None:
    """Show who said what in one transcript. ID is a session, a stretch of one, or a unique prefix."""
    found, wanted = _catalogue(app, everything=True).find(id_)
    reading = found.read()
    entries = _entries_of(found, wanted.id if wanted else None, reading)
    redactor = Redactor()
    if as_json:
        shown = [_entry(entry, stretch, redactor) for stretch, entry in entries]
        row = _row(found, reading.problems)
        print_json(
            {**row, "entries": shown, "bad": reading.bad_count, "warnings": list(dict.fromkeys(reading.problems))}
        )
        return
    for _, entry in entries:
        if entry.type == "reset":
            say(f"--- reset ({entry.raw.get('reason')}) {local(entry.timestamp)} ---")
        elif entry.speaker != "none":
            say_folded(f"{local(entry.timestamp)}  {entry.speaker:<10} {_line(entry, redactor)}", indent=" " * 33)
    if reading.bad_count:
        click.echo(f"{counted(reading.bad_count, 'bad line')} skipped", err=True)
    _warn(reading.problems)


@with_example("jsonlstore transcripts context 6fabbc44 --json")
@transcripts.command("context")
@click.argument("id_", metavar="ID")
@click.option("--leaf", metavar="ENTRY", help="Look from this entry instead of the active leaf.")
@click.option(
    "--window", type=click.IntRange(min=1), metavar="TOKENS", help="The model's window, for the context line."
)
@json_option
@pass_app
def context(app: App, /, *, id_: str, leaf: str | None, window: int | None, as_json: bool) -> None:
    """Show what the model would see. Everything since the latest compaction, settings and tokens."""
    from jsonlstore.transcripts import build_context, count_tokens

    found, wanted = _catalogue(app, everything=True).find(id_)
    reading = found.read()
    entries = [entry for _, entry in _entries_of(found, wanted.id if wanted else None, reading)]
    _warn(reading.problems)
    seen = build_context(entries, leaf)
    tokens = count_tokens(entries, window, leaf)
    redactor = Redactor()
    for entry in entries:
        redactor.overhear(entry.text)
    messages = [redactor.value(message) for message in seen.messages]
    if as_json:
        print_json(
            {
                "session_id": wanted.id if wanted else found.session_id,
                "messages": messages,
                "model": seen.model,
                "thinking_level": seen.thinking_level,
                "path": [entry.id for entry in seen.path],
                "tokens": {
                    "used": tokens.used,
                    "window": window,
                    "estimated": tokens.estimated,
                    "method": tokens.method,
                },
            }
        )
        return
    for message in messages:
        text = _short(str(message.get("summary") or message.get("content") or ""))
        say_folded(f"{message.get('role')}: {text}", indent="    ")
    click.echo(tokens.line or f"{tokens.used} tokens ({tokens.method})")


@with_example("jsonlstore transcripts migrate --to jsonl --dry-run")
@transcripts.command("migrate")
@click.option(
    "--to", "kind", type=click.Choice(["sqlite", "jsonl"]), required=True, help="The backend to carry over to."
)
@dry_run_option
@json_option
@pass_app
def migrate_(app: App, /, *, kind: str, dry_run: bool, as_json: bool) -> None:
    """Copy the transcripts of your own agents to the other backend. After an interruption, run it again."""
    from dataclasses import asdict

    from jsonlstore.context import migrate_transcripts, open_pair

    source, target = open_pair(app.state_dir, app.loaded.session, kind, dry_run=dry_run)
    try:
        result = migrate_transcripts(source, target, dry_run=dry_run, progress=progress("carrying sessions over"))
    finally:
        source.close()
        if target is not None:
            target.close()
    if as_json:
        print_json({"to": kind, "dry_run": dry_run, **asdict(result)})
    else:
        records = counted(result.records, "record")
        carried = f"{counted(result.sessions, 'session')}, {records}, {megabytes(result.bytes)} to {kind}"
        say(f"{'would carry' if dry_run else 'carried'} {carried}; {counted(result.present, 'record')} already there")
    _warn(result.conflicts)
    if result.bad:
        _warn([f"{counted(result.bad, 'line')} that cannot be read as a record stay where they are"])
    if result.conflicts:
        raise click.exceptions.Exit(1)


def _catalogue(app: App, *, everything: bool) -> Catalogue:
    from jsonlstore.core.session_key import SKIPPED_BY_DEFAULT
    from jsonlstore.transcripts import Catalogue

    return Catalogue.open(app.state_dir, skip=frozenset() if everything else SKIPPED_BY_DEFAULT)


def _row(found: Found, problems: list[str]) -> dict[str, Any]:
    """One session from outside; what cannot be measured is a problem, not the end of the list."""
    measured = [(_measured(source, copy, problems), copy) for source, copy in found.copies]
    try:
        outline = found.outline()
    except SourceUnreadable as problem:
        problems.append(problem.message)
        outline = []
    return {
        "agent_id": found.agent_id,
        "session_id": found.session_id,
        "session_key": found.session_key,
        "channel": found.channel,
        "eras": list(found.kinds),
        "bytes": sum(size for (size, _), _ in measured),
        "records": max(records for (_, records), _ in measured),
        "updated_at": found.updated_at,
        "end_reason": found.ending.reason if found.ending else None,
        "end_time": found.ending.at if found.ending else None,
        "skipped_as": found.skip,
        "stretches": [
            {
                "session_id": part.stretch.id,
                "begun_by": part.stretch.begun_by,
                "records": part.entries,
                "started_at": part.started_at,
                "last_at": part.last_at,
                "end_reason": part.ending.reason if part.ending else None,
                "end_time": part.ending.at if part.ending else None,
            }
            for part in outline
        ],
        "copies": [
            {"kind": copy.kind, "state": copy.state, "path": str(copy.path), "bytes": size, "records": records}
            for (size, records), copy in measured
        ],
    }


def _measured(source: TranscriptSource, copy: Transcript, problems: list[str]) -> tuple[int, int]:
    try:
        return source.measure(copy)
    except SourceUnreadable as problem:
        problems.append(problem.message)
        return copy.size, 0


def _end(row: dict[str, Any]) -> str:
    return str(row["end_reason"] or "open")


def _entries_of(found: Found, wanted: str | None, reading: Any) -> list[tuple[str, Entry]]:
    from jsonlstore.transcripts import by_stretch

    pairs = by_stretch(found.session_id, reading)
    return [(stretch.id, entry) for stretch, entry in pairs if wanted in {None, stretch.id}]


def _entry(entry: Entry, stretch: str, redactor: Redactor) -> dict[str, Any]:
    return {
        "stretch": stretch,
        "id": entry.id,
        "parent_id": entry.parent_id,
        "type": entry.type,
        "timestamp": entry.timestamp,
        "role": entry.role,
        "speaker": str(entry.speaker),
        "text": redactor.heard(entry.text),
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": redactor.value(dict(call.arguments))}
            for call in entry.tool_calls
        ],
        "tool_name": entry.tool_name,
    }


def _line(entry: Entry, redactor: Redactor) -> str:
    calls = " ".join(f"[{redactor.text(call.name)}]" for call in entry.tool_calls)
    return _short(f"{redactor.heard(entry.text)} {calls}".strip())


def _short(text: str) -> str:
    """A message in one line; on a terminal its beginning, in a pipe the whole of it."""
    flat = " ".join(text.split())
    return cut_to_width(flat, 160) if is_terminal() else flat


def _warn(warnings: Iterable[str]) -> None:
    for warning in dict.fromkeys(warnings):
        say_folded(f"warning: {warning}", indent="  ", err=True)
