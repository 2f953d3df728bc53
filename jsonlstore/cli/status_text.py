"""`status` for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.cli.app import say
from jsonlstore.cli.formatting import ago, counted, heading, megabytes, say_folded, say_line, say_value

if TYPE_CHECKING:
    from datetime import datetime


def print_status(document: dict[str, Any], now: datetime) -> None:
    """What is seen, what is kept, who is watching, and what is wrong."""
    heading("Sources")
    for row in document["sources"]:
        _source(row, now)
    if not document["sources"]:
        say_line(f"  no transcripts found under {document['state_dir']}/agents")
    heading("Store")
    kept = document["store"]
    say_value("where", f"{document['state_dir']}/sessions")
    counts = f"{counted(kept['sessions'], 'session')}, {kept['active']:,} open, {kept['crashed']:,} recovered"
    say_value("holds", f"{counts}, {megabytes(kept['bytes'])}")
    _watcher(document["watcher"], now)
    bridges = document["bridges"]
    if bridges.get("brain_db") or bridges.get("openclaw_plugin"):
        heading("Bridges")
        say_value("brain.db", "written to" if bridges.get("brain_db") else "not in use")
        say_value("plugin", "named in openclaw.json" if bridges.get("openclaw_plugin") else "not installed")
    if document["warnings"]:
        say()
    for warning in document["warnings"]:
        say_folded(f"warning: {warning}", indent="  ", fg="yellow")


def _source(row: dict[str, Any], now: datetime) -> None:
    in_bytes = "lag_bytes" in row
    lag = row["lag_bytes"] if in_bytes else row["lag_events"]
    behind = (megabytes(lag) if in_bytes else counted(lag, "event")) + " behind" if lag else "up to date"
    newest = ago(row["newest_event_at"], now) if row["newest_event_at"] else "never"
    say_line(
        f"  {row['agent_id']}  {row['kind']}  {counted(row['transcripts'], 'transcript')}, newest {newest}, {behind}"
    )
    say_line(f"    {row['path']}", dim=True)


def _watcher(watcher: dict[str, Any], now: datetime) -> None:
    heading("Watcher")
    if not watcher["running"]:
        say_line("  not running")
        return
    mode = f", {watcher['mode']}" if watcher.get("mode") else ""
    say_line(f"  running as process {watcher['pid']}{mode}")
    for label, key in (("looked", "last_scan_at"), ("heard", "last_event_at")):
        if watcher.get(key):
            say_value(label, ago(watcher[key], now))
    if watcher.get("overflows"):
        say_value("overflows", f"{watcher['overflows']:,}")
