"""`sessions/<id>.json`: a captured state as plain JSON, for other tools. Best effort, repaired later."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from jsonlstore.core.files import Disk
    from jsonlstore.core.paths import StatePaths

log = logger(__name__)


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
