"""Open tasks: found when a session is captured, and looked at again when they are to come back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from jsonlstore.core.config import Config
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import read_bytes
from jsonlstore.core.logs import logger
from jsonlstore.core.model import Closed, PendingTask, SessionState, WorkingMemoryPin
from jsonlstore.core.paths import StatePaths

_WORD = re.compile(r"(?<![\w.-])[\w.-]*\w")

log = logger("jsonlstore.session")


class Pipeline:
    """What `pipeline/state.json` says now. Missing or broken, it closes nothing (decision 23)."""

    def __init__(self, document: dict[str, Any] | None, condition: str = "missing") -> None:
        self._document = document
        self.condition = "ok" if document is not None else condition  # "missing" or "corrupt" besides

    @classmethod
    def read(cls, paths: StatePaths, config: Config) -> Pipeline:
        path = paths.workspace_file(config.pipeline_state)
        try:
            data = read_bytes(path)
        except JsonlStoreError as problem:
            log.warning("pipeline state not read, every task is kept: %s", problem)
            return cls(None, "corrupt")
        if data is None:
            return cls(None)
        try:
            document = orjson.loads(data)
        except orjson.JSONDecodeError:
            document = None
        if not isinstance(document, dict) or not isinstance(document.get("active_tasks"), list):
            log.warning("%s is not a pipeline state, every task is kept", path)
            return cls(None, "corrupt")
        return cls(document)

    def open_tasks(self, stages: Iterable[str]) -> list[PendingTask]:
        """The tasks the pipeline has in one of the pending stages."""
        from jsonlstore.signals import pipeline_tasks

        return (pipeline_tasks(self._document, stages) or []) if self._document is not None else []

    def still_open(self, tasks: Iterable[PendingTask]) -> list[PendingTask]:
        """The tasks that are not done: a pipeline task must still be listed, a text task only not be closed."""
        listed = list(tasks)
        if self._document is None or not listed:
            return listed
        from jsonlstore.signals import closed_in_pipeline

        closed = {task_id.lower() for task_id in closed_in_pipeline(self._document)}
        active = {_id(raw).lower() for raw in self._document["active_tasks"]} - closed
        return [
            task
            for task in listed
            if task.task_id.lower() not in closed and (task.flagged_incomplete or task.task_id.lower() in active)
        ]


def _id(raw: object) -> str:
    if isinstance(raw, dict):
        raw = raw.get("task_id") or raw.get("id")
    return raw if isinstance(raw, str) else ""


def pin_tasks(pins: Sequence[WorkingMemoryPin]) -> tuple[list[PendingTask], list[Closed]]:
    """The tasks that pins speak of as not finished, and those they say are done."""
    if not pins:
        return [], []
    from jsonlstore.signals import TaskBook

    book = TaskBook()
    for pin in pins:
        book.read_pin(pin)
    told = {"evidence": {"entry_ids": [], "kind": "pin"}}
    return book.pending(), [Closed(one.title, one.how, one.task_id, extra=told) for one in book.closed()]


def _is_of_older_rules(task: PendingTask) -> bool:
    """Whether a task was found in text by rules that kept no evidence: nobody can say any more what supported it."""
    return task.flagged_incomplete and task.task_id.startswith("text-") and "evidence" not in task.extra


def surfaced(sessions: Sequence[SessionState], pipeline: Pipeline) -> list[PendingTask]:
    """The open tasks of contributing sessions, each once, told as the latest of them knew it.

    A text task that a later session reports as accomplished is known to be done.
    """
    by_end = sorted(sessions, key=lambda one: one.end_time or "")
    latest = {task.task_id: task for session in by_end for task in session.pending_tasks}
    done: set[str] = set()
    for session in by_end:
        told = " ".join(note.content.lower() for note in session.notes if note.type == "accomplishment")
        reported = set(_WORD.findall(told))
        open_here = {task.task_id for task in session.pending_tasks}
        done -= open_here
        done |= {task_id for task_id in latest if task_id not in open_here and task_id.lower() in reported}
    ordered = dict.fromkeys(
        task.task_id for session in sessions for task in session.pending_tasks if not _is_of_older_rules(task)
    )
    return pipeline.still_open(latest[task_id] for task_id in ordered if task_id not in done)
