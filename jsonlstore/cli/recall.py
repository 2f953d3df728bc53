"""`recall`: what was I working on last Tuesday?"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from jsonlstore.cli.app import App
from jsonlstore.cli.console import json_option, now_option, pass_app, print_json, say, with_example
from jsonlstore.cli.formatting import ago, counted, say_folded, say_line, say_value

if TYPE_CHECKING:
    from datetime import datetime

    from jsonlstore.recall.question import Question
    from jsonlstore.recall.search import RecallHit, RecallResult

_TASKS = 3
_LITERAL = "jsonlstore.recall.literal"
_TIMES = ("today", "yesterday", "last", "this", "since", "in", "on", "before", "week", "month", "weekend", "ago")


class _Spoken(click.Command):
    """A command that remembers what stood behind `--`: those are words, whatever they look like."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            cut = args.index("--")
            ctx.meta[_LITERAL] = tuple(args[cut + 1 :])
            args = args[:cut]
        return super().parse_args(ctx, args)


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from jsonlstore.recall.calendar import MONTHS, WEEKDAYS

    return [text for text in (*_TIMES, *WEEKDAYS, *MONTHS) if text.startswith(incomplete.lower())]


def _complete_project(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The projects there are. Completion only parsed the global options: no app was made of them."""
    from jsonlstore.core.paths import resolve_state_dir

    given = ctx.find_root().params
    app = App(resolve_state_dir(given.get("state_dir")), given.get("config_file"), lenient=True)
    store = app.open_store(live=False)
    names = {name for entry in store.entries() for name in entry.active_projects}
    return sorted(name for name in names if name.lower().startswith(incomplete.lower()))


@with_example(
    "jsonlstore recall last tuesday radio",
    'jsonlstore recall "what was I working on yesterday?"',
    "jsonlstore recall 2026-02-01..2026-02-14 --project lbf-ham-radio",
    "jsonlstore recall -- may",
)
@click.command("recall", cls=_Spoken)
@click.argument("spoken", metavar="[WHEN] [WORDS]...", nargs=-1, shell_complete=_complete)
@click.option(
    "--project", metavar="P", shell_complete=_complete_project, help="Only sessions that worked on this project."
)
@click.option("--agent", metavar="A", help="Only this agent's sessions.")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, metavar="N", help="At most N.")
@now_option
@json_option
@pass_app
@click.pass_context
def recall_(ctx: click.Context, /, app: App, spoken: tuple[str, ...], project: str | None,
            agent: str | None, limit: int, as_json: bool) -> None:  # fmt: skip
    """Sessions by time and words, best first.

    WHEN is a time as people say it, in the local time zone: yesterday, last tuesday, this morning, in february,
    2026-02, 3 days ago, since monday, 2026-02-01..2026-02-14. Everything else is looked for in topics, projects,
    tasks, notes and pins. What stands in double quotes or behind -- is a word and never a time.
    """
    from jsonlstore.recall.question import read_question
    from jsonlstore.recall.search import recall

    now = app.clock()
    question = read_question(spoken, now, literal=ctx.meta.get(_LITERAL, ()))
    recalled = recall(app.open_store(live=False), question, now=now, project=project, agent=agent, limit=limit)
    if as_json:
        print_json([one.to_dict() for one in recalled.found])
    else:
        _tell(recalled, question, now)


def _tell(recalled: RecallResult, question: Question, now: datetime) -> None:
    asked = _asked(question)
    if recalled.found:
        say_folded(f"{counted(len(recalled.found), 'session')} {asked}", bold=True)
    elif not recalled.nearest:
        say_folded(f"nothing to remember {asked}: there are no sessions yet")
        say_folded("`jsonlstore backfill` reads the history there is; `jsonlstore demo` shows how it works")
    else:
        say_folded(f"nothing found {asked} among {counted(recalled.searched, 'session')}", bold=True)
        say_line("The nearest:")
    for one in recalled.found or recalled.nearest:
        say()
        _block(one, now)


def _asked(question: Question) -> str:
    """What was understood: `last tuesday (Tue 2026-11-10), about "radio"`."""
    parts = []
    if question.when is not None:
        parts.append(f"{question.when.said} ({_dates(question)})")
    if question.words:
        parts.append("about " + ", ".join(f'"{word}"' for word in question.words))
    return ", ".join(parts) or "of late"


def _dates(question: Question) -> str:
    assert question.when is not None
    start, end = question.when.start.astimezone(), question.when.end.astimezone()
    if start.year == 1970:
        return f"until {end:%a %Y-%m-%d %H:%M}"
    if (start.hour, start.minute, end.hour, end.minute) == (0, 0, 0, 0):
        last = end - timedelta(hours=12)
        first, until = f"{start:%a %Y-%m-%d}", f"{last:%a %Y-%m-%d}"
        return first if first == until else f"{first} to {until}"
    return f"{start:%a %Y-%m-%d %H:%M} to {end:%a %Y-%m-%d %H:%M}"


def _block(one: RecallHit, now: datetime) -> None:
    state = one.state
    say_line(f"{_span(one)}  ({'open' if state.end_time is None else ago(state.end_time, now)})", bold=True)
    say_value("session", ", ".join(filter(None, (state.session_id, state.channel, state.agent_id))))
    for label, words in (("projects", state.active_projects), ("topics", state.hot_topics)):
        if words:
            say_value(label, ", ".join(words[:12]))
    if one.matches:
        say_value("because", "; ".join(one.matches), fg="green")
    for number, task in enumerate(state.pending_tasks[:_TASKS]):
        stage = f" ({task.stage})" if task.stage else ""
        say_value("" if number else "to do", f"[{task.task_id}] {task.title}{stage}")
    if len(state.pending_tasks) > _TASKS:
        say_value("", f"… and {len(state.pending_tasks) - _TASKS} more", dim=True)
    if state.next_step:
        say_value("next", state.next_step)


def _span(one: RecallHit) -> str:
    """`Tue 2026-11-10 14:02-15:30`, by the wall clock; both days where there are two."""
    start, end = one.start.astimezone(), one.end.astimezone()
    until = f"{end:%H:%M}" if start.date() == end.date() else f" {end:%a %Y-%m-%d %H:%M}"
    return f"{start:%a %Y-%m-%d %H:%M}-{until}".replace("- ", " - ")
