"""The cycle of an own transcript: asked in time, checkpoints on the way, compacted with or without a checkpoint."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from jsonlstore.context.summary import HEADINGS, sections_of
from jsonlstore.core.errors import UsageError
from jsonlstore.store.schema import problems
from tests.conftest import FakeClock
from tests.context.conftest import assistant

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from jsonlstore.context import Session, TranscriptStore


class TickingClock(FakeClock):
    """A second passes whenever somebody looks: what is said after a compaction is later than it."""

    def __call__(self) -> datetime:
        self.advance(seconds=1)
        return self.moment


@pytest.fixture
def clock() -> FakeClock:
    return TickingClock()


SETTINGS: dict[str, Any] = {
    "maxTokens": 1000,
    "compaction": {"reserveTokens": 100},
    "checkpoint": {"minTokensForGen": 0},
}


def say(session: Session, text: str, used: int, *tools: tuple[str, dict[str, Any], str, bool]) -> str | None:
    """A turn to its end: what was said, what was called, and how full the window is then."""
    session.add_message("user", text)
    for number, (name, arguments, output, failed) in enumerate(tools):
        call = {"type": "toolCall", "id": f"{session.leaf}-{number}", "name": name, "arguments": arguments}
        session.add({"type": "message", "message": {"role": "assistant", "content": [call], "stopReason": "toolUse"}})
        result = {"role": "toolResult", "toolCallId": call["id"], "toolName": name, "isError": failed}
        session.add({"type": "message", "message": {**result, "content": [{"type": "text", "text": output}]}})
    answer(session, "Done.", used)
    return session.end_turn()


def answer(session: Session, text: str, used: int) -> None:
    message = assistant(text, used)["message"]
    session.add_message(**message)


NOTE = ("write", {"path": "memory/2026-02-01.md", "content": "x"}, "ok", False)
FAILS = ("exec", {"command": "pytest tests"}, "2 failed\nCommand exited with code 1", True)
PASSES = ("exec", {"command": "pytest tests"}, "5 passed", False)


@pytest.fixture
def session(opened: Callable[..., TranscriptStore]) -> Session:
    return opened(**SETTINGS).load()


def test_each_threshold_speaks_once_and_what_was_done_about_it_is_told(session: Session) -> None:
    heard = []
    for used, tools in ((400, ()), (520, ()), (600, ()), (760, ()), (800, (NOTE,)), (910, ()), (950, ())):
        asked = session.flush("go on")
        say(session, "go on with the mast", used, *tools)
        if asked:
            heard.append((asked.percent, asked.inject_as, session.metadata["flushActioned"]))
    assert heard == [(50, "marked", False), (75, "marked", True), (90, "marked", False)]


def test_beside_a_prompt_an_answer_is_wanted_and_in_a_turn_of_its_own_silence_will_do(session: Session) -> None:
    say(session, "go on with the mast", 950)
    asked = session.flush("and the antenna?")
    assert asked
    assert "then answer the user" in asked.text
    assert "NO_REPLY" not in asked.text
    session.compact("so far", session.keep_last(1))
    say(session, "go on with the mast", 950)
    alone = session.flush()
    assert alone
    assert "NO_REPLY" in alone.text
    assert "YYYY" not in alone.text


def test_a_checkpoint_is_made_at_each_percentage_once_and_holds_the_evidence(session: Session) -> None:
    made = [
        say(session, f"step {used} of the antenna for PROJ-12", used, FAILS) for used in (240, 260, 300, 520, 760, 800)
    ]
    assert [bool(one) for one in made] == [False, True, False, True, True, False]
    found = session.most_recent_checkpoint()
    assert found
    assert found.tokens == 760
    assert "PROJ-12" in found.texts("identifiers")
    assert found.evidence["failing"]["command"] == "pytest tests"


def test_checkpoints_are_records_as_specified(session: Session, opened: Callable[..., TranscriptStore]) -> None:
    """They are on disk once saved, valid, within 8 KB, and the id chain goes through them (decision 35)."""
    say(session, "tune the antenna for PROJ-12", 300, NOTE)
    store = opened(**SETTINGS)
    store.save(session)
    records = [orjson.loads(line) for line in store.read()]
    (record,) = [one for one in records if one["type"] == "checkpoint"]
    assert problems("transcript-record", record) == []
    assert {
        "summary",
        "tokensAtCheckpoint",
        "messageCountAtCheckpoint",
        "topics",
        "openQuestions",
        "keyDecisions",
    } <= set(record["checkpoint"])
    assert len(orjson.dumps(record["checkpoint"])) <= 8 * 1024
    assert record["parentId"] == records[records.index(record) - 1]["id"]


def test_compaction_takes_a_recent_checkpoint_and_extends_it(session: Session) -> None:
    say(session, "never touch src/legacy while you tune the antenna", 760, FAILS)
    say(session, "mend the tuner in src/tuner.py", 920, PASSES)
    assert session.should_compact()
    assert session.compact_if_due()
    record = last_compaction(session)
    assert record["fromCheckpoint"] is True
    assert record["tokensBefore"] == 920
    told = sections_of(record["summary"])
    assert [name for name in told if name in HEADINGS] == list(HEADINGS)
    assert "src/legacy" in record["summary"]
    assert "mend the tuner" in record["summary"]
    assert "`pytest tests` passed" in record["summary"]
    assert session.messages[0]["role"] == "compactionSummary"
    assert session.compact_if_due() is None


def last_compaction(session: Session) -> dict[str, Any]:
    return dict([one for one in session.unsaved if one["type"] == "compaction"][-1])


def test_without_a_recent_checkpoint_one_is_made_anew(opened: Callable[..., TranscriptStore]) -> None:
    settings = {**SETTINGS, "checkpoint": {"enabled": False}}
    session = opened(**settings).load()
    session.add_checkpoint("long ago")
    say(session, "tune the antenna for PROJ-12 please", 950)
    session.compact()
    record = last_compaction(session)
    assert record["fromCheckpoint"] is False
    assert "PROJ-12" in record["summary"]


def test_a_user_who_prefers_no_checkpoint_gets_none(opened: Callable[..., TranscriptStore]) -> None:
    session = opened(**{**SETTINGS, "compaction": {"reserveTokens": 100, "preferCheckpoint": False}}).load()
    say(session, "tune the antenna for PROJ-12 please", 950)
    assert session.most_recent_checkpoint()
    session.compact()
    assert last_compaction(session)["fromCheckpoint"] is False


def test_the_last_resort_is_the_old_checkpoint_and_without_one_it_says_so(session: Session) -> None:
    answer(session, "Hello.", 900)
    with pytest.raises(UsageError, match="nothing to summarise"):
        session.compact(first_kept_id=session.leaf)
    session.add_checkpoint("They talked about the mast.", tokensAtCheckpoint=100)
    answer(session, "And on.", 900)
    session.compact(first_kept_id=session.leaf)
    assert last_compaction(session)["fromCheckpoint"] is True
    assert "the mast" in last_compaction(session)["summary"]


def test_after_a_compaction_the_thresholds_are_armed_again(session: Session) -> None:
    """For flushes as for checkpoints; the summary before is folded into the next one."""
    say(session, "never touch src/legacy while you tune the antenna", 950)
    assert session.flush("x")
    session.compact()
    assert say(session, "go on with the mast of PROJ-7", 300)
    assert say(session, "and the shed beside it", 560)
    asked = session.flush("x")
    assert asked
    assert asked.percent == 50
    session.compact()
    told = sections_of(last_compaction(session)["summary"])
    assert any("src/legacy" in one for one in told["Constraints/Rules"])


def test_what_is_kept_begins_with_a_user_s_words(session: Session) -> None:
    """A tool result without its call would be refused by every provider."""
    for number in range(6):
        say(session, f"step {number} " + "of the long way round " * 8, 200 + 120 * number, PASSES)
    session.compact()
    kept = [one for one in session.messages if one["role"] != "compactionSummary"]
    assert kept[0]["role"] == "user"
    assert "step 5" in str(kept)
    assert "step 0" not in str(kept)


def test_a_saved_cycle_goes_on_where_it_was(opened: Callable[..., TranscriptStore]) -> None:
    """The thresholds that spoke are kept with the session."""
    store = opened(**SETTINGS)
    session = store.load()
    say(session, "go on with the mast", 800)
    assert session.flush("x")
    store.save(session)
    again = opened(**SETTINGS).load()
    assert again.flush("x") is None
    assert again.metadata["flush"]["fired"] == 75


WORDS = """
import json, sys
text = sys.stdin.read()
open(sys.argv[1], "w").write(text)
given = json.loads(text)["checkpoint"]
print(json.dumps({"summary": "In my words: " + given["summary"][:20] + " ghp_" + "q7v2kd9zt5m1" * 3,
                  "keyDecisions": ["use the tall mast"], "evidence": {"asks": []}}))
"""


def test_a_command_may_word_a_checkpoint_and_no_more(opened: Callable[..., TranscriptStore], tmp_path: Path) -> None:
    """Its summary and decisions, without secrets; the evidence stays ours, and it is told none either."""
    script, heard = tmp_path / "words.py", tmp_path / "heard.json"
    script.write_text(WORDS)
    command = [sys.executable, str(script), str(heard)]
    session = opened(**{**SETTINGS, "checkpoint": {"minTokensForGen": 0, "command": command}}).load()
    secret = "ghp_" + "m1t5zd9k2vq7" * 3
    assert say(session, f"tune the antenna for PROJ-12 please, the token is {secret}", 300)
    assert "PROJ-12" in heard.read_text()
    assert secret not in heard.read_text()
    found = session.most_recent_checkpoint()
    assert found
    assert found.summary.startswith("In my words: ")
    assert "ghp_" not in found.summary
    assert found.key_decisions == ("use the tall mast",)
    assert found.texts("asks")


@pytest.mark.parametrize(
    "script", ["import sys; sys.exit(1)", "print('hello')", "print('{}')", "import time; time.sleep(60)"]
)
def test_a_command_that_fails_is_late_or_says_nothing_leaves_ours(
    opened: Callable[..., TranscriptStore], script: str
) -> None:
    command = {"command": [sys.executable, "-c", script], "commandSeconds": 1, "minTokensForGen": 0}
    session = opened(**{**SETTINGS, "checkpoint": command}).load()
    assert say(session, "tune the antenna for PROJ-12 please", 300)
    found = session.most_recent_checkpoint()
    assert found
    assert "1 message of the user" in found.summary
