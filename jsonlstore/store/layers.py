"""The layers of a session, one per writer: merged into one state, and stored beside it without repeating it.

For single values the more direct witness wins; lists are the union, with the items of the more direct witness first.

An event with a full state stores the layers without the values they share with the state. That saves nearly everything,
because mostly a single writer spoke and the state equals its layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from jsonlstore.core.model import PART_LISTS, SCALARS, STRING_LISTS, WorkingMemoryPin

# order of precedence: the most direct witness first
WRITERS = ("operator", "hook", "import", "watcher")
UNKNOWN = (None, "", "unknown")


def pack(layers: Mapping[str, Mapping[str, Any]], state: Mapping[str, Any]) -> dict[str, Any]:
    """The layers as stored beside `state`: each layer's field names, and the values that differ from the state."""
    return {
        "said": {by: list(fields) for by, fields in layers.items()},
        "layers": {
            by: {key: value for key, value in fields.items() if not _is_same(value, state.get(key))}
            for by, fields in layers.items()
        },
    }


def unpack(data: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The layers of an event that carries `state`; an event without `said` has them whole."""
    own = {by: dict(as_mapping(fields)) for by, fields in as_mapping(data.get("layers")).items()}
    for by, names in as_mapping(data.get("said")).items():
        given = own.get(by, {})
        known = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
        own[by] = {name: given.pop(name) if name in given else state.get(name) for name in known} | given
    return own


def _is_same(value: Any, stated: Any) -> bool:
    """Whether the state has this very value, not just an equal one, as 1 equals True."""
    if value is stated:
        return True
    return (
        value.__class__ is list
        and stated.__class__ is list
        and len(value) == len(stated)
        and all(one is other for one, other in zip(value, stated, strict=True))
    )


def as_mapping(value: Any) -> Mapping[str, Any]:
    """`value` if it is a mapping, else an empty one: it was read from a file and may be anything."""
    return value if isinstance(value, Mapping) else {}


def merge(layers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The fields of all layers merged into one."""
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
    """Both lists, the first's items in front, without items of the second that the first already has."""
    told = Counter(map(key_of, first))
    seen = set(told)
    out = list(first)
    fresh: set[Any] = set()
    for item in second if isinstance(second, list) else ():
        key = key_of(item)
        if key_of is _sop and told[key] > 0:
            told[key] -= 1  # the same injection, told by another witness
            continue
        if key_of is not _sop and (key in seen or (key_of is not _memory and key in fresh)):
            continue
        fresh.add(key)
        out.append(item)
    return out


def _lowered(item: Any) -> Any:
    return item.lower() if isinstance(item, str) else repr(item)


def _by(*names: str) -> Callable[[Any], Any]:
    return lambda item: tuple(str(item.get(name)) for name in names) if isinstance(item, dict) else repr(item)


# one memory may change its confidence many times: only the same change told by another witness is a duplicate
_memory = _by("memory_id")
# one procedure may be put before the agent many times, for the same tool
_sop = _by("sop_path", "tool_call")


def _pin(item: Any) -> Any:
    try:
        return WorkingMemoryPin.from_dict(item).key
    except ValueError:
        return repr(item)


def _commit(item: Any) -> Any:
    return str(item.get("sha") or item.get("subject")) if isinstance(item, dict) else repr(item)


def _closed(item: Any) -> Any:
    return str(item.get("id") or item.get("title")) if isinstance(item, dict) else repr(item)


_KEY_OF: dict[str, Callable[[Any], Any]] = {
    "working_memory": _pin,
    "pending_tasks": _by("task_id"),
    "confidence_updates": _memory,
    "sop_interactions": _sop,
    "notes": _by("id"),
    "recent_learnings": str,
    "earlier_requests": _by("text"),
    "commits": _commit,
    "files": _by("path"),
    "closed": _closed,
    "references": _by("ref"),
    "grounds": _by("field", "text"),
}
