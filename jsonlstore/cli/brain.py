"""What the commands of continuity take from brain.db, when there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jsonlstore.config import Config
    from jsonlstore.continuity.context import MemorySource
    from jsonlstore.store.store import SessionStore


def brain_memories(store: SessionStore, config: Config) -> MemorySource | None:
    """Where inherited memories get their confidence from, read only; None without a brain.db."""
    if config.brain_db_enabled is False:
        return None
    from jsonlstore.bridges.braindb.location import resolve_brain_db

    path = resolve_brain_db(config, store.paths.state_dir)
    if not path.exists():
        return None
    from jsonlstore.bridges.braindb.memories import StmMemories

    return StmMemories(path, clock=store.clock)
