"""The status: every source and how far we are behind it, the store, the watcher, and the problems.

A status must not look healthy while something goes unseen: everything that cannot be read is a warning that fails the
command.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jsonlstore.core.clock import parse_time, time_before
from jsonlstore.core.config import Config
from jsonlstore.core.errors import JsonlStoreError, SourceUnreadable
from jsonlstore.core.files import read_bytes
from jsonlstore.handoff import kept_handoff
from jsonlstore.restore import Pipeline
from jsonlstore.store import SessionStore, parse_index
from jsonlstore.transcripts import Catalogue, RecordedSession, registered_runtimes
from jsonlstore.watch.cursors import Cursors, all_forgotten
from jsonlstore.watch.instance import read_report, running
from jsonlstore.watch.search_check import search_status
from jsonlstore.watch.tail import Tailer, skipped_by

if TYPE_CHECKING:
    from jsonlstore.core.paths import StatePaths
    from jsonlstore.transcripts import Cursor

_MOST_CONTEXTS = 20
BEHIND_AFTER = timedelta(seconds=60)
_LITTLE, _TOO_LITTLE = 64 << 20, 1 << 20  # bytes: the index of ten thousand sessions is replaced whole, and takes a few
_NO_WATCHER = (
    "no watcher is running: `jsonlstore service install` runs it in the background, `jsonlstore watch` in this terminal"
)


@dataclass(frozen=True, slots=True)
class Status:
    """The document that `status --json` prints, and whether the command fails."""

    document: dict[str, Any]
    failed: bool

    @property
    def watching(self) -> bool:
        return bool(self.document["watcher"]["running"])


def status_of(
    store: SessionStore, config: Config, now: datetime, bridges: Mapping[str, Any], noted: Sequence[str] = ()
) -> Status:
    """Collect the status; changes nothing except a stale index. The status of bridges is passed in."""
    catalogue = Catalogue.open(store.paths.state_dir, skip=skipped_by(config))
    tailer = Tailer(store)
    sources, unread = _sources(catalogue, tailer)
    watcher, problems = _watcher(store, now, unread)
    if not watcher["running"]:
        problems += _unwatched(unread, now, timedelta(minutes=config.status_max_lag_minutes))
    full, scarce = _room(store.paths)
    problems += full
    blind = [
        *catalogue.warnings,
        *(warning for runtime in registered_runtimes() for warning in runtime.unknown_formats(store.paths.state_dir)),
        *_without_records(catalogue, tailer),
        *_unknown_records(catalogue),
        *_refused(catalogue, tailer),
    ]
    kept = _store(store)
    warnings = [*blind, *problems, *scarce, *noted]
    if not kept["index_ok"]:
        warnings.append("the session index did not match the logs and was mended")
    search = search_status(store, config)
    if search["enabled"] and not search["fts5"]:
        warnings.append(
            "the SQLite of this Python has no FTS5: recall looks through topics and tasks, not through talk"
        )
    if "problem" in search:
        warnings.append(search["problem"])
    if not watcher["running"]:
        warnings.append(_NO_WATCHER)
    document = {
        "state_dir": str(store.paths.state_dir),
        "sources": sources,
        "store": kept,
        "context": _context(store),
        "watcher": watcher,
        "search": search,
        "pipeline": _pipeline(store, config, warnings),
        "handoff": _handoffs(store, config, now),
        "bridges": dict(bridges),
        "warnings": warnings,
    }
    return Status(document, failed=bool(blind or problems))


def _pipeline(store: SessionStore, config: Config, warnings: list[str]) -> dict[str, Any]:
    """Whether `pipeline/state.json` can be read; without it no pipeline task is ever known to be done."""
    state = Pipeline.read(store.paths, config).condition
    path = str(store.paths.workspace_file(config.pipeline_state))
    if state == "corrupt":
        warnings.append(f"{path} is not a pipeline state: every task is kept, and none is known to be done")
    return {"path": path, "state": state}


def _handoffs(store: SessionStore, config: Config, now: datetime) -> dict[str, Any]:
    """How many handoffs of the last days wait to be picked up, and the newest of them."""
    if not config.handoff_enabled:
        return {"enabled": False, "waiting": 0, "newest_at": None}
    since = time_before(now, timedelta(hours=config.handoff_expires_hours))
    waiting = []
    for session_id, entry in store.index.entries().items():
        if (entry.get("end_time") or entry.get("updated_at") or "") < since or entry.get("forgotten"):
            continue
        try:
            record = kept_handoff(store.folded(session_id))
        except JsonlStoreError:
            continue  # another process removed it meanwhile
        if record is not None and record.is_available(now):
            waiting.append(record.document.updated_at)
    return {"enabled": True, "waiting": len(waiting), "newest_at": max(waiting, default=None)}


class _Unread(NamedTuple):
    """A transcript with something unread: when it was last written to, and when its first unread entry was."""

    written_at: str | None
    since: str | None


def _sources(catalogue: Catalogue, tailer: Tailer) -> tuple[list[dict[str, Any]], list[_Unread]]:
    """One row per source, and the transcripts with something unread."""
    rows: dict[int, dict[str, Any]] = {
        id(source): {
            "agent_id": source.agent_id,
            "kind": source.kind,
            "path": str(source.path),
            "transcripts": 0,
            "newest_event_at": None,
            f"lag_{source.lag_unit}": 0,
        }
        for source in catalogue.sources
    }
    unread = []
    for session in catalogue.sessions:
        source, newest = session.copies[-1]
        for each, _ in session.copies:
            rows[id(each)]["transcripts"] += 1
        row = rows[id(source)]
        row["newest_event_at"] = max(row["newest_event_at"] or "", newest.updated_at or "") or None
        if not tailer.is_behind(session) or not tailer.accepts(session) or not _has_entries(session, tailer.cursors):
            continue
        position = tailer.cursors.get(session.key)
        cursor = position.cursor if position else None
        lag = session.lag(cursor)
        if lag and not all_forgotten(session, tailer.cursors):
            row[f"lag_{source.lag_unit}"] += lag
            unread.append(_Unread(newest.updated_at, _first_unread_at(session, cursor) or newest.updated_at))
    return list(rows.values()), unread


def _first_unread_at(session: RecordedSession, cursor: Cursor | None) -> str | None:
    """The time of the first entry after the cursor; None if no entry says."""
    try:
        return next((entry.timestamp for entry in session.read(cursor) if entry.timestamp), None)
    except (SourceUnreadable, OSError):
        return None


def _unwatched(unread: Sequence[_Unread], now: datetime, most: timedelta) -> list[str]:
    """The problem that transcripts wait longer than the settings allow, and nobody is there to read them."""
    late = [one.since or "" for one in unread if _waited(one.since, now, most)]
    if not late:
        return []
    what = "1 transcript has" if len(late) == 1 else f"{len(late)} transcripts have"
    since = f" (the oldest since {min(filter(None, late))})" if any(late) else ""
    minutes = int(most.total_seconds() // 60)
    remedy = (
        "`jsonlstore watch --once` reads them now; the setting `status.max_lag_minutes` says how long they may wait"
    )
    return [f"{what} been unread for more than {minutes} minutes{since}: {remedy}"]


def _room(paths: StatePaths) -> tuple[list[str], list[str]]:
    """What keeps us from writing: a full disk, a directory that is not ours. And what soon will."""
    place = next(one for one in (paths.states, *paths.states.parents) if os.path.isdir(one))
    found = os.statvfs(place)
    free = found.f_bavail * found.f_frsize
    if found.f_blocks and free < _TOO_LITTLE:
        return [f"the disk is full: {free // 1024:,} kB are free at {place}, nothing is kept until there is more"], []
    if not os.access(place, os.W_OK | os.X_OK):
        return [f"{place} cannot be written to: `ls -ld {place}` shows who owns it"], []
    if found.f_blocks and free < _LITTLE:
        return [], [f"the disk is nearly full: {free // 1024:,} kB are free at {place}"]
    return [], []


def _without_records(catalogue: Catalogue, tailer: Tailer) -> Iterator[str]:
    """Transcripts unknown to our logs that are not empty and hold no record."""
    for session in catalogue.sessions:
        if tailer.cursors.get(session.key) is not None:
            continue
        path, reading = session.copies[-1][1].path, session.read()
        try:
            first = next(iter(reading), None)
        except SourceUnreadable as problem:
            if path.exists():  # otherwise it was removed while we read
                yield problem.message
        else:
            if first is None and reading.bad_count:
                yield f"not one record in {path} can be read ({session.session_id})"


def _unknown_records(catalogue: Catalogue) -> Iterator[str]:
    """Sources with records in a form that has no reader here."""
    for source in catalogue.sources:
        if source.warnings:
            continue
        try:
            count = source.unknown_records()
        except SourceUnreadable as problem:
            yield problem.message
        else:
            if count:
                yield f"no reader for {count} of the events in {source.path}: they are kept in a new form"


def _refused(catalogue: Catalogue, tailer: Tailer) -> Iterator[str]:
    """Sessions with the id of another agent's session that are more than a copy of it: only one of the two is kept."""
    extents = {one.key: _extent(one) for one in catalogue.sessions}
    for session in catalogue.sessions:
        owner = tailer.other_owner(session)
        if owner is None or tailer.accepts(session):
            continue
        if extents.get((owner, session.session_id)) != _extent(session):
            yield (
                f"{session.session_id} of agent {session.agent_id} is not kept: "
                f"agent {owner} has another session with this id"
            )


def _extent(session: RecordedSession) -> tuple[int, int | None]:
    newest = session.copies[-1][1]
    return newest.size, newest.newest


def _has_entries(session: RecordedSession, cursors: Cursors) -> bool:
    """Whether there is more than a header: a session without entries is not kept."""
    if cursors.get(session.key) is not None:
        return True
    try:
        return any(entry.type != "session" for entry in session.read())
    except (SourceUnreadable, OSError):
        return True


def _waited(updated_at: str | None, now: datetime, most: timedelta = BEHIND_AFTER) -> bool:
    try:
        return now - parse_time(updated_at or "") > most
    except ValueError:
        return True


def _watcher(store: SessionStore, now: datetime, unread: Sequence[_Unread]) -> tuple[dict[str, Any], list[str]]:
    pid = running(store.paths)
    report = read_report(store.paths)
    if pid == 0 and report:
        pid = report.pid  # the lock is held, and a full disk kept the holder from writing its number there
    current = report if report and pid is not None and report.pid == pid else None
    problems = []
    if pid is not None:
        behind = sum(_waited(one.written_at, now) for one in unread)
        if behind:
            what = "1 transcript has" if behind == 1 else f"{behind} transcripts have"
            problems.append(f"the watcher is behind: {what} waited for more than a minute")
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
    return row, problems


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


def _context(store: SessionStore) -> list[dict[str, Any]]:
    """The window use of the open sessions, newest first; sessions without token counts are left out."""
    rows = []
    for entry in [one for one in store.entries() if one.end_time is None][:_MOST_CONTEXTS]:
        try:
            tokens = store.get(entry.session_id).tokens
        except JsonlStoreError:
            continue  # removed since the index was read
        if tokens is not None:
            rows.append({"session_id": entry.session_id, "session_key": entry.session_key, **tokens.to_dict()})
    return rows


def _size(root: Path) -> int:
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue  # archived or replaced while we read
    return total
