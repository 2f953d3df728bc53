"""What a session's log says of its handoff and its project: the fold of `handoff.*` and `project.*` events. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonlstore.store.log import Event

HANDOFF_EVENTS = ("handoff.captured", "handoff.offered", "handoff.claimed", "handoff.cleared")
PROJECT_EVENTS = ("project.set", "project.cleared")


def fold_handoff(known: Mapping[str, Any] | None, event: Event) -> Mapping[str, Any] | None:
    """The handoff after an event: `document`, `at`, `trigger`, `claim`, `offered_at`, `cleared_at`, `seq`."""
    data, before = event.data, dict(known or {})
    step = event.type.partition(".")[2]
    if step == "captured":
        document = data.get("handoff")
        if not isinstance(document, Mapping):
            return known
        active = data.get("active_at")
        after = {"document": document, "at": event.at, "trigger": data.get("trigger"), "near": data.get("near") is True}
        kept: dict[str, Any] = {key: before[key] for key in ("claim", "offered_at", "cleared_at") if key in before}
        # work that went on after it was picked up or thrown away is new, and free again
        for key, when in (("claim", (kept.get("claim") or {}).get("at")), ("cleared_at", kept.get("cleared_at"))):
            if isinstance(active, str) and isinstance(when, str) and active > when:
                kept.pop(key, None)
        marked = before.get("marked") is True or data.get("trigger") == "command"
        return {**after, **kept, "seq": event.seq, **({"marked": True} if marked else {})}
    if step == "cleared":
        # what was never captured can be thrown away, too
        rest = {key: value for key, value in before.items() if key not in ("claim", "marked")}
        return {**rest, "cleared_at": event.at, "seq": event.seq}
    if not before:
        return known
    if step == "claimed":
        earlier = before.get("claim") or {}
        same = earlier.get("session_id") == data.get("session_id")
        before["claim"] = {
            "session_id": data.get("session_id"),
            "at": earlier["at"] if same and isinstance(earlier.get("at"), str) else event.at,
            "answered": data.get("answered") is True or (same and earlier.get("answered") is True),
        }
    elif step == "offered":
        before["offered_at"] = event.at
    return {**before, "seq": event.seq}
