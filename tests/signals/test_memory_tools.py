"""Learnings, confidence, pins and operating procedures, from tool calls and their results."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals.learnings import MemoryCalls, categories_of, find_memory_id
from jsonlstore.signals.pins import LONGEST_CONTENT, MOST_PINS, PinBoard
from jsonlstore.signals.sops import SopTracker, is_sop

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=4,
)
ID_KEYS = ["id", "memory_id", "confidence", "old_score", "reason", "categories", "confidence_updates"]
PIN_KEYS = ["action", "content", "label", "index", "key", "text", "sop", "sops", "path"]
KEYS = st.sampled_from([*ID_KEYS, *PIN_KEYS])
OBJECTS = st.dictionaries(KEYS, ANYTHING, max_size=4)


@pytest.mark.parametrize(
    ("details", "text"),
    [
        ({"id": "stm_17"}, ""),
        ({"memory_id": "stm_17"}, "whatever"),
        ({}, '{"ok": true, "id": "stm_17"}'),
        ({}, '{"memory": {"id": "stm_17"}}'),
        ({}, "Stored memory stm_17 in coding"),
        ({}, "Added (id: stm_17)."),
    ],
)
def test_the_id_of_a_new_memory_is_found_wherever_the_tool_says_it(details: dict[str, Any], text: str) -> None:
    assert find_memory_id(details, text) == "stm_17"


def test_a_result_without_an_id_gives_no_learning() -> None:
    ledger = MemoryCalls()
    assert ledger.learned({"content": "x"}, {}, "RecallHit.") is None
    assert ledger.learnings() == []


def test_confidence_changes_say_from_what_to_what() -> None:
    ledger = MemoryCalls()
    ledger.adjusted({"memory_id": "m1", "confidence": 0.9, "reason": "sop_boost"}, {"old_confidence": 0.5}, "", "T1")
    ledger.adjusted({"memory_id": "m1", "confidence": 0.4}, {}, "", "T2")
    ledger.adjusted({"memory_id": "m2"}, {}, "confidence 0.80 -> 0.70", "T3")
    ledger.adjusted({"memory_id": "m3", "importance": 2.0}, {}, "Updated memory: importance=2.0", "T4")
    found = [(u.memory_id, u.old_score, u.new_score, u.reason) for u in ledger.updates()]
    assert found == [("m1", 0.5, 0.9, "sop_boost"), ("m1", 0.9, 0.4, "manual"), ("m2", 0.8, 0.7, "manual")]


def test_changes_that_hooks_made_are_taken_from_details() -> None:
    ledger = MemoryCalls()
    ledger.reported(
        {"confidence_updates": [{"memory_id": "m", "old_score": 1.0, "new_score": 0.8, "reason": "hook_penalty"}, 3]},
        "T",
    )
    assert [(u.new_score, u.reason, u.timestamp) for u in ledger.updates()] == [(0.8, "hook_penalty", "T")]


def test_the_latest_learnings_are_kept() -> None:
    ledger = MemoryCalls(most_learnings=3)
    for number in range(5):
        ledger.learned({}, {"id": f"m{number}"}, "")
    assert ledger.learnings() == ["m2", "m3", "m4"]


def test_categories_come_as_a_list_or_a_word() -> None:
    assert categories_of({"categories": ["a", 1, "b"], "category": "c"}) == ["a", "b", "c"]


def test_pins_are_replayed_pin_unpin_clear() -> None:
    board = PinBoard()
    board.apply("working_memory", {"action": "pin", "content": "one", "label": "A"}, "T1")
    board.apply("wm", {"action": "pin", "content": "two", "importance": "critical"}, "T2")
    board.apply("wm_pin", {"content": "three", "label": "A"}, "T3")
    assert [(pin.label, pin.content) for pin in board.pins()] == [(None, "two"), ("A", "three")]
    assert [pin.critical for pin in board.pins()] == [True, False]
    board.apply("working_memory", {"action": "unpin", "index": 0}, "T4")
    assert [pin.content for pin in board.pins()] == ["three"]
    board.apply("working_memory", {"action": "unpin", "label": "A"}, "T5")
    assert board.pins() == ()
    board.apply("working_memory", {"action": "pin", "content": "four"}, "T6")
    board.apply("working_memory", {"action": "view"}, "T7")
    board.apply("working_memory", {"action": "clear"}, "T8")
    assert board.pins() == ()


def test_ten_pins_at_most_and_content_is_cut() -> None:
    board = PinBoard()
    for number in range(MOST_PINS + 3):
        board.apply("working_memory", {"action": "pin", "content": f"{number}" * 600}, "")
    assert len(board.pins()) == MOST_PINS
    assert all(len(pin.content) <= LONGEST_CONTENT for pin in board.pins())


@pytest.mark.parametrize(
    "path", ["/x/sops/deploy.md", "docs/deploy.sop", "a/deploy-sop.md", "~/sop_release.md", "x.sop.md"]
)
def test_procedures_are_known_by_their_path(path: str) -> None:
    assert is_sop(path)
    assert not is_sop("/x/isopod.md")
    assert not is_sop("/x/philosophy.md")


def test_a_procedure_counts_each_time_it_is_shown_and_is_acknowledged_by_the_agents_words() -> None:
    tracker = SopTracker()
    tracker.result("SOP required: /home/ann/sops/deploy.md", {}, "T1", "exec")
    tracker.result("SOP required: /home/ann/sops/deploy.md", {}, "T2", "exec")
    tracker.result("", {"sops": [{"path": "sops/radio.md"}]}, "T3", "write")
    assert [(s.sop_path, s.injected_at, s.tool_call) for s in tracker.interactions()] == [
        ("~/sops/deploy.md", "T1", "exec"),
        ("~/sops/deploy.md", "T2", "exec"),
        ("sops/radio.md", "T3", "write"),
    ]
    tracker.heard("Deploying now.")
    assert not any(sop.acknowledged for sop in tracker.interactions())
    tracker.heard("I have reviewed the SOP and will follow it.")
    assert all(sop.acknowledged for sop in tracker.interactions())


@given(st.lists(st.tuples(OBJECTS, OBJECTS, st.text(max_size=30)), max_size=3))
def test_any_call_and_result_is_safe(calls: list[tuple[dict[str, Any], dict[str, Any], str]]) -> None:
    ledger, board, tracker = MemoryCalls(), PinBoard(), SopTracker()
    for arguments, details, text in calls:
        ledger.learned(arguments, details, text)
        ledger.adjusted(arguments, details, text, "")
        ledger.reported(details, "")
        board.apply("wm", arguments, "")
        tracker.result(text, details, "", "x")
        tracker.heard(text)
        categories_of(arguments)
    assert all(isinstance(update.new_score, float) for update in ledger.updates())
    assert len(board.pins()) <= MOST_PINS
