"""Capturing, claiming, offering and clearing handoffs: each one event in the source session's log, under its lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from jsonlstore.core.clock import format_time, time_before
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger
from jsonlstore.core.session_key import DEFAULT_AGENT
from jsonlstore.handoff.builder import HandoffOptions, build
from jsonlstore.handoff.document import Handoff, size_of, within_limit

if TYPE_CHECKING:
    from jsonlstore.core.model import SessionState
    from jsonlstore.handoff.window import WindowFacts
    from jsonlstore.store import SessionFold, SessionStore

log = logger("jsonlstore.session")

COMMAND = "command"
_IN_BETWEEN = ("messages", "tools", "compaction", "sigterm")  # made while work goes on: as cheap as can be
PAUSE = timedelta(minutes=5)  # after an answered offer
GRACE = timedelta(minutes=1)  # how long a claim may wait for its answer before another session gets the handoff


class ProjectContext(NamedTuple):
    """The project of a conversation, as people set it or as the evidence shows."""

    name: str
    active: bool = True
    started_at: str = ""
    handoff_enabled: bool = True

    @classmethod
    def of(cls, folded: SessionFold) -> ProjectContext | None:
        """What was set for a session; None if nothing was."""
        raw = folded.project
        if not raw or not isinstance(raw.get("name"), str):
            return None
        return cls(
            raw["name"],
            raw.get("active") is not False,
            str(raw.get("startedAt", "")),
            raw.get("handoffEnabled") is not False,
        )

    def to_dict(self) -> dict[str, Any]:
        """As the specification spells it."""
        return {
            "name": self.name,
            "active": self.active,
            "startedAt": self.started_at,
            "handoffEnabled": self.handoff_enabled,
        }


class HandoffRecord(NamedTuple):
    """A handoff as its session's log has it: the document, who claimed it, whether it was cleared."""

    document: Handoff
    captured_at: str
    trigger: str
    claimed_by: str | None = None
    claimed_at: str | None = None
    answered: bool = False
    offered_at: str | None = None
    cleared_at: str | None = None
    marked: bool = False
    near: bool = False

    def is_available(self, now: datetime) -> bool:
        """Whether it may still be offered, as far as its own log tells."""
        return self.cleared_at is None and self.claimed_by is None and not self.document.is_expired(now)

    def to_dict(self, now: datetime) -> dict[str, Any]:
        """The document with its state, as files and `status` show it."""
        claimed = {"claimedBy": self.claimed_by, "claimedAt": self.claimed_at} if self.claimed_by else {}
        return {**self.document.to_dict(available=self.is_available(now), offered_at=self.offered_at), **claimed}


def kept_handoff(folded: SessionFold) -> HandoffRecord | None:
    """The handoff a session left; None if there is none."""
    raw = folded.handoff
    document = raw.get("document") if raw else None
    if raw is None or not isinstance(document, Mapping):
        return None
    claim = raw.get("claim") or {}
    return HandoffRecord(
        Handoff.from_dict(document),
        str(raw.get("at", "")),
        str(raw.get("trigger") or ""),
        claim.get("session_id"),
        claim.get("at"),
        claim.get("answered") is True,
        raw.get("offered_at"),
        raw.get("cleared_at"),
        raw.get("marked") is True,
        raw.get("near") is True,
    )


def cleared_at(folded: SessionFold) -> str | None:
    """When a session's handoff was discarded, captured or not; None if it was not, or work went on since."""
    at = (folded.handoff or {}).get("cleared_at")
    return at if isinstance(at, str) else None


def present_document(
    folded: SessionFold, now: datetime, expires_hours: float, state: SessionState | None = None
) -> Handoff:
    """The document of a session as its state is now, or as the given one says, whether or not that was captured."""
    known = kept_handoff(folded)
    return _document(folded, known, now, expires_hours, None, "", state)


def capture(  # noqa: PLR0913 - what is captured, when, by whom and for how long
    store: SessionStore,
    session_id: str,
    trigger: str,
    *,
    now: datetime,
    expires_hours: float,
    facts: WindowFacts | None = None,
    digest: str = "",
    near: bool = False,
    by: str = "watcher",
    asked_at: str | None = None,
    rewrite: Callable[[Handoff], Handoff] | None = None,
    dry_run: bool = False,
) -> Handoff | None:
    """Record where a session stands; None if that says nothing, is expired, is switched off or was recorded already.

    `asked_at` is when somebody asked for it, which is now unless told otherwise.
    """
    folded = store.folded(session_id)
    project = ProjectContext.of(folded)
    if not folded.started or (project is not None and not project.handoff_enabled):
        return None
    known = kept_handoff(folded)
    document = _document(folded, known, now, expires_hours, facts, digest)
    if not document.says_something or document.is_expired(now):
        return None
    if trigger not in _IN_BETWEEN:
        document = _with_memories(store, document)
    if rewrite is not None:
        document = rewrite(document)
    data: dict[str, Any] = {"handoff": document.to_dict(), "trigger": trigger, "near": near}
    asked = asked_at or format_time(now) if trigger == COMMAND else None
    if active := asked or _active_at(folded, facts, document):
        data["active_at"] = active

    def decide(current: SessionFold) -> tuple[str, Mapping[str, Any]] | None:
        before = kept_handoff(current)
        if trigger != COMMAND and before is not None and before.document == document and before.near == near:
            return None
        return "handoff.captured", data

    if dry_run:
        return document
    if not store.append_if(session_id, decide, by=by):
        return None
    count(
        store,
        {
            "event": "handoff_captured",
            "session_id": session_id,
            "trigger": trigger,
            "mode": document.mode,
            "pattern_count": len(document.patterns),
            "bytes": size_of(document),
        },
    )
    return document


class Claim(NamedTuple):
    """Whether a session has a handoff now, and who has it."""

    won: bool
    by: str | None


def claim(
    store: SessionStore,
    source: str,
    session_id: str,
    *,
    now: datetime,
    expires_hours: float,
    forced: bool = False,
    by: str = "hook",
) -> Claim:
    """Claim a session's handoff for another session. Of any number that ask at once one gets it.

    `forced`, as by `/resume`, takes it whoever has it and however old it is. A handoff that was never captured, or is
    older than the state, is captured first, so that what is claimed is in the log.
    """
    folded = store.folded(source)
    known = kept_handoff(folded)
    document = present_document(folded, now, expires_hours)
    if (known is None or known.document != document) and (forced or not document.is_expired(now)):
        wanted = {"handoff": document.to_dict(), "trigger": known.trigger if known else "start", "near": False}
        store.append_if(source, lambda current: _unless_cleared(current, wanted), by=by, redacted=("handoff",))
    holder: list[str | None] = [None]

    def decide(current: SessionFold) -> tuple[str, Mapping[str, Any]] | None:
        found = kept_handoff(current)
        if found is None or (found.cleared_at and not forced):
            return None
        if not forced:
            if found.document.is_expired(now):
                return None
            in_force = claim_in_force(store, found, now, session_id)
            if in_force is not None:
                holder[0] = in_force
                return None
        holder[0] = session_id
        if found.claimed_by == session_id:
            return None
        return "handoff.claimed", {"session_id": session_id, **({"forced": True} if forced else {})}

    news = store.append_if(source, decide, by=by)
    if news:
        count(
            store,
            {"event": "handoff_claimed", "session_id": source, "new_session_id": session_id, "forced": forced},
        )
    return Claim(holder[0] == session_id, holder[0])


def claim_in_force(store: SessionStore, found: HandoffRecord, now: datetime, asking: str) -> str | None:
    """The session whose claim keeps the asking one from a handoff; None if it is free.

    A claim without an answer lapses: at once when its session ended by its own word, else after a minute, because eight
    sessions that start together are all unanswered. With an answer it stands while the session goes on, and five
    minutes in any case.
    """
    holder = found.claimed_by
    if holder is None or holder == asking:
        return None
    try:
        folded = store.folded(holder)
    except JsonlStoreError:
        return None  # forgotten, or never recorded
    if not folded.started:
        return None
    state = folded.state()
    answered = (
        found.answered or bool(state.last_answer) or bool(state.last_request and state.last_request.fate == "answered")
    )
    since = found.claimed_at or ""
    if answered:
        return None if folded.ended and since < time_before(now, PAUSE) else holder
    if "told" in folded.ends or folded.crash_recovered:
        return None
    return None if since < time_before(now, GRACE) else holder


def offer(store: SessionStore, source: str, session_id: str, *, by: str = "hook") -> None:
    """Record that a session was given a handoff."""
    if store.append_if(source, lambda _: ("handoff.offered", {"session_id": session_id}), by=by):
        count(store, {"event": "handoff_offered", "session_id": source, "new_session_id": session_id})


def confirm(store: SessionStore, session_id: str, *, by: str = "hook") -> bool:
    """Record that the session which claimed a handoff was answered; False if there is nothing to confirm."""
    source = store.folded(session_id).handoff_from
    if source is None:
        return False

    def decide(current: SessionFold) -> tuple[str, Mapping[str, Any]] | None:
        found = kept_handoff(current)
        if found is None or found.claimed_by != session_id or found.answered:
            return None
        return "handoff.claimed", {"session_id": session_id, "answered": True}

    return store.append_if(source, decide, by=by)


def clear(store: SessionStore, session_id: str, *, by: str = "operator") -> bool:
    """Discard a session's handoff, captured or not, and the one it picked up; False if both are discarded already."""

    def discard(source: str) -> bool:
        def decide(current: SessionFold) -> tuple[str, Mapping[str, Any]] | None:
            found = kept_handoff(current)
            ours = source == session_id or (found is not None and found.claimed_by == session_id)
            return ("handoff.cleared", {"session_id": source}) if ours and not cleared_at(current) else None

        return store.append_if(source, decide, by=by)

    done = discard(session_id)
    picked_up = store.folded(session_id).handoff_from
    return (picked_up is not None and discard(picked_up)) or done


def set_project(store: SessionStore, session_id: str, project: ProjectContext | None, *, by: str = "operator") -> bool:
    """Set the project of a session, or go back to what the evidence shows; False if that is how it is."""

    def decide(current: SessionFold) -> tuple[str, Mapping[str, Any]] | None:
        known = ProjectContext.of(current)
        if project is None:
            return ("project.cleared", {}) if known else None
        same = known is not None and known._replace(started_at="") == project._replace(started_at="")
        return None if same else ("project.set", project.to_dict())

    return store.append_if(session_id, decide, by=by)


def count(store: SessionStore, event: Mapping[str, Any]) -> None:
    """Emit a metric; one that cannot be written is no reason to fail."""
    try:
        store.metrics.emit(event)
    except JsonlStoreError as problem:
        log.warning("metrics not written: %s", problem)


def _document(
    folded: SessionFold,
    known: HandoffRecord | None,
    now: datetime,
    hours: float,
    facts: WindowFacts | None,
    digest: str,
    state: SessionState | None = None,
) -> Handoff:
    project = ProjectContext.of(folded)
    options = HandoffOptions(hours, project.name if project else None, project.active if project else True)
    return build(state or folded.state(), facts, now, options, known.document if known else None, digest)


def _active_at(folded: SessionFold, facts: WindowFacts | None, document: Handoff) -> str | None:
    """When people last worked in a session; None if only its transcript could tell, and nobody looked."""
    if facts is not None:
        return facts.active_at
    return None if folded.source else document.updated_at


def _with_memories(store: SessionStore, document: Handoff) -> Handoff:
    from jsonlstore.handoff.memories import related_memories

    # OpenClaw's own default: one workspace for the main agent, one for each of the others
    place = "workspace" if document.agent_id == DEFAULT_AGENT else f"workspace-{document.agent_id}"
    found = related_memories(store.paths.state_dir / place / "memory", document.project)
    rest = {key: value for key, value in document.evidence.items() if key != "relatedMemories"}
    return within_limit(replace(document, evidence=rest | ({"relatedMemories": found} if found else {})))


def _unless_cleared(current: SessionFold, wanted: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    found = kept_handoff(current)
    if cleared_at(current) or (found is not None and found.document == Handoff.from_dict(wanted["handoff"])):
        return None
    return "handoff.captured", wanted
