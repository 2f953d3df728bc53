"""`watch`, `backfill`, `status`: following transcripts, catching up with history, and how things stand."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import (
    dry_run_option,
    json_option,
    now_option,
    pass_app,
    print_json,
    with_example,
)

if TYPE_CHECKING:
    from jsonlstore.cli.app import App
    from jsonlstore.core.config import Config
    from jsonlstore.watch.loop import Watcher


@with_example("jsonlstore watch", "jsonlstore watch --once --json")
@click.command("watch")
@click.option("--once", is_flag=True, help="Catch up with everything there is now, and exit.")
@click.option("--if-unwatched", is_flag=True, help="With --once: at low priority, and not at all where a watcher runs.")
@dry_run_option
@json_option
@pass_app
def watch(app: App, once: bool, if_unwatched: bool, dry_run: bool, as_json: bool) -> int:
    """Follow every transcript in the foreground until told to stop (Ctrl-C, SIGTERM)."""
    from jsonlstore.watch.instance import single_instance
    from jsonlstore.watch.loop import Watcher
    from jsonlstore.watch.maintenance import notify

    _log_boundaries(app, app.loaded.config)
    if dry_run:
        return _say_what_is_behind(app, as_json=as_json)
    store = app.open_store(long_lived=not once)
    config = app.loaded.config
    if not config.enabled:
        notify("READY=1\nSTATUS=disabled in the settings")  # a service with nothing to do has not failed
        click.echo("jsonlstore is disabled in the settings; nothing to do", err=True)
        return 0
    if once and if_unwatched:
        from jsonlstore.watch.instance import catch_up_unwatched

        os.nice(10)
        found = catch_up_unwatched(store, config)
        if as_json:
            print_json({"written": found or 0, "watched": found is None})
        return 0
    watcher = Watcher(store, config, reload=lambda: _fresh_config(app))
    if once:
        _on_signals(watcher)
        written = watcher.once()
        _say_written(written, watcher, as_json=as_json)
        return 1 if watcher.problems else 0
    with single_instance(store.paths):
        _on_signals(watcher)
        written = watcher.run()
    _say_written(written, watcher, as_json=as_json)
    return 0


def _say_written(written: int, watcher: Watcher, *, as_json: bool) -> None:
    if as_json:
        print_json({"written": written, "sources": len(watcher.catalogue.sources), "warnings": watcher.problems})
    else:
        click.echo(f"caught up: {written} updates written, {len(watcher.catalogue.sources)} sources", err=True)
        for problem in watcher.problems:
            click.echo(f"warning: {problem}", err=True)


def _say_what_is_behind(app: App, *, as_json: bool) -> int:
    from jsonlstore.cli.history import History

    history = History(app)
    behind = history.behind()
    if as_json:
        print_json({"behind": behind, "dry_run": True})
    else:
        click.echo(f"would read {len(behind)} of {len(history.sessions)} transcripts")
    return 0


def _fresh_config(app: App) -> Config:
    config = app.reload().config
    _log_boundaries(app, config)
    return config


def _log_boundaries(app: App, config: Config) -> None:
    """One line per boundary on stderr or in the journal, none with `-q`; `--debug` or the setting explains the rest."""
    import logging

    if logging.getLogger().level <= logging.WARNING:
        level = logging.DEBUG if app.debug or config.debug else logging.INFO
        logging.getLogger("jsonlstore.watch").setLevel(level)


def _on_signals(watcher: Watcher) -> None:
    def stop(_number: int, _frame: Any) -> None:
        watcher.stop()

    def reload(_number: int, _frame: Any) -> None:
        watcher.reload()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGHUP, reload)


@with_example("jsonlstore backfill", "jsonlstore backfill ~/old-machine/.openclaw --json")
@click.command("backfill")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@now_option
@dry_run_option
@json_option
@pass_app
def backfill_transcripts(app: App, paths: tuple[Path, ...], dry_run: bool, as_json: bool) -> int:
    """Read every transcript there is, both eras and archives. Running it twice changes nothing."""
    from jsonlstore.cli.history import History

    history = History(app, paths)
    if dry_run:
        behind, total = history.behind(), len(history.sessions)
        if as_json:
            print_json({"behind": behind, "transcripts": total, "dry_run": True, "warnings": history.warnings})
        else:
            click.echo(f"would read {len(behind)} of {total} transcripts")
        return 0
    summary, seconds = history.read("backfill")
    warnings = summary.warnings
    if as_json:
        from dataclasses import asdict

        print_json({**asdict(summary), "seconds": round(seconds, 3)})
    else:
        rate = summary.bytes / 1e6 / seconds if seconds else 0.0
        click.echo(
            f"{summary.transcripts} transcripts: {summary.written} written, {summary.unchanged} unchanged, "
            f"{summary.skipped} skipped, {summary.archived} archived "
            f"({summary.bytes / 1e6:.1f} MB in {seconds:.1f} s, {rate:.0f} MB/s)"
        )
        for name, problem in summary.failed.items():
            click.echo(f"warning: {name}: {problem}", err=True)
        for warning in warnings:
            click.echo(f"warning: {warning}", err=True)
    return 1 if summary.failed or warnings else 0
