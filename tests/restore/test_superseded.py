"""decision 54: a runtime that starts the next session of a conversation has left the one before."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from jsonlstore.restore.crash import owner_of
from tests.home import Home, task

KEY = "agent:main:telegram:dm:42"
WATCHED = {"kind": "jsonl", "position": 1}


def open_session(home: Home, session_id: str, **known: Any) -> None:
    """A session somebody works in, and nobody ends."""
    home.store.start(session_id, channel="telegram", **{"session_key": KEY, **known})
    home.later(minutes=5)
    home.store.update(session_id, {"pending_tasks": [task(17)], "hot_topics": ["radio"]})
    home.later(hours=1)


@pytest.mark.parametrize("source", [None, WATCHED])
def test_a_gateway_that_goes_on_with_another_session_has_left_its_own(
    home: Home, source: dict[str, Any] | None
) -> None:
    """Its process lives on, and its transcript may be known: it still has one session per conversation."""
    more = {"source": source} if source else {}
    open_session(home, "a", owner=owner_of(os.getpid()), **more)
    context = home.manager().on_session_start("b", "telegram", session_key=KEY, pid=os.getpid())
    assert context.session_ids == ("a",)
    assert "Job number 17" in (context.preamble or "")
    assert home.store.get("a").end_time


def test_a_restarted_gateway_has_left_what_the_watcher_followed(home: Home) -> None:
    open_session(home, "a", source=WATCHED)
    assert home.manager().on_session_start("b", "telegram", session_key=KEY, pid=os.getpid()).session_ids == ("a",)


def test_a_session_of_another_living_process_goes_on(home: Home) -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        open_session(home, "a", owner=owner_of(other.pid))
        home.manager().on_session_start("b", "telegram", session_key=KEY, pid=os.getpid())
        assert home.store.get("a").end_time is None
    finally:
        other.communicate(b"\n")


@pytest.mark.parametrize(
    "other",
    [{"session_key": "agent:main:telegram:dm:43"}, {"session_key": "agent:main:main"}, {"agent_id": "work"}],
)
def test_other_conversations_of_the_same_gateway_go_on(home: Home, other: dict[str, Any]) -> None:
    open_session(home, "a", owner=owner_of(os.getpid()), **other)
    assert home.manager().on_session_start("b", "telegram", session_key=KEY, pid=os.getpid()).cold
    assert home.store.get("a").end_time is None


def test_keys_whose_peer_was_redacted_are_not_known_to_be_the_same(home: Home) -> None:
    key = "agent:main:signal:dm:[REDACTED]"
    open_session(home, "a", session_key=key)
    home.manager().on_session_start("b", "telegram", session_key=key, pid=os.getpid())
    assert home.store.get("a").end_time is None


def test_looking_changes_nothing(home: Home) -> None:
    open_session(home, "a", source=WATCHED)
    before = home.files()
    answer = home.hook(
        "session-start", "--dry-run", session_id="b", channel="telegram", session_key=KEY, pid=os.getpid()
    )
    assert answer["session_ids"] == ["a"]
    assert home.files() == before
