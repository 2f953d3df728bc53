"""What else of Cortex's we use: how sure it is of its memories, and its metrics.db as a place for our five events."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.bridges.braindb.database import Writer, connected, read_unchanged
from jsonlstore.bridges.braindb.migration import columns_of
from jsonlstore.bridges.braindb.rows import parse_stored_time
from jsonlstore.core.clock import Clock, format_time, system_clock
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

log = logger(__name__)

_CHUNK = 500
_CERTAIN, _GONE = 1.0, 0.0
WAIT_SECONDS = 0.1
_TABLE = "cortex_metrics"
_INSERT = f"INSERT INTO {_TABLE} (timestamp, metric_name, metric_value, context) VALUES (?, ?, ?, ?)"  # noqa: S608
_NEEDED = {"timestamp", "metric_name", "metric_value", "context"}
# the number that says most about each event; the rest is in the context
_VALUE = {
    "session_captured": "duration_minutes",
    "session_restored": "pins_inherited",
    "confidence_decay_applied": "decayed_confidence",
    "pending_task_surfaced": "days_pending",
    "session_chain_traversal": "sessions_found",
}


class StmMemories:
    """The `stm` table of a brain.db. Reading changes no byte of the file, and no trouble with it is ever raised."""

    def __init__(self, path: Path | str, *, clock: Clock = system_clock) -> None:
        self._path = Path(path)
        self._clock = clock
        self.problem: str | None = None

    def confidences(self, ids: Sequence[str]) -> Mapping[str, float]:
        """The stored confidence of each memory that is there; none is left in one that has expired.

        Without a `confidence` column, or a number in it, a memory counts as certain.
        """
        self.problem = None
        if not ids or not self._path.exists():
            return {}
        try:
            return read_unchanged(self._path, lambda connection: self._read(connection, ids))
        except (JsonlStoreError, OSError) as problem:
            self.problem = str(problem)
            log.warning("memories are left out: %s", problem)
            return {}

    def _read(self, connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, float]:
        columns = columns_of(connection, "stm")
        if "id" not in columns:
            return {}
        confidence = "confidence" if "confidence" in columns else "NULL"
        expires = "expires_at" if "expires_at" in columns else "NULL"
        now = format_time(self._clock())
        found: dict[str, float] = {}
        for start in range(0, len(ids), _CHUNK):
            some = list(ids[start : start + _CHUNK])
            marks = ",".join("?" * len(some))
            rows = connection.execute(
                f"SELECT id, {confidence}, {expires} FROM stm WHERE id IN ({marks})",  # noqa: S608
                some,
            )
            # said, not left out: a memory that nobody knows of counts as certain
            found.update({str(key): _GONE if _expired(until, now) else _number(value) for key, value, until in rows})
        return found


def _number(value: Any) -> float:
    try:
        number = _CERTAIN if value is None else float(value)
    except (TypeError, ValueError):
        return _CERTAIN
    return number if math.isfinite(number) else _CERTAIN


def _expired(until: Any, now: str) -> bool:
    try:
        moment = parse_stored_time(until)
    except ValueError:
        return False  # a date nobody can read has not passed
    return moment is not None and moment <= now


class MetricsDb:
    """A listener for `store.metrics`: best effort, never raises, creates neither file nor table."""

    def __init__(self, path: Path, *, clock: Clock = system_clock) -> None:
        self._path = path
        self._clock = clock
        self.problem: str | None = None

    def __call__(self, events: Sequence[Mapping[str, Any]]) -> None:
        rows = [self._row(event) for event in events if event.get("event") in _VALUE]
        if not rows or not self._path.exists():
            return
        try:
            with connected(self._path, WAIT_SECONDS) as connection:
                if not set(columns_of(connection, _TABLE)) >= _NEEDED:
                    self.problem = f"{self._path} has no table {_TABLE} with the columns of the specification"
                    return
                Writer(connection, self._path, WAIT_SECONDS).transact(lambda _: connection.executemany(_INSERT, rows))
            self.problem = None
        except (JsonlStoreError, OSError) as problem:
            self.problem = str(problem)
            log.warning("metrics are not in metrics.db, only in our own chain: %s", problem)

    def _row(self, event: Mapping[str, Any]) -> tuple[str, str, float, str]:
        name = str(event["event"])
        value = event.get(_VALUE[name])
        number = max(0.0, float(value)) if isinstance(value, (int, float)) else 0.0
        # `forget` blanks titles in our chain and cannot reach into another program's table: none goes there
        context = {key: "" if key == "title" else item for key, item in event.items() if key != "event"}
        return format_time(self._clock()), name, number, orjson.dumps(context).decode()
