"""The session model reads what others wrote and writes back what it did not know."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.model import (
    RESTORE_ONLY,
    ConfidenceUpdate,
    Note,
    PendingTask,
    SessionState,
    SOPInteraction,
    WorkingMemoryPin,
    strip_provenance,
)

text = st.text(max_size=20)
score = st.floats(0, 1)
extra = st.dictionaries(st.sampled_from(["x_one", "x_two"]), st.one_of(st.integers(), text, st.lists(text)), max_size=2)

pins = st.builds(WorkingMemoryPin, content=text, pinned_at=text, label=st.none() | text, extra=extra)
tasks = st.builds(PendingTask, task_id=text, title=text, stage=text, flagged_incomplete=st.booleans(), extra=extra)
updates = st.builds(ConfidenceUpdate, memory_id=text, old_score=score, new_score=score, reason=text, timestamp=text)
sops = st.builds(SOPInteraction, sop_path=text, injected_at=text, acknowledged=st.booleans(), tool_call=text)
notes = st.builds(
    Note, id=text, type=text, content=text, timestamp=text, confidence=score, resolved=st.none() | st.booleans()
)
several = {"max_size": 3}
states = st.builds(
    SessionState,
    session_id=st.just("s1"),
    start_time=st.just("2026-02-18T12:00:00.000Z"),
    end_time=st.none() | st.just("2026-02-18T13:00:00.000Z"),
    channel=text,
    working_memory=st.lists(pins, **several).map(tuple),
    hot_topics=st.lists(text, **several).map(tuple),
    pending_tasks=st.lists(tasks, **several).map(tuple),
    confidence_updates=st.lists(updates, **several).map(tuple),
    sop_interactions=st.lists(sops, **several).map(tuple),
    notes=st.lists(notes, **several).map(tuple),
    previous_session_id=st.none() | st.just("s0"),
    crash_recovered=st.booleans(),
    extra=extra,
)


@given(states)
def test_a_state_survives_writing_and_reading(state: SessionState) -> None:
    assert SessionState.from_dict(state.to_dict()) == state


def test_a_state_has_every_key_of_the_specification() -> None:
    """cortex-api 3.1, in its order; what is computed on restore is never stored."""
    stored = SessionState("s", "t", relevance_score=0.5, inherited_at="t").to_dict()
    assert list(stored)[:15] == [
        "session_id", "start_time", "end_time", "channel", "working_memory", "hot_topics", "active_projects",
        "pending_tasks", "recent_learnings", "confidence_updates", "sop_interactions", "previous_session_id",
        "continued_by", "crash_recovered", "schema_version",
    ]  # fmt: skip
    assert not set(RESTORE_ONLY) & set(stored)


def test_what_is_stored_of_a_restore_is_not_read_back() -> None:
    raw = {**SessionState("s", "t").to_dict(), "relevance_score": 0.9}
    assert SessionState.from_dict(raw).relevance_score is None


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({}, "content"),
        ({"content": 1}, "content"),
        ({"content": "x", "label": 5}, "label"),
        ([], "object"),
    ],
)
def test_a_part_of_the_wrong_shape_names_the_field(raw: Any, field: str) -> None:
    with pytest.raises(ValueError, match=field):
        WorkingMemoryPin.from_dict(raw)


def test_numbers_are_not_booleans() -> None:
    with pytest.raises(ValueError, match="flagged_incomplete"):
        PendingTask.from_dict({"task_id": "t", "flagged_incomplete": 1})
    with pytest.raises(ValueError, match="new_score"):
        ConfidenceUpdate.from_dict({"memory_id": "m", "old_score": 1, "new_score": True})


@pytest.mark.parametrize(
    ("pin", "critical"),
    [
        ({"content": "plain"}, False),
        ({"content": "CRITICAL: never force-push"}, True),
        ({"content": "x", "label": "[CRITICAL] deploy"}, True),
        ({"content": "x", "importance": "critical"}, True),
        ({"content": "x", "importance": ["CRITICAL"]}, False),
        ({"content": "an uncritical look at CRITICALITY"}, False),
    ],
)
def test_decision_11_what_makes_a_pin_critical(pin: dict[str, Any], critical: bool) -> None:
    assert WorkingMemoryPin.from_dict(pin).critical is critical


@given(
    st.text(alphabet="abc [", max_size=8),
    st.lists(st.tuples(st.text("ab-1", max_size=5), st.text("0-9T:.Z", max_size=8)), max_size=3),
)
def test_decision_13_provenance_never_nests(label: str, origins: list[tuple[str, str]]) -> None:
    suffixed = label.rstrip() + "".join(f" [inherited from {who} @ {when}]" for who, when in origins)
    assert strip_provenance(suffixed) == (label.rstrip() if origins else suffixed)


def test_pins_are_the_same_by_label_else_by_content() -> None:
    inherited = WorkingMemoryPin("new words", label="radio [inherited from a @ 2026]")
    assert inherited.key == WorkingMemoryPin("old words", label="radio").key
    assert WorkingMemoryPin("same").key == WorkingMemoryPin("same", pinned_at="later").key
    assert WorkingMemoryPin("radio").key != WorkingMemoryPin("x", label="radio").key
