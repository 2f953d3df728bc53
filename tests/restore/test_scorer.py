"""FR-006, AC-004: the relevance of prior sessions, exact at every boundary."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from heapq import nlargest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.clock import format_time
from jsonlstore.core.config import Config
from jsonlstore.core.model import PendingTask, SessionState
from jsonlstore.restore.score import (
    PENDING_WEIGHT,
    RECENCY_WEIGHT,
    TOPIC_WEIGHT,
    ContextScorer,
    factors,
    pending_weight,
    qualifies,
    recency,
)
from jsonlstore.restore.select import MOST_LOGS_READ, Prior, can_qualify, common_topics, score_priors

NOW = datetime(2026, 11, 12, tzinfo=UTC)
words = st.sampled_from(["cortex", "Session", "radio", "FT991a", "brain.db", "hooks", "pipeline"])
hours = st.floats(-100, 1000)


def session(tasks: int = 0, topics: tuple[str, ...] = (), ago: float = 0, session_id: str = "s") -> SessionState:
    return SessionState(
        session_id,
        format_time(NOW - timedelta(hours=ago + 1)),
        format_time(NOW - timedelta(hours=ago)),
        hot_topics=topics,
        pending_tasks=tuple(PendingTask(f"task-{n}") for n in range(tasks)),
    )


def test_decision_4_the_debug_sample_has_the_right_number() -> None:
    assert recency(48) == pytest.approx(0.714, abs=5e-4)


def test_fr_006_the_weights_are_the_published_ones() -> None:
    """The one place in the tests that has the weights in figures; every other expectation is computed from them."""
    assert (RECENCY_WEIGHT, TOPIC_WEIGHT, PENDING_WEIGHT) == (0.4, 0.35, 0.25)


def test_fr_006_score_composition() -> None:
    score = ContextScorer.score(session(2, ("a", "b", "c")), {"keywords": ["A", "x"]}, 48)
    parts = ((1 - 48 / 168, RECENCY_WEIGHT), (1 / 4, TOPIC_WEIGHT), (0.5, PENDING_WEIGHT))
    assert score == pytest.approx(sum(part * weight for part, weight in parts))


def test_decision_4_four_tasks_after_a_week_are_exactly_on_a_threshold_of_their_weight() -> None:
    score = ContextScorer.score(session(4), {"keywords": []}, 168)
    assert score == pytest.approx(PENDING_WEIGHT)
    assert qualifies(score, PENDING_WEIGHT)
    assert not qualifies(score, PENDING_WEIGHT + 1e-6)


def test_api_14_1_score_at_least_a_quarter_with_four_tasks_at_160_hours() -> None:
    assert ContextScorer.score(session(4), {"keywords": []}, 160) >= 0.25


def test_api_14_1_nothing_at_168_hours_is_below() -> None:
    assert not qualifies(ContextScorer.score(session(), {"keywords": []}, 168))


def test_ac_004_three_tasks_weigh_enough_on_their_own() -> None:
    assert pending_weight(3) >= 0.25
    assert pending_weight(5) == 1.0


def test_decision_3_overlap_is_jaccard_case_insensitive_and_zero_when_both_are_empty() -> None:
    assert factors((), 0, frozenset(), 0).topic_overlap == 0
    assert factors(("Cortex", "radio"), 0, frozenset({"cortex", "hooks"}), 0).topic_overlap == pytest.approx(1 / 3)


@given(st.lists(words), st.lists(words), hours, st.integers(0, 50))
def test_a_score_is_the_weighted_sum_and_stays_between_0_and_1(
    topics: list[str], current: list[str], elapsed: float, tasks: int
) -> None:
    score = ContextScorer.score(session(tasks, tuple(topics)), {"keywords": current}, elapsed)
    one, other = {t.lower() for t in topics}, {k.lower() for k in current}
    overlap = len(one & other) / len(one | other) if one | other else 0
    parts = (
        (min(1, max(0, 1 - elapsed / 168)), RECENCY_WEIGHT),
        (overlap, TOPIC_WEIGHT),
        (min(1, tasks * 0.25), PENDING_WEIGHT),
    )
    assert score == pytest.approx(sum(part * weight for part, weight in parts))
    assert 0 <= score <= 1


@given(hours, hours, st.integers(0, 9), st.integers(0, 9))
def test_older_never_scores_higher_and_more_tasks_never_lower(one: float, other: float, few: int, many: int) -> None:
    old, young = max(one, other), min(one, other)
    low, high = min(few, many), max(few, many)
    assert ContextScorer.score(session(low), (), old) <= ContextScorer.score(session(low), (), young)
    assert ContextScorer.score(session(low), (), old) <= ContextScorer.score(session(high), (), old)


def test_ac_004_at_most_three_come_back_best_first_ties_by_latest_end() -> None:
    prior = [session(ago=ago, session_id=f"s{ago}") for ago in (30, 1, 20, 10)]
    found = ContextScorer.score_all(prior, {"keywords": []}, now=NOW)
    assert [one.session.session_id for one in found] == ["s1", "s10", "s20"]
    assert len(ContextScorer.score_all(prior, (), limit=None, now=NOW)) == 4
    old = [session(4, ago=ago, session_id=f"t{ago}") for ago in (300, 200)]
    assert [one.session.session_id for one in ContextScorer.score_all(old, (), now=NOW)] == ["t200", "t300"]


def test_ac_004_below_the_threshold_is_left_out() -> None:
    assert ContextScorer.score_all([session(ago=100)], (), now=NOW) == []
    assert ContextScorer.score_all([session(ago=100)], (), 0.1, now=NOW)


def test_decision_47_a_topic_of_nearly_every_session_says_nothing() -> None:
    shared = [("openclaw", f"topic{n}") for n in range(12)]
    assert common_topics(shared) == {"openclaw"}
    assert common_topics(shared[:5]) == frozenset()


TOPICS = st.lists(
    st.sampled_from(["Radio", "ham radio", "ham-radio", "cat", "-", "ÄRGER", "rig_control", "x"]), max_size=4
)


@given(
    st.lists(st.tuples(TOPICS, st.integers(0, 5), st.integers(0, 200), st.booleans()), max_size=40),
    st.frozensets(st.sampled_from(["radio", "ham", "cat", "ärger", "rig", "control"])),
)
def test_looking_only_at_what_may_win_changes_no_score(
    sessions: list[tuple[list[str], int, int, bool]], words: frozenset[str]
) -> None:
    """Leaving out early what cannot come back gives the best, and the critical, as scoring everybody would."""
    entries = {
        f"s{number}": {
            "hot_topics": topics,
            "pending_task_count": tasks,
            "end_time": format_time(NOW - timedelta(hours=hours)),
            "critical": critical,
        }
        for number, (topics, tasks, hours, critical) in enumerate(sessions)
    }
    worth = can_qualify(Config())
    everybody = score_priors(entries, words, NOW)
    found = score_priors(entries, words, NOW, worth)

    def best(priors: list[Prior]) -> list[Prior]:
        return nlargest(MOST_LOGS_READ, (one for one in priors if worth(one.score, one.tasks)))

    def critical(priors: list[Prior]) -> list[Prior]:
        return sorted(one for one in priors if entries[one.session_id]["critical"])

    assert best(found) == best(everybody)
    assert critical(found) == critical(everybody)
    assert set(found) <= set(everybody)


def test_of_many_sessions_that_only_age_tells_apart_few_are_scored() -> None:
    entries = {f"s{number}": {"end_time": format_time(NOW - timedelta(minutes=number))} for number in range(500)}
    found = score_priors(entries, frozenset({"radio"}), NOW, can_qualify(Config()))
    assert sorted(one.session_id for one in found) == sorted(f"s{number}" for number in range(MOST_LOGS_READ))


def test_a_topic_of_several_words_counts_when_all_of_them_were_said() -> None:
    entry = {"hot_topics": ["Ham Radio", "-"], "end_time": format_time(NOW)}

    def overlap(*words: str) -> float:
        return score_priors({"a": entry}, frozenset(words), NOW)[0].factors.topic_overlap

    assert overlap("ham", "radio") == pytest.approx(1 / 4)
    assert overlap("ham") == overlap() == 0.0
