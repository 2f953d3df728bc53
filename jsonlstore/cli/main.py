"""The entry point: global options, lazily loaded commands, the error envelope."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.core.errors import JsonlStoreError, UsageError
from jsonlstore.redact import shown, shown_document

if TYPE_CHECKING:
    from collections.abc import Sequence

# By what they are for, in the order of the help: name, what it does, where it is defined. A module is imported only
# when its command runs, so the lines of the help stand here.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Look back": {
        "recall": ("Find sessions and passages by time and words.", "recall:recall_"),
        "search": ("The same as recall.", "recall:recall_"),
        "list": ("List sessions, latest activity first.", "sessions:list_sessions"),
        "show": ("Show one session.", "sessions:show_session"),
        "chain": ("Show a session and those before it.", "sessions:chain"),
        "stats": ("Count sessions, projects, topics, tasks, tokens.", "stats:stats"),
        "report": ("Write everything kept as one HTML file.", "report:report"),
        "mcp": ("Serve one conversation's past to an MCP client.", "mcp:mcp"),
    },
    "Carry on": {
        "restore": ("Show what a session starting now would get.", "restore:restore"),
        "continue": ("Bring one session back, whatever its age and score.", "restore:continue_"),
        "task": ("List, add, close and reopen tasks.", "task:task"),
        "pin": ("List, add and remove pins.", "pin:pin"),
        "handoff": ("Show where sessions stood, so that the next goes on.", "handoff:handoff"),
        "resume": ("Pick up a handoff.", "handoff:resume"),
        "project": ("Set what a conversation is about.", "handoff:project"),
        "where": ("Show where a session stands right now.", "checkpoints:where"),
        "checkpoint": ("Show the checkpoints recorded while sessions ran.", "checkpoints:checkpoint"),
    },
    "Set up and keep running": {
        "demo": ("Show how it works on made-up sessions.", "demo:demo"),
        "setup": ("Do everything a newcomer needs, asking first.", "setup:setup"),
        "openclaw": ("Install the plugin into OpenClaw, or check it.", "openclaw:openclaw"),
        "service": ("Run the watcher in the background.", "service:service"),
        "watch": ("Follow every transcript in this terminal.", "watch:watch"),
        "backfill": ("Read every transcript there is.", "watch:backfill_transcripts"),
        "config": ("Show the settings and where each came from.", "maintenance:config"),
        "completion": ("Print a shell's completion script.", "maintenance:completion"),
    },
    "Check on it": {
        "status": ("Show what is seen, what is behind, what is wrong.", "status:status"),
        "doctor": ("Check every file, and mend it on request.", "maintenance:doctor"),
        "metrics": ("Summarise what was captured, restored, delivered.", "metrics:metrics"),
        "recover": ("Close sessions that died without an end.", "restore:recover_crashed"),
        "transcripts": ("Look at the transcripts on this machine.", "transcripts:transcripts"),
        "signals": ("Show what would be kept of a transcript, and why.", "signals:signals"),
    },
    "Your data": {
        "forget": ("Remove sessions everywhere they are kept.", "maintenance:forget"),
        "archive": ("Move old sessions to the archive.", "maintenance:archive"),
        "redact": ("Copy text with its secrets hidden.", "redact:redact_command"),
        "export": ("Write sessions for other programs.", "exports:export"),
        "import": ("Take in sessions other programs kept.", "braindb:import_"),
    },
    "For programs": {
        "hook": ("Answer a runtime: JSON in, JSON out.", "restore:hook"),
    },
}
COMMANDS: dict[str, str] = {
    name: f"jsonlstore.cli.{where}" for group in GROUPS.values() for name, (_, where) in group.items()
}


class LazyGroup(click.Group):
    """A group whose commands live in modules that are imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<11}", what) for name, (what, _) in group.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand:
            # click suggests from the commands that are loaded, and here none is
            raise click.NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx) from None


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--state-dir", metavar="DIR", help="OpenClaw's state directory (default: ~/.openclaw).")
@click.option("--config", "config_file", metavar="FILE", help="Read settings from FILE instead of openclaw.json.")
@click.option("-v", "--verbose", is_flag=True, help="Say more on stderr.")
@click.option("--debug", is_flag=True, help="Explain every decision on stderr.")
@click.option("-q", "--quiet", is_flag=True, help="Say only errors on stderr.")
@click.version_option(package_name="jsonlstore", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, /, **options: Any) -> None:
    """Cross-session memory for AI agents on this machine.

    \b
    Example:
      jsonlstore list --days 7
    """
    from jsonlstore.cli.console import app_from_options

    ctx.obj = app_from_options(**options)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code: 0 ok, 1 failed, 2 usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        result = cli.main(arguments, prog_name="jsonlstore", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        click.echo("aborted", err=True)
        return 130  # what a shell reports for Ctrl-C: 128 and the signal's number
    except click.ClickException as problem:
        _show(problem)
        return problem.exit_code
    except BrokenPipeError:
        return 141  # the same for SIGPIPE: `jsonlstore list | head` is no failure worth a message
    except (JsonlStoreError, OSError) as problem:
        if isinstance(problem, OSError) and "--debug" in arguments:
            raise
        return _fail(problem, as_json="--json" in arguments)


def _show(problem: click.ClickException) -> None:
    """What is wrong with the command line, which click quotes as it was given."""
    import io

    told = io.StringIO()
    problem.show(file=told)
    click.echo(shown(told.getvalue()), err=True, nl=False)


def _fail(problem: JsonlStoreError | OSError, *, as_json: bool) -> int:
    from jsonlstore.cli.console import print_error
    from jsonlstore.core.files import file_problem

    problem = file_problem(problem) if isinstance(problem, OSError) else problem
    print_error(problem)
    if as_json:
        import orjson

        click.echo(orjson.dumps({"error": shown_document(problem.to_dict())}).decode())
    return 2 if isinstance(problem, UsageError) else 1
