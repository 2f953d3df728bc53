"""`/handoff` in a chat: captures, shows, clears, sets the project, and says what it did in a line or two."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from jsonlstore.core.clock import time_before
from jsonlstore.core.errors import UsageError
from jsonlstore.handoff import ProjectContext, clear, kept_handoff, set_project
from jsonlstore.watch import capture_now

if TYPE_CHECKING:
    from jsonlstore.core.config import Config
    from jsonlstore.store import SessionStore

_LONGEST_NAME = 60
_TRIGGERS = {"capture": "command", "compaction": "compaction"}
_PAUSE = timedelta(minutes=1)


def handoff_command(
    store: SessionStore, config: Config, session_id: str, action: str, name: str | None = None, *, dry_run: bool = False
) -> str:
    """Carry one command out in its own session, and answer it."""
    if not (config.enabled and config.handoff_enabled):
        return "Handoffs are switched off (handoff.enabled)."
    if action in _TRIGGERS:
        return _capture(store, config, session_id, _TRIGGERS[action], dry_run=dry_run)
    if action == "status":
        return _status(store, session_id)
    if action == "clear":
        done = dry_run or clear(store, session_id, by="hook")
        return "The handoff of this session is discarded." if done else "No handoff is kept of this session."
    if action == "project":
        return _project(store, session_id, name, dry_run=dry_run)
    raise UsageError(f"no such action: {action}", hint="one of capture, status, clear, project")


def _capture(store: SessionStore, config: Config, session_id: str, trigger: str, *, dry_run: bool) -> str:
    found = kept_handoff(store.folded(session_id))
    if trigger == "compaction" and found is not None and found.captured_at > time_before(store.clock(), _PAUSE):
        return "Captured a moment ago."
    document = capture_now(store, config, session_id, trigger, by="hook", dry_run=dry_run)
    if document is None:
        return "There is nothing to hand over yet."
    return f"Captured for the next session (project {document.project}, until {document.expires_at[:16]}Z)."


def _status(store: SessionStore, session_id: str) -> str:
    folded = store.folded(session_id)
    found = kept_handoff(folded)
    if found is None or found.cleared_at:
        own = "No handoff is kept of this session."
    else:
        taken = f"; claimed by {found.claimed_by[:8]}" if found.claimed_by else ""
        told = found.document
        own = (
            f"Handoff of {told.updated_at[:16]}Z: project {told.project}, mode {told.mode}, "
            f"{len(told.patterns)} notes, {len(told.summary.in_progress)} in progress, "
            f"until {told.expires_at[:16]}Z{taken}."
        )
    return f"{own} It continues {folded.handoff_from}." if folded.handoff_from else own


def _project(store: SessionStore, session_id: str, name: str | None, *, dry_run: bool) -> str:
    if not name or not name.strip():
        known = ProjectContext.of(store.folded(session_id))
        inferred = next(iter(store.get(session_id).active_projects), "general")
        return f"Project: {known.name} (set)." if known else f"Project: {inferred} (from what was done)."
    short = " ".join(name.split())[:_LONGEST_NAME]
    if not dry_run:
        set_project(store, session_id, ProjectContext(short, started_at=store.now()), by="hook")
    return f"Project: {short}."
