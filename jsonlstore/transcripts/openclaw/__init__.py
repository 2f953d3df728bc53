"""Everything we know of OpenClaw's disk layout, read only.

An agent lives in `agents/<id>/`. Up to 2026.7 each session is a JSONL file in `sessions/`, beside an index: see `jsonl`
and `files`. Since 2026.8 all sessions are rows of one SQLite database: see `sqlite`, and `events` for its event table.
OpenClaw's import moves the old files aside. `endings` maps the reasons why sessions end.

Questions of a hook about one session are answered here, because a hook must not load a reader of whole transcripts.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore.core.errors import JsonlStoreError, SourceUnreadable
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import check_session_id
from jsonlstore.core.session_key import channel_of, skip_reason
from jsonlstore.transcripts.runtimes import Discovery, Runtime, may_exist

if TYPE_CHECKING:
    from jsonlstore.transcripts.readonly import Database
    from jsonlstore.transcripts.source import Transcript, TranscriptSource

log = logger("jsonlstore.session")

AGENTS = "agents"
SESSIONS = "sessions"
INDEX = "sessions.json"
IMPORT_ARCHIVE = "session-sqlite-import-archive"
DATABASE = Path("agent") / "openclaw-agent.sqlite"

_IGNORED_DATABASES = ("generation-lock", "generation-writer", "reindex-lock", "memory-reindex-")
_HEAD = 1_000_000  # bytes of a transcript in which a first answer is looked for
_FAILED_ANSWER = ("error", "aborted")
_HINT = "give a transcript file, an agent's directory, or a state directory with agents/ in it"


class OpenClaw(Runtime):
    """Both eras of OpenClaw. An agent's era is found by looking at its files, never by version number."""

    ignored = (".trajectory",)

    def discover(self, state_dir: Path) -> Discovery:
        agents, problems = _agents(state_dir / AGENTS)
        return Discovery([one for agent in agents for one in _sources(agent)], tuple(problems))

    def watched(self, state_dir: Path) -> list[Path]:
        return [state_dir / AGENTS]

    def unknown_formats(self, state_dir: Path) -> Iterator[str]:
        """Warnings for agents whose database has no reader here, most likely the next era's."""
        for agent in _agents(state_dir / AGENTS)[0]:
            if os.path.lexists(agent / DATABASE):
                continue
            strange = _strange_database(agent / DATABASE.parent)
            if strange:
                yield f"no reader for {strange}: transcripts in there are not seen"

    def is_state_dir(self, path: Path) -> bool:
        return os.path.isdir(path / AGENTS)

    def sources_in(self, path: Path) -> list[TranscriptSource]:
        parts = (path / SESSIONS, path / IMPORT_ARCHIVE, path / DATABASE.parent)
        return _sources(path) if any(map(os.path.isdir, parts)) else []

    def open_file(self, path: Path) -> tuple[TranscriptSource, Transcript] | None:
        from jsonlstore.transcripts.openclaw.files import parse_name
        from jsonlstore.transcripts.openclaw.jsonl import open_file
        from jsonlstore.transcripts.source import reading_from

        if ".jsonl" in path.name and parse_name(path.name) is None:
            raise SourceUnreadable(f"{path} belongs to a transcript but is not one itself", hint=_HINT, path=path)
        directory = path.resolve().parent
        agent = directory.parent.name if directory.name in (SESSIONS, IMPORT_ARCHIVE) else ""
        with reading_from(path):
            source, transcript = open_file(path, agent or "main")
            empty = not os.path.getsize(path)
        if not empty and next(iter(source.read(transcript)), None) is None:
            raise SourceUnreadable(f"{path} is not a transcript: it holds no record", hint=_HINT, path=path)
        return source, transcript

    def has_transcript(self, state_dir: Path, agent: str, session_id: str) -> bool:
        if not _is_plain_name(agent):
            return False
        folder = state_dir / AGENTS / agent
        # any row proves a transcript, whether its event is plain JSON or compressed
        query = "SELECT 1 FROM transcript_events WHERE session_id = ? LIMIT 1"
        file = folder / SESSIONS / f"{check_session_id(session_id)}.jsonl"
        return file.exists() or bool(_event_rows(folder, query, session_id))

    def utility_key(self, state_dir: Path, agent: str, session_id: str) -> str | None:
        index = _index(state_dir, agent, session_id.encode())
        keys = (key for key, entry in index.items() if entry.get("sessionId") == session_id)
        return next(filter(skip_reason, keys), None)

    def resets(self, state_dir: Path, agent: str, session_id: str) -> list[str]:
        """Since 2026.9 a session keeps its id over `/new` and `/reset`."""
        if not _is_plain_name(agent):
            return []
        query = """SELECT event_json FROM transcript_events
            WHERE session_id = ? AND event_json LIKE '%"reset"%' ORDER BY seq"""
        # a reset record that cannot be read has no id to derive a stretch from
        records = [_parsed(data) for (data,) in _event_rows(state_dir / AGENTS / agent, query, session_id)]
        resets = [one.get("id") for one in records if one.get("type") == "reset"]
        return [entry_id for entry_id in resets if isinstance(entry_id, str)]

    def was_answered(self, state_dir: Path, agent: str, session_id: str) -> bool:
        if not _is_plain_name(agent):
            return False
        folder = state_dir / AGENTS / agent
        if _file_holds_answer(folder / SESSIONS / f"{check_session_id(session_id)}.jsonl"):
            return True
        query = """SELECT event_json FROM transcript_events WHERE session_id = ? AND
            (event_json LIKE '%"role":"assistant"%' OR event_json LIKE '%"type":"reset"%') ORDER BY seq DESC LIMIT 20"""
        for (data,) in _event_rows(folder, query, session_id):
            record = _parsed(data)
            if record.get("type") == "reset":
                return False
            if _is_answer(record):
                return True
        return False

    def copies(self, state_dir: Path, agent: str, session_id: str) -> list[tuple[TranscriptSource, Transcript]]:
        if not _is_plain_name(agent):
            return []
        folder = state_dir / AGENTS / agent
        file = folder / SESSIONS / f"{check_session_id(session_id)}.jsonl"
        if file.is_file() and not may_exist(folder / DATABASE):
            from jsonlstore.transcripts.openclaw.jsonl import open_file

            return [open_file(file, agent)]
        return [(one, each) for one in _sources(folder) for each in one.transcripts() if each.session_id == session_id]

    def agent_is_gone(self, state_dir: Path, agent: str, file: str) -> bool:
        if not file.startswith(f"{AGENTS}/{agent}/"):
            return False  # a file from elsewhere: its agent never had a directory here to lose
        try:
            os.stat(state_dir / AGENTS / agent)
        except OSError as problem:
            return isinstance(problem, FileNotFoundError)
        return False

    def channels(self, state_dir: Path, agent: str) -> Mapping[str, str]:
        index = _index(state_dir, agent)
        return {key: channel_of(entry, key) for key, entry in index.items() if not skip_reason(key)}


RUNTIME = OpenClaw()


def _agents(folder: Path) -> tuple[list[Path], list[str]]:
    """The agents' directories without aliases of each other, and warnings for those that cannot be read."""
    try:
        with os.scandir(folder) as items:
            found = sorted(items, key=lambda item: (item.is_symlink(), item.name))
    except FileNotFoundError:
        return [], []
    except OSError as problem:
        return [], [f"cannot list {folder}: {problem.strerror}"]
    real: dict[str, Path] = {}
    problems: list[str] = []
    for item in found:
        path = folder / item.name
        try:
            is_agent = stat.S_ISDIR(os.stat(path).st_mode)
        except OSError as problem:
            # removed since it was listed, unless it is a link to a missing target, such as a disk that is not mounted
            if path.is_symlink() or not isinstance(problem, FileNotFoundError):
                problems.append(f"cannot read {path}: {problem.strerror}")
            continue
        if is_agent:
            real.setdefault(os.path.realpath(path), path)
    return sorted(real.values()), problems


def _sources(agent: Path) -> list[TranscriptSource]:
    from jsonlstore.transcripts.openclaw.jsonl import JsonlSource
    from jsonlstore.transcripts.openclaw.sqlite import SqliteSource

    sources: list[TranscriptSource] = []
    if may_exist(agent / SESSIONS) or may_exist(agent / IMPORT_ARCHIVE):
        sources.append(JsonlSource(agent))
    if may_exist(agent / DATABASE):
        sources.append(SqliteSource(agent))
    return sources


def _strange_database(folder: Path) -> Path | None:
    if not os.access(folder, os.X_OK):
        return None  # a warning already names the unreadable directory
    try:
        names = sorted(path.name for path in folder.iterdir() if path.is_file())
    except OSError:
        return None
    for name in names:
        if name.endswith((".sqlite", ".db", ".sqlite3")) and not any(part in name for part in _IGNORED_DATABASES):
            return folder / name
    return None


def _is_plain_name(agent: str) -> bool:
    """Whether an agent's id can only name a directory of its own: a hook receives ids from outside."""
    return bool(agent) and "/" not in agent and agent not in (".", "..")


def _index(state_dir: Path, agent: str, needle: bytes = b"") -> dict[str, dict[str, Any]]:
    """The entries of `sessions.json`; empty if it cannot be read or does not contain `needle`."""
    if not _is_plain_name(agent):
        return {}
    path = state_dir / AGENTS / agent / SESSIONS / INDEX
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as problem:
        log.warning("cannot read %s: %s", path, problem.strerror or problem)
        return {}
    # parsing the index would take longer than everything else a hook does
    entries = _parsed(data) if needle in data else {}
    return {key: entry for key, entry in entries.items() if isinstance(entry, dict)}


def _event_rows(agent_dir: Path, query: str, session_id: str) -> list[tuple[Any, ...]]:
    """The rows a query finds among one session's events; empty, with a warning, if the database is unreadable."""
    path = agent_dir / DATABASE
    if not path.is_file():
        return []
    import sqlite3

    from jsonlstore.transcripts.readonly import consistently

    def ask(database: Database) -> list[tuple[Any, ...]]:
        if "event_json" not in database.columns("transcript_events"):
            return []
        return database.connection.execute(query, (session_id,)).fetchall()

    try:
        return consistently(path, ask)
    except (sqlite3.Error, JsonlStoreError) as problem:
        log.warning("transcripts in %s not read: %s", path, problem)
        return []


def _file_holds_answer(path: Path) -> bool:
    """Whether an answer stands near the beginning of a transcript file: a session's first turn is short."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    lines = (line for line in head.split(b"\n") if b'"assistant"' in line)
    return any(_is_answer(_parsed(line)) for line in lines)


def _is_answer(record: Mapping[str, Any]) -> bool:
    message = record.get("message")
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return False
    return message.get("stopReason") not in _FAILED_ANSWER


def _parsed(data: bytes) -> dict[str, Any]:
    """The JSON object in `data`; empty if there is none."""
    import orjson

    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) else {}
