"""Rows of `session_states`, whoever wrote them, into our store: each session once, nothing lost in silence."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.braindb.database import read_unchanged
from jsonlstore.bridges.braindb.migration import columns_of
from jsonlstore.bridges.braindb.rows import ReadRow, as_dict, read_row
from jsonlstore.bridges.braindb.schema import IMPORTER, TABLE
from jsonlstore.core.errors import JsonlStoreError, SessionForgotten, Unreadable, UsageError
from jsonlstore.core.paths import check_session_id
from jsonlstore.redact import is_secret_id, sanitised
from jsonlstore.store import ProgressCallback, silent
from jsonlstore.transcripts import usable_id

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from jsonlstore.store import SessionStore


@dataclass(slots=True)
class ImportReport:
    """What an import did, or with `dry_run` would do."""

    path: Path
    dry_run: bool = False
    imported: list[str] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)  # begun by an import that was cut short
    known: int = 0
    forgotten: int = 0
    skipped: dict[str, str] = field(default_factory=dict)  # row -> why it could not become a session
    problems: dict[str, list[str]] = field(default_factory=dict)  # session -> what of its row was left out

    def to_dict(self) -> dict[str, Any]:
        """The report as `--json` prints it."""
        return {**asdict(self), "path": str(self.path)}


def import_sessions(
    store: SessionStore, path: Path | str, *, dry_run: bool = False, progress: ProgressCallback = silent
) -> ImportReport:
    """Make sessions of the rows of a brain.db, which stays byte for byte as it is.

    A session our store already knows is left alone, unless an earlier import of it was cut short.
    """
    path = Path(path)
    if not path.exists():
        raise Unreadable(f"there is no {path}", hint="name the file: `jsonlstore import brain-db PATH`", path=path)
    report = ImportReport(path, dry_run=dry_run)
    rows = read_unchanged(path, _rows)
    if rows is None:
        raise Unreadable(f"{path} has no table {TABLE}", hint="is it the right file?", path=path)
    rows.sort(key=lambda row: str(row.get("start_time")))  # before after, so that a cut-short import leaves no gap
    with store.index.batch():
        _Import(store, report).run(rows, progress)
    return report


def _rows(connection: sqlite3.Connection) -> list[dict[str, Any]] | None:
    if "id" not in columns_of(connection):
        return None
    cursor = connection.execute(f"SELECT * FROM {TABLE}")  # noqa: S608 - a name of ours
    return [as_dict(cursor, row) for row in cursor]


class _Import:
    def __init__(self, store: SessionStore, report: ImportReport) -> None:
        self._store = store
        self._report = report
        self._entries = store.index.entries()
        self._taken: set[str] = set()

    def run(self, rows: list[dict[str, Any]], progress: ProgressCallback) -> None:
        for number, row in enumerate(rows):
            progress(number, len(rows))
            try:
                self._take(row)
            except SessionForgotten:
                self._report.forgotten += 1
            except UsageError as problem:
                self._report.skipped[_shown(row.get("id"))] = str(sanitised(str(problem)))
        progress(len(rows), len(rows))

    def _take(self, row: Mapping[str, Any]) -> None:
        check_session_id(row.get("id"))
        row = {**row, **{name: _safe(row.get(name)) for name in _IDS if row.get(name) is not None}}
        session_id = str(row["id"])
        entry = self._entries.get(session_id)
        if entry is not None and entry.get("forgotten"):
            self._report.forgotten += 1
            return
        if session_id in self._taken:  # a table without a key
            problems = self._report.problems.setdefault(session_id, [])
            problems.append("there is another row of this id, which was left out")
            return
        read = read_row(row)
        if entry is not None and not self._begun_by_import(read, entry):
            self._report.known += 1
            return
        if read.fields["start_time"] is None:
            raise UsageError("no column holds the time of the session")
        if not self._report.dry_run:
            self._write(read)
        self._taken.add(session_id)
        (self._report.imported if entry is None else self._report.completed).append(session_id)
        if read.problems and entry is None:
            self._report.problems[session_id] = list(read.problems)

    def _begun_by_import(self, read: ReadRow, entry: Mapping[str, Any]) -> bool:
        """Did an import start this session, and nobody else go on with it, without getting as far as the row?"""
        lacks_end = read.end_time is not None and entry.get("end_time") is None
        lacks_link = read.continued_by is not None and entry.get("continued_by") is None
        if not (lacks_end or lacks_link):
            return False
        try:
            layers = self._store.folded(read.session_id).layers
        except JsonlStoreError:
            return False
        return {by for by, fields in layers.items() if fields} == {IMPORTER}

    def _write(self, read: ReadRow) -> None:
        """Three events at most, each complete in itself; doing it again adds only what is missing."""
        store, session_id = self._store, read.session_id
        store.start(session_id, by=IMPORTER, **read.fields)
        if read.end_time is not None and not store.folded(session_id).ended:
            if read.crash_recovered:
                store.recover(session_id, read.end_time, by=IMPORTER)
            else:
                store.end(session_id, end_time=read.end_time, by=IMPORTER)
        if read.continued_by is not None:
            store.link(session_id, read.continued_by, by=IMPORTER)


_IDS = ("id", "previous_session_id", "continued_by")


def _safe(value: object) -> object:
    """An id that looks like a secret becomes a derived one, the same wherever it is referred to."""
    return usable_id(value) if isinstance(value, str) and is_secret_id(value) else value


def _shown(value: object) -> str:
    text = str(sanitised(value if isinstance(value, str) else repr(value)))
    return text if len(text) <= 60 else text[:57] + "..."
