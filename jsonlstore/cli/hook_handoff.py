"""The hook of a handoff command in a chat, and the handoffs that other hooks capture."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from jsonlstore.cli.hook_call import Answer, catch_up_at_leisure, hook_manager, hook_session
from jsonlstore.core.errors import JsonlStoreError, SessionNotFound, UsageError
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonlstore.cli.app import App
    from jsonlstore.restore import SessionPersistenceManager

log = logger("jsonlstore.session")


def _handoff(document: dict[str, Any], app: App, dry_run: bool) -> Answer:
    """A command in a chat: `/handoff`, its `status`, `clear` and `project NAME`; never beyond this conversation."""
    from jsonlstore.bridges.openclaw import handoff_command

    answer: dict[str, Any] = {"session_id": document["session_id"], "text": None}
    try:
        manager = hook_manager(app)
        answer["session_id"] = session_id = hook_session(manager, document)
        if document.get("action") == "stop" and not dry_run and manager.config.handoff_enabled:
            with suppress(SessionNotFound):  # nobody has read its transcript yet
                capture_handoff(manager, session_id, "sigterm")  # whoever stops the gateway may not wait for more
            return {**answer, "text": "Captured."}, partial(_capture_after_reading, app, session_id)
        if document.get("catch_up") and not dry_run:
            from jsonlstore.watch import catch_up_unwatched

            catch_up_unwatched(manager.store, manager.config)
        action, name = document.get("action") or "capture", document.get("name")
        answer["text"] = handoff_command(manager.store, manager.config, session_id, action, name, dry_run=dry_run)
    except UsageError:
        raise
    except Exception as problem:  # noqa: BLE001 - fail open: the chat goes on
        log.warning("handoff of %s failed: %s", answer["session_id"], problem)
        return {**answer, "error": str(problem)}, None
    if action == "capture" and manager.config.handoff_summarizer and not dry_run:
        return answer, partial(capture_handoff_at_leisure, app, session_id, "command")
    return answer, None


def capture_handoff(manager: SessionPersistenceManager, session_id: str, trigger: str) -> None:
    """Capture what the state tells, at once: the next session may be waiting for it."""
    from jsonlstore.handoff import capture

    now, hours = manager.store.clock(), manager.config.handoff_expires_hours
    capture(manager.store, session_id, trigger, now=now, expires_hours=hours, by="hook")


def capture_handoff_at_leisure(app: App, session_id: str, trigger: str) -> None:
    """Capture with what the transcript shows, and at an end or a command in the words of the external one, if any."""
    from jsonlstore.watch import capture_now

    try:
        capture_now(app.open_store(), app.config, session_id, trigger, by="hook", rewritten=trigger != "sigterm")
    except JsonlStoreError as problem:  # it has ended, and its handoff is kept
        log.warning("handoff of %s not completed: %s", session_id, problem)


def _capture_after_reading(app: App, session_id: str) -> None:
    catch_up_at_leisure(app)
    capture_handoff_at_leisure(app, session_id, "sigterm")


def complete_picked_up(app: App, session_id: str) -> None:
    """Add what the transcript shows to the handoff this session picked up, if nobody had looked when it started."""
    store = app.open_store()
    source = store.folded(session_id).handoff_from
    if source is None or not app.config.handoff_enabled:
        return
    from jsonlstore.handoff import kept_handoff

    found = kept_handoff(store.folded(source))
    if found is not None and found.document.last_message_index < 0 and not found.cleared_at:
        capture_handoff_at_leisure(app, source, found.trigger)


HOOKS: dict[str, Callable[[dict[str, Any], App, bool], Answer]] = {"handoff": _handoff}
