"""Catching up without a watcher: what a runtime's hook asks for after a turn, so that nothing waits for a service."""

from __future__ import annotations

import fcntl
import logging
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jsonlstore.watch.instance import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jsonlstore.core.config import Config
    from jsonlstore.store.store import SessionStore

log = logging.getLogger("jsonlstore.watch")

_LOCK = "catch-up.lock"
_PATIENCE_SECONDS = 20.0


def catch_up_unwatched(store: SessionStore, config: Config) -> int | None:
    """Bring our logs after every transcript; None if a watcher does that, or another process is at it for too long."""
    if not config.enabled or running(store.paths) is not None:
        return None
    store.prepare()
    with _one_at_a_time(store.paths.states / _LOCK) as mine:
        if not mine:
            return None
        from jsonlstore.watch.loop import Watcher

        return Watcher(store, config).once()


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[bool]:
    """Whether it is our turn. Whoever waits here was called for what the one before may not have seen any more."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if time.monotonic() >= deadline:
                    log.info("another process has been catching up for %.0f s; left to it", _PATIENCE_SECONDS)
                    yield False
                    return
                time.sleep(0.05)
            else:
                yield True
                return
    finally:
        os.close(fd)
