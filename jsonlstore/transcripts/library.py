"""All transcripts of a state directory as one: each session once, each entry once, whatever holds it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.errors import AmbiguousSessionId, SessionNotFound
from jsonlstore.transcripts.jsonl import IMPORT_ARCHIVE, SESSIONS, JsonlSource
from jsonlstore.transcripts.source import (
    SKIPPED_BY_DEFAULT,
    Ending,
    Reading,
    Stretch,
    Transcript,
    TranscriptSource,
    by_stretch,
    skip_reason,
)
from jsonlstore.transcripts.sqlite import DATABASE, SqliteSource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from jsonlstore.transcripts.records import Entry

_RANK = {"backup": 0, "imported": 1, "reset": 2, "deleted": 2, "archived": 2, "live": 3}


@dataclass(frozen=True, slots=True)
class Session:
    """One session of one agent, with every copy of its history, oldest first."""

    agent_id: str
    session_id: str
    copies: tuple[tuple[TranscriptSource, Transcript], ...]

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
        told = [ending for ending in endings if ending.reason != "unreferenced"]
        candidates = told or endings
        return candidates[-1] if candidates else None

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
        seen: set[str | bytes] = set()
        for source, transcript in self.copies:
            part = source.read(transcript)
            for entry in part:
                key = "session" if entry.type == "session" else entry.id or _digest(entry)
                if key not in seen:
                    seen.add(key)
                    yield entry
            reading.bad_count += part.bad_count
            reading.bad += part.bad
            reading.cursor = part.cursor

    def stretches(self) -> Iterator[tuple[Stretch, Entry]]:
        """Every entry once, with the stretch between resets it belongs to."""
        return by_stretch(self.session_id, self.read())


class Library:
    """The transcripts of every agent under one state directory."""

    def __init__(self, sources: list[TranscriptSource], *, skip: AbstractSet[str] = SKIPPED_BY_DEFAULT) -> None:
        self.sources = sources
        self._skip = skip

    @classmethod
    def open(cls, state_dir: Path, *, skip: AbstractSet[str] = SKIPPED_BY_DEFAULT) -> Library:
        """Everything under `state_dir`, found by looking, never by version number."""
        return cls(discover(state_dir), skip=skip)

    @property
    def warnings(self) -> list[str]:
        """What could not be read in the last look at the sources."""
        return [warning for source in self.sources for warning in source.warnings]

    def sessions(self) -> list[Session]:
        """Every session that is not skipped, by agent and last activity."""
        groups: dict[tuple[str, str], list[tuple[TranscriptSource, Transcript]]] = {}
        for source in self.sources:
            for transcript in source.transcripts():
                groups.setdefault((transcript.agent_id, transcript.session_id), []).append((source, transcript))
        found = [
            Session(agent, session_id, tuple(sorted(copies, key=_age)))
            for (agent, session_id), copies in groups.items()
        ]
        kept = [session for session in found if session.skip not in self._skip]
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
    from jsonlstore.transcripts.goclaw import GoclawSource

    sources: list[TranscriptSource] = []
    try:
        agents = sorted(path for path in (state_dir / "agents").iterdir() if path.is_dir())
    except OSError:
        agents = []
    for agent in agents:
        if (agent / SESSIONS).is_dir() or (agent / IMPORT_ARCHIVE).is_dir():
            sources.append(JsonlSource(agent))
        if (agent / DATABASE).is_file():
            sources.append(SqliteSource(agent))
    database = state_dir / "goclaw" / "sessions.db"
    if database.is_file():
        sources.append(GoclawSource(database))
    return sources


def _age(copy: tuple[TranscriptSource, Transcript]) -> tuple[int, str, str]:
    """Older copies first: their order is the original one, and newer copies add what came later."""
    transcript = copy[1]
    return (
        _RANK[transcript.state] if transcript.kind == "jsonl" else 4,
        transcript.updated_at or "",
        transcript.path.name,
    )


def _digest(entry: Entry) -> bytes:
    return hashlib.sha256(json.dumps(entry.raw, sort_keys=True).encode()).digest()
