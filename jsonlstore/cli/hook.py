"""`hook EVENT`: a JSON object in, one JSON line out, and never in a session's way.

This path imports neither click nor rich nor jsonschema. A restore problem is exit 0 with `error`; only an input that
is not what it should be is exit 2.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.cli.app import App
from jsonlstore.core.errors import JsonlStoreError, SessionNotFound, UsageError
from jsonlstore.core.logs import logger, on_first_message, set_up
from jsonlstore.core.paths import check_session_id, resolve_state_dir
from jsonlstore.redact import is_secret_id, sanitised

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import NoReturn

    from jsonlstore.restore import Budget, RestoredSessionContext, SessionPersistenceManager

log = logger("jsonlstore.session")

_STARTED = time.perf_counter()
_DEFAULT_BUDGET = 1.5  # until the settings are read: they may be what hangs
_LONGEST_WAIT = 1.0  # of a turn's report, for locks
_TEXTS = ("channel", "agent_id", "session_key", "cwd", "prompt", "reason", "resume")
_SWITCHES = (
    "clean", "again", "explain", "catch_up", "tell_window", "tell_block", "tell_flush", "settle_flush", "under_way",
    "check_history",
)  # fmt: skip
_RESETS = ("new", "reset")
_LEVELS = {"debug": "DEBUG", "v": "INFO", "verbose": "INFO", "q": "ERROR", "quiet": "ERROR"}
_OF_A_START = (*_TEXTS[1:], "clean", "again", "explain", "pid", "under_way")
_OF_A_PLACE = ("agent_id", "session_key", "channel")
_NOT_OF_A_STATE = ("session_id", "cwd", "prompt", "pid", "reason", "resume", *_SWITCHES)


def run_hook(event: str, options: Mapping[str, str]) -> NoReturn:
    """Answer one hook call and leave at once, whatever a thread may still be stuck in."""
    level = next((_LEVELS[name] for name in _LEVELS if name in options), "WARNING")
    on_first_message(partial(_log_to_stderr, level))
    if level in ("DEBUG", "INFO"):
        set_up()  # such messages are dropped before
    code, after = 0, None
    try:
        app = App(
            resolve_state_dir(options.get("state-dir")), options.get("config"), debug="debug" in options, lenient=True
        )
        app.now = _moment(options["now"]) if "now" in options else None
        answer, after = answer_hook(event, sys.stdin.buffer.read(), app, dry_run="dry-run" in options)
        sys.stdout.buffer.write(orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE))
    except JsonlStoreError as problem:
        # a message may quote what it complains about
        sys.stderr.write(sanitised(f"error: {problem.message}\n" + (f"hint: {problem.hint}\n" if problem.hint else "")))
        code = 2 if isinstance(problem, UsageError) else 1
    except OSError as problem:
        log.warning("nobody takes the answer: %s", problem)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        if after is not None:
            after()
    except (OSError, JsonlStoreError) as problem:
        log.warning("after the answer: %s", problem)
    finally:
        os._exit(code)


def _log_to_stderr(level: str) -> None:
    from jsonlstore.redact import log_to_stderr

    log_to_stderr(level)


Answer = tuple[dict[str, Any], "Callable[[], object] | None"]


def answer_hook(event: str, document: bytes, app: App, *, dry_run: bool) -> Answer:
    """The answer to a hook call, and what may be done once it is given; raises `UsageError` for a bad input."""
    if event not in _HANDLERS:
        raise UsageError(f"no such hook: {event}", hint=f"one of {', '.join(_HANDLERS)}")
    return _HANDLERS[event](read_document(document), app, dry_run)


def read_document(data: bytes) -> dict[str, Any]:
    """The object on stdin; raises `UsageError` naming the field that is wrong."""
    document = _parsed(data)
    if not isinstance(document, dict):
        raise UsageError("stdin must hold a JSON object")
    if "session_id" not in document:
        raise UsageError("session_id is missing")
    try:
        check_session_id(document["session_id"])
    except UsageError as problem:
        raise UsageError(f"session_id: {problem.message}", hint=problem.hint) from problem
    if is_secret_id(document["session_id"]):
        from jsonlstore.transcripts import usable_id

        document["session_id"] = usable_id(document["session_id"])
    for name in _TEXTS:
        if document.get(name) is not None and not isinstance(document[name], str):
            raise UsageError(f"{name} must be a string")
    for name in _SWITCHES:
        if document.get(name) is not None and not isinstance(document[name], bool):
            raise UsageError(f"{name} must be true or false")
    pid = document.get("pid")
    if pid is not None and (isinstance(pid, bool) or not isinstance(pid, int) or not 0 < pid < 2**31):
        raise UsageError("pid must be a process id")
    return document


def _parsed(data: bytes) -> Any:
    """The JSON on stdin. JavaScript writes a text cut in the middle of an emoji as JSON that is not Unicode."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        import json

        try:
            return orjson.loads(json.dumps(json.loads(data), ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            raise UsageError(f"stdin is not a JSON object: {problem}") from problem


def _session_start(document: dict[str, Any], app: App, dry_run: bool) -> Answer:
    from jsonlstore.restore import Budget, cold_start

    budget = Budget(_DEFAULT_BUDGET, started=_STARTED)
    resolved = [document["session_id"]]
    context_told: dict[str, Any] = {}

    def work() -> RestoredSessionContext:
        manager = hook_manager(app, budget)
        resolved[0] = session_id = hook_session(manager, document)
        known = {name: document[name] for name in _OF_A_START if document.get(name) is not None}
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
            from jsonlstore.restore import current_block

            block = current_block(manager.store.folded(session_id), manager.store.now())
            answer["block"] = None if block is None else _wrapped(block)
    except UsageError:
        raise
    except Exception as problem:  # noqa: BLE001 - fail open: a turn that is not recorded stops nobody
        log.warning("turn of %s not recorded: %s", answer["session_id"], problem)
        return {**answer, "error": str(problem)}, None
    return {**answer, "updated": True}, partial(_after_turn, app, document, answer["session_id"])


def _after_turn(app: App, document: dict[str, Any], session_id: str) -> None:
    if document.get("catch_up"):
        _catch_up(app)
        _complete_picked_up(app, session_id)
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
            _hand_over(manager, session_id, reason or "end")
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
            _catch_up(app)
        if hands_over:
            _hand_over_at_leisure(app, session_id, reason or "end")
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


def _hand_over(manager: SessionPersistenceManager, session_id: str, trigger: str) -> None:
    """Capture what the state tells, at once: the next session may be waiting for it."""
    from jsonlstore.handoff import capture

    now, hours = manager.store.clock(), manager.config.handoff_expires_hours
    capture(manager.store, session_id, trigger, now=now, expires_hours=hours, by="hook")


def _hand_over_at_leisure(app: App, session_id: str, trigger: str) -> None:
    """Capture with what the transcript shows, and at an end or a command in the words of the external one, if any."""
    from jsonlstore.watch import capture_now

    try:
        capture_now(app.open_store(), app.config, session_id, trigger, by="hook", rewritten=trigger != "sigterm")
    except JsonlStoreError as problem:  # it has ended, and its handoff is kept
        log.warning("handoff of %s: %s", session_id, problem)


def _hand_over_after_reading(app: App, session_id: str) -> None:
    _catch_up(app)
    _hand_over_at_leisure(app, session_id, "sigterm")


def _complete_picked_up(app: App, session_id: str) -> None:
    """Add what the transcript shows to the handoff this session picked up, if nobody had looked when it started."""
    store = app.open_store()
    source = store.folded(session_id).handoff_from
    if source is None or not app.config.handoff_enabled:
        return
    from jsonlstore.handoff import kept_handoff

    found = kept_handoff(store.folded(source))
    if found is not None and found.document.last_message_index < 0 and not found.cleared_at:
        _hand_over_at_leisure(app, source, found.trigger)


def _handoff(document: dict[str, Any], app: App, dry_run: bool) -> Answer:
    """A command in a chat: `/handoff`, its `status`, `clear` and `project NAME`; never beyond this conversation."""
    from jsonlstore.bridges.openclaw import handoff_command

    answer: dict[str, Any] = {"session_id": document["session_id"], "text": None}
    try:
        manager = hook_manager(app)
        answer["session_id"] = session_id = hook_session(manager, document)
        if document.get("action") == "stop" and not dry_run and manager.config.handoff_enabled:
            with suppress(SessionNotFound):  # nobody has read its transcript yet
                _hand_over(manager, session_id, "sigterm")  # whoever stops the gateway may not wait for more
            return {**answer, "text": "Captured."}, partial(_hand_over_after_reading, app, session_id)
        if document.get("catch_up") and not dry_run:
            from jsonlstore.watch import catch_up_unwatched

            catch_up_unwatched(manager.store, manager.config)
        action, name = document.get("action") or "capture", document.get("name")
        answer["text"] = handoff_command(manager.store, manager.config, session_id, action, name, dry_run=dry_run)
    except UsageError:
        raise
    except Exception as problem:  # noqa: BLE001 - fail open: the chat goes on
        log.warning("handoff of %s: %s", answer["session_id"], problem)
        return {**answer, "error": str(problem)}, None
    if action == "capture" and manager.config.handoff_summarizer and not dry_run:
        return answer, partial(_hand_over_at_leisure, app, session_id, "command")
    return answer, None


def _session_recall(document: dict[str, Any], app: App, _dry_run: bool) -> Answer:
    """An agent asks for the past: within the configured scope of the conversation it is in."""
    from jsonlstore.recall import AgentQuestion, recall_for_agent
    from jsonlstore.restore import Scope

    answer: dict[str, Any] = {"session_id": document["session_id"], "text": None, "session_ids": []}
    given = {name: document[name] for name in ("query", "when", "project") if isinstance(document.get(name), str)}
    given.setdefault("query", "")
    limit = document.get("limit")
    try:
        manager = hook_manager(app)
        current = hook_session(manager, document)
        scope = Scope.of(
            manager.config.scope, document.get("agent_id"), document.get("session_key"), document.get("channel")
        )
        asked = AgentQuestion(**given, limit=limit if type(limit) is int else 5, current=current)
        found = recall_for_agent(manager.store, manager.config, scope, asked, now=app.clock())
    except UsageError:
        raise
    except Exception as problem:  # noqa: BLE001 - fail open: an agent that gets no answer goes on
        log.warning("nothing recalled for %s: %s", document["session_id"], problem)
        return {**answer, "error": str(problem)}, None
    return {**answer, **found}, None


def _session_task(document: dict[str, Any], app: App, dry_run: bool) -> Answer:
    """An agent, or a person in a chat, lists, adds or closes tasks of the conversation the call comes from."""
    from jsonlstore.restore import Scope, TaskList, current_block

    answer: dict[str, Any] = {"session_id": document["session_id"], "tasks": [], "changed": []}
    action = document.get("action", "list")
    wanted = [one for one in document.get("tasks") or () if isinstance(one, str)]
    try:
        manager = hook_manager(app)
        answer["session_id"] = session_id = hook_session(manager, document)
        known = {name: document[name] for name in _OF_A_PLACE if document.get(name)}
        scope = Scope.of("conversation", *(document.get(name) for name in _OF_A_PLACE))
        if not manager.records(known):
            return answer, None
        tasks = TaskList(manager.store, manager.config, scope, app.clock())
        if action != "list":
            if not dry_run:
                manager.update_session_state({**known, "session_id": session_id})  # one nobody announced begins here
            who = "chat" if document.get("by") == "chat" else "agent"
            changed = tasks.change(action, wanted, session_id, who=who, dry_run=dry_run)
            answer["changed"] = [task.to_dict() for task in changed]
        answer["tasks"] = tasks.to_list()
        if action != "list" and not dry_run:
            block = current_block(manager.store.folded(session_id), manager.store.now())
            answer["block"] = None if block is None else _wrapped(block)
    except UsageError as problem:
        return {**answer, "error": problem.message}, None
    except Exception as problem:  # noqa: BLE001 - fail open: an agent that gets no answer goes on
        log.warning("tasks of %s: %s", document["session_id"], problem)
        return {**answer, "error": str(problem)}, None
    return answer, None


def _wrapped(block: str) -> str:
    from jsonlstore.restore import wrap

    return wrap(block)


def _catch_up(app: App) -> None:
    """Read what the runtime wrote, where no watcher does; nobody waits for this."""
    from jsonlstore.watch import catch_up_unwatched

    manager = hook_manager(app)

    gc.enable()
    os.nice(10)  # whoever talks to the agent right now comes first
    catch_up_unwatched(manager.store, manager.config)


def _state_fields(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in _NOT_OF_A_STATE}


def _of_the_context(event: str) -> Callable[[dict[str, Any], App, bool], Answer]:
    """A hook of the context window, which other calls do not load."""

    def answer(document: dict[str, Any], app: App, dry_run: bool) -> Answer:
        from jsonlstore.cli.hook_context import CONTEXT_HOOKS

        return CONTEXT_HOOKS[event](document, app, dry_run)

    return answer


_HANDLERS: dict[str, Callable[[dict[str, Any], App, bool], Answer]] = {
    "session-start": _session_start,
    "turn-end": _turn_end,
    "session-end": _session_end,
    "session-recall": _session_recall,
    "session-task": _session_task,
    "handoff": _handoff,
    **{event: _of_the_context(event) for event in ("flush-offered", "compact", "compacted", "checkpoint")},
}


def _moment(text: str) -> datetime:
    from jsonlstore.core.clock import parse_time

    try:
        return parse_time(text)
    except ValueError as problem:
        raise UsageError(f"--now must be an ISO 8601 time, not {text!r}") from problem


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
