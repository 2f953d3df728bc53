"""Our sessions into `session_states`: incremental, in short transactions, nobody else's rows touched."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.braindb.database import (
    Writer,
    connected,
    create_empty,
    explained,
    make_durable,
    read_unchanged,
)
from jsonlstore.bridges.braindb.ledger import Ledger
from jsonlstore.bridges.braindb.migration import columns_of, has_rowid, migrate
from jsonlstore.bridges.braindb.rows import Row, as_dict, upsert_sql, would_change
from jsonlstore.bridges.braindb.schema import COLUMNS, TABLE
from jsonlstore.bridges.braindb.standing import (
    Mark,
    Scene,
    Standing,
    ended_row,
    hot_marks,
    mark_of,
    may_go,
    scene_of,
    standing_of,
)
from jsonlstore.clock import format_time
from jsonlstore.errors import JsonlStoreError, WriteFailed
from jsonlstore.paths import check_session_id, is_session_id
from jsonlstore.store.index import Progress, silent, uncollected

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from jsonlstore.store.store import SessionStore

WAIT_SECONDS = 10.0
_BATCH = 1500  # sessions read ahead, with no lock held; about as many as one transaction can write in its time
_BATCH_BYTES = 8 * 1024 * 1024  # of logs
_SLICE = 50  # rows compared at a time, and written between two looks at the clock
_DELETE = "DELETE FROM session_states WHERE id = ?"
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
            _Export(store, ledger, report, since, None, progress).run()
        else:
            read_unchanged(path, lambda found: _dry_run(store, ledger, report, since, found, progress))
        return report
    report.created = create_empty(path)
    with connected(path, wait) as connection:
        writer = Writer(connection, path, wait, bulk=True)
        try:
            report.backup = migrate(writer, wait)
            _Export(store, ledger, report, since, connection, progress, writer).run()
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
    there = connection if columns_of(connection) else None
    _Export(store, ledger, report, since, there, progress).run()


@dataclass(slots=True)
class _Batch:
    """Sessions as they were read, with no lock held, and are yet to be written."""

    scene: Scene  # of the store, and version of the database, before the first of them was read
    version: int
    rows: list[Row] = field(default_factory=list)
    marks: dict[str, Mark | None] = field(default_factory=dict)
    there: set[str] = field(default_factory=set)  # have a row already, another one
    gone: dict[str, Standing] = field(default_factory=dict)


class _Export:
    """One run. Without a connection the table does not exist yet; without a writer nothing is written."""

    def __init__(
        self,
        store: SessionStore,
        ledger: Ledger,
        report: ExportReport,
        since: datetime | None,
        connection: sqlite3.Connection | None,
        progress: Progress,
        writer: Writer | None = None,
    ) -> None:
        self._store = store
        self._states = str(store.paths.states)
        self._ledger = ledger
        self._report = report
        self._since = format_time(since) if since else None
        self._connection = connection
        self._progress = progress
        self._writer = writer
        columns = columns_of(connection) if connection is not None else COLUMNS
        self._upsert = upsert_sql(columns)
        lacking = [name for name in COLUMNS if name not in columns]
        self._refused: set[str] = set()
        self._stamped = "updated_at" in columns
        if lacking:
            report.problems.append(f"{TABLE} has no column {', '.join(lacking)}: left out")

    def run(self) -> None:
        stamps = self._stamps()
        marks = hot_marks(self._store, self._ledger)
        todo = [
            session_id
            for session_id, mark in marks.items()
            if mark is None
            or not self._ledger.covers(session_id, mark, stamps.get(session_id), present=session_id in stamps)
        ]
        self._report.unchanged += len(marks) - len(todo)
        todo.sort(reverse=True)  # in the order of the table's key, from the end: its pages are changed one by one
        total = len(todo)
        batch = self._batch()
        while todo or batch.rows:
            if not batch.rows:
                batch = self._batch()
            with uncollected():
                before = len(batch.rows)
                self._read(todo, batch)
                self._skip_same(batch, before, stamps)
                todo += self._export(batch)  # read again what grew: an older state never overwrites a newer row
            self._forget(batch, stamps)
            self._progress(total - len(todo) - len(batch.rows), total)
        self._remove(stamps.keys() - marks.keys())

    def _batch(self) -> _Batch:
        return _Batch(scene_of(self._store.paths), self._writer.version() if self._writer else 0)

    def _stamps(self) -> dict[str, str | None]:
        """Every row there is, and when it was last updated."""
        if self._connection is None:
            return {}
        column = "updated_at" if self._stamped else "NULL"
        found: dict[str, str | None] = {}
        after = -(2**63)
        with explained(self._report.path):
            if not has_rowid(self._connection):
                return dict(self._connection.execute(f"SELECT id, {column} FROM session_states"))  # noqa: S608
            # page by page: without a write-ahead log nobody can commit while somebody reads
            sql = f"SELECT id, {column}, rowid FROM session_states WHERE rowid > ? ORDER BY rowid LIMIT ?"  # noqa: S608
            while page := self._connection.execute(sql, (after, _BATCH)).fetchall():
                found.update((key, stamp) for key, stamp, _ in page if isinstance(key, str))
                after = page[-1][2]
        return found

    def _read(self, todo: list[str], batch: _Batch) -> None:
        """Take some sessions off the end of `todo` and read them, to go with those there was no time for."""
        size = 0
        for _ in range(min(len(todo), _BATCH - len(batch.rows))):
            session_id = todo.pop()
            row: Row | None
            mark: Mark | None
            ended = ended_row(self._states, session_id) if is_session_id(session_id) else None
            if ended is not None:
                row, mark = ended
            else:
                standing = self._standing(session_id)
                if standing is None:
                    continue
                row, mark = standing.row, standing.mark
                if standing.kind == "forgotten":
                    batch.gone[session_id] = standing
            if row is not None and self._wanted(row):
                batch.rows.append(row)
                batch.marks[session_id] = mark
            size += mark[0] if mark else 0
            if size >= _BATCH_BYTES:
                break

    def _skip_same(self, batch: _Batch, start: int, stamps: Collection[str]) -> None:
        """Leave out, of the rows from `start` on, what the table says already."""
        new = batch.rows[start:]
        there = self._existing([row[0] for row in new if row[0] in stamps])
        if not there:
            return
        del batch.rows[start:]
        for row in new:
            if row[0] not in there or would_change(there[row[0]], row):
                batch.rows.append(row)
            else:
                self._note(row, batch)
                self._report.unchanged += 1
        batch.there.update(there)

    def _export(self, batch: _Batch) -> list[str]:
        """Write what there is time for; returns the sessions whose logs grew before their rows were written."""
        done, grown = self._write(batch)
        late = {*grown, *self._refused}
        for row in batch.rows[:done]:
            if row[0] in late:
                continue
            self._note(row, batch)
            if row[0] in batch.there:
                self._report.updated += 1
            else:
                self._report.added += 1
        del batch.rows[:done]
        return grown

    def _note(self, row: Row, batch: _Batch) -> None:
        self._ledger.note(row[0], batch.marks[row[0]], row[_UPDATED_AT] or "")

    def _forget(self, batch: _Batch, stamps: Collection[str]) -> None:
        """Take out the rows of sessions that are forgotten now."""
        self._drop({each: standing for each, standing in batch.gone.items() if each in stamps})
        for session_id, standing in batch.gone.items():
            self._ledger.note(session_id, standing.mark, None)
        batch.gone.clear()

    def _standing(self, session_id: str) -> Standing | None:
        try:
            return standing_of(self._store, check_session_id(session_id))
        except JsonlStoreError as problem:
            self._report.problems.append(f"{session_id}: {problem}")
            return None

    def _wanted(self, row: Row) -> bool:
        return self._since is None or max(row[_START], row[_END] or "", row[_UPDATED_AT] or "") >= self._since

    def _existing(self, session_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        if self._connection is None or not session_ids:
            return {}
        found: dict[str, dict[str, Any]] = {}
        with explained(self._report.path):
            for start in range(0, len(session_ids), _SLICE):
                some = session_ids[start : start + _SLICE]
                marks = ",".join("?" * len(some))
                cursor = self._connection.execute(f"SELECT * FROM session_states WHERE id IN ({marks})", some)  # noqa: S608
                found.update({each["id"]: each for each in (as_dict(cursor, row) for row in cursor)})
        return found

    def _write(self, batch: _Batch) -> tuple[int, list[str]]:
        """Upsert in one short transaction; returns how many rows it had time for, and whose sessions moved on.

        The next are read before the others get their turn: that is the time in which others have the database.
        """
        rows = batch.rows
        if self._writer is None or not rows:
            return len(rows), []
        try:
            return self._transact(rows, batch)
        except WriteFailed as problem:
            if not isinstance(problem.__cause__, sqlite3.IntegrityError):
                raise
        return len(rows), self._write_one_by_one(rows, batch)

    def _write_one_by_one(self, rows: Sequence[Row], batch: _Batch) -> list[str]:
        """The table refuses one of them: find out which, and write the others."""
        grown: list[str] = []
        for row in rows:
            try:
                grown += self._transact([row], batch)[1]
            except WriteFailed as problem:
                if not isinstance(problem.__cause__, sqlite3.IntegrityError):
                    raise
                self._report.problems.append(f"{row[0]}: the table refuses its row: {problem.__cause__}")
                self._refused.add(row[0])
        return grown

    def _transact(self, rows: Sequence[Row], batch: _Batch) -> tuple[int, list[str]]:
        assert self._writer is not None
        return self._writer.transact(lambda full: self._fill(rows, batch, full))

    def _fill(self, rows: Sequence[Row], batch: _Batch, full: Callable[[], bool]) -> tuple[int, list[str]]:
        assert self._connection is not None
        assert self._writer is not None
        # Looked at with the lock held: whoever writes or removes a row later comes after us. Where nobody wrote to the
        # database no newer row can be overwritten, and where nothing was renamed nothing was forgotten.
        quiet = self._writer.version() == batch.version and scene_of(self._store.paths) == batch.scene
        marks = batch.marks
        late: list[str] = []
        done = 0
        while done < len(rows):
            some = rows[done : done + _SLICE]
            due = some if quiet else [row for row in some if mark_of(self._states, row[0]) == marks[row[0]]]
            self._connection.executemany(self._upsert, due)
            if len(due) < len(some):
                late += {row[0] for row in some}.difference(row[0] for row in due)
            done += len(some)
            if full():
                break
        return done, late

    def _remove(self, session_ids: set[str]) -> None:
        """Take out the rows of sessions that are in the archive now; rows that are not ours stay."""
        if not session_ids:
            return
        entries = self._store.index.entries()
        ours = {each: self._standing(each) for each in sorted(session_ids) if each in entries}
        self._drop({each: found for each, found in ours.items() if found and found.kind in ("archived", "forgotten")})

    def _drop(self, gone: dict[str, Standing]) -> None:
        if self._connection is None:
            return
        todo = list(gone)
        while todo:
            if self._writer is None:
                done = [(each, may_go(self._connection, each, gone[each])) for each in todo]
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
        assert self._connection is not None
        done: list[tuple[str, bool]] = []
        for session_id in session_ids:
            goes = may_go(self._connection, session_id, gone[session_id])
            if goes:
                self._connection.execute(_DELETE, (session_id,))
            done.append((session_id, goes))
            if full():
                break
        return done
