"""All transcripts of a state directory as one: each session once, each entry once, whatever holds it."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from jsonlstore.core.errors import AmbiguousSessionId, SessionNotFound, SourceUnreadable
from jsonlstore.core.logs import logger
from jsonlstore.core.session_key import skip_reason
from jsonlstore.transcripts.openclaw.jsonl import IMPORT_ARCHIVE, SESSIONS, JsonlSource
from jsonlstore.transcripts.openclaw.sqlite import DATABASE, SqliteSource
from jsonlstore.transcripts.source import (
    SKIPPED_BY_DEFAULT,
    Ending,
    Reading,
    Stretch,
    Transcript,
    TranscriptSource,
    by_stretch,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from jsonlstore.transcripts.records import Entry

log = logger(__name__)

_RANK = {"backup": 0, "imported": 1, "reset": 2, "deleted": 2, "archived": 2, "live": 3}


@dataclass(frozen=True, slots=True)
class Outline:
    """One stretch of a session from outside: how many entries, from when to when, and why it ended."""

    stretch: Stretch
    entries: int
    started_at: str | None
    last_at: str | None
    ending: Ending | None


@dataclass(frozen=True, slots=True)
class Session:
    """One session of one agent, with every copy of its history, oldest first.

    `certain` is false when something of this agent's could not be read: a copy nobody saw may be the live one.
    """

    agent_id: str
    session_id: str
    copies: tuple[tuple[TranscriptSource, Transcript], ...]
    certain: bool = True

    @property
    def session_key(self) -> str | None:
        return next((copy.session_key for _, copy in reversed(self.copies) if copy.session_key), None)

    @property
    def channel(self) -> str:
        return next((copy.channel for _, copy in reversed(self.copies) if copy.channel != "unknown"), "unknown")

    @property
    def skip(self) -> str | None:
        return next((copy.skip for _, copy in self.copies if copy.skip), None) or skip_reason(self.session_key)

    @property
    def ending(self) -> Ending | None:
        """Why it ended; None while any copy is still somebody's current session."""
        lives = [copy for _, copy in self.copies if copy.state == "live"]
        if any(copy.ending is None for copy in lives):
            return None
        endings = [copy.ending for _, copy in self.copies if copy.ending]
        if not endings:  # only backups and imports are left
            return Ending("unreferenced") if self.certain else None
        told = [ending for ending in endings if ending.reason != "unreferenced"]
        return (told or endings)[-1]

    @property
    def updated_at(self) -> str | None:
        return max((copy.updated_at for _, copy in self.copies if copy.updated_at), default=None)

    @property
    def eras(self) -> tuple[str, ...]:
        return tuple(sorted({copy.era for _, copy in self.copies}))

    def read(self) -> Reading:
        """Every entry once, copies compared by entry id; the cursor is that of the newest copy."""
        reading = Reading()
        if len(self.copies) == 1:
            source, transcript = self.copies[0]
            return source.read(transcript)
        return reading.deliver(self._merged(reading))

    def _merged(self, reading: Reading) -> Iterator[Entry]:
        seen: Counter[object] = Counter()
        for source, transcript in self.copies:
            part = source.read(transcript)
            here: Counter[object] = Counter()  # what one copy says twice was said twice
            try:
                for entry in part:
                    key = "session" if entry.type == "session" else entry.id or _digest(entry)
                    here[key] += 1
                    if here[key] > seen[key]:
                        yield entry
            except SourceUnreadable as problem:
                part.problems.append(problem.message)
            seen |= here
            reading.bad_count += part.bad_count
            reading.bad += part.bad
            reading.problems += part.problems
            reading.cursor = None if reading.problems else part.cursor
        if not seen and reading.problems:
            raise SourceUnreadable(reading.problems[0])

    def stretches(self) -> Iterator[tuple[Stretch, Entry]]:
        """Every entry once, with the stretch between resets it belongs to."""
        return by_stretch(self.session_id, self.read())

    def outline(self) -> list[Outline]:
        """Its stretches in order; each ends with the reset that begins the next, the last as the session does."""
        found = []
        for _, pairs in groupby(self.stretches(), key=lambda pair: pair[0].number):
            stretch, first = next(pairs)
            count, last = 1, first
            for count, (_, last) in enumerate(pairs, 2):  # noqa: B007 - the last ones are what we are after
                pass
            found.append(Outline(stretch, count, first.timestamp, last.timestamp, self.ending))
        ended = [
            replace(one, ending=Ending(following.stretch.begun_by or "reset", following.started_at))
            for one, following in pairwise(found)
        ]
        return [*ended, *found[-1:]]


class Library:
    """The transcripts of every agent under one state directory."""

    def __init__(
        self,
        sources: list[TranscriptSource],
        *,
        skip: AbstractSet[str] = SKIPPED_BY_DEFAULT,
        warnings: tuple[str, ...] = (),
    ) -> None:
        self.sources = sources
        self._skip = skip
        self._warnings = warnings

    @classmethod
    def open(cls, state_dir: Path, *, skip: AbstractSet[str] = SKIPPED_BY_DEFAULT) -> Library:
        """Everything under `state_dir`, found by looking, never by version number."""
        sources, warnings = look_around(state_dir)
        return cls(sources, skip=skip, warnings=warnings)

    @property
    def warnings(self) -> list[str]:
        """What could not be read in the last look at the sources."""
        return list(dict.fromkeys([*self._warnings, *(each for source in self.sources for each in source.warnings)]))

    def sessions(self) -> list[Session]:
        """Every session that is not skipped, by agent and last activity."""
        groups: dict[tuple[str, str], list[tuple[TranscriptSource, Transcript]]] = {}
        for source in self.sources:
            for transcript in source.transcripts():
                groups.setdefault((transcript.agent_id, transcript.session_id), []).append((source, transcript))
        unsure = {source.agent_id for source in self.sources if source.warnings}
        found = [
            Session(agent, session_id, tuple(sorted(copies, key=_age)), agent not in unsure)
            for (agent, session_id), copies in groups.items()
        ]
        kept = []
        for session in found:
            if session.skip in self._skip:
                log.debug("%s: left out as %s", session.session_id, session.skip)
            else:
                kept.append(session)
        return sorted(kept, key=lambda one: (one.agent_id, one.updated_at or "", one.session_id))

    def find(self, id_or_prefix: str) -> tuple[Session, Stretch | None]:
        """The session with this id or unique prefix, or the session one of whose stretches has it."""
        sessions = self.sessions()
        exact = [session for session in sessions if session.session_id == id_or_prefix]
        matches = exact or [session for session in sessions if session.session_id.startswith(id_or_prefix)]
        if len(matches) == 1:
            return matches[0], None
        if len(matches) > 1:
            raise AmbiguousSessionId(
                f"{id_or_prefix!r} fits {len(matches)} transcripts",
                hint="give more of the id: " + ", ".join(session.session_id for session in matches[:5]),
            )
        return self._find_stretch(sessions, id_or_prefix)

    def _find_stretch(self, sessions: list[Session], prefix: str) -> tuple[Session, Stretch | None]:
        found = {
            stretch.id: (session, stretch)
            for session in sessions
            for stretch, entry in session.stretches()
            if entry.type == "reset" and stretch.id.startswith(prefix)
        }
        if len(found) == 1:
            return next(iter(found.values()))
        if found:
            raise AmbiguousSessionId(f"{prefix!r} fits {len(found)} transcripts", hint=", ".join(list(found)[:5]))
        raise SessionNotFound(f"no transcript {prefix!r}", hint="see: jsonlstore transcripts list")


def discover(state_dir: Path) -> list[TranscriptSource]:
    """Every source under `state_dir`: per agent both eras, and GoClaw's database."""
    return look_around(state_dir)[0]


def look_around(state_dir: Path) -> tuple[list[TranscriptSource], tuple[str, ...]]:
    """Every source under `state_dir`, and why there may be more than can be seen."""
    agents, problems = _agents(state_dir)
    return _sources(state_dir, agents), tuple(problems)


def _agents(state_dir: Path) -> tuple[list[Path], list[str]]:
    """The agents' directories, one that is only another name of another left out; and what cannot be looked at."""
    try:
        with os.scandir(state_dir / "agents") as items:
            found = sorted(items, key=lambda item: (item.is_symlink(), item.name))
    except FileNotFoundError:
        return [], []
    except OSError as problem:
        return [], [f"cannot list {state_dir / 'agents'}: {problem.strerror}"]
    real: dict[str, Path] = {}
    problems: list[str] = []
    for item in found:
        path = state_dir / "agents" / item.name
        try:
            is_agent = stat.S_ISDIR(os.stat(path).st_mode)
        except OSError as problem:
            # gone since it was listed, unless it is a link to where nothing is now, such as a disk that is not mounted
            if path.is_symlink() or not isinstance(problem, FileNotFoundError):
                problems.append(f"cannot read {path}: {problem.strerror}")
            continue
        if is_agent:
            real.setdefault(os.path.realpath(path), path)
    return sorted(real.values()), problems


def _sources(state_dir: Path, agents: list[Path]) -> list[TranscriptSource]:
    from jsonlstore.transcripts.goclaw import GoclawSource

    sources: list[TranscriptSource] = []
    for agent in agents:
        if _may_exist(agent / SESSIONS) or _may_exist(agent / IMPORT_ARCHIVE):
            sources.append(JsonlSource(agent))
        if _may_exist(agent / DATABASE):
            sources.append(SqliteSource(agent))
    database = state_dir / "goclaw" / "sessions.db"
    if _may_exist(database):
        sources.append(GoclawSource(database))
    return sources


def _may_exist(path: Path) -> bool:
    """False only if it is surely not there: a source that cannot be looked at must be one that says so."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _age(copy: tuple[TranscriptSource, Transcript]) -> tuple[int, str, str]:
    """Older copies first: their order is the original one, and newer copies add what came later."""
    transcript = copy[1]
    return (
        _RANK[transcript.state] if transcript.kind == "jsonl" else 4,
        transcript.updated_at or "",
        transcript.path.name,
    )


def _digest(entry: Entry) -> object:
    """Equal for records that say the same; one nested too deeply to compare equals nothing."""
    try:
        return hashlib.sha256(json.dumps(entry.raw, sort_keys=True).encode()).digest()
    except RecursionError:
        return object()
