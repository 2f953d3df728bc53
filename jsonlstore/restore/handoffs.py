"""Which handoff a starting session gets: the newest of its scope that is kept, unexpired, unclaimed and allowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

from jsonlstore.core.clock import time_before
from jsonlstore.core.config import BOUNDARY_NAMES, Config
from jsonlstore.core.errors import AmbiguousSessionId, JsonlStoreError, OutOfScope, SessionNotFound
from jsonlstore.core.logs import logger
from jsonlstore.core.session_key import agent_of, names_a_peer
from jsonlstore.handoff import (
    Handoff,
    HandoffRecord,
    ProjectContext,
    claim_in_force,
    cleared_at,
    kept_handoff,
    offer_line,
    present_document,
)
from jsonlstore.restore.wrapper import named

if TYPE_CHECKING:
    from jsonlstore.core.model import SessionState
    from jsonlstore.restore.result import RestoreRequest
    from jsonlstore.restore.scope import Scope
    from jsonlstore.restore.select import Entries
    from jsonlstore.store import SessionFold, SessionStore

log = logger("jsonlstore.session")

NEWEST = "newest"
_ROLLOVER = frozenset(
    {"new", "reset", "idle", "daily"}
)  # what a session that was followed by another may have ended by
_MOST_ENDED = 12  # sessions that ended without a word may stand before the one that is wanted
_MOST_OPEN = 4


class Offered(NamedTuple):
    """A handoff for a starting session; without a document somebody else has it."""

    session_id: str
    document: Handoff | None = None
    claimed_by: str | None = None

    @property
    def taken(self) -> tuple[str, str] | None:
        """The session and who continues it, if another one does."""
        return (self.session_id, self.claimed_by) if self.claimed_by is not None else None

    def to_dict(self, config: Config) -> dict[str, Any]:
        """As a hook answers it; `offer` is the line for the first prompt."""
        if self.document is None:
            return {"session_id": self.session_id, "claimed": False, "claimed_by": self.claimed_by}
        return {
            "session_id": self.session_id,
            "claimed": True,
            "project": self.document.project,
            "ended_at": self.document.updated_at,
            "expires_at": self.document.expires_at,
            "offer": offer_line(self.document, named) if config.handoff_offer == "ask" else None,
        }


def find_handoff(
    store: SessionStore,
    config: Config,
    request: RestoreRequest,
    scope: Scope,
    entries: Entries,
    closed: Mapping[str, Any],
    load: Callable[[str], SessionState],
    now: datetime,
) -> Offered | None:
    """The handoff to claim, or the newest that another session has."""
    forced = request.resume is not None
    taken: Offered | None = None
    for session_id in _candidates(config, request, scope, entries, now):
        try:
            folded = store.folded(session_id)
        except JsonlStoreError as problem:
            log.warning("the handoff of %s is left out: %s", session_id, problem)
            continue
        known = kept_handoff(folded)
        holder = claim_in_force(store, known, now, request.session_id) if known and not forced else None
        if holder is not None and taken is not None:
            continue  # of those that are taken only the newest is told of
        # what a later session settled is not in progress any more
        document = present_document(folded, now, config.handoff_expires_hours, load(session_id))
        if session_id in closed:
            document = _as_closed(document, closed[session_id][1].end_reason)
        why = _left_out(config, request, scope, folded, known, document, session_id in closed, now)
        if why is not None:
            log.debug("the handoff of %s is left out: %s", session_id, why)
            continue
        if holder is None:
            return Offered(session_id, document)
        taken = taken or Offered(session_id, claimed_by=holder)
    return taken


def _candidates(config: Config, request: RestoreRequest, scope: Scope, entries: Entries, now: datetime) -> list[str]:
    """The latest sessions that may hand over, without reading their logs; only the one that was asked for, if any."""
    if request.resume is not None and request.resume != NEWEST:
        return [_asked_for(request.resume, request, scope, entries)]
    hours = config.handoff_expires_hours if request.resume is None else 24 * config.archive_after_days
    since = time_before(now, timedelta(hours=hours))
    reaches = scope.in_reach()
    ended, still_open = [], []
    for session_id, entry in entries.items():
        if session_id == request.session_id or entry.get("forgotten") or entry.get("archived"):
            continue
        if not (reaches(entry) or _same_person(entry, request, scope)):
            continue
        # an open session's entry may be old: its log says when it was last active
        if not entry.get("end_time"):
            still_open.append((entry.get("updated_at") or entry.get("start_time") or "", session_id))
        elif entry["end_time"] >= since:
            ended.append((entry["end_time"], session_id))
    found = [*nlargest(_MOST_ENDED, ended), *nlargest(_MOST_OPEN, still_open)]
    return [session_id for _, session_id in sorted(found, reverse=True)]


def _asked_for(wanted: str, request: RestoreRequest, scope: Scope, entries: Entries) -> str:
    """The session of this conversation whose id begins so; what others there are is not told."""
    fits = {one: entry for one, entry in entries.items() if one.startswith(wanted) and not entry.get("forgotten")}
    ours = [one for one, entry in fits.items() if scope.in_reach()(entry) or _same_person(entry, request, scope)]
    if wanted in ours or len(ours) == 1:
        return wanted if wanted in ours else ours[0]
    if ours:
        raise AmbiguousSessionId(f"{wanted!r} fits {len(ours)} sessions: {', '.join(sorted(ours)[:5])}")
    if wanted in fits:
        raise OutOfScope(f"session {wanted} belongs to another conversation")
    raise SessionNotFound(f"no such session: {wanted}")


def _same_person(entry: Mapping[str, Any], request: RestoreRequest, scope: Scope) -> bool:
    """Whether two keys that name nobody are one agent's: since 2026.7 the terminal's /new opens a new key."""
    theirs, ours = entry.get("session_key"), request.session_key
    if not theirs or not ours or names_a_peer(theirs) or names_a_peer(ours):
        return False
    return agent_of(entry.get("agent_id"), theirs) == scope.agent


def _left_out(  # noqa: PLR0911 - one line for each reason
    config: Config,
    request: RestoreRequest,
    scope: Scope,
    folded: SessionFold,
    known: HandoffRecord | None,
    document: Handoff,
    closed: bool,
    now: datetime,
) -> str | None:
    """Why a session's handoff is not for this one; None if it is."""
    marked = known is not None and known.marked
    if not (folded.ended or closed or marked):
        return "it goes on"
    if cleared_at(folded):
        return "it was cleared"
    project = ProjectContext.of(folded)
    if project is not None and not project.handoff_enabled:
        return "its project hands nothing over"
    if not document.says_something:
        return "there is nothing in it"
    state = folded.state()
    if not scope.allows(state) and not _same_project(config, request, folded, document):
        return "it is another project's"
    if request.resume is not None:
        return None
    if document.is_expired(now):
        return "it is too old"
    may_be = _ROLLOVER if document.evidence.get("endedBy") == "rollover" else {state.end_reason} & {*BOUNDARY_NAMES}
    if may_be and may_be.isdisjoint(config.restore_on):
        return f"restore_on does not name {document.evidence.get('endedBy')}"
    return None


def _same_project(config: Config, request: RestoreRequest, folded: SessionFold, document: Handoff) -> bool:
    """Whether a session under another key is about the same project; one that names no project is about the last."""
    if not request.cwd:
        return ProjectContext.of(folded) is None
    from jsonlstore.signals import project_of

    here = project_of(request.cwd, config.project_roots)
    return here is None or here.lower() == document.project.lower()


def _as_closed(document: Handoff, reason: str | None) -> Handoff:
    from dataclasses import replace

    return replace(document, evidence={**document.evidence, "endedBy": reason}) if reason else document
