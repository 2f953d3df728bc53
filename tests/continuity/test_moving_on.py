"""DECISION 54: a conversation has one session at a time. Starting the next ends the one before, whoever told of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.continuity.conftest import Home, task

KEY = "agent:main:telegram:dm:42"


def open_session(home: Home, session_id: str, **known: Any) -> None:
    """A session somebody works in, and nobody ends."""
    home.manager().on_session_start(session_id, "telegram", **{"session_key": KEY, **known})
    home.later(minutes=5)
    home.manager().update_session_state(session_id=session_id, pending_tasks=[task(17)], hot_topics=["radio"])


def test_the_next_session_of_a_conversation_ends_the_one_before_and_gets_what_it_left(home: Home) -> None:
    open_session(home, "a")
    last_heard_of = home.now
    home.later(hours=3)
    context = home.manager().on_session_start("b", "telegram", session_key=KEY)
    assert context.session_ids == ("a",)
    assert "Job number 17" in (context.preamble or "")
    before = home.store.get("a")
    assert before.end_time == last_heard_of.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    assert (before.end_reason, before.crash_recovered, before.continued_by) == (None, False, "b")
    assert [one["session_id"] for one in home.metrics("session_captured")] == ["a"]
    assert home.store.get("b").previous_session_id == "a"


def test_the_reason_of_the_boundary_is_the_reason_of_the_end(home: Home) -> None:
    open_session(home, "a")
    home.later(minutes=1)
    home.manager().on_session_start("b", "telegram", session_key=KEY, reason="new")
    assert home.store.get("a").end_reason == "new"


def test_what_the_watcher_finds_out_later_completes_the_end(home: Home) -> None:
    open_session(home, "a")
    home.manager().on_session_start("b", "telegram", session_key=KEY)
    home.store.end("a", {}, reason="idle", end_time="2026-11-10T10:04:00.000Z", by="watcher")
    assert home.store.get("a").end_reason == "idle"


@pytest.mark.parametrize(
    "other",
    [
        {"session_key": "agent:main:telegram:dm:43"},
        {"session_key": "agent:main:main"},
        {"session_key": None},
        {"session_key": KEY, "agent_id": "work"},
    ],
)
def test_other_conversations_go_on(home: Home, other: dict[str, Any]) -> None:
    open_session(home, "a", **other)
    home.later(minutes=1)
    context = home.manager().on_session_start("b", "telegram", session_key=KEY)
    assert context.cold
    assert home.store.get("a").end_time is None


def test_keys_whose_peer_was_redacted_are_not_known_to_be_the_same(home: Home) -> None:
    key = "agent:main:signal:dm:[REDACTED]"
    open_session(home, "a", session_key=key)
    home.manager().on_session_start("b", "telegram", session_key=key)
    assert home.store.get("a").end_time is None


def test_looking_changes_nothing(home: Home) -> None:
    open_session(home, "a")
    before = home.files()
    answer = home.hook("session-start", "--dry-run", session_id="b", channel="telegram", session_key=KEY)
    assert answer["session_ids"] == ["a"]
    assert home.files() == before


def test_a_session_that_is_started_again_is_not_moved_on_from(home: Home) -> None:
    open_session(home, "a")
    home.manager().on_session_start("a", "telegram", session_key=KEY, again=True)
    assert home.store.get("a").end_time is None
