"""The history on this machine: every transcript there is, and reading what is not read yet."""

from __future__ import annotations

import os
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from jsonlstore.store.bulk import BulkStore
from jsonlstore.transcripts.catalogue import Catalogue, find_sessions
from jsonlstore.watch.backfill import Summary, backfill
from jsonlstore.watch.search_writer import SearchWriter
from jsonlstore.watch.tail import Tailer, skipped_by

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from jsonlstore.cli.app import App


class History:
    """Catalogue, store and tailer of one command line, for `backfill`, `setup` and dry runs of `watch`."""

    def __init__(self, app: App, paths: Sequence[Path] = ()) -> None:
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
        self._search = SearchWriter(self._bulk, config)

    @property
    def warnings(self) -> list[str]:
        """What could not be read so far; reading may add to it."""
        return self.catalogue.warnings if self._named_warnings is None else self._named_warnings

    def behind(self) -> list[str]:
        """The sessions with something unread."""
        return [one.session_id for one in self.sessions if self._tailer.is_behind(one)]

    def read(self, label: str) -> tuple[Summary, float]:
        """Read all of it, with a progress bar on a terminal; what was done, and the seconds it took."""
        started = time.monotonic()
        summary = backfill(
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
