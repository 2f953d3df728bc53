"""The formats of an export: how rows become a file, and how a file tells which sessions it holds."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from jsonlstore.core.errors import JsonlStoreError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_TEXTS = (
    "host", "session_id", "version", "agent_id", "session_key", "channel", "start_time", "end_time", "updated_at",
    "end_reason", "previous_session_id", "continued_by", "last_topic", "next_step", "last_answer",
)  # fmt: skip
_LISTS = ("hot_topics", "active_projects", "in_progress", "open_questions", "constraints", "recent_learnings")
_PARTS = {
    "pending_tasks": ("task_id", "title", "stage"),
    "notes": ("type", "content", "timestamp"),
    "commits": ("sha", "subject", "at"),
    "working_memory": ("label", "content"),
}


class MissingParquet(JsonlStoreError):
    """Parquet was asked for and pyarrow is not there."""


class Format(Protocol):
    """One way to write rows."""

    suffix: str

    def dump(self, rows: Sequence[dict[str, Any]], table: str) -> bytes: ...

    def load(self, path: Path) -> list[dict[str, Any]]: ...


class JsonLines:
    """One JSON object a line: everything a state holds."""

    suffix = ".jsonl"

    def dump(self, rows: Sequence[dict[str, Any]], table: str) -> bytes:
        return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS) for row in rows)

    def load(self, path: Path) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


class Parquet:
    """Columns with fixed types; `state` has the whole state as JSON text."""

    suffix = ".parquet"

    def __init__(self) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as problem:
            raise MissingParquet("Parquet needs pyarrow", hint="pip install 'jsonlstore[parquet]'") from problem
        self._arrow, self._parquet = pa, pq

    def dump(self, rows: Sequence[dict[str, Any]], table: str) -> bytes:
        schema = self._schema(table)
        wanted = rows if table == "events" else [_flat(row) for row in rows]
        columns = {name: [row.get(name) for row in wanted] for name in schema.names}
        out = io.BytesIO()
        made = self._arrow.table(columns, schema=schema)
        self._parquet.write_table(made, out, compression="zstd")
        return out.getvalue()

    def load(self, path: Path) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._parquet.ParquetFile(path).read().to_pylist()
        return found

    def _schema(self, table: str) -> Any:
        arrow = self._arrow
        text = arrow.string()
        if table == "events":
            names = ("host", "session_id", "version", "at", "type", "by", "data")
            return arrow.schema([*((name, text) for name in names), ("seq", arrow.int64())])
        parts = {name: arrow.list_(arrow.struct([(one, text) for one in keys])) for name, keys in _PARTS.items()}
        numbers = [("tokens_used", arrow.int64()), ("tokens_window", arrow.int64()), ("crash_recovered", arrow.bool_())]
        lists = [(name, arrow.list_(text)) for name in _LISTS]
        return arrow.schema([*((name, text) for name in _TEXTS), *lists, *parts.items(), *numbers, ("state", text)])


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """The columns of a session; a row that was read from Parquet has them already."""
    if "state" in row:
        return row
    tokens = row.get("tokens") or {}
    parts = {
        name: [{key: _as_text(one.get(key)) for key in keys} for one in row.get(name) or ()]
        for name, keys in _PARTS.items()
    }
    return {
        **{name: row.get(name) for name in (*_TEXTS, *_LISTS, "crash_recovered")},
        **parts,
        "tokens_used": tokens.get("used"),
        "tokens_window": tokens.get("window"),
        "state": orjson.dumps(row, option=orjson.OPT_NON_STR_KEYS).decode(),
    }


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)
