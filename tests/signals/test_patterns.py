"""The handoff document's own detection, notes, and the filter by project."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals.notes import LONGEST_NOTE, NoteBook, for_project
from jsonlstore.signals.patterns import KINDS, detect_first_match, is_casual, should_capture


def test_the_six_kinds_are_the_handoff_documents() -> None:
    """Other tools know these names."""
    assert set(KINDS) == {"blocker", "decision", "insight", "accomplishment", "scope_creep", "task_created"}


def test_the_documents_first_match_order_is_an_option() -> None:
    """DECISION 43: there, a bug is a blocker even when fixed, and a message is one thing."""
    assert [told.kind for told in detect_first_match("Fixed the bug. Let's use X.")] == ["blocker"]
    assert detect_first_match("history") == []
    assert detect_first_match("nothing here") == []


@pytest.mark.parametrize(
    "text",
    [
        "```\nERROR: it failed\n```",
        "~~~\nfixed the bug\n~~~",
        "> I am stuck on this error",
        "2026-01-01T00:00:00Z ERROR build failed",
        'Traceback (most recent call last):\n  File "x.py", line 3, in f\nValueError: broken',
        "npm ERR! build failed",
        "tests/test_a.py:12: error: failed",
        "FAILED tests/test_x.py::test_y",
    ],
)
def test_code_logs_and_quotations_do_not_count(text: str) -> None:
    """What a machine printed is nobody's statement."""
    assert detect_first_match(text) == []


@given(st.text(max_size=300))
def test_any_text_is_safe(text: str) -> None:
    """Detection never fails, whatever was said."""
    for told in detect_first_match(text):
        assert told.kind in KINDS
        assert 0 < told.confidence <= 1


@given(st.text(min_size=1, max_size=500))
def test_notes_are_one_short_line(text: str) -> None:
    """DECISION 43: at most 100 characters, in one line."""
    book = NoteBook()
    book.add("decision", f"We decided to {text}", 0.8, entry_id="e")
    for note in book.notes():
        assert len(note.content) <= LONGEST_NOTE == 100
        assert "\n" not in note.content


def test_an_echo_is_noted_once() -> None:
    """The other side repeating a decision does not make it two."""
    book = NoteBook()
    assert book.add("decision", "Use a relay for the tuner output", 0.8, entry_id="e1")
    assert not book.add("decision", "Use a relay for the tuner output!", 0.7, entry_id="e2")
    assert book.add("insight", "Use a relay for the tuner output", 0.7, entry_id="e3")


def test_too_many_notes_lose_the_least_sure_and_oldest() -> None:
    """What is kept is what is surest, and of equals the latest."""
    book = NoteBook(most=3)
    for number in range(5):
        book.add("decision", f"We use relay{number}x here", 0.9 if number == 0 else 0.8, entry_id=f"e{number}")
    assert [note.source_entry_id for note in book.notes()] == ["e0", "e3", "e4"]


@pytest.mark.parametrize("text", ["Hey!", "thanks a lot", "nice, cool", "Hallo", "谢谢", "ok", "sí, gracias"])
def test_small_talk_is_casual(text: str) -> None:
    """In every language there is a file for."""
    assert is_casual(text)


def test_the_project_filter_of_the_handoff_document() -> None:
    """DECISION 40: "general" keeps no pattern notes; a greeting in front of work is no small talk."""
    assert should_capture("fix the code", "hamlib")
    assert not should_capture("fix the code", "general")
    assert not should_capture("fix the code", None)
    assert not should_capture("fix the code", "hamlib", active=False)
    assert not should_capture("hi there", "hamlib")
    assert should_capture("Hey, the build is broken", "hamlib")


def test_notes_are_filtered_by_project() -> None:
    """A note of one project does not show up in another."""
    book = NoteBook()
    book.add("decision", "We use a relay for it", 0.8, entry_id="e1", project="tuner")
    assert len(for_project(book.notes(), "Tuner")) == 1
    assert for_project(book.notes(), "other") == []
    assert for_project(book.notes(), "general") == []
