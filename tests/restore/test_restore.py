"""FR-002, 006-010, 013: what comes back, what does not, and why. Everything on real files, at a time of its own."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from jsonlstore.restore.result import RestoreRequest
from jsonlstore.restore.score import PENDING_WEIGHT, RECENCY_WEIGHT, TOPIC_WEIGHT
from tests.home import Home, task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Brain:
    """Confidences as a brain.db would have them; it only ever answers."""

    def __init__(self, **known: float) -> None:
        self._known = known

    def confidences(self, ids: Sequence[str]) -> Mapping[str, float]:
        return {name: self._known[name] for name in ids if name in self._known}


def two_days_later(home: Home) -> None:
    """Session A pins three items and leaves task-017 in stage build; it ends, and 48 hours pass."""
    home.pipeline({"task_id": "task-017", "title": "Add CAT control", "status": "active", "current_stage": "build"})
    manager = home.manager()
    manager.on_session_start("session-a", "cli")
    home.pin(
        {"content": "38400 baud", "label": "ft991a"}, {"content": "UTC only", "label": "times"}, {"content": "plain"}
    )
    manager.update_session_state(
        hot_topics=["ham radio", "ft991a"], active_projects=["lbf-ham-radio"], recent_learnings=["mem-1"]
    )
    home.later(hours=1)
    manager.on_session_end("session-a", reason="new")
    home.later(hours=48)
    home.pin_file.unlink()


def test_issue_must_show_round_trip_after_48_hours(home: Home) -> None:
    two_days_later(home)
    context = home.manager().on_session_start("session-b", "cli")
    mark = "[inherited from session-a @ 2026-11-10T11:00:00.000Z]"
    assert [pin["label"] for pin in home.pinned()] == [f"ft991a {mark}", f"times {mark}", mark]
    assert [pin.label for pin in context.inherited_pins] == [pin["label"] for pin in home.pinned()]
    assert context.preamble is not None
    assert '- [task-017] "Add CAT control" (last stage: build, 2d ago)' in context.preamble
    assert "ACTIVE PROJECTS: lbf-ham-radio" in context.preamble
    assert "HOT TOPICS: ham radio, ft991a" in context.preamble
    assert context.pending_task_count == 1
    assert round(context.memories[0].confidence, 3) == 0.886
    assert context.session_ids == ("session-a",)
    assert context.relevance_scores == (pytest.approx(RECENCY_WEIGHT * (1 - 48 / 168) + PENDING_WEIGHT * 0.25),)


def test_nfr_004_decision_58_starting_again_adds_nothing(home: Home) -> None:
    two_days_later(home)
    home.manager().on_session_start("session-b", "cli")
    before = home.files()
    again = home.manager().on_session_start("session-b", "cli")
    assert again.already_restored
    assert again.preamble is None
    assert home.files() == before


def test_decision_58_again_says_it_once_more_without_adding(home: Home) -> None:
    two_days_later(home)
    first = home.manager().on_session_start("session-b", "cli")
    pinned, links = home.pinned(), home.store.folded("session-a").continued
    again = home.manager().on_session_start("session-b", "cli", again=True)
    assert again.preamble == first.preamble
    assert len(again.inherited_pins) == 3
    assert home.pinned() == pinned
    assert home.store.folded("session-a").continued == links == ["session-b"]


def test_decision_58_again_writes_nothing_when_there_is_nothing_new(home: Home) -> None:
    home.past("a", hot_topics=["radio"], pending_tasks=[task(1)], working_memory=[{"content": "c", "label": "p"}])
    home.manager().on_session_start("b", "cli")
    before = home.files()
    home.later(minutes=1)
    assert home.manager().on_session_start("b", "cli", again=True).session_ids == ("a",)
    assert home.files() == before


def test_decision_58_again_records_what_is_new(home: Home) -> None:
    home.past("a", hot_topics=["radio"], pending_tasks=[task(1)])
    home.manager().on_session_start("c", "cli")
    home.past("b", pending_tasks=[task(2)])
    assert home.manager().on_session_start("c", "cli", again=True).session_ids == ("b", "a")
    assert home.store.get("b").continued_by == "c"
    assert [one["from_session_ids"] for one in home.metrics("session_restored")] == [["a"], ["b", "a"]]


def test_ac_002_ac_009_a_cold_start_is_silent(home: Home) -> None:
    context = home.manager().on_session_start("first", "cli")
    assert context.cold
    assert context.preamble is None
    assert context.error is None
    assert home.metrics() == []
    assert not home.pin_file.exists()
    assert home.manager().on_session_start("first", "cli").already_restored


def test_ac_006_a_task_finished_in_between_is_not_surfaced(home: Home) -> None:
    two_days_later(home)
    home.pipeline(completed=({"task_id": "task-017", "status": "completed"},))
    context = home.manager().on_session_start("session-b", "cli")
    assert context.pending_task_count == 0
    assert "task-017" not in (context.preamble or "")


@pytest.mark.parametrize(
    ("state", "kept"),
    [
        ({"task_id": "task-017", "current_stage": "done"}, False),
        ({"task_id": "task-017", "current_stage": "build", "status": "killed"}, False),
        ({"task_id": "task-099", "current_stage": "build"}, False),
        ({"task_id": "task-017", "current_stage": "test"}, True),
    ],
)
def test_decision_25_a_pipeline_task_that_is_done_or_gone_is_dropped(
    home: Home, state: dict[str, str], kept: bool
) -> None:
    two_days_later(home)
    home.pipeline(state)
    assert home.manager().on_session_start("session-b", "cli").pending_task_count == int(kept)


def test_decision_23_25_text_tasks_stay_and_a_broken_pipeline_keeps_everything(home: Home) -> None:
    home.past("a", pending_tasks=[task(1, flagged_incomplete=True), task(2)])
    home.pipeline()
    assert home.manager().preview(RestoreRequest("b", "cli")).pending_task_count == 1
    (home.path / "workspace/pipeline/state.json").write_text("{broken")
    assert home.manager().preview(RestoreRequest("b", "cli")).pending_task_count == 2


def test_fr_011_a_fourteen_day_old_session_comes_back_only_by_continue(home: Home) -> None:
    home.past(
        "old", pending_tasks=[task(n) for n in range(4)], working_memory=[{"content": "c", "label": "CRITICAL x"}]
    )
    home.later(days=14)
    assert home.manager().on_session_start("new", "cli").cold
    context = home.manager().force_inherit_session("old", into="new", agent="main")
    assert len(context.inherited_pins) == 1
    assert context.pending_task_count == 4


def test_fr_006_decision_5_three_open_tasks_win_over_age(home: Home) -> None:
    home.past("a", pending_tasks=[task(1), task(2), task(3)], working_memory=[{"content": "c", "label": "p"}])
    home.later(hours=167)
    manager = home.manager()
    context = manager.preview(RestoreRequest("b", "cli"))
    assert context.relevance_scores[0] < 0.25
    assert context.pending_task_count == 3
    assert "pending_task_override" in context.candidates[0].reason
    assert context.inherited_pins == (), "pins still want their threshold"
    assert home.manager(pending_task_override=0).preview(RestoreRequest("b", "cli")).cold
    home.pipeline({"task_id": "task-001", "current_stage": "build"}, {"task_id": "task-002", "current_stage": "build"})
    closed = manager.preview(RestoreRequest("b", "cli"))
    assert closed.cold
    assert "not reached" in closed.candidates[0].reason


def test_decision_8_lookback_is_by_end_time(home: Home) -> None:
    home.past("long", minutes=60 * 24 * 9, hot_topics=["radio"])
    home.later(hours=1)
    assert home.manager().preview(RestoreRequest("b", "cli")).session_ids == ("long",)


def test_decision_9_beyond_a_week_only_topics_and_tasks_count(home: Home) -> None:
    home.past("a", hot_topics=["radio"], pending_tasks=[task(1)])
    home.later(days=10)
    manager = home.manager(lookback_days=30)
    assert manager.preview(RestoreRequest("b", "cli")).cold
    context = manager.preview(RestoreRequest("b", "cli", prompt="radio"))
    assert context.candidates[0].recency == 0
    assert context.relevance_scores == (pytest.approx(TOPIC_WEIGHT + PENDING_WEIGHT * 0.25),)


def test_decision_7_keywords_come_from_pins_cwd_and_prompt(home: Home) -> None:
    home.past("a", hot_topics=["soldering"])
    home.past("b", hot_topics=["lbf-ham-radio"])
    overlap = {
        one.session_id: one.topic_overlap for one in home.manager().preview(RestoreRequest("x", "cli")).candidates
    }
    assert overlap == {"a": 0, "b": 0}
    home.pin({"content": "x", "label": "Soldering station [inherited from a @ 2026-11-10T10:00:00.000Z]"})
    request = RestoreRequest("x", "cli", cwd="/home/user/Projects/lbf-ham-radio/src")
    overlap = {one.session_id: one.topic_overlap for one in home.manager().preview(request).candidates}
    assert overlap["a"] > 0
    assert overlap["b"] > 0


def test_ac_004_at_most_three_sessions_contribute(home: Home) -> None:
    for number in range(6):
        home.past(f"s{number}", hot_topics=[f"topic{number}"])
    context = home.manager().on_session_start("new", "cli")
    assert context.session_ids == ("s5", "s4", "s3")
    assert "inherited from 3 prior session(s)" in (context.preamble or "")
    assert [home.store.get(f"s{n}").continued_by for n in range(6)] == [None, None, None, "new", "new", "new"]


def test_a_session_with_nothing_to_give_takes_no_place(home: Home) -> None:
    home.past("full", hot_topics=["radio"])
    for number in range(4):
        home.past(f"empty{number}")
    assert home.manager().preview(RestoreRequest("new", "cli")).session_ids == ("full",)


def test_ac_005_critical_pins_come_back_from_any_session_within_their_days(home: Home) -> None:
    home.past(
        "a", working_memory=[{"content": "never transmit", "label": "CRITICAL rule"}, {"content": "x", "label": "y"}]
    )
    home.later(days=6)
    context = home.manager().on_session_start("b", "cli")
    assert [pin.content for pin in context.inherited_pins] == ["never transmit"]
    assert context.session_ids == ("a",)
    assert "1 pins inherited" in (context.preamble or "")
    home.later(days=2)
    home.pin_file.unlink()
    assert home.manager().on_session_start("c", "cli").inherited_pins == ()


def test_decision_10_12_critical_first_and_both_caps_hold(home: Home) -> None:
    many = [{"content": f"c{n}", "label": f"plain {n}"} for n in range(6)]
    home.past("a", working_memory=[*many, {"content": "vital", "label": "CRITICAL"}])
    empty = home.manager().preview(RestoreRequest("b", "cli")).inherited_pins
    assert [pin.content for pin in empty] == ["vital", "c0", "c1", "c2", "c3"]
    home.pin(*({"content": "own", "label": f"own {n}"} for n in range(8)))
    context = home.manager().on_session_start("b", "cli")
    assert [pin.content for pin in context.inherited_pins] == ["vital", "c0"]
    assert len(home.pinned()) == 10


def test_decision_6_pin_threshold(home: Home) -> None:
    home.past("a", working_memory=[{"content": "c", "label": "p"}])
    home.later(hours=24)
    assert home.manager().preview(RestoreRequest("b", "cli")).inherited_pins
    assert not home.manager(pin_relevance_threshold=0.4).preview(RestoreRequest("b", "cli")).inherited_pins


def test_issue_6_memories_decay_by_their_session_and_the_original_is_untouched(home: Home) -> None:
    home.past("a", recent_learnings=["m1", "m2", "m3"], hot_topics=["t"])
    home.later(hours=48)
    brain = Brain(m1=0.5, m2=0.3)
    context = home.manager(memories=brain).on_session_start("b", "cli")
    found = {one.memory_id: one for one in context.memories}
    assert round(found["m1"].confidence, 3) == 0.443
    assert found["m2"].excluded
    assert found["m3"].original_confidence == 1.0
    assert round(found["m3"].confidence, 3) == 0.886
    assert brain.confidences(["m1", "m2"]) == {"m1": 0.5, "m2": 0.3}
    logged = home.metrics("confidence_decay_applied")
    assert [(one["memory_id"], one["excluded"]) for one in logged] == [("m1", False), ("m2", True), ("m3", False)]


def test_fr_013_metrics_of_a_restore(home: Home) -> None:
    two_days_later(home)
    home.manager().on_session_start("session-b", "cli")
    captured = home.metrics("session_captured")[0]
    assert (captured["pin_count"], captured["task_count"], captured["duration_minutes"]) == (3, 1, 60)
    assert captured["crash_recovered"] is False
    restored = home.metrics("session_restored")[0]
    assert restored["from_session_ids"] == ["session-a"]
    assert restored["pins_inherited"] == 3
    assert restored["cold_start"] is False
    surfaced = home.metrics("pending_task_surfaced")[0]
    assert (surfaced["task_id"], surfaced["stage"], surfaced["days_pending"], surfaced["source"]) == (
        "task-017", "build", 2.0, "pipeline_state",
    )  # fmt: skip
    assert home.store.metrics.verify().ok


def test_fr_009_ac_007_the_chain_is_linked_both_ways(home: Home) -> None:
    for number in range(4):
        home.manager().on_session_start(f"s{number}", "cli")
        home.later(hours=1)
        home.manager().on_session_end(f"s{number}", hot_topics=["radio"])
        home.later(hours=1)
    chain = home.manager().get_session_chain("s3", 3)
    assert [state.session_id for state in chain] == ["s1", "s2", "s3"]
    assert chain[0].continued_by == "s3", "the last writer wins"
    logged = home.metrics("session_chain_traversal")[0]
    assert (logged["requested_depth"], logged["sessions_found"]) == (3, 3)


def test_decision_17_previous_is_set_even_if_nothing_qualifies(home: Home) -> None:
    home.past("old")
    home.later(days=60)
    home.manager().on_session_start("new", "cli")
    assert home.store.get("new").previous_session_id == "old"


def test_decision_17_the_same_channel_is_preferred(home: Home) -> None:
    home.past("here", channel="cli", hot_topics=["a"])
    home.past("there", channel="signal", hot_topics=["b"])
    home.manager(scope="agent").on_session_start("new", "cli")
    assert home.store.get("new").previous_session_id == "here"


def test_decision_49_clean_and_restore_on(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    home.past("a", hot_topics=["radio"])
    caplog.set_level(logging.INFO)
    assert home.manager().on_session_start("b", "cli", clean=True).cold
    assert "clean start" in caplog.text
    picky = home.manager(restore_on=["crash"])
    assert picky.on_session_start("c", "cli", reason="reset").cold
    assert not picky.on_session_start("d", "cli", reason="crash").cold
    assert not picky.on_session_start("e", "cli", reason="who knows").cold


def test_decision_55_an_active_session_is_never_mined(home: Home) -> None:
    home.store.start("live", channel="cli")
    home.store.update("live", {"hot_topics": ["secret plan"], "working_memory": [{"content": "CRITICAL"}]})
    home.later(minutes=5)
    assert home.manager().on_session_start("new", "cli").cold


def test_issue_9_disabled_changes_nothing_anywhere(home: Home) -> None:
    home.past("a", hot_topics=["radio"], working_memory=[{"content": "c"}])
    before = home.files()
    with home.manager(enabled=False) as manager:
        assert manager.on_session_start("b", "cli").cold
        assert manager.update_session_state(session_id="b", hot_topics=["x"]) is False
        assert manager.on_session_end("b") is None
        assert manager.detect_and_recover_crashed() == []
        assert manager.force_inherit_session("a").cold
        manager.get_session_chain("a")
        manager.archive_old()
    assert home.files() == before


def test_api_13_4_debug_output_has_the_right_numbers(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    topics = ["one", "two", "three", "four"]
    pins = [{"content": "x", "label": "ft991a control"}, {"content": "y", "label": "AUGUR weekly"}]
    tasks = [task(1), task(2)]
    home.past("a1b2c3d4-0000", hot_topics=topics, pending_tasks=tasks, recent_learnings=["m1"], working_memory=pins)
    home.later(hours=48)
    home.pin({"content": "own", "label": "AUGUR weekly"})
    caplog.set_level(logging.DEBUG, "jsonlstore.session")
    home.manager(debug=True).on_session_start("b", "cli", prompt="three four")
    text = caplog.text
    assert "[session:debug] Fetched 1 sessions from last 7 days" in text
    line = f"recency: 0.714 × {RECENCY_WEIGHT:g} = {(1 - 48 / 168) * RECENCY_WEIGHT:.3f}"
    assert f"Scoring session a1b2c3d4 (48h elapsed):\n  {line}" in text
    assert f"pending_tasks: 2 tasks × 0.25 = 0.50 × {PENDING_WEIGHT:g} = {0.5 * PENDING_WEIGHT:.3f}" in text
    assert "✅ (threshold: 0.25)" in text
    assert '- "ft991a control" → ADDED' in text
    assert '- "AUGUR weekly" → SKIPPED (label collision with a current pin)' in text
    assert "[session:debug] Decay m1: 1.000 → 0.886 after 48h" in text
    assert "[session:debug] Restoration complete in " in text


def test_dry_run_changes_nothing(home: Home) -> None:
    two_days_later(home)
    before = home.files()
    context = home.manager().preview(RestoreRequest("session-b", "cli"))
    assert len(context.inherited_pins) == 3
    assert home.files() == before


def test_a_session_the_watcher_saw_first_is_still_restored_into(home: Home) -> None:
    home.past("a", hot_topics=["radio"], session_key="agent:main:main")
    home.store.start("b", by="watcher", session_key="agent:main:main", agent_id="main", source={"kind": "jsonl"})
    context = home.manager().on_session_start("b")
    assert context.session_ids == ("a",)
    assert home.store.get("b").previous_session_id == "a"


def test_a_session_that_wakes_up_is_resumed(home: Home) -> None:
    home.manager().on_session_start("a", "cli")
    home.manager().on_session_end("a")
    home.later(hours=1)
    assert home.manager().on_session_start("a", "cli").already_restored
    assert home.store.get("a").end_time is None
