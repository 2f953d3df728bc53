"""The document: bounded, valid, extractive; it expires, and merging two captures invents nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.clock import format_time
from jsonlstore.core.model import Note, SessionState
from jsonlstore.handoff.builder import HandoffOptions, build, expiry, mode_of
from jsonlstore.handoff.document import MOST_BYTES, Handoff, as_file, size_of
from jsonlstore.handoff.window import WindowFacts
from jsonlstore.store.schema import problems
from tests.store.test_model import states

NOW = datetime(2026, 11, 10, 12, 0, tzinfo=UTC)
TIMES = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)).map(lambda at: format_time(at.replace(tzinfo=UTC)))  # noqa: DTZ001


@given(states, st.integers(1, 8760))
def test_every_document_is_valid_and_small(state: SessionState, hours: int) -> None:
    """Whatever a state holds, its document fits the schema and 8 KB, and reads back as it was."""
    document = build(state, None, NOW, HandoffOptions(hours))
    assert size_of(document) <= MOST_BYTES
    written = orjson.loads(orjson.dumps(document.to_dict()))
    assert len(as_file(written)) <= MOST_BYTES, "as it is written, for people to read"
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


@given(states, states, st.dictionaries(st.sampled_from([f"e{n}" for n in range(9)]), st.integers(0, 99)))
def test_a_later_capture_is_merged_with_an_earlier_one(
    before: SessionState, after: SessionState, seen: dict[str, int]
) -> None:
    """Nothing is invented or said that the state took back, what was noted is kept, capturing again changes nothing."""
    options = HandoffOptions(project="radio")
    earlier = build(before, WindowFacts(99, seen), NOW, options, transcript_hash="a" * 64)
    merged = build(after, None, NOW + timedelta(hours=1), options, earlier)
    assert {one.id for one in merged.patterns} <= {one.id for one in after.notes}
    assert merged.created_at == earlier.created_at
    assert (merged.last_message_index, merged.transcript_hash) == (99, "a" * 64)
    indexes = {one.id: one.source_message_index for one in earlier.patterns}
    for one in merged.patterns:
        assert one.source_message_index == indexes.get(one.id, -1)
    assert merged.summary == build(after, None, NOW, options).summary
    assert size_of(merged) <= MOST_BYTES
    assert build(after, None, NOW + timedelta(hours=2), options, merged) == merged
    again = build(before, WindowFacts(99, seen), NOW, options, earlier, "a" * 64)
    assert again == earlier


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
