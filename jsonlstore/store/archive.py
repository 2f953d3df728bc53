"""Ended sessions as plain JSON, for other tools and for long-term storage: mirrors and the archive.

A mirror, `sessions/<id>.json`, is best effort and repaired later. The archive is cold storage: the state as JSON and
its log beside it, in `archive/YYYY-MM/`. A move writes and syncs the new file before it removes the old one, so a crash
at any point leaves at least one whole copy; running the move again completes it.
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
from jsonlstore.store.limits import MAX_STATE_BYTES
from jsonlstore.store.log import SessionLog
from jsonlstore.store.projection import project_log

log = logger(__name__)


def move_to_archive(paths: StatePaths, disk: Disk, session_id: str, state: Mapping[str, Any]) -> str:
    """Move an ended session's log and mirror to the archive; returns the month. Requires the session's lock."""
    month = str(state["end_time"])[:7]  # YYYY-MM, UTC
    _drop_copies(paths, disk, session_id, home=None)
    target = paths.archived_state(session_id, month)
    disk.make_dir(target.parent)
    disk.replace(target, to_json(state), temp_dir_for(target.parent, paths, disk))
    _move(disk, paths.log(session_id), paths.archived_log(session_id, month))
    disk.remove(paths.mirror(session_id))
    return month


def move_back(paths: StatePaths, disk: Disk, session_id: str, month: str) -> None:
    """Move an archived session's log back to the hot logs. Requires the session's lock."""
    _move(disk, paths.archived_log(session_id, month), paths.log(session_id))
    disk.remove(paths.archived_state(session_id, month))


def finish_move(
    paths: StatePaths, disk: Disk, session_id: str, open_log: Callable[[Path], SessionLog]
) -> dict[str, Any] | None:
    """Complete or undo an interrupted move, decided by where the log is; returns the index entry.

    Requires the session's lock. If there is a hot log, the session is hot and its archived files are copies. Otherwise
    the archived log is the session.
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
    """Remove what an interrupted move left outside `home`; an archived log only if it is a prefix of the hot one."""
    for month in months_of(paths):
        if month == home:
            continue
        disk.remove(paths.archived_state(session_id, month))
        copy = read_bytes(paths.archived_log(session_id, month))
        if copy is not None and (read_bytes(paths.log(session_id)) or b"").startswith(copy):
            disk.remove(paths.archived_log(session_id, month))


def months_of(paths: StatePaths) -> list[str]:
    """The archive's month folders, oldest first."""
    try:
        return sorted(item.name for item in paths.archive.iterdir() if item.is_dir())
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise unreadable(paths.archive, problem) from problem


def find_month(paths: StatePaths, session_id: str) -> str | None:
    """The archive folder with a session's log; None if the session is not archived."""
    return next((month for month in months_of(paths) if paths.archived_log(session_id, month).exists()), None)


def _move(disk: Disk, source: Path, target: Path) -> None:
    """Rename a file; across file systems copy, sync, and only then remove the original."""
    with writing(source):
        same = os.stat(source).st_dev == os.stat(target.parent).st_dev
    if same:
        disk.move(source, target)
        return
    data = read_bytes(source)
    if data is not None:
        # synced even if other syncs are deferred: the copy must be durable before the original on the other disk is
        # removed
        type(disk)().replace(target, data, target.parent)
        disk.remove(source)


def to_json(state: Mapping[str, Any]) -> bytes:
    """A state in the JSON form of mirrors and archive: indented for people, unless that would pass a state's limit."""
    indented = orjson.dumps(state, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    return indented if len(indented) <= MAX_STATE_BYTES else orjson.dumps(state)


def temp_dir_for(directory: Path, paths: StatePaths, disk: Disk) -> Path:
    """The directory for a temporary file that is then renamed into `directory`.

    It is `states/`, so that no unfinished file lies beside the mirrors. If the mirrors were moved to another file
    system, it is their archive directory, because a rename cannot cross file systems.
    """
    disk.make_dir(directory)
    if os.stat(directory).st_dev == os.stat(paths.states).st_dev:
        return paths.states
    disk.make_dir(paths.archive)
    return paths.archive


def mirror_shows(paths: StatePaths, session_id: str, state: Mapping[str, Any]) -> bool:
    """Whether a session's mirror is there and shows this state; an earlier version's lacks fields that are empty."""
    found = read_bytes(paths.mirror(session_id))
    if found is None or found == to_json(state):
        return found is not None
    try:
        shown = orjson.loads(found)
    except orjson.JSONDecodeError:
        return False
    return isinstance(shown, dict) and _without_empty(shown) == _without_empty(state)


def _without_empty(state: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in state.items() if value not in (None, [], {})}


def write_mirror(
    paths: StatePaths, disk: Disk, session_id: str, state: Mapping[str, Any], *, lasting: bool = True
) -> bool:
    """Write the mirror; a failure is only logged, because the log already holds the state."""
    target = paths.mirror(session_id)
    try:
        disk.replace(target, to_json(state), temp_dir_for(target.parent, paths, disk), lasting=lasting)
    except (JsonlStoreError, OSError) as problem:
        log.warning("mirror of %s not written, `doctor --fix` will: %s", session_id, problem)
        return False
    return True
