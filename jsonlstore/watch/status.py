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
from typing import Any

from jsonlstore.core.clock import parse_time, time_before
from jsonlstore.core.config import Config
from jsonlstore.core.errors import JsonlStoreError, SourceUnreadable
from jsonlstore.core.files import read_bytes
from jsonlstore.core.paths import shorten_home
from jsonlstore.handoff import kept_handoff
from jsonlstore.restore import Pipeline
from jsonlstore.store import SessionStore, parse_index
from jsonlstore.transcripts import Catalogue, RecordedSession, registered_runtimes
from jsonlstore.watch.cursors import Cursors
from jsonlstore.watch.instance import read_report, running
from jsonlstore.watch.search_check import search_status
from jsonlstore.watch.tail import Tailer, skipped_by

_MOST_CONTEXTS = 20
BEHIND_AFTER = timedelta(seconds=60)


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
    sources, behind = _sources(catalogue, tailer, now)
    watcher, problems = _watcher(store, now, behind)
    blind = [
        *catalogue.warnings,
        *(warning for runtime in registered_runtimes() for warning in runtime.unknown_formats(store.paths.state_dir)),
        *_without_records(catalogue, tailer),
        *_unknown_records(catalogue),
        *_refused(catalogue, tailer),
    ]
    kept = _store(store)
    warnings = [*blind, *problems, *noted]
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
        warnings.append("no watcher is running: `jsonlstore watch`, or `jsonlstore service install`")
    document = {
        "state_dir": shorten_home(store.paths.state_dir),
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
    path = shorten_home(store.paths.workspace_file(config.pipeline_state))
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


def _sources(catalogue: Catalogue, tailer: Tailer, now: datetime) -> tuple[list[dict[str, Any]], int]:
    """One row per source, and the number of transcripts that have waited too long to be read."""
    rows: dict[int, dict[str, Any]] = {
        id(source): {
            "agent_id": source.agent_id,
            "kind": source.kind,
            "path": shorten_home(source.path),
            "transcripts": 0,
            "newest_event_at": None,
            f"lag_{source.lag_unit}": 0,
        }
        for source in catalogue.sources
    }
    behind = 0
    for session in catalogue.sessions:
        source, newest = session.copies[-1]
        for each, _ in session.copies:
            rows[id(each)]["transcripts"] += 1
        row = rows[id(source)]
        row["newest_event_at"] = max(row["newest_event_at"] or "", newest.updated_at or "") or None
        if not tailer.is_behind(session) or not tailer.accepts(session) or not _has_entries(session, tailer.cursors):
            continue
        position = tailer.cursors.get(session.key)
        lag = session.lag(position.cursor if position else None)
        row[f"lag_{source.lag_unit}"] += lag
        behind += bool(lag) and _waited(newest.updated_at, now)
    return list(rows.values()), behind


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


def _waited(updated_at: str | None, now: datetime) -> bool:
    try:
        return now - parse_time(updated_at or "") > BEHIND_AFTER
    except ValueError:
        return True


def _watcher(store: SessionStore, now: datetime, behind: int) -> tuple[dict[str, Any], list[str]]:
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
