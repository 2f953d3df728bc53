"""What each writer said of a session, and how it is put together: for single values the more direct witness wins,
lists are the union with its items first.

With a full state the layers are written without what they have in common with it, which is nearly everything: mostly
one writer spoke, and the state is what it said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jsonlstore.core.model import PART_LISTS, SCALARS, STRING_LISTS, WorkingMemoryPin

# the most direct witness first
WRITERS = ("operator", "hook", "import", "watcher")
UNKNOWN = (None, "", "unknown")

Layers = dict[str, dict[str, Any]]


def pack(layers: Mapping[str, Mapping[str, Any]], state: Mapping[str, Any]) -> dict[str, Any]:
    """The layers as they go into an event beside `state`: which fields each has, and the values that are not its."""
    return {
        "said": {by: list(fields) for by, fields in layers.items()},
        "layers": {
            by: {key: value for key, value in fields.items() if not _is_same(value, state.get(key))}
            for by, fields in layers.items()
        },
    }


def unpack(data: Mapping[str, Any], state: Mapping[str, Any]) -> Layers:
    """The layers of an event that carries `state`; one without `said` has them whole."""
    own = {by: dict(as_mapping(fields)) for by, fields in as_mapping(data.get("layers")).items()}
    for by, names in as_mapping(data.get("said")).items():
        given = own.get(by, {})
        known = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
        own[by] = {name: given.pop(name) if name in given else state.get(name) for name in known} | given
    return own


def _is_same(value: Any, stated: Any) -> bool:
    """Whether the state has this very value, not just one that equals it, as 1 equals True."""
    if value is stated:
        return True
    return (
        value.__class__ is list
        and stated.__class__ is list
        and len(value) == len(stated)
        and all(one is other for one, other in zip(value, stated, strict=True))
    )


def as_mapping(value: Any) -> Mapping[str, Any]:
    """What may have been read from anywhere, as a mapping: an empty one if it is none."""
    return value if isinstance(value, Mapping) else {}


def merge(layers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What all of them said, taken together."""
    ordered = [layers[by] for by in sorted(layers, key=_rank)]
    merged: dict[str, Any] = {}
    for layer in ordered:
        for key, value in layer.items():
            if key in PART_LISTS or key in STRING_LISTS:
                merged[key] = _union(merged.get(key, []), value, _KEY_OF.get(key, _lowered))
            elif key == "trimmed":
                counts = merged.setdefault(key, {})
                for name, number in as_mapping(value).items():
                    counts[name] = counts.get(name, 0) + number
            elif merged.get(key) is None or (key in SCALARS and merged[key] in UNKNOWN):
                merged[key] = value
    return merged


def _rank(by: str) -> tuple[int, str]:
    return (WRITERS.index(by) if by in WRITERS else len(WRITERS), by)


def _union(first: list[Any], second: Any, key_of: Callable[[Any], Any]) -> list[Any]:
    """Both lists, the first's items in front; what the first already has is not taken again."""
    seen = {key_of(item) for item in first}
    out = list(first)
    fresh: set[Any] = set()
    for item in second if isinstance(second, list) else ():
        key = key_of(item)
        if key in seen or (key_of is not _memory and key in fresh):
            continue
        fresh.add(key)
        out.append(item)
    return out


def _lowered(item: Any) -> Any:
    return item.lower() if isinstance(item, str) else repr(item)


def _field(name: str) -> Callable[[Any], Any]:
    return lambda item: str(item.get(name)) if isinstance(item, dict) else repr(item)


def _memory(item: Any) -> Any:
    """One memory may change its confidence many times: only another witness's account of it is a repetition."""
    return str(item.get("memory_id")) if isinstance(item, dict) else repr(item)


def _pin(item: Any) -> Any:
    try:
        return WorkingMemoryPin.from_dict(item).key
    except ValueError:
        return repr(item)


def _sop(item: Any) -> Any:
    return (str(item.get("sop_path")), str(item.get("tool_call"))) if isinstance(item, dict) else repr(item)


def _commit(item: Any) -> Any:
    return str(item.get("sha") or item.get("subject")) if isinstance(item, dict) else repr(item)


def _closed(item: Any) -> Any:
    return str(item.get("id") or item.get("title")) if isinstance(item, dict) else repr(item)


_KEY_OF: dict[str, Callable[[Any], Any]] = {
    "working_memory": _pin,
    "pending_tasks": _field("task_id"),
    "confidence_updates": _memory,
    "sop_interactions": _sop,
    "notes": _field("id"),
    "commits": _commit,
    "files": _field("path"),
    "closed": _closed,
    "recent_learnings": str,
}
