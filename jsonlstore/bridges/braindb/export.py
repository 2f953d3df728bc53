"""`export brain-db`: every session of the store into `session_states`, and the report of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.braindb.database import Writer, connected, create_empty, make_durable, read_unchanged
from jsonlstore.bridges.braindb.export_cache import ExportCache
from jsonlstore.bridges.braindb.migration import columns_of, is_migrated, migrate
from jsonlstore.bridges.braindb.reconcile import Reconciliation
from jsonlstore.bridges.braindb.table import SessionTable
from jsonlstore.store.index import Progress, silent

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from jsonlstore.store.store import SessionStore

WAIT_SECONDS = 10.0


@dataclass(slots=True)
class ExportReport:
    """What an export did, or with `dry_run` would do."""

    path: Path
    dry_run: bool = False
    created: bool = False
    backup: Path | None = None
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # archived here, but the row says more than the archive
    problems: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)  # by the table: whose row, and why; `problems` says it too
    longest_lock_ms: float = 0.0

    @property
    def written(self) -> int:
        return self.added + self.updated + len(self.removed)

    def to_dict(self) -> dict[str, Any]:
        """The report as `--json` prints it."""
        return {
            "path": str(self.path),
            "dry_run": self.dry_run,
            "created": self.created,
            "backup": str(self.backup) if self.backup else None,
            "added": self.added,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "kept": self.kept,
            "problems": self.problems,
            "longest_lock_ms": round(self.longest_lock_ms, 3),
        }


def export_sessions(
    store: SessionStore,
    path: Path | str,
    *,
    since: datetime | None = None,
    dry_run: bool = False,
    wait: float = WAIT_SECONDS,
    progress: Progress = silent,
) -> ExportReport:
    """Reconcile the table with the store: new and changed sessions in, archived and forgotten ones out.

    `since` limits which sessions are written to those active at or after it. `wait` is how long a locked database is
    waited for; then `LockTimeout` is raised, and what was committed stays.
    """
    path = Path(path)
    cache = ExportCache(store, path)

    def reconcile(report: ExportReport, table: SessionTable, writer: Writer | None = None) -> ExportReport:
        Reconciliation(store, table, report, writer, cache=cache, since=since, progress=progress).run()
        return report

    def preview(connection: sqlite3.Connection) -> ExportReport:
        # a file that changes while it is read is read again: each time counts into a report of its own
        is_migrated(connection)  # refuses what the export would refuse
        table = SessionTable(connection if columns_of(connection) else None, path)
        return reconcile(ExportReport(path, dry_run=True), table)

    if dry_run and path.exists():
        return read_unchanged(path, preview)
    if dry_run:
        return reconcile(ExportReport(path, dry_run=True, created=True), SessionTable(None, path))
    report = ExportReport(path, created=create_empty(path))
    with connected(path, wait) as connection:
        writer = Writer(connection, path, wait, bulk=True)
        try:
            report.backup = migrate(writer, wait)
            reconcile(report, SessionTable(connection, path), writer)
        finally:
            report.longest_lock_ms = writer.longest * 1000
            make_durable(path)  # before the cache says that it was exported
            cache.save()
    return report
