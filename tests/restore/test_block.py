"""Decision 59: what a session was given stays with it, byte for byte, on every turn and after a restart."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jsonlstore.transcripts.runtimes import was_answered
from tests.home import Home, task


def transcript(home: Home, session_id: str, *messages: dict[str, Any]) -> None:
    """A transcript file of an older OpenClaw."""
    file = home.path / "agents" / "main" / "sessions" / f"{session_id}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    records = [{"type": "session", "id": session_id}, *({"type": "message", "message": one} for one in messages)]
    file.write_text("".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records))


def test_the_block_is_the_same_hours_and_processes_later(home: Home) -> None:
    """Whatever happened meanwhile in other sessions of the conversation."""
    home.past("a", hot_topics=["radio"], pending_tasks=[task(17)])
    first = home.hook("session-start", session_id="b", channel="cli")
    assert first["block"] == first["preamble"]
    assert "as of 2026-11-10 10:30 UTC; what was said since outranks it" in first["block"].splitlines()[1]
    home.later(hours=5)
    home.past("c", hot_topics=["garden"], pending_tasks=[task(18)])
    later = home.hook("session-start", session_id="b", channel="cli", under_way=True)
    assert (later["preamble"], later["already_restored"]) == (None, True)
    assert later["block"] == first["block"]


def test_the_block_outlives_an_end_and_a_snapshot(home: Home) -> None:
    home.past("a", hot_topics=["radio"], pending_tasks=[task(17)])
    first = home.hook("session-start", session_id="b", channel="cli")
    home.hook("session-end", session_id="b", reason="idle")
    assert home.hook("session-start", session_id="b", channel="cli")["block"] == first["block"]


def test_a_session_that_was_under_way_before_gets_nothing_and_leaves_no_trace(home: Home) -> None:
    home.past("a", hot_topics=["radio"], pending_tasks=[task(17)])
    before = home.files()
    answer = home.hook("session-start", session_id="old", channel="cli", under_way=True)
    assert (answer["preamble"], answer["block"], answer["already_restored"]) == (None, None, False)
    assert home.files() == before


def test_a_caller_without_the_messages_has_the_transcript_looked_at(home: Home) -> None:
    home.past("a", hot_topics=["radio"], pending_tasks=[task(17)])
    said = {"role": "user", "content": "hello"}
    transcript(home, "new", said)
    transcript(home, "old", said, {"role": "assistant", "content": [{"type": "text", "text": "hi"}]})
    assert home.hook("session-start", session_id="old", channel="cli", check_history=True)["block"] is None
    assert home.hook("session-start", session_id="new", channel="cli", check_history=True)["block"]


@pytest.mark.parametrize(("stop", "answered"), [("stop", True), ("error", False), ("aborted", False)])
def test_an_answer_that_failed_is_none(home: Home, stop: str, answered: bool) -> None:
    transcript(home, "s", {"role": "user", "content": "hello"}, {"role": "assistant", "stopReason": stop})
    assert was_answered(home.path, "main", "s") is answered
    assert not was_answered(home.path, "../main", "s")


def test_a_cold_start_has_no_block_later_either(home: Home) -> None:
    assert home.hook("session-start", session_id="b", channel="cli")["block"] is None
    home.past("a", hot_topics=["radio"], pending_tasks=[task(17)])
    assert home.hook("session-start", session_id="b", channel="cli")["block"] is None
