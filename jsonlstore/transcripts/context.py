"""The model's context: the path from the active leaf to the root, with resets and the latest compaction applied.

The rules are those of pi's session manager, plus OpenClaw's `leaf` and `reset` records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jsonlstore.transcripts.json_values import read_millis
from jsonlstore.transcripts.records import Entry


@dataclass(frozen=True, slots=True)
class Context:
    """The messages in order, the settings in force, and the entries of the active path."""

    messages: tuple[Mapping[str, Any], ...]
    thinking_level: str
    model: Mapping[str, Any] | None
    path: tuple[Entry, ...]


def build_context(entries: Iterable[Entry], leaf: str | None = None) -> Context:
    """The context at `leaf` (an entry id; by default the current leaf of the conversation)."""
    return context_of(_path(migrated(entries), leaf))


def context_of(path: Sequence[Entry]) -> Context:
    """The context at the end of a path that begins at the root, or at an entry before which nothing is visible."""
    thinking, model = _settings(path)
    visible = _after_reset(path)
    compaction = next((entry for entry in reversed(visible) if entry.type == "compaction"), None)
    if compaction is None:
        messages = [message for entry in visible if (message := _message(entry)) is not None]
    else:
        messages = [_compaction_summary(compaction)]
        messages += [message for entry in _kept(visible, compaction) if (message := _message(entry)) is not None]
    return Context(tuple(messages), thinking, model, tuple(path))


def active_path(entries: Iterable[Entry], leaf: str | None = None) -> tuple[Entry, ...]:
    """The entries from the root to `leaf`; abandoned branches and the header are left out."""
    return tuple(_path(migrated(entries), leaf))


def migrated(entries: Iterable[Entry]) -> list[Entry]:
    """The entries without header, linked as version 3 links them.

    Version 1 has no ids: each record follows the one before, and compactions refer to positions. Up to version 2 the
    role `custom` was called `hookMessage`.
    """
    everything = list(entries)
    header = next((entry for entry in everything if entry.type == "session"), None)
    version = header.raw.get("version", 1) if header else (3 if any(entry.id for entry in everything) else 1)
    if not isinstance(version, int) or version >= 3:
        return [entry for entry in everything if entry.type != "session"]
    linked = _linked(everything) if version < 2 else everything
    return [_renamed(entry) for entry in linked if entry.type != "session"]


def _linked(entries: Sequence[Entry]) -> list[Entry]:
    linked: list[Entry] = []
    previous: str | None = None
    for number, entry in enumerate(entries):
        if entry.type == "session":
            linked.append(entry)
            continue
        raw = {**entry.raw, "id": f"v1-{number}", "parentId": previous}
        kept = raw.pop("firstKeptEntryIndex", None) if entry.type == "compaction" else None
        # a compaction keeps entries before it, so its target already has its new id
        if isinstance(kept, int) and 0 <= kept < number and entries[kept].type != "session":
            raw["firstKeptEntryId"] = f"v1-{kept}"
        linked.append(Entry(raw, entry.position))
        previous = raw["id"]
    return linked


def _renamed(entry: Entry) -> Entry:
    if entry.role != "hookMessage":
        return entry
    return Entry({**entry.raw, "message": {**entry.message, "role": "custom"}}, entry.position)


def _path(entries: Sequence[Entry], leaf: str | None) -> list[Entry]:
    by_id = {entry.id: entry for entry in entries if entry.id is not None}
    current = by_id.get(leaf) if leaf is not None else None
    if current is None:
        current = entries[-1] if entries else None
    path: list[Entry] = []
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        if current.type == "leaf":
            target = current.raw.get("targetId")
            current = by_id.get(target) if isinstance(target, str) else None
            continue
        path.append(current)
        current = by_id.get(current.parent_id) if current.parent_id else None
    path.reverse()
    return path


def _settings(path: Sequence[Entry]) -> tuple[str, Mapping[str, Any] | None]:
    thinking, model = "off", None
    for entry in path:
        if entry.type == "thinking_level_change":
            thinking = entry.raw.get("thinkingLevel", thinking)
        elif entry.type == "model_change":
            model = _present(provider=entry.raw.get("provider"), modelId=entry.raw.get("modelId"))
        elif entry.type == "message" and entry.role == "assistant":
            model = _present(provider=entry.message.get("provider"), modelId=entry.message.get("model"))
    return thinking, model


def _after_reset(path: Sequence[Entry]) -> Sequence[Entry]:
    """The entries that the latest reset left visible."""
    reset = next((entry for entry in reversed(path) if entry.type == "reset"), None)
    return _kept(path, reset) if reset else path


def _kept(path: Sequence[Entry], cut: Entry) -> list[Entry]:
    """The entries that a reset or compaction leaves visible: from its first kept entry on, and all after it."""
    at = next(i for i, entry in enumerate(path) if entry is cut)
    first = cut.raw.get("firstKeptEntryId")
    start = next((i for i in range(at) if first is not None and path[i].id == first), at)
    return [*path[start:at], *path[at + 1 :]]


def _message(entry: Entry) -> Mapping[str, Any] | None:
    """The message an entry adds to the context; None if it adds none."""
    raw = entry.raw
    if entry.type == "message":
        return entry.message or None
    if entry.type == "custom_message":
        fields = {key: raw[key] for key in ("customType", "content", "display", "details") if key in raw}
        return {"role": "custom", **fields, "timestamp": read_millis(raw.get("timestamp"))}
    if entry.type == "branch_summary" and entry.summary:
        return {
            **_present(role="branchSummary", summary=entry.summary, fromId=raw.get("fromId")),
            "timestamp": read_millis(raw.get("timestamp")),
        }
    return None


def _compaction_summary(entry: Entry) -> Mapping[str, Any]:
    fields = {key: entry.raw[key] for key in ("summary", "tokensBefore") if key in entry.raw}
    return {"role": "compactionSummary", **fields, "timestamp": read_millis(entry.raw.get("timestamp"))}


def _present(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}
