"""Sources that keep all their transcripts in one SQLite database."""

from __future__ import annotations

import sqlite3
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.transcripts.readonly import Database, consistently, fingerprint
from jsonlstore.transcripts.source import Cursor, Transcript, TranscriptSource, file_identity

SETTLING_SECONDS = 0.03  # several ticks of the coarsest clock that file times are taken from
T = TypeVar("T")


class DatabaseSource(TranscriptSource):
    """The common part of database sources; a subclass lists and reads its tables."""

    medium = "a database"
    lag_unit = "events"
    ids_span_resets = True

    def __init__(self, path: Path, agent_id: str) -> None:
        self.path = path
        self.agent_id = agent_id
        self._warnings: list[str] = []

    def transcripts(self) -> list[Transcript]:
        try:
            return self.query(self._list)
        except SourceUnreadable as problem:
            self._warnings = [problem.message]
        return []

    @abstractmethod
    def _list(self, database: Database) -> list[Transcript]:
        """The transcripts in one consistent state of the database; problems are added to `_warnings`."""

    def query(self, ask: Callable[[Database], T]) -> T:
        """The result of `ask` on one consistent state of the database; SQLite's errors become `SourceUnreadable`."""
        try:
            return consistently(self.path, ask)
        except sqlite3.Error as problem:
            raise SourceUnreadable(f"cannot read {self.path}: {problem}", path=self.path) from problem

    def version(self) -> object:
        return fingerprint(self.path)

    def is_settled(self, now: float) -> bool:
        # a write-ahead log is overwritten from its start, so the next write may leave the same size and time
        times = [file[1] / 1e9 for file in fingerprint(self.path) if file is not None]
        return not any(0 <= now - moment < SETTLING_SECONDS for moment in times)

    def lag(self, transcript: Transcript, cursor: Cursor | None) -> int:
        known = cursor.position if cursor is not None and cursor.kind == self.kind else -1
        newest = transcript.newest if transcript.newest is not None else 0
        return max(0, newest - known)

    def own_identity(self) -> str:
        """The identity of the database file."""
        return file_identity(self.path)
