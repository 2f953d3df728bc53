"""SessionStore: what is acknowledged is there, for every reader, in every cache."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from jsonlstore.core.errors import (
    AmbiguousSessionId,
    InvalidSessionId,
    NewerSchema,
    SessionForgotten,
    SessionNotFound,
    StaleSource,
    UsageError,
)
from jsonlstore.store.append import SNAPSHOT_EVERY
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import FakeClock

BAD_IDS: list[Any] = [
    "", "../x", "/etc/passwd", "a/b", "a\0b", "x" * 129, "x" * 300, ".hidden", "-x", "a b", "sessions", "Metrics",
    "ARCHIVE", "states", "x.lock", "ü", "a\n", None, 7,
]  # fmt: skip


def test_a_session_lives_and_ends(store: SessionStore, clock: FakeClock) -> None:
    assert store.start("a", channel="cli", agent_id="main")
    clock.advance(minutes=5)
    assert store.update(
        "a", {"hot_topics": ["radio"], "pending_tasks": [{"task_id": "t", "title": "x", "stage": "build"}]}
    )
    clock.advance(minutes=5)
    assert store.end("a", {"next_step": "solder"}, reason="new")
    state = SessionStore.open(store.paths.state_dir).get("a")
    assert (state.channel, state.hot_topics, state.next_step, state.end_reason) == ("cli", ("radio",), "solder", "new")
    assert (state.start_time, state.end_time) == ("2026-02-18T12:00:00.000Z", "2026-02-18T12:10:00.000Z")
    mirror = json.loads(store.paths.mirror("a").read_text())
    assert mirror == state.to_dict()


def test_decision_52_whoever_comes_first_starts_the_session(store: SessionStore) -> None:
    assert store.start("a", by="watcher", channel="telegram")
    assert not store.start("a", by="hook", channel="cli")
    log = store.paths.log("a").read_text()
    assert log.count("session.started") == 1


def test_what_is_no_news_is_not_written(store: SessionStore, clock: FakeClock) -> None:
    store.start("a")
    store.update("a", {"hot_topics": ["x"], "updated_at": store.now()})
    before = store.paths.log("a").read_bytes()
    clock.advance(hours=1)
    assert not store.update("a", {"hot_topics": ["x"], "updated_at": "2026-02-18T12:00:00Z"})
    assert store.paths.log("a").read_bytes() == before
    assert store.end("a", reason="new", end_time="2026-02-18T12:30:00Z")
    ended = store.paths.log("a").read_bytes()
    assert not store.end("a", reason="new", end_time="2026-02-18T12:30:00Z")
    assert not store.recover("a", store.now())
    assert store.paths.log("a").read_bytes() == ended


def test_only_the_fields_that_changed_are_written(store: SessionStore) -> None:
    store.start("a")
    store.update("a", {"hot_topics": ["x"], "next_step": "one"})
    store.update("a", {"hot_topics": ["x"], "next_step": "two"})
    last = orjson.loads(store.paths.log("a").read_bytes().splitlines()[-1])
    assert last["data"] == {"fields": {"next_step": "two"}}


def test_the_cursor_moves_with_the_state_or_not_at_all(store: SessionStore) -> None:
    store.start("a", by="watcher")
    here, there = {"kind": "jsonl", "offset": 10}, {"kind": "jsonl", "offset": 20}
    assert store.update("a", {"hot_topics": ["x"]}, by="watcher", source=here)
    with pytest.raises(StaleSource):
        store.update("a", {"hot_topics": ["y"]}, by="watcher", source=there, expect_source=None)
    assert store.get("a").hot_topics == ("x",)
    assert store.update("a", {"hot_topics": ["y"]}, by="watcher", source=there, expect_source=here)
    assert store.folded("a").source == there


def test_reading_does_not_get_slower_as_a_session_grows(store: SessionStore) -> None:
    """A snapshot every 64 KB: what has to be read from the end stays bounded."""
    store.start("a")
    for number in range(200):
        store.update("a", {"next_step": f"{number} " + "x" * 4000})
    log = store.open_log(store.paths.log("a"))
    recent = log.scan_recent()
    assert recent is not None
    assert recent.size - recent.events[0].end < 2 * SNAPSHOT_EVERY
    assert recent.events[0].event.type == "state.snapshot"
    assert SessionStore.open(store.paths.state_dir).get("a").next_step == "199 " + "x" * 4000


@pytest.mark.parametrize("bad", BAD_IDS)
def test_an_id_that_is_not_plain_is_refused_everywhere(store: SessionStore, bad: Any) -> None:
    calls = (
        lambda: store.start(bad),
        lambda: store.update(bad, {"hot_topics": []}),
        lambda: store.end(bad),
        lambda: store.recover(bad, "2026-01-01T00:00:00Z"),
        lambda: store.resume(bad),
        lambda: store.link(bad, "ok"),
        lambda: store.link("ok", bad),
        lambda: store.note(bad, "x", {}),
        lambda: store.archive(bad),
        lambda: store.forget(bad),
        lambda: store.get(bad),
        lambda: store.chain(bad),
    )
    store.start("ok")
    before = sorted(path.name for path in store.paths.states.iterdir())
    for call in calls:
        with pytest.raises(InvalidSessionId):
            call()
    assert sorted(path.name for path in store.paths.states.iterdir()) == before


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"hot_topics": "radio"}, "hot_topics"),
        ({"hot_topics": [1]}, "hot_topics"),
        ({"pending_tasks": [{"title": "no id"}]}, "task_id"),
        ({"pending_tasks": {"task_id": "t"}}, "pending_tasks"),
        ({"working_memory": ["pin"]}, "working_memory"),
        ({"channel": 5}, "channel"),
        ({"updated_at": "yesterday"}, "updated_at"),
        ({"previous_session_id": "../x"}, "x"),
        (
            {"confidence_updates": [{"memory_id": "m", "old_score": 0.1, "new_score": float("nan")}]},
            "confidence_updates",
        ),
        ({"odd": {"deep": object()}}, "JSON"),
        ({"odd": 2**80}, "JSON"),
        ({5: "x"}, "field names"),
    ],
)
def test_bad_input_is_refused_by_name_and_nothing_is_written(store: SessionStore, fields: Any, named: str) -> None:
    store.start("a")
    before = store.paths.log("a").read_bytes()
    with pytest.raises(UsageError, match=named):
        store.update("a", fields)
    assert store.paths.log("a").read_bytes() == before


def test_text_that_no_file_can_hold_is_made_holdable(store: SessionStore) -> None:
    store.start("a")
    store.update("a", {"next_step": "half \ud83d emoji", "odd": {"k\udc00": ["\ud800"]}})
    assert store.get("a").next_step == "half ? emoji"


def test_secrets_do_not_reach_the_disk_through_any_field(store: SessionStore) -> None:
    secret = "sk-ant-" + "api03-" + "Zx9" * 30
    store.start("a", channel=secret, session_key=f"agent:main:{secret}", agent_id=secret)
    store.update(
        "a",
        {
            "hot_topics": [secret],
            "working_memory": [{"content": f"api_key={secret}", "label": secret, "pinnedAt": ""}],
            "pending_tasks": [{"task_id": "t", "title": f"use {secret}"}],
            "notes": [{"id": "n", "type": "insight", "content": secret}],
            "unknown": {"nested": [f"Bearer {secret}"], "password": "correct horse"},
        },
    )
    store.note("a", "checkpoint.created", {"summary": secret})
    store.end("a", {"next_step": secret}, reason="new")
    store.metrics.emit(
        {
            "event": "pending_task_surfaced",
            "task_id": "t",
            "title": secret,
            "stage": "",
            "days_pending": 1,
            "source": "pipeline_state",
        }
    )
    store.archive("a")
    for path in store.paths.state_dir.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path
            assert b"correct horse" not in path.read_bytes(), path


def test_decision_16_a_chain_is_oldest_first_and_safe_against_cycles_and_gaps(store: SessionStore) -> None:
    for name, previous in (("a", "gone"), ("b", "a"), ("c", "b"), ("d", "c")):
        store.start(name, previous_session_id=previous)
    assert [state.session_id for state in store.chain("d", 10)] == ["a", "b", "c", "d"]
    assert [state.session_id for state in store.chain("d", 2)] == ["c", "d"]
    store.start("x", previous_session_id="y")
    store.start("y", previous_session_id="x")
    assert [state.session_id for state in store.chain("y", 10)] == ["x", "y"]
    with pytest.raises(SessionNotFound):
        store.chain("nobody")


def test_a_prefix_names_a_session_if_only_one_fits(store: SessionStore) -> None:
    for name in ("abc1", "abc2", "abc"):
        store.start(name)
    assert store.resolve("abc1") == "abc1"
    assert store.resolve("abc") == "abc", "an exact id wins"
    with pytest.raises(AmbiguousSessionId, match="3 sessions"):
        store.resolve("ab")
    with pytest.raises(SessionNotFound):
        store.resolve("zzz")
    with pytest.raises(InvalidSessionId):
        store.resolve("")


def test_a_log_from_a_newer_version_is_read_and_never_written(store: SessionStore) -> None:
    store.start("a")
    path = store.paths.log("a")
    newer = path.read_bytes().replace(b'"schema_version":1', b'"schema_version":2')
    path.write_bytes(newer)
    fresh = SessionStore.open(store.paths.state_dir)
    assert fresh.get("a").schema_version == 2
    for write in (lambda: fresh.update("a", {"hot_topics": ["x"]}), lambda: fresh.end("a"), lambda: fresh.start("a")):
        with pytest.raises(NewerSchema):
            write()
    assert path.read_bytes() == newer


def test_a_log_that_lost_its_first_line_still_tells_the_rest(store: SessionStore) -> None:
    store.start("a")
    store.update("a", {"hot_topics": ["kept"]})
    path = store.paths.log("a")
    path.write_bytes(b"garbage\n" + path.read_bytes().split(b"\n", 1)[1])
    fresh = SessionStore.open(store.paths.state_dir)
    assert fresh.get("a").hot_topics == ("kept",)
    assert [entry.session_id for entry in fresh.entries()] == ["a"]
    assert fresh.end("a", reason="new")
    assert not fresh.index.rebuild()


def test_an_event_of_any_size_is_cut_to_what_a_log_can_bear(store: SessionStore) -> None:
    store.start("a")
    store.note("a", "checkpoint.created", {"summary": "s" * 200_000, "topics": ["t"] * 100_000, "kept": "short"})
    line = store.paths.log("a").read_bytes().splitlines()[-1]
    assert len(line) < 60_000
    assert orjson.loads(line)["data"]["kept"] == "short"


def test_only_known_writers_write(store: SessionStore) -> None:
    with pytest.raises(UsageError, match="stranger"):
        store.start("a", by="stranger")
    store.start("a")
    with pytest.raises(UsageError, match="stranger"):
        store.update("a", {"hot_topics": ["x"]}, by="stranger")


def test_recent_sessions_are_those_that_ended_lately(store: SessionStore, clock: FakeClock) -> None:
    for name in ("old", "mid", "new"):
        store.start(name)
        store.end(name)
        clock.advance(days=3)
    store.start("open")
    assert [entry.session_id for entry in store.recent(days=7)] == ["new", "mid"]
    assert [entry.session_id for entry in store.recent(days=7, limit=1)] == ["new"]


def test_a_store_in_memory_is_gone_with_the_object() -> None:
    store = SessionStore.in_memory()
    store.start("a")
    where = store.paths.state_dir
    assert store.get("a").session_id == "a"
    del store
    assert not where.exists()


def test_nothing_is_created_before_the_first_write(tmp_path: Path) -> None:
    store = SessionStore.open(tmp_path / "state")
    assert list(store.entries()) == []
    assert store.recent() == []
    with pytest.raises(SessionNotFound):
        store.get("a")
    assert not (tmp_path / "state").exists()


def test_listeners_hear_of_every_change_and_of_nothing_else(store: SessionStore) -> None:
    heard: list[str] = []
    store.listeners.append(lambda session_id, folded: heard.append(f"{session_id}:{folded.seq}"))
    store.start("a")
    store.update("a", {"hot_topics": ["x"]})
    store.update("a", {"hot_topics": ["x"]})
    store.end("a")
    with pytest.raises(SessionForgotten):
        store.forget("a") and store.update("a", {})
    assert heard == ["a:1", "a:2", "a:3", "a:0"]  # the last is the forgetting, which other copies must follow


def test_mirrors_may_live_elsewhere_the_logs_never_do(tmp_path: Path) -> None:
    store = SessionStore.open(tmp_path / "state", sessions_dir=str(tmp_path / "mirrors"))
    store.start("a")
    store.end("a")
    assert (tmp_path / "mirrors" / "a.json").exists()
    assert (tmp_path / "state" / "sessions" / "states" / "a.jsonl").exists()
    assert not (tmp_path / "state" / "sessions" / "a.json").exists()
    store.archive("a")
    assert [path.name for path in (tmp_path / "mirrors").iterdir()] == ["archive"]
    assert store.get("a").session_id == "a"
