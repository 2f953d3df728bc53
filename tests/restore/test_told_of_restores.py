"""What a restore returns, counts and explains: each value is watched by a test that a wrong one fails."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.core.config import Config
from jsonlstore.restore import ContextScorer, DecayEngine, RestoreRequest
from jsonlstore.restore.score import factors, lowered
from tests.home import START, Home, task

if TYPE_CHECKING:
    from pathlib import Path


def flagged(number: int) -> dict[str, Any]:
    return {**task(number, ""), "flagged_incomplete": True, "evidence": {"entry_ids": [], "kind": "user"}}


def test_what_is_returned_carries_score_and_time_and_neither_is_stored(home: Home) -> None:
    home.past("a", hot_topics=["radio"], pending_tasks=[task(1)])
    home.past("b", hot_topics=["radio"], pending_tasks=[task(2)])
    context = home.manager().on_session_start("c", "cli")
    assert [one.session_id for one in context.sessions] == list(context.session_ids) == ["b", "a"]
    assert [one.relevance_score for one in context.sessions] == [round(one, 6) for one in context.relevance_scores]
    assert {one.inherited_at for one in context.sessions} == {"2026-11-10T11:00:00.000Z"}
    told = home.hook("session-start", session_id="d", channel="cli")["sessions"]
    assert [set(one) for one in told] == [{"session_id", "relevance_score", "inherited_at"}] * 2
    assert home.store.get("a").relevance_score is None
    assert not any(b"inherited_at" in data or b'relevance_score"' in data for data in home.files().values())


def test_a_session_asked_for_by_name_carries_them_as_well(home: Home) -> None:
    home.past("a", hot_topics=["radio"])
    home.store.start("b", channel="cli")
    found = home.manager().force_inherit_session("a", into="b").sessions
    assert [(one.session_id, one.inherited_at) for one in found] == [("a", "2026-11-10T10:30:00.000Z")]


@pytest.mark.parametrize(("heard", "ended"), [(False, "2026-11-10T11:00:00.000Z"), (True, "2026-11-10T10:10:00.000Z")])
def test_a_session_that_only_started_and_died_ends_an_hour_after_its_start(home: Home, heard: bool, ended: str) -> None:
    home.store.start("a", channel="cli")
    if heard:
        home.later(minutes=10)
        home.store.update("a", {"hot_topics": ["x"]})
    home.later(hours=9)
    found = home.manager().detect_and_recover_crashed()
    assert [(one.session_id, one.end_time) for one in found] == [("a", ended)]
    assert (home.store.get("a").end_time, home.store.get("a").crash_recovered) == (ended, True)


def test_and_never_later_than_now(home: Home) -> None:
    home.store.start("a", channel="cli", owner={"pid": 2**22 + 1})
    home.later(minutes=20)
    assert [one.end_time for one in home.manager().detect_and_recover_crashed()] == ["2026-11-10T10:20:00.000Z"]


def test_one_surfaced_record_for_each_task_that_is_shown_with_the_age_that_is_shown(home: Home) -> None:
    """A task of two sessions is as old as the later of them; one there was no room for is not counted."""
    home.past("old", hot_topics=["radio"], pending_tasks=[flagged(1), task(2)])
    home.later(hours=20)
    home.past("new", hot_topics=["radio"], pending_tasks=[flagged(1)])
    home.later(hours=30)
    home.pipeline({"task_id": "task-002", "title": "Job number 2", "current_stage": "build"})
    block = home.hook("session-start", session_id="c", channel="cli")["block"]
    assert '- [task-001] "Job number 1" (1d ago)' in block
    assert '- [task-002] "Job number 2" (last stage: build, 2d ago)' in block
    counted = {one["task_id"]: one for one in home.metrics("pending_task_surfaced")}
    assert len(home.metrics("pending_task_surfaced")) == 2
    assert (counted["task-001"]["days_pending"], counted["task-001"]["source"]) == (1.25, "working_memory_scan")
    assert (counted["task-002"]["days_pending"], counted["task-002"]["source"]) == (2.104, "pipeline_state")


def test_a_task_there_was_no_room_for_is_not_counted_as_surfaced(home: Home) -> None:
    home.past("a", hot_topics=["radio"], pending_tasks=[flagged(number) for number in range(30)])
    context = home.manager(preamble_max_chars=600).on_session_start("b", "cli")
    shown = (context.preamble or "").count("- [task-")
    assert 0 < shown < 30
    assert len(home.metrics("pending_task_surfaced")) == shown


def test_restoring_once_more_counts_nothing_twice(home: Home) -> None:
    home.past("a", hot_topics=["radio"], pending_tasks=[task(1)])
    for _ in range(3):
        home.hook("session-start", session_id="b", channel="cli")
    home.hook("session-start", session_id="b", channel="cli", again=True)
    counts = {name: len(home.metrics(name)) for name in ("session_restored", "pending_task_surfaced")}
    assert counts == {"session_restored": 1, "pending_task_surfaced": 1}


def test_a_chain_on_the_command_line_is_counted(home: Home) -> None:
    home.past("a", hot_topics=["x"])
    home.manager().on_session_start("b", "cli")
    home.later(hours=5)
    home.run("chain", "b", "--depth", "4", "--json", "--now", "2026-11-10T16:00:00Z")
    found = home.metrics("session_chain_traversal")
    keys = ("start_session_id", "requested_depth", "sessions_found", "oldest_session_age_hours")
    assert [tuple(one[key] for key in keys) for one in found] == [("b", 4, 2, 6.0)]


def test_a_disabled_store_counts_no_chain(home: Home) -> None:
    home.past("a", hot_topics=["x"])
    (home.path / "openclaw.json").write_text(
        json.dumps({"plugins": {"entries": {"jsonlstore": {"config": {"enabled": False}}}}})
    )
    home.run("chain", "a", "--json")
    assert home.metrics("session_chain_traversal") == []


def test_hook_and_watcher_together_capture_a_session_once(home: Home) -> None:
    from jsonlstore.restore import emit_captured

    store = home.store
    home.manager().on_session_start("a", "cli")
    store.end("a", reason="new", by="watcher", on_close=lambda: emit_captured(store, "a"))
    home.hook("session-end", session_id="a", reason="new", hot_topics=["x"])
    assert [one["session_id"] for one in home.metrics("session_captured")] == ["a"]


TOPICS = ["ham radio", "lbf-ham-radio", "Ham", "valves", "sqlite_wal"]


@pytest.mark.parametrize("prompt", ["the ham radio", "valves", "Ham", "a sqlite wal file", "nothing of it", ""])
def test_overlap_is_one_formula_wherever_it_is_asked_for(home: Home, prompt: str) -> None:
    """The score of a restore, of `--explain` and of the scorer itself."""
    from jsonlstore.restore.select import current_keywords

    home.past("a", hot_topics=TOPICS)
    seen = home.manager().preview(RestoreRequest("x", "cli", prompt=prompt or None))
    words = current_keywords([], None, prompt or None)
    state = home.store.get("a")
    assert seen.candidates[0].topic_overlap == factors(TOPICS, 0, words, 0.0).topic_overlap
    assert seen.candidates[0].score == ContextScorer.score(state, words, seen.candidates[0].hours_elapsed)
    assert ContextScorer.score(state, {"keywords": list(words)}, 0.0) == factors(TOPICS, 0, words, 0.0).score
    assert factors(TOPICS, 0, lowered(["ham", "radio"]), 0.0).topic_overlap == pytest.approx(1 / 3), "said in two words"
    plain = lowered(["valves", "radio"])
    assert factors(["valves", "tools"], 0, plain, 0.0).topic_overlap == pytest.approx(1 / 3)


def test_the_rate_of_decay_is_a_setting(home: Home) -> None:
    home.past("a", hot_topics=["x"], recent_learnings=["m-1"])
    home.now = START + timedelta(minutes=30, hours=100)

    def left(**settings: Any) -> float:
        manager = home.manager(relevance_threshold=0.1, **settings)
        return manager.preview(RestoreRequest("b", "cli")).memories[0].confidence

    assert left() == DecayEngine.apply_decay(1.0, 100) == pytest.approx(1 - 100 / 168 * 0.4)
    assert left(decay_hours=100, decay_span=0.5) == pytest.approx(0.5)
    assert left(decay_span=0.0) == 1.0
    assert left(decay_hours=50, decay_span=1.0) == 0.3, "the floor holds"


@pytest.mark.parametrize(("name", "value"), [("decay_hours", 0), ("decay_hours", "a week"), ("decay_span", 1.5)])
def test_and_has_a_range(name: str, value: object) -> None:
    from jsonlstore.core.errors import ConfigError

    with pytest.raises(ConfigError, match=name):
        Config(**{name: value})


def settings_file(path: Path, **settings: Any) -> None:
    path.mkdir(parents=True, exist_ok=True)
    document = {"plugins": {"entries": {"jsonlstore": {"config": settings}}}}
    (path / "openclaw.json").write_text(json.dumps(document))


def test_a_bad_setting_is_an_error_for_people_and_a_warning_with_its_default_for_hooks(home: Home) -> None:
    home.past("a", hot_topics=["radio"], pending_tasks=[task(number) for number in (1, 2, 3)])
    settings_file(home.path, lookback_days=7.5, scope="everyone", preamble_max_chars=300)
    failed = home.run("list", check=False)
    assert failed.returncode == 2
    assert "lookback_days must be a whole number" in failed.stderr
    assert "scope must be one of" in failed.stderr, "all of them at once"
    home.later(days=6)
    document = json.dumps({"session_id": "b", "channel": "cli"})
    done = home.run("hook", "session-start", "--now", home.now.isoformat(), stdin=document)
    answer = json.loads(done.stdout)
    assert "lookback_days must be a whole number" in done.stderr
    assert answer["session_ids"] == ["a"], "seven days are the default"
    assert len(answer["block"]) <= 300, "the setting beside it is read"


def test_a_block_that_is_none_does_not_stop_the_others(home: Home) -> None:
    from jsonlstore.core.config import load_config

    document = {
        "plugins": {"cortex": {"session_persistence": 7}, "entries": {"jsonlstore": {"config": {"debug": True}}}}
    }
    home.path.mkdir(parents=True)
    (home.path / "openclaw.json").write_text(json.dumps(document))
    loaded = load_config(home.path, lenient=True, env={})
    assert loaded.config.debug
    assert "plugins.cortex.session_persistence" in loaded.warnings[0]
