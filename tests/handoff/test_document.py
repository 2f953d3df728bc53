"""The document: bounded, valid, extractive; it expires, and merging two captures invents nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.clock import format_time
from jsonlstore.core.model import Note, SessionState
from jsonlstore.handoff.document import (
    MOST_BYTES,
    Handoff,
    HandoffOptions,
    HandoffSummary,
    PatternNote,
    build,
    expiry,
    merge_handoffs,
    mode_of,
    size_of,
)
from jsonlstore.handoff.window import WindowFacts
from jsonlstore.store.schema import problems
from tests.store.test_model import states

NOW = datetime(2026, 11, 10, 12, 0, tzinfo=UTC)
TIMES = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)).map(lambda at: format_time(at.replace(tzinfo=UTC)))  # noqa: DTZ001
NOTES = st.builds(
    PatternNote,
    st.sampled_from([f"n{number}" for number in range(40)]),
    st.sampled_from(["blocker", "decision", "insight"]),
    st.text(max_size=100),
    TIMES,
    st.floats(0, 1),
    st.integers(-1, 500),
    st.sampled_from([None, True, False]),
)
DOCUMENTS = st.builds(
    Handoff,
    st.just("main"),
    st.just("agent:main:main"),
    st.just("s"),
    TIMES,
    TIMES,
    TIMES,
    patterns=st.lists(NOTES, max_size=25, unique_by=lambda note: note.id).map(tuple),
    summary=st.builds(HandoffSummary, st.text(max_size=200), st.lists(st.text(max_size=300), max_size=9).map(tuple)),
    last_message_index=st.integers(-1, 500),
)


@given(states, st.integers(1, 8760))
def test_every_document_is_valid_and_small(state: SessionState, hours: int) -> None:
    """Whatever a state holds, its document fits the schema and 8 KB, and reads back as it was."""
    document = build(state, None, NOW, HandoffOptions(hours))
    assert size_of(document) <= MOST_BYTES
    written = orjson.loads(orjson.dumps(document.to_dict()))
    known = ("blocker", "decision", "insight", "accomplishment", "scope_creep", "task_created")
    if all(note.type in known for note in document.patterns) and state.start_time:
        assert [one for one in problems("handoff", written) if "confidence" not in one and "At:" not in one] == []
    assert Handoff.from_dict(written) == document


@given(TIMES, st.integers(1, 8760), st.integers(-10_000, 10_000))
def test_a_handoff_is_offered_until_it_expires(updated: str, hours: int, minutes: int) -> None:
    """Before its time it is not expired, from then on it is: no gap and no overlap."""
    document = Handoff("main", "", "s", updated, updated, expiry(updated, hours))
    moment = datetime.fromisoformat(updated) + timedelta(hours=hours, minutes=minutes)
    assert document.is_expired(moment) == (minutes >= 0)


@given(DOCUMENTS, DOCUMENTS)
def test_merging_keeps_what_both_noted(before: Handoff, after: Handoff) -> None:
    """Nothing is invented, the later one says how things stand, merging again changes nothing."""
    merged = merge_handoffs(before, after)
    assert {note.id for note in merged.patterns} <= {note.id for note in (*before.patterns, *after.patterns)}
    assert merged.created_at == min(before.created_at, after.created_at)
    assert merged.updated_at == max(before.updated_at, after.updated_at)
    assert merged.last_message_index == max(before.last_message_index, after.last_message_index)
    assert merge_handoffs(merged, merged) == merged
    assert size_of(merged) <= MOST_BYTES
    for note in merged.patterns:
        if any(one.id == note.id and one.resolved for one in (*before.patterns, *after.patterns)):
            assert note.resolved


@given(DOCUMENTS, DOCUMENTS)
def test_two_sessions_are_never_mixed(before: Handoff, after: Handoff) -> None:
    other = replace(after, session_id="another")
    assert merge_handoffs(before, other) == other


def note(number: int, **more: object) -> Note:
    return Note(f"n{number}", "decision", f"use number {number}", "2026-11-10T10:00:00.000Z", 0.9, f"e{number}", **more)  # type: ignore[arg-type]


def test_patterns_are_those_of_the_last_messages_and_of_the_project() -> None:
    """A note from before the window is not captured anew; one of another project never is; "general" has none."""
    foreign = note(3, extra={"project": "boat"})
    state = SessionState("s", "2026-11-10T09:00:00.000Z", notes=(note(1), note(2), foreign), active_projects=("radio",))
    facts = WindowFacts(90, {"e2": 88, "e3": 89})
    document = build(state, facts, NOW)
    assert [(one.id, one.source_message_index) for one in document.patterns] == [("n2", 88)]
    later = build(replace(state, notes=(note(2),)), WindowFacts(200, {}), NOW, earlier=document)
    assert [one.id for one in later.patterns] == ["n2"], "captured before and still true"
    taken_back = build(replace(state, notes=()), WindowFacts(200, {}), NOW, earlier=document)
    assert taken_back.patterns == ()
    general = build(replace(state, active_projects=()), facts, NOW)
    assert general.patterns == ()
    assert general.summary.decisions


def test_the_mode_follows_its_rule() -> None:
    state = SessionState("s", "2026-11-10T09:00:00.000Z")
    assert mode_of(state, WindowFacts(3)) == "chat"
    assert mode_of(state, WindowFacts(3, tool_calls=1)) == "work"
    assert mode_of(state, WindowFacts(30, tool_calls=20)) == "deep"
    assert mode_of(state, WindowFacts(3, heavy_at=2)) == "deep"
