"""What hooks and the commands of continuity have to do with brain.db, when there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jsonlstore.core.config import Config
    from jsonlstore.restore.model import MemorySource
    from jsonlstore.store.store import SessionStore


def attach_brain(store: SessionStore, config: Config) -> None:
    """Let a hook's changes go on to brain.db. Where there is none and none is forced, its code is not even loaded."""
    if config.metrics_db or config.brain_db_enabled or brain_memories(store, config) is not None:
        from jsonlstore.bridges.braindb import attach

        attach(store, config)


def brain_memories(store: SessionStore, config: Config) -> MemorySource | None:
    """Where inherited memories get their confidence from, read only; None without a brain.db."""
    if not config.enabled or config.brain_db_enabled is False:
        return None
    from jsonlstore.bridges.braindb import resolve_brain_db

    path = resolve_brain_db(config, store.paths.state_dir)
    if not path.exists():
        return None
    from jsonlstore.bridges.braindb.memories import StmMemories

    return StmMemories(path, clock=store.clock)
