"""GoClaw: one `sessions.db` beside OpenClaw's directories, read only.

It has the documented schema, or the one that GoClaw shipped (versions 1 to 6 and later).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonlstore.core.paths import is_session_id
from jsonlstore.core.session_key import channel_of, skip_reason
from jsonlstore.transcripts.database import DatabaseSource
from jsonlstore.transcripts.json_values import parse_object, read_time
from jsonlstore.transcripts.readonly import Database, cell_text, fingerprint
from jsonlstore.transcripts.records import Entry
from jsonlstore.transcripts.runtimes import Discovery, Runtime, may_exist
from jsonlstore.transcripts.source import Cursor, Reading, Transcript
from jsonlstore.transcripts.stretches import STRETCH_NAMESPACE

_DOCUMENTED = frozenset({"id", "session_key", "parent_id", "type", "timestamp", "data"})
_SHIPPED = frozenset({"id", "session_key", "timestamp", "role", "content"})
_SECONDS_BEFORE = 100_000_000_000  # smaller numbers are seconds: read as milliseconds they would lie in 1973
_MESSAGES = "session_key = ? AND rowid > ?"
_TOOL_FIELDS = ("tool_call_id", "tool_name", "tool_input", "tool_result", "tool_is_error")
_OTHERS = ("checkpoints", "compactions")
_OTHER_FIELDS = ("parent_id", "first_kept_entry_id", "tokens_before", "topics", "key_decisions", "open_questions")


class GoClaw(Runtime):
    """GoClaw keeps every agent's sessions in one database of the state directory."""

    def discover(self, state_dir: Path) -> Discovery:
        database = _folder(state_dir) / "sessions.db"
        return Discovery([GoclawSource(database)] if may_exist(database) else [])

    def watched(self, state_dir: Path) -> list[Path]:
        return [_folder(state_dir)]


RUNTIME = GoClaw()


def _folder(state_dir: Path) -> Path:
    return state_dir / "goclaw"


class GoclawSource(DatabaseSource):
    """One GoClaw database; each session key is a transcript."""

    kind = "goclaw"

    def __init__(self, path: Path) -> None:
        super().__init__(path, "goclaw")

    def extent(self, transcript: Transcript) -> tuple[object, ...]:
        # rows do not say how far they go, so a change of the whole file counts
        return self.kind, transcript.part, fingerprint(self.path)

    def _list(self, database: Database) -> list[Transcript]:
        self._warnings = []
        if not _shape(database):
            self._warnings.append(f"unknown schema {database.schema_version} in {self.path}: no GoClaw messages")
            return []
        rows = database.rows("sessions", ("key", "id", "updated_at", "metadata"))
        return [self._transcript(cell_text(key), known, at, metadata) for key, known, at, metadata in rows]

    def _transcript(self, key: str, known: object, at: object, metadata: object) -> Transcript:
        parts = key.split(":")
        details = parse_object(metadata) if isinstance(metadata, bytes) else None
        return Transcript(
            agent_id=parts[1] if len(parts) > 1 else self.agent_id,
            kind="goclaw",
            path=self.path,
            session_id=_session_id(key, known),
            session_key=key,
            channel=channel_of(details or {}, key),
            updated_at=_time(at),
            skip=skip_reason(key),
            part=key,
        )

    def read(self, transcript: Transcript, after: Cursor | None = None) -> Reading:
        reading = Reading()
        return reading.deliver(self._entries(transcript, after, reading))

    def _entries(self, transcript: Transcript, after: Cursor | None, reading: Reading) -> Iterator[Entry]:
        identity = self.own_identity()
        start = after.position if after and (after.kind, after.identity) == ("goclaw", identity) else -1
        reading.restarted = after is not None and start < 0
        rows = self._rows(transcript.part, start)
        position, last = start, after.last_entry_id if after and start >= 0 else None
        for rowid, raw in rows:
            position = max(position, rowid)
            if raw is None:
                reading.skip(rowid, 0, "malformed")
                continue
            entry = Entry(raw, rowid)
            last = entry.id or last
            yield entry
        reading.cursor = Cursor("goclaw", identity, position, None, last)

    def _rows(self, key: str, after: int) -> list[tuple[int, dict[str, Any] | None]]:
        return self.query(
            lambda database: (_documented if _shape(database) == "document" else _shipped)(database, key, after)
        )

    def has_new(self, transcript: Transcript, cursor: Cursor | None) -> bool:
        return cursor is None or any(True for _ in self.read(transcript, cursor))

    def measure(self, transcript: Transcript) -> tuple[int, int]:
        rows = self._rows(transcript.part, -1)
        return sum(len(str(raw)) for _, raw in rows), len(rows)


def _shape(database: Database) -> str | None:
    columns = database.columns("messages")
    if not database.columns("sessions") >= {"key"}:
        return None
    if columns >= _DOCUMENTED:
        return "document"
    return "shipped" if columns >= _SHIPPED else None


def _documented(database: Database, key: str, after: int) -> list[tuple[int, dict[str, Any] | None]]:
    fields = ("messages.rowid", "id", "parent_id", "type", "timestamp", "data")
    rows = database.rows("messages", fields, f"{_MESSAGES} ORDER BY timestamp, rowid", (key, after))
    return [(row[0], _documented_record(*row[1:])) for row in rows]


def _documented_record(
    entry_id: object, parent: object, kind: object, at: object, data: object
) -> dict[str, Any] | None:
    inner = parse_object(data) if isinstance(data, bytes) else None
    if inner is None:
        return None
    kind_text = cell_text(kind)
    is_message = kind_text == "message" and "message" not in inner
    body = {"message": inner} if is_message else inner
    return {**body, "type": kind_text, **_envelope(entry_id, parent, at)}


def _shipped(database: Database, key: str, after: int) -> list[tuple[int, dict[str, Any] | None]]:
    """The messages; when reading from the start also the checkpoints and compactions between them, by time."""
    fields = ("messages.rowid", "id", "timestamp", "role", "content", "parent_id", *_TOOL_FIELDS)
    found: list[tuple[int, int, int, dict[str, Any] | None]] = [
        (_stamp(row[2]), 1, row[0], _shipped_record(row))
        for row in database.rows("messages", fields, _MESSAGES, (key, after))
    ]
    if after < 0:
        for table in _OTHERS:
            found += _others(database, table, key)
    found.sort(key=lambda one: one[:3])
    return [(rowid, raw) for _, _, rowid, raw in found]


def _shipped_record(row: tuple[Any, ...]) -> dict[str, Any]:
    _, entry_id, at, role, content, parent, call_id, tool, tool_input, tool_result, is_error = row
    name = cell_text(role)
    text = cell_text(content) if content is not None else ""
    message: dict[str, Any] = {"role": name, "content": text}
    if name in {"tool_use", "tool_call"} or (name == "assistant" and tool):
        call = {
            "type": "toolCall",
            "id": cell_text(call_id or b""),
            "name": cell_text(tool or b""),
            "arguments": _arguments(tool_input),
        }
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        message = {"role": "assistant", "content": [*blocks, call]}
    elif name in {"tool_result", "tool", "toolResult"}:
        result = cell_text(tool_result) if tool_result else text
        message = {
            "role": "toolResult",
            "toolCallId": cell_text(call_id or b""),
            "toolName": cell_text(tool or b""),
            "content": [{"type": "text", "text": result}],
            "isError": bool(is_error),
        }
    return {"type": "message", **_envelope(entry_id, parent, at), "message": message}


def _others(database: Database, table: str, key: str) -> list[tuple[int, int, int, dict[str, Any] | None]]:
    if not database.columns(table) >= {"id", "session_key", "timestamp", "summary"}:
        return []
    found: list[tuple[int, int, int, dict[str, Any] | None]] = []
    rows = database.rows(
        table, ("id", "timestamp", "summary", *_OTHER_FIELDS), "session_key = ? ORDER BY rowid", (key,)
    )
    for entry_id, at, summary, parent, first_kept, tokens, *lists in rows:
        envelope = _envelope(entry_id, parent, at)
        if table == "compactions":
            raw = {"type": "compaction", **envelope, "summary": cell_text(summary), "tokensBefore": tokens}
            raw["firstKeptEntryId"] = cell_text(first_kept) if first_kept else None
        else:
            fields = dict(zip(("topics", "keyDecisions", "openQuestions"), map(_list, lists), strict=True))
            raw = {"type": "checkpoint", **envelope, "checkpoint": {"summary": cell_text(summary), **fields}}
        found.append((_stamp(at), 2, 0, raw))
    return found


def _envelope(entry_id: object, parent: object, at: object) -> dict[str, Any]:
    return {"id": cell_text(entry_id), "parentId": cell_text(parent) if parent else None, "timestamp": _time(at)}


def _arguments(value: object) -> dict[str, Any]:
    return (parse_object(value) if isinstance(value, bytes) else None) or {}


def _list(value: object) -> list[Any]:
    parsed = parse_object(b'{"list":' + value + b"}") if isinstance(value, bytes) else None
    items = parsed["list"] if parsed else None
    return items if isinstance(items, list) else []


def _stamp(at: object) -> int:
    if not isinstance(at, int):
        return 0
    return at * 1000 if abs(at) < _SECONDS_BEFORE else at


def _time(at: object) -> str | None:
    return read_time(_stamp(at)) if isinstance(at, int) else read_time(cell_text(at) if at else None)


def _session_id(key: str, known: object) -> str:
    """GoClaw's own id, else the key if it can be an id, else one derived from it."""
    candidates = (cell_text(known) if known else "", key)
    return next(filter(is_session_id, candidates), None) or str(uuid.uuid5(STRETCH_NAMESPACE, f"goclaw:{key}"))
