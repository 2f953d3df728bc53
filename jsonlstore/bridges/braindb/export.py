"""`export brain-db`: every session of the store into `session_states`, the report of it, and the cache it leaves."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.bridges.braindb.database import Writer, connected, create_empty, make_durable, read_unchanged
from jsonlstore.bridges.braindb.migration import columns_of, is_migrated, migrate_table
from jsonlstore.bridges.braindb.reconcile import Reconciliation
from jsonlstore.bridges.braindb.table import SessionTable
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import read_bytes
from jsonlstore.core.hashes import sha256
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import shorten_home
from jsonlstore.store import ProgressCallback, silent

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from jsonlstore.bridges.braindb.desired import LogVersion
    from jsonlstore.store import SessionReader, SessionStore

log = logger(__name__)

WAIT_SECONDS = 10.0
_CACHE_VERSION = 1


class ExportCache:
    """What was exported from one store to one database: how long each session's log was when its row was written.

    It lies beside the index. Without it, or where it is wrong about a row, a reconciliation compares contents instead.
    """

    def __init__(self, store: SessionReader, database: Path) -> None:
        self._store = store
        real = os.path.realpath(database)
        self._database = os.fsencode(shorten_home(real)).decode("utf-8", "backslashreplace")
        name = sha256(os.fsencode(real)).hexdigest()[:16]
        self.path = store.paths.states / "exports" / f"brain-db-{name}.json"
        self._rows: dict[str, list[Any]] = self._read()
        self._dirty = False

    def is_current(self, session_id: str, version: LogVersion, updated_at: str | None, *, present: bool) -> bool:
        """Was this version of the log exported, and is the row still that one or another writer's later one?"""
        cached = self._rows.get(session_id)
        if cached is None or cached[0] != version[0] or cached[1] != version[1]:
            return False
        if cached[2] is None:  # a tombstone: there must be no row
            return not present
        return present and str(updated_at or "") >= str(cached[2])

    def __contains__(self, session_id: object) -> bool:
        return session_id in self._rows

    def add(self, session_id: str, version: LogVersion | None, updated_at: str | None) -> None:
        """The log was exported up to `version` into a row with this `updated_at`; None: there is no row."""
        if version is None:
            return
        entry = [version[0], version[1], updated_at]
        if self._rows.get(session_id) != entry:
            self._rows[session_id] = entry
            self._dirty = True

    def drop(self, session_id: str) -> None:
        """The row is gone."""
        self._dirty |= self._rows.pop(session_id, None) is not None

    def save(self) -> None:
        """Keep it for the next export. A failure makes that one slower and nothing else."""
        if not self._dirty:
            return
        data = orjson.dumps({"version": _CACHE_VERSION, "database": self._database, "rows": self._rows})
        try:
            self._store.disk.make_dir(self.path.parent)
            self._store.disk.replace(self.path, data, self._store.paths.states)
            self._dirty = False
        except JsonlStoreError as problem:
            log.warning("the next export to brain.db will compare every row: %s", problem)

    def _read(self) -> dict[str, list[Any]]:
        try:
            raw = orjson.loads(read_bytes(self.path) or b"{}")
            if raw.get("version") == _CACHE_VERSION and raw.get("database") == self._database:
                return {key: cached for key, cached in raw["rows"].items() if len(cached) == 3}
        except (JsonlStoreError, orjson.JSONDecodeError, AttributeError, KeyError, TypeError) as problem:
            log.debug("export cache %s is not usable: %s", self.path, problem)
        return {}


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
    refused: dict[str, str] = field(default_factory=dict)  # by the table: whose row, and why
    longest_lock_ms: float = 0.0

    @property
    def written(self) -> int:
        return self.added + self.updated + len(self.removed)

    def to_dict(self) -> dict[str, Any]:
        """The report as `--json` prints it."""
        said = {**asdict(self), "path": str(self.path), "backup": str(self.backup) if self.backup else None}
        del said["refused"]  # `problems` says it too
        return {**said, "longest_lock_ms": round(self.longest_lock_ms, 3)}


def export_sessions(
    store: SessionStore,
    path: Path | str,
    *,
    since: datetime | None = None,
    dry_run: bool = False,
    wait: float = WAIT_SECONDS,
    progress: ProgressCallback = silent,
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
            report.backup = migrate_table(writer, wait)
            reconcile(report, SessionTable(connection, path), writer)
        finally:
            report.longest_lock_ms = writer.longest * 1000
            make_durable(path)  # before the cache says that it was exported
            cache.save()
    return report
