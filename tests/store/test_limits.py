"""decision 21: a state stays under 50 KB, the least telling parts go first, every loss is counted."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.store.limits import MAX_STATE_BYTES, MAX_TASKS, MAX_TITLE, cap

long_text = st.builds(lambda word, n: word * n, st.text(min_size=1, max_size=4), st.integers(1, 9000))
lists = st.lists(long_text, max_size=12)
pins = st.lists(
    st.builds(
        lambda content, critical: {"content": content, **({"importance": "CRITICAL"} if critical else {})},
        long_text,
        st.booleans(),
    ),
    max_size=8,
)
tasks = st.lists(
    st.builds(
        lambda n, title, flag: {"task_id": f"t{n}", "title": title, "stage": "", "flagged_incomplete": flag},
        st.integers(0, 999),
        long_text,
        st.booleans(),
    ),
    max_size=8,
)
hostile = st.fixed_dictionaries(
    {},
    optional={
        "hot_topics": lists,
        "recent_learnings": lists,
        "active_projects": lists,
        "working_memory": pins,
        "pending_tasks": tasks,
        "next_step": long_text,
        "unknown": st.dictionaries(st.text(max_size=5), long_text, max_size=4),
    },
)


@given(hostile)
def test_whatever_comes_in_fits_and_no_critical_pin_is_dropped(fields: dict[str, Any]) -> None:
    out = cap(fields)
    assert len(orjson.dumps(out)) <= MAX_STATE_BYTES

    def critical(state: dict[str, Any]) -> int:
        return sum("importance" in pin for pin in state.get("working_memory", []))

    assert critical(out) == critical(fields)
    assert all(len(task["title"]) <= MAX_TITLE for task in out.get("pending_tasks", []))
    if {key: value for key, value in out.items() if key != "trimmed"} != fields:
        assert sum(out["trimmed"].values()) > 0


@given(hostile)
def test_what_fits_is_left_alone(fields: dict[str, Any]) -> None:
    once = cap(fields)
    small = {key: value for key, value in once.items() if key != "trimmed"}
    assert cap(small) == small


def test_too_many_tasks_lose_the_oldest_text_tasks_first() -> None:
    pipeline = [{"task_id": f"p{n}", "title": "", "stage": "build", "flagged_incomplete": False} for n in range(60)]
    text = [{"task_id": f"t{n}", "title": "", "stage": "", "flagged_incomplete": True} for n in range(60)]
    out = cap({"pending_tasks": pipeline + text})
    assert len(out["pending_tasks"]) == MAX_TASKS
    assert [task["task_id"] for task in out["pending_tasks"]] == [f"p{n}" for n in range(60)] + [
        f"t{n}" for n in range(20, 60)
    ]
    assert out["trimmed"] == {"pending_tasks": 20}


def test_the_order_of_loss_is_confidence_sops_learnings_topics_notes() -> None:
    chunk = "x" * 700
    many: list[Any] = [chunk] * 20
    fields = {
        "confidence_updates": [{"memory_id": chunk, "old_score": 0, "new_score": 1}] * 20,
        "sop_interactions": [{"sop_path": chunk, "acknowledged": True}] * 20,
        "recent_learnings": many,
        "hot_topics": [f"{n}{chunk}" for n in range(20)],
        "notes": [{"id": str(n), "type": "insight", "content": chunk} for n in range(20)],
    }
    out = cap(fields)
    assert out["confidence_updates"] == []
    assert 0 < len(out["sop_interactions"]) < 20
    assert len(out["recent_learnings"]) == len(out["hot_topics"]) == len(out["notes"]) == 20
    tighter = cap(fields, 20 * 1024)
    assert tighter["recent_learnings"] == []
    assert tighter["hot_topics"][0].startswith("0x"), "the best-ranked topics stay"
    assert len(tighter["notes"]) == 20
