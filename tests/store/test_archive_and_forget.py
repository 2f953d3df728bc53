"""Archive and forget: written before removed; gone means gone."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from jsonlstore.core.errors import SessionForgotten, SessionNotFound, SessionOpen
from jsonlstore.store.doctor import Doctor
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from tests.conftest import FakeClock


@pytest.fixture
def ended(store: SessionStore, clock: FakeClock) -> SessionStore:
    store.start("a", channel="cli", source={"kind": "jsonl", "offset": 7})
    store.update("a", {"hot_topics": ["word-of-a"], "pending_tasks": [{"task_id": "task-1", "title": "title-of-a"}]})
    store.end("a", reason="new")
    clock.advance(days=31)
    return store


def everything(store: SessionStore) -> bytes:
    return b"\n".join(path.read_bytes() for path in store.paths.state_dir.rglob("*") if path.is_file())


def test_an_archived_session_leaves_the_hot_store_and_still_answers(ended: SessionStore) -> None:
    state = ended.get("a")
    assert ended.archive("a") == "2026-02"
    assert not ended.paths.log("a").exists()
    assert not ended.paths.mirror("a").exists()
    assert json.loads(ended.paths.archived_state("a", "2026-02").read_text()) == state.to_dict()
    reader = SessionStore.open(ended.paths.state_dir)
    assert reader.get("a") == state
    assert [each.session_id for each in reader.chain("a")] == ["a"]
    entry = reader.entry("a")
    assert entry is not None
    assert entry.source == {"kind": "jsonl", "offset": 7}, "a later scan must not take the transcript for new"
    assert all(check.ok for check in Doctor(reader).examine())


def test_only_sessions_that_ended_long_ago_are_due(ended: SessionStore, clock: FakeClock) -> None:
    ended.start("open")
    ended.start("fresh")
    ended.end("fresh")
    assert ended.archivable(timedelta(days=30)) == ["a"]
    with pytest.raises(SessionOpen):
        ended.archive("open")
    ended.archive("a")
    assert ended.archivable(timedelta(days=30)) == []
    assert ended.archive("a") == "2026-02", "a crash may have come before the acknowledgement: asking again is fine"
    with pytest.raises(SessionNotFound):
        ended.archive("nobody")


def test_decision_56_news_brings_an_archived_session_back(ended: SessionStore) -> None:
    ended.archive("a")
    assert ended.update("a", {"next_step": "more"}, by="watcher")
    assert ended.paths.log("a").exists()
    assert not ended.paths.archived_state("a", "2026-02").exists()
    state = ended.get("a")
    assert (state.hot_topics, state.next_step) == (("word-of-a",), "more")
    assert not ended.index.rebuild()
    assert all(check.ok for check in Doctor(ended).examine())


def test_starting_an_archived_session_does_not_start_it_anew(ended: SessionStore) -> None:
    ended.archive("a")
    assert not ended.start("a")
    assert ended.get("a").hot_topics == ("word-of-a",)


def test_nothing_of_a_forgotten_session_is_left_but_its_tombstone(ended: SessionStore) -> None:
    ended.metrics.emit(
        {
            "event": "pending_task_surfaced",
            "task_id": "task-1",
            "title": "title-of-a",
            "stage": "",
            "days_pending": 1,
            "source": "pipeline_state",
        }
    )
    with open(ended.paths.log("a"), "ab") as file:
        file.write(b'{"torn word-of-a')
    ended.update("a", {"next_step": "x"})
    assert list(ended.paths.quarantine.iterdir())
    ended.forget("a")
    assert b"word-of-a" not in everything(ended)
    assert b"title-of-a" not in everything(ended)
    assert ended.metrics.verify().ok
    assert [record["event"] for record in ended.metrics.read()][-1] == "metrics_resealed"
    for call in (lambda: ended.get("a"), lambda: ended.start("a"), lambda: ended.update("a", {"hot_topics": []})):
        with pytest.raises(SessionForgotten):
            call()
    assert list(ended.entries()) == []


def test_an_archived_session_can_be_forgotten(ended: SessionStore) -> None:
    ended.archive("a")
    ended.forget("a")
    assert b"word-of-a" not in everything(ended)
    assert not list(ended.paths.archive.rglob("a.*"))
    assert all(check.ok for check in Doctor(ended).examine())


def test_a_tombstone_survives_an_index_rebuild_and_a_second_forget(ended: SessionStore) -> None:
    ended.forget("a")
    kept = ended.paths.index.read_bytes()
    ended.paths.index.unlink()
    reader = SessionStore.open(ended.paths.state_dir)
    reader.index.rebuild()
    assert ended.paths.index.read_bytes() == kept
    tombstone = ended.paths.log("a").read_bytes()
    reader.forget("a")
    assert ended.paths.log("a").read_bytes() == tombstone
    with pytest.raises(SessionForgotten):
        reader.start("a")


def test_a_session_never_seen_can_be_forgotten_in_advance(store: SessionStore) -> None:
    store.forget("unseen")
    with pytest.raises(SessionForgotten):
        store.start("unseen", by="watcher")


def test_ids_that_share_a_beginning_are_not_confused(store: SessionStore) -> None:
    for name in ("a", "a.1", "a.1.2"):
        store.start(name)
        with open(store.paths.log(name), "ab") as file:
            file.write(f"torn {name}".encode())
        store.update(name, {"hot_topics": [name]})
    store.forget("a")
    assert sorted(path.read_bytes() for path in store.paths.quarantine.iterdir()) == [b"torn a.1", b"torn a.1.2"]
    assert store.get("a.1").hot_topics == ("a.1",)


def test_decision_57_pins_others_inherited_are_named_not_removed(ended: SessionStore) -> None:
    ended.start("heir", working_memory=[{"content": "c", "label": "radio [inherited from a @ 2026-02-18]"}])
    assert ended.forget("a").inherited_by == ("heir",)
    assert len(ended.get("heir").working_memory) == 1


def test_archiving_what_is_old_leaves_the_rest_and_what_was_resumed_meanwhile(store: SessionStore) -> None:
    """`archive_older` moves exactly the old, ended sessions, oldest first, and goes on past one it may not move."""
    old = {"start_time": "2026-01-01T00:00:00Z"}
    for number, session_id in enumerate(("a", "b", "c", "d")):
        store.start(session_id, **old)
        store.end(session_id, end_time=f"2026-01-0{number + 2}T00:00:00Z")
    store.start("new")
    store.end("new")
    before = dict(store.index.entries())
    store.resume("b")
    assert store.archive_older(timedelta(days=30), before, most=3) == ["a", "c"]
    assert store.archivable(timedelta(days=30)) == ["d"]
    assert {one.session_id for one in store.entries() if one.archived} == {"a", "c"}
