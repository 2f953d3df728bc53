"""A handoff on a machine that dies: at every call that changes the disk, with the files for people beside the log."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import orjson
import pytest

from jsonlstore.bridges.openclaw import HandoffFiles
from jsonlstore.core.files import TEMP_PREFIX
from jsonlstore.handoff import capture, claim, clear, kept_handoff, offer
from tests.faults.machine import WRITES, Fault
from tests.faults.runner import run
from tests.faults.scenarios import NOW, open_store
from tests.handoff.place import KEY, check_files
from tests.handoff.test_resume import LEFT

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.store.store import SessionStore

WHEN = {"now": NOW, "expires_hours": 24}
STEPS = (
    lambda store: capture(with_files(store), "a", "reset", **WHEN),
    lambda store: claim(store, "a", "b", **WHEN),
    lambda store: offer(store, "a", "b"),
    lambda store: clear(store, "a"),
)


def with_files(store: SessionStore) -> SessionStore:
    store.listeners.append(HandoffFiles(store))
    return store


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    place = tmp_path / "prepared"
    (place / "agents" / "main").mkdir(parents=True)
    store = open_store(place)
    store.start("a", channel="cli", agent_id="main", session_key=KEY, start_time="2026-02-14T08:00:00Z")
    store.update("a", LEFT)
    store.start("b", channel="cli", agent_id="main", session_key=KEY)
    store.end("a", reason="reset", end_time="2026-02-14T08:30:00Z")
    return place


@pytest.mark.parametrize("kind", ["kill", "torn"])
def test_nothing_acknowledged_is_lost_and_nothing_claimed_twice(prepared: Path, tmp_path: Path, kind: str) -> None:
    """kill -9 before, or in the middle of, every call of capture, claim, offer and clear that changes the disk."""
    for at in range(1, 1000):
        work = tmp_path / f"work{at}"
        shutil.copytree(prepared, work)
        outcome = run(work, STEPS, Fault(at, kind, only=WRITES if kind == "torn" else frozenset()))
        check(work, outcome.acknowledged)
        shutil.rmtree(work)
        if not outcome.killed:
            assert outcome.acknowledged == 4
            assert at > (40 if kind == "kill" else 10), "the files were written, too"
            return
    raise AssertionError("the run never passed")


def check(work: Path, done: int) -> None:
    store = open_store(work)
    found = kept_handoff(store.folded("a"))
    assert done < 1 or found is not None
    assert done < 2 or (found is not None and (found.claimed_by == "b" or found.cleared_at))
    assert done < 3 or (found is not None and found.offered_at)
    assert done < 4 or (found is not None and found.cleared_at)
    # no file is ever half written, and what the doctor writes is what the log says
    files = HandoffFiles(store)
    for path in (work / "agents/main/handoff").rglob(TEMP_PREFIX + "*"):
        path.unlink()
    check_files(work / "agents/main/handoff")
    files.rebuild()
    assert list(files.problems()) == []
    state = work / "agents/main/handoff/session-state.json"
    assert state.exists() == (found is not None and not found.cleared_at)
    if found is not None and state.exists():
        assert orjson.loads(state.read_bytes()) == found.to_dict(NOW)
    if 2 <= done < 4:
        assert not claim(store, "a", "c", **WHEN).won
