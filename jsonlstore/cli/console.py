"""What every command shares with click: common options, and output for people and for programs."""

from __future__ import annotations

import os
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click
import orjson

from jsonlstore.cli.app import App
from jsonlstore.core.clock import parse_time
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.paths import resolve_state_dir
from jsonlstore.redact import shown, shown_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

C = TypeVar("C", bound=click.Command)

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def app_from_options(*, state_dir: str | None, config_file: str | None, verbose: bool, debug: bool, quiet: bool) -> App:
    """The app of one command line, with logging set up as its options say."""
    level = "DEBUG" if debug else "INFO" if verbose else "ERROR" if quiet else "WARNING"
    from jsonlstore.redact import log_to_stderr

    log_to_stderr(level)
    return App(resolve_state_dir(state_dir), config_file, debug=debug)


pass_app = click.make_pass_decorator(App)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Say what would happen and change nothing.")


def _set_now(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    if value is None:
        return
    try:
        moment = parse_time(value)
    except ValueError as problem:
        raise click.BadParameter("must be an ISO 8601 time such as 2026-02-14T09:00:00Z") from problem
    if not 1 < moment.year < 9999:  # there must be a day before and after it, in every time zone
        raise click.BadParameter("must lie between the years 2 and 9998")
    ctx.find_object(App).now = moment  # type: ignore[union-attr]  # the root group always makes one


now_option = click.option(
    "--now", metavar="ISO", callback=_set_now, expose_value=False, help="Pretend it is this time."
)
_SHARED = {"--json": json_option, "--dry-run": dry_run_option, "--now": now_option}


class Duration(click.ParamType[timedelta]):
    """`30d`, `12h`, `2w`, `90m`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        found = re.fullmatch(r"(\d{1,6})\s*([mhdw])", str(value).strip().lower())
        if not found:
            self.fail(f"{value!r} is not a duration such as 30d, 12h or 2w", param, ctx)
        return timedelta(**{_UNITS[found[2]]: int(found[1])})


def print_json(document: Any) -> None:
    """One JSON document on stdout, nothing else, and no secret in it."""
    document = shown_document(document)
    try:
        text = orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        import json

        try:
            # what others wrote may be deeper nested, longer numbers or half characters, which orjson refuses
            text = json.dumps(document)
        except RecursionError as problem:
            raise JsonlStoreError("a record is nested too deeply to be printed") from problem
    click.echo(text)


def answer(as_json: bool, document: Any, tell: Callable[[], object]) -> None:
    """Give a command's result: the document to programs, or to people what `tell` prints."""
    if as_json:
        print_json(document)
    else:
        tell()


def print_error(problem: JsonlStoreError) -> None:
    """An error on stderr, and what to do about it."""
    from jsonlstore.cli.formatting import plain, say_folded

    # a message may quote what it complains about
    say_folded(plain(f"error: {problem.message}"), indent="  ", err=True)
    if problem.hint:
        first, *lines = f"hint: {problem.hint}".split("\n")
        say_folded(first, indent="  ", err=True)
        if lines:
            say("\n".join(lines), err=True)  # lines to paste stay as they are


def say(text: str = "", *, err: bool = False, redacted: bool = False, **style: Any) -> None:
    """Lines for people: styled on a terminal, plain in a pipe, and nothing in them that a terminal would obey.

    What a command was given may be in them, so they pass the redactor too, unless they just have as a whole.
    """
    from jsonlstore.cli.formatting import plain

    lines = "\n".join(map(plain, (text if redacted else shown(text)).split("\n")))
    click.echo(click.style(lines, **style) if style and lines else lines, err=err, color=_colour())


def _colour() -> bool | None:
    """What the environment wants: colour, none, or None for whatever suits the terminal."""
    env = os.environ
    if env.get("NO_COLOR"):
        return False
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        if env.get(name, "0") not in ("", "0", "false"):
            return True
    if env.get("CLICOLOR") == "0" or env.get("FORCE_COLOR") in ("0", "false") or env.get("TERM") == "dumb":
        return False
    return None


def progress(label: str) -> Callable[[int, int], None]:
    """A progress line on stderr, on a terminal only, gone when the work is done; for work whose length is known."""
    if not os.isatty(2):
        return lambda _done, _total: None

    def show(done: int, total: int) -> None:
        if total and (done == total or done % max(1, total // 200) == 0):
            text = f"{label}: {done:,} of {total:,}" if done < total else ""
            click.echo(f"\r\x1b[K{text}", nl=False, err=True)

    return show


def with_example(*lines: str) -> Callable[[C], C]:
    """End the command's help with an example block."""

    def add(command: C) -> C:
        command.epilog = "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)
        return command

    return add


def command(
    name: str,
    *shared: str,
    group: click.Group | None = None,
    cls: type[click.Command] = click.Command,
) -> Callable[[Callable[..., Any]], click.Command]:
    """A command whose function gets the `App` first, with the `shared` options behind its own."""

    def make(function: Callable[..., Any]) -> click.Command:
        made = click.command(name, cls=cls)(pass_app(function))
        for option in shared:
            _SHARED[option](made)  # on a finished command an option goes to the end of its list
        if group is not None:
            group.add_command(made)
        return made

    return make


class WholeWords(click.HelpFormatter):
    """Help texts whose lines never break inside a word such as `session-task`, which somebody may want to type."""

    _HYPHEN = re.compile(r"(?<=\w)-(?=\w)")
    _KEPT = "\u2011"  # a hyphen that no line breaks at, for as long as lines are made

    def write_text(self, text: str) -> None:
        super().write_text(self._HYPHEN.sub(self._KEPT, text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(term, self._HYPHEN.sub(self._KEPT, text)) for term, text in rows], col_max, col_spacing)

    def getvalue(self) -> str:
        return super().getvalue().replace(self._KEPT, "-")


click.Context.formatter_class = WholeWords


class _GroupWithDefault(click.Group):
    """Runs one of its subcommands when none is named."""

    default = ""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        unnamed = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        return super().parse_args(ctx, [self.default, *args] if unnamed else args)


def command_group(name: str, help_text: str, *examples: str, default: str | None = None) -> click.Group:
    """A command that has subcommands and does nothing by itself, or what its default one does."""
    if default is None:
        return with_example(*examples)(click.Group(name, help=help_text))
    group = _GroupWithDefault(name, help=help_text)
    group.default = default
    return with_example(*examples)(group)
