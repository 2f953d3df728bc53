"""`service`: keep the watcher running in the background, as the user's own service."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from jsonlstore.cli.console import command, command_group, print_json, with_example
from jsonlstore.cli.formatting import DISABLED, ENABLE_HINT, say_folded
from jsonlstore.core.errors import JsonlStoreError

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.cli.app import App
    from jsonlstore.core.config import Config
    from jsonlstore.watch import Service

_FINDS_DATABASES = ("CORTEX_DATA_DIR",)

LINGERS = "it goes on after you log out (lingering is on); `jsonlstore service uninstall` undoes that, too"
STOPS_AT_LOGOUT = (
    "it stops when you log out and catches up when you log in again; `jsonlstore service install --linger` keeps it "
    "running"
)

kind_option = click.option("--kind", type=click.Choice(["systemd", "launchd"]), help="Default: what this machine has.")


def service_of(app: App, kind: str | None = None) -> Service:
    """The watcher's service on this machine, with what it needs of this command line and environment."""
    from jsonlstore.watch import KINDS, default_kind

    config = app.loaded.config
    return KINDS[kind or default_kind()](
        app.state_dir,
        config_file=app.config_file,
        sessions_dir=config.sessions_dir,
        databases=_databases(app.state_dir, config),
        # a service does not inherit the environment of the shell that installs it
        environment={name: os.environ[name] for name in _FINDS_DATABASES if os.environ.get(name)},
    )


def _databases(state_dir: Path, config: Config) -> list[Path]:
    """The databases of Cortex's that the watcher brings up to date, as things stand now."""
    from jsonlstore.bridges.braindb import is_in_use, metrics_db, resolve_brain_db

    brain = resolve_brain_db(config, state_dir)
    used = [(brain, is_in_use(config, brain)), (metrics_db(state_dir), config.metrics_db)]
    return [path for path, wanted in used if wanted]


service = command_group(
    "service",
    "Run the watcher as a user service (systemd or launchd).",
    "jsonlstore service install",
    "jsonlstore service status",
)


@with_example("jsonlstore service install --dry-run")
@command("install", "--dry-run", group=service)
@kind_option
@click.option("--linger", is_flag=True, help="Keep it running after you log out, too (systemd; `uninstall` undoes it).")
def install_service(app: App, kind: str | None, linger: bool, dry_run: bool) -> None:
    """Write the service file, start the watcher now and at every login."""
    made = service_of(app, kind)
    if dry_run:
        click.echo(f"would write {made.path} and start it" + (" and enable lingering" if linger else ""))
        return
    if not app.loaded.config.enabled:
        raise JsonlStoreError(DISABLED, hint=ENABLE_HINT)
    noted = made.install()
    click.echo(f"installed and started: {made.path}")
    for note in noted:
        say_folded(f"warning: {note}", indent="  ", err=True)
    if linger and made.lingers() is not True:
        made.keep_after_logout()
        say_folded(LINGERS)
    elif made.lingers() is False:
        say_folded(STOPS_AT_LOGOUT)


@with_example("jsonlstore service uninstall")
@command("uninstall", "--dry-run", group=service)
@kind_option
def uninstall_service(app: App, kind: str | None, dry_run: bool) -> None:
    """Stop the watcher and remove every trace of the service. What was remembered stays."""
    made = service_of(app, kind)
    if dry_run:
        click.echo(f"would stop the watcher and remove {made.path}")
        return
    click.echo(f"removed {made.path}" if made.uninstall() else "there was no service")
    if made.undo_linger():
        click.echo("lingering, which we had switched on, is off again")


@with_example("jsonlstore service status --json")
@command("status", "--json", group=service)
@kind_option
def service_status(app: App, kind: str | None, as_json: bool) -> int:
    """Say whether the service is installed and running. Exit 1 if it is installed and does not run."""
    told = service_of(app, kind).status()
    if as_json:
        print_json(asdict(told))
    else:
        click.echo(f"{told.path}: {'installed' if told.installed else 'not installed'}, {told.detail}")
        if told.installed and not told.current:
            say_folded("it was written by another version or for other options: `jsonlstore service install` renews it")
    return 1 if told.installed and not told.active else 0


@with_example("jsonlstore service print --kind systemd")
@command("print", group=service)
@kind_option
def print_service(app: App, kind: str | None) -> None:
    """Show the service file without writing it."""
    click.echo(service_of(app, kind).text().decode(), nl=False)
