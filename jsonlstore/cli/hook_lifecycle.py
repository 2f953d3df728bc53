"""The hooks of a session's life: it starts, a turn ends, it ends.

A restore that fails or is late is a cold start with `error`: the session starts whatever happened.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from jsonlstore.cli.hook_call import (
    STARTED,
    SWITCHES,
    Answer,
    catch_up_at_leisure,
    hook_manager,
    hook_session,
    wrapped_block,
)
from jsonlstore.core.errors import JsonlStoreError, UsageError
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jsonlstore.cli.app import App
    from jsonlstore.restore import RestoredSessionContext, SessionPersistenceManager

log = logger("jsonlstore.session")

_DEFAULT_BUDGET = 1.5  # until the settings are read: they may be what hangs
_LONGEST_WAIT = 1.0  # of a turn's report, for locks
_RESETS = ("new", "reset")
_START_FIELDS = (
    "agent_id", "session_key", "cwd", "prompt", "reason", "resume", "clean", "again", "explain", "pid", "under_way",
)  # fmt: skip
_NOT_OF_A_STATE = ("session_id", "cwd", "prompt", "pid", "reason", "resume", *SWITCHES)


def _session_start(document: dict[str, Any], app: App, dry_run: bool) -> Answer:
    from jsonlstore.restore import Budget, cold_start

    budget = Budget(_DEFAULT_BUDGET, started=STARTED)
    resolved = [document["session_id"]]
    context_told: dict[str, Any] = {}

    def work() -> RestoredSessionContext:
        manager = hook_manager(app, budget)
        resolved[0] = session_id = hook_session(manager, document)
        known = {name: document[name] for name in _START_FIELDS if document.get(name) is not None}
        channel = document.get("channel") or "unknown"
        if document.get("check_history") and _is_under_way(manager, document):
            known["under_way"] = True
        if dry_run:
            from jsonlstore.restore import RestoreRequest

            return manager.preview(RestoreRequest(session_id, channel, **known))
        restored = manager.on_session_start(session_id, channel, budget=budget, **known)
        if document.get("tell_flush"):
            context_told.update(_flush_known(manager, session_id))
        return restored

    try:
        context = budget.run(work)
    except UsageError:
        raise
    except Exception as problem:  # noqa: BLE001 - fail open: whatever went wrong, the session starts
        context = cold_start(resolved[0], problem)
    answer = context._replace(elapsed_ms=budget.elapsed_ms).to_dict(explain=bool(document.get("explain")))
    return {**answer, **context_told}, None


def _flush_known(manager: SessionPersistenceManager, session_id: str) -> dict[str, Any]:
    """How far the flush of a session got, and its window: a plugin that was restarted goes on from there."""
    try:
        folded = manager.store.folded(session_id)
    except JsonlStoreError:
        return {}
    told: dict[str, Any] = {"flush": {name: (folded.flush or {}).get(name) for name in ("percent", "compaction")}}
    tokens = folded.state().tokens
    return {**told, "window": tokens.window} if tokens and tokens.window else told


def _is_under_way(manager: SessionPersistenceManager, document: Mapping[str, Any]) -> bool:
    """Whether the runtime's transcript holds an answer: a caller without the messages cannot tell."""
    from jsonlstore.core.session_key import agent_of
    from jsonlstore.transcripts import was_answered

    agent = agent_of(document.get("agent_id"), document.get("session_key"))
    return was_answered(manager.store.paths.state_dir, agent, document["session_id"])


def _turn_end(document: dict[str, Any], app: App, dry_run: bool) -> Answer:
    answer: dict[str, Any] = {"session_id": document["session_id"], "updated": False}
    try:
        manager = hook_manager(app).within(_patience())
        answer["session_id"] = session_id = hook_session(manager, document)
        fields = _state_fields(document)
        if dry_run or not manager.records(fields):
            return answer, None
        manager.update_session_state({**fields, "session_id": session_id})
        answer |= _left_out(manager, session_id)
        if manager.config.handoff_enabled and manager.store.folded(session_id).handoff_from:
            from jsonlstore.handoff import confirm

            confirm(manager.store, session_id)
        if document.get("tell_window"):
            tokens = manager.store.get(session_id).tokens
            answer["window"] = tokens.window if tokens else None
        if document.get("tell_block"):
            answer["block"] = wrapped_block(manager, session_id)
        if document.get("tell_compacted"):
            from jsonlstore.cli.hook_context import memory_files_of

            files = memory_files_of(manager.store, document, session_id)
            answer["block_if_compacted"] = wrapped_block(manager, session_id, files)
    except UsageError:
        raise
    except Exception as problem:  # noqa: BLE001 - fail open: a turn that is not recorded stops nobody
        log.warning("turn of %s not recorded: %s", answer["session_id"], problem)
        return {**answer, "error": str(problem)}, None
    return {**answer, "updated": True}, partial(_after_turn, app, document, answer["session_id"])


def _after_turn(app: App, document: dict[str, Any], session_id: str) -> None:
    if document.get("catch_up"):
        from jsonlstore.cli.hook_handoff import complete_picked_up

        catch_up_at_leisure(app)
        complete_picked_up(app, session_id)
    if document.get("settle_flush"):
        from jsonlstore.cli.hook_context import settle_offered_flush

        settle_offered_flush(app.open_store(), document, session_id)


def _patience() -> Callable[[], float]:
    """How long a turn's report may still wait for locks: a second in all, whoever holds them."""
    deadline = time.monotonic() + _LONGEST_WAIT
    return lambda: max(0.0, deadline - time.monotonic())


def _session_end(document: dict[str, Any], app: App, dry_run: bool) -> Answer:
    answer: dict[str, Any] = {"session_id": document["session_id"], "captured": False}
    reason = document.get("reason")
    try:
        manager = hook_manager(app)
        answer["session_id"] = session_id = hook_session(manager, document, before_last_reset=reason in _RESETS)
        if dry_run:
            return answer, None
        state = manager.on_session_end(session_id, reason=reason, **_state_fields(document))
        hands_over = state is not None and manager.config.handoff_enabled and not manager.ended_before
        if hands_over:
            from jsonlstore.cli.hook_handoff import capture_handoff

            capture_handoff(manager, session_id, reason or "end")
    except UsageError:
        raise
    except Exception as problem:  # noqa: BLE001 - fail open: a session that is not recorded ends all the same
        log.warning("end of %s not recorded: %s", answer["session_id"], problem)
        return {**answer, "error": str(problem)}, None
    if state is None:
        return answer, None
    counts = {
        "pin_count": len(state.working_memory),
        "pending_task_count": len(state.pending_tasks),
        "hot_topic_count": len(state.hot_topics),
        "project_count": len(state.active_projects),
        "learning_count": len(state.recent_learnings),
    }

    def after() -> None:
        if document.get("catch_up"):
            catch_up_at_leisure(app)
        if hands_over:
            from jsonlstore.cli.hook_handoff import capture_handoff_at_leisure

            capture_handoff_at_leisure(app, session_id, reason or "end")
        manager.archive_old()

    if manager.ended_before:
        return {**answer, "already_ended": True, **counts}, after
    return {**answer, "captured": True, **counts, **_left_out(manager, session_id)}, after


def _left_out(manager: SessionPersistenceManager, session_id: str) -> dict[str, Any]:
    """What of a report was not kept, and why; nothing if all was."""
    trimmed = dict(manager.store.get(session_id).trimmed)
    return ({"warnings": list(manager.warnings)} if manager.warnings else {}) | (
        {"trimmed": trimmed} if trimmed else {}
    )


def _state_fields(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in _NOT_OF_A_STATE}


HOOKS: dict[str, Callable[[dict[str, Any], App, bool], Answer]] = {
    "session-start": _session_start,
    "turn-end": _turn_end,
    "session-end": _session_end,
}
