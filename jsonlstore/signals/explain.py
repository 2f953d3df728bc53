"""Where each signal came from: the first entry that shows it, for people who ask why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from jsonlstore.redact import redact_text
from jsonlstore.transcripts import Speaker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonlstore.signals.session_signals import Signals
    from jsonlstore.transcripts import Entry

_LONGEST_LOOK = 20_000


def sources(entries: Iterable[Entry], signals: Signals) -> dict[str, dict[str, str]]:
    """Field -> item -> id (or position) of the first entry in which it shows; items nothing shows are left out."""
    wanted: dict[str, dict[str, tuple[str, ...]]] = {
        "hot_topics": {topic: _needles(topic) for topic in signals.hot_topics},
        "active_projects": {name: (name.lower(),) for name in signals.active_projects},
        "pending_tasks": {task.task_id: (task.task_id, *_title(task.title)) for task in signals.pending_tasks},
        "recent_learnings": {memory: (memory.lower(),) for memory in signals.recent_learnings},
        "sop_interactions": {
            sop.sop_path: (sop.sop_path.lower().removeprefix("~"),) for sop in signals.sop_interactions
        },
        "working_memory": {pin.label or pin.content: _title(pin.content) for pin in signals.working_memory},
    }
    found: dict[str, dict[str, str]] = {field: {} for field in wanted}
    for entry in entries:
        shown = _shown(entry)
        if not shown:
            continue
        for field, items in wanted.items():
            for item in [item for item, needles in items.items() if any(needle in shown for needle in needles)]:
                found[field][item] = entry.id or f"@{entry.position}"
                del items[item]
    found["notes"] = {note.id: note.source_entry_id for note in signals.notes if note.source_entry_id}
    return found


def _needles(topic: str) -> tuple[str, ...]:
    return (topic, topic.replace(" ", "-"))


def _title(title: str) -> tuple[str, ...]:
    plain = " ".join(title.lower().rstrip("…").split())
    return (plain[:40],) if plain else ()


def _shown(entry: Entry) -> str:
    """What an entry says or does, lower-cased, redacted, bounded: enough to find a signal in."""
    if entry.speaker in {Speaker.SYSTEM, Speaker.CONTINUITY, Speaker.NONE}:
        return ""
    arguments = b" ".join(orjson.dumps(dict(call.arguments), default=str) for call in entry.tool_calls)
    text = redact_text(f"{entry.text[:_LONGEST_LOOK]} {arguments[:_LONGEST_LOOK].decode('utf-8', 'replace')}")
    return " ".join(text.lower().split())
