"""The flush state machine: each threshold once per cycle, lower ones marked, re-armed below 25 % or by a compaction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.context import FlushCycle, flush_text
from jsonlstore.core.session_settings import FlushThreshold, SessionSettings

CASES: dict[str, Any] = json.loads((Path(__file__).parents[2] / "fixtures" / "flush_cycles.json").read_text())
PLUGIN = Path(__file__).parents[2] / "jsonlstore" / "bridges" / "openclaw" / "plugin" / "flush.js"
STAGES = SessionSettings().memory_flush.thresholds
WALK = st.lists(st.tuples(st.floats(0, 120), st.booleans()), max_size=60)


def walk(steps: list[tuple[float, bool]]) -> list[tuple[int, float, int]]:
    """The percentages fired, where the window stood, and after how many compactions."""
    cycle, compactions, fired = FlushCycle(), 0, []
    for percent, compacted in steps:
        compactions += compacted
        stage, cycle = cycle.fire(percent, STAGES, compactions)
        if stage:
            fired.append((stage.percent, percent, compactions))
    return fired


def test_each_threshold_fires_once_on_the_way_up() -> None:
    assert [one for one, *_ in walk([(p, False) for p in range(101)])] == [50, 75, 90]


def test_a_jump_fires_the_highest_and_marks_the_lower_ones_decision_36() -> None:
    assert [one for one, *_ in walk([(10, False), (80, False), (60, False), (76, False), (91, False)])] == [75, 90]


def test_below_a_quarter_and_after_a_compaction_it_is_armed_again() -> None:
    assert [one for one, *_ in walk([(55, False), (24.9, False), (51, False)])] == [50, 50]
    assert [one for one, *_ in walk([(92, False), (55, True), (56, False)])] == [90, 50]
    assert [one for one, *_ in walk([(55, False), (25, False), (51, False)])] == [50]


@given(WALK)
def test_within_a_cycle_percentages_only_rise_and_are_reached(steps: list[tuple[float, bool]]) -> None:
    """Between two re-armings no threshold fires twice, none falls, and none fires that was not reached."""
    cycle, compactions, high = FlushCycle(), 0, 0
    for percent, compacted in steps:
        compactions += compacted
        high = 0 if compacted or percent < 25 else high
        stage, cycle = cycle.fire(percent, STAGES, compactions)
        if stage:
            assert high < stage.percent <= percent
            high = stage.percent


def test_beside_a_prompt_nobody_is_asked_to_be_silent() -> None:
    urgent = flush_text(STAGES[-1], "2026-02-01", last=True)
    assert "NO_REPLY" not in urgent
    assert "then answer the user" in urgent
    assert "memory/2026-02-01.md" in urgent
    assert "NO_REPLY" in flush_text(STAGES[-1], "2026-02-01", own_turn=True, last=True)


def test_only_marked_prompts_carry_a_marker_and_never_two() -> None:
    assert flush_text(STAGES[0], "2026-02-01").startswith("[SYSTEM: memory flush]\nContext at 50%")
    assert flush_text(STAGES[-1], "2026-02-01", last=True).count("[SYSTEM:") == 1
    assert flush_text(FlushThreshold(50, "Note it.", "user"), "2026-02-01") == "Note it."


@pytest.mark.parametrize("case", CASES["walks"], ids=lambda case: str(case["name"]))
def test_the_walks_that_the_plugin_is_held_to(case: dict[str, Any]) -> None:
    """The plugin has the same rules in JavaScript; js/flush.test.mjs reads the same file."""
    stages, cycle, fired = [FlushThreshold(one, "x") for one in CASES["stages"]], FlushCycle(), {}
    for number, (percent, compaction) in enumerate(case["steps"]):
        stage, cycle = cycle.fire(percent, stages, compaction, once=case.get("once", True))
        if stage:
            fired[str(number)] = stage.percent
    assert fired == case["fires"]


@pytest.mark.parametrize("case", CASES["texts"], ids=lambda case: str(case["text"]))
def test_the_texts_that_the_plugin_is_held_to(case: dict[str, Any]) -> None:
    stage = FlushThreshold(case["stage"]["percent"], case["stage"]["prompt"], case["stage"]["injectAs"])
    assert flush_text(stage, "2026-02-01", last=case["last"]) == case["text"]


def test_the_plugin_says_the_same_by_default() -> None:
    """Its stages are ours: percentages, words, and the way they are said."""
    source = PLUGIN.read_text()
    for stage in STAGES:
        assert f"percent: {stage.percent}," in source
        for line in stage.prompt.splitlines():
            assert json.dumps(line)[1:-1] in source
        assert stage.inject_as == "marked"
