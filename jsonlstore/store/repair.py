"""Repair at start-up: mirrors older than their log, and moves to or from the archive that a kill cut short.

Cheap enough for every start: names and times are compared, no file is read. `doctor` compares contents.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import unreadable
from jsonlstore.core.logs import logger
from jsonlstore.store.archive import months_of

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.store.store import SessionStore

log = logger(__name__)


def repair_unfinished(store: SessionStore) -> int:
    """Finish what a crash left unfinished; returns how many sessions were repaired. A failure is only logged."""
    repaired = 0
    for repair, unfinished in ((store.finish_archiving, _half_moved), (store.repair_mirror, _behind_their_log)):
        for session_id in unfinished(store):
            try:
                repair(session_id)
            except JsonlStoreError as problem:
                log.warning("session %s is left to `doctor --fix`: %s", session_id, problem)
            else:
                repaired += 1
    return repaired


def _half_moved(store: SessionStore) -> list[str]:
    """Sessions of which something lies in the archive and something does not."""
    paths = store.paths
    months = [paths.archive / month for month in months_of(paths)]
    states = {one for month in months for one in _times(month, ".json")}
    logs = {one for month in months for one in _times(month, ".jsonl")}
    half = (states ^ logs) | ((states | logs) & _times(paths.states, ".jsonl").keys())
    half |= logs & _times(paths.sessions, ".json").keys()
    entries = store.index.lazy_entries() if half else {}
    return sorted(one for one in half if not entries.get(one, {}).get("forgotten"))


def _behind_their_log(store: SessionStore) -> list[str]:
    """Ended sessions without a mirror, or with one that is older than the log: it is written after it."""
    logged, mirrored = _times(store.paths.states, ".jsonl"), _times(store.paths.sessions, ".json")
    return [
        session_id
        for session_id, entry in store.index.lazy_entries().items()
        if entry.get("end_time") and session_id in logged and mirrored.get(session_id, -1) < logged[session_id]
    ]


def _times(folder: Path, ending: str) -> dict[str, int]:
    """When each file with this ending was last written, by its name without it."""
    found: dict[str, int] = {}
    try:
        with os.scandir(folder) as listing:
            for item in listing:
                if item.name.endswith(ending):
                    with suppress(FileNotFoundError):  # moved or replaced while we look
                        found[item.name.removesuffix(ending)] = item.stat().st_mtime_ns
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise unreadable(folder, problem) from problem
    return found
