"""`recall`: what was I working on last Tuesday?"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.app import App
from jsonlstore.cli.console import answer, command, say, with_example
from jsonlstore.cli.formatting import NO_SESSIONS_HINT, ago, counted, is_terminal, pad, say_folded, say_line, say_value
from jsonlstore.cli.listing import complete_agent, complete_project
from jsonlstore.recall import RecallHit
from jsonlstore.redact import sanitised

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from jsonlstore.recall import Answers, FoundPassage, Question

_TASKS = 3
_TOPICS = 12
_LITERAL = "jsonlstore.recall.literal"
_WITHOUT = "jsonlstore.recall.without"
_EXCLUDED = re.compile(r"-[^\W\d_]{2,}")  # two letters at least: one is an option
_TIMES = ("today", "yesterday", "last", "this", "since", "in", "on", "before", "week", "month", "weekend", "ago")


class _Spoken(click.Command):
    """A command that remembers what stood behind `--` (words, whatever they look like) and words behind a minus."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            cut = args.index("--")
            ctx.meta[_LITERAL] = tuple(args[cut + 1 :])
            args = args[:cut]
        excluded = tuple(word for word in args if _EXCLUDED.fullmatch(word))
        ctx.meta[_WITHOUT] = excluded
        return super().parse_args(ctx, [word for word in args if word not in excluded])


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from jsonlstore.recall import MONTHS, WEEKDAYS

    return [text for text in (*_TIMES, *WEEKDAYS, *MONTHS) if text.startswith(incomplete.lower())]


@with_example(
    "jsonlstore recall last tuesday radio",
    'jsonlstore recall "what was I working on yesterday?"',
    "jsonlstore recall '\"antenna tuner\"' -ebay --since 2026-02-01 --context 2",
    "jsonlstore recall 2026-02-01..2026-02-14 --project lbf-ham-radio",
    "jsonlstore recall -- may",
    "jsonlstore search rebuild",
)
@command("recall", "--now", "--json", cls=_Spoken)
@click.argument("spoken", metavar="[WHEN] [WORDS]...", nargs=-1, shell_complete=_complete)
@click.option(
    "--project", metavar="P", shell_complete=complete_project, help="Only sessions that worked on this project."
)
@click.option("--agent", metavar="A", shell_complete=complete_agent, help="Only this agent's sessions.")
@click.option("--speaker", type=click.Choice(["user", "assistant", "tool"]), help="Only what they said.")
@click.option("--since", metavar="WHEN", help="Only from then on.")
@click.option("--until", metavar="WHEN", help="Only up to then.")
@click.option(
    "--in", "within", type=click.Choice(["sessions", "memory", "all"]), default="sessions", show_default=True,
    help="Look through sessions, the user's memory files, or both.",
)  # fmt: skip
@click.option("--context", type=click.IntRange(0, 50), default=0, metavar="N", help="Show N turns around each passage.")
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), default=10, show_default=True, metavar="N", help="At most N."
)
@click.option("--full", is_flag=True, help="Every passage, topic and task of each session.")
def recall_(app: App, spoken: tuple[str, ...], full: bool, as_json: bool, **options: Any) -> None:
    """Find sessions by time and words, best first, with the passages that answer.

    WHEN is a time as people say it, in the local time zone: yesterday, last tuesday, this morning, in february,
    2026-02, 3 days ago, since monday, 2026-02-01..2026-02-14. Everything else is looked for in what was said, and in
    topics, projects, tasks, notes and pins. Sessions of that time come first. The others are left out only if the
    question is nothing but a time or says "only", or with --since and --until.

    Words in double quotes are a phrase. A word after a minus must not occur. What follows -- is never taken for a time.
    `search rebuild` builds the full-text index again.
    """
    ctx = click.get_current_context()
    if spoken == ("rebuild",) and ctx.info_name == "search":
        _rebuild(app, as_json=as_json)
        return
    from jsonlstore.recall import Search, search_sessions

    words = (*spoken, *ctx.meta.get(_WITHOUT, ()))
    if (safe := sanitised(" ".join(words))) != " ".join(words):
        words = tuple(
            map(sanitised, safe.split())
        )  # the answer repeats the question, and nothing kept matches a secret
    now = app.clock()
    asked = Search(words, literal=tuple(map(sanitised, ctx.meta.get(_LITERAL, ()))), **sanitised(options))
    found = search_sessions(app.open_store(live=False), asked, now=now)
    answer(as_json, [one.to_dict() for one in found.found], lambda: _tell(found, now, full=full))


def _rebuild(app: App, *, as_json: bool) -> None:
    from jsonlstore.core.errors import SearchUnavailable
    from jsonlstore.recall import has_fts5
    from jsonlstore.transcripts import Catalogue
    from jsonlstore.watch import rebuild, skipped_by

    config = app.loaded.config
    if not (config.search_enabled and has_fts5()):
        raise SearchUnavailable(
            "there is no search index: "
            + ("it is switched off" if has_fts5() else "the SQLite of this Python has no FTS5"),
            hint="set `search_enabled: true` in the settings"
            if has_fts5()
            else "recall still looks through topics and tasks",
        )
    count = rebuild(app.open_store(live=False), config, Catalogue.open(app.state_dir, skip=skipped_by(config)).sessions)
    answer(as_json, {"transcripts": count}, lambda: say_line(f"indexed {counted(count, 'transcript')}"))


def _tell(answers: Answers, now: datetime, *, full: bool) -> None:
    asked = _asked(answers.question)
    if answers.found:
        kinds = {isinstance(one, RecallHit) for one in answers.found}
        noun = "session" if kinds == {True} else "memory file" if kinds == {False} else "answer"
        say_folded(f"{counted(len(answers.found), noun)} {asked}", bold=True)
    elif not answers.nearest:
        say_folded(f"nothing to remember {asked}: there are no sessions yet")
        say_folded(NO_SESSIONS_HINT)
    else:
        among = f" among {counted(answers.searched, 'session')}" if answers.searched else ": there is no such session"
        say_folded(f"nothing found {asked}{among}", bold=True)
        say_line("The nearest:")
    for one in answers.found or answers.nearest:
        say()
        if isinstance(one, RecallHit):
            _block(one, now, full=full)
        else:
            say_line(one.file, bold=True)
            _quote(one.passages, full=full)


def _quote(passages: Sequence[FoundPassage], *, full: bool) -> None:
    """The best passage, or each with the turns around it; what was looked for stands between asterisks."""
    for passage in passages if full or any(one.context for one in passages) else passages[:1]:
        if not passage.context:
            _say_turn(passage.speaker, f'"{_marked(passage.text, passage.matches)}"', hit=True)
        for turn in passage.context:
            said = f'"{_marked(str(turn["text"]), passage.matches)}"'
            _say_turn(str(turn["speaker"]), said, hit=turn["entry_id"] == passage.entry_id)


def _say_turn(speaker: str, said: str, *, hit: bool) -> None:
    """Who said it, and all of it, on as many lines as it takes."""
    say_folded(said, indent=" " * 12, label=f"  {pad(speaker, 10)}", **({"fg": "green"} if hit else {}))


def _marked(text: str, matches: Sequence[str]) -> str:
    flat = " ".join(text.split())
    if not matches:
        return flat
    anyone = "|".join(re.escape(word) for word in sorted(matches, key=len, reverse=True))
    return re.sub(rf"(?<!\w)({anyone})(?!\w)", r"*\1*", flat)


def _asked(question: Question) -> str:
    """What was understood: `last tuesday (Tue 2026-11-10), about "radio"`."""
    parts = []
    if question.when is not None:
        parts.append(f"{question.when.said} ({_dates(question)})")
    if question.words:
        # one pair of quotes: words quoted one by one look like a list of values, which loads every rule for secrets
        parts.append(f'about "{", ".join(question.words)}"')
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


def _block(one: RecallHit, now: datetime, *, full: bool) -> None:
    state = one.state
    everything = full or not is_terminal()  # whoever reads a pipe cannot ask for more
    topics, tasks = (None, None) if everything else (_TOPICS, _TASKS)
    say_line(f"{_span(one)}  ({'open' if state.end_time is None else ago(state.end_time, now)})", bold=True)
    say_value("session", ", ".join(filter(None, (state.session_id, state.channel, state.agent_id))))
    for label, words in (("projects", state.active_projects), ("topics", state.hot_topics)):
        if words:
            say_value(label, ", ".join(words[:topics]))
    if one.passages:
        _quote(one.passages, full=full)
    elif one.matches:
        say_value("because", "; ".join(one.matches), fg="green")
    for number, task in enumerate(state.pending_tasks[:tasks]):
        stage = f" ({task.stage})" if task.stage else ""
        say_value("" if number else "to do", f"[{task.task_id}] {task.title}{stage}")
    if tasks is not None and len(state.pending_tasks) > tasks:
        say_value("", f"… and {len(state.pending_tasks) - tasks} more (--full shows all)", dim=True)
    if state.next_step:
        say_value("next", state.next_step)


def _span(one: RecallHit) -> str:
    """`Tue 2026-11-10 14:02-15:30`, by the wall clock; both days where there are two."""
    start, end = one.start.astimezone(), one.end.astimezone()
    until = f"{end:%H:%M}" if start.date() == end.date() else f" {end:%a %Y-%m-%d %H:%M}"
    return f"{start:%a %Y-%m-%d %H:%M}-{until}".replace("- ", " - ")
