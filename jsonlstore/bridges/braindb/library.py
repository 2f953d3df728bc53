"""What a store has for whoever imports it from `jsonlstore`: brain.db, as the settings of its state directory say.

The command line puts its stores together itself (`cli.app`), with the settings it was given.
"""

from __future__ import annotations

from jsonlstore.bridges.braindb import attach, memories_of
from jsonlstore.core.config import load_config
from jsonlstore.store import SessionStore

__all__ = ["SessionStore"]


def use_brain_db(store: SessionStore) -> None:
    """Write every change through to brain.db, and read the confidence of memories there."""
    config = load_config(store.paths.state_dir, lenient=True).config
    attach(store, config)
    store.memories = memories_of(store, config)


SessionStore.equipment.append(use_brain_db)
