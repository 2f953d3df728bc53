"""What a watcher could not do and will try again, session by session."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from jsonlstore.watch.cursors import Key

log = logging.getLogger("jsonlstore.watch")


class Troubles:
    """Transcripts that could not be read, and what was read but could not be kept."""

    def __init__(self) -> None:
        self._unread: dict[Key, str] = {}
        self._unkept: dict[Key, str] = {}

    @property
    def all(self) -> list[str]:
        """Every one of them, once."""
        return list(dict.fromkeys([*self._unread.values(), *self._unkept.values()]))

    @property
    def unkept(self) -> str | None:
        """The oldest that is ours: a disk that is full, read-only or locked."""
        return next(iter(self._unkept.values()), None)

    def not_read(self, key: Key, problem: str) -> None:
        """It belongs to the runtime, and mostly passes: nothing to complain about yet."""
        self._unread[key] = problem

    def not_kept(self, key: Key, problem: str) -> None:
        """Say it, but once."""
        if self._unkept.get(key) != problem:
            log.error("%s", problem)
        self._unkept[key] = problem

    def over(self, key: Key) -> None:
        """It went well this time."""
        self._unread.pop(key, None)
        self._unkept.pop(key, None)

    def limit_to(self, keys: Collection[Key]) -> None:
        """What is gone cannot be tried again."""
        for key in [*self._unread, *self._unkept]:
            if key not in keys:
                self.over(key)
