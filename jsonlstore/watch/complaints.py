"""One complaint a minute about a disk that cannot be written to, however many sessions wait for it.

A watcher tries every waiting session again and again, and so do the search index and the report: the cause is one, and
a journal full of it hides everything else.
"""

from __future__ import annotations

import errno
import logging
import os
import time
from collections.abc import Callable

EVERY_SECONDS = 60.0
_CAUSES = {
    "no room": (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT), "disk is full", "bytes were taken"),
    "read-only": (os.strerror(errno.EROFS), "readonly database"),
    "broken": (os.strerror(errno.EIO), "disk I/O error"),
}


class OneAMinute(logging.Filter):
    """Lets one message a minute through for each cause and level, with the number of those kept back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._said: dict[str, tuple[float, int]] = {}  # by cause: when, and of which level
        self._kept_back: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        text = record.getMessage()
        cause = next((name for name, signs in _CAUSES.items() if any(sign in text for sign in signs)), None)
        if cause is None:
            return True
        now = self._clock()
        at, level = self._said.get(cause, (float("-inf"), 0))
        if now - at < EVERY_SECONDS and record.levelno <= level:
            self._kept_back[cause] = self._kept_back.get(cause, 0) + 1
            return False
        self._said[cause] = now, max(record.levelno, level if now - at < EVERY_SECONDS else 0)
        others = self._kept_back.pop(cause, 0)
        more = f" ({others:,} more like it in the last minute)" if others else ""
        record.msg, record.args = f"{text}{more}; it is tried again until it works", ()
        return True


def complain_once_a_minute() -> None:
    """Have whatever shows messages show a disk's refusals once a minute."""
    for handler in logging.getLogger().handlers:
        if not any(isinstance(one, OneAMinute) for one in handler.filters):
            handler.addFilter(OneAMinute())
