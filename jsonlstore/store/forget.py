"""Forgetting a session: every trace is removed except a tombstone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jsonlstore.core.files import TEMP_PREFIX, Disk, read_bytes, temp_target
from jsonlstore.core.paths import StatePaths
from jsonlstore.store.archive import months_of
from jsonlstore.store.fold import SessionFold
from jsonlstore.store.log import Event, SessionLog, parse_event
from jsonlstore.store.projection import RawIndexEntry, project


class Forgotten(NamedTuple):
    """The files that were removed, and the other sessions that still hold pins inherited from the forgotten one."""

    session_id: str
    removed: tuple[str, ...]
    inherited_by: tuple[str, ...]
    entry: RawIndexEntry


def forget_session(
    paths: StatePaths, disk: Disk, open_log: Callable[[Path], SessionLog], session_id: str, now: str
) -> Forgotten:
    """Replace the log by a tombstone first, then remove every copy, so that a retry completes an interrupted removal.

    Requires the session's lock. Also works for sessions we never saw, so that a later scan does not import them.
    """
    hot = paths.log(session_id)
    tombstone = Event(1, now, "session.forgotten", "operator", {"session_id": session_id})
    removed = [] if not hot.exists() or _is_tombstone(open_log(hot)) else [str(hot)]
    if removed or not hot.exists():
        disk.replace(hot, tombstone.to_line(), paths.states)
    removed += [str(path) for path in leftovers(paths, session_id) if disk.remove(path)]
    disk.remove(paths.hook_log)  # it may speak of any session, and the next call writes it anew
    folded = SessionFold()
    folded.apply(tombstone)
    return Forgotten(
        session_id=session_id,
        removed=tuple(removed),
        inherited_by=tuple(sorted(_sessions_that_inherited(paths, session_id))),
        entry=project(folded, hot.stat().st_size),
    )


def preview(paths: StatePaths, open_log: Callable[[Path], SessionLog], session_id: str) -> Forgotten:
    """What `forget_session` would remove, and who inherited from it; nothing is changed."""
    hot = paths.log(session_id)
    there = [hot] if hot.exists() and not _is_tombstone(open_log(hot)) else []
    removed = tuple(str(path) for path in (*there, *leftovers(paths, session_id)))
    return Forgotten(session_id, removed, tuple(sorted(_sessions_that_inherited(paths, session_id))), {})


def leftovers(paths: StatePaths, session_id: str) -> list[Path]:
    """A session's files besides its hot log: mirror, archive, quarantined tails, unfinished temporary files."""
    found = [paths.mirror(session_id), *_archived(paths, session_id, "json"), *_archived(paths, session_id, "jsonl")]
    found += [path for path in sorted(paths.quarantine.glob("*")) if _quarantined_from(path.name) == session_id]
    for place in (
        paths.states,
        paths.quarantine,
        paths.archive,
        *(paths.archive / month for month in months_of(paths)),
    ):
        found += [path for path in place.glob(TEMP_PREFIX + "*") if _unfinished_of(path) == session_id]
    return [path for path in found if path.exists()]


def task_ids(paths: StatePaths, open_log: Callable[[Path], SessionLog], session_id: str) -> set[str]:
    """Every task id a session ever mentioned: metrics may still quote the title of a task that is long done."""
    found: set[str] = set()
    for path in (paths.log(session_id), *_archived(paths, session_id, "jsonl")):
        scan = open_log(path).scan()
        for placed in scan.events if scan else ():
            found.update(_tasks_in(placed.event.data))
    return found


def _tasks_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("task_id"), str):
            yield value["task_id"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _tasks_in(item)


def _archived(paths: StatePaths, session_id: str, suffix: str) -> Iterator[Path]:
    for month in months_of(paths):
        yield paths.archive / month / f"{session_id}.{suffix}"


def _quarantined_from(name: str) -> str:
    """The session a quarantined file was cut from: the file's name is `<id>.<offset>.<attempt>.torn`."""
    return name.rsplit(".", 3)[0]


def _unfinished_of(path: Path) -> str:
    """The session a temporary file was written for."""
    target = temp_target(path)
    return _quarantined_from(target) if target.endswith(".torn") else target.rpartition(".")[0]


def _is_tombstone(session_log: SessionLog) -> bool:
    scan = session_log.scan()
    return scan is not None and [placed.event.type for placed in scan.events] == ["session.forgotten"]


def _sessions_that_inherited(paths: StatePaths, session_id: str) -> Iterator[str]:
    """The sessions whose logs hold pins or a preamble made of the words of this one."""
    mark = f"[inherited from {session_id} @".encode()
    for path in [*paths.states.glob("*.jsonl"), *paths.archive.glob("*/*.jsonl")]:
        data = b"" if path.name == "metrics.jsonl" else read_bytes(path) or b""
        given = (parse_event(line) for line in data.split(b"\n") if b'"session.inherited"' in line)
        if mark in data or any(one is not None and session_id in (one.data.get("from") or ()) for one in given):
            yield path.stem
