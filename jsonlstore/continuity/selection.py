"""Which prior sessions come back: in scope, inside the lookback, at or above the threshold, the best of them."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from jsonlstore.clock import hours_between, parse_time
from jsonlstore.continuity.context import Candidate
from jsonlstore.continuity.scorer import (
    PENDING_WEIGHT,
    PER_TASK,
    RECENCY_WEIGHT,
    TOPIC_WEIGHT,
    Factors,
    factors,
    lowered,
    qualifies,
)
from jsonlstore.errors import JsonlStoreError
from jsonlstore.store.index import IndexEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from jsonlstore.config import Config
    from jsonlstore.continuity.scope import Scope
    from jsonlstore.continuity.worklist import Pipeline
    from jsonlstore.model import SessionState

log = logging.getLogger("jsonlstore.session")

# a topic shared by most of many sessions says nothing about any of them (DECISION 47)
_COMMON_FROM_SESSIONS = 10
_COMMON_SHARE = 0.8
_MOST_LOGS_READ = 12


class Prior(NamedTuple):
    """A prior session, scored."""

    entry: IndexEntry
    hours: float
    factors: Factors

    @property
    def rank(self) -> tuple[float, str, str]:
        return (self.factors.score, self.entry.end_time or "", self.entry.session_id)


class Contributor(NamedTuple):
    """A prior session that comes back, with its state."""

    prior: Prior
    state: SessionState


class Selection(NamedTuple):
    """Who comes back, and what became of everybody else."""

    contributors: tuple[Contributor, ...]
    candidates: tuple[Candidate, ...]


def score_priors(entries: Iterable[IndexEntry], keywords: frozenset[str], now: datetime) -> list[Prior]:
    """Every ended session with the parts of its score, best first (ties: latest end)."""
    listed = list(entries)
    common = common_topics([entry.hot_topics for entry in listed])
    scored = []
    for entry in listed:
        assert entry.end_time is not None
        hours = hours_between(parse_time(entry.end_time), now)
        topics = [topic for topic in entry.hot_topics if topic.lower() not in common] if common else entry.hot_topics
        words = keywords | _compounds(topics, keywords) if keywords else keywords
        scored.append(Prior(entry, hours, factors(topics, entry.pending_task_count, words - common, hours)))
    scored.sort(key=lambda prior: prior.rank, reverse=True)
    return scored


def common_topics(sessions: Sequence[Iterable[str]]) -> frozenset[str]:
    """The topics nearly every one of many sessions shares."""
    if len(sessions) < _COMMON_FROM_SESSIONS:
        return frozenset()
    counts: dict[str, int] = {}
    for topics in sessions:
        for topic in lowered(topics):
            counts[topic] = counts.get(topic, 0) + 1
    return frozenset(topic for topic, count in counts.items() if count > _COMMON_SHARE * len(sessions))


def _compounds(topics: Iterable[str], keywords: frozenset[str]) -> frozenset[str]:
    """The topics of several words ("ham radio", "lbf-ham-radio") all of whose words were said."""
    found = set()
    for topic in topics:
        words = topic.lower().replace("-", " ").replace("_", " ").split()
        if len(words) > 1 and keywords.issuperset(words):
            found.add(topic.lower())
    return frozenset(found)


def select(
    priors: Sequence[Prior], config: Config, load: Callable[[IndexEntry], SessionState], pipeline: Pipeline
) -> Selection:
    """The best qualifying sessions that have anything to give, at most `max_sessions_scored` of them."""
    contributors: list[Contributor] = []
    candidates: list[Candidate] = []
    reads = 0
    for prior in priors:
        wins, why = qualifies(prior.factors.score, config.relevance_threshold), "score at or above the threshold"
        maybe = not wins and 0 < config.pending_task_override <= prior.entry.pending_task_count
        if not wins and not maybe:
            candidates.append(_candidate(prior, False, f"score below the threshold {config.relevance_threshold:g}"))
            continue
        if len(contributors) >= config.max_sessions_scored or reads >= _MOST_LOGS_READ:
            why = f"{config.max_sessions_scored} better sessions already contribute"
            candidates.append(_candidate(prior, wins, why))
            continue
        reads += 1
        try:
            state = load(prior.entry)
        except JsonlStoreError as problem:
            log.warning("session %s left out: %s", prior.entry.session_id, problem)
            candidates.append(_candidate(prior, False, f"unreadable: {problem.message}"))
            continue
        if maybe:
            still_open = len(pipeline.still_open(state.pending_tasks))
            wins = still_open >= config.pending_task_override
            why = f"{still_open} open tasks (pending_task_override {config.pending_task_override}"
            why += ")" if wins else " not reached), score below the threshold"
        if wins and not _gives_anything(state):
            wins, why = False, "nothing to bring back"
        if wins:
            contributors.append(Contributor(prior, state))
        candidates.append(_candidate(prior, wins, why))
    return Selection(tuple(contributors), tuple(candidates))


def _gives_anything(state: SessionState) -> bool:
    return any(
        (
            state.working_memory,
            state.pending_tasks,
            state.hot_topics,
            state.active_projects,
            state.recent_learnings,
            state.notes,
            state.next_step,
        )
    )


def _candidate(prior: Prior, qualified: bool, reason: str) -> Candidate:
    parts = prior.factors
    return Candidate(
        prior.entry.session_id,
        prior.hours,
        parts.recency,
        parts.topic_overlap,
        parts.pending,
        parts.score,
        qualified,
        reason,
    )


def previous_session(
    raw: Mapping[str, Mapping[str, Any]], scope: Scope, session_id: str, crashed: Iterable[IndexEntry] = ()
) -> str | None:
    """The most recently ended session of the same conversation, same channel preferred (DECISION 17)."""
    ranked = [
        (entry.get("channel") == scope.channel, entry["end_time"], other)
        for other, entry in raw.items()
        if entry.get("end_time") and other != session_id
    ]
    ranked.sort(reverse=True)
    dead = [(one.channel == scope.channel, one.end_time or "", one.session_id) for one in crashed if scope.allows(one)]
    for rank in ranked:
        if dead and max(dead) > rank:
            break
        if scope.allows(IndexEntry.of(rank[2], raw[rank[2]])):
            return rank[2]
    return max(dead)[2] if dead else None


def explain_lines(prior: Prior, threshold: float, qualified: bool) -> str:
    """The score of one session, spelt out for the debug log."""
    parts, tasks = prior.factors, prior.entry.pending_task_count
    mark = "✅" if qualified else "❌"
    return (
        f"Scoring session {prior.entry.session_id[:8]} ({prior.hours:.0f}h elapsed):\n"
        f"  recency: {parts.recency:.3f} × {RECENCY_WEIGHT:g} = {parts.recency * RECENCY_WEIGHT:.3f}\n"
        f"  topic_overlap: {parts.shared}/{parts.together} = {parts.topic_overlap:.3f} × {TOPIC_WEIGHT:g}"
        f" = {parts.topic_overlap * TOPIC_WEIGHT:.3f}\n"
        f"  pending_tasks: {tasks} tasks × {PER_TASK:g} = {parts.pending:.2f} × {PENDING_WEIGHT:g}"
        f" = {parts.pending * PENDING_WEIGHT:.3f}\n"
        f"  TOTAL: {parts.score:.3f} {mark} (threshold: {threshold:g})"
    )


def as_ended(entry: IndexEntry, end_time: str) -> IndexEntry:
    """A crashed session as it will be once its recovery is recorded."""
    return replace(entry, end_time=end_time, end_reason="crash", crash_recovered=True)
