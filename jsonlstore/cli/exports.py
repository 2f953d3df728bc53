"""`export jsonl`, `export parquet`: sessions for analysis, by other engines and over several machines."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.braindb import Since, export
from jsonlstore.cli.console import answer, command, progress, say, with_example
from jsonlstore.cli.formatting import counted
from jsonlstore.core.clock import parse_time, time_before

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonlstore.cli.app import App

__all__ = ["export"]


def _options(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--host", metavar="NAME", help="The name of this machine in the export (default: its own)."),
        click.option("--events", is_flag=True, help="The events of the logs instead of the states."),
        click.option(
            "--since", type=Since(), metavar="WHEN", help="Only sessions active since then: 7d, or an ISO time."
        ),
        click.argument("folder", type=click.Path(file_okay=False, path_type=Path)),
    ):
        function = option(function)
    return function


@with_example("jsonlstore export jsonl ~/exports", "jsonlstore export jsonl ~/exports --since 7d --dry-run")
@command("jsonl", "--now", "--dry-run", "--json", group=export)
@_options
def export_jsonl(app: App, folder: Path, **options: Any) -> None:
    """Write sessions as JSON lines to FOLDER. Files go into host=…/month=… folders; a later run adds what is new."""
    _export(app, folder, "jsonl", **options)


@with_example("jsonlstore export parquet ~/exports", "jsonlstore export parquet ~/exports --host laptop --json")
@command("parquet", "--now", "--dry-run", "--json", group=export)
@_options
def export_parquet(app: App, folder: Path, **options: Any) -> None:
    """Write sessions as Parquet to FOLDER. Files go into host=…/month=… folders; a later run adds what is new."""
    _export(app, folder, "parquet", **options)


def _export(
    app: App, folder: Path, kind: str, *, since: Any, events: bool, host: str | None, dry_run: bool, as_json: bool
) -> None:
    import socket

    from jsonlstore.bridges.exports import export_tables

    if isinstance(since, timedelta):
        since = parse_time(time_before(app.clock(), since))
    report = export_tables(
        app.open_store(live=False),
        folder.expanduser().absolute(),
        kind,
        host=socket.gethostname() if host is None else host,
        table="events" if events else "sessions",
        since=since,
        dry_run=dry_run,
        progress=progress("exporting"),
    )
    would = "would be " if dry_run else ""
    told = (
        f"{report.path}: {would}{report.added} added, {report.updated} updated, {report.removed} removed, "
        f"{report.unchanged} as before"
    )
    answer(as_json, report.to_dict(), lambda: say(told))
    if report.unreadable:
        say(f"{counted(report.unreadable, 'session')} could not be read; `jsonlstore doctor` says why", err=True)
