"""kill -9 and power cuts at every call that changes the disk: n = 1, 2, 3 … until the run passes untouched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.machine import WRITES, Fault
from tests.faults.runner import Bench
from tests.faults.scenarios import SCENARIOS, Scenario

if TYPE_CHECKING:
    from pathlib import Path

by_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)


def strike_everywhere(scenario: Scenario, home: Path, kind: str, only: frozenset[str] = frozenset()) -> int:
    """Strike at the first call, the second, …; returns how many places there were."""
    bench = Bench(scenario, home)
    for at in range(1, 1000):
        fault = Fault(at, kind, only=only)
        remains, outcome = bench.run(fault)
        try:
            bench.check(remains, outcome)
        except BaseException as problem:
            problem.add_note(f"{scenario.name}: {fault}")
            raise
        if not outcome.killed:
            assert outcome.acknowledged == len(scenario.steps)
            return at - 1
    raise AssertionError("the run never passed")


@by_scenario
def test_killed_before_any_call(scenario: Scenario, tmp_path: Path) -> None:
    """A process killed between any two calls loses nothing it was told is done and leaves nothing half done."""
    assert strike_everywhere(scenario, tmp_path, "kill") > 2


@by_scenario
@pytest.mark.parametrize("kind", ["torn", "nearly"])
def test_killed_within_any_write(scenario: Scenario, kind: str, tmp_path: Path) -> None:
    """A write of which half, or all but the newline, reached the file leaves nothing half visible."""
    assert strike_everywhere(scenario, tmp_path, kind, WRITES) > 0


@by_scenario
@pytest.mark.parametrize("kind", ["power", pytest.param("names", marks=pytest.mark.slow)])
def test_power_cut_before_any_call(scenario: Scenario, kind: str, tmp_path: Path) -> None:
    """After a power cut everything acknowledged is on the platter, whether or not unsynced names got there too."""
    assert strike_everywhere(scenario, tmp_path, kind) > 2
