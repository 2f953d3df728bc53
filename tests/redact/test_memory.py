"""A value once found is hidden wherever it stands again in the same session."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.redact import MARK, Redactor, questions, redact_text

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


@pytest.mark.parametrize(
    ("question", "answer", "shown"),
    [
        ("Almost done. **What is the database password?**", "blue-harbor-41", MARK),
        ("Please give me the API token.", "it's qq71-kkab-09xe, thanks", f"it's {MARK}, thanks"),
        ("Wie lautet das Passwort für den Drucker?", "Fensterbrett7", MARK),
        ("¿Cuál es la contraseña del router?", "es Marea_2031", f"es {MARK}"),
        ("Какой пароль от базы?", "osen-7712", MARK),
        ("データベースのパスワードは？", "sora8841k", MARK),
        ("请提供 API 密钥：", "kk82mmzq01", MARK),
        ("Which PIN did you set?", "7731", MARK),
        ("Enter the passphrase of the key:", "two grey herons on 9 posts", MARK),
        ("What's the wifi password?", "swordfish", MARK),
    ],
)
def test_whatever_short_answer_follows_a_question_for_a_secret_tells_one(
    question: str, answer: str, shown: str
) -> None:
    """In the languages we speak, asked or ordered, and whether or not the value looks like one."""
    redactor = Redactor()
    redactor.heard(question)
    assert redactor.heard(answer) == shown


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is a password required?", "yes"),
        ("How many tokens did that use?", "12000"),
        ("Should I rotate the API token?", "rotate it tomorrow at 10:30"),
        ("What is the password?", "use the one in the vault"),
        ("Where do I put the token?", "in ~/.config/tool/settings.toml"),
        ("Please provide the API key.", "process.env.API_TOKEN"),
        ("What is the token for?", "github"),
        ("Which secret manager do you want?", "vault2"),
        ("Do you want a password reset?", "yes, with a 6-digit code"),
        ("Should the token expire after 24h or 48h?", "48h"),
        ("What is the password?", "I do not know it, ask somebody who set up the 3 machines in the office on Monday"),
    ],
)
def test_an_answer_that_tells_no_secret_stays(question: str, answer: str) -> None:
    """A question about a secret is none for it, and a path, a variable or a refusal tells nothing."""
    redactor = Redactor()
    redactor.heard(question)
    assert redactor.heard(answer) == answer


def test_what_was_answered_is_hidden_from_then_on() -> None:
    """Even where nothing but the question tells that it is a secret."""
    redactor = Redactor()
    redactor.heard("What is the database password?")
    redactor.heard("blue-harbor-41")
    assert redactor.heard("restart it with blue-harbor-41 please") == f"restart it with {MARK} please"


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_question_and_any_answer_can_be_heard(question: str, answer: str) -> None:
    redactor = Redactor()
    redactor.heard(f"{question} password?")
    assert len(redactor.heard(answer)) <= len(answer) + 10 * (len(answer) // 4 + 1)


@given(
    st.lists(
        st.sampled_from(
            [
                "give",
                "QUEUE",
                "que",
                "typed",
                "wie",
                "wier",
                "schicke",
                "me de",
                "qual",
                "_",
                "-",
                ".",
                " ",
                "\n",
                "7",
                "need",
            ]
        ),
        max_size=8,
    )
)
def test_the_fast_look_for_verbs_is_exact_in_ascii_text(pieces: list[str]) -> None:
    """A question in ASCII letters is found by the fast look if and only if the exact expression finds it."""
    text = "".join(pieces)
    exact = questions._VERBS.search(text) is not None
    assert (questions._verbs()(text.encode(), 0)[0][0] >= 0) is exact
