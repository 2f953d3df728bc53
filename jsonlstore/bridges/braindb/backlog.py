"""The sessions whose live write to brain.db failed, kept on disk so that another process can report and retry them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import read_bytes
from jsonlstore.core.locks import Locks
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from jsonlstore.store.reader import SessionReader

log = logger(__name__)

_LOCK_SECONDS = 0.05
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
        # locks of its own: a listener may be called with the session's lock held, and must not wait long
        self._locks = Locks(store.paths.states, timeout=lambda: _LOCK_SECONDS)

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
            with self._locks.named("brain-db-behind"):
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
            with self._locks.named("brain-db-behind"):
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
        record = {
            "problem": after.problem,
            "since": after.since,
            "session_ids": after.session_ids,
            "everything": after.everything,
        }
        self._store.disk.replace(self.path, orjson.dumps(record), self._store.paths.states)
