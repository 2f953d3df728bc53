"""Forgetting: nothing of the session stays but a tombstone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.store.files import read_bytes
from jsonlstore.store.index import Entry, fold_events, project
from jsonlstore.store.log import Event
from jsonlstore.store.state import SessionFold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from jsonlstore.paths import StatePaths
    from jsonlstore.store.files import Disk
    from jsonlstore.store.log import SessionLog


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed, and which other sessions still hold pins they inherited from it."""

    session_id: str
    removed: tuple[str, ...]
    inherited_by: tuple[str, ...]
    task_ids: tuple[str, ...]
    entry: Entry


def forget_session(
    paths: StatePaths, disk: Disk, open_log: Callable[[Path], SessionLog], session_id: str, now: str
) -> Forgotten:
    """Replace the log by a tombstone first, then remove every copy: a crash in between is finished by the next try.

    Wants the session's lock. Works for sessions we never saw, so that a later scan does not bring them in.
    """
    hot = paths.log(session_id)
    logs = [path for path in (hot, *_archived(paths, session_id, "jsonl")) if path.exists()]
    task_ids = tuple(sorted({task for path in logs for task in _task_ids(open_log(path), session_id)}))
    grave = tombstone(session_id, now)
    removed = [] if not hot.exists() or _is_tombstone(open_log(hot)) else [str(hot)]
    if removed or not hot.exists():
        disk.replace(hot, grave.to_line(), paths.states)
    copies = [paths.mirror(session_id), *_archived(paths, session_id, "json"), *_archived(paths, session_id, "jsonl")]
    copies += [path for path in _files(paths.quarantine) if _quarantined_from(path) == session_id]
    removed += [str(path) for path in copies if disk.remove(path)]
    folded = SessionFold()
    folded.apply(grave)
    return Forgotten(
        session_id=session_id,
        removed=tuple(removed),
        inherited_by=tuple(sorted(_inheritors(paths, session_id))),
        task_ids=task_ids,
        entry=project(folded, hot.stat().st_size),
    )


def tombstone(session_id: str, now: str) -> Event:
    """The one line that stays in a forgotten session's log."""
    return Event(1, now, "session.forgotten", "operator", {"session_id": session_id})


def leftovers(paths: StatePaths, session_id: str) -> list[Path]:
    """Files of a forgotten session that a crash left behind."""
    found = [paths.mirror(session_id), *_archived(paths, session_id, "json"), *_archived(paths, session_id, "jsonl")]
    found += [path for path in _files(paths.quarantine) if _quarantined_from(path) == session_id]
    return [path for path in found if path.exists()]


def _files(directory: Path) -> list[Path]:
    return sorted(directory.iterdir()) if directory.is_dir() else []


def _archived(paths: StatePaths, session_id: str, suffix: str) -> Iterator[Path]:
    for month in _files(paths.archive):
        yield month / f"{session_id}.{suffix}"


def _quarantined_from(path: Path) -> str:
    """The session a quarantined file was cut from: its name is `<id>.<offset>.<attempt>.torn`."""
    return path.name.rsplit(".", 3)[0]


def _is_tombstone(session_log: SessionLog) -> bool:
    scan = session_log.scan()
    return scan is not None and [placed.event.type for placed in scan.events] == ["session.forgotten"]


def _task_ids(session_log: SessionLog, session_id: str) -> list[str]:
    scan = session_log.scan()
    if scan is None:
        return []
    folded = fold_events(session_id, (placed.event for placed in scan.events))
    return [] if folded.forgotten else [str(task.get("task_id")) for task in folded.to_dict()["pending_tasks"]]


def _inheritors(paths: StatePaths, session_id: str) -> Iterator[str]:
    mark = f"[inherited from {session_id} @".encode()
    logs = [*paths.states.glob("*.jsonl"), *paths.archive.glob("*/*.jsonl")]
    for path in logs:
        if path.name != "metrics.jsonl" and mark in (read_bytes(path) or b""):
            yield path.stem
