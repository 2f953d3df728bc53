"""The metrics chain shows every change to what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.errors import UsageError
from jsonlstore.store.metrics import METRIC_EVENTS
from jsonlstore.store.schema import problems
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES: dict[str, dict[str, Any]] = {
    "session_captured": {
        "session_id": "a", "channel": "cli", "duration_minutes": 5.5, "pin_count": 1, "learning_count": 2,
        "task_count": 3, "hot_topic_count": 4, "crash_recovered": False,
    },
    "session_restored": {
        "new_session_id": "b", "from_session_ids": ["a"], "pins_inherited": 1, "relevance_scores": [0.5],
        "pending_task_count": 1, "cold_start": False,
    },
    "confidence_decay_applied": {
        "memory_id": "m", "original_confidence": 1.0, "decayed_confidence": 0.886, "hours_elapsed": 48.0,
        "excluded": False,
    },
    "pending_task_surfaced": {
        "task_id": "t", "title": "x", "stage": "build", "days_pending": 2, "source": "pipeline_state",
    },
    "session_chain_traversal": {
        "start_session_id": "a", "requested_depth": 5, "sessions_found": 2, "oldest_session_age_hours": 49.5,
    },
}  # fmt: skip


def fill(store: SessionStore) -> None:
    store.start("a")
    for name, fields in EXAMPLES.items():
        store.metrics.emit({"event": name, **fields})


def test_fr_013_the_five_events_with_their_fields_are_recorded_and_valid(store: SessionStore) -> None:
    fill(store)
    records = list(store.metrics.read())
    assert [record["event"] for record in records] == list(METRIC_EVENTS)[:5]
    for record in records:
        assert problems("metric", record) == []
        assert {key: record[key] for key in EXAMPLES[record["event"]]} == EXAMPLES[record["event"]]
    assert store.metrics.verify().to_dict() == {"ok": True, "records": 5, "head": records[-1]["hash"]}
    assert [record["event"] for record in store.metrics.read("session_restored")] == ["session_restored"]


def test_a_batch_is_one_write_however_it_ends(store: SessionStore) -> None:
    """A session start waits for the disk once; what was emitted before an error is recorded."""
    written: list[int] = []
    store.metrics.listeners.append(lambda events: written.append(len(events)))

    def broken_off() -> None:
        with store.metrics.batch():
            fill(store)
            assert list(store.metrics.read()) == []
            store.metrics.emit({"event": "session_lost"})

    with pytest.raises(UsageError):
        broken_off()
    assert written == [len(EXAMPLES)]
    assert store.metrics.verify().records == len(EXAMPLES)
    fill(store)
    assert store.metrics.verify().records == 2 * len(EXAMPLES)


@pytest.mark.parametrize("event", [{}, {"event": "session_lost"}, {"event": "session_restored", "new_session_id": "x"}])
def test_an_event_with_missing_fields_is_refused(store: SessionStore, event: dict[str, Any]) -> None:
    store.start("a")
    with pytest.raises(UsageError):
        store.metrics.emit(event)
    assert not store.paths.metrics.exists()


def lines(store: SessionStore) -> list[bytes]:
    return store.paths.metrics.read_bytes().splitlines(keepends=True)


TAMPERINGS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], int]] = {
    "a changed value": (lambda found: [*found[:2], found[2].replace(b"0.886", b"0.999"), *found[3:]], 3),
    "a dropped line": (lambda found: [*found[:1], *found[2:]], 2),
    "an inserted line": (lambda found: [*found[:1], found[0], *found[1:]], 2),
    "two swapped lines": (lambda found: [found[1], found[0], *found[2:]], 1),
    "a blank line": (lambda found: [*found[:3], b"\n", *found[3:]], 4),
    "a changed first line": (lambda found: [found[0].replace(b"cli", b"web"), *found[1:]], 1),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_verify_names_the_first_broken_line(store: SessionStore, name: str) -> None:
    fill(store)
    tamper, line = TAMPERINGS[name]
    store.paths.metrics.write_bytes(b"".join(tamper(lines(store))))
    verdict = store.metrics.verify()
    assert (verdict.ok, verdict.line) == (False, line)
    assert not store.metrics.repair(), "a broken chain stays visible"
    assert not store.metrics.verify().ok


@pytest.mark.parametrize("keep", [0, 1, 4])
def test_a_cut_tail_is_seen_by_the_head(store: SessionStore, keep: int) -> None:
    fill(store)
    store.paths.metrics.write_bytes(b"".join(lines(store)[:keep]))
    verdict = store.metrics.verify()
    assert not verdict.ok
    assert "tail was cut" in (verdict.problem or "")
    store.metrics.emit({"event": "session_captured", **EXAMPLES["session_captured"]})
    assert not store.metrics.verify().ok, "going on does not hide it"


def test_a_rewritten_file_is_seen_by_the_head(store: SessionStore) -> None:
    fill(store)
    head = store.paths.metrics_head.read_bytes()
    store.paths.metrics.unlink()
    store.paths.metrics_head.unlink()
    for name in reversed(EXAMPLES):
        store.metrics.emit({"event": name, **EXAMPLES[name]})
    assert store.metrics.verify().ok
    store.paths.metrics_head.write_bytes(head)
    verdict = store.metrics.verify()
    assert not verdict.ok
    assert "rewritten" in (verdict.problem or "")


def test_a_head_left_behind_by_a_crash_is_no_fault_and_is_brought_forward(store: SessionStore) -> None:
    fill(store)
    store.paths.metrics_head.write_bytes(orjson.dumps({"records": 3, "hash": orjson.loads(lines(store)[2])["hash"]}))
    assert store.metrics.verify().ok
    store.metrics.emit({"event": "session_captured", **EXAMPLES["session_captured"]})
    verdict = store.metrics.verify()
    assert (verdict.ok, verdict.records) == (True, 6)


def test_a_torn_tail_is_mended_without_losing_what_came_before(store: SessionStore) -> None:
    fill(store)
    with open(store.paths.metrics, "ab") as file:
        file.write(b'{"seq":6,"at":')
    verdict = store.metrics.verify()
    assert (verdict.ok, verdict.line, verdict.problem) == (False, 6, "the record is torn")
    assert store.metrics.repair()
    assert store.metrics.verify().records == 5


def test_a_lost_head_is_mended_with_a_record_that_says_so(store: SessionStore) -> None:
    fill(store)
    store.paths.metrics_head.unlink()
    assert store.metrics.verify().problem == "metrics.head is missing"
    assert store.metrics.repair()
    assert store.metrics.verify().ok
    last = list(store.metrics.read())[-1]
    assert (last["event"], last["reason"]) == ("metrics_resealed", "metrics.head is missing")
    assert problems("metric", last) == []


def test_no_metrics_is_a_whole_chain(store: SessionStore) -> None:
    assert store.metrics.verify().to_dict() == {"ok": True, "records": 0, "head": "0" * 64}


@given(st.integers(0, 4), st.data())
def test_any_changed_byte_is_seen(line: int, data: st.DataObject) -> None:
    store = SessionStore.in_memory()
    fill(store)
    found = lines(store)
    at = data.draw(st.integers(0, len(found[line]) - 2))
    changed = bytearray(found[line])
    changed[at] ^= data.draw(st.integers(1, 255))
    found[line] = bytes(changed)
    store.paths.metrics.write_bytes(b"".join(found))
    assert not store.metrics.verify().ok
