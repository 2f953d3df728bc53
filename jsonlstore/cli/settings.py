"""`config`: every setting, its value, and where that came from. `completion`: the script for a shell."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import click

from jsonlstore.cli.console import json_option, pass_app, print_json, with_example
from jsonlstore.cli.formatting import table
from jsonlstore.core.config import Config

if TYPE_CHECKING:
    from jsonlstore.cli.app import App


@with_example("jsonlstore config", "jsonlstore config --json | jq .settings.lookback_days")
@click.command("config")
@json_option
@pass_app
def config(app: App, as_json: bool) -> None:
    """The settings in force and where each came from."""
    loaded = app.loaded
    settings = {
        item.name: {
            "value": getattr(loaded.config, item.name),
            "origin": loaded.origins[item.name],
            "default": item.default,
            "help": item.metadata["help"],
        }
        for item in fields(Config)
    }
    if as_json:
        print_json({"state_dir": str(app.state_dir), "settings": settings, "unknown": list(loaded.unknown)})
        return
    rows = [[name, _shown(each["value"]), str(each["origin"])] for name, each in settings.items()]
    table(["setting", "value", "from"], rows, flexible=1)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)


@with_example('eval "$(jsonlstore completion bash)"', "jsonlstore completion fish | source")
@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    from jsonlstore.cli.main import cli

    found = get_completion_class(shell)
    assert found is not None
    script = found(cli, {}, "jsonlstore", "_JSONLSTORE_COMPLETE").source_vars()
    click.echo(found.source_template % script)
