"""Ended sessions as plain JSON, for other tools and for good: mirrors and the archive.

A mirror, `sessions/<id>.json`, is best effort and repaired later. The archive is cold storage: the state as JSON and
its log beside it, in `archive/YYYY-MM/`. Whatever moves is written and synced at its new place before it leaves the old
one, so a crash at any point leaves at least one whole copy; running again completes the move.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import Disk, read_bytes, unreadable, writing
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import StatePaths
from jsonlstore.store.fold import fold_events
from jsonlstore.store.log import SessionLog
from jsonlstore.store.projection import project_log

log = logger(__name__)


def move_to_archive(paths: StatePaths, disk: Disk, session_id: str, state: Mapping[str, Any]) -> str:
    """Move an ended session's log and mirror to the archive; returns the month. Wants the session's lock."""
    month = str(state["end_time"])[:7]  # YYYY-MM, UTC
    _drop_copies(paths, disk, session_id, home=None)
    target = paths.archived_state(session_id, month)
    disk.make_dir(target.parent)
    disk.replace(target, to_json(state), temp_dir_for(target.parent, paths, disk))
    _move(disk, paths.log(session_id), paths.archived_log(session_id, month))
    disk.remove(paths.mirror(session_id))
    return month


def move_back(paths: StatePaths, disk: Disk, session_id: str, month: str) -> None:
    """Move an archived session's log back among the hot ones. Wants the session's lock."""
    _move(disk, paths.archived_log(session_id, month), paths.log(session_id))
    disk.remove(paths.archived_state(session_id, month))


def finish_move(
    paths: StatePaths, disk: Disk, session_id: str, open_log: Callable[[Path], SessionLog]
) -> dict[str, Any] | None:
    """Finish or undo a half-done move, by where the log is; returns the index entry. Wants the session's lock.

    With a hot log the session is hot, and what the archive holds of it is a copy. Without one the archive is its home.
    """
    is_hot = paths.log(session_id).exists()
    home = None if is_hot else find_month(paths, session_id)
    _drop_copies(paths, disk, session_id, home)
    if is_hot:
        return project_log(open_log(paths.log(session_id)), session_id)
    if home is None:
        return None
    cold = open_log(paths.archived_log(session_id, home))
    scan = cold.scan()
    if scan is not None:
        state = fold_events(session_id, scan.events).to_dict()
        target = paths.archived_state(session_id, home)
        disk.replace(target, to_json(state), temp_dir_for(target.parent, paths, disk))
    disk.remove(paths.mirror(session_id))
    return project_log(cold, session_id, home)


def _drop_copies(paths: StatePaths, disk: Disk, session_id: str, home: str | None) -> None:
    """Remove what an interrupted move left outside `home`; a log only if the hot one begins with it, word for word."""
    for month in months_of(paths):
        if month == home:
            continue
        disk.remove(paths.archived_state(session_id, month))
        copy = read_bytes(paths.archived_log(session_id, month))
        if copy is not None and (read_bytes(paths.log(session_id)) or b"").startswith(copy):
            disk.remove(paths.archived_log(session_id, month))


def months_of(paths: StatePaths) -> list[str]:
    """The archive's folders, oldest first."""
    try:
        return sorted(item.name for item in paths.archive.iterdir() if item.is_dir())
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise unreadable(paths.archive, problem) from problem


def find_month(paths: StatePaths, session_id: str) -> str | None:
    """The archive folder that holds a session's log, if any."""
    return next((month for month in months_of(paths) if paths.archived_log(session_id, month).exists()), None)


def _move(disk: Disk, source: Path, target: Path) -> None:
    """Rename; across file systems copy, sync, and only then remove."""
    with writing(source):
        same = os.stat(source).st_dev == os.stat(target.parent).st_dev
    if same:
        disk.move(source, target)
        return
    data = read_bytes(source)
    if data is not None:
        # synced whatever else is put off: what is removed on one file system must be safe on the other
        type(disk)().replace(target, data, target.parent)
        disk.remove(source)


def to_json(state: Mapping[str, Any]) -> bytes:
    """A state as mirrors and archive hold it."""
    return orjson.dumps(state, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def temp_dir_for(directory: Path, paths: StatePaths, disk: Disk) -> Path:
    """Where a file may be prepared that is then renamed into `directory`.

    `states/`, so that nothing unfinished ever lies beside the mirrors; when the mirrors were moved to another file
    system, their archive directory.
    """
    disk.make_dir(directory)
    if os.stat(directory).st_dev == os.stat(paths.states).st_dev:
        return paths.states
    disk.make_dir(paths.archive)
    return paths.archive


def write_mirror(
    paths: StatePaths, disk: Disk, session_id: str, state: Mapping[str, Any], *, lasting: bool = True
) -> bool:
    """Put the mirror in place; a failure is a warning, because the log already has everything."""
    target = paths.mirror(session_id)
    try:
        disk.replace(target, to_json(state), temp_dir_for(target.parent, paths, disk), lasting=lasting)
    except (JsonlStoreError, OSError) as problem:
        log.warning("mirror of %s not written, `doctor --fix` will: %s", session_id, problem)
        return False
    return True
