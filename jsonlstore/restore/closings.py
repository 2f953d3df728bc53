"""What later sessions closed: tasks, next steps, blockers and questions are told again only while they are open.

A session's state says what it closed (`closed[]`), the index carries that for every session of a conversation, and here
it is matched with what earlier sessions left open: by id, or by the words of the title (decision 66).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

from jsonlstore.core.clock import format_time, time_before
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger
from jsonlstore.core.model import PendingTask, SessionState
from jsonlstore.core.task_life import closed_here, open_here
from jsonlstore.restore.pins import UNPINNED, pin_mark

if TYPE_CHECKING:
    from jsonlstore.core.config import Config
    from jsonlstore.restore.scope import Scope
    from jsonlstore.store import SessionStore

log = logger("jsonlstore.session")

_NUMBERED = re.compile(r"(?<!\w)\w*\d(?:[\w.-]*\w)?")
_MOST_ARCHIVED_LOGS = 20  # archived within days: only where the settings say so
_ENOUGH = 2 / 3  # of a title's words must be said


class Closing(NamedTuple):
    """Something a session closed: when that session ended, its id, and what it closed."""

    at: str
    session_id: str
    id: str
    title: str


class Item(NamedTuple):
    """Something left open, under the name it goes by here."""

    key: str
    id: str
    title: str


def closings_in(entries: Mapping[str, Mapping[str, Any]], now: str) -> list[Closing]:
    """What the sessions of a conversation closed, as their index entries tell; one still open speaks as of now."""
    return [
        Closing(entry.get("end_time") or now, session_id, str(one[0]).lower(), str(one[1]))
        for session_id, entry in entries.items()
        for one in entry.get("closed") or ()
        if isinstance(one, list) and len(one) == 2
    ]


def own_closings(state: SessionState, now: str) -> list[Closing]:
    """What one session closed."""
    pending = [task.to_dict() for task in state.pending_tasks]
    closed = closed_here(pending, [one.to_dict() for one in state.closed])
    at = state.end_time or now
    return [Closing(at, state.session_id, str(one.get("id") or "").lower(), one.get("title") or "") for one in closed]


def closed_items(items: Sequence[Item], closings: Iterable[Closing]) -> dict[str, Closing]:
    """Which of the items are closed, by key, and by what.

    A closing with an id closes the items of that id. Otherwise its words must be those of a title: two at least, and
    two thirds of them, and every number. Where they fit several titles only the best fit counts, and no guess is made
    between two that fit equally well in part.
    """
    found: dict[str, Closing] = {}
    by_id: dict[str, list[Item]] = {}
    for item in items:
        by_id.setdefault(item.id.lower(), []).append(item)
    for closing in closings:
        named = by_id.get(closing.id, []) if closing.id else []
        # a task closed by its id may also be the next step, which has none
        for item in [*named, *_meant(by_id.get("", []) if named else items, closing.title)]:
            found[item.key] = closing
    return found


def _meant(items: Sequence[Item], said: str) -> list[Item]:
    from jsonlstore.signals import content_words

    spoken = frozenset(map(_stem, content_words(said)))
    numbers = set(_NUMBERED.findall(said.lower()))
    fits: list[tuple[float, Item]] = []
    for item in items:
        words = frozenset(map(_stem, content_words(item.title)))
        shared = len(words & spoken)
        if not words or shared < _ENOUGH * len(words) or not numbers.issuperset(_NUMBERED.findall(item.title.lower())):
            continue
        if shared >= 2 or len(spoken) <= 2:
            fits.append((shared / len(words), item))
    best = max((fit for fit, _ in fits), default=0.0)
    meant = [item for fit, item in fits if fit == best]
    titles = {item.title.lower() for item in meant}
    return meant if best == 1.0 or len(titles) == 1 else []


def _stem(word: str) -> str:
    """A word without the ending that tells "paint" from "painted": only for comparing."""
    if not word.isascii() or not word.isalpha():
        return word
    for ending in ("ing", "ed", "es", "s", "d", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
    return word


def left_open(state: SessionState) -> tuple[PendingTask, ...]:
    """The tasks a session itself leaves open: what a hand closed in it is not among them."""
    closed = [one.to_dict() for one in state.closed]
    if not closed:
        return state.pending_tasks
    raw = [task.to_dict() for task in state.pending_tasks]
    kept = {task["task_id"] for task in open_here(raw, closed)}
    return tuple(task for task in state.pending_tasks if task.task_id in kept)


def without_closed(state: SessionState, closings: Sequence[Closing]) -> SessionState:
    """The state without what later sessions closed; one that opened a task again has it in its own state."""
    tasks = left_open(state)
    moment = (state.end_time or "", state.session_id)
    later = [one for one in closings if (one.at, one.session_id) > moment]
    own = [one for one in closings if one.session_id == state.session_id]
    if not later and not own:
        return state if tasks == state.pending_tasks else replace(state, pending_tasks=tasks)
    open_tasks = [Item(f"task:{task.task_id}", task.task_id, task.title) for task in tasks]
    rest = [Item(f"note:{note.id}", note.id, note.content) for note in state.notes if note.type == "blocker"]
    rest += [Item(f"question:{text}", "", text) for text in state.open_questions]
    if state.next_step:
        rest.append(Item("next", "", state.next_step))
    if state.failing:
        rest.append(Item("failing", "", state.failing.command))
    unpinned = {one.id for one in (*later, *own) if one.id.startswith(UNPINNED)}
    done = closed_items(open_tasks, later)
    # what a session closed itself cannot be its next step either
    gone = closed_items(rest, [*later, *own]).keys()
    taken_back = {one.id for one in later if one.id}
    return replace(
        state,
        working_memory=tuple(pin for pin in state.working_memory if not unpinned or pin_mark(pin) not in unpinned),
        pending_tasks=tuple(one for one in tasks if f"task:{one.task_id}" not in done),
        notes=tuple(
            note for note in state.notes if f"note:{note.id}" not in gone and note.id.lower() not in taken_back
        ),
        open_questions=tuple(one for one in state.open_questions if f"question:{one}" not in gone),
        next_step=None if "next" in gone else state.next_step,
        failing=None if "failing" in gone else state.failing,
    )


def closings_of(
    store: SessionStore, config: Config, entries: Mapping[str, Mapping[str, Any]], scope: Scope, now: datetime
) -> list[Closing]:
    """What the sessions in reach closed, open ones included; of an archived one the index says too little."""
    reaches = scope.in_reach()
    closers = {other: entry for other, entry in entries.items() if entry.get("closed") and reaches(entry)}
    found = closings_in(closers, format_time(now))
    since = time_before(now, timedelta(days=max(config.lookback_days, config.task_stale_days)))
    archived = [
        (entry["end_time"], other)
        for other, entry in entries.items()
        if entry.get("archived") and (entry.get("end_time") or "") >= since and reaches(entry)
    ]
    for _, session_id in nlargest(_MOST_ARCHIVED_LOGS, archived):
        try:
            found += own_closings(store.get(session_id), format_time(now))
        except JsonlStoreError as problem:
            log.warning("what session %s closed is not known: %s", session_id, problem)
    return found


def without_stale_tasks(load: Callable[[str], SessionState], now: datetime, days: int) -> Callable[[str], SessionState]:
    """`load`, without tasks that nobody has touched for so many days: a session that did has them in its own state."""
    line = time_before(now, timedelta(days=days))

    def fresh(session_id: str) -> SessionState:
        state = load(session_id)
        is_stale = state.end_time is not None and state.end_time < line
        return replace(state, pending_tasks=()) if is_stale and state.pending_tasks else state

    return fresh
