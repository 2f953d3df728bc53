"""Blockers, decisions, insights, accomplishments, scope creep, created tasks."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals.notes import LONGEST_NOTE, NoteBook, for_project
from jsonlstore.signals.pattern_rules import RULES
from jsonlstore.signals.patterns import KINDS, detect, detect_first_match, is_casual, should_capture

PATTERNS = Path(__file__).parents[2] / "fixtures" / "patterns"


def kinds(text: str) -> list[str]:
    return [told.kind for told in detect(text)]


def notes_after(*texts: str) -> NoteBook:
    book = NoteBook()
    for number, text in enumerate(texts):
        book.next_message()
        for told in detect(text):
            book.add(told, f"e{number}", "")
    return book


def test_the_labelled_corpus_is_told_with_f1_of_at_least_85() -> None:
    """The corpus covers every kind and plain talk; `python fixtures/patterns/score.py` prints the table."""
    scoring = runpy.run_path(str(PATTERNS / "score.py"))
    messages = scoring["read"](PATTERNS / "corpus.jsonl")
    assert len(messages) >= 120
    assert {label for _, labels in messages for label in labels} == set(KINDS)
    table = scoring["score"](messages)
    assert table["all"][2] >= 0.85
    assert all(f1 >= 0.8 for _, _, f1 in table.values())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Fixed the bug in the parser.", ["accomplishment"]),
        ("no errors so far", []),
        ("is it broken?", []),
        ("won't fix", []),
        ("It is not done yet.", []),
        ("That needs to be fixed.", []),
        ("Fixed one crash, but now the upload fails.", ["accomplishment", "blocker"]),
        ("A short history of radio", []),
        ("Why does the upload still fail?", ["blocker"]),
        ("All the tests  pass.", ["accomplishment"]),
        ("the migration  succeeded", ["accomplishment"]),
        ("The “fixed” label is ironic.", []),
    ],
)
def test_completion_negation_and_questions(text: str, told: list[str]) -> None:
    """DECISION 43: word boundaries everywhere, completion words win over blockers."""
    assert kinds(text) == told


def test_the_documents_first_match_order_is_an_option() -> None:
    """DECISION 43: there, a bug is a blocker even when fixed, and a message is one thing."""
    assert [told.kind for told in detect_first_match("Fixed the bug. Let's use X.")] == ["blocker"]
    assert detect_first_match("history") == []
    assert detect_first_match("nothing here") == []


def test_scope_creep_has_the_confidence_the_decision_names() -> None:
    """DECISION 44."""
    assert {told.confidence for told in detect("While we're at it, rename everything.")} == {0.65}
    assert {rule.confidence for rule in RULES if rule.kind == "scope_creep"} == {0.65}


@pytest.mark.parametrize(
    "text",
    [
        "```\nERROR: it failed\n```",
        "~~~\nfixed the bug\n~~~",
        "> I am stuck on this",
        "2026-01-01T00:00:00Z ERROR build failed",
        'Traceback (most recent call last):\n  File "x.py", line 3, in f\nValueError: broken',
        "npm ERR! build failed",
        "\n    raise Broken('failed')\n",
        "tests/test_a.py:12: error: failed",
        "the variable `error` and `fixed`",
        "ERROR: build failed",
        "FAILED tests/test_x.py::test_y",
    ],
)
def test_code_logs_and_quotations_do_not_count(text: str) -> None:
    assert kinds(text) == []


def test_each_thing_told_carries_its_sentence() -> None:
    (told,) = detect("Good morning. We decided to use a relay. See you.")
    assert told.sentence == "We decided to use a relay."


@given(st.text(max_size=300))
def test_any_text_is_safe(text: str) -> None:
    for told in [*detect(text), *detect_first_match(text)]:
        assert told.kind in KINDS
        assert 0 < told.confidence <= 1


@pytest.mark.parametrize(
    "unit", ["a ", "not ", "(", "if ((", "fixed but ", "`", "'", "great ", "[[", "\t", "e.g. ", "- "]
)
def test_hostile_repetition_ends(unit: str) -> None:
    """Nothing here backtracks without bound; a quadratic rule would not come back within the suite's patience."""
    assert isinstance(detect(unit * 20_000), list)


def test_an_accomplishment_resolves_the_blocker_about_the_same_thing() -> None:
    notes = notes_after(
        "The waterfall display crashes on resize.", "The tuner keeps failing.", "Fixed the waterfall display."
    ).notes()
    assert [(note.type, note.resolved) for note in notes] == [
        ("blocker", True),
        ("blocker", False),
        ("accomplishment", None),
    ]


def test_fixed_it_resolves_the_latest_blocker() -> None:
    notes = notes_after(
        "The tuner keeps failing.", "The waterfall crashes.", "Fixed it, turns out the fuse was dead."
    ).notes()
    assert [note.resolved for note in notes if note.type == "blocker"] == [False, True]


def test_an_echo_is_noted_once_and_a_blocker_may_come_back() -> None:
    book = notes_after(
        "The tuner keeps failing.",
        "I see, the tuner keeps failing.",
        "The tuner works now.",
        "The tuner keeps failing.",
    )
    assert [note.type for note in book.notes()] == ["accomplishment", "blocker"]
    assert book.notes()[-1].resolved is False


def test_a_strong_blocker_left_standing_opens_a_task() -> None:
    """DECISION 44: task_created is recorded when a strong blocker opens a task; a resolved one opens none."""
    ((task, note),) = notes_after("I'm stuck on the certificate chain.").open_blockers()
    assert (task.title, task.flagged_incomplete) == ("I'm stuck on the certificate chain.", True)
    assert note.type == "task_created"
    assert notes_after("I'm stuck on the certificate chain.", "The certificate chain works now.").open_blockers() == []


@given(st.text(min_size=1, max_size=500))
def test_notes_are_one_short_line(text: str) -> None:
    for note in notes_after(f"We decided to {text}").notes():
        assert len(note.content) <= LONGEST_NOTE
        assert "\n" not in note.content


def test_too_many_notes_lose_the_least_sure_and_oldest() -> None:
    book = NoteBook(most=3)
    for number in range(5):
        for told in detect(f"We decided to use relay{number}x."):
            book.add(told, f"e{number}", "")
    assert [note.source_entry_id for note in book.notes()] == ["e2", "e3", "e4"]


@pytest.mark.parametrize("text", ["Hey!", "thanks a lot", "nice, cool", "Hallo"])
def test_small_talk_is_casual(text: str) -> None:
    assert is_casual(text) or not detect(text)


def test_the_project_filter_of_the_handoff_document() -> None:
    """DECISION 40: "general" keeps no pattern notes; a greeting in front of work is no small talk."""
    assert should_capture("fix the code", "hamlib")
    assert not should_capture("fix the code", "general")
    assert not should_capture("fix the code", None)
    assert not should_capture("fix the code", "hamlib", active=False)
    assert not should_capture("hi there", "hamlib")
    assert should_capture("Hey, the build is broken", "hamlib")


def test_notes_are_filtered_by_project() -> None:
    book = NoteBook()
    (told,) = detect("We decided to use a relay.")
    book.add(told, "e1", "", "tuner")
    assert len(for_project(book.notes(), "Tuner")) == 1
    assert for_project(book.notes(), "other") == []
    assert for_project(book.notes(), "general") == []
