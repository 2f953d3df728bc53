"""What OpenClaw's own files say about a session: whether it has a transcript, and which stretch of it is meant.

Since 2026.9 a session keeps its id over `/new` and `/reset`; each stretch between two resets is a session of ours
with an id derived from the reset record (DECISION 48). Everything here only reads.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import read_bytes
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import check_session_id
from jsonlstore.core.session_key import is_utility_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jsonlstore.transcripts.readonly import Database

log = logger("jsonlstore.session")

_DATABASE = ("agent", "openclaw-agent.sqlite")
_RESETS = "SELECT event_json FROM transcript_events WHERE session_id = ? AND event_json LIKE '%\"reset\"%' ORDER BY seq"


def has_transcript(agents: Path, agent: str, session_id: str) -> bool:
    """Whether the runtime keeps a transcript of this session: then that tells when it ended (DECISION 54)."""
    if not _plain_name(agent):
        return False
    if (agents / agent / "sessions" / f"{check_session_id(session_id)}.jsonl").exists():
        return True
    query = "SELECT 1 FROM transcript_events WHERE session_id = ? LIMIT 1"
    return any(_rows(agents.joinpath(agent, *_DATABASE), query, session_id))


def utility_key(agents: Path, agent: str, session_id: str) -> str | None:
    """The key of a sub-agent's, cron job's or utility run that the runtime's own index knows by this id."""
    if not _plain_name(agent):
        return None
    try:
        data = read_bytes(agents / agent / "sessions" / "sessions.json")
    except JsonlStoreError as problem:
        log.warning("%s", problem)
        return None
    if data is None or session_id.encode() not in data:
        return None
    import orjson

    try:
        index = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    items = index.items() if isinstance(index, dict) else ()
    keys = (key for key, entry in items if isinstance(entry, dict) and entry.get("sessionId") == session_id)
    return next(filter(is_utility_run, keys), None)


def current_stretch(agents: Path, agent: str, session_id: str, *, before_last_reset: bool = False) -> str:
    """Our id of the stretch a call with the runtime's id means: the newest, or the one its last reset closed."""
    if not _plain_name(agent):
        return session_id
    resets = list(_resets(agents.joinpath(agent, *_DATABASE), session_id))
    if before_last_reset:
        resets = resets[:-1]
    if not resets:
        return session_id
    from jsonlstore.transcripts.source import stretch_id

    return stretch_id(session_id, resets[-1])


def _plain_name(agent: str) -> bool:
    return bool(agent) and "/" not in agent and agent not in (".", "..")


def _resets(database: Path, session_id: str) -> Iterator[str]:
    import orjson

    for data in _rows(database, _RESETS, session_id):
        with suppress(orjson.JSONDecodeError):
            record = orjson.loads(data)  # type: ignore[arg-type]
            if isinstance(record, dict) and record.get("type") == "reset" and isinstance(record.get("id"), str):
                yield record["id"]


def _rows(path: Path, query: str, session_id: str) -> list[object]:
    """The first column of a query; nothing, and a word in the log, if the database cannot be read."""
    if not path.is_file():
        return []
    import sqlite3

    from jsonlstore.transcripts.readonly import Changed, opened

    for _ in range(3):
        try:
            with opened(path) as database:
                return _ask(database, query, session_id)
        except Changed:
            continue  # the runtime wrote meanwhile: ask again
        except (sqlite3.Error, JsonlStoreError) as problem:
            log.warning("transcripts in %s not read: %s", path, problem)
            return []
    return []


def _ask(database: Database, query: str, session_id: str) -> list[object]:
    if "event_json" not in database.columns("transcript_events"):
        return []
    rows = [row[0] for row in database.connection.execute(query, (session_id,)) if row[0] is not None]
    database.check()
    return rows
