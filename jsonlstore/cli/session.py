"""What every command shares: the global options, and the things opened from them on first use."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import orjson

from jsonlstore.paths import resolve_state_dir

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Session:
    """One command line's global options."""

    state_dir: Path
    config_file: str | None
    debug: bool

    @classmethod
    def from_options(
        cls, *, state_dir: str | None, config_file: str | None, verbose: bool, debug: bool, quiet: bool
    ) -> Session:
        level = logging.DEBUG if debug else logging.INFO if verbose else logging.ERROR if quiet else logging.WARNING
        logging.basicConfig(level=level, format="%(levelname)s: %(message)s", force=True)
        return cls(resolve_state_dir(state_dir), config_file, debug)


pass_session = click.make_pass_decorator(Session)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Say what would happen and change nothing.")


def print_json(document: Any) -> None:
    """One JSON document on stdout, nothing else."""
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def with_example(*lines: str) -> Callable[[click.Command], click.Command]:
    """End the command's help with an example block."""

    def add(command: click.Command) -> click.Command:
        command.epilog = "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)
        return command

    return add
