"""What looks like a decision or a next step and says none."""

from __future__ import annotations

import pytest

from jsonlstore.signals.choices import directives
from jsonlstore.signals.language import languages
from jsonlstore.signals.offers import Offer
from jsonlstore.signals.replies import choice, decided
from tests.signals.told import Story, noted, told

OPTIONS = "Two ways to read the gauge:\n1. over the serial port\n2. over the network\n\nWhich one do you want?"


@pytest.mark.parametrize(
    ("reply", "picked"),
    [
        ("2", ["over the network"]),
        ("option 2, but keep the timeout short", ["over the network"]),
        ("let's go with 1", ["over the serial port"]),
        ("my gauge 1 or 2 reads zero, cable of channel 2 broke", []),
        ("boei 1 o 2 perche la sonda 2 misura male", []),
    ],
)
def test_numbers_in_a_sentence_about_something_else_pick_nothing(reply: str, picked: list[str]) -> None:
    """Who picks says little beside the number."""
    assert [option for _, option in choice(reply, None, OPTIONS)] == picked


@pytest.mark.parametrize("reply", ["yes", "yes please", "ok, and then close the harbour log"])
def test_a_mere_yes_to_two_ways_says_nothing(reply: str) -> None:
    """Nobody knows which of them was meant; to one way it is an answer."""
    two = Offer("Should I draw the chart now, or wait for the evening tide?", (), is_offer=True)
    one = Offer("Should I draw the chart now?", (), is_offer=True)
    assert not [said for said in decided(reply, two, two.text) if said.text.startswith("Yes to")]
    assert "Yes to" in str(decided("yes", one, one.text))


@pytest.mark.parametrize(
    "said",
    [
        "Input must be a valid depth, input is empty [type=depth_parsing, input_value='']",
        "das Pegelsystem funktioniert immer nicht richtig.",
        "the board must always fail like this, it does not work",
    ],
)
def test_a_program_s_message_and_a_complaint_are_no_rules(said: str) -> None:
    """They hold "must", "always", "immer", and nobody ruled anything."""
    assert directives(said, list(languages().values())) == []


@pytest.mark.parametrize(
    "closing",
    [
        "I moved the gauge.\n\nTry that and let me know if it fixes the board.",
        "Ich habe den Pegel verschoben.\n\nBitte teste das und sag mir Bescheid.",
    ],
)
def test_a_request_to_report_back_is_no_next_step(closing: str) -> None:
    """It says neither what to try nor what to do."""
    story = Story("unsaid").user("The tide gauge is wrong").call("edit", {"path": "gauge.py"}, "ok").says_(closing)
    assert told(story)["next_step"] is None


def test_a_line_that_heads_others_is_neither_task_nor_step() -> None:
    """What stands below it is meant, and that is told by itself."""
    story = Story("unsaid").user("Plan the harbour board")
    story.says_("The plan stands.\n\nNext steps:\n- Once the gauge is read, decide whether to:\n- Paint the board")
    signals = told(story)
    assert not any(task["title"].endswith(":") for task in signals["pending_tasks"])
    assert signals["next_step"] == "Paint the board"


def test_a_turn_that_died_at_its_first_word_has_the_request_as_its_next_step() -> None:
    """ "Starting" tells nobody what was started."""
    story = Story("unsaid").user("Draw the tide chart for the harbour office").says_("Starting:").call("read", {}, "ok")
    signals = told(story)
    assert signals["next_step"]
    assert "tide chart" in signals["next_step"]
    assert not noted(signals, "decision")


@pytest.mark.parametrize(
    "heading",
    [
        "## Decisions still open",
        "## Decisiones abiertas y riesgos",
        "**Decisions (pending):**",
        "## Entscheidungen, offen",
    ],
)
def test_what_is_still_to_be_decided_is_no_decision(heading: str) -> None:
    """Recommendations stand there until somebody takes one."""
    answer = f"Here is the survey plan.\n\n{heading}\n\n- Serial port or network. I recommend the serial port.\n"
    story = (
        Story("open").user("Draft the survey of the gauges").says_(answer + "- Hourly readings are enough for March.")
    )
    assert noted(told(story), "decision") == []


def test_what_stands_under_decisions_is_one() -> None:
    answer = (
        "The survey is planned.\n\n## Decisions\n\n- Read the gauges over the serial port\n- Which board comes first?"
    )
    story = Story("made").user("Draft the survey of the gauges").says_(answer)
    assert noted(told(story), "decision") == ["Read the gauges over the serial port"]


LETTERED = (
    "The survey is written.\n\n### A. Notes from the north pier\n\n1. the board is loose\n\n"
    "### B. Notes from the south\n\nNothing.\n\n---\n"
    "Your call:\n\n- (a) mark the survey as approved in survey.json\n- (b) read section four again\n\nWhich one?"
)


def test_a_letter_picks_the_option_in_brackets_and_no_section() -> None:
    """It is told by what it picked, wherever the request is told."""
    story = Story("letter").user("Write the survey").says_(LETTERED).user("a").says_("", stopReason="aborted")
    fields = told(story)
    picked = "mark the survey as approved in survey.json"
    assert noted(fields, "decision") == [f"{picked} (option A)"]
    assert (fields["next_step"], fields["in_progress"]) == (picked, [picked])


def test_a_letter_that_picks_from_nothing_is_no_task() -> None:
    story = Story("letter").user("Write the survey").says_("Written.").user("b").says_("", stopReason="aborted")
    fields = told(story)
    assert (fields["next_step"], fields["in_progress"], fields["pending_tasks"]) == (None, [], [])
    assert fields["last_request"] is None


def test_who_names_a_plan_means_no_item_of_another_list() -> None:
    before = "Two ways.\n\n## Plan 1: one log\nBoth wardens share it.\n\n## Plan 2: a log each\nSafer.\n\n"
    before += "Which plan? With plan 2 I will\n1. copy the log\n2. print the covers\n3. tell the wardens"
    assert [option for _, option in choice("go with plan 2", None, before)] == ["a log each"]
