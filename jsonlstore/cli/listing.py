"""What every listing of sessions has in common: its options, what they leave out, and completion of ids and names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jsonlstore.cli.app import App
from jsonlstore.cli.console import say
from jsonlstore.cli.formatting import counted
from jsonlstore.core.clock import format_time, time_before
from jsonlstore.core.errors import JsonlStoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from jsonlstore.store import IndexEntry, SessionStore

T = TypeVar("T")
_COMPLETED = 50  # ids offered at a time: a shell asks before it shows more


@dataclass(frozen=True, slots=True)
class Filters:
    """Which sessions a listing shows."""

    days: float | None = None
    since: str | None = None
    until: str | None = None
    agent: str | None = None
    project: str | None = None

    def __bool__(self) -> bool:
        return any(given is not None for given in (self.days, self.since, self.until, self.agent, self.project))

    def apply(self, store: SessionStore, now: datetime) -> list[IndexEntry]:
        """The sessions that pass, latest activity first."""
        entries = (_as_logged(store, entry) for entry in store.entries())
        start = time_before(now, timedelta(days=self.days)) if self.days is not None else ""
        end = None
        if self.since is not None or self.until is not None:
            from jsonlstore.recall import time_limits

            limits = time_limits(self.since, self.until, now)
            assert limits is not None
            start, end = max(start, format_time(limits.start)), format_time(limits.end)
        found = [entry for entry in entries if self._is_of(entry) and _was_active(entry, start, end)]
        return sorted(found, key=lambda entry: (last_active(entry), entry.session_id), reverse=True)

    def _is_of(self, entry: IndexEntry) -> bool:
        project = self.project.lower() if self.project is not None else None
        return (self.agent is None or entry.agent_id == self.agent) and (
            project is None or project in (each.lower() for each in entry.active_projects)
        )


def last_active(entry: IndexEntry) -> str:
    """When a session ended, or was last heard of."""
    # a closing or a link may be written long after the end: that is no activity
    return max(entry.end_time or entry.updated_at or "", entry.start_time)


def _as_logged(store: SessionStore, entry: IndexEntry) -> IndexEntry:
    """The entry with what the log of an open session knows besides: the index is only written at its boundaries."""
    if entry.end_time is not None:
        return entry
    try:
        state = store.get(entry.session_id)
    except JsonlStoreError:
        return entry  # removed since, or unreadable: the index is all there is
    return entry._replace(
        updated_at=state.updated_at,
        hot_topics=state.hot_topics,
        active_projects=state.active_projects,
        pending_task_count=len(state.pending_tasks),
        pin_count=len(state.working_memory),
    )


def _was_active(entry: IndexEntry, start: str, end: str | None) -> bool:
    # an open session is still active, however long ago its last turn was
    began_in_time = end is None or entry.start_time < end
    return began_in_time and (entry.end_time is None or last_active(entry) >= start)


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--days`, `--since`, `--until`, `--agent`, `--project` for a command that takes them as keyword arguments."""
    for option in reversed(
        (
            click.option(
                "--days", type=click.FloatRange(min=0), metavar="N", help="Only sessions active in the last N days."
            ),
            click.option("--since", metavar="WHEN", help="Only sessions active since then: 7d, 2026-02-01."),
            click.option("--until", metavar="WHEN", help="Only sessions that began before then."),
            click.option("--agent", metavar="A", shell_complete=complete_agent, help="Only this agent's sessions."),
            click.option(
                "--project", metavar="P", shell_complete=complete_project,
                help="Only sessions that worked on this project.",
            ),
        )
    ):  # fmt: skip
        command = option(command)
    return command


def limit_option(default: int) -> Callable[..., Any]:
    """`-n`, `--limit`."""
    return click.option(
        "-n", "--limit", type=click.IntRange(min=1), default=default, show_default=True, metavar="N", help="At most N."
    )


def span_options(default: int) -> Callable[..., Any]:
    """`--since`, `--until` and `-n` for a listing that takes them as keyword arguments, to make a `Span` of."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        command = limit_option(default)(command)
        command = click.option("--until", metavar="WHEN", help="Only up to then.")(command)
        return click.option("--since", metavar="WHEN", help="Only from then on: 7d, yesterday, 2026-02-01.")(command)

    return add


@dataclass(frozen=True, slots=True)
class Span:
    """The stretch of time a listing shows, and how much of it."""

    since: str | None
    until: str | None
    limit: int

    def pick(self, items: Iterable[T], at: Callable[[T], str | None], now: datetime, what: str) -> list[T]:
        """The items of that time, in their order; of too many the newest, and a line on stderr that there are more."""
        found = list(items)
        if self.since is not None or self.until is not None:
            from jsonlstore.recall import time_limits

            limits = time_limits(self.since, self.until, now)
            assert limits is not None
            start, end = format_time(limits.start), format_time(limits.end)
            found = [one for one in found if start <= (at(one) or format_time(now)) < end]
        if len(found) <= self.limit:
            return found
        say(f"{self.limit:,} of {counted(len(found), what)}; -n {len(found)} shows all", err=True)
        newest = sorted(range(len(found)), key=lambda place: (at(found[place]) or "", place), reverse=True)[
            : self.limit
        ]
        return [found[place] for place in sorted(newest)]


def complete_project(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The projects that sessions worked on."""
    return _starting(incomplete, (name for entry in _entries(ctx) for name in entry.active_projects))


def complete_agent(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The agents that have sessions."""
    return _starting(incomplete, (entry.agent_id for entry in _entries(ctx) if entry.agent_id))


def complete_session(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    """The latest sessions whose id begins so, each with what it was about."""
    from click.shell_completion import CompletionItem

    found = sorted(_entries(ctx), key=last_active, reverse=True)
    matching = [entry for entry in found if entry.session_id.startswith(incomplete)][:_COMPLETED]
    return [
        CompletionItem(entry.session_id, help=", ".join([*entry.active_projects[:1], *entry.hot_topics[:3]]))
        for entry in matching
    ]


def _entries(ctx: click.Context) -> list[IndexEntry]:
    """The sessions of the state directory. While a shell completes, click parses the options but makes no app."""
    from jsonlstore.core.paths import resolve_state_dir

    given = ctx.find_root().params
    app = App(resolve_state_dir(given.get("state_dir")), given.get("config_file"), lenient=True)
    return list(app.open_store(live=False).entries())


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if name.lower().startswith(incomplete.lower())})
