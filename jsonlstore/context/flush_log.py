"""What our log says of memory flushes: that an agent was asked, and whether it wrote anything down in that turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonlstore.signals import SessionFacts
    from jsonlstore.store import SessionFold, SessionStore

log = logger("jsonlstore.session")

_OF_AN_OFFER = {"percent": int, "at": str, "compaction": int, "tokens": int, "window": int}


def offer_flush(store: SessionStore, session_id: str, offered: Mapping[str, Any], *, by: str = "hook") -> bool:
    """Record that an agent was asked; False if this very offer is recorded already."""
    data = {name: offered[name] for name, kind in _OF_AN_OFFER.items() if type(offered.get(name)) is kind}
    if "percent" not in data:
        return False
    data.setdefault("at", store.now())

    def decide(folded: SessionFold) -> tuple[str, Mapping[str, Any]] | None:
        known = folded.flush or {}
        return None if known.get("at") == data["at"] else ("flush.offered", data)

    done = store.append_if(session_id, decide, by=by)
    if done:
        _count(store, {"event": "flush_offered", "session_id": session_id, "percent": data["percent"]})
    return done


def settle_flush(store: SessionStore, session_id: str, facts: SessionFacts, *, by: str) -> bool:
    """Say once whether the turn that was asked to write to `memory/` did so (decision 37); False if it is not over."""
    found: dict[str, Any] = {}
    known = store.folded(session_id).flush
    if not known or known.get("settled") or not facts.turn_over:
        return False  # mostly so: the lock is not even asked for

    def decide(folded: SessionFold) -> tuple[str, Mapping[str, Any]] | None:
        offered = folded.flush
        if not offered or offered.get("settled"):
            return None
        at = str(offered.get("at") or "")
        # the turn in which it was offered is the first that was answered after it
        turn = min((number for number, ended in facts.turn_ends.items() if ended >= at), default=None)
        if turn is None:
            return None
        files = list(dict.fromkeys(path for number, path in facts.memory_writes if number == turn))
        found.update(percent=offered.get("percent"), actioned=bool(files), files=files)
        return "flush.actioned", found

    if not store.append_if(session_id, decide, by=by):
        return False
    counted = {"percent": found["percent"], "actioned": found["actioned"], "file_count": len(found["files"])}
    _count(store, {"event": "flush_actioned", "session_id": session_id, **counted})
    return True


def _count(store: SessionStore, event: Mapping[str, Any]) -> None:
    """A metric; one that cannot be written costs a line in the log."""
    try:
        store.metrics.emit(event)
    except JsonlStoreError as problem:
        log.warning("metric %s not written: %s", event.get("event"), problem.message)
