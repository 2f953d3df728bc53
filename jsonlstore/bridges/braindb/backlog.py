"""How far brain.db is behind: the sessions whose live write failed, on disk for `status` and for the next retry."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.bridges.braindb import is_in_use, resolve_brain_db
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import read_bytes
from jsonlstore.core.locks import locked
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from jsonlstore.core.config import Config
    from jsonlstore.store import SessionReader

log = logger(__name__)

_LOCK_SECONDS = 0.05  # a listener may be called with the session's lock held, and must not wait long
_MAX_IDS = 1000


@dataclass(frozen=True, slots=True)
class Missed:
    """Why brain.db is behind, since when, and by which sessions; `everything` when they are too many to name."""

    problem: str
    since: str
    session_ids: tuple[str, ...] = ()
    everything: bool = False


class Backlog:
    """The small file that names the sessions brain.db lacks; without the file it lacks none."""

    def __init__(self, store: SessionReader) -> None:
        self._store = store
        self.path: Path = store.paths.states / "brain-db-behind.json"
        self._lock: Path = store.paths.states / "brain-db-behind.lock"

    def read(self) -> Missed | None:
        """What is missing, or None."""
        try:
            data = read_bytes(self.path)
            if data is None:
                return None
            raw = orjson.loads(data)
            ids = tuple(str(each) for each in raw["session_ids"])
            return Missed(str(raw["problem"]), str(raw["since"]), ids, raw["everything"] is True)
        except (JsonlStoreError, orjson.JSONDecodeError, KeyError, TypeError) as problem:
            return Missed(f"what it lacks is not known: {problem}", self._store.now(), everything=True)

    def add(self, session_ids: Collection[str], problem: str, *, everything: bool = False) -> None:
        """Add sessions that could not be written. Best effort: a failure to do even that goes to the log."""
        try:
            with locked(self._lock, _LOCK_SECONDS):
                before = self.read() or Missed("", self._store.now())
                ids = dict.fromkeys([*before.session_ids, *session_ids])
                self._replace(before, problem, tuple(ids), everything=everything or before.everything)
        except (JsonlStoreError, OSError) as trouble:
            log.warning("brain.db is behind, and that could not be noted: %s", trouble)

    def settle(self, done: Missed, refused: Mapping[str, str]) -> None:
        """Take off what `done` names, except the rows `refused` and why; what was added since then stays.

        Refused rows go to the end, so that the next retry, which takes some from the front, reaches the others.
        """
        try:
            with locked(self._lock, _LOCK_SECONDS):
                noted = self.read()
                now = noted or Missed("", self._store.now())
                over = {*done.session_ids, *refused}
                left = (*(each for each in now.session_ids if each not in over), *refused)
                everything = now.everything and not done.everything
                if left or everything:
                    why = [f"the table refuses the row: {reason}" for reason in refused.values()]
                    self._replace(now, why[0] if why else now.problem, left, everything=everything)
                elif noted is not None:
                    self._store.disk.remove(self.path)
        except (JsonlStoreError, OSError) as trouble:
            say = log.warning if refused else log.debug
            say("what brain.db still lacks could not be noted and will be looked at again: %s", trouble)

    def _replace(self, before: Missed, problem: str, session_ids: tuple[str, ...], *, everything: bool) -> None:
        everything = everything or len(session_ids) > _MAX_IDS
        after = Missed(problem, before.since, () if everything else session_ids, everything)
        if after == before:
            return
        self._store.disk.replace(self.path, orjson.dumps(after), self._store.paths.states)


@dataclass(frozen=True, slots=True)
class BrainDbStatus:
    """Where brain.db is, whether we write to it, and what is wrong with that."""

    path: Path
    enabled: bool
    exists: bool
    behind: int = 0  # sessions whose rows are known to be missing or old
    everything_behind: bool = False
    since: str | None = None
    warning: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The `bridges.brain_db` of `status --json`."""
        return {**asdict(self), "path": str(self.path)}


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
    if missed is None:
        return BrainDbStatus(path, enabled, exists, warning=warning)
    return BrainDbStatus(path, enabled, exists, len(missed.session_ids), missed.everything, missed.since, warning)


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
