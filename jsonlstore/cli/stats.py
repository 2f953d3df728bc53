"""`stats`: what is kept, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import answer, command, say, with_example
from jsonlstore.cli.formatting import ago, counted, heading, say_line, say_value, table, window_use

if TYPE_CHECKING:
    from datetime import datetime

    from jsonlstore.cli.app import App
    from jsonlstore.recall.stats import Statistics

_SHOWN = 8  # rows of each list: the document has them all


@with_example("jsonlstore stats --days 30", "jsonlstore stats --json | jq .open_tasks.by_age")
@command("stats", "--now", "--json")
@click.option("--days", type=click.FloatRange(min=0), metavar="N", help="Only sessions alive in the last N days.")
def stats(app: App, days: float | None, as_json: bool) -> None:
    """Sessions per week, projects, open tasks by age, and how full contexts became."""
    from jsonlstore.recall.stats import statistics

    now = app.clock()
    found = statistics(app.open_store(), app.loaded.config, now, days=days, compactions=_compactions(app))
    answer(as_json, found.to_dict(), lambda: _print(found, now))


def _compactions(app: App) -> dict[str, int]:
    """By session, as the runtimes count them."""
    from jsonlstore.transcripts.catalogue import Catalogue
    from jsonlstore.watch.tail import skipped_by

    catalogue = Catalogue.open(app.state_dir, skip=skipped_by(app.loaded.config))
    return {one.session_id: one.compactions for one in catalogue.sessions if one.compactions is not None}


def _print(found: Statistics, now: datetime) -> None:
    total = found.sessions
    if not total["total"]:
        say("no sessions like that" if found.days is not None else "no sessions yet", err=True)
        say("`jsonlstore backfill` reads the history there is", err=True)
        return
    heading("Sessions")
    say_value("kept", f"{total['total']:,}, {total['open']:,} open, {total['crashed']:,} recovered after a crash")
    most = max(week["sessions"] for week in found.weeks) if found.weeks else 0
    for week in found.weeks[-_SHOWN:]:
        bar = "#" * round(20 * week["sessions"] / most)
        say_line(f"  week of {week['week']}  {week['sessions']:>5,}  {bar}".rstrip())
    if found.projects:
        heading("Projects")
        rows = [[f"  {row['project']}", f"{row['sessions']:,}", ago(row["last"], now)] for row in found.projects]
        table(["  project", "sessions", "last"], rows[:_SHOWN], flexible=0)
    _print_tasks(found.open_tasks, now)
    _print_tokens(found.tokens)


def _print_tasks(tasks: dict[str, Any], now: datetime) -> None:
    heading("Open tasks")
    if not tasks["total"]:
        say_line("  none")
        return
    for name, number in tasks["by_age"].items():
        if number:
            say_value(name, f"{number:,}", columns=15)
    oldest = tasks["tasks"][0]
    say_line(f"  the oldest, {ago(oldest['since'], now)}: {oldest['title'] or oldest['task_id']}")


def _print_tokens(tokens: dict[str, Any]) -> None:
    if not tokens["per_session"]:
        return
    heading("Tokens")
    if tokens["sessions"]:
        say_value("median", f"{tokens['median']:,} of {counted(tokens['sessions'], 'session')}")
    say_value("compacted", counted(tokens["compactions"], "time"))
    for row in tokens["per_session"][:3]:
        if row["used"] is not None:
            say_line(f"  {row['session_id'][:13]}  {window_use(row)}")
