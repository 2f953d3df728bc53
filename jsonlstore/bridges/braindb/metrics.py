"""Our five metrics events in Cortex's metrics.db, when there is one and the config says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.bridges.braindb.database import Writer, connected
from jsonlstore.bridges.braindb.migration import columns_of
from jsonlstore.core.clock import Clock, format_time, system_clock
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from pathlib import Path

log = logger(__name__)

WAIT_SECONDS = 0.1
_TABLE = "cortex_metrics"
_NEEDED = {"timestamp", "metric_name", "metric_value", "context"}
# the number that says most about each event; the rest is in the context
_VALUE = {
    "session_captured": "duration_minutes",
    "session_restored": "pins_inherited",
    "confidence_decay_applied": "decayed_confidence",
    "pending_task_surfaced": "days_pending",
    "session_chain_traversal": "sessions_found",
}


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
                Writer(connection, self._path, WAIT_SECONDS).transact(lambda _full: _insert(connection, rows))
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


def _insert(connection: sqlite3.Connection, rows: Sequence[tuple[str, str, float, str]]) -> None:
    connection.executemany(
        f"INSERT INTO {_TABLE} (timestamp, metric_name, metric_value, context) VALUES (?, ?, ?, ?)",  # noqa: S608
        rows,
    )
