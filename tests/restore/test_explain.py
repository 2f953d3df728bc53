"""`restore --explain` without options: whose conversation it is, what comes back, and why everything else does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jsonlstore.core.clock import format_time
from jsonlstore.restore import newest_session
from tests.home import Home, task

ALICE, BOB = "agent:main:telegram:dm:1", "agent:main:telegram:dm:2"


def past(home: Home, session_id: str, key: str = ALICE, **fields: Any) -> None:
    home.past(session_id, channel="telegram", agent_id="main", session_key=key, **fields)


def explained(home: Home, *options: str) -> dict[str, Any]:
    now = ("--now", format_time(home.now))
    done = home.run("restore", "--explain", "--dry-run", "--json", *options, *now)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def reasons(document: dict[str, Any]) -> dict[str, str]:
    return {one["session_id"]: one["reason"] for one in document["left_out"]}


def test_right_after_a_restore_it_says_what_was_restored(home: Home) -> None:
    past(home, "bobs", BOB, hot_topics=["weather"])
    past(home, "first", hot_topics=["radio"], pending_tasks=[task(1)])
    home.hook("session-start", session_id="second", channel="telegram", agent_id="main", session_key=ALICE)
    found = explained(home)
    assert found["conversation"] == {"session_key": ALICE, "agent_id": "main", "channel": "telegram"}
    assert found["session_ids"] == ["first"]
    assert reasons(found) == {"bobs": "another_conversation", "second": "still_open"}
    told = home.run("restore", "--explain", "--dry-run", "--now", format_time(home.now)).stdout
    assert told.splitlines()[0].startswith(f"conversation {ALICE}")
    assert "task-001" in told


def test_every_session_left_out_has_its_reason(home: Home) -> None:
    past(home, "old", hot_topics=["radio"], pending_tasks=[task(9)])
    home.later(days=10)
    past(home, "gone", hot_topics=["radio"])
    past(home, "faint", hot_topics=["gardens"])
    home.later(days=5)
    past(home, "bobs", BOB, hot_topics=["weather"])
    home.store.start("keyless", channel="signal", agent_id="main")
    for number in range(4):
        past(home, f"good-{number}", hot_topics=["radio"], pending_tasks=[task(number)])
    home.store.start("open", channel="telegram", agent_id="main", session_key=ALICE)
    home.store.forget("gone")
    found = explained(home, "--prompt", "radio")
    assert found["session_ids"] == ["good-3", "good-2", "good-1"]
    assert reasons(found) == {
        "old": "too_old",
        "gone": "forgotten",
        "faint": "below_threshold",
        "bobs": "another_conversation",
        "keyless": "another_conversation",
        "good-0": "better_sessions",
        "open": "still_open",
    }
    details = {one["session_id"]: one["detail"] for one in found["left_out"]}
    assert BOB in details["bobs"]
    assert "channel signal" in details["keyless"]
    assert "lookback of 7 days" in details["old"]
    told = home.run("restore", "--explain", "--dry-run", "--now", format_time(home.now)).stdout
    assert all(session_id in told for session_id in reasons(found))


def test_a_session_with_nothing_in_it_is_left_out_for_that(home: Home) -> None:
    past(home, "empty")
    assert reasons(explained(home)) == {"empty": "nothing_to_bring_back"}


def test_a_boundary_that_restore_on_does_not_name_is_the_reason(home: Home) -> None:
    past(home, "a", hot_topics=["radio"], pending_tasks=[task(1)], reason="new")
    settings = {"plugins": {"entries": {"jsonlstore": {"config": {"restore_on": ["reset"]}}}}}
    (home.path / "openclaw.json").write_text(json.dumps(settings))
    found = explained(home)
    assert (found["preamble"], reasons(found)) == (None, {"a": "restore_on"})
    assert explained(home, "--reason", "reset")["session_ids"] == ["a"]


def test_a_place_that_is_named_is_taken_as_it_is(home: Home) -> None:
    past(home, "a", hot_topics=["radio"])
    home.past("c", channel="cli", hot_topics=["valves"])
    assert explained(home, "--channel", "cli")["session_ids"] == ["c"]
    assert explained(home, "--session-key", ALICE, "--agent", "main")["session_ids"] == ["a"]
    assert explained(home, "--session-key", "agent:main:telegram:dm:9")["session_ids"] == []


def test_the_newest_conversation_is_the_one_heard_of_last(home: Home) -> None:
    """Also if it began long ago: an open session's entry in the index is as old as its start."""
    home.store.start("long", channel="telegram", agent_id="main", session_key=ALICE)
    home.later(hours=1)
    past(home, "short", BOB, hot_topics=["weather"])
    assert getattr(newest_session(home.store), "session_id", None) == "short"
    home.later(hours=1)
    home.store.update("long", {"hot_topics": ["radio"]})
    home.store.start("agent-run", channel="x", session_key="agent:main:subagent:7")
    assert getattr(newest_session(home.store), "session_id", None) == "long"
    assert getattr(newest_session(home.store, session_key=BOB), "session_id", None) == "short"
    assert newest_session(home.store, agent_id="nobody") is None


def test_an_empty_store_says_that_there_is_nothing(home: Home) -> None:
    assert (explained(home)["conversation"]["session_key"], explained(home)["left_out"]) == (None, [])


@pytest.mark.parametrize("explain", [True, False])
def test_no_hook_names_another_conversation(home: Home, explain: bool) -> None:
    past(home, "bobs", BOB, hot_topics=["weather"])
    past(home, "a", hot_topics=["radio"])
    told = home.hook(
        "session-start", session_id="b", channel="telegram", agent_id="main", session_key=ALICE, explain=explain
    )
    assert "left_out" not in told
    assert "bobs" not in json.dumps(told)
    assert BOB not in json.dumps(told)
