"""`SessionState = fold(events)`: pure, layered by writer, the same from any full state on."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.store.fold import SessionFold, fold_events
from jsonlstore.store.log import Event, LocatedEvent, parse_event

if TYPE_CHECKING:
    from jsonlstore.core.model import SessionState

AT = "2026-02-18T12:00:{:02d}.000Z"


def event(seq: int, kind: str, by: str = "hook", **data: Any) -> Event:
    return Event(seq, AT.format(seq % 60), kind, by, data)


def started(**fields: Any) -> Event:
    return event(1, "session.started", session_id="s", schema_version=1, fields={"start_time": AT.format(0), **fields})


def updated(seq: int, by: str = "hook", **fields: Any) -> Event:
    return event(seq, "state.updated", by, fields=fields)


def fold(events: list[Event]) -> SessionState:
    return fold_events("s", [LocatedEvent(one, 0) for one in events]).state()


def test_an_update_replaces_what_the_same_writer_said_and_nothing_else() -> None:
    state = fold([started(channel="cli"), updated(2, hot_topics=["a"]), updated(3, hot_topics=["b"], next_step="go")])
    assert (state.channel, state.hot_topics, state.next_step) == ("cli", ("b",), "go")


def test_decision_52_two_writers_neither_erases_the_other() -> None:
    state = fold(
        [
            started(channel="signal"),
            updated(2, "watcher", channel="telegram", hot_topics=["Radio", "hamlib"], next_step="from the transcript"),
            updated(3, "hook", hot_topics=["radio", "ft991a"], next_step="told"),
            updated(4, "watcher", hot_topics=["hamlib", "antenna"]),
        ]
    )
    assert state.channel == "signal"
    assert state.next_step == "told"
    assert state.hot_topics == ("radio", "ft991a", "hamlib", "antenna")


def test_decision_52_lists_are_deduplicated_by_what_makes_items_the_same() -> None:
    task = {"task_id": "task-1", "title": "told", "stage": "build", "flagged_incomplete": False}
    change = {"memory_id": "m", "old_score": 0.1, "new_score": 0.2}
    state = fold(
        [
            started(),
            updated(2, "hook", pending_tasks=[task], working_memory=[{"content": "c", "label": "radio"}]),
            updated(3, "watcher", pending_tasks=[{**task, "title": "read"}, {**task, "task_id": "task-2"}]),
            updated(4, "watcher", working_memory=[{"content": "d", "label": "radio [inherited from x @ y]"}]),
            updated(5, "watcher", confidence_updates=[change, {**change, "new_score": 0.3}]),
        ]
    )
    assert [(each.task_id, each.title) for each in state.pending_tasks] == [("task-1", "told"), ("task-2", "told")]
    assert [pin.content for pin in state.working_memory] == ["c"]
    assert [each.new_score for each in state.confidence_updates] == [0.2, 0.3], "one memory may change twice"


def test_decision_47_what_was_known_live_is_never_downgraded() -> None:
    state = fold(
        [
            started(),
            updated(2, "watcher", channel="telegram", session_key="agent:main:main"),
            updated(3, "watcher", channel="unknown", session_key=None, agent_id=""),
        ]
    )
    assert (state.channel, state.session_key) == ("telegram", "agent:main:main")


def test_decision_18_the_last_successor_wins_and_an_update_never_erases_it() -> None:
    folded = SessionFold()
    for each in (
        started(),
        event(2, "session.continued", session_id="b"),
        event(3, "session.continued", session_id="c"),
        updated(4, hot_topics=["x"], continued_by=None),
    ):
        folded.apply(each)
    assert folded.state().continued_by == "c"
    assert folded.continued == ["b", "c"]


def test_an_end_told_by_the_runtime_wins_over_one_inferred() -> None:
    told = event(2, "session.ended", end_time=AT.format(9), reason="new")
    inferred = event(3, "session.ended", "watcher", end_time=AT.format(5), reason="idle")
    for order in ([told, inferred], [inferred, told]):
        state = fold([started(), *order])
        assert (state.end_time, state.end_reason) == (AT.format(9), "new")


def test_waking_up_clears_the_end_and_keeps_the_links() -> None:
    state = fold(
        [
            started(previous_session_id="p"),
            event(2, "session.recovered", end_time=AT.format(5), reason="crash"),
            event(3, "session.continued", session_id="n"),
            event(4, "session.resumed"),
        ]
    )
    assert (state.end_time, state.end_reason, state.crash_recovered) == (None, None, False)
    assert (state.previous_session_id, state.continued_by) == ("p", "n")


def test_a_clean_end_after_a_mistaken_recovery_is_a_clean_end() -> None:
    recovered = event(2, "session.recovered", end_time=AT.format(5), reason="crash")
    assert fold([started(), recovered]).crash_recovered
    assert not fold(
        [started(), recovered, event(3, "session.ended", end_time=AT.format(9), reason="new")]
    ).crash_recovered


def test_nothing_of_a_forgotten_session_remains() -> None:
    folded = SessionFold()
    for each in (started(), updated(2, hot_topics=["private"]), event(3, "session.forgotten", session_id="s")):
        folded.apply(each)
    assert folded.forgotten
    assert "private" not in repr(vars(folded))


def test_unknown_types_pass_by_and_unknown_fields_stay() -> None:
    state = fold(
        [
            started(),
            event(2, "mood.noted", mood="good"),
            updated(3, mood="better", working_memory=[{"content": "c", "colour": "red"}]),
        ]
    )
    assert state.extra == {"mood": "better"}
    assert state.to_dict()["working_memory"] == [{"content": "c", "pinnedAt": "", "colour": "red"}]


def test_a_log_that_never_starts_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="never starts"):
        fold([])


writers = st.sampled_from(["hook", "watcher", "import", "operator", "someone"])
words = st.lists(st.sampled_from(["a", "B", "b", "c"]), max_size=4)
field_sets = st.fixed_dictionaries(
    {},
    optional={
        "hot_topics": words,
        "recent_learnings": words,
        "next_step": st.none() | st.sampled_from(["x", "y"]),
        "channel": st.sampled_from(["unknown", "cli"]),
        "pending_tasks": st.lists(
            st.fixed_dictionaries({"task_id": st.sampled_from("pq"), "title": st.text(max_size=3)}), max_size=3
        ),
        "odd": st.integers(-(2**63), 2**63 - 1),
    },
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("state.updated"), writers, field_sets.map(lambda fields: {"fields": fields})),
        st.tuples(st.just("session.ended"), writers, st.just({"end_time": AT.format(30), "reason": "new"})),
        st.tuples(st.just("session.recovered"), writers, st.just({"end_time": AT.format(31), "reason": "crash"})),
        st.tuples(st.just("session.resumed"), writers, st.just({})),
        st.tuples(st.just("session.continued"), writers, st.sampled_from("mn").map(lambda to: {"session_id": to})),
        st.tuples(st.just("session.inherited"), writers, st.just({"from": []})),
        st.tuples(
            st.just("pattern.noted"),
            writers,
            st.sampled_from("ij").map(lambda i: {"note": {"id": i, "type": "insight", "content": "c"}}),
        ),
        st.tuples(st.text(max_size=5), writers, st.dictionaries(st.text(max_size=3), st.integers(0, 99))),
    ),
    max_size=12,
)


def build(script: list[tuple[str, str, dict[str, Any]]]) -> list[Event]:
    return [started()] + [Event(n, AT.format(n), kind, by, data) for n, (kind, by, data) in enumerate(script, 2)]


def total(events: list[Event]) -> dict[str, Any]:
    folded = SessionFold()
    for each in events:
        folded.apply(each)
    return {name: value for name, value in vars(folded).items() if name != "seq"} | {"state": folded.to_dict()}


@given(steps, st.data())
def test_folding_on_from_a_full_state_gives_the_same_as_folding_from_the_start(
    script: list[tuple[str, str, dict[str, Any]]], data: st.DataObject
) -> None:
    events = build(script)
    cut = data.draw(st.integers(1, len(events)))
    folded = SessionFold()
    for each in events[:cut]:
        folded.apply(each)
    snapshot = Event(cut, AT.format(40), "state.snapshot", "hook", folded.full_state())
    read = parse_event(snapshot.to_line())
    assert read is not None
    assert total([read, *events[cut:]]) == total(events)


@given(steps)
def test_a_full_state_in_the_form_of_the_first_versions_is_read_too(
    script: list[tuple[str, str, dict[str, Any]]],
) -> None:
    """They wrote every layer whole."""
    folded = SessionFold()
    for each in build(script):
        folded.apply(each)
    carried = {key: value for key, value in folded.full_state().items() if key != "said"}
    again = SessionFold()
    again.apply(Event(1, AT.format(40), "state.snapshot", "hook", {**carried, "layers": folded.layers}))
    assert (again.layers, again.to_dict()) == (folded.layers, folded.to_dict())


@given(steps)
def test_reading_a_full_state_keeps_the_order_and_the_kind_of_every_value(
    script: list[tuple[str, str, dict[str, Any]]],
) -> None:
    """What is written of a session does not change because a process ended: no byte of its mirror, not 1 for True."""
    folded = SessionFold()
    for each in build(script):
        folded.apply(each)
    folded.apply(updated(20, "hook", odd=1, even=True))
    folded.apply(updated(21, "watcher", even=1, odd=1.0))
    read = parse_event(Event(9, AT.format(40), "state.snapshot", "hook", folded.full_state()).to_line())
    assert read is not None
    again = SessionFold()
    again.apply(read)
    assert orjson.dumps(again.to_dict()) == orjson.dumps(folded.to_dict())
    assert orjson.dumps(again.layers) == orjson.dumps(folded.layers)
    assert orjson.dumps(again.full_state()) == orjson.dumps(folded.full_state())


@given(steps)
def test_folding_changes_no_event_and_gives_the_same_twice(script: list[tuple[str, str, dict[str, Any]]]) -> None:
    events = build(script)
    before = copy.deepcopy(events)
    assert fold(events) == fold(events)
    assert events == before


@given(steps)
def test_a_copy_goes_its_own_way(script: list[tuple[str, str, dict[str, Any]]]) -> None:
    folded = SessionFold()
    folded.apply(started())
    frozen = folded.to_dict()
    twin = folded.copy()
    for each in build(script)[1:]:
        twin.apply(each)
    assert folded.to_dict() == frozen


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
kinds = st.sampled_from(
    ["session.started", "state.updated", "session.ended", "session.recovered", "state.snapshot", "pattern.noted",
     "session.continued", "session.resumed", "session.forgotten", "session.inherited"]
)  # fmt: skip
keys = st.sampled_from(
    ["fields", "state", "said", "layers", "ends", "continued", "source", "owner", "note", "session_id", "end_time"]
)


@given(st.lists(st.tuples(kinds, writers, st.dictionaries(keys, json_values, max_size=4)), max_size=6))
def test_events_of_any_shape_never_break_the_fold(script: list[tuple[str, str, dict[str, Any]]]) -> None:
    folded = SessionFold()
    for number, (kind, by, data) in enumerate(script, 1):
        folded.apply(Event(number, AT.format(number), kind, by, data))
    if folded.session_id is not None:
        folded.state()
