"""What every hook call needs: the manager it asks, our id of the session it means, the shape of an answer."""

from __future__ import annotations

import gc
import os
import time
from typing import TYPE_CHECKING, Any

from jsonlstore.core.logs import logger, set_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonlstore.cli.app import App
    from jsonlstore.restore import Budget, SessionPersistenceManager

STARTED = time.perf_counter()  # the budget of a call runs from here
PLACE_FIELDS = ("agent_id", "session_key", "channel")
SWITCHES = (
    "clean", "again", "explain", "catch_up", "tell_window", "tell_block", "tell_compacted", "tell_flush",
    "settle_flush", "under_way", "check_history",
)  # fmt: skip

# the document to print, and what may be done once it is given
Answer = tuple[dict[str, Any], "Callable[[], object] | None"]


def hook_manager(app: App, budget: Budget | None = None) -> SessionPersistenceManager:
    config = app.config
    if budget is not None:
        budget.limit(config.restore_budget_ms / 1000)
    if config.debug:
        set_up()
        logger("root").setLevel("DEBUG")
    return app.open_manager(by="hook")


def hook_session(
    manager: SessionPersistenceManager, document: dict[str, Any], *, before_last_reset: bool = False
) -> str:
    """Our id of the session the runtime means: since 2026.9 one id spans several stretches (decision 48)."""
    session_id: str = document["session_id"]
    state_dir = manager.store.paths.state_dir
    if not manager.config.enabled:
        return session_id
    from jsonlstore.core.session_key import agent_of
    from jsonlstore.transcripts import current_stretch, utility_key

    agent = agent_of(document.get("agent_id"), document.get("session_key"))
    if not document.get("session_key"):
        key = utility_key(state_dir, agent, session_id)
        if key is not None:
            document["session_key"] = key  # nobody's conversation, though the call does not say so (decision 50)
    return current_stretch(state_dir, agent, session_id, before_last_reset=before_last_reset)


def wrapped_block(
    manager: SessionPersistenceManager, session_id: str, memory_files: tuple[str, ...] | None = None
) -> str | None:
    """The block a session has now, as it goes into a prompt; None if it has none.

    With `memory_files`, the block it has once its context is compacted and these were written before.
    """
    from jsonlstore.restore import current_block, wrap

    block = current_block(manager.store.folded(session_id), manager.store.now(), memory_files)
    return None if block is None else wrap(block)


def catch_up_at_leisure(app: App) -> None:
    """Read what the runtime wrote, where no watcher does; nobody waits for this."""
    from jsonlstore.watch import catch_up_unwatched

    manager = hook_manager(app)
    gc.enable()  # the way in turned it off
    os.nice(10)  # whoever talks to the agent right now comes first
    catch_up_unwatched(manager.store, manager.config)
