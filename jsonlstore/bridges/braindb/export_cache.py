"""A cache of what was exported where: how long each session's log was when its row was written.

It lies beside the index. Without it, or where it is wrong about a row, a reconciliation compares contents instead.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import read_bytes
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import shorten_home

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.bridges.braindb.desired import LogVersion
    from jsonlstore.store.reader import SessionReader

log = logger(__name__)

_VERSION = 1


class ExportCache:
    """The exports of one store to one database."""

    def __init__(self, store: SessionReader, database: Path) -> None:
        self._store = store
        real = os.path.realpath(database)
        self._database = os.fsencode(shorten_home(real)).decode("utf-8", "backslashreplace")
        name = hashlib.sha256(os.fsencode(real)).hexdigest()[:16]
        self.path = store.paths.states / "exports" / f"brain-db-{name}.json"
        self._rows: dict[str, list[Any]] = self._read()
        self._dirty = False

    def is_current(self, session_id: str, version: LogVersion, updated_at: str | None, *, present: bool) -> bool:
        """Was this version of the log exported, and is the row still that one or another writer's later one?"""
        cached = self._rows.get(session_id)
        if cached is None or cached[0] != version[0] or cached[1] != version[1]:
            return False
        if cached[2] is None:  # a tombstone: there must be no row
            return not present
        return present and str(updated_at or "") >= str(cached[2])

    def __contains__(self, session_id: object) -> bool:
        return session_id in self._rows

    def add(self, session_id: str, version: LogVersion | None, updated_at: str | None) -> None:
        """The log was exported up to `version` into a row with this `updated_at`; None: there is no row."""
        if version is None:
            return
        entry = [version[0], version[1], updated_at]
        if self._rows.get(session_id) != entry:
            self._rows[session_id] = entry
            self._dirty = True

    def drop(self, session_id: str) -> None:
        """The row is gone."""
        self._dirty |= self._rows.pop(session_id, None) is not None

    def save(self) -> None:
        """Keep it for the next export. A failure makes that one slower and nothing else."""
        if not self._dirty:
            return
        data = orjson.dumps({"version": _VERSION, "database": self._database, "rows": self._rows})
        try:
            self._store.disk.make_dir(self.path.parent)
            self._store.disk.replace(self.path, data, self._store.paths.states)
            self._dirty = False
        except JsonlStoreError as problem:
            log.warning("the next export to brain.db will compare every row: %s", problem)

    def _read(self) -> dict[str, list[Any]]:
        try:
            raw = orjson.loads(read_bytes(self.path) or b"{}")
            if raw.get("version") == _VERSION and raw.get("database") == self._database:
                return {key: cached for key, cached in raw["rows"].items() if len(cached) == 3}
        except (JsonlStoreError, orjson.JSONDecodeError, AttributeError, KeyError, TypeError) as problem:
            log.debug("export cache %s is not usable: %s", self.path, problem)
        return {}
