"""`jsonlstore signals`: what is extracted from one transcript, and from where in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import json_option, pass_app, print_json, say, with_example

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonlstore.cli.app import App
    from jsonlstore.signals import Signals
    from jsonlstore.transcripts import Entry


@with_example("jsonlstore signals 6fabbc44 --explain", "jsonlstore signals old-session.jsonl --json")
@click.command("signals")
@click.argument("id_or_file", metavar="ID|FILE")
@click.option("--explain", is_flag=True, help="Say which entry each signal came from.")
@json_option
@pass_app
def signals(app: App, /, *, id_or_file: str, explain: bool, as_json: bool) -> None:
    """Show what would be remembered of a session: topics, projects, tasks, learnings, notes. Reads only."""
    from jsonlstore.signals import Distiller, sources

    name, read = _find(app, id_or_file)
    distiller = Distiller()
    for entry in read():
        distiller.feed(entry)
    found = distiller.result()
    origins = sources(read(), found) if explain else {}
    if as_json:
        print_json({"session_id": name, **found.to_fields(), **({"sources": origins} if explain else {})})
        return
    _print(name, found, origins)


def _find(app: App, id_or_file: str) -> tuple[str, Callable[[], Iterator[Entry]]]:
    """The session's name and a function that reads it from its start: a file's latest stretch, or the one named."""
    path = Path(id_or_file)
    if path.is_file():
        wanted = ""
        for part, _ in _file_entries(path):
            wanted = part.id
        return wanted or path.stem, lambda: (entry for part, entry in _file_entries(path) if part.id == wanted)
    from jsonlstore.transcripts import Catalogue

    found, named = Catalogue.open(app.state_dir, skip=frozenset()).find(id_or_file)
    wanted = named.id if named else found.session_id
    return wanted, lambda: (entry for part, entry in found.stretches() if part.id == wanted)


def _file_entries(path: Path) -> Iterator[tuple[Any, Entry]]:
    from jsonlstore.core.errors import SourceUnreadable
    from jsonlstore.transcripts import Reading, by_stretch, open_stream, read_entries

    try:
        with open_stream(path) as stream:
            entries = iter(read_entries(stream, Reading(), final=True))
            first = next(entries, None)
            if first is not None:
                name = first.id if first.type == "session" and first.id else path.stem
                yield from by_stretch(name, _chain(first, entries))
    except OSError as problem:
        raise SourceUnreadable(f"cannot read {path}: {problem.strerror or problem}", path=path) from problem


def _chain(first: Entry, rest: Iterator[Entry]) -> Iterator[Entry]:
    yield first
    yield from rest


def _print(name: str, found: Signals, origins: dict[str, dict[str, str]]) -> None:
    say(f"{name}  {found.start_time or '?'} to {found.end_time or '?'}")
    fields = found.to_fields()
    grounds = {(one["field"], one["text"]): one for one in fields["grounds"]}
    for field, value in fields.items():
        if field in {"start_time", "end_time", "grounds"} or not value:
            continue
        say(f"{field.replace('_', ' ')}:")
        for item in value if isinstance(value, list) else [value]:
            key, line = _line(field, item)
            origin = origins.get(field, {}).get(key)
            why = evidence_of(grounds.get((field, item)) if isinstance(item, str) else item) if origins else ""
            say(f"  {line}{f'  <- {origin}' if origin else ''}{why}")


def evidence_of(item: Any) -> str:
    """The evidence and confidence a statement carries, as it stands behind it."""
    if not isinstance(item, dict) or "evidence" not in item:
        return ""
    known = item["evidence"]
    sure = f" {item['confidence']:.2f}" if isinstance(item.get("confidence"), float) else ""
    return f"  [{known['kind']}{sure}: {', '.join(known['entry_ids']) or 'no entry'}]"


_SHOWN: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "pending_tasks": (
        "task_id",
        lambda one: f"{one['task_id']} {'[' + one['stage'] + '] ' if one['stage'] else ''}{one['title']}",
    ),
    "sop_interactions": (
        "sop_path",
        lambda one: f"{one['sop_path']} ({'' if one['acknowledged'] else 'not '}acknowledged)",
    ),
    "confidence_updates": (
        "memory_id",
        lambda one: f"{one['memory_id']}: {one['old_score']} -> {one['new_score']} ({one['reason']})",
    ),
    "last_request": ("text", lambda one: f"{one['text']} ({one['fate']})"),
    "earlier_requests": ("text", lambda one: f"{one['text']} ({one['fate'] or 'fate unknown'})"),
    "failing": ("command", lambda one: f"{one['command']}: {one['summary']}"),
    "commits": ("subject", lambda one: f"{one['sha'] or '?'} {one['subject']}"),
    "files": (
        "path",
        lambda one: f"{one['path']} ({one['changes']} changes{', uncommitted' if one['uncommitted'] else ''})",
    ),
    "references": ("ref", lambda one: f"{one['kind']} {one['ref']} ({one['times']}x)"),
    "closed": ("title", lambda one: f"{one['title']} ({one['how']})"),
}


def _line(field: str, item: Any) -> tuple[str, str]:
    """The key an item is explained by, and how it is shown."""
    if not isinstance(item, dict):
        return item, item
    if field == "notes":
        state = {True: " (resolved)", False: " (open)"}.get(item.get("resolved"), "")  # type: ignore[arg-type]
        return item["id"], f"{item['type']} {item['confidence']:.2f}{state}: {item['content']}"
    if field == "working_memory":
        return item.get("label") or item["content"], f"{item.get('label') or 'pin'}: {item['content']}"
    key, shown = _SHOWN[field]
    return item[key], shown(item)
