"""From entries to signals."""

from __future__ import annotations

import pickle
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore.core.model import SessionState
from jsonlstore.signals.distil import Distiller
from jsonlstore.signals.options import SignalOptions, ToolNames
from jsonlstore.signals.session_signals import Signals
from jsonlstore.transcripts.records import Entry

Message = dict[str, Any]


def user(text: str) -> Message:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def assistant(text: str, *calls: tuple[str, str, dict[str, Any]]) -> Message:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
    blocks += [{"type": "toolCall", "id": id_, "name": name, "arguments": arguments} for id_, name, arguments in calls]
    return {"role": "assistant", "content": blocks, "provider": "p", "model": "m"}


def result(call: str, tool: str, text: str = "ok", *, failed: bool = False, **details: Any) -> Message:
    content = [{"type": "text", "text": text}]
    return {
        "role": "toolResult",
        "toolCallId": call,
        "toolName": tool,
        "content": content,
        "details": details,
        "isError": failed,
    }


def entries(*messages: Message) -> list[Entry]:
    header = {
        "type": "session",
        "version": 3,
        "id": "s",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": "/home/u/.openclaw/workspace",
    }
    made = [Entry(header)]
    for number, message in enumerate(messages):
        raw = {
            "type": "message", "id": f"e{number}", "parentId": f"e{number - 1}" if number else None,
            "timestamp": f"2026-01-01T00:{number // 60:02}:{number % 60:02}.000Z", "message": message,
        }  # fmt: skip
        made.append(Entry(raw, number))
    return made


def distil(*messages: Message, options: SignalOptions | None = None) -> Signals:
    distiller = Distiller(options)
    for entry in entries(*messages):
        distiller.feed(entry)
    return distiller.result()


RADIO = (
    user("Let's go with hamlib for the ft991a control in lbf-ham-radio."),
    assistant(
        "Looking at the ham radio project.", ("c1", "exec", {"command": "cd /home/u/Projects/lbf-ham-radio && ls"})
    ),
    result("c1", "exec", "(no output)", cwd="/home/u/.openclaw/workspace", exitCode=0),
    user("The build fails: cannot open the serial port, I'm stuck on permissions. TODO task-017 test the ft991a"),
    assistant("Checking.", ("c2", "cortex_add", {"content": "dialout group needed", "categories": ["radio"]})),
    result("c2", "cortex_add", "Stored memory stm_42", id="stm_42"),
    assistant(
        "", ("c3", "working_memory", {"action": "pin", "content": "FT991A on /dev/ttyUSB0", "label": "rig port"})
    ),
    result("c3", "working_memory", "Pinned"),
    user("Fixed it, turns out the user was not in the dialout group."),
    assistant("Great. Next step: run the CAT test against the radio."),
)


def test_a_whole_session_is_distilled() -> None:
    found = distil(*RADIO)
    assert {"ft991a", "lbf-ham-radio", "rig port", "radio"} <= set(found.hot_topics)
    assert found.active_projects == ("lbf-ham-radio",)
    assert ("task-017", True) in [(task.task_id, task.flagged_incomplete) for task in found.pending_tasks]
    assert found.recent_learnings == ("stm_42",)
    assert [(pin.label, pin.content) for pin in found.working_memory] == [("rig port", "FT991A on /dev/ttyUSB0")]
    told = {(note.type, note.source_entry_id, note.resolved) for note in found.notes}
    assert {("decision", "e0", None), ("insight", "e8", None)} <= told
    assert not [note for note in found.notes if note.type == "blocker"]
    assert found.next_step == "run the CAT test against the radio"
    assert found.last_topic == "Fixed it, turns out the user was not in the dialout group."
    assert (found.start_time, found.end_time) == ("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:09.000Z")


def test_the_fields_fit_a_session_state() -> None:
    fields = distil(*RADIO).to_fields()
    state = SessionState.from_dict({"session_id": "s", **orjson.loads(orjson.dumps(fields))})
    assert state.hot_topics == tuple(fields["hot_topics"])
    assert [note.to_dict() for note in state.notes] == fields["notes"]
    assert state.extra == {}


@pytest.mark.parametrize(
    "said",
    [
        "GITHUB_TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "GITHUB_TOKEN: ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        'export GITHUB_TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"',
        "'github_token' => 'ghp_16C7e42F292c6912E7710c838347Ae178B4a',",
    ],
)
def test_the_name_of_what_was_hidden_is_no_topic(said: str) -> None:
    """Nobody talks about a variable by pasting its value."""
    signals = distil(user(f"antenna antenna {said} antenna"), user(f"{said} antenna"))
    assert "antenna" in signals.hot_topics
    assert not [topic for topic in signals.hot_topics if "token" in topic or "redacted" in topic]


def test_failed_calls_leave_nothing() -> None:
    found = distil(
        assistant(
            "", ("a", "working_memory", {"action": "pin", "content": "x"}), ("b", "cortex_add", {"content": "y"})
        ),
        result("a", "working_memory", "full", failed=True),
        result("b", "cortex_add", "Cortex memory not available, id 12345", error="unavailable"),
    )
    assert found.working_memory == ()
    assert found.recent_learnings == ()


def test_tool_names_are_configurable_and_server_prefixes_are_taken_off() -> None:
    options = SignalOptions(tools=ToolNames(learn=frozenset({"remember"})))
    found = distil(
        assistant("", ("a", "mcp__brain__remember", {"content": "x"})),
        result("a", "mcp__brain__remember", id="m1"),
        options=options,
    )
    assert found.recent_learnings == ("m1",)


def test_system_notices_and_our_own_preamble_are_not_signals() -> None:
    block = (
        '<session-continuity hint="inherited from prior sessions">\nwe decided to use zanzibar\n</session-continuity>'
    )
    found = distil(
        user(block),
        user("System: [2026-01-01 10:00:00 UTC] Exec failed: zanzibar"),
        {**assistant("We decided to use zanzibar"), "provider": "openclaw", "model": "gateway-injected"},
    )
    assert found.notes == ()
    assert found.hot_topics == ()
    assert found.last_topic is None


def test_tool_output_is_not_talk() -> None:
    found = distil(
        assistant("", ("a", "exec", {"command": "make"})),
        result("a", "exec", "we decided to use zanzibar. TODO: zanzibar"),
    )
    assert found.notes == found.pending_tasks == found.hot_topics == ()


def test_the_documents_pattern_order_is_an_option() -> None:
    found = distil(user("Fixed the bug in the tuner"), options=SignalOptions(first_match_patterns=True))
    assert [note.type for note in found.notes] == ["blocker"]


def test_last_topic_and_next_step_come_from_the_active_path() -> None:
    """DECISION 47: signals from every branch, the outlook from the active one."""
    header, first, left, right = entries(
        user("Plan the antenna mast."), user("Abandoned: paint the kitchen wall."), user("Measure the antenna height.")
    )
    right = Entry({**right.raw, "parentId": "e0"})
    distiller = Distiller()
    for entry in (header, first, left, right):
        distiller.feed(entry)
    found = distiller.result()
    assert found.next_step == found.last_topic == "Measure the antenna height."
    assert "kitchen" in found.hot_topics
    assert distiller.result(on_path={"e0", "e1"}).last_topic == "Abandoned: paint the kitchen wall."
    distiller.feed(Entry({"type": "leaf", "id": "l", "parentId": None, "targetId": "e1"}))
    assert distiller.result().last_topic == "Abandoned: paint the kitchen wall."


def test_synapse_messages_give_topics_tasks_and_their_acknowledgement_closes_them() -> None:
    sent = (
        assistant(
            "",
            (
                "a",
                "synapse",
                {"action": "send", "to": "petra", "subject": "task-9 mast guy wires", "body": "please check"},
            ),
        ),
        result("a", "synapse", "sent"),
    )
    acked = (
        assistant("", ("b", "synapse", {"action": "ack", "task_id": "task-9"})),
        result("b", "synapse", "task-9 completed"),
    )
    assert [task.task_id for task in distil(*sent).pending_tasks] == ["task-9"]
    assert "petra" in distil(*sent).hot_topics
    assert distil(*sent, *acked).pending_tasks == ()


SECRETS = (
    "ghp_" + "a1B2" * 9,
    "sk-ant-api03-" + "Zx9_" * 22,
    "AKIA" + "QWERTYUIOPASDFGH",
    "xoxb-123456789012-abcdefghijklmnop",
)
PLACES = (
    "{} is the key",
    "token={}",
    'TODO: rotate "{}" soon',
    "we decided to use {}",
    "stuck on password: {}",
    "cd /home/u/Projects/{}",
    "task-7 {}",
)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("place", PLACES)
def test_no_secret_survives_in_any_field(secret: str, place: str) -> None:
    text = place.format(secret)
    found = distil(
        user(text),
        assistant(
            text,
            ("a", "working_memory", {"action": "pin", "content": text, "label": secret}),
            ("b", "cortex_add", {"content": text, "categories": [secret]}),
            ("c", "exec", {"command": text, "workdir": f"/home/u/Projects/{secret}"}),
            ("d", "synapse", {"to": secret, "subject": text, "body": text}),
            ("e", "read", {"path": f"/home/u/Projects/x/{secret}.py"}),
        ),
        *(result(call, tool, text, id=secret, cwd=f"/home/u/Projects/{secret}") for call, tool in
          [("a", "working_memory"), ("b", "cortex_add"), ("c", "exec"), ("d", "synapse"), ("e", "read")]),
    )  # fmt: skip
    dumped = orjson.dumps(found.to_fields()).decode().lower()
    for length in (8, len(secret)):
        assert secret[-length:].lower() not in dumped


def test_a_key_block_cut_by_the_length_bound_leaves_no_line_of_it() -> None:
    key = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj" + f"{number:04}" for number in range(600))
    text = f"look at this\n-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\nand the mast"
    assert "miievqib" not in orjson.dumps(distil(user(text)).to_fields()).decode().lower()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
ROLES = st.sampled_from(["user", "assistant", "toolResult", "custom", "bashExecution", "nonsense"])
TOOLS = st.sampled_from(["exec", "read", "cortex_add", "cortex_update", "working_memory", "synapse", "sop", "x"])


TALK = st.sampled_from(["We decided to use X.", "TODO: y task-3", "it fails", "Fixed.", ""]) | st.text(max_size=60)
TYPES = st.sampled_from(["message", "message", "leaf", "session", "custom_message", "reset", "odd"])
CALL_IDS = st.sampled_from(["a", "b"])


@st.composite
def wild_entries(draw: st.DrawFn) -> list[Entry]:
    made = []
    for number in range(draw(st.integers(0, 6))):
        text = draw(TALK)
        call = {"type": "toolCall", "id": draw(CALL_IDS), "name": draw(TOOLS), "arguments": draw(JSON)}
        message = {
            "role": draw(ROLES),
            "content": draw(st.just(text) | st.just([{"type": "text", "text": text}, call]) | JSON),
            "toolCallId": draw(CALL_IDS),
            "toolName": draw(TOOLS),
            "details": draw(JSON),
            "isError": draw(st.booleans()),
        }
        raw = {
            "type": draw(TYPES),
            "id": f"e{number}",
            "parentId": draw(st.sampled_from([None, "e0", f"e{number - 1}"])),
            "timestamp": draw(JSON),
            "cwd": draw(JSON),
            "targetId": draw(JSON),
            "message": message,
            "content": draw(JSON),
        }
        made.append(Entry(raw, number))
    return made


@settings(max_examples=150, deadline=None)
@given(wild_entries())
def test_feeding_never_raises_and_the_fields_are_json(made: list[Entry]) -> None:
    distiller = Distiller()
    for entry in made:
        distiller.feed(entry)
    assert orjson.loads(orjson.dumps(distiller.result().to_fields()))["hot_topics"] is not None


@settings(max_examples=100, deadline=None)
@given(wild_entries(), st.data())
def test_asking_in_between_and_starting_over_change_nothing(made: list[Entry], data: st.DataObject) -> None:
    """DECISION 47: live watching, a restart in the middle and a backfill give the same."""
    whole, watched = Distiller(), Distiller()
    for entry in made:
        whole.feed(entry)
        watched.feed(entry)
        if data.draw(st.booleans()):
            watched.result()
    again = Distiller()
    for entry in made:
        again.feed(entry)
    assert whole.result() == watched.result() == again.result()


def test_a_long_session_costs_no_more_memory() -> None:
    """Every accumulator is bounded: three times as much talk, all of it new, leaves what is remembered as it was."""

    def remembered(turns: int) -> int:
        distiller = Distiller()
        for number in range(turns):
            fresh = " ".join(f"w{number}x{place}y" for place in range(30))
            raw = {
                "type": "message",
                "id": f"e{number}",
                "message": user(f"We decided to use r{number}q. TODO task-{number}. {fresh}"),
            }
            distiller.feed(Entry(raw, number))
        return len(pickle.dumps(distiller))

    assert remembered(4_500) < 1.5 * remembered(1_500)
