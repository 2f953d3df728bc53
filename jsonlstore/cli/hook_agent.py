"""The hooks of the tools an agent has: it asks for the past, and lists, adds or closes tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.cli.hook_call import PLACE_FIELDS, Answer, hook_manager, hook_session, wrapped_block
from jsonlstore.core.errors import UsageError
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonlstore.cli.app import App

log = logger("jsonlstore.session")


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
    from jsonlstore.restore import Scope, TaskList

    answer: dict[str, Any] = {"session_id": document["session_id"], "tasks": [], "changed": []}
    action = document.get("action", "list")
    wanted = [one for one in document.get("tasks") or () if isinstance(one, str)]
    try:
        manager = hook_manager(app)
        answer["session_id"] = session_id = hook_session(manager, document)
        known = {name: document[name] for name in PLACE_FIELDS if document.get(name)}
        scope = Scope.of("conversation", *(document.get(name) for name in PLACE_FIELDS))
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
            answer["block"] = wrapped_block(manager, session_id)
    except UsageError as problem:
        return {**answer, "error": problem.message}, None
    except Exception as problem:  # noqa: BLE001 - fail open: an agent that gets no answer goes on
        log.warning("tasks of %s not listed or changed: %s", document["session_id"], problem)
        return {**answer, "error": str(problem)}, None
    return answer, None


HOOKS: dict[str, Callable[[dict[str, Any], App, bool], Answer]] = {
    "session-recall": _session_recall,
    "session-task": _session_task,
}
