"""`export brain-db`, `import brain-db`: our sessions in Cortex's database, and its sessions in ours."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import Duration, command, command_group, print_json, progress, say, with_example
from jsonlstore.core.clock import parse_time, time_before

if TYPE_CHECKING:
    from jsonlstore.cli.app import App


export = command_group(
    "export", "Hand sessions to other programs, in their own formats.", "jsonlstore export brain-db --dry-run"
)
import_ = command_group(
    "import", "Take in sessions other programs kept.", "jsonlstore import brain-db ~/old/brain.db --dry-run"
)


class Since(click.ParamType[Any]):
    """`7d`, or a time."""

    name = "since"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return parse_time(str(value))
        except ValueError:
            return Duration().convert(value, param, ctx)


@with_example("jsonlstore export brain-db", "jsonlstore export brain-db ~/copy.db --since 7d --dry-run")
@command("brain-db", "--now", "--dry-run", "--json", group=export)
@click.argument("path", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--since", type=Since(), metavar="WHEN", help="Only sessions active since then: 7d, or an ISO time.")
def export_brain_db(app: App, path: Path | None, since: Any, dry_run: bool, as_json: bool) -> None:
    """Bring the session_states table of brain.db up to date. No other table is touched."""
    from jsonlstore.bridges.braindb import export_sessions

    if isinstance(since, timedelta):
        since = parse_time(time_before(app.clock(), since))
    store, path = app.open_store(live=False), _path(app, path)
    report = export_sessions(store, path, since=since, dry_run=dry_run, progress=progress("exporting"))
    if as_json:
        print_json(report.to_dict())
        return
    would = "would be " if dry_run else ""
    removed = len(report.removed)
    say(f"{report.path}: {would}{report.added} added, {report.updated} updated, {removed} removed")
    if report.backup:
        say(f"the database as it was before: {report.backup}", err=True)
    for session_id in report.kept:
        say(f"kept the row of archived session {session_id}: it says more than the archive", err=True)
    for problem in report.problems:
        say(problem, err=True)


@with_example("jsonlstore import brain-db", "jsonlstore import brain-db ~/old/brain.db --dry-run --json")
@command("brain-db", "--dry-run", "--json", group=import_)
@click.argument("path", required=False, type=click.Path(dir_okay=False, path_type=Path))
def import_brain_db(app: App, path: Path | None, dry_run: bool, as_json: bool) -> None:
    """Turn the rows of a brain.db into sessions. The file itself stays as it is."""
    from jsonlstore.bridges.braindb import import_sessions

    store, path = app.open_store(live=False), _path(app, path)
    report = import_sessions(store, path, dry_run=dry_run, progress=progress("importing"))
    if as_json:
        print_json(report.to_dict())
        return
    taken = len(report.imported) + len(report.completed)
    say(
        f"{report.path}: {'would import' if dry_run else 'imported'} {taken}, "
        f"{report.known} already known, {report.forgotten} forgotten, {len(report.skipped)} skipped"
    )
    for row, reason in report.skipped.items():
        say(f"skipped {row}: {reason}", err=True)
    for session_id, problems in report.problems.items():
        say(f"{session_id}: {'; '.join(problems)}", err=True)


def _path(app: App, given: Path | None) -> Path:
    from jsonlstore.bridges.braindb import resolve_brain_db

    return given.expanduser() if given else resolve_brain_db(app.loaded.config, app.state_dir)
