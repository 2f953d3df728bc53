"""A value once found is hidden wherever it stands again in the same session."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.redact import MARK, Redactor, redact_text

_VALUES = st.text("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", min_size=12, max_size=40).filter(
    lambda text: any(c.isdigit() for c in text) and any(c.isalpha() for c in text)
)


@given(_VALUES)
def test_a_value_is_hidden_in_the_messages_after_the_one_that_named_it(value: str) -> None:
    """Nobody repeats the name each time."""
    redactor = Redactor()
    assert value not in redactor.heard(f"export DB_PASSWORD={value}")
    assert value not in redactor.heard(f"I pasted {value} into the box")
    assert value not in str(redactor.value({"note": [f"({value})"]}))


@given(_VALUES)
def test_a_value_is_hidden_again_in_the_same_text(value: str) -> None:
    """Before and behind the place that names it."""
    assert value not in redact_text(f"use {value}; I mean password={value}, that is {value}.")


def test_an_ordinary_word_is_not_remembered() -> None:
    """A weak password must not take a word out of the language."""
    redactor = Redactor()
    redactor.heard("password=mountain")
    assert redactor.heard("the mountain is high") == "the mountain is high"


def test_an_answer_to_a_question_for_a_secret_is_one() -> None:
    """Name and value stand in two messages."""
    redactor = Redactor()
    redactor.heard("What is the wifi password?")
    assert redactor.heard("it's Maple77x!") == f"it's {MARK}"
    assert redactor.heard("ok, connected") == "ok, connected"


def test_an_answer_to_another_question_is_kept() -> None:
    """Only a question for a secret makes one of its answer."""
    redactor = Redactor()
    redactor.heard("Which model do you use?")
    assert redactor.heard("gpt-4o-mini") == "gpt-4o-mini"
