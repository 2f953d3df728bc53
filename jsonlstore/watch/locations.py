"""What `backfill PATH` names: a state directory, an agent's, a part of one, a database, or a single transcript."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.transcripts.catalogue import Library, Session, look_around
from jsonlstore.transcripts.openclaw.jsonl import IMPORT_ARCHIVE, SESSIONS, JsonlSource, open_file, parse_name
from jsonlstore.transcripts.openclaw.sqlite import DATABASE, SqliteSource

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from jsonlstore.transcripts.source import TranscriptSource

_FARTHEST = 3  # an agent's directory, one in it, a file in that
_HINT = "give a transcript file, an agent's directory, or a state directory with agents/ in it"


def find_sessions(paths: Sequence[Path], *, skip: AbstractSet[str]) -> tuple[list[Session], list[str]]:
    """The sessions in the given places, each with every copy of it that lies around it; and what could not be read."""
    found: dict[tuple[str, str], Session] = {}
    warnings: list[str] = []
    for path in paths:
        _check_is_there(path)
        root, sources, noted = _sources_around(path)
        library = Library(sources, skip=skip, warnings=noted)
        here = [one for one in library.sessions() if _is_in(one, path)]
        warnings += library.warnings
        if not here and path.is_file():
            here = [_alone(path)]
        elif not here and not library.warnings and not (sources and root == path.resolve()):
            raise SourceUnreadable(f"no transcripts in {path}", hint=_HINT, path=path)
        found |= {(one.agent_id, one.session_id): one for one in here}
    return list(found.values()), list(dict.fromkeys(warnings))


def _check_is_there(path: Path) -> None:
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as problem:
        raise SourceUnreadable(f"no such file or directory: {path}", path=path) from problem
    except OSError as problem:
        raise SourceUnreadable(f"cannot read {path}: {problem.strerror}", path=path) from problem


def _sources_around(path: Path) -> tuple[Path | None, list[TranscriptSource], tuple[str, ...]]:
    """The agent's directory, or the state directory, that `path` is or lies in, and everything in it; the nearest wins.

    A state directory has a `sessions` too, but that is ours.
    """
    here = path.resolve()
    for distance, root in enumerate((here, *here.parents)):
        if os.path.isdir(root / "agents"):
            return root, *look_around(root)
        if distance < _FARTHEST and (sources := _sources_of(root)):
            return root, sources, ()
    return None, [], ()


def _sources_of(agent: Path) -> list[TranscriptSource]:
    sources: list[TranscriptSource] = []
    if os.path.isdir(agent / SESSIONS) or os.path.isdir(agent / IMPORT_ARCHIVE):
        sources.append(JsonlSource(agent))
    if os.path.isfile(agent / DATABASE):
        sources.append(SqliteSource(agent))
    return sources


def _is_in(session: Session, path: Path) -> bool:
    here = path.resolve()
    return any(copy.path.resolve().is_relative_to(here) for _, copy in session.copies)


def _alone(path: Path) -> Session:
    """A transcript that lies by itself, or that a look around would skip: whoever names it wants it."""
    if ".jsonl" in path.name and parse_name(path.name) is None:
        raise SourceUnreadable(f"{path} belongs to a transcript and is none", hint=_HINT, path=path)
    place = path.resolve().parent
    agent = place.parent.name if place.name in (SESSIONS, IMPORT_ARCHIVE) else ""
    try:
        source, transcript = open_file(path, agent or "main")
        empty = not os.path.getsize(path)
    except OSError as problem:
        raise SourceUnreadable(f"cannot read {path}: {problem.strerror or problem}", path=path) from problem
    if not empty and next(iter(source.read(transcript)), None) is None:
        raise SourceUnreadable(f"{path} is no transcript: there is not one record in it", hint=_HINT, path=path)
    return Session(transcript.agent_id, transcript.session_id, ((source, transcript),))
