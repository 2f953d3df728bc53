"""`openclaw install|uninstall|status`: the plugin in OpenClaw's settings."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import answer, command, command_group, print_json, say, with_example
from jsonlstore.cli.formatting import ago, plain, terminal_width
from jsonlstore.cli.status import delivered
from jsonlstore.core.paths import StatePaths, shorten_home

if TYPE_CHECKING:
    from jsonlstore.bridges.openclaw import Installation, Installer, InstallReport, PluginStatus
    from jsonlstore.cli.app import App

openclaw_option = click.option(
    "--openclaw", "named", metavar="PATH", help="The openclaw command or package, if it is not found by itself."
)


def installer_of(app: App) -> Installer:
    """The installer for the OpenClaw of this command line."""
    from jsonlstore.bridges.openclaw import Installer, config_path

    return Installer(StatePaths.of(app.state_dir), config_path(app.state_dir), app.clock)


def installation_of(app: App, named: str | None) -> Installation:
    """The OpenClaw of this command line: the one named, the one that runs, or the one that is found.

    Settings that cannot be read say nothing about it.
    """
    from jsonlstore.bridges.openclaw import NotEditable, config_path, find_openclaw, read_config, running_openclaw

    try:
        settings: Any = read_config(config_path(app.state_dir)).settings
    except NotEditable:
        settings = None  # installing will say what is wrong with them
    running = running_openclaw(StatePaths.of(app.state_dir)) if named is None else None
    return running or find_openclaw(app.state_dir, settings, named=named)


openclaw = command_group(
    "openclaw",
    "Install the plugin that gives every new session of OpenClaw what came before.",
    "jsonlstore openclaw install --dry-run",
    "jsonlstore openclaw status",
)


@with_example("jsonlstore openclaw install --dry-run", "jsonlstore openclaw install --compaction")
@command("install", "--dry-run", "--json", group=openclaw)
@click.option("--via", type=click.Choice(["plugin", "hook"]), default="plugin", show_default=True, help="What to load.")
@click.option("--compaction", is_flag=True, help="Also write OpenClaw's compaction summaries, without a model.")
@openclaw_option
def install_plugin(app: App, via: str, compaction: bool, named: str | None, dry_run: bool, as_json: bool) -> None:
    """Add the plugin to openclaw.json. The file is backed up first, and keeps its comments and order."""
    found = installation_of(app, named)
    outcome = installer_of(app).install(found, via=via, compaction=compaction, dry_run=dry_run)
    if as_json:
        print_json({**asdict(outcome), "dry_run": dry_run, "via": via, "openclaw": found.to_dict()})
        return
    if found.is_known:
        say(found.describe())
    else:
        say("no OpenClaw was found on this machine; if there is one, name it with --openclaw PATH", fg="yellow")
    print_install(outcome, dry_run=dry_run)


def folded(text: str) -> str:
    """A long remark on lines that fit the terminal."""
    return textwrap.fill(plain(text), max(40, terminal_width()), subsequent_indent="  ", break_long_words=False)


def print_install(outcome: InstallReport, *, dry_run: bool) -> None:
    """What was done, what it means, how to undo it."""
    if not outcome.changed:
        say("already installed")
    elif dry_run:
        _print_diff(outcome, "would renew the plugin's files")
    else:
        where = shorten_home(outcome.config_path)
        say(f"installed: {where} names it now" if outcome.settings_changed else "plugin files renewed")
        if outcome.backup:
            say(f"  backup  {shorten_home(outcome.backup)}")
        say("  undo    jsonlstore openclaw uninstall")
        say("A running gateway takes it up by itself in a few seconds; restart one whose")
        say("gateway.reload.mode is off.")
    for note in outcome.notes:
        say(folded(f"warning: {note}"), fg="yellow")


def _print_diff(outcome: InstallReport, files_only: str) -> None:
    say(f"would change {shorten_home(outcome.config_path)}:" if outcome.diff else files_only)
    say(outcome.diff)


@with_example("jsonlstore openclaw uninstall --dry-run", "jsonlstore openclaw uninstall")
@command("uninstall", "--dry-run", "--json", group=openclaw)
def uninstall_plugin(app: App, dry_run: bool, as_json: bool) -> None:
    """Take the plugin out of openclaw.json. It is then byte for byte what it was, unless somebody changed it."""
    outcome = installer_of(app).uninstall(dry_run=dry_run)
    if as_json:
        print_json({**asdict(outcome), "dry_run": dry_run})
        return
    if not outcome.changed:
        say("not installed")
    elif dry_run:
        _print_diff(outcome, "would remove the plugin's files")
    else:
        how = "is what it was, byte for byte" if outcome.exact else "had other changes, which stay; ours are out"
        where = shorten_home(outcome.config_path)
        say(f"removed: {where} {how}" if outcome.settings_changed else "removed the plugin's files")
        say("  what was remembered stays: `jsonlstore list`")
    for note in outcome.notes:
        say(folded(f"note: {note}"))


@with_example("jsonlstore openclaw status", "jsonlstore openclaw status --json")
@command("status", "--json", group=openclaw)
@openclaw_option
def show_plugin_status(app: App, named: str | None, as_json: bool) -> int:
    """Say whether the running gateway loaded the plugin. Also when it was last called. Exit 1 if it does not work."""
    from jsonlstore.bridges.openclaw import plugin_status

    found = plugin_status(StatePaths.of(app.state_dir), named=named)
    answer(as_json, found.to_dict(), lambda: _print_plugin_status(found, app))
    return 1 if found.installed and found.problems else 0


def _print_plugin_status(found: PluginStatus, app: App) -> None:
    now = app.clock()
    say(found.openclaw or "OpenClaw: not found; name it with --openclaw PATH")
    how = f"{found.via} installed" if found.installed else "not installed"
    say(f"settings  {shorten_home(found.config_path)}: {how}")
    if found.installed:
        say(f"gateway   {f'process {found.gateway_pid}' if found.gateway_pid else 'not running'}")
        loaded = f"{'loaded' if found.loaded else 'last loaded'} {ago(found.loaded_at, now)}"
        say(f"plugin    {loaded if found.loaded_at else 'never loaded so far'}")
        result = f", {found.last_result}" if found.last_result else ""
        waited = f", {found.last_wait_ms:.0f} ms" if found.last_wait_ms is not None else ""
        fired = f"{ago(found.last_fired_at, now)}{result}{waited}" if found.last_fired_at else "never so far"
        say(f"fired     {plain(fired)}")
        say(f"delivery  {plain(delivered(found.to_dict(), now)) if found.delivery else 'nothing was given yet'}")
        if found.hook_log:
            say(f"hook log  {shorten_home(found.hook_log)}")
    for problem in found.problems:
        say(folded(f"warning: {problem}"), fg="yellow")
