"""`status`: what is seen, how far behind we are, and what is wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import answer, command, say, with_example
from jsonlstore.cli.formatting import ago, counted, heading, megabytes, say_folded, say_line, say_value, window_use
from jsonlstore.core.paths import shorten_home

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from jsonlstore.cli.app import App
    from jsonlstore.watch import Status

NO_WATCHER = "no watcher is running"


@with_example("jsonlstore status", "jsonlstore status --expect-watcher --json")
@command("status", "--now", "--json")
@click.option("--expect-watcher", is_flag=True, help="Fail if no watcher is running.")
def status(app: App, expect_watcher: bool, as_json: bool) -> int:
    """Show what jsonlstore sees, how far behind it is, and what is wrong.

    Exit 1 if something cannot be read or written, or waits unread for more than `status.max_lag_minutes`.
    """
    found = collect_status(app)
    answer(as_json, found.document, lambda: print_status(found.document, app.clock()))
    return 1 if found.failed or (expect_watcher and not found.watching) else 0


def collect_status(app: App) -> Status:
    """How everything stands, the bridges included."""
    from jsonlstore.bridges.braindb import brain_db_status
    from jsonlstore.bridges.openclaw import plugin_status
    from jsonlstore.watch import status_of

    store = app.open_store()
    brain = brain_db_status(store, app.loaded.config)
    plugin = plugin_status(store.paths)
    bridges = {
        "brain_db": brain.to_dict() if brain.enabled else None,
        "openclaw_plugin": plugin.to_dict() if plugin.installed else None,
    }
    noted = [f"OpenClaw {plugin.via}: {problem}" for problem in plugin.problems] if plugin.installed else []
    return status_of(
        store, app.loaded.config, app.clock(), bridges, [*noted, *([brain.warning] if brain.warning else [])]
    )


def print_status(document: dict[str, Any], now: datetime, *, advise_watcher: bool = True) -> None:
    """What is seen, what is kept, who is watching, and what is wrong."""
    heading("Sources")
    for row in document["sources"]:
        _print_source(row, document["warnings"], now)
    if not document["sources"]:
        say_line(f"  no transcripts found under {shorten_home(document['state_dir'])}/agents")
    heading("Store")
    kept = document["store"]
    say_value("where", shorten_home(f"{document['state_dir']}/sessions"))
    counts = f"{counted(kept['sessions'], 'session')}, {kept['active']:,} open, {kept['crashed']:,} ended by a crash"
    say_value("holds", f"{counts}, {megabytes(kept['bytes'])}")
    pipeline = document["pipeline"]
    if pipeline["state"] != "ok":
        say_value(
            "pipeline",
            f"{shorten_home(pipeline['path'])} is {pipeline['state']}; tasks of a pipeline stay open until it is there",
        )
    if document["context"]:
        heading("Context windows")
    for row in document["context"]:
        say_line(f"  {row['session_id'][:13]}  {window_use(row)}")
    _print_watcher(document["watcher"], now)
    _print_bridges(document["bridges"], now)
    warnings = [one for one in document["warnings"] if advise_watcher or not one.startswith(NO_WATCHER)]
    if warnings:
        say()
    for warning in warnings:
        say_folded(f"warning: {warning}", indent="  ", fg="yellow")


def _print_bridges(bridges: dict[str, Any], now: datetime) -> None:
    if not (bridges.get("brain_db") or bridges.get("openclaw_plugin")):
        return
    heading("Bridges")
    say_value("brain.db", "written to" if bridges.get("brain_db") else "not in use")
    plugin = bridges.get("openclaw_plugin")
    say_value("plugin", "named in openclaw.json" if plugin else "not installed")
    if plugin and plugin.get("delivery"):
        say_value("delivery", delivered(plugin, now))
    if plugin and plugin.get("hook_log"):
        say_value("hook log", shorten_home(plugin["hook_log"]))


def delivered(plugin: dict[str, Any], now: datetime) -> str:
    """Whether the last block reached the model, with its age instead of its time."""

    def aged(found: re.Match[str]) -> str:
        return f"(given {ago(found[2], now)})" if found[1] == "since" else ago(found[2], now)

    return re.sub(r"\b(at|since) (\d{4}-\d\d-\d\dT[\d:.]+Z)", aged, str(plugin["delivery"]))


def _print_source(row: dict[str, Any], warnings: Sequence[str], now: datetime) -> None:
    in_bytes = "lag_bytes" in row
    lag = row["lag_bytes"] if in_bytes else row["lag_events"]
    behind = (megabytes(lag) if in_bytes else counted(lag, "event")) + " behind" if lag else "up to date"
    if not lag and any(row["path"] in warning for warning in warnings):
        behind = "not all of it can be read"
    newest = ago(row["newest_event_at"], now) if row["newest_event_at"] else "never"
    say_line(
        f"  {row['agent_id']}  {row['kind']}  {counted(row['transcripts'], 'transcript')}, newest {newest}, {behind}"
    )
    say_line(f"    {shorten_home(row['path'])}", dim=True)


def _print_watcher(watcher: dict[str, Any], now: datetime) -> None:
    heading("Watcher")
    if not watcher["running"]:
        say_line("  not running")
        return
    mode = f", {watcher['mode']}" if watcher.get("mode") else ""
    process = f"as process {watcher['pid']}" if watcher["pid"] else "(its process number is not known)"
    say_line(f"  running {process}{mode}")
    for label, key in (("looked", "last_scan_at"), ("heard", "last_event_at")):
        if watcher.get(key):
            say_value(label, ago(watcher[key], now))
    if watcher.get("overflows"):
        say_value("overflows", f"{watcher['overflows']:,}")
