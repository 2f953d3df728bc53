"""`hook compact`, `hook compacted`, `hook flush-offered`: what the plugin asks while a window fills and is emptied."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.context.summary import HEADINGS, sections_of
from jsonlstore.core.clock import parse_time
from jsonlstore.store import SessionStore
from tests.watch.conftest import Database, OpenClaw, Talk, stamp
from tests.watch.test_checkpoints import SECRET, SID, configure, follow

if TYPE_CHECKING:
    from pathlib import Path

KEY = "agent:main:main"


def hook(state_dir: Path, event: str, **document: Any) -> dict[str, Any]:
    """One call as the plugin makes it, in a process of its own; what it does after its answer is done, too."""
    given = {"session_id": SID, "session_key": KEY, "agent_id": "main", **document}
    done = subprocess.run(
        [sys.executable, "-m", "jsonlstore", "--state-dir", str(state_dir), "hook", event],
        input=json.dumps(given), capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def millis(at: str) -> int:
    return round(parse_time(at).timestamp() * 1000)


def turn(talk: Talk, text: str, answer: str = "Done.", *, used: int = 0, tools: Any = ()) -> list[dict[str, Any]]:
    """A turn with the times OpenClaw gives its messages, tool calls `(name, arguments, output, failed)` and usage."""
    records = [said(talk, "user", text)]
    for name, arguments, output, failed in tools:
        call = {"type": "toolCall", "id": f"c{talk.number}", "name": name, "arguments": arguments}
        records.append(said(talk, "assistant", [call], stopReason="toolUse"))
        result = {"toolCallId": call["id"], "toolName": name, "isError": failed}
        records.append(said(talk, "toolResult", output, **result))
    usage = {"input": used, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": used}
    return [*records, said(talk, "assistant", answer, stopReason="stop", **({"usage": usage} if used else {}))]


def said(talk: Talk, role: str, content: Any, **more: Any) -> dict[str, Any]:
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    at = millis(stamp(talk.number + 1, talk.day))
    return talk._entry("message", message={"role": role, "content": blocks, "timestamp": at, **more})


def times(records: list[dict[str, Any]]) -> list[int]:
    return [one["message"]["timestamp"] for one in records if one["message"]["role"] in ("user", "assistant")]


RUN = ("exec", {"command": "pytest tests"}, "2 failed, 3 passed\nCommand exited with code 1", True)
RAN = ("exec", {"command": "pytest tests"}, "5 passed", False)
COMMIT = (
    "exec",
    {"command": "git commit -m 'Tune the antenna'"},
    "[main 1a2b3c4] Tune the antenna\n 1 file changed",
    False,
)
NOTE = ("write", {"path": "memory/2026-09-21.md", "content": "x"}, "ok", False)


@pytest.fixture
def talk(openclaw: OpenClaw, state_dir: Path) -> Talk:
    """A session of two turns, 5,000 tokens, of which no checkpoint was made yet."""
    configure(state_dir, turnThreshold=1000, tokenThresholdPercents=[25, 50, 75])
    made = openclaw.begin(SID)
    first = turn(made, "Please tune the antenna for PROJ-12. Never touch src/legacy.", used=3000, tools=[RUN])
    second = turn(made, "Go on with the tuner then", "Still one to go.", used=5000, tools=[COMMIT])
    openclaw.append(SID, *first, *second)
    openclaw.index[KEY]["contextTokens"] = 10_000
    openclaw.save_index()
    return made


def all_times(openclaw: OpenClaw) -> list[int]:
    records = [json.loads(line) for line in openclaw.path(SID).read_text().splitlines()]
    return times([one for one in records if one["type"] == "message"])


def test_without_a_checkpoint_one_is_made_of_the_whole_session(openclaw: OpenClaw, talk: Talk, state_dir: Path) -> None:
    """Text under the five headings, from the transcript alone; our log says that no checkpoint was used."""
    answer = hook(state_dir, "compact", seen=all_times(openclaw))
    told = sections_of(answer["summary"])
    assert [name for name in told if name in HEADINGS] == list(HEADINGS)
    assert any("src/legacy" in one for one in told["Constraints/Rules"])
    assert {"1a2b3c4", "PROJ-12"} <= set(told["Exact identifiers"])
    assert answer["from_checkpoint"] is False
    follow(state_dir)


def test_a_checkpoint_of_half_the_tokens_is_taken_and_extended(openclaw: OpenClaw, talk: Talk, state_dir: Path) -> None:
    """What came after it outranks it: the tests that failed then pass now."""
    follow(state_dir)
    store = SessionStore.open(state_dir)
    assert len(store.events(SID, ("checkpoint.created",))) == 1
    later = turn(talk, "Mend the tuner in src/tuner.py", "All pass.", used=8000, tools=[RAN])
    openclaw.append(SID, *later)
    answer = hook(state_dir, "compact", seen=times(later)[:1] + all_times(openclaw)[:1], tokens=8000)
    assert answer["from_checkpoint"] is True
    assert "Mend the tuner" in answer["summary"]
    assert "tune the antenna" in answer["summary"]
    assert "`pytest tests` passed" in answer["summary"]
    assert "failed" not in answer["summary"]
    assert "3 messages of the user" in answer["summary"]
    (event,) = store.events(SID, ("compaction.supplied",))
    assert event.data == {"fromCheckpoint": True, "characters": len(answer["summary"]), "tokensBefore": 8000}


def test_a_checkpoint_of_less_than_half_is_not_taken(openclaw: OpenClaw, talk: Talk, state_dir: Path) -> None:
    follow(state_dir)
    openclaw.append(SID, *turn(talk, "And now everything else", used=10_100))
    answer = hook(state_dir, "compact", seen=all_times(openclaw))
    assert answer["from_checkpoint"] is False
    assert "everything else" in answer["summary"]


def test_a_checkpoint_from_before_a_compaction_is_not_taken(openclaw: OpenClaw, talk: Talk, state_dir: Path) -> None:
    """Its tokens were counted in a window that was emptied since."""
    follow(state_dir)
    cut = talk._entry("compaction", summary="s", firstKeptEntryId=talk.last, tokensBefore=5000)
    openclaw.append(SID, cut, *turn(talk, "On we go with the mast", used=2000))
    answer = hook(state_dir, "compact", seen=all_times(openclaw)[-2:])
    assert answer["from_checkpoint"] is False
    assert "mast" in answer["summary"]


def test_messages_of_another_conversation_make_no_summary(openclaw: OpenClaw, talk: Talk, state_dir: Path) -> None:
    """On any doubt nothing: one message that the transcript does not hold is enough, and so is none to compare."""
    follow(state_dir)
    known = all_times(openclaw)
    for seen in ([*known, 4711], [], None, "x", [known[0], None, 4711]):
        answer = hook(state_dir, "compact", seen=seen)
        assert answer["summary"] is None, seen
        assert answer["reason"]
    assert hook(state_dir, "compact", seen=known, session_id="5e551011-0000-4000-8000-00000000dead")["summary"] is None
    assert hook(state_dir, "compact", seen=known, agent_id="../main")["summary"] is None
    assert not SessionStore.open(state_dir).events(SID, ("compaction.supplied",))


def test_the_previous_summary_is_folded_in_and_a_foreign_one_quoted(
    openclaw: OpenClaw, talk: Talk, state_dir: Path
) -> None:
    previous = "## Decisions\n- use the long mast\n\n## Open TODOs\n- none known"
    told = hook(state_dir, "compact", seen=all_times(openclaw), previous_summary=previous)["summary"]
    assert "use the long mast" in sections_of(told)["Decisions"]


def test_a_stretch_after_a_reset_is_summarised_alone(database: Database, openclaw: OpenClaw, state_dir: Path) -> None:
    """Since 2026.9 the id stays over a reset: what was said before it is not part of the conversation."""
    talk = Talk(SID, version=4)
    before = turn(talk, "Please paint the old barn red")
    reset = talk.reset()
    after = turn(talk, "Please tune the antenna in src/tuner.py", used=3000)
    database.add(SID, [talk.header, *before, reset, *after], key=KEY)
    answer = hook(state_dir, "compact", seen=times(after))
    assert answer["session_id"] != SID
    assert "antenna" in answer["summary"]
    assert "barn" not in answer["summary"]
    assert hook(state_dir, "compact", seen=times(before))["summary"] is None


def test_no_secret_is_in_a_summary(openclaw: OpenClaw, talk: Talk, state_dir: Path) -> None:
    openclaw.append(SID, *turn(talk, f"Log in to the antenna with {SECRET} and never print it", used=6000))
    assert SECRET not in hook(state_dir, "compact", seen=all_times(openclaw))["summary"]


def test_after_a_compaction_the_block_names_the_memory_files(openclaw: OpenClaw, talk: Talk, state_dir: Path) -> None:
    """Also where nothing was restored; later calls give the same block, whichever they are."""
    openclaw.append(SID, *turn(talk, "Note it down please", used=6000, tools=[NOTE]))
    follow(state_dir)
    hook(state_dir, "session-start", channel="webchat", under_way=True)
    assert hook(state_dir, "turn-end", tell_block=True)["block"] is None
    block = hook(state_dir, "compacted")["block"]
    assert block.startswith("<session-continuity")
    assert "memory/2026-09-21.md" in block
    assert hook(state_dir, "compacted")["block"] == block
    assert hook(state_dir, "turn-end", tell_block=True)["block"] == block
    assert hook(state_dir, "session-start", channel="webchat", under_way=True)["block"] == block
    assert len(SessionStore.open(state_dir).events(SID, ("session.compacted",))) == 1


def test_the_block_after_a_compaction_is_told_ahead(openclaw: OpenClaw, talk: Talk, state_dir: Path) -> None:
    """So that a turn has it though the answer about the compaction itself is late; nothing is recorded for it."""
    follow(state_dir)
    hook(state_dir, "session-start", channel="webchat", under_way=True)
    assert hook(state_dir, "turn-end", tell_compacted=True)["block_if_compacted"] is None
    openclaw.append(SID, *turn(talk, "Note it down please", used=6000, tools=[NOTE]))
    ahead = hook(state_dir, "turn-end", tell_block=True, tell_compacted=True)
    assert ahead["block"] is None
    assert not SessionStore.open(state_dir).events(SID, ("session.compacted",))
    assert hook(state_dir, "compacted")["block"] == ahead["block_if_compacted"]
    assert "block_if_compacted" not in hook(state_dir, "turn-end", tell_block=True)


def test_a_secret_in_the_name_of_a_memory_file_is_not_told(openclaw: OpenClaw, talk: Talk, state_dir: Path) -> None:
    note = (NOTE[0], {**NOTE[1], "path": f"memory/{SECRET}.md"}, *NOTE[2:])
    openclaw.append(SID, *turn(talk, "Note it down please", used=6000, tools=[note]))
    told = hook(state_dir, "turn-end", tell_compacted=True)["block_if_compacted"]
    assert "MEMORY FILES" in told
    assert SECRET not in told


def test_a_compaction_without_memory_files_changes_nothing(talk: Talk, state_dir: Path) -> None:
    follow(state_dir)
    assert hook(state_dir, "compacted")["block"] is None
    assert not SessionStore.open(state_dir).events(SID, ("session.compacted",))


@pytest.mark.parametrize(("tools", "actioned"), [([NOTE], True), ([RAN], False)])
def test_an_offer_is_recorded_and_settled_without_a_watcher(
    openclaw: OpenClaw, talk: Talk, state_dir: Path, tools: Any, actioned: bool
) -> None:
    """`flush.offered`, `flush.actioned`, the metrics and the statistics; the same offer twice counts once."""
    offer = {"percent": 75, "at": stamp(talk.number, talk.day)[:-4] + "500Z", "compaction": 0, "tokens": 7, "window": 9}
    assert hook(state_dir, "flush-offered", flush=offer)["recorded"] is True
    assert hook(state_dir, "flush-offered", flush=offer)["recorded"] is False
    openclaw.append(SID, *turn(talk, "Go on", used=7000, tools=tools))
    hook(state_dir, "turn-end", catch_up=True, settle_flush=True)
    store = SessionStore.open(state_dir)
    (offered,) = store.events(SID, ("flush.offered",))
    (settled,) = store.events(SID, ("flush.actioned",))
    assert offered.data == offer
    assert settled.data["actioned"] is actioned
    (first,), (second,) = store.metrics.read("flush_offered"), store.metrics.read("flush_actioned")
    assert (first["percent"], second["percent"], second["actioned"]) == (75, 75, actioned)
    done = subprocess.run(
        [sys.executable, "-m", "jsonlstore", "--state-dir", str(state_dir), "stats", "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["flushes"] == {"offered": 1, "actioned": int(actioned)}


def test_the_turn_of_an_offer_is_settled_though_the_prompt_was_stored_before_it(
    openclaw: OpenClaw, talk: Talk, state_dir: Path
) -> None:
    """Some versions store the user's words before the prompt is built: what counts is when the turn was answered."""
    records = turn(talk, "Go on", used=7000, tools=[NOTE])
    at = records[0]["timestamp"][:-4] + "300Z"
    hook(state_dir, "flush-offered", flush={"percent": 50, "at": at})
    openclaw.append(SID, *records)
    openclaw.append(SID, *turn(talk, "And on", used=7100))
    follow(state_dir)
    (settled,) = SessionStore.open(state_dir).events(SID, ("flush.actioned",))
    assert settled.data["actioned"] is True


def test_a_plugin_that_starts_again_is_told_how_far_the_flush_got(talk: Talk, state_dir: Path) -> None:
    follow(state_dir)
    hook(state_dir, "flush-offered", flush={"percent": 75, "compaction": 12})
    answer = hook(state_dir, "session-start", channel="webchat", under_way=True, tell_flush=True)
    assert answer["flush"] == {"percent": 75, "compaction": 12}
    assert answer["window"] == 10_000
    assert "flush" not in hook(state_dir, "session-start", channel="webchat", under_way=True)


def test_an_offer_without_a_percentage_is_refused_by_name(state_dir: Path) -> None:
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(state_dir), "hook", "flush-offered"]
    for flush in (None, {}, {"percent": "75"}):
        given = json.dumps({"session_id": SID, "flush": flush})
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "flush must be an object with a percent" in done.stderr


def test_a_model_may_word_the_newest_checkpoint_once(openclaw: OpenClaw, talk: Talk, state_dir: Path) -> None:
    """Its words, without secrets, in a checkpoint with the same evidence; what makes no sense changes nothing."""
    follow(state_dir)
    asked = hook(state_dir, "checkpoint")
    assert "one JSON object" in asked["prompt"]
    assert "PROJ-12" in asked["prompt"]
    for text in ("", "no json", "{}", '{"summary": 7}'):
        assert hook(state_dir, "checkpoint", at=asked["at"], text=text)["recorded"] is False
    answer = json.dumps({"summary": f"They tune it. {SECRET}", "keyDecisions": ["the long mast"]})
    assert hook(state_dir, "checkpoint", at="2020-01-01T00:00:00.000Z", text=answer)["recorded"] is False
    assert hook(state_dir, "checkpoint", at=asked["at"], text=f"Here you are: {answer}")["recorded"] is True
    store = SessionStore.open(state_dir)
    first, second = store.events(SID, ("checkpoint.created",))
    assert second.data["summary"].startswith("They tune it.")
    assert second.data["keyDecisions"] == ["the long mast"]
    assert second.data["evidence"] == first.data["evidence"]
    assert SECRET not in store.paths.log(SID).read_text()
    assert "prompt" not in hook(state_dir, "checkpoint")
    assert "They tune it" in hook(state_dir, "compact", seen=all_times(openclaw), tokens=6000)["summary"]


def test_the_command_line_knows_every_hook() -> None:
    """What the quick way answers, `--help` names."""
    from jsonlstore.cli.hook import _MODULES
    from jsonlstore.cli.restore import _HOOK_EVENTS

    answered = {
        (event, name) for name in set(_MODULES.values()) for event in import_module(f"jsonlstore.cli.hook_{name}").HOOKS
    }
    assert answered == set(_MODULES.items())
    assert set(_HOOK_EVENTS) == set(_MODULES)
