"""What OpenClaw's own files say about one session. Hook calls ask it, so it loads no reader of whole transcripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import check_session_id
from jsonlstore.core.session_key import channel_of, skip_reason
from jsonlstore.transcripts.openclaw import DATABASE, INDEX, SESSIONS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from jsonlstore.transcripts.readonly import Database

log = logger("jsonlstore.session")


def has_transcript(agents: Path, agent: str, session_id: str) -> bool:
    """Whether there is a file or a row of this session."""
    if not _plain_name(agent):
        return False
    if (agents / agent / SESSIONS / f"{check_session_id(session_id)}.jsonl").exists():
        return True
    from jsonlstore.transcripts.openclaw.events import has_events

    return bool(_asked(agents / agent / DATABASE, lambda database: has_events(database, session_id)))


def resets(agents: Path, agent: str, session_id: str) -> list[str]:
    """The ids of a session's reset records: since 2026.9 it keeps its id over `/new` and `/reset`."""
    database = agents / agent / DATABASE
    if not _plain_name(agent) or not database.is_file():
        return []
    from jsonlstore.transcripts.openclaw.events import reset_ids

    return _asked(database, lambda found: reset_ids(found, session_id)) or []


def utility_key(agents: Path, agent: str, session_id: str) -> str | None:
    """The key of a sub-agent's, cron job's or utility run that the index knows by this id."""
    index = _index(agents, agent, session_id.encode())
    keys = (key for key, entry in index.items() if entry.get("sessionId") == session_id)
    return next(filter(skip_reason, keys), None)


def channels(agents: Path, agent: str) -> dict[str, str]:
    """The channel of each conversation in the index."""
    index = _index(agents, agent)
    return {key: channel_of(entry, key) for key, entry in index.items() if not skip_reason(key)}


def _index(agents: Path, agent: str, needle: bytes = b"") -> dict[str, dict[str, Any]]:
    """The entries of `sessions.json`; none if it cannot be read, or does not hold `needle` at all."""
    if not _plain_name(agent):
        return {}
    path = agents / agent / SESSIONS / INDEX
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as problem:
        log.warning("cannot read %s: %s", path, problem.strerror or problem)
        return {}
    if needle not in data:  # parsing it takes longer than everything else a hook does
        return {}
    import orjson

    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    items = document.items() if isinstance(document, dict) else ()
    return {key: entry for key, entry in items if isinstance(entry, dict)}


def _plain_name(agent: str) -> bool:
    return bool(agent) and "/" not in agent and agent not in (".", "..")


def _asked(path: Path, ask: Callable[[Database], Any]) -> Any:
    """The answer of the event table; None, and a word in the log, if the database cannot be read."""
    if not path.is_file():
        return None
    import sqlite3

    from jsonlstore.transcripts.readonly import consistently

    try:
        return consistently(path, ask)
    except (sqlite3.Error, JsonlStoreError) as problem:
        log.warning("transcripts in %s not read: %s", path, problem)
        return None
