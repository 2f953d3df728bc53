"""DECISION 47 for what evidence tells: followed live, restarted at any moment, or backfilled, the fields are equal."""

from __future__ import annotations

import json
import random
import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jsonlstore.core.model import KNOWN_FIELDS
from jsonlstore.store import SessionStore
from tests.watch.conftest import clean_backfill, watcher

if TYPE_CHECKING:
    from tests.watch.conftest import OpenClaw

_MADE = runpy.run_path(str(Path(__file__).parents[2] / "fixtures" / "make_sessions.py"))
FIELDS = (
    "pending_tasks", "notes", "in_progress", "next_step", "last_request", "last_answer", "open_questions",
    "constraints", "commits", "files", "failing", "closed", "references", "grounds",
)  # fmt: skip


def told(state_dir: Path, session_id: str) -> dict[str, object]:
    state = SessionStore.open(state_dir).get(session_id).to_dict()
    return {name: state[name] for name in FIELDS}


@pytest.mark.parametrize("ending", _MADE["ENDINGS"])
def test_live_restarted_and_backfilled_are_equal(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path, ending: str
) -> None:
    """The watcher looks after random portions, now and then as a new process."""
    assert set(FIELDS) <= KNOWN_FIELDS
    drawn = random.Random(ending)
    language = drawn.choice(sorted(_MADE["PHRASES"]))
    records = [json.loads(line) for line in _MADE["written"](drawn.randrange(999), language, ending).story.lines()]
    session_id = "0c0c0c0c-aaaa-4aaa-8aaa-111111111111"
    records[0]["id"] = session_id
    following = watcher(state_dir)
    openclaw.append(session_id, *records[:3])
    openclaw.refer("agent:main:main", session_id)
    at = 3
    while at < len(records):
        portion = drawn.randint(1, 30)
        openclaw.append(session_id, *records[at : at + portion])
        at += portion
        if drawn.random() < 0.4:
            following = watcher(state_dir)
        following.rescan()
    for _ in range(2):
        following.rescan()
    live = told(state_dir, session_id)
    clean_backfill(state_dir, tmp_path)
    assert live == told(tmp_path / "clean", session_id)
    assert live["references"]
    assert live["grounds"]
