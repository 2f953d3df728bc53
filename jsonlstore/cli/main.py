"""The entry point: global options, lazily loaded commands, the error envelope."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.core.errors import JsonlStoreError, UsageError
from jsonlstore.redact import sanitised

if TYPE_CHECKING:
    from collections.abc import Sequence

# command name -> module that defines it as `command`; a module is imported only when its command runs
COMMANDS: dict[str, str] = {
    "archive": "jsonlstore.cli.maintenance:archive",
    "backfill": "jsonlstore.cli.watch:backfill_transcripts",
    "chain": "jsonlstore.cli.sessions:chain",
    "checkpoint": "jsonlstore.cli.checkpoints:checkpoint",
    "completion": "jsonlstore.cli.maintenance:completion",
    "config": "jsonlstore.cli.maintenance:config",
    "continue": "jsonlstore.cli.restore:continue_",
    "demo": "jsonlstore.cli.demo:demo",
    "doctor": "jsonlstore.cli.maintenance:doctor",
    "export": "jsonlstore.cli.exports:export",
    "forget": "jsonlstore.cli.maintenance:forget",
    "handoff": "jsonlstore.cli.handoff:handoff",
    "hook": "jsonlstore.cli.restore:hook",
    "import": "jsonlstore.cli.braindb:import_",
    "list": "jsonlstore.cli.sessions:list_sessions",
    "mcp": "jsonlstore.cli.mcp:mcp",
    "metrics": "jsonlstore.cli.metrics:metrics",
    "openclaw": "jsonlstore.cli.openclaw:openclaw",
    "pin": "jsonlstore.cli.pin:pin",
    "project": "jsonlstore.cli.handoff:project",
    "recall": "jsonlstore.cli.recall:recall_",
    "recover": "jsonlstore.cli.restore:recover_crashed",
    "redact": "jsonlstore.cli.redact:redact_command",
    "report": "jsonlstore.cli.report:report",
    "restore": "jsonlstore.cli.restore:restore",
    "resume": "jsonlstore.cli.handoff:resume",
    "search": "jsonlstore.cli.recall:recall_",
    "service": "jsonlstore.cli.service:service",
    "setup": "jsonlstore.cli.setup:setup",
    "show": "jsonlstore.cli.sessions:show_session",
    "signals": "jsonlstore.cli.signals:signals",
    "stats": "jsonlstore.cli.stats:stats",
    "status": "jsonlstore.cli.status:status",
    "task": "jsonlstore.cli.task:task",
    "transcripts": "jsonlstore.cli.transcripts:transcripts",
    "watch": "jsonlstore.cli.watch:watch",
    "where": "jsonlstore.cli.checkpoints:where",
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
        problem.show()
        return problem.exit_code
    except BrokenPipeError:
        return 141  # the same for SIGPIPE: `jsonlstore list | head` is no failure worth a message
    except (JsonlStoreError, OSError) as problem:
        if isinstance(problem, OSError) and "--debug" in arguments:
            raise
        return _fail(problem, as_json="--json" in arguments)


def _fail(problem: JsonlStoreError | OSError, *, as_json: bool) -> int:
    from jsonlstore.cli.console import print_error
    from jsonlstore.core.files import file_problem

    problem = file_problem(problem) if isinstance(problem, OSError) else problem
    print_error(problem)
    if as_json:
        import orjson

        click.echo(orjson.dumps({"error": sanitised(problem.to_dict())}).decode())
    return 2 if isinstance(problem, UsageError) else 1
