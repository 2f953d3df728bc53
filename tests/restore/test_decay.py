"""FR-004, AC-003: confidence decays by the formula, never below the factor's floor, and the original is untouched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.restore.score import DecayEngine, decay_factor

hours = st.floats(0, 10_000)
confidences = st.floats(0, 1)
floors = st.floats(0.1, 0.9)


@pytest.mark.parametrize(
    ("elapsed", "factor"),
    [
        (0, 1.0),
        (24, 0.943),
        (48, 0.886),
        (72, 0.829),
        (120, 0.714),
        (168, 0.600),
        (200, 0.524),
        (294, 0.3),
        (1000, 0.3),
    ],
)
def test_decision_1_table(elapsed: float, factor: float) -> None:
    assert decay_factor(elapsed) == pytest.approx(factor, abs=5e-4)
    assert DecayEngine.apply_decay(0.8, elapsed) == pytest.approx(0.8 * factor, abs=5e-4)


def test_fr_004_no_time_is_no_decay() -> None:
    assert DecayEngine.apply_decay(1.0, 0) == 1.0


def test_decision_1_the_floor_is_reached_at_294_hours() -> None:
    assert decay_factor(293.9) > 0.3
    assert decay_factor(294) == pytest.approx(0.3)
    assert decay_factor(294.1) == 0.3


@given(confidences, st.floats(-10_000, 0))
def test_decision_1_a_clock_that_went_back_counts_as_no_time(confidence: float, elapsed: float) -> None:
    assert DecayEngine.apply_decay(confidence, elapsed) == confidence


@given(st.floats(-5, 5), hours)
def test_decision_1_the_input_is_not_clamped(confidence: float, elapsed: float) -> None:
    assert DecayEngine.apply_decay(confidence, elapsed) == confidence * decay_factor(elapsed)


@given(hours, floors)
def test_the_factor_stays_between_floor_and_one(elapsed: float, floor: float) -> None:
    assert floor <= decay_factor(elapsed, floor) <= 1.0


@given(hours, hours, floors)
def test_more_time_never_means_more_confidence(one: float, other: float, floor: float) -> None:
    assert decay_factor(min(one, other), floor) >= decay_factor(max(one, other), floor)


@given(confidences, hours, floors)
def test_decision_2_a_memory_stays_iff_it_is_at_or_above_the_floor(
    confidence: float, elapsed: float, floor: float
) -> None:
    decayed = DecayEngine.apply_decay(confidence, elapsed, floor)
    if decayed >= floor:
        assert DecayEngine.should_inherit(confidence, elapsed, floor)
    if decayed < floor - 1e-6:
        assert not DecayEngine.should_inherit(confidence, elapsed, floor)


def test_decision_2_exactly_at_the_floor_stays_and_is_not_lifted() -> None:
    assert DecayEngine.should_inherit(0.5, 168)
    assert DecayEngine.should_inherit(1.0, 100_000)
    assert not DecayEngine.should_inherit(0.3, 200)
    assert DecayEngine.apply_decay(0.3, 100_000) == pytest.approx(0.09)
