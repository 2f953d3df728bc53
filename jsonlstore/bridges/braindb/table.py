"""The table `session_states` of one database: list, read, upsert and delete rows."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.braindb.database import decode_leniently, explained
from jsonlstore.bridges.braindb.migration import columns_of, has_rowid
from jsonlstore.bridges.braindb.rows import Row, as_dict, is_contained_in, upsert_sql
from jsonlstore.bridges.braindb.schema import COLUMNS
from jsonlstore.core.errors import JsonlStoreError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from jsonlstore.bridges.braindb.desired import Desired

_PAGE = 1500  # rows listed at a time
_SLICE = 50  # rows fetched whole at a time


class RowRefused(JsonlStoreError):
    """The table does not take a row: a constraint of its owner's, or a value no column can hold."""


class SessionTable:
    """The table behind a connection; without one it does not exist yet, and has no rows."""

    def __init__(self, connection: sqlite3.Connection | None, path: Path) -> None:
        self._connection = connection
        self._path = path
        columns = COLUMNS if connection is None else columns_of(connection)
        self.lacks = [name for name in COLUMNS if name not in columns]
        self.removed = False  # anything, by us
        self._upsert = upsert_sql(columns)
        self._width = max(number for number, name in enumerate(COLUMNS, 1) if name in columns)

    def updated_at(self) -> dict[str, str | None]:
        """Every row there is, and when it was last updated."""
        if self._connection is None:
            return {}
        column = "NULL" if "updated_at" in self.lacks else "updated_at"
        found: dict[str, str | None] = {}
        after = -(2**63)
        with explained(self._path):
            if not has_rowid(self._connection):
                listed = self._fetch(f"SELECT id, {column} FROM session_states")  # noqa: S608
                return {key: stamp for key, stamp in listed if isinstance(key, str)}
            # page by page: without a write-ahead log nobody can commit while somebody reads
            sql = f"SELECT id, {column}, _rowid_ FROM session_states WHERE _rowid_ > ? ORDER BY _rowid_ LIMIT ?"  # noqa: S608
            while page := self._fetch(sql, (after, _PAGE)):
                found.update([(key, stamp) for key, stamp, _ in page if isinstance(key, str)])
                after = page[-1][2]
        return found

    def _fetch(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query: quickly if all text is text, and whatever somebody stored as text if not."""
        assert self._connection is not None
        try:
            self._connection.text_factory = str
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.OperationalError as problem:
            if getattr(problem, "sqlite_errorcode", None) is not None:
                raise  # the database's trouble, not that of a text
        finally:
            self._connection.text_factory = decode_leniently
        return self._connection.execute(sql, values).fetchall()

    def rows(self, session_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Those of these sessions that have a row, and what it says in the columns that can be written."""
        if self._connection is None or not session_ids:
            return {}
        found: dict[str, dict[str, Any]] = {}
        with explained(self._path):
            for start in range(0, len(session_ids), _SLICE):
                some = session_ids[start : start + _SLICE]
                marks = ",".join("?" * len(some))
                cursor = self._connection.execute(f"SELECT * FROM session_states WHERE id IN ({marks})", some)  # noqa: S608
                for row in cursor:
                    said = as_dict(cursor, row)
                    found[said["id"]] = {name: value for name, value in said.items() if name not in self.lacks}
        return found

    def put(self, rows: Sequence[Row]) -> None:
        """Insert or update, within a transaction; raises `RowRefused`, whichever of them it was."""
        assert self._connection is not None
        if self._width < len(COLUMNS):
            rows = [row[: self._width] for row in rows]  # a statement takes no more values than it speaks of
        try:
            self._connection.executemany(self._upsert, rows)
        except (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError, OverflowError) as problem:
            raise RowRefused(str(problem), path=self._path) from problem

    def may_delete(self, session_id: str, desired: Desired) -> bool:
        """May the row go? A forgotten session's always; an archived one's if the archive holds all it says."""
        if self._connection is None or desired.kind not in ("archived", "forgotten"):
            return False
        if desired.kind == "forgotten":
            return True
        cursor = self._connection.execute("SELECT * FROM session_states WHERE id = ?", (session_id,))
        found = cursor.fetchone()
        return found is not None and is_contained_in(as_dict(cursor, found), desired.state or {})

    def delete(self, session_id: str) -> None:
        """Delete a row; within a transaction."""
        assert self._connection is not None
        self._connection.execute("DELETE FROM session_states WHERE id = ?", (session_id,))
        self.removed = True
