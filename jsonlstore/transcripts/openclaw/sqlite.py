"""OpenClaw since 2026.8: all sessions of an agent in one SQLite database."""

from __future__ import annotations

import glob
import io
import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.core.session_key import channel_of, compactions_of, skip_reason, window_of
from jsonlstore.transcripts.database import DatabaseSource
from jsonlstore.transcripts.json_values import parse_object, read_time
from jsonlstore.transcripts.lines import MAX_LINE, is_damaged, read_entries, unpacked
from jsonlstore.transcripts.openclaw import DATABASE
from jsonlstore.transcripts.openclaw.endings import reason_of, rollover_reason
from jsonlstore.transcripts.openclaw.events import pages
from jsonlstore.transcripts.readonly import Changed, Database, cell_text, opened_readonly
from jsonlstore.transcripts.records import Entry, parse_entry
from jsonlstore.transcripts.source import BegunHash, Cursor, Ending, Reading, Transcript, reading_from
from jsonlstore.transcripts.stretches import usable_id

_NEEDED = frozenset({"session_id", "seq", "event_json"})
_ATTEMPTS = 8
_ARCHIVE_TABLES = ("session_transcript_archives", "session_transcript_cold_archives")

_COLD_FILE = "file"
# why a session without a successor ended, by the status of its last run
_LEFT = {"done": "shutdown", "failed": "crash", "killed": "crash", "timeout": "crash"}
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

_NODE_FIELDS = ("session_key", "current_session_id", "entry_json", "archived_at", "spawned_by")
_WINDOW_FIELDS = (
    "session_id", "session_key", "previous_session_id", "reason", "ended_at",
    "channel", "spawned_by", "created_at", "status",
)  # fmt: skip

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Window:
    """The data of session_windows and session_nodes about one session id."""

    session_key: str | None
    channel: str
    ending: Ending | None
    skip: str | None
    context_tokens: int | None
    compactions: int | None


class SqliteSource(DatabaseSource):
    """The `openclaw-agent.sqlite` of one agent."""

    kind = "sqlite"
    end_reason = staticmethod(reason_of)
    rollover_reason = staticmethod(rollover_reason)

    def __init__(self, agent_dir: Path, *, max_line: int = MAX_LINE) -> None:
        super().__init__(agent_dir / DATABASE, agent_dir.name)
        self._max_line = max_line

    def _list(self, database: Database) -> list[Transcript]:
        self._warnings = []
        if not database.columns("transcript_events") >= _NEEDED:
            self._warnings.append(f"unknown schema {database.schema_version} in {self.path}: no transcript_events")
            return []
        windows = self._windows(database)
        stamp = "e.created_at" if "created_at" in database.columns("transcript_events") else "NULL"
        rows = database.connection.execute(
            f"SELECT g.session_id, g.last, {stamp} FROM (SELECT session_id, max(seq) AS last FROM transcript_events "  # noqa: S608
            "GROUP BY session_id) g JOIN transcript_events e ON e.session_id = g.session_id AND e.seq = g.last"
        ).fetchall()
        marks = self._rows(database, "transcript_rewrite_watermarks", ("session_id", "generation"))
        generations = {cell_text(session_id): cell_text(generation) for session_id, generation in marks}
        found = []
        for session_id, newest, at in rows:
            one = self._transcript(cell_text(session_id), read_time(at), windows)
            found.append(replace(one, newest=newest, generation=generations.get(cell_text(session_id))))
        return found + self._archives(database, windows)

    def _transcript(self, native: str, at: str | None, windows: dict[str, _Window]) -> Transcript:
        window = windows.get(native)
        session_id = usable_id(native)
        return Transcript(
            agent_id=self.agent_id,
            kind="sqlite",
            path=self.path,
            session_id=session_id,
            native_id=native if native != session_id else None,
            session_key=window.session_key if window else None,
            channel=window.channel if window else "unknown",
            updated_at=at,
            ending=window.ending if window else None,
            skip=window.skip if window else None,
            context_tokens=window.context_tokens if window else None,
            compactions=window.compactions if window else None,
        )

    def _archives(self, database: Database, windows: dict[str, _Window]) -> list[Transcript]:
        """The transcripts of deleted or cold sessions, kept as blobs in the database."""
        found = []
        for table in _ARCHIVE_TABLES:
            if not database.columns(table) >= {"session_id", "generation", "archive_blob"}:
                continue
            fields = (
                "session_id",
                "generation",
                "session_key",
                "reason",
                "created_at",
                "archived_at",
                "length(archive_blob)",
            )
            rows = self._rows(database, table, fields, "archive_blob IS NOT NULL")
            for session_id, generation, key, why, created, archived, size in rows:
                when = read_time(created if created is not None else archived)
                base = self._transcript(cell_text(session_id), when, windows)
                if key is not None and base.session_key is None:  # its window row was deleted with it
                    known = cell_text(key)
                    base = replace(base, session_key=known, channel=channel_of({}, known), skip=skip_reason(known))
                state = {"deleted": "deleted", "reset": "reset"}.get(cell_text(why), "archived")
                ending = base.ending if state == "archived" else Ending(state, when)
                found.append(
                    replace(base, state=state, ending=ending, size=size or 0, part=f"{table}:{cell_text(generation)}")
                )
        return found + self._cold_files(database, windows)

    def _cold_files(self, database: Database, windows: dict[str, _Window]) -> list[Transcript]:
        """Cold sessions whose events OpenClaw moved into files of their own; a missing file is a warning."""
        table = "session_transcript_cold_archives"
        if not database.columns(table) >= {"session_id", "archive_name", "storage"}:
            return []
        found = []
        for session_id, name in self._rows(database, table, ("session_id", "archive_name"), "storage = 'file'"):
            base = self._transcript(cell_text(session_id), None, windows)
            base_name = os.path.basename(cell_text(name))
            file = next(self.path.parent.parent.rglob(glob.escape(base_name)), None) if base_name else None
            if file is None:
                self._warnings.append(f"the cold archive {cell_text(name)} of {base.session_id} is not there")
            else:
                found.append(replace(base, state="archived", size=_size(file), part=f"{_COLD_FILE}:{file}"))
        return found

    def _rows(self, database: Database, table: str, fields: Sequence[str], where: str = "1") -> list[Any]:
        """The rows of an optional table: damage in it is only a warning."""
        try:
            return database.rows(table, fields, where)
        except sqlite3.DatabaseError as problem:
            database.check()
            self._warnings.append(f"cannot read {table} in {self.path}: {problem}")
            return []

    def _windows(self, database: Database) -> dict[str, _Window]:
        nodes = self._rows(database, "session_nodes", _NODE_FIELDS)
        by_key = {cell_text(row[0]): row for row in nodes}
        current = {cell_text(row[1]) for row in nodes}
        windows = self._rows(database, "session_windows", _WINDOW_FIELDS)
        successors = {cell_text(row[2]): row for row in windows if row[2] is not None}
        found = {}
        for row in windows:
            key = cell_text(row[1]) if row[1] is not None else None
            node = by_key.get(key or "")
            found[cell_text(row[0])] = _Window(
                session_key=key,
                channel=_channel(node, key, row[5]),
                ending=_ending(row, node, current, successors.get(cell_text(row[0]))),
                skip="subagent" if row[6] or (node and node[4]) else skip_reason(key),
                **_counts(node, cell_text(row[0])),
            )
        for key, node in by_key.items():
            if cell_text(node[1]) not in found:
                ending = Ending("archived", read_time(node[3])) if node[3] else None
                skip = "subagent" if node[4] else skip_reason(key)
                counts = _counts(node, cell_text(node[1]))
                found[cell_text(node[1])] = _Window(key, _channel(node, key, None), ending, skip, **counts)
        return found

    def read(self, transcript: Transcript, after: Cursor | None = None) -> Reading:
        reading = Reading()
        entries = self._archived(transcript, reading) if transcript.part else self._entries(transcript, after, reading)
        return reading.deliver(entries)

    def _entries(self, transcript: Transcript, after: Cursor | None, reading: Reading) -> Iterator[Entry]:
        session_id = transcript.native_id or transcript.session_id
        identity = self.own_identity()
        generation = self._generation(session_id)
        seq, last = -1, None
        if after is not None and after.kind == "sqlite":
            if (after.identity, after.generation) == (identity, generation):
                seq, last = after.position, after.last_entry_id
            else:
                reading.restarted = True
        changes = 0
        done = False
        while not done:
            try:
                with opened_readonly(self.path) as database:
                    for page in pages(database, session_id, seq, self._max_line):
                        for position, cell in page:
                            seq = position
                            entry = parse_entry(cell, position) if cell.__class__ is bytes else None
                            if entry is None:
                                reading.skip(position, len(cell or b""), "malformed" if cell else "undecodable")
                                continue
                            last = entry.id or last
                            yield entry
                        changes = 0
                done = True
            except Changed:
                changes += 1
                if changes > _ATTEMPTS:
                    raise SourceUnreadable(f"{self.path} changes faster than it can be read", path=self.path) from None
            except sqlite3.Error as problem:
                reading.problems.append(f"cannot read {self.path} after {session_id}:{seq}: {problem}")
                return
        reading.cursor = Cursor("sqlite", identity, seq, generation, last)

    def _archived(self, transcript: Transcript, reading: Reading) -> Iterator[Entry]:
        """The entries of a blob in an archive table: JSONL, plain or zstd."""
        table, _, generation = transcript.part.partition(":")
        if table == _COLD_FILE:
            with reading_from(Path(generation)):
                data = Path(generation).read_bytes()
        elif table in _ARCHIVE_TABLES:
            data = self._blob(table, transcript.native_id or transcript.session_id, generation)
        else:
            return
        stream: BinaryIO = io.BytesIO(data)
        if data.startswith(_ZSTD_MAGIC):
            stream = unpacked(stream)
        yield from read_entries(stream, reading, final=True, max_line=self._max_line)
        if is_damaged(stream):
            reading.skip(reading.position, 0, "undecodable")
        reading.cursor = Cursor("sqlite", self.own_identity(), reading.position, transcript.part, reading.last_entry_id)

    def _blob(self, table: str, session_id: str, generation: str) -> bytes:
        query = f"SELECT archive_blob FROM {table} WHERE session_id = ? AND generation = ?"  # noqa: S608 - a name of ours
        row = self.query(lambda database: database.connection.execute(query, (session_id, generation)).fetchone())
        return row[0] if row and isinstance(row[0], bytes) else b""

    def has_new(self, transcript: Transcript, cursor: Cursor | None) -> bool:
        if cursor is None or cursor.kind != "sqlite" or cursor.identity != self.own_identity():
            return True
        if transcript.part:
            return cursor.generation != transcript.part
        session_id = transcript.native_id or transcript.session_id
        if cursor.generation != self._generation(session_id):
            return True
        query = "SELECT 1 FROM transcript_events WHERE session_id = ? AND seq > ? LIMIT 1"
        found = self.query(
            lambda database: database.connection.execute(query, (session_id, cursor.position)).fetchone()
        )
        return found is not None

    def digest(self, transcript: Transcript, cursor: Cursor, begun: BegunHash | None = None) -> str:
        """Of the event texts up to the cursor, joined by newlines (decision 46)."""
        if transcript.part:
            return ""
        if begun is None or (begun.position is not None and begun.position > cursor.position):
            begun = BegunHash()
        after = begun.position
        try:
            with opened_readonly(self.path) as database:
                native = transcript.native_id or transcript.session_id
                found = pages(database, native, -1 if after is None else after, self._max_line)
                cells = (cell or b"" for page in found for position, cell in page if position <= cursor.position)
                joined = (b"\n" + cell if number or after is not None else cell for number, cell in enumerate(cells))
                return begun.go_on(joined, cursor.position)
        except (Changed, sqlite3.Error):
            return ""  # it was rewritten meanwhile: the next capture has it

    def measure(self, transcript: Transcript) -> tuple[int, int]:
        if transcript.part:
            return transcript.size, sum(1 for _ in self.read(transcript))

        def count(database: Database) -> Row:
            size = "length(CAST(event_json AS BLOB))"
            if "event_zstd" in database.columns("transcript_events"):
                size = f"coalesce({size}, length(event_zstd))"
            native = transcript.native_id or transcript.session_id
            row: Row = database.rows("transcript_events", (f"sum({size})", "count(*)"), "session_id = ?", (native,))[0]
            return row

        size, rows = self.query(count)
        return size or 0, rows

    def only_grew(self, before: Transcript, now: Transcript, cursor: Cursor, imprint: bytes | None) -> bool:
        # an archive is read as a whole or not at all
        return not now.part and super().only_grew(before, now, cursor, imprint)

    def unknown_records(self) -> int:
        def count(database: Database) -> int:
            columns = database.columns("transcript_events")
            if not columns >= _NEEDED:
                return 0
            empty = " AND ".join(f"{one} IS NULL" for one in ("event_json", "event_zstd") if one in columns)
            return int(database.rows("transcript_events", ("count(*)",), empty)[0][0])

        return self.query(count)

    def _generation(self, session_id: str) -> str | None:
        table, fields = "transcript_rewrite_watermarks", ("session_id", "generation")

        def query(database: Database) -> str | None:
            known = database.columns(table) >= {*fields}
            rows = database.rows(table, fields, "session_id = ?", (session_id,)) if known else []
            return cell_text(rows[0][1]) if rows else None

        return self.query(query)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _entry(node: Row | None) -> dict[str, Any]:
    return (parse_object(node[2]) if node and isinstance(node[2], bytes) else None) or {}


def _channel(node: Row | None, key: str | None, known: bytes | None) -> str:
    return channel_of(_entry(node), key, cell_text(known) if known else None)


def _counts(node: Row | None, session_id: str) -> dict[str, int | None]:
    """The model's window and the compactions of a key's current session; earlier sessions may have had another
    model.
    """
    entry = _entry(node) if node and cell_text(node[1]) == session_id else {}
    return {"context_tokens": window_of(entry), "compactions": compactions_of(entry)}


def _ending(window: Row, node: Row | None, current: set[str], successor: Row | None) -> Ending | None:
    """The ending of a session that OpenClaw left: another id is current for its key, or the key is archived or gone."""
    session_id, ended_at = cell_text(window[0]), window[4]
    if not current and successor is None:
        return None  # without any node no session is current, so nothing can be concluded
    if session_id in current:
        return Ending("archived", read_time(node[3])) if node and node[3] else None
    if successor is not None:
        return Ending(cell_text(successor[3]) if successor[3] else "replaced", read_time(ended_at or successor[7]))
    if node is None and ended_at and window[8]:
        # its key is gone without a successor: only the status of its last run tells how it ended
        return Ending(_LEFT.get(cell_text(window[8]), "unreferenced"), read_time(ended_at))
    return Ending("replaced" if node else "unreferenced", read_time(ended_at))
