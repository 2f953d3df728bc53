"""What a capture must not lose in silence: pins beside other chats, the last pin's removal, a second end, a lock."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.core.clock import format_time
from jsonlstore.core.locks import locked
from tests.home import Home, task

if TYPE_CHECKING:
    from collections.abc import Callable

ALICE, BOB = "agent:main:telegram:dm:1", "agent:main:telegram:dm:2"


def labels(home: Home, session_id: str) -> list[str | None]:
    return [pin.label for pin in home.store.get(session_id).working_memory]


def test_a_pin_nobody_can_place_is_said_and_never_dropped_in_silence(home: Home) -> None:
    for name, key in (("a", ALICE), ("b", BOB)):
        home.hook("session-start", session_id=name, channel="telegram", session_key=key)
    home.later(minutes=5)
    home.pin({"content": "CRITICAL: do not restart", "label": "rule"}, {"content": "x", "label": "other"})
    for event in ("turn-end", "session-end"):
        answer = home.hook(event, session_id="a", session_key=ALICE, hot_topics=["radio"])
        assert labels(home, "a") == []
        assert "2 of 2 pins not captured (1 of them CRITICAL)" in answer["warnings"][0]


def test_a_pin_set_before_this_session_is_no_news_to_it(home: Home) -> None:
    home.hook("session-start", session_id="b", channel="telegram", session_key=BOB)
    home.later(minutes=5)
    home.pin({"content": "bob's", "label": "bob's"})
    home.later(minutes=5)
    home.hook("session-start", session_id="a", channel="telegram", session_key=ALICE)
    assert "warnings" not in home.hook("turn-end", session_id="a", session_key=ALICE, hot_topics=["x"])


def test_a_pin_this_session_had_before_another_chat_opened_stays_its_own(home: Home) -> None:
    home.hook("session-start", session_id="a", channel="telegram", session_key=ALICE)
    home.pin({"content": "one", "label": "mine"})
    home.hook("turn-end", session_id="a", session_key=ALICE)
    home.hook("session-start", session_id="b", channel="telegram", session_key=BOB)
    home.later(minutes=5)
    home.pin({"content": "two", "label": "mine"})  # changed, and so set anew
    home.hook("turn-end", session_id="a", session_key=ALICE)
    assert [(pin.label, pin.content) for pin in home.store.get("a").working_memory] == [("mine", "two")]


def test_the_last_pin_that_was_removed_does_not_come_back(home: Home) -> None:
    home.hook("session-start", session_id="a", channel="cli")
    home.pin({"content": "1", "label": "one"}, {"content": "2", "label": "two"})
    home.hook("turn-end", session_id="a")
    home.pin({"content": "1", "label": "one"})
    home.hook("turn-end", session_id="a")
    assert labels(home, "a") == ["one"]
    home.pin()
    home.hook("session-end", session_id="a", reason="new", hot_topics=["radio"])
    assert labels(home, "a") == []
    assert home.hook("session-start", session_id="b", channel="cli")["inherited_pins"] == []


def test_a_pin_a_transcript_tells_of_is_gone_once_the_file_says_so(home: Home) -> None:
    """The watcher read that it was set; that it was taken away stands in no transcript."""
    pin = {"content": "1", "label": "one", "pinnedAt": format_time(home.now)}
    home.hook("session-start", session_id="a", channel="cli")
    home.store.update("a", {"working_memory": [pin]}, by="watcher")
    home.pin(pin, {"content": "2", "label": "two"})
    home.hook("turn-end", session_id="a")
    home.pin({"content": "2", "label": "two"})
    home.hook("session-end", session_id="a", reason="new", hot_topics=["radio"])
    home.pin()
    given = home.hook("session-start", session_id="b", channel="cli")["inherited_pins"]
    assert [one["content"] for one in given] == ["2"]


def test_a_pin_that_is_set_again_is_there_again(home: Home) -> None:
    home.hook("session-start", session_id="a", channel="cli")
    for pins in ([{"content": "1", "label": "one"}], [], [{"content": "1b", "label": "one"}]):
        home.later(minutes=1)
        home.pin(*pins)
        home.hook("turn-end", session_id="a")
    home.hook("session-end", session_id="a", reason="new", hot_topics=["radio"])
    home.pin()
    given = home.hook("session-start", session_id="b", channel="cli")["inherited_pins"]
    assert [one["content"] for one in given] == ["1b"]


@pytest.mark.parametrize("critical", [False, True])
def test_a_pin_the_operator_removed_is_not_inherited_again(home: Home, critical: bool) -> None:
    """From whichever earlier session, and in every conversation that holds it; another label stays."""
    content = "CRITICAL: one" if critical else "one"
    two = {"content": "two", "label": "two"}
    for name, key in (("a", ALICE), ("b", BOB), ("c", ALICE)):
        home.past(name, channel="telegram", agent_id="main", session_key=key, hot_topics=["radio"],
                  working_memory=[{"content": content, "label": "one"}, two])  # fmt: skip
    home.pin({"content": content, "label": "one"}, {"content": "two", "label": "two"})
    home.run("pin", "remove", "one", "--dry-run")
    assert len(home.pinned()) == 2
    home.run("pin", "remove", "one")
    home.pin()
    for number, key in enumerate((ALICE, BOB)):
        told = home.hook("session-start", session_id=f"n{number}", channel="telegram", agent_id="main", session_key=key)
        assert [one["content"] for one in told["inherited_pins"]] == ["two"]
        home.pin()


@pytest.mark.parametrize("spoil", [lambda file: file.unlink(), lambda file: file.write_text("{"),
                                   lambda file: file.write_text("")])  # fmt: skip
def test_a_missing_or_broken_pin_file_erases_nothing(home: Home, spoil: Callable[[Any], object]) -> None:
    home.hook("session-start", session_id="a", channel="cli")
    home.pin({"content": "1", "label": "one"})
    home.hook("turn-end", session_id="a")
    spoil(home.pin_file)
    home.hook("session-end", session_id="a", reason="new")
    assert labels(home, "a") == ["one"]


def test_a_pin_that_was_given_and_never_in_the_file_outlives_the_files_own(home: Home) -> None:
    manager = home.manager()
    manager.on_session_start("a", "cli")
    home.pin({"content": "1", "label": "one"})
    manager.update_session_state(working_memory=[{"content": "given", "label": "g"}])
    assert set(labels(home, "a")) == {"g", "one"}
    home.pin()
    manager.update_session_state(hot_topics=["x"])
    assert labels(home, "a") == ["g"]


def test_one_oversize_field_costs_nothing_else_and_is_said(home: Home) -> None:
    home.pin({"content": "1", "label": "one"})
    given: dict[str, Any] = {"hot_topics": ["radio"], "active_projects": ["p"], "recent_learnings": ["m"]}
    answer = home.hook("session-end", session_id="a", telemetry="x" * 90_000, **given)
    state = home.store.get("a").to_dict()
    assert answer["captured"] is True
    assert answer["trimmed"] == {"unknown_fields": 1}
    assert {name: state[name] for name in given} == given
    assert labels(home, "a") == ["one"]


def test_an_end_told_twice_changes_nothing_and_says_so(home: Home) -> None:
    home.pin({"content": "1", "label": "one"})
    home.hook("session-start", session_id="a", channel="cli")
    first = home.hook("session-end", session_id="a", reason="new", hot_topics=["radio"])
    assert (first["captured"], "already_ended" in first) == (True, False)
    home.later(hours=3)
    home.pin({"content": "of the next session", "label": "next"})
    before = home.files()
    second = home.hook("session-end", session_id="a", reason="reset", hot_topics=["radio"])
    assert (second["captured"], second["already_ended"], second["pin_count"]) == (False, True, 1)
    after = home.files()
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} <= {
        "sessions/states/archive.stamp"
    }
    assert len(home.metrics("session_captured")) == 1


@pytest.mark.parametrize("said", ["complete", "closed", "✅", "done", "COMPLETE ✅", "☑", "[x]"])
def test_a_pin_that_says_a_task_is_done_closes_it(home: Home, said: str) -> None:
    """Here, and for every later session of the conversation."""
    home.past("a", hot_topics=["radio"], pending_tasks=[{**task(777), "flagged_incomplete": True}])
    assert "task-777" in home.hook("session-start", session_id="look", channel="cli")["block"]
    home.hook("session-start", session_id="b", channel="cli", clean=True)
    home.pin({"content": f"task-777: {said}", "label": "note"})
    home.hook("session-end", session_id="b", reason="new", hot_topics=["radio"])
    assert [one.id for one in home.store.get("b").closed] == ["task-777"]
    later = home.hook("session-start", session_id="c", channel="cli")
    assert later["pending_task_count"] == 0
    assert "- [task-777]" not in (later["block"] or "")


@pytest.mark.parametrize("said", ["incomplete", "not done", "not complete", "in progress", "build stage"])
def test_a_pin_that_says_it_is_not_done_does_not(home: Home, said: str) -> None:
    home.pin({"content": f"task-777: {said}", "label": "note"})
    home.hook("session-end", session_id="b", reason="new", hot_topics=["radio"])
    state = home.store.get("b")
    assert (state.closed, [one.task_id for one in state.pending_tasks]) == ((), ["task-777"])


def test_an_old_pin_does_not_close_a_task_that_was_opened_again(home: Home) -> None:
    home.past("a", hot_topics=["radio"], pending_tasks=[{**task(777), "flagged_incomplete": True}])
    home.hook("session-start", session_id="b", channel="cli", clean=True)
    home.pin({"content": "task-777: done", "label": "note"})
    home.hook("session-end", session_id="b", reason="new", hot_topics=["radio"])
    home.later(minutes=5)
    home.past("c", hot_topics=["radio"], pending_tasks=[{**task(777), "flagged_incomplete": True}])
    home.hook("session-start", session_id="d", channel="cli", clean=True)
    home.later(minutes=5)
    home.hook("session-end", session_id="d", reason="new", hot_topics=["radio"])
    assert home.store.get("d").closed == ()
    assert "task-777" in home.hook("session-start", session_id="e", channel="cli")["block"]


@pytest.mark.parametrize("name", ["session", "index"])
def test_a_turns_report_waits_for_no_lock_longer_than_a_second(home: Home, name: str) -> None:
    home.hook("session-start", session_id="a", channel="cli")
    path = home.store.paths.states
    held = next(path.glob("session-*.lock")) if name == "session" else path / "index.lock"
    home.later(minutes=1)
    document = json.dumps({"session_id": "a" if name == "session" else "new", "hot_topics": ["x"]})
    command = home.command("hook", "turn-end", "--now", format_time(home.now))
    with locked(held):
        began = time.monotonic()
        done = subprocess.run(command, input=document, capture_output=True, text=True, timeout=60, check=True)
        took = time.monotonic() - began
    answer = json.loads(done.stdout)
    assert took < 6, "a cold start on a loaded machine included, and the usual ten seconds not"
    if name == "session":
        assert answer["updated"] is False
        assert float(answer["error"].partition("waited ")[2].partition(" s")[0]) <= 1.0
