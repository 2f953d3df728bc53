"""The open tasks of one conversation, and what somebody says of them by hand: done, dropped, added, open again."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import format_time, time_before
from jsonlstore.core.errors import JsonlStoreError, SessionNotFound, UsageError
from jsonlstore.core.logs import logger
from jsonlstore.core.model import PendingTask, SessionState, read_parts
from jsonlstore.core.task_life import BY_HAND, CLOSED, OPEN, UNSAID, closed_here, open_here, task_key
from jsonlstore.restore.closings import closings_of, without_closed
from jsonlstore.restore.pins import UNPINNED
from jsonlstore.restore.preamble import ages_ago
from jsonlstore.restore.tasks import Pipeline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jsonlstore.core.config import Config
    from jsonlstore.restore.scope import Scope
    from jsonlstore.store import SessionFold, SessionStore

log = logger("jsonlstore.session")

ACTIONS = ("add", "done", "drop", "reopen")
_MOST_READ = 60
_MOST_ADDED_LETTERS = 200
_MOST_NAMED = 5  # closed tasks that an error names


class TaskList:
    """What a conversation's sessions left open and nobody closed since, the latest session's tasks first."""

    def __init__(self, store: SessionStore, config: Config, scope: Scope, now: datetime) -> None:
        self._store, self._config, self._scope, self._now = store, config, scope, now
        self.sessions = self._states()
        self._told: dict[str, tuple[PendingTask, SessionState]] = {}
        line = time_before(now, timedelta(days=config.task_stale_days))
        closings = closings_of(store, config, store.index.entries(), scope, now)
        for state in self.sessions:
            if (state.end_time or format_time(now)) < line:
                continue
            for task in without_closed(state, closings).pending_tasks:
                self._told.setdefault(task.task_id.lower(), (task, state))
        kept = Pipeline.read(store.paths, config).still_open(task for task, _ in self._told.values())
        self.open = kept

    @property
    def newest(self) -> str:
        """The session that what is said by hand belongs to."""
        if not self.sessions:
            raise SessionNotFound("this conversation has no session yet", hint="`jsonlstore list` shows what is kept")
        return self.sessions[0].session_id

    def to_list(self) -> list[dict[str, Any]]:
        """The open tasks, numbered as people name them."""
        return [
            {
                "number": number,
                "task_id": task.task_id,
                "title": task.title,
                "stage": task.stage,
                "session_id": self._told[task.task_id.lower()][1].session_id,
                "last_at": self._told[task.task_id.lower()][1].end_time,
                "age": ages_ago(self._told[task.task_id.lower()][1].end_time, self._now) or "now",
            }
            for number, task in enumerate(self.open, 1)
        ]

    def change(
        self, action: str, wanted: Sequence[str], session_id: str, *, who: str, dry_run: bool = False
    ) -> list[PendingTask]:
        """Close, drop, add or reopen tasks, named by number, id or title; returns the tasks that changed."""
        if action not in ACTIONS:
            raise UsageError(f"no such action: {action}", hint=f"one of list, {', '.join(ACTIONS)}")
        if not wanted:
            raise UsageError("name a task", hint="by its number, its id, or words of its title")
        if action == "add":
            tasks = [self._added(title) for title in wanted]
        elif action == "reopen":
            tasks = [self._closed(name) for name in wanted]
        else:
            tasks = [self._named(name) for name in wanted]
        if dry_run:
            return tasks
        closes = action in ("done", "drop")
        how = f"{'dropped' if action == 'drop' else action} by the {who}"
        self._store.change_tasks(session_id, lambda folded: _said(folded, tasks, closes=closes, how=how))
        self.__init__(self._store, self._config, self._scope, self._now)  # type: ignore[misc]
        return tasks

    def _states(self) -> list[SessionState]:
        """The conversation's latest sessions, newest first, that have anything to do with tasks."""
        reaches = self._scope.in_reach()
        entries = {
            one: entry
            for one, entry in self._store.index.entries().items()
            if not entry.get("forgotten") and reaches(entry)
        }

        def last(one: str) -> tuple[str, str, str]:
            entry = entries[one]
            return entry.get("end_time") or "9", entry.get("updated_at") or entry.get("start_time") or "", one

        found = []
        for session_id in sorted(entries, key=last, reverse=True)[:_MOST_READ]:
            try:
                found.append(self._store.get(session_id))
            except JsonlStoreError as problem:
                log.warning("session %s left out: %s", session_id, problem)
        return found

    def _added(self, title: str) -> PendingTask:
        from jsonlstore.redact import redact_text
        from jsonlstore.signals import hash_id

        clean = " ".join(redact_text(title).split())[:_MOST_ADDED_LETTERS]
        if not clean:
            raise UsageError("a task needs a title")
        return PendingTask(hash_id(clean), clean, flagged_incomplete=True, extra={"evidence": {"kind": "by hand"}})

    def _named(self, name: str) -> PendingTask:
        if name.isdecimal() and 0 < int(name) <= len(self.open):
            return self.open[int(name) - 1]
        return _one_of(self.open, name, "open task", hint="`jsonlstore task list` shows their numbers and ids")

    def _closed(self, name: str) -> PendingTask:
        """A task that was closed, as some session still tells of it."""
        known: dict[str, PendingTask] = {}
        for state in reversed(self.sessions):
            known.update((task.task_id.lower(), task) for task in state.pending_tasks)
            for one in state.closed:
                if one.id and one.id.lower() not in known and not one.id.startswith(UNPINNED):
                    evidence = {"evidence": {"kind": "by hand"}}
                    known[one.id.lower()] = PendingTask(one.id, one.title, flagged_incomplete=True, extra=evidence)
        still_open = {task.task_id.lower() for task in self.open}
        closed = [task for key, task in known.items() if key not in still_open]
        titles = "; ".join(f"{task.title or task.task_id} [{task.task_id}]" for task in closed[-_MOST_NAMED:])
        hint = (
            f"name it by its id or words of its title: {titles}" if titles else "no task of this conversation is closed"
        )
        return _one_of(closed, name, "closed task", hint=hint)


def _one_of(tasks: Sequence[PendingTask], name: str, what: str, *, hint: str) -> PendingTask:
    low = name.strip().lower().strip("[]")
    found = [task for task in tasks if low == task.task_id.lower()]
    if not found and low and not low.isdecimal():
        # a number that no task has is a mistake, though it may stand in some title; words count from their beginning
        words = re.compile(rf"(?<![a-z0-9]){re.escape(low)}")
        found = [task for task in tasks if task.task_id.lower().startswith(low) or words.search(task.title.lower())]
    if len(found) == 1:
        return found[0]
    called = f"has the number {name}" if low.isdecimal() else f"is called {name!r}"
    raise UsageError(f"{'more than one' if found else 'no'} {what} {called}", hint=hint)


def _said(folded: SessionFold, tasks: Sequence[PendingTask], *, closes: bool, how: str) -> Mapping[str, Any]:
    """The operator's layer of a session after a word about tasks: each stands in one of its two lists."""
    layer = folded.layers.get("operator", {})
    others = {by: fields for by, fields in folded.layers.items() if by != "operator"}
    pending = [task for fields in others.values() for task in fields.get("pending_tasks", ())]
    closed = [one for fields in others.values() for one in fields.get("closed", ())]
    said_open = {task_key(task) for task in open_here(pending, closed)}
    said_closed = {task_key(one, "id") for one in closed_here(pending, closed)}
    keys = {task.task_id.lower() for task in tasks}
    opened = [task for task in layer.get("pending_tasks", ()) if task_key(task) not in keys]
    done = [one for one in layer.get("closed", ()) if task_key(one, "id") not in keys]
    for task in read_parts(PendingTask, [one.to_dict() for one in tasks]):
        key = task.task_id.lower()
        was = {BY_HAND: {"was": OPEN if key in said_open else CLOSED if key in said_closed else UNSAID}}
        if closes:
            done.append({"id": task.task_id, "title": task.title or task.task_id, "how": how, **was})
        else:
            opened.append({**task.to_dict(), **was})
    return {"pending_tasks": opened, "closed": done}
