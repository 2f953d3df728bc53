"""How things stand: every source and how far we are behind it, the store, the watcher, and what to worry about.

It must be impossible to be green but blind: whatever cannot be read is a warning that fails the command.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import parse_time
from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.core.files import read_bytes
from jsonlstore.core.paths import shorten_home
from jsonlstore.store.index_text import parse_index
from jsonlstore.transcripts.openclaw.sqlite import DATABASE, SqliteSource
from jsonlstore.watch.backfill import size_of
from jsonlstore.watch.follow import Tailer
from jsonlstore.watch.instance import read_report, running
from jsonlstore.watch.settings import skipped_by
from jsonlstore.watch.sources import Shelf

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from jsonlstore.core.config import Config
    from jsonlstore.store.store import SessionStore
    from jsonlstore.transcripts.catalogue import Session
    from jsonlstore.transcripts.source import TranscriptSource
    from jsonlstore.watch.cursors import Ledger

BEHIND_AFTER = timedelta(seconds=60)
_IGNORED_DATABASES = ("generation-lock", "generation-writer", "reindex-lock", "memory-reindex-")


@dataclass(slots=True)
class Status:
    """The document `status --json` prints, and whether it is reason to fail."""

    document: dict[str, Any]
    failed: bool = False
    watching: bool = False
    warnings: list[str] = field(default_factory=list)


def status_of(
    store: SessionStore, config: Config, now: datetime, bridges: Mapping[str, Any], noted: Sequence[str] = ()
) -> Status:
    """Look at everything; nothing is changed but a stale index mended. What bridges have to say comes from outside."""
    shelf = Shelf(store.paths.state_dir, skip=skipped_by(config))
    shelf.look()
    tailer = Tailer(store)
    sources, behind = _sources(shelf, tailer, now)
    watcher, watching, problems = _watcher(store, now, behind)
    blind = [
        *shelf.library.warnings,
        *_without_reader(store.paths.agents),
        *_wordless(shelf, tailer),
        *_in_a_new_form(shelf),
        *_refused(shelf, tailer),
    ]
    kept = _store(store)
    warnings = [*blind, *problems, *noted]
    if not kept["index_ok"]:
        warnings.append("the session index did not match the logs and was mended")
    if not watching:
        warnings.append("no watcher is running: `jsonlstore watch`, or `jsonlstore service install`")
    document = {
        "state_dir": shorten_home(store.paths.state_dir),
        "sources": sources,
        "store": kept,
        "watcher": watcher,
        "bridges": dict(bridges),
        "warnings": warnings,
    }
    return Status(document, failed=bool(blind or problems), watching=watching, warnings=warnings)


def _sources(shelf: Shelf, tailer: Tailer, now: datetime) -> tuple[list[dict[str, Any]], int]:
    """One row per source, and how many transcripts have waited too long to be read."""
    rows: dict[int, dict[str, Any]] = {id(source): _row(source) for source in shelf.sources}
    behind = 0
    for session in shelf.sessions:
        source, newest = session.copies[-1]
        for each, _ in session.copies:
            rows[id(each)]["transcripts"] += 1
        row = rows[id(source)]
        row["newest_event_at"] = max(row["newest_event_at"] or "", newest.updated_at or "") or None
        if not tailer.is_behind(session) or not tailer.wants(session) or not _says_anything(session, tailer.ledger):
            continue
        lag = _lag(session, tailer.ledger)
        row["lag_bytes" if "lag_bytes" in row else "lag_events"] += lag
        behind += bool(lag) and _waited(newest.updated_at, now)
    return list(rows.values()), behind


def _wordless(shelf: Shelf, tailer: Tailer) -> Iterator[str]:
    """Transcripts of which we know nothing and in which there is something, but not one record."""
    for session in shelf.sessions:
        if tailer.ledger.get((session.agent_id, session.session_id)) is not None:
            continue
        path, reading = session.copies[-1][1].path, session.read()
        try:
            first = next(iter(reading), None)
        except SourceUnreadable as problem:
            if path.exists():  # else it went while we looked
                yield problem.message
        else:
            if first is None and reading.bad_count:
                yield f"not one record in {path} can be read ({session.session_id})"


def _in_a_new_form(shelf: Shelf) -> Iterator[str]:
    """Databases with events that none of the columns we know holds."""
    for source in shelf.sources:
        if not isinstance(source, SqliteSource) or source.warnings:
            continue
        try:
            count = source.unknown_rows()
        except SourceUnreadable as problem:
            yield problem.message
        else:
            if count:
                yield f"no reader for {count} of the events in {source.path}: they are kept in a new form"


def _refused(shelf: Shelf, tailer: Tailer) -> Iterator[str]:
    """Sessions whose id another agent's session has, and that are more than a copy of it: only one of them is kept."""
    extents = {(one.agent_id, one.session_id): _extent(one) for one in shelf.sessions}
    for session in shelf.sessions:
        owner = tailer.rival(session)
        if owner is None or tailer.wants(session):
            continue
        if extents.get((owner, session.session_id)) != _extent(session):
            yield (
                f"{session.session_id} of agent {session.agent_id} is not kept: "
                f"agent {owner} has another session with this id"
            )


def _extent(session: Session) -> tuple[int, int | None]:
    newest = session.copies[-1][1]
    return newest.size, newest.newest


def _row(source: TranscriptSource) -> dict[str, Any]:
    return {
        "agent_id": source.agent_id,
        "kind": source.kind,
        "path": shorten_home(source.path),
        "transcripts": 0,
        "newest_event_at": None,
        "lag_bytes" if source.kind == "jsonl" else "lag_events": 0,
    }


def _lag(session: Session, ledger: Ledger) -> int:
    """Bytes, or rows of a database, that our log does not have yet."""
    known = ledger.get((session.agent_id, session.session_id))
    newest = session.copies[-1][1]
    position = known.cursor.position if known and known.cursor and known.cursor.kind == newest.kind else None
    if newest.kind == "jsonl":
        return max(0, newest.size - position) if position is not None else size_of(session)
    rows = (newest.newest if newest.newest is not None else 0) + 1
    return max(0, rows - 1 - position) if position is not None else rows


def _says_anything(session: Session, ledger: Ledger) -> bool:
    """Whether there is more than a header: nothing is kept of a session in which nothing was said."""
    if ledger.get((session.agent_id, session.session_id)) is not None:
        return True
    try:
        return any(entry.type != "session" for entry in session.read())
    except (SourceUnreadable, OSError):
        return True


def _waited(updated_at: str | None, now: datetime) -> bool:
    try:
        return now - parse_time(updated_at or "") > BEHIND_AFTER
    except ValueError:
        return True


def _watcher(store: SessionStore, now: datetime, behind: int) -> tuple[dict[str, Any], bool, list[str]]:
    pid = running(store.paths)
    report = read_report(store.paths)
    current = report if report and pid is not None and report.pid == pid else None
    problems = []
    if pid is not None:
        if behind:
            problems.append(f"the watcher is behind: {behind} transcripts have waited for more than a minute")
        if current and current.last_scan_at and _waited(current.last_scan_at, now):
            problems.append(f"the watcher (process {pid}) has not looked at anything since {current.last_scan_at}")
        if current and current.problem:
            problems.append(current.problem)
    row = {
        "running": pid is not None,
        "pid": pid,
        "last_event_at": report.last_event_at if report else None,
        "last_scan_at": report.last_scan_at if report else None,
        "overflows": current.overflows if current else 0,
        "mode": current.mode if current else None,
        "observer_restarts": current.restarts if current else 0,
        "problem": current.problem if current else None,
        "polling_because": current.polling_because if current else None,
    }
    return row, pid is not None, problems


def _store(store: SessionStore) -> dict[str, Any]:
    data = read_bytes(store.paths.index)
    before = parse_index(data) if data is not None else None
    entries = store.index.entries()
    kept = [entry for entry in entries.values() if not entry.get("forgotten")]
    return {
        "sessions": len(kept),
        "active": sum(not entry.get("end_time") for entry in kept),
        "crashed": sum(entry.get("crash_recovered") is True for entry in kept),
        "bytes": sum(map(_size, (store.paths.states, store.paths.archive))),
        "index_ok": before == entries or (data is None and not entries),
    }


def _size(root: Path) -> int:
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue  # archived or replaced while we looked
    return total


def _without_reader(agents: Path) -> Iterator[str]:
    """Agents that keep something we have no reader for: the next era, most likely."""
    try:
        folders = sorted(path for path in agents.iterdir() if path.is_dir())
    except OSError:
        return  # it is not there, or a warning tells why it cannot be listed
    for folder in folders:
        if os.path.lexists(folder / DATABASE) or not os.access(folder / "agent", os.X_OK):
            continue  # there is a reader, or a warning that it cannot be looked at
        try:
            names = sorted(path.name for path in (folder / "agent").iterdir() if path.is_file())
        except OSError:
            continue
        strange = [
            name
            for name in names
            if name.endswith((".sqlite", ".db", ".sqlite3")) and not any(part in name for part in _IGNORED_DATABASES)
        ]
        if strange:
            yield f"no reader for {folder / 'agent' / strange[0]}: transcripts in there are not seen"
