"""Every source under one state directory, kept between looks so that looking again is cheap."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from jsonlstore.core.clock import format_time
from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.transcripts.catalogue import Library, Session, look_around
from jsonlstore.transcripts.openclaw.jsonl import IMPORT_ARCHIVE
from jsonlstore.transcripts.readonly import fingerprint
from jsonlstore.transcripts.source import SKIPPED_BY_DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from jsonlstore.transcripts.source import TranscriptSource


SETTLING_SECONDS = 0.03  # some ticks of the coarsest clock file times are taken from


class Shelf:
    """The sources as they are now; new agents and eras turn up by themselves."""

    def __init__(
        self,
        state_dir: Path,
        *,
        skip: AbstractSet[str] = SKIPPED_BY_DEFAULT,
        seconds: Callable[[], float] = time.time,
    ) -> None:
        self._seconds = seconds
        self.settled = True
        self._state_dir = state_dir
        self._skip = skip
        self._sources: dict[tuple[str, Path], TranscriptSource] = {}
        self._version: object = None
        self._first_words: dict[tuple[str, str], str] = {}
        self._current: dict[tuple[str, str], Session] = {}
        self.sessions: list[Session] = []
        self.library = Library([], skip=skip)

    def look(self) -> bool:
        """Look at everything that changed since the last look; False if nothing did."""
        sources, warnings = look_around(self._state_dir)
        found = {(source.kind, source.path): source for source in sources}
        self._sources = {key: self._sources.get(key, source) for key, source in found.items()}
        version = (warnings, *((key, _version_of(source)) for key, source in self._sources.items()))
        if version == self._version:
            return False
        self.library = Library(list(self._sources.values()), skip=self._skip, warnings=warnings)
        self.sessions = self.library.sessions()
        self.settled = not any(self._just_written(source) for source in self._sources.values())
        # what could not be read, or may still be written to, is looked at again whether or not it seems to have changed
        self._version = version if self.settled and not self.library.warnings else None
        self._current = {
            (one.agent_id, one.session_key): one
            for one in self.sessions
            if one.session_key is not None and one.ending is None
        }
        return True

    def _just_written(self, source: TranscriptSource) -> bool:
        """Whether the next write may leave the same size and time: a log is written over, and file times are coarse."""
        if source.kind == "jsonl":
            return False
        times = [file[1] / 1e9 for file in fingerprint(source.path) if file is not None]
        return any(0 <= self._seconds() - moment < SETTLING_SECONDS for moment in times)

    def look_again(self) -> None:
        """Take the next look for a change, whether or not anything seems to have changed."""
        self._version = None

    @property
    def sources(self) -> list[TranscriptSource]:
        return list(self._sources.values())

    def successor_start(self, agent_id: str, session_key: str) -> str | None:
        """When the session that is now current for this key began."""
        current = self._current.get((agent_id, session_key))
        return self.start_of(current) if current else None

    def start_of(self, session: Session) -> str | None:
        """The time of the first entry that has one."""
        key = (session.agent_id, session.session_id)
        if key not in self._first_words:
            first = _first_words(session)
            if first is None:
                return None
            self._first_words[key] = first
        return self._first_words[key]


def as_of_now(session: Session) -> Session | None:
    """The session with the present size and time of its files; None if one is gone, which a look will explain."""
    copies = []
    for source, copy in session.copies:
        if copy.kind != "jsonl":
            return session
        try:
            stat = os.stat(copy.path)
        except OSError:
            return None
        at = format_time(datetime.fromtimestamp(stat.st_mtime, UTC))
        copies.append((source, replace(copy, size=stat.st_size, updated_at=at)))
    return replace(session, copies=tuple(copies))


def _first_words(session: Session) -> str | None:
    """When the oldest copy that can be read begins; it takes all of them to be unreadable for this to fail."""
    problem: SourceUnreadable | None = None
    for source, copy in session.copies:
        try:
            first = source.start_of(copy)
        except SourceUnreadable as found:
            problem = problem or found
            continue
        if first:
            return first
    if problem:
        raise problem
    return None


def _version_of(source: TranscriptSource) -> object:
    """Equal means that nothing was written, renamed or removed there."""
    if source.kind != "jsonl":
        return fingerprint(source.path)
    found: list[tuple[str, int, int, int]] = []
    for folder in (source.path, source.path.parent / IMPORT_ARCHIVE):
        try:
            with os.scandir(folder) as items:
                found.extend(map(_version_of_file, items))
        except OSError as problem:
            found.append((f"{folder}: {problem.errno}", 0, 0, 0))
    return hash(tuple(sorted(found)))


def _version_of_file(item: os.DirEntry[str]) -> tuple[str, int, int, int]:
    try:
        stat = item.stat()
    except OSError as problem:
        return item.name, 0, 0, -(problem.errno or 1)
    return item.name, stat.st_ino, stat.st_size, stat.st_mtime_ns
