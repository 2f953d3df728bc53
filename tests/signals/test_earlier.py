"""What was asked before the last request: a session's story in the user's own words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.signals.told import Story, told


def story(*turns: tuple[str, str]) -> Any:
    """A session of requests, each with its answer; an empty answer leaves it without one."""
    made = Story("earlier")
    for asked, answer in turns:
        made.user(asked)
        if answer:
            made.says_(answer)
    return made


def earlier(made: Any) -> list[tuple[str, str]]:
    return [(one["text"], one["fate"]) for one in told(made)["earlier_requests"]]


LAST = ("Now draw the tide curve below the harbour map", "The curve is drawn below the map.")


def test_the_requests_before_the_last_one_are_told_oldest_first() -> None:
    """With what became of them, and without the last one, which is told as such."""
    made = story(
        ("Read the tide gauge every ten minutes and store it", "It is stored."),
        ("Show the harbour map with all moorings", "The map shows them."),
        LAST,
    )
    assert earlier(made) == [
        ("Read the tide gauge every ten minutes and store it", "answered"),
        ("Show the harbour map with all moorings", "answered"),
    ]


@pytest.mark.parametrize(
    "small",
    ["ok, thanks!", "continue", "/compact", "yes", "2", "weiter", "继续", "はい", "/model opus"],
)
def test_small_talk_nudges_and_commands_are_no_requests(small: str) -> None:
    """Nobody learns from them what a session was about."""
    made = story(("Show the harbour map with all moorings", "Shall I go on?"), (small, "Done."), LAST)
    assert [text for text, _ in earlier(made)] == ["Show the harbour map with all moorings"]


def test_a_paste_is_no_request() -> None:
    """Output without a word of the user's is what somebody saw, not what they asked for."""
    paste = "```\nTraceback: tide gauge 4 did not answer within the time allowed\n```"
    assert earlier(story((paste, "The gauge is off."), LAST)) == []


@pytest.mark.parametrize(
    "shown",
    [
        "sudo systemctl restart tide-gauge and its logger now",
        "./read-gauge.sh --all northern southern harbour",
        "kim@harbour:~/map$ make charts for the whole fairway",
        "PS C:\\map> make charts for the whole fairway",
        "- Line 14: the tide gauge reads metres instead of feet",
        "SUMMARY: the harbour map and the tide table are done",
    ],
)
def test_what_a_terminal_showed_and_pasted_notes_are_no_requests(shown: str) -> None:
    """They were copied to be read."""
    made = story(("Show the harbour map with all moorings", "It shows them."), (shown, "I see."), LAST)
    assert [text for text, _ in earlier(made)] == ["Show the harbour map with all moorings"]


def test_a_request_said_again_is_told_once() -> None:
    """The later one stands for both, and the last request is not among the earlier ones."""
    made = story(
        ("Show the harbour map with all moorings", "Which map?"),
        ("Show the harbour map with all the moorings", "It shows them."),
        (LAST[0], "Where?"),
        LAST,
    )
    assert [text for text, _ in earlier(made)] == ["Show the harbour map with all the moorings"]


def test_at_most_three_those_that_say_most() -> None:
    """Of many requests the short questions go first."""
    asked = [
        "Read the tide gauge every ten minutes and store it in the harbour table",
        "Which gauge is it?",
        "Show the harbour map with all moorings, buoys and the depth of the fairway",
        "And what colour are buoys?",
        "Send a message to the pilot when the tide falls below two metres at night",
    ]
    texts = [text for text, _ in earlier(story(*((one, "Done.") for one in asked), LAST))]
    assert texts == [asked[0], asked[2], asked[4]]


def test_what_a_nudge_went_on_with_is_answered_when_the_nudge_was() -> None:
    """And of a request without any answer nobody says what became of it."""
    made = story(
        ("Read the tide gauge every ten minutes and store it", "Now I will write the reader:"),
        ("continue", "The reader is written and stores the tide."),
        ("Show the harbour map with all moorings", ""),
        LAST,
    )
    assert earlier(made) == [
        ("Read the tide gauge every ten minutes and store it", "answered"),
        ("Show the harbour map with all moorings", ""),
    ]


def test_an_earlier_request_is_redacted() -> None:
    """What the user pasted into it does not come back."""
    made = story(("Log in at the gauge with password=Kestrel-Harbour-914! and read it", "Read."), LAST)
    assert "Kestrel" not in str(told(made)["earlier_requests"])
