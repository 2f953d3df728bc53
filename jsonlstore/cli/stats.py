"""`stats`: what is kept, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import answer, command, say, with_example
from jsonlstore.cli.formatting import (
    NO_SESSIONS_HINT,
    ago,
    counted,
    cut_to_width,
    heading,
    pad,
    say_folded,
    say_line,
    say_value,
    table,
    window_use,
)

if TYPE_CHECKING:
    from datetime import datetime

    from jsonlstore.cli.app import App
    from jsonlstore.report import History, Statistics

_SHOWN = 8  # rows of each list: the document has them all
_SPARKS = " ▁▂▃▄▅▆▇█"


@with_example("jsonlstore stats --days 30", "jsonlstore stats --json | jq .open_tasks.by_age")
@command("stats", "--now", "--json")
@click.option("--days", type=click.FloatRange(min=0), metavar="N", help="Only sessions active in the last N days.")
@click.option("--project", metavar="P", help="Only sessions that worked on this project.")
def stats(app: App, days: float | None, project: str | None, as_json: bool) -> None:
    """Count sessions per week, projects, topics over time, open tasks by age, tokens and flushes."""
    from jsonlstore.report import count_history

    found = count_history(history_of(app, days, project))
    answer(as_json, found.to_dict(), lambda: _print(found, app.clock()))


def history_of(app: App, days: float | None, project: str | None) -> History:
    """The sessions asked for, with the compactions that the runtimes count."""
    from jsonlstore.bridges.openclaw import arrivals
    from jsonlstore.report import read_history
    from jsonlstore.restore import Pipeline

    store = app.open_store(live=False)
    pipeline = Pipeline.read(store.paths, app.loaded.config)
    return read_history(
        store, pipeline, app.clock(), days=days, project=project, compactions=_compactions(app),
        arrivals=arrivals(store.paths),
    )  # fmt: skip


def _compactions(app: App) -> dict[str, int]:
    """By session, as the runtimes count them."""
    from jsonlstore.transcripts import Catalogue
    from jsonlstore.watch import skipped_by

    catalogue = Catalogue.open(app.state_dir, skip=skipped_by(app.loaded.config))
    return {one.session_id: one.compactions for one in catalogue.sessions if one.compactions is not None}


def _print(found: Statistics, now: datetime) -> None:
    total = found.sessions
    if not total["total"]:
        filtered = found.days is not None or found.project is not None
        say("no session fits these options" if filtered else "there are no sessions yet", err=True)
        say_folded("`jsonlstore list` shows what there is" if filtered else NO_SESSIONS_HINT, err=True)
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
    _print_topics(found)
    _print_tasks(found.open_tasks, now)
    _print_tokens(found.tokens)
    _print_given(found)


def _print_topics(found: Statistics) -> None:
    """A line a topic, its sessions of each of the last weeks as a row of bars; topics of one session say nothing."""
    recent = [week["week"] for week in found.weeks[-26:]]
    rows = [row for row in found.topics if row["sessions"] > 1][:_SHOWN]
    if not rows:
        return
    heading(f"Topics, week by week since {recent[0]}")
    most = max((row["weeks"].get(week, 0) for row in rows for week in recent), default=0) or 1
    for row in rows:
        bars = "".join(_SPARKS[-(-8 * row["weeks"].get(week, 0) // most)] for week in recent)
        name = pad(cut_to_width(row["topic"], 24), 24)
        say_line(f"  {name} {row['sessions']:>4,}  {bars}".rstrip())


def _print_given(found: Statistics) -> None:
    restores, flushes = found.restores, found.flushes
    if restores["total"]:
        heading("Restored")
        say_value("restores", f"{restores['total']:,} into {counted(restores['sessions'], 'session')}")
        say_value("brought", f"{counted(restores['tasks'], 'task')}, {counted(restores['pins'], 'pin')}")
        say_value("arrived", f"{restores['arrived']:,} seen in what the model was sent, {restores['missed']:,} missed")
    if flushes["offered"] or flushes["actioned"]:
        heading("Flushes")
        say_value("offered", f"{flushes['offered']:,}")
        say_value("actioned", f"{flushes['actioned']:,}")


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
