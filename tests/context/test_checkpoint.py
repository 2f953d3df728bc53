"""Checkpoints and summaries: made of evidence, bounded, deterministic, extended without contradiction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.context import Checkpoint, checkpoint_due, extended, make_checkpoint, summary_text
from jsonlstore.context.checkpoint import MOST_BYTES, bounded
from jsonlstore.context.summary import HEADINGS, MOST_CHARACTERS, sections_of
from jsonlstore.core.model import Note
from jsonlstore.core.session_settings import CheckpointSettings
from jsonlstore.signals import Distiller
from jsonlstore.transcripts import Entry

TEXTS = st.lists(st.text(max_size=400), max_size=60)
LISTS = (
    "asks",
    "constraints",
    "done",
    "closed",
    "inProgress",
    "tasks",
    "blocked",
    "files",
    "identifiers",
    "memoryFiles",
)


def entry(number: int, message: dict[str, Any], kind: str = "message") -> Entry:
    at = f"2026-02-01T10:{number // 60:02}:{number % 60:02}.000Z"
    body = {"message": message} if kind == "message" else message
    return Entry(
        {"type": kind, "id": f"e{number}", "parentId": f"e{number - 1}" if number else None, "timestamp": at, **body}
    )


def told(*steps: tuple[str, Any]) -> Distiller:
    """A session of user texts, answers and tool calls with their results."""
    distiller, number = Distiller(), 0
    for kind, value in steps:
        if kind in ("user", "assistant"):
            distiller.feed(entry(number, {"role": kind, "content": [{"type": "text", "text": value}]}))
        else:
            name, arguments, output, failed = value
            call = {"type": "toolCall", "id": f"c{number}", "name": name, "arguments": arguments}
            distiller.feed(entry(number, {"role": "assistant", "content": [call], "stopReason": "toolUse"}))
            number += 1
            result = {"role": "toolResult", "toolCallId": f"c{number - 1}", "toolName": name, "isError": failed}
            distiller.feed(entry(number, {**result, "content": [{"type": "text", "text": output}]}))
        number += 1
    return distiller


def made(*steps: tuple[str, Any]) -> Checkpoint:
    distiller = told(*steps)
    return make_checkpoint(distiller.result(), distiller.facts(), 1000)


FAILING = ("tool", ("exec", {"command": "pytest tests"}, "2 failed, 3 passed\nCommand exited with code 1", True))
PASSING = ("tool", ("exec", {"command": "pytest tests"}, "5 passed", False))
COMMIT = (
    "tool",
    ("exec", {"command": "git commit -m 'Add parser'"}, "[main 1a2b3c4] Add parser\n 1 file changed", False),
)
MEMORY = ("tool", ("write", {"path": "./memory/2026-02-01.md", "content": "x"}, "ok", False))


def test_a_checkpoint_holds_commits_files_commands_and_memory_files() -> None:
    found = made(
        ("user", "Add a parser for PROJ-12, see https://example.org/spec"),
        ("tool", ("write", {"path": "src/parser.py", "content": "x"}, "ok", False)),
        COMMIT, FAILING, MEMORY, ("assistant", "The parser is there; one test fails."),
    )  # fmt: skip
    assert "1a2b3c4 Add parser" in found.texts("done")
    assert any("src/parser.py" in one for one in found.texts("files"))
    assert found.texts("memoryFiles") == ("memory/2026-02-01.md",)
    assert {"PROJ-12", "https://example.org/spec", "1a2b3c4"} <= set(found.texts("identifiers"))
    assert found.evidence["failing"]["command"] == "pytest tests"


def test_what_was_mended_after_a_checkpoint_is_not_said_to_fail_when_it_is_extended() -> None:
    before = made(("user", "Run the tests of the parser"), FAILING, ("assistant", "They fail."))
    after = made(("user", "Mend the parser and run them again"), PASSING, COMMIT, ("assistant", "All pass."))
    both = extended(before, after)
    assert before.evidence["failing"]
    assert "failing" not in both.evidence
    assert [one["outcome"] for one in both.evidence["commands"] if one["command"] == "pytest tests"] == ["passed"]
    assert len(both.texts("asks")) == 2
    assert "fails" not in summary_text(both)


def test_turns_are_over_when_the_agent_stopped_working() -> None:
    assert told(("user", "hello there, old friend"), ("assistant", "hi")).facts().turn_over
    assert not told(("user", "hello there, old friend")).facts().turn_over
    assert not told(("user", "run the tests please"), PASSING).facts().turn_over


def test_paths_outside_memory_are_no_memory_files_decision_37() -> None:
    for path in ("memory/../secrets.md", "notes/memory/a.md", "memoryx/a.md"):
        assert not made(("user", "write it down"), ("tool", ("write", {"path": path}, "ok", False))).texts(
            "memoryFiles"
        )


def test_a_checkpoint_is_due_at_each_percentage_once_and_after_so_many_messages() -> None:
    settings = CheckpointSettings(min_tokens_for_gen=100)
    facts = told(("user", "hello there, old friend"), ("assistant", "hi")).facts()

    def due(used: int | None, **last: int) -> str | None:
        return checkpoint_due(settings, facts, used, 1000, last)

    assert due(249) is None
    assert due(250) == "tokens"
    assert due(90) is None
    assert due(260, percent=25) is None
    assert due(760, percent=50) == "tokens"
    assert due(300, percent=80, compactions=1) == "tokens"  # the window was emptied since
    assert checkpoint_due(CheckpointSettings(turn_threshold=1), facts, None, None, {}) == "messages"
    assert checkpoint_due(CheckpointSettings(enabled=False, turn_threshold=1), facts, None, None, {}) is None


@given(st.fixed_dictionaries(dict.fromkeys(LISTS, TEXTS)), st.text(max_size=700))
def test_no_checkpoint_exceeds_8_kb_and_what_is_left_out_is_counted(evidence: dict[str, list[str]], said: str) -> None:
    whole = Checkpoint(None, None, said, 1, 1, evidence=evidence)
    found = bounded(whole)
    assert len(orjson.dumps(found.to_dict())) <= MOST_BYTES
    omitted = found.evidence.get("omitted", {})
    for name in LISTS:
        assert len(found.evidence[name]) + omitted.get(name, 0) == len(evidence[name])
        assert all(any(_is_of(one, said) for said in evidence[name]) for one in found.evidence[name])
    assert bounded(whole) == found


def _is_of(told: str, said: str) -> bool:
    """Whether it is what was said, whole or cut short."""
    return told == said or (told.endswith("…") and len(told) <= 240 < len(said) and said.startswith(told[:-1]))


WORDS = st.text(max_size=300) | st.sampled_from(["\U0001f4e1" * 300, "天线" * 150, '"\\\n' * 100])
SINGLE = st.fixed_dictionaries({"command": WORDS, "summary": WORDS})


@given(
    st.fixed_dictionaries(dict.fromkeys(LISTS, TEXTS)),
    st.lists(WORDS, max_size=24),
    st.lists(WORDS, max_size=10),
    st.fixed_dictionaries({"lastFailed": SINGLE, "failing": SINGLE, "next": WORDS}),
    WORDS.map(lambda one: one * 7),
)
def test_no_words_of_a_generator_make_a_checkpoint_exceed_8_kb(
    evidence: dict[str, Any], decisions: list[str], questions: list[str], single: dict[str, Any], said: str
) -> None:
    """Whatever is long: what stays is what was there, of decisions the newest."""
    whole = Checkpoint(
        None, None, said, 1, 1, tuple(questions), tuple(questions[:5]), tuple(decisions), {**evidence, **single}
    )
    found = bounded(whole)
    assert len(orjson.dumps(found.to_dict())) <= MOST_BYTES
    assert found.key_decisions == whole.key_decisions[len(decisions) - len(found.key_decisions) :]
    assert said.startswith(found.summary)
    assert bounded(found) == found


def test_the_request_that_set_the_goal_stays_when_others_go() -> None:
    asks = [f"request {number} about {'the mast ' * 30}" for number in range(40)]
    found = bounded(Checkpoint(None, None, "s", 1, 1, evidence={"asks": asks})).texts("asks")
    assert len(found) < 40
    assert all(_is_of(told, said) for told, said in zip(found, (asks[0], *asks[41 - len(found) :]), strict=True))


def test_a_long_request_is_told_whole_where_there_is_room() -> None:
    """What a user rules often stands far behind the beginning of a long message."""
    request = (
        f"Please rework the mast. {'It has to carry the new antenna and the lamp. ' * 15}Every bolt gets a number."
    )
    found = made(("user", request), ("assistant", "Done."), ("user", "Paint it"), ("assistant", "Done."))
    assert found.texts("asks")[0].endswith("Every bolt gets a number.")


def test_of_long_requests_the_older_ones_are_cut_first() -> None:
    asks = [f"request {number} about {'the mast ' * 120}" for number in range(10)]
    found = bounded(Checkpoint(None, None, "s", 1, 1, evidence={"asks": asks})).texts("asks")
    whole = [told == said for told, said in zip(found, asks, strict=True)]
    assert whole[0]
    assert not whole[1]
    assert whole[-1]
    assert whole[1:] == sorted(whole[1:])


@given(st.fixed_dictionaries(dict.fromkeys(LISTS, TEXTS)), TEXTS, st.none() | st.text(max_size=20_000))
def test_a_summary_has_the_five_headings_in_order_once_and_is_bounded(
    evidence: dict[str, list[str]], decisions: list[str], previous: str | None
) -> None:
    text = summary_text(Checkpoint(None, None, "s", 1, 1, (), (), tuple(decisions), evidence), previous)
    assert len(text) <= MOST_CHARACTERS + 200
    lines = [line for line in text.splitlines() if line in {f"## {name}" for name in HEADINGS}]
    assert lines == [f"## {name}" for name in HEADINGS]


def test_the_previous_summary_is_folded_in() -> None:
    first = summary_text(
        Checkpoint(None, None, "s", 1, 1, key_decisions=("use sqlite",), evidence={"tasks": ["old one"]})
    )
    second = summary_text(Checkpoint(None, None, "t", 1, 1, key_decisions=("ship on friday",)), first)
    assert sections_of(second)["Decisions"] == ("use sqlite", "ship on friday")
    assert "old one" not in second  # its to-dos are told anew
    assert "It all began" in summary_text(Checkpoint(None, None, "t", 1, 1), "It all began with a bug.")


def test_a_stored_checkpoint_reads_back_the_same() -> None:
    found = made(("user", "Add a parser for PROJ-12"), COMMIT, ("assistant", "Done."))
    assert Checkpoint.from_dict(orjson.loads(orjson.dumps(found.to_dict())), None, found.timestamp) == found


def test_rules_are_found_in_long_instructions_and_not_in_what_programs_print() -> None:
    """Orders in the user's words count wherever they stand; statements, questions, logs and code do not."""
    document = """# Task: the janitor

The janitor must **never delete automatically**. It reports.
- Do NOT touch archive/2024
Server addresses → always from the settings
I never saw it fail. Why do we never test that?
(server pid=80) If this is private, never do not pass a token
    never = True;
"""
    rules = told(("user", document + "More about it. " * 200), ("assistant", "Understood.")).facts().rules
    assert rules == (
        "The janitor must never delete automatically.",
        "Do NOT touch archive/2024",
        "Server addresses → always from the settings",
    )


def test_rules_behind_a_fence_that_nobody_closed_are_the_user_s_and_the_code_in_it_is_not() -> None:
    """A prompt copied from a page has often lost the end of its code; a closed fence holds none either."""
    document = """Build the chat command.

```python
# Always call this twice
import radio
Never import the old one

def tune():
    Never tune by hand.
    return radio

2. Guidelines
Addresses → always from the settings
-- never drop this table
* Do not print, use the console
"""
    rules = told(("user", document), ("assistant", "Understood.")).facts().rules
    assert rules == ("Addresses → always from the settings", "Do not print, use the console")
    closed = document.replace("2. Guidelines", "```\n2. Guidelines").replace("Build", "~~~\nNever build\n~~~\nBuild")
    assert told(("user", closed.replace("--", "#")), ("assistant", "Understood.")).facts().rules == rules


def test_a_request_around_a_pasted_log_keeps_its_last_line() -> None:
    """The first and the last line are the user's; what lies between was pasted."""
    log = "\n".join(f"2026-02-01 10:00:{number:02} INFO request {number} took 12 ms" for number in range(60))
    found = made(("user", f"look at this\n{log}\nand write a test first from now on"), ("assistant", "I will."))
    (ask,) = found.texts("asks")
    assert ask.startswith("look at this")
    assert ask.endswith("and write a test first from now on")
    assert len(ask) <= 410


def test_requests_that_were_answered_are_not_told_to_be_pending() -> None:
    text = summary_text(
        made(("user", "Tune the antenna"), ("assistant", "Done."), ("user", "Paint it"), ("assistant", "Done."))
    )
    told_of = sections_of(text)
    assert not any("Tune the antenna" in one for one in told_of["Pending user asks"])
    assert any("Tune the antenna" in one for one in told_of["Where it stands"])


def test_rules_take_no_decision_s_place() -> None:
    rules = [f"never touch part {number} of the mast" for number in range(9)]
    older = ["use the tall mast"]
    signals, facts = told(("user", "hello there")).result(), told(("user", "hello there")).facts()
    said = [*older, *(f"choose colour {number}" for number in range(11)), *rules]
    notes = tuple(Note(f"n{number}", "decision", one) for number, one in enumerate(said))
    found = make_checkpoint(replace(signals, notes=notes, constraints=tuple(rules)), facts)
    assert found.key_decisions[0] == "use the tall mast"
    assert found.key_decisions[-9:] == tuple(rules)


GIT_SAYS = "[main 1a2b3c4] Release 1.2\n 2 files changed, 3 insertions(+)\n"


@pytest.mark.parametrize(
    ("command", "output", "commits"),
    [
        ("./release.sh", f"building\n{GIT_SAYS}pushed", ["1a2b3c4 Release 1.2"]),
        ("powershell -ExecutionPolicy Bypass -File ./release.ps1", GIT_SAYS, ["1a2b3c4 Release 1.2"]),
        ("git -c user.name='A B' -C tools commit -qm 'Mend it'", "Command exited with code 0", ["Mend it"]),
        ("git -C tools commit -m 'Release 1.2'", GIT_SAYS, ["1a2b3c4 Release 1.2"]),
        ("cat release.log", GIT_SAYS, []),
        ("pytest tests", f"1 passed\n{GIT_SAYS}", []),
        ("./release.sh", "[main 1a2b3c4] not what git says\nnothing", []),
    ],
)  # fmt: skip
def test_commits_are_those_that_git_tells_of(command: str, output: str, commits: list[str]) -> None:
    """Also through a script or with options before the subcommand; not what a file or a test prints."""
    found = made(("user", "release it"), ("tool", ("exec", {"command": command}, output, False)), ("assistant", "ok"))
    assert list(found.texts("done")) == commits


def test_the_command_that_failed_last_is_told_until_it_passes() -> None:
    """Whatever it was for; one that passed since gives way to the one before it that did not."""
    broken = ("tool", ("exec", {"command": "./sync --all"}, "no route\nCommand exited with code 2", True))
    found = made(("user", "sync it, then run the tests"), broken, FAILING, ("assistant", "Both fail."))
    assert found.evidence["lastFailed"]["command"] == "pytest tests"
    mended = made(("user", "sync it, then run the tests"), broken, FAILING, PASSING, ("assistant", "One fails."))
    assert mended.evidence["lastFailed"]["command"] == "./sync --all"
    later = made(("user", "again please, all of it"), PASSING, ("assistant", "They pass."))
    assert "lastFailed" not in extended(made(("user", "run the tests"), FAILING, ("assistant", "no")), later).evidence
    assert "./sync --all" in summary_text(mended)


def test_what_is_taken_back_after_a_checkpoint_is_no_decision_any_more() -> None:
    """The checkpoint holds the decision; the part after it holds only that it was dropped."""
    before = Checkpoint(None, None, "s", 1, 1, key_decisions=("use sqlite", "never ship on friday"))
    before = Checkpoint.from_dict({**before.to_dict(), "evidence": {"constraints": ["never ship on friday"]}})
    after = Checkpoint(None, None, "t", 1, 1, evidence={"takenBack": 1, "asks": ["scrap that"]})
    both = extended(before, after)
    assert both.key_decisions == ("use sqlite",)
    assert not both.texts("constraints")


def test_an_extended_checkpoint_counts_all_of_the_session() -> None:
    """Its summary speaks of the whole, not of the part that was added."""
    before = made(("user", "Add the parser please"), COMMIT, ("assistant", "Done."))
    both = extended(before, made(("user", "Now the printer please"), ("assistant", "Done.")))
    assert "2 messages of the user" in both.summary
    assert "1 commit" in both.summary


def test_no_secret_of_a_command_is_in_a_checkpoint() -> None:
    """Also where the cut would fall into the middle of it."""
    secret = "ghp_" + "q7v2kd9zt5m1" * 3
    for padding in ("", "x" * 130):
        command = f"./sync {padding} --token {secret}"
        failing = ("tool", ("exec", {"command": command}, "denied\nCommand exited with code 2", True))
        text = str(made(("user", "sync it now"), failing, ("assistant", "no")).to_dict())
        assert secret[:20] not in text
