"""What one session says of a task when several witnesses spoke: open, or closed (decision 66).

A transcript's own signals never hold one task as both. A hand (an operator, or an agent through its tool) may close
what the transcript opened and reopen what it closed: its word counts, unless the transcript changed its mind
afterwards. What the transcript said at that moment is kept with the word (`was`): a state has no times of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

BY_HAND = "by_hand"
OPEN, CLOSED, UNSAID = "open", "closed", "unsaid"


def task_key(item: Any, name: str = "task_id") -> str:
    """What two statements about one task share."""
    value = item.get(name) if isinstance(item, Mapping) else None
    return value.lower() if isinstance(value, str) else ""


def open_here(pending: Iterable[Any], closed: Iterable[Any]) -> list[Any]:
    """The tasks a session leaves open."""
    closings = {key: one for one in closed if (key := task_key(one, "id"))}
    return [task for task in pending if not _is_closed(task, closings.get(task_key(task)))]


def closed_here(pending: Iterable[Any], closed: Iterable[Any]) -> list[Any]:
    """What a session closes, without what it leaves open after all."""
    listed = list(closed)
    still_open = {task_key(task) for task in open_here(pending, listed)}
    return [one for one in listed if isinstance(one, Mapping) and task_key(one, "id") not in (still_open - {""})]


def _is_closed(task: Any, closing: Any) -> bool:
    if closing is None:
        return False
    reopened = task.get(BY_HAND) if isinstance(task, Mapping) else None
    if isinstance(reopened, Mapping):
        return reopened.get("was") != CLOSED  # a transcript that had not closed it then did so since
    closed = closing.get(BY_HAND)
    return not isinstance(closed, Mapping) or closed.get("was") == OPEN  # else the transcript opened it since
