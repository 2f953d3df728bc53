"""`watch` and `backfill`: following transcripts, and reading the history on this machine."""

from __future__ import annotations

import os
import signal
import sys
import time
from datetime import timedelta
from logging import WARNING
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import answer, command, print_json, with_example
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jsonlstore.cli.app import App
    from jsonlstore.core.config import Config
    from jsonlstore.transcripts import RecordedSession
    from jsonlstore.watch import Summary, Watcher


@with_example("jsonlstore watch", "jsonlstore watch --once --json")
@command("watch", "--dry-run", "--json")
@click.option("--once", is_flag=True, help="Catch up with everything there is now, and exit.")
@click.option(
    "--if-unwatched", is_flag=True, help="With --once: do nothing if a watcher runs, else read at low priority."
)
def watch(app: App, once: bool, if_unwatched: bool, dry_run: bool, as_json: bool) -> int:
    """Follow every transcript in the foreground until told to stop (Ctrl-C, SIGTERM)."""
    from jsonlstore.watch import Watcher, complain_once_a_minute, notify, single_instance

    _log_boundaries(app, app.loaded.config)
    complain_once_a_minute()
    if dry_run:
        history = PastTranscripts(app)
        return _say_behind(history, {"behind": history.behind(), "dry_run": True}, as_json=as_json)
    store = app.open_store(long_lived=not once)
    config = app.loaded.config
    if not config.enabled:
        notify("READY=1\nSTATUS=disabled in the settings")  # a service with nothing to do has not failed
        click.echo("jsonlstore is disabled in the settings; nothing to do", err=True)
        return 0
    if once and if_unwatched:
        from jsonlstore.watch import catch_up_unwatched

        os.nice(10)  # whoever talks to the agent right now comes first
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
        watcher.on_ready = lambda: _say_watching(app, watcher)
        written = watcher.run()
    _say_written(written, watcher, as_json=as_json)
    return 0


def _say_watching(app: App, watcher: Watcher) -> None:
    """What is watched, once everything there was before is read."""
    from jsonlstore.cli.formatting import counted
    from jsonlstore.core.paths import shorten_home

    agents = sorted({source.agent_id for source in watcher.catalogue.sources})
    known = counted(len(watcher.catalogue.sessions), "transcript")
    whose = f" of {', '.join(agents)}" if agents else "; none yet, they are read as they come"
    how = "by events" if watcher.observer.mode == "events" else "by looking every few seconds"
    logger("jsonlstore.watch").info("watching %s %s: %s%s", shorten_home(app.state_dir), how, known, whose)


def _say_written(written: int, watcher: Watcher, *, as_json: bool) -> None:
    if as_json:
        print_json({"written": written, "sources": len(watcher.catalogue.sources), "warnings": watcher.problems})
    else:
        from jsonlstore.cli.formatting import counted, say_folded

        sources = counted(len(watcher.catalogue.sources), "source")
        click.echo(f"caught up: {counted(written, 'update')} written from {sources}", err=True)
        for problem in watcher.problems:
            say_folded(f"warning: {problem}", indent="  ", err=True)


def _say_behind(history: PastTranscripts, document: dict[str, Any], *, as_json: bool) -> int:
    from jsonlstore.cli.formatting import counted

    said = f"would read {len(document['behind']):,} of {counted(len(history.sessions), 'transcript')}"
    answer(as_json, document, lambda: click.echo(said))
    return 0


def _fresh_config(app: App) -> Config:
    config = app.reload().config
    _log_boundaries(app, config)
    return config


def _log_boundaries(app: App, config: Config) -> None:
    """One line per boundary on stderr or in the journal, none with `-q`; `--debug` or the setting explains the rest."""
    if not logger("root").isEnabledFor(WARNING):
        return
    explain = app.debug or config.debug
    logger("jsonlstore.watch").setLevel("DEBUG" if explain else "INFO")
    if not explain and not os.environ.get("JOURNAL_STREAM"):  # a journal has times of its own
        from jsonlstore.redact import log_with_time

        log_with_time()


def _on_signals(watcher: Watcher) -> None:
    actions = {signal.SIGTERM: watcher.stop, signal.SIGINT: watcher.stop, signal.SIGHUP: watcher.reload}
    for number in actions:
        signal.signal(number, lambda received, _frame: actions[signal.Signals(received)]())


@with_example(
    "jsonlstore backfill",
    "jsonlstore backfill ~/old-machine/.openclaw --json",
    "jsonlstore backfill --again",
)
@command("backfill", "--now", "--dry-run", "--json")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option("--again", is_flag=True, help="Read every transcript again with today's rules.")
def backfill_transcripts(app: App, paths: tuple[Path, ...], again: bool, dry_run: bool, as_json: bool) -> int:
    """Read every transcript there is: files, databases and archives. Running it twice changes nothing.

    With --again, transcripts that were read before are read again with today's rules.
    What hooks and people reported stays.
    """
    if not app.config.enabled:
        said = "jsonlstore is disabled in the settings; nothing was read"
        answer(as_json, {"written": 0, "disabled": True}, lambda: click.echo(said, err=True))
        return 0
    history = PastTranscripts(app, paths, again=again)
    if dry_run:
        document = {"behind": history.behind(), "transcripts": len(history.sessions), "dry_run": True}
        return _say_behind(history, {**document, "warnings": history.warnings}, as_json=as_json)
    summary, seconds = history.read("backfill")
    warnings = summary.warnings
    if as_json:
        from dataclasses import asdict

        print_json({**asdict(summary), "seconds": round(seconds, 3)})
    else:
        from jsonlstore.cli.formatting import counted, megabytes, say_folded

        rate = megabytes(round(summary.bytes / seconds)) if seconds else "0 bytes"
        say_folded(
            f"{counted(summary.transcripts, 'transcript')}: {summary.written:,} written, "
            f"{summary.unchanged:,} unchanged, {summary.skipped:,} skipped, {summary.archived:,} archived "
            f"({megabytes(summary.bytes)} in {seconds:.1f} s, {rate} a second)"
        )
        for name, problem in summary.failed.items():
            say_folded(f"warning: {name}: {problem}", indent="  ", err=True)
        for warning in warnings:
            say_folded(f"warning: {warning}", indent="  ", err=True)
    return 1 if summary.failed or warnings else 0


class PastTranscripts:
    """Catalogue, store and tailer of one command line, for `backfill`, `setup` and dry runs of `watch`."""

    def __init__(self, app: App, paths: Sequence[Path] = (), *, again: bool | None = False) -> None:
        """`again`: distil anew what was read before; None: if it was distilled by older rules."""
        from jsonlstore.store import BulkStore
        from jsonlstore.transcripts import Catalogue, find_sessions
        from jsonlstore.watch import SearchWriter, Tailer, any_of_older_rules, skipped_by

        config = app.loaded.config
        skip = skipped_by(config)
        self.catalogue = Catalogue.open(app.state_dir, skip=skip)
        named = find_sessions(paths, skip=skip) if paths else None
        self.sessions = named[0] if named else self.catalogue.sessions
        self._named_warnings = named[1] if named else None
        self.store = app.open_store()
        self._archive_after = timedelta(days=config.archive_after_days)
        self._bulk = BulkStore.of(self.store, self._archive_after)
        self._tailer = Tailer.of(self._bulk, config, self.catalogue)
        self._tailer.again = any_of_older_rules(self.store) if again is None else again
        self._search = SearchWriter(self._bulk, config)

    @property
    def warnings(self) -> list[str]:
        """What could not be read so far; reading may add to it."""
        return self.catalogue.warnings if self._named_warnings is None else self._named_warnings

    def behind(self) -> list[str]:
        """The sessions with something unread."""
        return [one.session_id for one in self.sessions if self._tailer.is_behind(one) and not self._is_forgotten(one)]

    def _is_forgotten(self, session: RecordedSession) -> bool:
        from jsonlstore.watch import all_forgotten

        return all_forgotten(session, self._tailer.cursors)

    def read(self, label: str) -> tuple[Summary, float]:
        """Read all of it, with a progress bar on a terminal; what was done, and the seconds it took."""
        from jsonlstore.watch import backfill_sessions

        started = time.monotonic()
        summary = backfill_sessions(
            self._tailer,
            self._bulk,
            self.catalogue,
            self.sessions,
            archive_after=self._archive_after,
            progress=_progress_bar(label),
            search=self._search,
        )
        summary.warnings = [*self.warnings, *summary.warnings]
        return summary, time.monotonic() - started


def _progress_bar(label: str) -> Callable[[int, int], None]:
    """A progress bar with MB/s and the time left, on a terminal only."""
    if not sys.stderr.isatty():
        return lambda _done, _total: None
    started, shown = time.monotonic(), 0.0

    def show(done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if not total or (done < total and now - shown < 0.1):
            return
        shown = now
        spent = max(now - started, 1e-3)
        left = spent / done * (total - done) if done else 0.0
        filled = "#" * int(30 * done / total)
        rate = f"{done / 1e6 / spent:.0f} MB/s  {left:.0f} s left"
        line = f"{label} [{filled:<30}] {done / 1e6:.0f}/{total / 1e6:.0f} MB  {rate}"
        click.echo(f"\r{line[: _columns()]:<{_columns()}}" + ("\n" if done >= total else ""), nl=False, err=True)

    return show


def _columns() -> int:
    try:
        columns = os.get_terminal_size(2).columns
    except OSError:
        columns = 0
    return max(20, columns - 1) if columns else 79  # some terminals do not say how wide they are
