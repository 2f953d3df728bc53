"""Invented sessions, each with a trap that real ones hold: what must come back, and what must not."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals.distil import Distiller
from jsonlstore.transcripts.records import parse_entry

_MADE = runpy.run_path(str(Path(__file__).parents[2] / "fixtures" / "make_stories.py"))
STORIES = list(_MADE["stories"]())


def told(lines: list[str], stops: tuple[int, ...] = ()) -> dict[str, Any]:
    """The fields a transcript gives; asked for at every stop as well, as somebody who watches does."""
    distiller = Distiller()
    for number, line in enumerate(lines):
        entry = parse_entry(line.encode())
        assert entry is not None
        distiller.feed(entry)
        if number in stops:
            distiller.result()
    return distiller.result().to_fields()


def shown(fields: dict[str, Any], name: str) -> str:
    """A field as text, without its ids and evidence."""
    value = fields.get(name)
    parts = value if isinstance(value, list) else [value]
    bare = [
        {key: part for key, part in item.items() if key not in {"evidence", "id"}} if isinstance(item, dict) else item
        for item in parts
        if item
    ]
    return orjson.dumps(bare).decode().lower()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_what_a_story_tells(story: Any) -> None:
    """Each story gives back what it is about, and nothing of its trap."""
    fields = told(list(story.lines()))
    for name, parts in story.says.items():
        for part in parts:
            assert part.lower() in shown(fields, name), name
    for name, parts in story.silent.items():
        for part in parts:
            assert part.lower() not in shown(fields, name), name
    for name in story.empty:
        assert not fields.get(name), name


@given(st.sampled_from(STORIES), st.lists(st.integers(0, 40), max_size=5))
def test_decision_47_looking_in_between_changes_nothing(story: Any, stops: list[int]) -> None:
    """What is derived is a function of the transcript, not of when it was asked for."""
    lines = list(story.lines())
    assert told(lines, tuple(stops)) == told(lines)


@given(st.lists(st.sampled_from(STORIES), min_size=2, max_size=4), st.lists(st.integers(0, 120), max_size=4))
def test_decision_47_holds_over_long_sessions(parts: list[Any], stops: list[int]) -> None:
    """Stories one after another are one session, read in any portions."""
    lines = [line for number, part in enumerate(parts) for line in list(part.lines())[0 if number == 0 else 1 :]]
    assert told(lines, tuple(stops)) == told(lines)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_every_statement_carries_its_evidence(story: Any) -> None:
    """Tasks, notes, commits and what failed name the entries they come from."""
    fields = told(list(story.lines()))
    statements = [*fields["pending_tasks"], *fields["notes"], *fields["commits"], *fields["closed"]]
    statements += [one for one in (fields["last_request"], fields["failing"]) if one]
    assert all(one["evidence"]["entry_ids"] and one["evidence"]["kind"] for one in statements)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_plain_texts_have_their_grounds(story: Any) -> None:
    """Fields that are nothing but text are explained beside them: each item once, with entry and confidence."""
    fields = told(list(story.lines()))
    grounds = {(one["field"], one["text"]): one for one in fields["grounds"]}
    for name in ("next_step", "last_answer"):
        assert not fields.get(name) or (name, fields[name]) in grounds, name
    for name in ("in_progress", "open_questions", "constraints"):
        assert all((name, text) in grounds for text in fields[name]), name
    assert all(one["evidence"]["kind"] and 0 < one["confidence"] <= 1 for one in grounds.values())


def test_an_assistant_that_echoes_a_task_makes_no_second_one() -> None:
    """The same thing to do, said by both sides, is one task."""
    story = _MADE["Story"]("echo").user("TODO: check the feed line of the loop antenna")
    story.says_("Noted.\nTODO: Check the loop antenna's feed line")
    titles = [one["title"] for one in told(list(story.lines()))["pending_tasks"]]
    assert titles == ["check the feed line of the loop antenna"]


def test_an_answer_to_a_tool_s_question_is_a_decision() -> None:
    """Runtimes that ask with a tool store the user's choice in its result, in no user message."""
    story = _MADE["Story"]("asked").user("Plan the chart server")
    story.call(
        "AskUserQuestion",
        {"questions": [{"question": "Which tiles?", "options": [{"label": "Raster"}, {"label": "Vector"}]}]},
        'User has answered your questions: "Which tiles?"="Vector (Recommended)". You can now continue.',
    ).says_("Vector tiles it is.")
    notes = told(list(story.lines()))["notes"]
    assert [(one["type"], one["content"]) for one in notes] == [("decision", "Vector (asked: Which tiles?)")]


def test_a_session_that_died_asking_says_what_was_asked() -> None:
    """A question put by a tool and never answered is what it was at."""
    story = _MADE["Story"]("asking").user("Plan the chart server")
    story.call("AskUserQuestion", {"questions": [{"question": "Which tiles shall we serve?"}]}, None)
    fields = told(list(story.lines()))
    assert fields["last_request"]["doing"] == "asking the user: Which tiles shall we serve?"


def test_a_directive_keeps_no_number_and_no_loose_end() -> None:
    """A list's number and an "and" that went on in the next line are no part of what was decided."""
    story = _MADE["Story"]("ends").user("Let's use the standard width and\n\nnothing else").says_("OK.")
    assert [one["content"] for one in told(list(story.lines()))["notes"]] == ["Let's use the standard width"]


@pytest.mark.parametrize(
    "said",
    [
        "I remember when we used to order the tide gauge", "Did you forget to order the tide gauge?",
        "If you forget to order the tide gauge it breaks",
        "Can you explain what we still need to order the tide gauge?",
        "This is what I want you to do: order the tide gauge", "See you later",
    ],
)  # fmt: skip
def test_talk_about_remembering_is_no_task(said: str) -> None:
    """Asked, told or conditional: nothing is to be kept."""
    story = _MADE["Story"]("talk").user(said).says_("OK.").user("Rename the pier").says_("The pier is renamed.")
    assert told(list(story.lines()))["pending_tasks"] == []
