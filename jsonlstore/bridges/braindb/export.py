"""Our sessions into `session_states`: incremental, in short transactions, nobody else's rows touched."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.braindb.database import Writer, connected, create_empty, make_durable, read_unchanged
from jsonlstore.bridges.braindb.exported import Ledger
from jsonlstore.bridges.braindb.migration import columns_of, is_migrated, migrate
from jsonlstore.bridges.braindb.reconcile import (
    Mark,
    Scene,
    Standing,
    ended_row,
    hot_marks,
    mark_of,
    scene_of,
    standing_of,
)
from jsonlstore.bridges.braindb.rows import Row, news, would_change
from jsonlstore.bridges.braindb.schema import COLUMNS, TABLE
from jsonlstore.bridges.braindb.table import RowRefused, SessionTable
from jsonlstore.core.clock import format_time
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.paths import check_session_id, is_session_id
from jsonlstore.store.index import Progress, silent
from jsonlstore.store.index_text import gc_paused

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from jsonlstore.store.store import SessionStore

WAIT_SECONDS = 10.0
_BATCH = 1500  # sessions read ahead, with no lock held; about as many as one transaction can write in its time
_BATCH_BYTES = 8 * 1024 * 1024  # of logs
_SLICE = 50  # rows written between two looks at the clock
_UPDATED_AT = COLUMNS.index("updated_at")
_START, _END = COLUMNS.index("start_time"), COLUMNS.index("end_time")


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
    """Bring the table after the store: new and changed sessions in, archived and forgotten ones out.

    `since` limits which sessions are written to those active at or after it. `wait` is how long a locked database is
    waited for; then `LockTimeout` is raised, and what was committed stays.
    """
    path = Path(path)
    report = ExportReport(path, dry_run=dry_run, created=not path.exists())
    ledger = Ledger(store, path)
    if dry_run:
        if report.created:
            _Export(store, ledger, report, since, SessionTable(None, path), progress).run()
        else:
            read_unchanged(path, lambda found: _dry_run(store, ledger, report, since, found, progress))
        return report
    report.created = create_empty(path)
    with connected(path, wait) as connection:
        writer = Writer(connection, path, wait, bulk=True)
        try:
            report.backup = migrate(writer, wait)
            _Export(store, ledger, report, since, SessionTable(connection, path), progress, writer).run()
        finally:
            report.longest_lock_ms = writer.longest * 1000
            make_durable(path)  # before anything says that it was exported
            ledger.save()
    return report


def _dry_run(
    store: SessionStore,
    ledger: Ledger,
    report: ExportReport,
    since: datetime | None,
    connection: sqlite3.Connection,
    progress: Progress,
) -> None:
    # the file may have to be read again if it changes meanwhile: count from zero each time
    report.added = report.updated = report.unchanged = 0
    report.removed, report.kept, report.problems = [], [], []
    is_migrated(connection)  # refuses what the export would refuse
    table = SessionTable(connection if columns_of(connection) else None, report.path)
    _Export(store, ledger, report, since, table, progress).run()


Look = tuple[Scene, int]  # at the store, and at the version of the database


@dataclass(slots=True)
class _Batch:
    """Sessions as they were read, with no lock held, and are yet to be written."""

    look: Look  # before the first of them was read
    rows: list[Row] = field(default_factory=list)
    marks: dict[str, Mark | None] = field(default_factory=dict)
    there: set[str] = field(default_factory=set)  # have a row already, another one
    imported: dict[str, Row] = field(default_factory=dict)  # and nothing else; their rows in whole
    gone: dict[str, Standing] = field(default_factory=dict)


class _Export:
    """One run. Without a writer nothing is written."""

    def __init__(
        self,
        store: SessionStore,
        ledger: Ledger,
        report: ExportReport,
        since: datetime | None,
        table: SessionTable,
        progress: Progress,
        writer: Writer | None = None,
    ) -> None:
        self._store = store
        self._states = str(store.paths.states)
        self._ledger = ledger
        self._report = report
        self._since = format_time(since) if since else None
        self._table = table
        self._progress = progress
        self._writer = writer
        self._stamps: dict[str, str | None] = {}  # of every row there was at the beginning
        self._todo: list[str] = []
        if table.lacks:
            report.problems.append(f"{TABLE} has no column {', '.join(table.lacks)}: left out")

    def run(self) -> None:
        with gc_paused():
            stamps = self._stamps = self._table.stamps()
            marks = hot_marks(self._store, self._ledger)
            covers = self._ledger.covers
            self._todo = [
                session_id
                for session_id, mark in marks.items()
                if mark is None or not covers(session_id, mark, stamps.get(session_id), present=session_id in stamps)
            ]
            self._report.unchanged += len(marks) - len(self._todo)
            self._bring()
            self._remove(stamps.keys() - marks.keys())
        if self._writer is not None and self._table.removed:
            self._writer.wipe()

    def _bring(self) -> None:
        """Read and write in turns: it is while we read that others have the database."""
        self._todo.sort(reverse=True)  # in the order of the table's key, from the end: its pages are changed one by one
        total = len(self._todo)
        batch = _Batch(self._look())
        while self._todo or batch.rows:
            if not batch.rows:
                batch = _Batch(self._look())
            fresh = self._read(batch)
            batch.rows += self._without_same(fresh, batch)
            self._export(batch)
            self._forget(batch)
            self._progress(total - len(self._todo) - len(batch.rows), total)

    def _look(self) -> Look:
        return scene_of(self._store.paths), self._writer.version() if self._writer else 0

    def _read(self, batch: _Batch) -> list[Row]:
        """Take some sessions off the end of what is to do and read them, to go with those there was no time for."""
        rows: list[Row] = []
        size = 0
        for _ in range(min(len(self._todo), _BATCH - len(batch.rows))):
            session_id = self._todo.pop()
            ended = ended_row(self._states, session_id) if is_session_id(session_id) else None
            row, mark, imported = ended or self._read_in_full(session_id, batch)
            batch.imported.pop(session_id, None)  # it may be read for the second time
            if row is not None and imported:
                batch.imported[session_id] = row
            if row is not None and (self._since is None or _last_active(row) >= self._since):
                rows.append(row)
                batch.marks[session_id] = mark
            if mark is not None:
                size += mark[0]
                if size >= _BATCH_BYTES:
                    break
        return rows

    def _read_in_full(self, session_id: str, batch: _Batch) -> tuple[Row | None, Mark | None, bool]:
        standing = self._standing(session_id)
        if standing is None:
            return None, None, False
        if standing.kind == "forgotten":
            batch.gone[session_id] = standing
        return standing.row, standing.mark, standing.imported

    def _without_same(self, rows: list[Row], batch: _Batch) -> list[Row]:
        """The rows without those the table has already."""
        # the row of an imported session may be back since the stamps were read
        there = self._table.rows([row[0] for row in rows if row[0] in self._stamps or row[0] in batch.imported])
        if not there:
            return rows
        batch.there.update(there)
        differing: list[Row] = []
        for whole in rows:
            row = self._told(whole, there, batch)
            if row[0] not in there or would_change(there[row[0]], row):
                differing.append(row)
            else:
                self._note(row, batch)
        self._report.unchanged += len(rows) - len(differing)
        return differing

    def _export(self, batch: _Batch) -> None:
        """Write what there is time for, and take it off the batch."""
        done, late = self._write(batch)
        self._todo += late  # read again what grew: an older state never overwrites a newer row
        left_out = {*late, *self._report.refused}
        written = [row for row in batch.rows[:done] if row[0] not in left_out]
        for row in written:
            self._note(row, batch)
        updated = sum(row[0] in batch.there for row in written) if batch.there else 0
        self._report.updated += updated
        self._report.added += len(written) - updated
        del batch.rows[:done]

    def _note(self, row: Row, batch: _Batch) -> None:
        self._ledger.note(row[0], batch.marks[row[0]], row[_UPDATED_AT] or "")

    def _forget(self, batch: _Batch) -> None:
        """Take out the rows of sessions that are forgotten now."""
        self._drop({each: standing for each, standing in batch.gone.items() if each in self._stamps})
        for session_id, standing in batch.gone.items():
            self._ledger.note(session_id, standing.mark, None)
        batch.gone.clear()

    def _standing(self, session_id: str) -> Standing | None:
        try:
            return standing_of(self._store, check_session_id(session_id))
        except JsonlStoreError as problem:
            self._report.problems.append(f"{session_id}: {problem}")
            return None

    def _write(self, batch: _Batch) -> tuple[int, list[str]]:
        """Upsert in one short transaction; returns how many rows it had time for, and whose sessions moved on."""
        if self._writer is None or not batch.rows:
            return len(batch.rows), []
        try:
            return self._writer.transact(lambda full: self._fill(batch.rows, batch, full))
        except RowRefused:
            return len(batch.rows), self._write_one_by_one(self._writer, batch)

    def _write_one_by_one(self, writer: Writer, batch: _Batch) -> list[str]:
        """The table refuses one of them: find out which, and write the others."""
        late: list[str] = []
        for row in batch.rows:
            try:
                late += writer.transact(lambda full, row=row: self._fill([row], batch, full))[1]  # type: ignore[misc]
            except RowRefused as problem:
                self._report.problems.append(f"{row[0]}: the table refuses its row: {problem}")
                self._report.refused[row[0]] = str(problem)
        return late

    def _fill(self, rows: Sequence[Row], batch: _Batch, full: Callable[[], bool]) -> tuple[int, list[str]]:
        # Looked at with the lock held: whoever writes or removes a row later comes after us. Where nobody wrote to the
        # database no newer row can be overwritten, and where nothing was renamed nothing was forgotten.
        quiet = self._look() == batch.look
        late: list[str] = []
        done = 0
        while done < len(rows):
            some = rows[done : done + _SLICE]
            due = some if quiet else self._still_due(some, batch)
            self._table.put(due)
            if len(due) < len(some):
                late += {row[0] for row in some}.difference(row[0] for row in due)
            done += len(some)
            if full():
                break
        return done, late

    def _still_due(self, rows: Sequence[Row], batch: _Batch) -> list[Row]:
        """What is still to be written of these rows, now that somebody else was there; within a transaction."""
        due = [row for row in rows if mark_of(self._states, row[0]) == batch.marks[row[0]]]
        there = self._table.rows([row[0] for row in due if row[0] in batch.imported])
        return [self._told(row, there, batch) for row in due]

    def _told(self, row: Row, there: dict[str, dict[str, Any]], batch: _Batch) -> Row:
        """What to write, given the rows that are there: of an imported session the news, or all if its row is gone."""
        whole = batch.imported.get(row[0])
        if whole is None:
            return row
        return news(there[row[0]], whole) if row[0] in there else whole

    def _remove(self, session_ids: set[str]) -> None:
        """Take out the rows of sessions that are in the archive now; rows that are not ours stay."""
        if not session_ids:
            return
        entries = self._store.index.entries()
        ours = {each: self._standing(each) for each in sorted(session_ids) if each in entries}
        self._drop({each: found for each, found in ours.items() if found and found.kind in ("archived", "forgotten")})

    def _drop(self, gone: dict[str, Standing]) -> None:
        todo = list(gone)
        while todo:
            if self._writer is None:
                done = [(each, self._table.may_go(each, gone[each])) for each in todo]
            else:
                done = self._writer.transact(lambda full, left=tuple(todo): self._delete(left, gone, full))  # type: ignore[misc]
            todo = todo[len(done) :]
            self._report.removed += [each for each, went in done if went]
            self._report.kept += [each for each, went in done if not went]
            for session_id, _ in done:
                self._ledger.drop(session_id)

    def _delete(
        self, session_ids: Sequence[str], gone: dict[str, Standing], full: Callable[[], bool]
    ) -> list[tuple[str, bool]]:
        done: list[tuple[str, bool]] = []
        for session_id in session_ids:
            goes = self._table.may_go(session_id, gone[session_id])
            if goes:
                self._table.remove(session_id)
            done.append((session_id, goes))
            if full():
                break
        return done


def _last_active(row: Row) -> str:
    return max(str(row[column] or "") for column in (_START, _END, _UPDATED_AT))
