"""The state of the bridge to brain.db, for `status`; looking changes nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.braindb import is_in_use, resolve_brain_db
from jsonlstore.bridges.braindb.backlog import Backlog
from jsonlstore.core.errors import JsonlStoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from jsonlstore.core.config import Config
    from jsonlstore.store.reader import SessionReader


@dataclass(frozen=True, slots=True)
class BrainDbStatus:
    """Where brain.db is, whether we write to it, and what is wrong with that."""

    path: Path
    enabled: bool
    exists: bool
    behind: int  # sessions whose rows are known to be missing or old
    everything_behind: bool
    since: str | None
    warning: str | None

    def to_dict(self) -> dict[str, Any]:
        """The `bridges.brain_db` of `status --json`."""
        return {
            "path": str(self.path),
            "enabled": self.enabled,
            "exists": self.exists,
            "behind": self.behind,
            "everything_behind": self.everything_behind,
            "since": self.since,
            "warning": self.warning,
        }


def brain_db_status(store: SessionReader, config: Config, env: Mapping[str, str] = os.environ) -> BrainDbStatus:
    """What can be said of brain.db from outside."""
    path = resolve_brain_db(config, store.paths.state_dir, env)
    exists = os.path.exists(path)
    enabled = is_in_use(config, path)
    missed = Backlog(store).read() if enabled else None
    warning = _file_problem(path) if enabled else None
    if warning is None and missed is not None:
        which = "older sessions" if missed.everything else f"{len(missed.session_ids)} sessions"
        warning = f"brain.db is behind by {which} since {missed.since}: {missed.problem}"
    return BrainDbStatus(
        path=path,
        enabled=enabled,
        exists=exists,
        behind=len(missed.session_ids) if missed else 0,
        everything_behind=missed.everything if missed else False,
        since=missed.since if missed else None,
        warning=warning,
    )


def _file_problem(path: Path) -> str | None:
    """What is plainly wrong with the file, which is not changed by looking."""
    from jsonlstore.bridges.braindb.database import read_unchanged

    if not os.path.exists(path):
        return f"{path} is missing: `jsonlstore export brain-db` creates it"
    try:
        read_unchanged(path, lambda database: database.execute("SELECT count(*) FROM sqlite_master").fetchone())
    except JsonlStoreError as problem:
        return str(problem)
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        return f"{path} is read-only"
    return None
