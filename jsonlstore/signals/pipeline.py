"""The tasks that a pipeline keeps in its own state, `pipeline/state.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.core.model import PendingTask
from jsonlstore.signals.options import SignalOptions
from jsonlstore.signals.sentences import shorten
from jsonlstore.signals.titles import LONGEST_TITLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CLOSED_STATUS = frozenset({"completed", "complete", "done", "killed", "cancelled", "canceled", "closed", "archived"})


def pipeline_tasks(
    document: object, stages: Iterable[str] = SignalOptions().pending_stages
) -> list[PendingTask] | None:
    """The open tasks of a parsed `pipeline/state.json` (DECISIONS 22, 23); None if it is not such a document."""
    if not isinstance(document, dict) or not isinstance(document.get("active_tasks"), list):
        return None
    pending = {stage.lower() for stage in stages}
    closed = closed_in_pipeline(document)
    found: dict[str, PendingTask] = {}
    for raw in document["active_tasks"]:
        task = _pipeline_task(raw)
        if task and task.task_id not in closed and task.stage.lower() in pending:
            found.setdefault(task.task_id, task)
    return list(found.values())


def closed_in_pipeline(document: Mapping[str, Any]) -> frozenset[str]:
    """The ids a `pipeline/state.json` calls completed or killed, wherever it lists them."""
    closed: set[str] = set()
    for key in ("active_tasks", "completed_tasks"):
        listed = document.get(key)
        for raw in listed if isinstance(listed, list) else ():
            task_id = (
                raw if isinstance(raw, str) else raw.get("task_id") or raw.get("id") if isinstance(raw, dict) else None
            )
            if not isinstance(task_id, str):
                continue
            ended = isinstance(raw, dict) and (
                str(raw.get("status", "")).lower() in _CLOSED_STATUS
                or str(raw.get("current_stage") or raw.get("stage") or "").lower() in _CLOSED_STATUS
            )
            if ended or key == "completed_tasks":
                closed.add(task_id)
    return frozenset(closed)


def _pipeline_task(raw: object) -> PendingTask | None:
    if not isinstance(raw, dict):
        return None
    task_id = raw.get("task_id") or raw.get("id")
    if not isinstance(task_id, str) or not task_id:
        return None
    stage = raw.get("current_stage") or raw.get("stage") or ""
    title = raw.get("title") or raw.get("name") or ""
    return PendingTask(task_id[:128], shorten(str(title), LONGEST_TITLE), str(stage)[:40], flagged_incomplete=False)
