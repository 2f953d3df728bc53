"""`pin list|add|remove`: the pins of working memory, through the pin file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import answer, command, command_group, say, with_example
from jsonlstore.cli.formatting import say_folded
from jsonlstore.cli.listing import Span, span_options
from jsonlstore.core.clock import format_time
from jsonlstore.core.errors import JsonlStoreError, UsageError

if TYPE_CHECKING:
    from jsonlstore.cli.app import App
    from jsonlstore.restore import PinFile

pin = command_group("pin", "List, add and remove the pins of working memory.", "jsonlstore pin list")


def _file(app: App) -> PinFile:
    from jsonlstore.restore import PinFile

    return PinFile.of(app.open_store(), app.config)


@with_example("jsonlstore pin list --json")
@command("list", "--json", "--now", group=pin)
@span_options(50)
def list_pins(app: App, as_json: bool, **span: Any) -> None:
    """List the pins."""
    from jsonlstore.redact import redact_value

    found = _file(app).read()
    if found.problem:
        raise JsonlStoreError(found.problem, hint="the file belongs to the agent's workspace; mend or remove it")
    shown = Span(**span).pick(found.pins, lambda one: one.pinned_at, app.clock(), "pin")
    pins = [redact_value(one.to_dict()) for one in shown]

    def show() -> None:
        for number, one in enumerate(pins, 1):
            say_folded(
                f"{number:>3}  {one['label'] + ': ' if one.get('label') else ''}{one['content']}", indent="     "
            )
        if not pins:
            say("no pins")

    answer(as_json, {"pins": pins}, show)


@with_example('jsonlstore pin add "the relay board is revision C" --label hardware')
@command("add", "--dry-run", "--json", "--now", group=pin)
@click.argument("content")
@click.option("--label", metavar="NAME", help="What the pin is called.")
def add_pin(app: App, content: str, label: str | None, dry_run: bool, as_json: bool) -> None:
    """Pin something."""
    from jsonlstore.core.model import WorkingMemoryPin
    from jsonlstore.redact import redact_text

    text = redact_text(content).strip()
    if not text or len(text) > 500:
        raise UsageError("a pin has 1 to 500 characters", hint="shorten it")
    made = WorkingMemoryPin(text, format_time(app.clock()), redact_text(label) if label else None)
    if not _file(app).add([made], 1, dry_run=dry_run):
        raise JsonlStoreError(
            "there is no room for another pin" if _file(app).is_full else "it is pinned already",
            hint="`jsonlstore pin list` shows the pins, `jsonlstore pin remove N` makes room",
        )
    document = {"added": [made.to_dict()], "dry_run": dry_run}
    answer(as_json, document, lambda: say_folded(f"{'would be pinned' if dry_run else 'pinned'}: {made.label or text}"))


@with_example("jsonlstore pin remove hardware")
@command("remove", "--dry-run", "--json", group=pin)
@click.argument("names", metavar="PIN…", nargs=-1, required=True)
def remove_pins(app: App, names: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Remove pins, by number, label or content."""
    gone = _file(app).remove(names, dry_run=dry_run)
    if not gone:
        raise JsonlStoreError(f"no such pin: {', '.join(names)}", hint="see `jsonlstore pin list`")
    if not dry_run and app.config.enabled:
        from jsonlstore.restore import note_removed

        note_removed(app.open_store(), gone)
    document = {"removed": [one.to_dict() for one in gone], "dry_run": dry_run}

    def show() -> None:
        for one in gone:
            say_folded(f"{'would be removed' if dry_run else 'removed'}: {one.label or one.content}")

    answer(as_json, document, show)
