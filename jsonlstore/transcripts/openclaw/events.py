"""The table `transcript_events`: rows in pages of bounded size."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from jsonlstore.transcripts.readonly import Database

_PAGE_ROWS = 256
_PAGE_BYTES = 4 * 1024 * 1024
_LAST_SEQ = 2**63 - 1  # in SQLite's order text sorts behind every number


def pages(database: Database, session_id: str, after: int, max_cell: int) -> Iterator[list[tuple[int, bytes | None]]]:
    """Checked pages of rows after `after`, bounded in rows and bytes; an oversized cell is never loaded."""
    zipped = "event_zstd" if "event_zstd" in database.columns("transcript_events") else "NULL"
    columns = f"SELECT seq, event_json, {zipped} FROM transcript_events WHERE session_id = ? AND seq"  # noqa: S608
    database.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max_cell)
    while True:
        try:
            query = f"{columns} > ? AND seq <= ? ORDER BY seq LIMIT ?"
            rows = database.connection.execute(query, (session_id, after, _LAST_SEQ, _PAGE_ROWS))
            page = _page(rows, max_cell)
        except sqlite3.DatabaseError:
            database.check()
            page = _row_by_row(database, f"{columns} = ?", session_id, after, max_cell)
        database.check()
        if not page:
            return
        yield page
        after = page[-1][0]


def _page(rows: sqlite3.Cursor, max_cell: int) -> list[tuple[int, bytes | None]]:
    page: list[tuple[int, bytes | None]] = []
    size = 0
    with closing(rows):
        for seq, text, blob in rows:
            cell = text if text is not None else _unzip(blob, max_cell)
            page.append((seq, cell))
            size += len(cell) if cell.__class__ is bytes else 0
            if size >= _PAGE_BYTES:
                break
    return page


def _row_by_row(
    database: Database, query: str, session_id: str, after: int, max_cell: int
) -> list[tuple[int, bytes | None]]:
    """The next row alone; only its number if it is oversized or on a damaged page."""
    following = "SELECT seq FROM transcript_events WHERE session_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT 1"
    found = database.connection.execute(following, (session_id, after, _LAST_SEQ)).fetchone()
    if not found:
        return []
    try:
        return _page(database.connection.execute(query, (session_id, found[0])), max_cell)
    except sqlite3.DatabaseError:
        database.check()
        return [(found[0], None)]


def _unzip(blob: object, limit: int) -> bytes | None:
    """One event out of its zstd frame; None if it is damaged or would exceed the size limit."""
    if not isinstance(blob, bytes):
        return None
    from jsonlstore.transcripts.lines import zstd_module

    zstd = zstd_module()
    try:
        decompressor = zstd.ZstdDecompressor()
        data: bytes = decompressor.decompress(blob, max_length=limit)
    except zstd.ZstdError:
        return None
    return data if decompressor.eof else None
