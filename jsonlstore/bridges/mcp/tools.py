"""The tools an MCP client gets: each asks the library of its room, within the scope that was bound at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.mcp.words import entry_line, state_lines, wrapped
from jsonlstore.core.clock import format_time
from jsonlstore.core.errors import SessionNotFound, UsageError
from jsonlstore.core.model import WorkingMemoryPin
from jsonlstore.redact import sanitised

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonlstore.core.config import Config
    from jsonlstore.core.model import SessionState
    from jsonlstore.restore import Scope
    from jsonlstore.store import IndexEntry, SessionStore

_MOST_SESSIONS = 20
_LONGEST = 500  # characters of an argument
_NOTHING = "There is no earlier session of this conversation."
_TEXT = {"type": "string", "maxLength": _LONGEST}
_IDS = {"type": "array", "items": {"type": "string"}}


def _limit(most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": most}


def _tool(
    name: str, title: str, description: str, needed: tuple[str, ...] = (), *, reads: bool = True, **given: Any
) -> dict[str, Any]:
    hints: dict[str, Any] = {"readOnlyHint": reads, "openWorldHint": False, "idempotentHint": True}
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": given,
            "required": list(needed),
            "additionalProperties": False,
        },
        "outputSchema": {"type": "object", "properties": {"session_ids": _IDS}, "required": ["session_ids"]},
        "annotations": {"title": title, **hints, **({} if reads else {"destructiveHint": False})},
    }


_TOOLS = (
    _tool(
        "recall", "Search earlier sessions", "What was said in earlier sessions of this conversation: dated quotes.",
        ("query",), query=_TEXT, when={**_TEXT, "description": "a time as people say it: last tuesday, in february"},
        limit=_limit(10),
    ),
    _tool(
        "timeline", "Sessions by time", "Earlier sessions of this conversation, newest first.",
        since={**_TEXT, "description": "2026-02-14, yesterday, last week"}, until=_TEXT, limit=_limit(_MOST_SESSIONS),
    ),
    _tool("show", "One session", "What one earlier session amounts to.", ("session_id",), session_id=_TEXT),
    _tool("where", "Where we stopped", "What the latest session was doing: next step, open tasks, last request."),
    _tool("task", "Open tasks", "The tasks that earlier sessions left open, oldest first.", limit=_limit(50)),
    _tool(
        "pin", "Pins", "List the pins of this conversation; with `content`, pin one more.", (), reads=False,
        content=_TEXT, label={**_TEXT, "maxLength": 80},
    ),
)  # fmt: skip


class MemoryTools:
    """What may be asked of the store by the one conversation this was made for."""

    def __init__(self, store: SessionStore, config: Config, scope: Scope, *, project: str | None = None) -> None:
        self._store, self._config, self._scope = store, config, scope
        self._project = project.lower() if project else None
        self._project_name = project
        self._calls: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "recall": self._recall,
            "timeline": self._timeline,
            "show": lambda given: self._document_of(self._find(given["session_id"])),
            "where": lambda _: self._document_of(self._latest()),
            "task": self._task,
            "pin": self._pin,
        }

    def names(self) -> set[str]:
        return set(self._calls)

    def describe(self) -> list[dict[str, Any]]:
        return list(_TOOLS)

    def call(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        """Answer one call: `text`, and the `session_ids` it speaks of; raises `UsageError` for a wrong argument."""
        schema = next(one for one in _TOOLS if one["name"] == name)["inputSchema"]
        return self._calls[name](_checked(given, schema))

    def resources(self) -> list[dict[str, Any]]:
        latest = {"uri": "handoff://latest", "name": "handoff-latest", "title": "Where the latest session stopped"}
        found = self._entries()[:_MOST_SESSIONS]
        sessions = [{"uri": f"session://{one.session_id}", "name": one.session_id} for one in found]
        return [{**one, "mimeType": "text/plain"} for one in (latest, *sessions)]

    def templates(self) -> list[dict[str, Any]]:
        return [{"uriTemplate": "session://{id}", "name": "session", "title": "One session", "mimeType": "text/plain"}]

    def prompts(self) -> list[dict[str, Any]]:
        return [{"name": "resume", "title": "Resume", "description": "Go on where the last session stopped."}]

    def read(self, uri: str) -> str | None:
        """The text of a resource; None if there is none of that name."""
        kind, _, name = uri.partition("://")
        if kind == "session" and name:
            return str(self._document_of(self._find(name))["text"])
        return str(self._document_of(self._latest())["text"]) if uri == "handoff://latest" else None

    def resume(self) -> str:
        return (
            "Below is what is known of where the last session of this conversation stopped. Say in one sentence where "
            f"we were, and ask whether to go on.\n\n{self._document_of(self._latest())['text']}"
        )

    # -- what may be looked at

    def _entries(self) -> list[IndexEntry]:
        """The sessions in scope, and of the project the server was started for, latest activity first."""
        if not self._config.enabled:
            return []
        found = [one for one in self._store.entries() if self._scope.allows(one) and self._is_of_project(one)]
        return sorted(found, key=_last, reverse=True)

    def _is_of_project(self, one: IndexEntry | SessionState) -> bool:
        return self._project is None or self._project in (name.lower() for name in one.active_projects)

    def _find(self, prefix: str) -> SessionState:
        """A session in scope by its id or the beginning of it; others are as if they did not exist."""
        ids = [one.session_id for one in self._entries()]
        found = [one for one in ids if one == prefix] or [one for one in ids if prefix and one.startswith(prefix)]
        if len(found) == 1:
            state = self._store.get(found[0])
            if self._scope.allows(state) and self._is_of_project(state):
                return state
        if len(found) > 1:
            raise UsageError(f"{len(found)} sessions begin like that", hint="give more of the id")
        raise SessionNotFound("no such session in this conversation", hint="`timeline` lists them")

    def _latest(self) -> SessionState | None:
        for entry in self._entries():
            return self._find(entry.session_id)
        return None

    # -- the tools

    def _document_of(self, state: SessionState | None) -> dict[str, Any]:
        if state is None:
            return {"text": _NOTHING, "session_ids": []}
        return {"text": wrapped(state_lines(state)), "session_ids": [state.session_id]}

    def _recall(self, given: dict[str, Any]) -> dict[str, Any]:
        from jsonlstore.recall import AgentQuestion, recall_for_agent

        asked = AgentQuestion(
            given["query"], given.get("when", ""), project=self._project_name, limit=given.get("limit", 5)
        )
        return recall_for_agent(self._store, self._config, self._scope, asked, now=self._store.clock())

    def _timeline(self, given: dict[str, Any]) -> dict[str, Any]:
        from jsonlstore.recall import time_limits

        within = time_limits(given.get("since"), given.get("until"), self._store.clock())
        found = self._entries()
        if within is not None:
            start, end = format_time(within.start), format_time(within.end)
            found = [one for one in found if one.start_time < end and _last(one) >= start]
        found = found[: given.get("limit", _MOST_SESSIONS)]
        if not found:
            return {"text": _NOTHING, "session_ids": []}
        text = wrapped(map(entry_line, found))
        told = [one.session_id for one in found if f"\n- {one.session_id}: " in text]
        return {"text": text, "session_ids": told}

    def _task(self, given: dict[str, Any]) -> dict[str, Any]:
        from jsonlstore.restore import Pipeline, quoted, surfaced

        states = [self._find(one.session_id) for one in self._entries() if one.pending_task_count]
        tasks = surfaced(states, Pipeline.read(self._store.paths, self._config))[::-1][: given.get("limit", 50)]
        holders = {task.task_id: state for state in states for task in state.pending_tasks}
        lines = [
            f"- [{task.task_id}] {quoted(task.title or task.task_id, 200)} (session {holders[task.task_id].session_id})"
            for task in tasks
        ]
        ids = list(dict.fromkeys(holders[task.task_id].session_id for task in tasks))[:_MOST_SESSIONS]
        return {"text": wrapped(lines) if lines else "No task is open.", "session_ids": ids}

    def _pin(self, given: dict[str, Any]) -> dict[str, Any]:
        from jsonlstore.restore import PinFile, own_pins, quoted

        pins = PinFile.of(self._store, self._config)
        now = self._store.now()
        lines = []
        if given.get("content"):
            if not self._config.enabled:
                raise UsageError("nothing is kept: jsonlstore is switched off")
            content, label = sanitised(given["content"]), sanitised(given.get("label") or "") or None
            added = pins.add([WorkingMemoryPin(content, pinned_at=now, label=label)], 1)
            lines.append("pinned" if added else "not pinned: it is there already, or all places are taken")
        raw = self._store.index.entries()
        mine = own_pins(pins.read().pins, self._scope, "", raw, now) if self._config.enabled else []
        lines += [f"- {quoted(one.label or '', 80)}: {quoted(one.content, 300)}" for one in mine]
        return {"text": wrapped(lines) if lines else "Nothing is pinned.", "session_ids": []}


def _last(entry: IndexEntry) -> str:
    return max(entry.end_time or "~", entry.updated_at or "", entry.start_time)


def _checked(given: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The arguments, each of its type; an unknown one is refused, so that nobody believes that it narrowed anything."""
    properties = schema["properties"]
    for name in schema["required"]:
        if name not in given:
            raise UsageError(f"{name} is missing")
    checked: dict[str, Any] = {}
    for name, value in given.items():
        if name not in properties:
            raise UsageError("an argument that this tool does not have", hint=", ".join(properties) or "it takes none")
        if value is None and name not in schema["required"]:
            continue
        if properties[name]["type"] == "string":
            if not isinstance(value, str):
                raise UsageError(f"{name} must be a string")
            checked[name] = value[: properties[name]["maxLength"]]
        else:
            if isinstance(value, bool) or not isinstance(value, int):
                raise UsageError(f"{name} must be a whole number")
            checked[name] = min(max(value, 1), properties[name]["maximum"])
    return checked
