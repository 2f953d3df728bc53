"""Calls that fail: a full disk, a bad disk, a quota, a write cut short, a sync that does not come back.

Each at the n-th call that changes the disk, n = 1, 2, 3 … until the run passes untouched.
"""

from __future__ import annotations

import errno
import os
import resource
import subprocess
from typing import TYPE_CHECKING

import pytest

from jsonlstore.core.errors import WriteFailed
from jsonlstore.core.files import Disk
from jsonlstore.store.log import SessionLog
from tests.faults.machine import SYNCS, WRITES, Fault
from tests.faults.runner import Bench, run
from tests.faults.scenarios import SCENARIOS, Scenario, open_store, visible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jsonlstore.store.store import SessionStore
    from tests.faults.runner import Outcome

by_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)

# one append each: when it is refused, nothing of it may be seen
APPENDS = frozenset({"start", "update", "snapshot", "end", "link"})


def fail_everywhere(
    scenario: Scenario, home: Path, kind: str, error: int = 0, only: frozenset[str] = frozenset()
) -> list[Outcome]:
    """Fail the first call, the second, …; every outcome but the last, which passed untouched."""
    bench = Bench(scenario, home)
    outcomes: list[Outcome] = []
    for at in range(1, 1000):
        fault = Fault(at, kind, error, only)
        remains, outcome = bench.run(fault)
        try:
            assert not outcome.killed
            assert outcome.refused in (None, "WriteFailed")
            refused_append = outcome.refused is not None and scenario.name in APPENDS
            bench.check(remains, outcome, strict=refused_append)
        except BaseException as problem:
            problem.add_note(f"{scenario.name}: {fault}")
            raise
        if outcome.calls is not None and outcome.calls < at:
            return outcomes
        outcomes.append(outcome)
    raise AssertionError("the run never passed")


@pytest.mark.slow
@by_scenario
def test_any_call_failing_once(scenario: Scenario, tmp_path: Path) -> None:
    """An I/O error anywhere is a clear refusal or, in a cache, a warning; what was there stays, the next try works."""
    assert fail_everywhere(scenario, tmp_path, "fail", errno.EIO)


@by_scenario
def test_disk_full_from_any_call_on(scenario: Scenario, tmp_path: Path) -> None:
    """A disk that fills up refuses clearly, earlier data is intact, and all is well when space returns."""
    assert fail_everywhere(scenario, tmp_path, "full", errno.ENOSPC)


@by_scenario
@pytest.mark.parametrize(
    ("kind", "error"),
    [pytest.param("short", 0, id="short"), pytest.param("fail", errno.EDQUOT, id="quota", marks=pytest.mark.slow)],
)
def test_any_write_cut_short_or_over_quota(scenario: Scenario, kind: str, error: int, tmp_path: Path) -> None:
    """A write that takes half the bytes, or none for want of quota, leaves no half record."""
    assert fail_everywhere(scenario, tmp_path, kind, error, WRITES)


@by_scenario
def test_a_failed_sync_is_reported_and_not_retried(scenario: Scenario, tmp_path: Path) -> None:
    """The kernel forgets what it could not write: a second sync would lie, so there is none on that file."""
    for at, outcome in enumerate(fail_everywhere(scenario, tmp_path, "fail", errno.EIO, SYNCS), 1):
        syncs = [call.split()[1] for call in outcome.trace if call.split()[0] in SYNCS]
        failed = syncs[at - 1]
        if outcome.refused:
            assert failed not in syncs[at:]


def test_a_refused_append_names_the_reason_though_it_cannot_be_rolled_back(tmp_path: Path) -> None:
    """The hint is about the full disk, not about the truncation that a device refuses as well."""
    path = tmp_path / "a.jsonl"
    path.symlink_to("/dev/full")
    with pytest.raises(WriteFailed, match="No space left") as caught:
        SessionLog(path, tmp_path / "quarantine", Disk()).append(b"{}\n")
    assert caught.value.hint is not None
    assert "free some space" in caught.value.hint


def test_file_size_limit(tmp_path: Path) -> None:
    """`ulimit -f`: the kernel takes the first bytes of a record and refuses the rest; none of it stays."""
    store = open_store(tmp_path)
    store.start("a", channel="cli")
    before, size = visible(store), store.paths.log("a").stat().st_size

    def limited(inner: SessionStore) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, resource.RLIM_INFINITY))
        inner.update("a", {"next_step": "a text that is longer than the room there is"})

    outcome = run(tmp_path, (limited,), None)
    assert outcome.refused == "WriteFailed"
    assert store.paths.log("a").stat().st_size == size
    assert visible(open_store(tmp_path)) == before
    assert open_store(tmp_path).update("a", {"next_step": "room again"})


def fill_up(store: SessionStore) -> None:
    for number in range(100):
        store.update("a", {"recent_learnings": [f"{number} " + "words " * 200]})


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KB."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full(small_disk: Path) -> None:
    """On a full file system updates are refused, nothing is lost, and they work again once something is removed."""
    store = open_store(small_disk, sync=True)
    store.start("a", channel="cli")
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space left"):
        filler.write_bytes(b"x" * 300_000)
    with pytest.raises(WriteFailed, match=r"No space left|only \d+ of"):
        fill_up(store)
    seen = visible(open_store(small_disk))
    assert seen["a"] is not None
    filler.unlink()
    assert store.update("a", {"next_step": "room again"})
    assert visible(open_store(small_disk))["a"] == {**seen["a"], "next_step": "room again"}
