"""What one strange field, one second end or one second witness must not cost a session."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from jsonlstore.core.paths import StatePaths
from jsonlstore.store import SessionStore
from jsonlstore.store.limits import MAX_STATE_BYTES, cap

if TYPE_CHECKING:
    from pathlib import Path

OURS: dict[str, Any] = {
    "hot_topics": ["radio", "valves"],
    "active_projects": ["lbf-ham-radio"],
    "recent_learnings": ["m-1", "m-2"],
    "working_memory": [{"content": "revision C", "pinnedAt": "2026-11-10T09:00:00.000Z", "label": "board"}],
    "pending_tasks": [{"task_id": "task-1", "title": "paint", "stage": "", "flagged_incomplete": True}],
    "notes": [{"id": "n1", "type": "decision", "content": "we use SQLite"}],
}


@pytest.mark.parametrize(
    "strange",
    [
        {"telemetry": "x" * 90_000},
        {"telemetry": {"deep": ["y" * 999] * 90}, "more": ["z" * 60_000]},
        {"next_step": "n" * 90_000},
        {"last_request": {"text": "t" * 90_000, "fate": "answered"}},
        {"working_memory": [{**OURS["working_memory"][0], "blob": "b" * 90_000}]},
    ],
)
def test_what_is_unknown_or_oversize_goes_before_anything_of_ours(strange: dict[str, Any]) -> None:
    out = cap({**OURS, **strange})
    assert len(orjson.dumps(out)) <= MAX_STATE_BYTES
    for name, value in OURS.items():
        assert out[name] == value, name
    assert set(out["trimmed"]) <= {"unknown_fields", "texts"}


def test_an_unknown_field_that_fits_stays() -> None:
    assert cap({**OURS, "telemetry": "x" * 900})["telemetry"] == "x" * 900


def test_at_most_twenty_topics_whoever_found_them() -> None:
    store = SessionStore.in_memory()
    store.start("s", by="hook", hot_topics=[f"told {n}" for n in range(15)])
    store.update("s", {"hot_topics": [f"read {n}" for n in range(15)]}, by="watcher")
    topics = store.get("s").hot_topics
    assert len(topics) == 20
    assert topics[:15] == tuple(f"told {n}" for n in range(15))


def test_two_injections_of_one_procedure_are_two_and_a_second_witness_adds_none() -> None:
    shown = [
        {"sop_path": "sops/a.md", "injected_at": f"2026-11-10T09:0{n}:00.000Z", "tool_call": "exec"} for n in (1, 2)
    ]
    store = SessionStore.in_memory()
    store.start("s", by="hook", sop_interactions=shown)
    assert len(store.get("s").sop_interactions) == 2
    store.update(
        "s", {"sop_interactions": [{**one, "injected_at": "2026-11-10T09:09:00.000Z"} for one in shown]}, by="watcher"
    )
    assert [one.injected_at[14:16] for one in store.get("s").sop_interactions] == ["01", "02"]
    store.update("s", {"sop_interactions": [*shown, shown[0]]}, by="watcher")
    assert len(store.get("s").sop_interactions) == 3


def test_an_end_said_twice_moves_nothing_and_says_so(tmp_path: Path) -> None:
    now = datetime(2026, 11, 10, 9, tzinfo=UTC)
    clock = [now]
    store = SessionStore(StatePaths.of(tmp_path), clock=lambda: clock[0])
    closed: list[str] = []
    store.start("s", channel="cli")
    assert store.end("s", {"hot_topics": ["radio"]}, reason="new", on_close=lambda: closed.append("first"))
    clock[0] += timedelta(hours=5)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert not store.end("s", {"hot_topics": ["radio"]}, reason="new", on_close=lambda: closed.append("second"))
    assert not store.end("s", reason="reset")
    assert not store.end("s")
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert store.end("s", {"hot_topics": ["radio", "late"]}, on_close=lambda: closed.append("third"))
    state = store.get("s")
    assert (state.end_time, state.end_reason, state.hot_topics) == (
        "2026-11-10T09:00:00.000Z",
        "new",
        ("radio", "late"),
    )
    assert closed == ["first"]


def test_a_session_that_goes_on_can_end_again(tmp_path: Path) -> None:
    clock = [datetime(2026, 11, 10, 9, tzinfo=UTC)]
    store = SessionStore(StatePaths.of(tmp_path), clock=lambda: clock[0])
    store.start("s")
    store.end("s", reason="idle")
    clock[0] += timedelta(hours=1)
    store.resume("s")
    assert store.end("s", reason="new")
    assert (store.get("s").end_time, store.get("s").end_reason) == ("2026-11-10T10:00:00.000Z", "new")


def test_the_mirror_of_the_largest_state_stays_within_its_limit(tmp_path: Path) -> None:
    store = SessionStore.open(tmp_path)
    notes = [{"id": f"n{n}", "type": "insight", "content": f"{n} " + "w " * 40} for n in range(2000)]
    store.start("s")
    store.end("s", {"notes": notes}, reason="new")
    mirror = store.paths.mirror("s").read_bytes()
    assert 0.9 * MAX_STATE_BYTES < len(mirror) <= MAX_STATE_BYTES
    assert orjson.loads(mirror) == store.get("s").to_dict()
    store.start("small")
    store.end("small", reason="new")
    assert b'\n  "session_id"' in store.paths.mirror("small").read_bytes()
