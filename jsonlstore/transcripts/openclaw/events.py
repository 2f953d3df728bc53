"""The table `transcript_events`: rows in pages of bounded size, and what is asked of one session without reading it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonlstore.transcripts.readonly import Database

_PAGE_ROWS = 256
_PAGE_BYTES = 4 * 1024 * 1024
_TABLE = "transcript_events"
_RESETS = "SELECT event_json FROM transcript_events WHERE session_id = ? AND event_json LIKE '%\"reset\"%' ORDER BY seq"
_LAST_SEQ = 2**63 - 1  # text sorts behind every number


def has_events(database: Database, session_id: str) -> bool:
    """Whether there is a row of this session."""
    if "event_json" not in database.columns(_TABLE):
        return False
    query = "SELECT 1 FROM transcript_events WHERE session_id = ? LIMIT 1"  # in whichever form its events are kept
    return database.connection.execute(query, (session_id,)).fetchone() is not None


def reset_ids(database: Database, session_id: str) -> list[str]:
    """The ids of a session's reset records, oldest first."""
    if "event_json" not in database.columns(_TABLE):
        return []
    import orjson

    query = (
        "SELECT event_json FROM transcript_events WHERE session_id = ? AND event_json LIKE '%\"reset\"%' ORDER BY seq"
    )
    found = []
    for (data,) in database.connection.execute(query, (session_id,)):
        try:
            record = orjson.loads(data)
        except orjson.JSONDecodeError:
            continue  # a reset that cannot be read began nothing we could name
        if isinstance(record, dict) and record.get("type") == "reset" and isinstance(record.get("id"), str):
            found.append(record["id"])
    return found


def pages(database: Database, session_id: str, after: int, max_cell: int) -> Iterator[list[tuple[int, bytes | None]]]:
    """Checked pages of rows after `after`, bounded in rows and bytes; a cell above the limit is never loaded."""
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
    """The next row alone, known by its number only if it is above the limit or on a damaged page."""
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
    """One event out of its zstd frame; None if it is damaged or would be larger than the limit."""
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
