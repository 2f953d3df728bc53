"""Keeping a state small: at most 50 KB, the least informative parts dropped first, every loss counted."""

from __future__ import annotations

from typing import Any

import orjson

from jsonlstore.core.model import KNOWN_FIELDS, PART_LISTS, is_critical, part_keys

MAX_STATE_BYTES = 50 * 1024
MAX_TASKS = 100
MAX_TITLE = 200
MAX_PINS = 100

# What is dropped first when a state is too large, and from which end: topics are ranked, other lists are in order of
# time.
_ORDER: tuple[tuple[str, bool], ...] = (
    ("earlier_requests", True),
    ("confidence_updates", True),
    ("sop_interactions", True),
    ("recent_learnings", True),
    ("hot_topics", False),
    ("references", False),
    ("grounds", True),
    ("files", False),
    ("notes", True),
    ("in_progress", True),
    ("open_questions", True),
    ("constraints", True),
    ("active_projects", False),
    # items that close others are dropped last: without them the closed items would look open
    ("commits", True),
    ("closed", True),
)
_MOST: tuple[tuple[str, int, bool], ...] = (
    ("earlier_requests", 3, True),
    ("commits", 20, True),
    ("files", 20, False),
    ("constraints", 10, True),
    ("open_questions", 10, True),
    ("closed", 100, True),
    ("references", 20, False),
    ("grounds", 40, True),
    ("hot_topics", 20, False),
)
_OVERSIZE = 2_000  # characters of one text: what is longer is cut before anything of ours is dropped
_KEPT_SHORT = 64  # identifiers and times: too short to be worth cutting


def cap(fields: dict[str, Any], limit: int = MAX_STATE_BYTES) -> dict[str, Any]:
    """`fields` cut to the size limit; the counts of what was dropped are added to `fields["trimmed"]`.

    What is not ours, and what is oversize, goes first: one such field must not cost a session its topics and pins.
    Never raises and never drops a critical pin; as a last resort long texts are shortened, those of critical pins last.
    """
    out = dict(fields)
    trimmed: dict[str, int] = dict(out.get("trimmed") or {})
    _cap_tasks(out, trimmed)
    _cap_pins(out, trimmed)
    for key, most, from_front in _MOST:
        items = out.get(key)
        if isinstance(items, list) and len(items) > most:
            _count(trimmed, key, len(items) - most)
            out[key] = items[-most:] if from_front else items[:most]
    excess = _size(out) - limit
    if excess > 0:
        excess += 256  # leaves room for the counts themselves
        for step in (_drop_unknown, _cut_oversize, _drop_items, _drop_pins):
            excess = step(out, trimmed, excess)
        excess = _drop(out, "pending_tasks", trimmed, excess, from_front=True)
        if excess > 0:
            out.update(shrink(out, limit - 256))
            _count(trimmed, "texts")
    if trimmed:
        out["trimmed"] = trimmed
    return out


def _size(value: Any) -> int:
    return len(orjson.dumps(value))


def _count(trimmed: dict[str, int], key: str, number: int = 1) -> None:
    if number:
        trimmed[key] = trimmed.get(key, 0) + number


def _cap_tasks(out: dict[str, Any], trimmed: dict[str, int]) -> None:
    tasks = out.get("pending_tasks")
    if not tasks:
        return
    kept = []
    for task in tasks:
        title = task.get("title", "") if isinstance(task, dict) else ""
        if isinstance(title, str) and len(title) > MAX_TITLE:
            _count(trimmed, "titles")
            task = {**task, "title": title[: MAX_TITLE - 1] + "…"}  # noqa: PLW2901 - the shortened copy takes its place
        kept.append(task)
    surplus = len(kept) - MAX_TASKS
    if surplus > 0:
        text = [i for i, task in enumerate(kept) if isinstance(task, dict) and task.get("flagged_incomplete")]
        gone = set(text[:surplus])
        gone |= set([i for i in range(len(kept)) if i not in gone][: surplus - len(gone)])
        kept = [task for i, task in enumerate(kept) if i not in gone]
        _count(trimmed, "pending_tasks", surplus)
    out["pending_tasks"] = kept


def _cap_pins(out: dict[str, Any], trimmed: dict[str, int]) -> None:
    """Cap the pins at ten times a working memory's size; beyond that even critical pins are dropped, oldest first."""
    pins = out.get("working_memory")
    if not isinstance(pins, list) or len(pins) <= MAX_PINS:
        return
    ranked = sorted(range(len(pins)), key=lambda i: (is_critical(pins[i]), i))
    kept = sorted(ranked[-MAX_PINS:])
    _count(trimmed, "working_memory", len(pins) - MAX_PINS)
    out["working_memory"] = [pins[i] for i in kept]


def _drop_items(out: dict[str, Any], trimmed: dict[str, int], excess: int) -> int:
    for key, from_front in _ORDER:
        excess = _drop(out, key, trimmed, excess, from_front=from_front)
    return excess


def _drop(out: dict[str, Any], key: str, trimmed: dict[str, int], excess: int, *, from_front: bool) -> int:
    items = out.get(key)
    if not isinstance(items, list) or excess <= 0:
        return excess
    gone = 0
    for item in items if from_front else reversed(items):
        if excess <= 0:
            break
        excess -= _size(item) + 1
        gone += 1
    out[key] = items[gone:] if from_front else items[: len(items) - gone]
    _count(trimmed, key, gone)
    return excess


def _drop_pins(out: dict[str, Any], trimmed: dict[str, int], excess: int) -> int:
    pins = out.get("working_memory")
    if not isinstance(pins, list) or excess <= 0:
        return excess
    kept = []
    for pin in pins:
        if excess > 0 and not is_critical(pin):
            excess -= _size(pin) + 1
            _count(trimmed, "working_memory")
        else:
            kept.append(pin)
    out["working_memory"] = kept
    return excess


def _drop_unknown(out: dict[str, Any], trimmed: dict[str, int], excess: int) -> int:
    """Drop fields we do not know, the largest first, then keys we do not know inside the items of our lists."""
    unknown = sorted((key for key in out if key not in KNOWN_FIELDS), key=lambda key: -_size(out[key]))
    for key in unknown:
        if excess <= 0:
            return excess
        excess -= _size(out.pop(key)) + len(key) + 4
        _count(trimmed, "unknown_fields")
    for name, kind in PART_LISTS.items():
        items, known = out.get(name), part_keys(kind)
        if excess <= 0 or not isinstance(items, list):
            continue
        kept = [{k: v for k, v in item.items() if k in known} if isinstance(item, dict) else item for item in items]
        gone = sum(len(item) - len(less) for item, less in zip(items, kept, strict=True) if isinstance(item, dict))
        if gone:
            excess -= _size(items) - _size(kept)
            out[name] = kept
            _count(trimmed, "unknown_fields", gone)
    return excess


def _cut_oversize(out: dict[str, Any], trimmed: dict[str, int], excess: int) -> int:
    """Shorten texts that are far longer than what they are for; those of critical pins only as the last resort."""
    for key, value in out.items():
        if excess <= 0:
            return excess
        critical = key == "working_memory" and isinstance(value, list)
        cut = (
            [pin if is_critical(pin) else _cut(pin, _OVERSIZE, 1 << 20) for pin in value]
            if critical
            else _cut(value, _OVERSIZE, 1 << 20)
        )
        if cut != value:
            excess -= _size(value) - _size(cut)
            out[key] = cut
            _count(trimmed, "texts")
    return excess


def shrink(record: dict[str, Any], limit: int) -> dict[str, Any]:
    """`record` with its longest texts cut repeatedly, then its longest lists, until it fits."""
    for most in (1 << 20, 512, 64, 8):
        longest = 16 * 1024
        while longest >= _KEPT_SHORT:
            if _size(record) <= limit:
                return record
            record = {key: _cut(value, longest, most) for key, value in record.items()}
            longest //= 2
    return record if _size(record) <= limit else {}


def _cut(value: Any, longest: int, most: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else value[: longest - 1] + "…"
    if isinstance(value, list):
        return [_cut(item, longest, most) for item in value[-most:]]
    if isinstance(value, dict):
        return {key[:longest]: _cut(item, longest, most) for key, item in list(value.items())[-most:]}
    return value
