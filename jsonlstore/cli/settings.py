"""`config`: every setting, its value, and where that came from."""

from __future__ import annotations

from dataclasses import fields

import click

from jsonlstore.cli.app import Session, json_option, pass_session, print_json, with_example
from jsonlstore.cli.formatting import table
from jsonlstore.core.config import Config


@with_example("jsonlstore config", "jsonlstore config --json | jq .settings.lookback_days")
@click.command("config")
@json_option
@pass_session
def config(session: Session, as_json: bool) -> None:
    """The settings in force and where each came from."""
    loaded = session.loaded
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
        print_json({"state_dir": str(session.state_dir), "settings": settings, "unknown": list(loaded.unknown)})
        return
    rows = [[name, _shown(each["value"]), str(each["origin"])] for name, each in settings.items()]
    table(["setting", "value", "from"], rows, flexible=1)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)
