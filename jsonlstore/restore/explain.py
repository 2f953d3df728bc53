"""Why a session is not among what comes back, and which conversation is meant when nobody names one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

from jsonlstore.core.clock import time_before
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.session_key import agent_of, is_utility_run

if TYPE_CHECKING:
    from jsonlstore.core.config import Config
    from jsonlstore.restore.plan import Environment
    from jsonlstore.restore.result import Candidate, RestoredSessionContext
    from jsonlstore.restore.scope import Scope
    from jsonlstore.restore.select import Prior, Selection
    from jsonlstore.store import IndexEntry, SessionStore

_MOST_OPEN = 50  # of whose logs the last sign of life is read: the index has it only of sessions that ended
# what a candidate's reason says, and the word for it
_OF_CANDIDATES = (
    ("below the threshold", "below_threshold"),
    ("better sessions", "better_sessions"),
    ("nothing to bring back", "nothing_to_bring_back"),
    ("unreadable", "unreadable"),
)


class LeftOut(NamedTuple):
    """A session that does not come back: one word why, and what there is to say about it."""

    session_id: str
    reason: str
    detail: str

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


def left_out(
    entries: Mapping[str, Mapping[str, Any]],
    scope: Scope,
    config: Config,
    now: datetime,
    candidates: Sequence[Candidate],
    taken: Sequence[str],
    *,
    current: str = "",
    why_nothing: str | None = None,
) -> list[LeftOut]:
    """Every session that is kept, or was, and does not come back."""
    told = {one.session_id: one for one in candidates}
    since = time_before(now, timedelta(days=config.lookback_days))
    found = []
    for session_id, entry in entries.items():
        if session_id == current or session_id in taken:
            continue
        why = _of_entry(entry, scope, since, config)
        if why is None and why_nothing is not None:
            why = ("restore_on" if why_nothing.startswith("restore_on") else "clean", why_nothing)
        if why is None:
            why = _of_candidate(told.get(session_id), config)
        found.append(LeftOut(session_id, *why))
    return found


def _of_entry(entry: Mapping[str, Any], scope: Scope, since: str, config: Config) -> tuple[str, str] | None:
    if entry.get("forgotten"):
        return "forgotten", "it was forgotten"
    key, channel = entry.get("session_key"), entry.get("channel")
    if not scope.reaches(entry.get("agent_id"), key, channel):
        place = key or f"agent {agent_of(entry.get('agent_id'), None)}, channel {channel or 'unknown'}, no key"
        return "another_conversation", f"it belongs to {place}"
    ended = entry.get("end_time")
    if not ended:
        return "still_open", "it has not ended"
    if ended < since:
        return "too_old", f"it ended at {ended}, before the lookback of {config.lookback_days} days"
    return None


def _of_candidate(one: Candidate | None, config: Config) -> tuple[str, str]:
    if one is None:
        return "below_threshold", f"score below the threshold {config.relevance_threshold:g}"
    word = next((word for said, word in _OF_CANDIDATES if said in one.reason), "left_out")
    return word, f"{one.reason} (score {one.score:.3f})"


def newest_session(
    store: SessionStore, *, session_key: str | None = None, agent_id: str | None = None
) -> IndexEntry | None:
    """The session of a person's conversation that was heard of last, with this key or of this agent if one is named."""
    entries = [
        one
        for one in store.entries()
        if not (one.forgotten or is_utility_run(one.session_key))
        and (session_key is None or one.session_key == session_key)
        and (agent_id is None or agent_of(one.agent_id, one.session_key) == agent_id)
    ]
    heard = {one.session_id: one.updated_at or one.end_time or one.start_time for one in entries}
    still_open = [one for one in entries if not one.end_time]
    for one in nlargest(_MOST_OPEN, still_open, key=lambda entry: heard[entry.session_id]):
        try:
            heard[one.session_id] = max(heard[one.session_id], store.folded(one.session_id).updated_at or "")
        except JsonlStoreError:
            continue  # removed since the index was read
    return max(entries, key=lambda entry: (heard[entry.session_id], entry.session_id), default=None)


def log_decisions(
    env: Environment, priors: Sequence[Prior], selection: Selection, pinned: int, context: RestoredSessionContext
) -> None:
    """Write every decision of a plan to the debug log."""
    config = env.config
    env.debug("Fetched %d sessions from last %d days", len(priors), config.lookback_days)
    qualified = {candidate.session_id: candidate.qualified for candidate in selection.candidates}
    for prior in sorted(priors, reverse=True):
        env.debug("Scoring session %s (%.0fh elapsed):\n%s %s (threshold: %g)", prior.session_id[:8], prior.hours,
                  prior.factors.spelt_out(prior.tasks), "✅" if qualified[prior.session_id] else "❌",
                  config.relevance_threshold)  # fmt: skip
    lines = "".join(
        f'\n  - "{one.label}" → {"ADDED" if one.decision == "added" else "SKIPPED"} ({one.reason})'
        for one in context.pins
    )
    env.debug("Pin inheritance: %d current pins, %d candidate pins, cap=%d%s", pinned, len(context.pins),
              config.max_inherited_pins, lines)  # fmt: skip
    for memory in context.memories:
        env.debug("Decay %s: %.3f → %.3f after %.0fh (%s)", memory.memory_id, memory.original_confidence,
                  memory.confidence, memory.hours_elapsed, "EXCLUDED" if memory.excluded else "kept")  # fmt: skip
    env.debug("Preamble:\n%s", context.preamble)
