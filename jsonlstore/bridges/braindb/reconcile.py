"""The one place that decides whether a row of `session_states` is behind its session, and brings it up to date.

An export reconciles every session, a live write the sessions it names; both are a `Reconciliation`. A row is behind
when writing the desired row (see `desired`) would change it, or when there should be none. The export cache answers
that for most sessions without reading them.

Sessions are read ahead with no lock held and written in short transactions. A transaction first looks whether anybody
else wrote meanwhile; if so, a session whose log has grown is read again, so that an older state never overwrites a
newer row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.braindb.desired import (
    Desired,
    LogVersion,
    StoreVersion,
    ended_row,
    hot_logs,
    log_version,
    read_desired,
    store_version,
)
from jsonlstore.bridges.braindb.rows import Row, update_of_imported, would_change
from jsonlstore.bridges.braindb.schema import COLUMNS, TABLE
from jsonlstore.bridges.braindb.table import RowRefused, SessionTable
from jsonlstore.core.clock import format_time
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.paths import check_session_id, is_session_id
from jsonlstore.store import ProgressCallback, gc_paused, silent

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from jsonlstore.bridges.braindb.database import Writer
    from jsonlstore.bridges.braindb.export import ExportCache, ExportReport
    from jsonlstore.store import SessionStore

_BATCH = 1500  # sessions read ahead, with no lock held; about as many as one transaction can write in its time
_BATCH_BYTES = 8 * 1024 * 1024  # of logs
_SLICE = 50  # rows written between two looks at the clock
_UPDATED_AT = COLUMNS.index("updated_at")
_START, _END = COLUMNS.index("start_time"), COLUMNS.index("end_time")


@dataclass(slots=True)
class _Batch:
    """Sessions that were read with no lock held and are yet to be written."""

    versions: tuple[StoreVersion, int]  # of store and database, before the first of them was read
    rows: list[Row] = field(default_factory=list)
    logs: dict[str, LogVersion | None] = field(default_factory=dict)
    present: set[str] = field(default_factory=set)  # have a row already, a different one
    imported: dict[str, Row] = field(default_factory=dict)  # and nothing else; their desired rows in whole
    gone: dict[str, Desired] = field(default_factory=dict)  # archived or forgotten


class Reconciliation:
    """One run over the table. Without a writer it only counts what it would do."""

    def __init__(
        self,
        store: SessionStore,
        table: SessionTable,
        report: ExportReport,
        writer: Writer | None = None,
        *,
        cache: ExportCache | None = None,
        since: datetime | None = None,
        progress: ProgressCallback = silent,
    ) -> None:
        self._store = store
        self._states = str(store.paths.states)
        self._table = table
        self._report = report
        self._writer = writer
        self._cache = cache
        self._since = format_time(since) if since else None
        self._progress = progress
        self._named = False
        self._may_be_present: Collection[str] = ()
        self._todo: list[str] = []
        if table.lacks:
            report.problems.append(f"{TABLE} has no column {', '.join(table.lacks)}: left out")

    def run(self, session_ids: Collection[str] | None = None) -> None:
        """Reconcile these sessions, or all there are. One that is named and cannot be read raises its error."""
        with gc_paused():
            if session_ids is None:
                self._todo = self._find_behind()
            else:
                self._todo, self._may_be_present, self._named = list(session_ids), set(session_ids), True
            self._work_off()
        if self._writer is not None and self._table.removed:
            self._writer.wipe()

    def _find_behind(self) -> list[str]:
        """The sessions the cache cannot vouch for, and the rows whose session has no hot log."""
        listed = self._may_be_present = self._table.updated_at()
        logs = hot_logs(self._store, self._cache or ())
        current = self._cache.is_current if self._cache else lambda *_, **__: False
        behind = [
            session_id
            for session_id, version in logs.items()
            if version is None or not current(session_id, version, listed.get(session_id), present=session_id in listed)
        ]
        self._report.unchanged += len(logs) - len(behind)
        orphans = listed.keys() - logs.keys()
        if orphans:
            # a row whose session the index does not know is somebody else's
            behind += orphans & self._store.index.entries().keys()
        return behind

    def _work_off(self) -> None:
        """Read and write in turns: others have the database while we read."""
        self._todo.sort(reverse=True)  # taken from the end, in the order of the key: the table's pages change in a row
        total = len(self._todo)
        batch = _Batch(self._versions())
        while self._todo or batch.rows:
            if not batch.rows:
                batch = _Batch(self._versions())
            batch.rows += self._without_same(self._read(batch), batch)
            self._export(batch)
            self._remove_gone(batch)
            self._progress(total - len(self._todo) - len(batch.rows), total)

    def _versions(self) -> tuple[StoreVersion, int]:
        return store_version(self._store.paths), self._writer.version() if self._writer else 0

    def _read(self, batch: _Batch) -> list[Row]:
        """The desired rows of the next sessions, which join those there was no time to write."""
        rows: list[Row] = []
        size = 0
        for _ in range(min(len(self._todo), _BATCH - len(batch.rows))):
            session_id = self._todo.pop()
            ended = ended_row(self._states, session_id) if is_session_id(session_id) else None
            row, version, imported = ended or self._read_in_full(session_id, batch)
            batch.imported.pop(session_id, None)  # it may be read for the second time
            if row is not None and imported:
                batch.imported[session_id] = row
            if row is not None and (self._since is None or _last_active(row) >= self._since):
                rows.append(row)
                batch.logs[session_id] = version
            if version is not None:
                size += version[0]
                if size >= _BATCH_BYTES:
                    break
        return rows

    def _read_in_full(self, session_id: str, batch: _Batch) -> tuple[Row | None, LogVersion | None, bool]:
        try:
            desired = read_desired(self._store, check_session_id(session_id))
        except JsonlStoreError as problem:
            if self._named:
                raise  # a live write must know that this session is still behind
            self._report.problems.append(f"{session_id}: {problem}")
            return None, None, False
        if desired.kind in ("archived", "forgotten"):
            batch.gone[session_id] = desired
        return desired.row, desired.version, desired.imported

    def _without_same(self, rows: list[Row], batch: _Batch) -> list[Row]:
        """The rows that are behind: writing them would change the table."""
        # an imported session's row may have come back since the table was listed
        asked = [row[0] for row in rows if row[0] in self._may_be_present or row[0] in batch.imported]
        present = self._table.rows(asked)
        if not present:
            return rows
        batch.present.update(present)
        behind: list[Row] = []
        for whole in rows:
            row = _to_write(whole, present, batch)
            if row[0] not in present or would_change(present[row[0]], row):
                behind.append(row)
            else:
                self._cache_row(row, batch)
        self._report.unchanged += len(rows) - len(behind)
        return behind

    def _export(self, batch: _Batch) -> None:
        """Write what there is time for, and take it off the batch."""
        done, stale = self._write(batch)
        self._todo += stale
        left_out = {*stale, *self._report.refused}
        written = [row for row in batch.rows[:done] if row[0] not in left_out]
        for row in written:
            self._cache_row(row, batch)
        updated = sum(row[0] in batch.present for row in written) if batch.present else 0
        self._report.updated += updated
        self._report.added += len(written) - updated
        del batch.rows[:done]

    def _cache_row(self, row: Row, batch: _Batch) -> None:
        if self._cache is not None:
            self._cache.add(row[0], batch.logs[row[0]], row[_UPDATED_AT] or "")

    def _write(self, batch: _Batch) -> tuple[int, list[str]]:
        """Upsert in one short transaction; returns how many rows it had time for, and whose logs have grown."""
        if self._writer is None or not batch.rows:
            return len(batch.rows), []
        try:
            return self._writer.transact(lambda full: self._fill(batch.rows, batch, full))
        except RowRefused:
            return len(batch.rows), self._write_one_by_one(self._writer, batch)

    def _write_one_by_one(self, writer: Writer, batch: _Batch) -> list[str]:
        """The table refuses one of them: find out which, and write the others."""
        stale: list[str] = []
        for row in batch.rows:
            try:
                stale += writer.transact(lambda full, row=row: self._fill([row], batch, full))[1]  # type: ignore[misc]
            except RowRefused as problem:
                self._report.problems.append(f"{row[0]}: the table refuses its row: {problem}")
                self._report.refused[row[0]] = str(problem)
        return stale

    def _fill(self, rows: Sequence[Row], batch: _Batch, full: Callable[[], bool]) -> tuple[int, list[str]]:
        # Looked at with the lock held: whoever writes or removes a row later comes after us. Where nobody wrote to the
        # database no newer row can be overwritten, and where nothing was renamed nothing was forgotten.
        quiet = self._versions() == batch.versions
        stale: list[str] = []
        done = 0
        while done < len(rows):
            some = rows[done : done + _SLICE]
            current = some if quiet else self._still_current(some, batch)
            self._table.put(current)
            if len(current) < len(some):
                stale += {row[0] for row in some}.difference(row[0] for row in current)
            done += len(some)
            if full():
                break
        return done, stale

    def _still_current(self, rows: Sequence[Row], batch: _Batch) -> list[Row]:
        """Those of the rows whose logs are as they were read, now that somebody else wrote; within a transaction."""
        current = [row for row in rows if log_version(self._states, row[0]) == batch.logs[row[0]]]
        present = self._table.rows([row[0] for row in current if row[0] in batch.imported])
        return [_to_write(row, present, batch) for row in current]

    def _remove_gone(self, batch: _Batch) -> None:
        """Delete the rows of sessions that are archived or forgotten now."""
        todo = [each for each in batch.gone if each in self._may_be_present]
        while todo:
            done = (
                [(each, self._table.may_delete(each, batch.gone[each])) for each in todo]
                if self._writer is None
                else self._writer.transact(lambda full, left=tuple(todo): self._delete(left, batch.gone, full))  # type: ignore[misc]
            )
            todo = todo[len(done) :]
            self._report.removed += [each for each, deleted in done if deleted]
            self._report.kept += [each for each, deleted in done if not deleted]
            for session_id, _ in done:
                if self._cache is not None:
                    self._cache.drop(session_id)
        for session_id, desired in batch.gone.items():
            if self._cache is not None:
                self._cache.add(session_id, desired.version, None)
        batch.gone.clear()

    def _delete(
        self, session_ids: Sequence[str], gone: dict[str, Desired], full: Callable[[], bool]
    ) -> list[tuple[str, bool]]:
        done: list[tuple[str, bool]] = []
        for session_id in session_ids:
            deletable = self._table.may_delete(session_id, gone[session_id])
            if deletable:
                self._table.delete(session_id)
            done.append((session_id, deletable))
            if full():
                break
        return done


def _to_write(row: Row, present: dict[str, dict[str, Any]], batch: _Batch) -> Row:
    """What to write, given the rows that are present: of an imported session only what is new, or all if it is gone."""
    whole = batch.imported.get(row[0])
    if whole is None:
        return row
    return update_of_imported(present[row[0]], whole) if row[0] in present else whole


def _last_active(row: Row) -> str:
    return max(str(row[column] or "") for column in (_START, _END, _UPDATED_AT))
