"""The catalogue of all transcripts of all runtimes: each session once, cached so that a rescan is cheap."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path

from jsonlstore.core.errors import AmbiguousSessionId, SessionNotFound, SourceUnreadable
from jsonlstore.core.logs import logger
from jsonlstore.core.session_key import SKIPPED_BY_DEFAULT
from jsonlstore.transcripts.runtimes import Discovery, discover, registered_runtimes
from jsonlstore.transcripts.session import Copy, RecordedSession, copy_order
from jsonlstore.transcripts.source import TranscriptSource
from jsonlstore.transcripts.stretches import Stretch

log = logger(__name__)

_PATH_HINT = "give a transcript file, an agent's directory, or a state directory with agents/ in it"
_FARTHEST = 3  # levels: the agent's directory, one in it, a file in that


class Catalogue:
    """The present sessions of every source; `refresh` rescans, cheaply if nothing changed."""

    def __init__(
        self,
        find: Callable[[], Discovery],
        *,
        skip: AbstractSet[str] = SKIPPED_BY_DEFAULT,
        seconds: Callable[[], float] = time.time,
    ) -> None:
        self._find = find
        self._skip = skip
        self._seconds = seconds
        self._sources: dict[tuple[str, Path], TranscriptSource] = {}
        self._warnings: tuple[str, ...] = ()
        self._version: object = None
        self._starts: dict[tuple[str, str], str] = {}
        self._current: dict[tuple[str, str], RecordedSession] = {}
        self.settled = True
        self.sessions: list[RecordedSession] = []

    @classmethod
    def open(cls, state_dir: Path, *, skip: AbstractSet[str] = SKIPPED_BY_DEFAULT) -> Catalogue:
        """The catalogue of every runtime's transcripts in this state directory, scanned once."""
        catalogue = cls(partial(discover, state_dir), skip=skip)
        catalogue.refresh()
        return catalogue

    @property
    def sources(self) -> list[TranscriptSource]:
        return list(self._sources.values())

    @property
    def warnings(self) -> list[str]:
        """The problems of the last scan: what could not be read."""
        return list(dict.fromkeys([*self._warnings, *(each for one in self.sources for each in one.warnings)]))

    def refresh(self) -> bool:
        """Rescan the sources that changed since the last scan; False if none did."""
        sources, self._warnings = self._find()
        # known source objects are kept, because they cache what they found out about their files
        self._sources = {(one.kind, one.path): self._sources.get((one.kind, one.path), one) for one in sources}
        version = (self._warnings, *((key, source.version()) for key, source in self._sources.items()))
        if version == self._version:
            return False
        self.sessions = self._list()
        now = self._seconds()
        self.settled = all(source.is_settled(now) for source in self.sources)
        # a source that could not be read, or may still be written to, is rescanned even if its version looks unchanged
        self._version = version if self.settled and not self.warnings else None
        self._current = {
            (one.agent_id, one.session_key): one
            for one in self.sessions
            if one.session_key is not None and one.ending is None
        }
        return True

    def forget_listing(self) -> None:
        """Drop what was remembered only to list again faster: a backfill of ten thousand sessions lists once."""
        self.invalidate()
        for source in self.sources:
            source.forget_listing()

    def invalidate(self) -> None:
        """Make the next `refresh` rescan even if no version changed."""
        self._version = None

    def _list(self) -> list[RecordedSession]:
        """Every session that is not skipped, sorted by agent and last activity."""
        groups: dict[tuple[str, str], list[Copy]] = {}
        for source in self.sources:
            for transcript in source.transcripts():
                groups.setdefault((transcript.agent_id, transcript.session_id), []).append((source, transcript))
        unsure = {source.agent_id for source in self.sources if source.warnings}
        kept = []
        for (agent, session_id), copies in groups.items():
            session = RecordedSession(agent, session_id, tuple(sorted(copies, key=copy_order)), agent not in unsure)
            if session.skip in self._skip:
                log.debug("%s: left out as %s", session.session_id, session.skip)
            else:
                kept.append(session)
        return sorted(kept, key=lambda one: (one.agent_id, one.updated_at or "", one.session_id))

    def successor_start(self, agent_id: str, session_key: str) -> str | None:
        """The start of the session that is now current for this key."""
        current = self._current.get((agent_id, session_key))
        return self.start_of(current) if current else None

    def start_of(self, session: RecordedSession) -> str | None:
        """The time of the first entry that has one; cached, because a start never changes."""
        key = session.key
        if key not in self._starts:
            first = _start_of(session)
            if first is None:
                return None
            self._starts[key] = first
        return self._starts[key]

    def find(self, id_or_prefix: str) -> tuple[RecordedSession, Stretch | None]:
        """The session with this id or unique prefix, or the session with a stretch of that id."""
        exact = [one for one in self.sessions if one.session_id == id_or_prefix]
        matches = exact or [one for one in self.sessions if one.session_id.startswith(id_or_prefix)]
        found: dict[object, tuple[RecordedSession, Stretch | None]] = {one.key: (one, None) for one in matches}
        if not found:
            found = {
                stretch.id: (session, stretch)
                for session in self.sessions
                for stretch, entry in session.stretches()
                if entry.type == "reset" and stretch.id.startswith(id_or_prefix)
            }
        if not found:
            unread = self.warnings  # what cannot be read may hold it
            among = " among those that can be read" if unread else ""
            hint = "; ".join(unread[:2]) or "`jsonlstore transcripts list` shows what there is"
            raise SessionNotFound(f"no transcript {id_or_prefix!r}{among}", hint=hint)
        if len(found) > 1:
            ids = [stretch.id if stretch else session.session_id for session, stretch in found.values()]
            raise AmbiguousSessionId(
                f"{id_or_prefix!r} fits {len(found)} transcripts", hint="give more of the id: " + ", ".join(ids[:5])
            )
        return next(iter(found.values()))


def find_sessions(paths: Sequence[Path], *, skip: AbstractSet[str]) -> tuple[list[RecordedSession], list[str]]:
    """The sessions at the given paths, each with all copies found around it, and the problems met.

    A path is a state directory, an agent's directory, a part of one, a database, or a single transcript.
    """
    found: dict[tuple[str, str], RecordedSession] = {}
    warnings: list[str] = []
    for path in paths:
        _check_exists(path)
        root, discovery = _sources_around(path)
        catalogue = Catalogue(lambda found=discovery: found, skip=skip)  # type: ignore[misc]
        catalogue.refresh()
        here = [one for one in catalogue.sessions if _is_in(one, path)]
        warnings += catalogue.warnings
        if not here and path.is_file():
            here = [_alone(path)]
        elif not here and not catalogue.warnings and not (discovery.sources and root == path.resolve()):
            raise SourceUnreadable(f"no transcripts in {path}", hint=_PATH_HINT, path=path)
        found |= {one.key: one for one in here}
    return list(found.values()), list(dict.fromkeys(warnings))


def _check_exists(path: Path) -> None:
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as problem:
        raise SourceUnreadable(f"no such file or directory: {path}", path=path) from problem
    except OSError as problem:
        raise SourceUnreadable(f"cannot read {path}: {problem.strerror}", path=path) from problem


def _sources_around(path: Path) -> tuple[Path | None, Discovery]:
    """The nearest directory at or above `path` that holds sources, with those sources.

    State directories are tried first, because the `sessions` of a state directory looks like an agent's, but is ours.
    """
    here = path.resolve()
    for distance, root in enumerate((here, *here.parents)):
        if any(runtime.is_state_dir(root) for runtime in registered_runtimes()):
            return root, discover(root)
        sources = (
            [one for runtime in registered_runtimes() for one in runtime.sources_in(root)]
            if distance < _FARTHEST
            else []
        )
        if sources:
            return root, Discovery(sources)
    return None, Discovery([])


def _is_in(session: RecordedSession, path: Path) -> bool:
    here = path.resolve()
    return any(copy.path.resolve().is_relative_to(here) for _, copy in session.copies)


def _alone(path: Path) -> RecordedSession:
    """A transcript file outside any source, or one that a catalogue would skip: a user who names it wants it read."""
    # registered runtimes first: OpenClaw accepts any file and raises if it is broken
    for runtime in reversed(registered_runtimes()):
        found = runtime.open_file(path)
        if found is not None:
            return RecordedSession(found[1].agent_id, found[1].session_id, (found,))
    raise SourceUnreadable(f"no transcripts in {path}", hint=_PATH_HINT, path=path)


def _start_of(session: RecordedSession) -> str | None:
    """The start of the oldest readable copy; raises only if every copy is unreadable."""
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
