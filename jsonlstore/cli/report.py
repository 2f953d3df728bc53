"""`report`: one HTML file to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from jsonlstore.cli.console import command, print_json, say, with_example
from jsonlstore.cli.formatting import counted, megabytes
from jsonlstore.cli.stats import history_of

if TYPE_CHECKING:
    from jsonlstore.cli.app import App

_DEFAULT = "jsonlstore-report.html"


@with_example(
    "jsonlstore report --days 30 --open", "jsonlstore report share.html --project lbf-ham-radio --redact-names"
)
@command("report", "--now", "--dry-run", "--json")
@click.argument("path", default=_DEFAULT, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--days", type=click.FloatRange(min=0), metavar="N", help="Only sessions active in the last N days.")
@click.option("--project", metavar="P", help="Only sessions that worked on this project.")
@click.option("--redact-names", is_flag=True, help="Replace names of projects, agents, chats and files by aliases.")
@click.option("--open", "open_it", is_flag=True, help="Open it in the browser.")
def report(
    app: App,
    path: Path,
    days: float | None,
    project: str | None,
    redact_names: bool,
    open_it: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Write one HTML file: timeline, days, topics, tasks, decisions, restores, tokens, and every session.

    PATH is jsonlstore-report.html in the current directory, unless given. The file needs no network.
    """
    from jsonlstore.core.files import Disk
    from jsonlstore.report import Aliases, make_view, render_page

    history = history_of(app, days, project)
    view = make_view(history)
    if redact_names:
        view = Aliases.of(history).view(view)
    title = f"Sessions of {project}" if project and not redact_names else "Sessions"
    page = render_page(view, title=title, made=f"{history.now.astimezone():%Y-%m-%d %H:%M}")
    path = path.expanduser().absolute()
    if not dry_run:
        Disk().replace(path, page.data, path.parent)
    found = {"path": str(path), "sessions": len(view.rows), "bytes": len(page.data), "without_details": page.left_out}
    if as_json:
        print_json(found)
    else:
        would = "would be " if dry_run else ""
        say(f"{path}: {would}{counted(len(view.rows), 'session')}, {megabytes(len(page.data))}")
        if page.left_out:
            say(
                f"to keep it small, {page.left_out:,} sessions have no details in it; --days N leaves out more",
                err=True,
            )
    if open_it and not dry_run:
        import webbrowser

        webbrowser.open(path.as_uri())
