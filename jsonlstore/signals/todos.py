"""Todo lists and plans kept with tools or in files, as the last call leaves them."""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jsonlstore.core import expressions as re

MOST_ITEMS = 200
_LISTS = ("todos", "plan", "tasks", "items", "steps", "newTodos")
_TITLES = ("content", "step", "subject", "title", "text", "task", "description", "name")
_DONE = frozenset(
    {"completed", "complete", "done", "cancelled", "canceled", "closed", "deleted", "skipped", "finished"}
)
_RUNNING = frozenset({"in_progress", "in-progress", "inprogress", "active", "doing", "started"})
_TODO_TOOLS = frozenset({"todowrite", "todo_write", "update_plan", "todo", "todos", "taskcreate", "taskupdate", "task_create", "task_update", "tasklist", "plan", "set_plan", "manage_todo_list", "write_todos", "todo_list"})  # fmt: skip
_BOX = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[([ xX✓~-])\][ \t]+(\S.*)$", re.MULTILINE)
# its tasks are worked off one after the other, and what was committed afterwards came of them; a backlog waits
_PLAN_FILE = re.compile(r"(?:^|[._-])tasks?(?:[._-]|$)", re.IGNORECASE)
_TODO_FILE = re.compile(r"(?:^|[._-])(?:todos?|to-do|tasks?|backlog)(?:[._-]|$)", re.IGNORECASE)
_TEMPLATE = re.compile(r"template|^skill\.md$|example|sample|prompt|agents\.md|claude\.md", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,3}[ \t]+(.+)$", re.MULTILINE)
_TODO_HEADING = re.compile(r"^(?:\W*)(?:todo|to-do|to do|task|aufgabe)\s*[:–-]\s*(\S.*)$", re.IGNORECASE)
_BEFORE, _AFTER = ("old_string", "oldText", "old_str"), ("new_string", "newText", "new_str", "insert_text")
_CREATED = re.compile(r"Task #?(\w+) created")
_MOST_IN_FILE = 12
_LONGEST = 200


@dataclass(slots=True)
class TodoItem:
    """One entry of a list."""

    title: str
    status: str
    entry_id: str | None = None
    turn: int = 0
    in_file: bool = False

    @property
    def is_done(self) -> bool:
        """Whether the list says so."""
        return self.status in _DONE


@dataclass(slots=True)
class TodoBoard:
    """The lists of a session: one that tools replace as a whole, one that grows item by item, and those in files."""

    _list: list[TodoItem] = field(default_factory=list)
    _earlier: dict[str, TodoItem] = field(default_factory=dict)  # items a newer list no longer has, by title
    _items: dict[str, TodoItem] = field(default_factory=dict)
    _files: dict[str, dict[str, TodoItem]] = field(default_factory=dict)
    _entry: str | None = None
    _turn: int = 0

    def at(self, entry_id: str | None, turn: int) -> None:
        """Where the next calls stand."""
        self._entry, self._turn = entry_id, turn

    def called(self, name: str, arguments: Mapping[str, Any], answer: str) -> bool:
        """One call of a todo or plan tool; False if it is none."""
        if name not in _TODO_TOOLS:
            return False
        listed = next((value for key in _LISTS if isinstance(value := arguments.get(key), list)), None)
        if listed is not None:
            items = [item for raw in listed[:MOST_ITEMS] if (item := self._item(raw))]
            if items or not listed:
                self._replace(items)
            return True
        self._one(name, arguments, answer)
        return True

    def _replace(self, items: list[TodoItem]) -> None:
        """A newer list takes the older one's place: what it leaves out is done or given up."""
        for old in self._list:
            self._earlier.pop(old.title.lower(), None)
            self._earlier[old.title.lower()] = old
        for item in items:
            self._earlier.pop(item.title.lower(), None)
        while len(self._earlier) > MOST_ITEMS:
            del self._earlier[next(iter(self._earlier))]
        self._list = items

    def _item(self, raw: object) -> TodoItem | None:
        if not isinstance(raw, Mapping):
            return None
        title = next((value for key in _TITLES if isinstance(value := raw.get(key), str) and value.strip()), None)
        if title is None:
            return None
        status = raw.get("status")
        if not isinstance(status, str):
            status = "completed" if raw.get("done") is True or raw.get("completed") is True else "pending"
        return TodoItem(" ".join(title.split())[:_LONGEST], status.lower(), self._entry, self._turn)

    def _one(self, name: str, arguments: Mapping[str, Any], answer: str) -> None:
        known = arguments.get("taskId") or arguments.get("task_id") or arguments.get("id")
        key = str(known) if known is not None else ""
        status = arguments.get("status")
        action = str(arguments.get("action") or "").lower()
        if key and key in self._items:
            item = self._items[key]
            if isinstance(status, str):
                item.status = status.lower()
            elif action in {"done", "complete", "toggle", "remove", "delete"}:
                item.status = "completed" if item.status not in _DONE else "pending"
            item.turn = self._turn
            return
        made = self._item(arguments)
        if made and name not in {"taskupdate", "task_update"} and action not in {"list", "get", "clear"}:
            named = _CREATED.search(answer)
            self._items[named[1] if named else key or str(len(self._items) + 1)] = made
            while len(self._items) > MOST_ITEMS:
                del self._items[next(iter(self._items))]

    def wrote(self, path: str, arguments: Mapping[str, Any]) -> None:
        """A file was written or edited: a todo file's boxes, or the one thing it is about."""
        base = path.replace("\\", "/").rpartition("/")[2]
        stem = base.rpartition(".")[0] or base
        if not _TODO_FILE.search(stem) or _TEMPLATE.search(base):
            return
        whole = next(
            (v for key in ("content", "file_text", "contents") if isinstance(v := arguments.get(key), str)), None
        )
        known = self._files.setdefault(path.replace("\\", "/").lstrip("./"), {})
        edits = _edits(arguments)
        if whole is not None:
            known.clear()
            heading = _HEADING.search(whole)
            named = _TODO_HEADING.match(heading[1].strip("*_ ")) if heading else None
            if named:
                known[""] = TodoItem(named[1].strip("*_ ")[:_LONGEST], "pending", self._entry, self._turn, in_file=True)
        elif not edits:
            known.clear()  # nobody can say what it holds now
        for before, _ in edits if whole is None else ():
            for _, title in _BOX.findall(before):
                known.pop(" ".join(title.split())[:_LONGEST].lower(), None)
        for mark, title in _BOX.findall(whole if whole is not None else "\n".join(after for _, after in edits)):
            plain = " ".join(title.split())[:_LONGEST]
            known[plain.lower()] = TodoItem(
                plain, "pending" if mark == " " else "completed", self._entry, self._turn, in_file=True
            )
        if len(self._files) > 50:
            del self._files[next(iter(self._files))]

    def open_items(self, committed: int = -1) -> list[TodoItem]:
        """What is not done, what is being done first; a list that nobody touched in a file of many is a template.

        Nor is open a plan of tasks that nobody ever ticked, where a turn that came after it `committed` work.
        """
        found = [*self._list, *self._items.values()]
        for path, items in self._files.items():
            unticked = not any(item.is_done or item.turn >= committed for item in items.values())
            if unticked and _PLAN_FILE.search(path.rpartition("/")[2]):
                continue
            if "" in items:
                found.append(items[""])
                continue
            waiting = [item for item in items.values() if item.status not in _DONE]
            if len(waiting) <= _MOST_IN_FILE:
                found += waiting
        # a title that ends with a colon heads what stands below it
        waiting = [item for item in found if item.status not in _DONE and not item.title.endswith((":", "："))]
        return sorted(waiting, key=lambda item: item.status not in _RUNNING)

    def done_items(self) -> list[TodoItem]:
        """What was ticked off, and what a newer plan left out."""
        listed = [
            *self._list,
            *self._items.values(),
            *(item for items in self._files.values() for item in items.values()),
        ]
        return [*self._earlier.values(), *(item for item in listed if item.is_done)]


def _edits(arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What edits of a file replaced, and by what; one call may hold several."""
    several = arguments.get("edits")
    told = [one for one in several if isinstance(one, Mapping)] if isinstance(several, list) else [arguments]
    found = []
    for one in told:
        before, after = (
            next((v for key in keys if isinstance(v := one.get(key), str)), None) for keys in (_BEFORE, _AFTER)
        )
        if after is not None:
            found.append((before or "", after))
    return found
