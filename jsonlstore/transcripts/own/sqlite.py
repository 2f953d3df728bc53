"""The SQLite backend's database, read page by page without changing a byte of it.

Rows are never deleted or moved, and within a session their numbers follow the order of writing: the cursor is the
number of a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.session_key import OWN_RUNTIME, channel_of, compactions_of, skip_reason, window_of
from jsonlstore.transcripts.database import DatabaseSource
from jsonlstore.transcripts.json_values import parse_object, read_time
from jsonlstore.transcripts.own import agent_in
from jsonlstore.transcripts.readonly import cell_text
from jsonlstore.transcripts.records import parse_entry
from jsonlstore.transcripts.source import Cursor, Reading, Transcript
from jsonlstore.transcripts.stretches import usable_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jsonlstore.transcripts.readonly import Database
    from jsonlstore.transcripts.records import Entry

_PAGE_ROWS = 512
_PAGE_BYTES = 1 << 20
_NEEDED = frozenset({"session_key", "type", "timestamp", "data"})
_LIST = (
    "SELECT key, updated_at, metadata, (SELECT rowid FROM messages WHERE session_key = key "
    "ORDER BY timestamp DESC, rowid DESC LIMIT 1) FROM sessions"
)
# by time, then by row: the order of writing, which has an index
_PAGE = (
    "SELECT rowid, timestamp, data FROM messages WHERE session_key = ? AND (timestamp, rowid) > (?, ?) "
    "ORDER BY timestamp, rowid LIMIT ?"
)
_TIME_OF = "SELECT timestamp FROM messages WHERE rowid = ? AND session_key = ?"
_FIRST = -(2**63)
_MEASURE = "SELECT coalesce(sum(length(CAST(data AS BLOB)) + 1), 0), count(*) FROM messages WHERE session_key = ?"
_BEHIND = "SELECT count(*) FROM messages WHERE session_key = ? AND rowid > ?"


class OwnDatabase(DatabaseSource):
    """One database of ours; each session key is a transcript."""

    kind = "sqlite"

    def __init__(self, path: Path) -> None:
        super().__init__(path, OWN_RUNTIME)

    def _list(self, database: Database) -> list[Transcript]:
        self._warnings = []
        if not database.columns("messages") >= _NEEDED:
            # an empty file is a store that is just being created
            if database.columns("sessions") or database.schema_version:
                self._warnings.append(f"unknown schema {database.schema_version} in {self.path}: no messages")
            return []
        return [self._transcript(*row) for row in database.connection.execute(_LIST)]

    def _transcript(self, key: bytes, updated: object, metadata: object, newest: int | None) -> Transcript:
        name = cell_text(key)
        details = (parse_object(metadata) if isinstance(metadata, bytes) else None) or {}
        native = details.get("sessionId")
        native_id = native if isinstance(native, str) and native else name
        session_id = usable_id(native_id)
        return Transcript(
            agent_id=agent_in(name),
            kind=self.kind,
            path=self.path,
            session_id=session_id,
            session_key=name,
            channel=channel_of(details, name),
            updated_at=read_time(updated),
            skip=skip_reason(name),
            part=name,
            native_id=native_id if native_id != session_id else None,
            newest=newest,
            context_tokens=window_of(details),
            compactions=compactions_of(details),
        )

    def read(self, transcript: Transcript, after: Cursor | None = None) -> Reading:
        reading = Reading()
        return reading.deliver(self._entries(transcript, after, reading))

    def _entries(self, transcript: Transcript, after: Cursor | None, reading: Reading) -> Iterator[Entry]:
        identity = self.own_identity()
        at = self._time_of(transcript.part, after, identity)
        fits = after is not None and at is not None
        position = after.position if after is not None and fits else -1
        last = after.last_entry_id if after is not None and fits else None
        reading.restarted = after is not None and not fits
        while page := self._page(transcript.part, _FIRST if at is None else at, position):
            for position, moment, data in page:
                at = moment
                entry = parse_entry(data, position)
                if entry is None:
                    reading.skip(position, len(data), "malformed")
                    continue
                last = entry.id or last
                yield entry
        reading.cursor = Cursor(self.kind, identity, position, None, last)

    def _time_of(self, key: str, cursor: Cursor | None, identity: str) -> int | None:
        """The time of the row at the cursor; None if that row is not in this file or not of this session."""
        if cursor is None or (cursor.kind, cursor.identity) != (self.kind, identity):
            return None
        position = cursor.position
        row = self.query(lambda database: database.connection.execute(_TIME_OF, (position, key)).fetchone())
        return int(row[0]) if row else None

    def _page(self, key: str, at: int, after: int) -> list[tuple[int, int, bytes]]:
        """The next rows, as many as fit a page."""

        def ask(database: Database) -> list[tuple[int, int, bytes]]:
            page: list[tuple[int, int, bytes]] = []
            size = 0
            rows = database.connection.execute(_PAGE, (key, at, after, _PAGE_ROWS))
            for rowid, moment, data in rows:
                page.append((rowid, moment, bytes(data)))
                size += len(data)
                if size >= _PAGE_BYTES:
                    break
            rows.close()
            return page

        return self.query(ask)

    def has_new(self, transcript: Transcript, cursor: Cursor | None) -> bool:
        at = self._time_of(transcript.part, cursor, self.own_identity())
        return cursor is None or at is None or bool(self._page(transcript.part, at, cursor.position))

    def lag(self, transcript: Transcript, cursor: Cursor | None) -> int:
        known = cursor.position if cursor is not None and cursor.kind == self.kind else -1
        if transcript.newest is not None and transcript.newest <= known:
            return 0
        key = transcript.part
        return self.query(lambda database: int(database.connection.execute(_BEHIND, (key, known)).fetchone()[0]))

    def measure(self, transcript: Transcript) -> tuple[int, int]:
        size, rows = self.query(lambda database: database.connection.execute(_MEASURE, (transcript.part,)).fetchone())
        return size, rows
