"""The two formulas of a restore; nothing here is ever stored.

Relevance of a prior session: the weighted sum of recency, topic overlap and pending tasks; see the weights below.
Confidence left of an inherited memory: `max(floor, 1 - hours/168 * 0.4)` of the original; both numbers are settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from jsonlstore.core.clock import hours_between, parse_time, system_clock
from jsonlstore.core.config import Config
from jsonlstore.core.model import SessionState
from jsonlstore.store import IndexEntry

WEEK_HOURS = 168.0
LOSS_PER_WEEK = 0.4
DEFAULT_FLOOR = 0.3
TOLERANCE = 1e-9  # a value that is exactly on a line counts as on it, whatever floating point made of it

RECENCY_WEIGHT = 0.4
TOPIC_WEIGHT = 0.35
PENDING_WEIGHT = 0.25
PER_TASK = 0.25
_PARTED = re.compile(r"[\s_-]+")
DEFAULT_THRESHOLD = 0.25
MOST_CONTRIBUTORS = 3


class Factors(NamedTuple):
    """The three parts of a score, each between 0 and 1 before weighting."""

    recency: float
    topic_overlap: float
    pending: float
    shared: int = 0  # topics in common
    together: int = 0  # topics of either side

    @property
    def score(self) -> float:
        return self.recency * RECENCY_WEIGHT + self.topic_overlap * TOPIC_WEIGHT + self.pending * PENDING_WEIGHT

    def spelt_out(self, tasks: int) -> str:
        """The sum, for the debug log."""
        overlap = self.topic_overlap
        rows = (
            ("recency", f"{self.recency:.3f}", self.recency, RECENCY_WEIGHT),
            ("topic_overlap", f"{self.shared}/{self.together} = {overlap:.3f}", overlap, TOPIC_WEIGHT),
            ("pending_tasks", f"{tasks} tasks × {PER_TASK:g} = {self.pending:.2f}", self.pending, PENDING_WEIGHT),
        )
        lines = [f"  {name}: {said} × {weight:g} = {part * weight:.3f}" for name, said, part, weight in rows]
        return "\n".join([*lines, f"  TOTAL: {self.score:.3f}"])


class ScoredSession(NamedTuple):
    """A prior session with its score and how long ago it ended."""

    session: Any
    score: float
    hours_elapsed: float


def recency(hours_elapsed: float) -> float:
    """1 now, 0 after a week; a clock that went back counts as now."""
    return min(1.0, max(0.0, 1.0 - hours_elapsed / WEEK_HOURS))


def pending_weight(tasks: int) -> float:
    """A quarter per open task, full at four."""
    return min(1.0, max(0, tasks) * PER_TASK)


def qualifies(score: float, threshold: float = DEFAULT_THRESHOLD) -> bool:
    """At the threshold is enough; four tasks after a week are exactly on it (decision 4)."""
    return score >= threshold - TOLERANCE


def lowered(words: Iterable[str]) -> frozenset[str]:
    """Words as they are compared."""
    return frozenset(word.lower() for word in words)


def factors(
    topics: Iterable[str] | set[str],
    tasks: int,
    keywords: frozenset[str],
    hours_elapsed: float,
    spoken: frozenset[str] | None = None,
) -> Factors:
    """The parts of a score; keywords, and topics given as a set, are lower-cased. Overlap is Jaccard, 0 of nothing.

    A topic of several words ("ham radio") is a keyword, too, where all of them are. `spoken` are such topics, for a
    caller that has found them for thousands of sessions at once.
    """
    own = topics if isinstance(topics, set) else lowered(topics)
    named = own & spoken if spoken is not None else {topic for topic in own if is_spoken(topic, keywords)}
    words = keywords | named if named else keywords
    shared = len(own & words)
    together = len(own) + len(words) - shared
    return Factors(
        recency(hours_elapsed), shared / together if together else 0.0, pending_weight(tasks), shared, together
    )


def is_spoken(topic: str, words: frozenset[str]) -> bool:
    """Whether a lower-cased topic is one of the words, or made of several that all are."""
    if topic in words:
        return True
    parts = () if topic.isalnum() else [part for part in _PARTED.split(topic) if part]
    return bool(parts) and words.issuperset(parts)


Keywords = Mapping[str, Iterable[str]] | Iterable[str]


class ContextScorer:
    """Scores prior sessions against what the new one is about. Pure."""

    @staticmethod
    def score(session: SessionState | IndexEntry, current_context: Keywords, hours_elapsed: float) -> float:
        """The relevance of one session, between 0 and 1. `current_context` is `{"keywords": […]}` or the keywords."""
        return factors(session.hot_topics, task_count(session), _keywords(current_context), hours_elapsed).score

    @staticmethod
    def score_all(
        sessions: Iterable[SessionState | IndexEntry],
        current_context: Keywords,
        threshold: float = DEFAULT_THRESHOLD,
        *,
        limit: int | None = MOST_CONTRIBUTORS,
        now: datetime | None = None,
    ) -> list[ScoredSession]:
        """The sessions that qualify, best first (ties: latest end), at most `limit` of them (None: all)."""
        moment, keywords = now or system_clock(), _keywords(current_context)
        found = []
        for session in sessions:
            if session.end_time is None:
                continue
            hours = hours_between(parse_time(session.end_time), moment)
            score = factors(session.hot_topics, task_count(session), keywords, hours).score
            if qualifies(score, threshold):
                found.append(ScoredSession(session, score, hours))
        found.sort(key=lambda one: (one.score, one.session.end_time, one.session.session_id), reverse=True)
        return found[:limit]


def task_count(session: Any) -> int:
    """How many tasks a session left open; the index keeps only the number."""
    count = getattr(session, "pending_task_count", None)
    return len(session.pending_tasks) if count is None else int(count)


def _keywords(context: Keywords) -> frozenset[str]:
    return lowered(context.get("keywords", ()) if isinstance(context, Mapping) else context)


class DecayRate(NamedTuple):
    """How fast confidence fades: `loss` of it in `hours`, and never below `floor` of it."""

    floor: float = DEFAULT_FLOOR
    hours: float = WEEK_HOURS
    loss: float = LOSS_PER_WEEK

    @classmethod
    def of(cls, config: Config) -> DecayRate:
        """The rate the settings name."""
        return cls(config.decay_min_floor, config.decay_hours, config.decay_span)


def decay_factor(
    hours_elapsed: float, floor: float = DEFAULT_FLOOR, hours: float = WEEK_HOURS, loss: float = LOSS_PER_WEEK
) -> float:
    """How much of a confidence is left after so many hours; a clock that went back counts as no time at all."""
    return max(floor, 1.0 - max(0.0, hours_elapsed) / hours * loss)


class DecayEngine:
    """The decay of one memory. `floor` bounds the factor and is the line below which a memory is left behind."""

    @staticmethod
    def apply_decay(
        original_confidence: float, hours_elapsed: float, floor: float = DEFAULT_FLOOR, *, rate: DecayRate | None = None
    ) -> float:
        """The confidence a memory is inherited with; the original is not clamped and never changed."""
        return original_confidence * decay_factor(hours_elapsed, *(rate or DecayRate(floor)))

    @staticmethod
    def should_inherit(
        original_confidence: float, hours_elapsed: float, floor: float = DEFAULT_FLOOR, *, rate: DecayRate | None = None
    ) -> bool:
        """Whether the decayed confidence is still at or above the floor."""
        lowest = rate.floor if rate else floor
        return DecayEngine.apply_decay(original_confidence, hours_elapsed, floor, rate=rate) >= lowest - TOLERANCE
