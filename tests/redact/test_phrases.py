"""A wallet's recovery phrase is hidden wherever one is shown, and prose never looks like one."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import jsonlstore
from jsonlstore.redact import MARK, hide_generated, may_hold_secret, redact_text
from jsonlstore.redact.phrases import recovery_phrases

_LIST = (Path(jsonlstore.__file__).parent / "redact" / "data" / "phrases.txt").read_text("ascii")
_WORDS = [word for line in _LIST.splitlines() if not line.startswith("#") for word in line.split()]
_LEADS = (
    "MNEMONIC={}",
    'export WALLET_MNEMONIC="{}"',
    "my seed phrase is {} and I lost the device",
    "Here is the wallet again:\n{}\nplease restore it",
    "the phrase {}",
    "all 12 words: {}.",
    "{} (that was the mnemonic)",
    '{{"recovery_phrase": "{}"}}',
)
_BETWEEN = (" ", ", ", ",", "\n", "  ", '", "', "\\n", "\n> ")


def test_the_list_is_the_one_of_the_standard() -> None:
    """2,048 words that their first four letters tell apart."""
    assert len(set(_WORDS)) == 2048
    assert len({word[:4] for word in _WORDS}) == 2048
    assert sorted(_WORDS) == _WORDS


@given(
    st.sampled_from(_LEADS),
    st.sampled_from(_BETWEEN),
    st.sampled_from([12, 15, 18, 21, 24]),
    st.sampled_from([str.lower, str.title, str.upper]),
    st.randoms(use_true_random=False),
)
def test_a_phrase_is_hidden_whole(lead: str, between: str, count: int, case: object, draw: random.Random) -> None:
    words = [case(word) for word in draw.choices(_WORDS, k=count)]  # type: ignore[operator]
    assume(len(set(words)) > 5 and words != sorted(words))
    text = lead.format(between.join(words))
    hidden = redact_text(text)
    assert MARK in hidden
    assert not any(f"{one}{between}{two}" in hidden for one, two in pairwise(words))
    assert redact_text(hidden) == hidden
    assert may_hold_secret(text)


def test_numbered_words_are_one_phrase() -> None:
    words = random.Random(3).sample(_WORDS, 12)
    text = "Recovery words of the wallet\n" + "\n".join(f"{n}. {word}" for n, word in enumerate(words, 1)) + "\nDone."
    assert redact_text(text) == f"Recovery words of the wallet\n1. {MARK}\nDone."


def test_what_is_kept_of_a_session_holds_no_phrase_even_unannounced() -> None:
    words = " ".join(random.Random(5).sample(_WORDS, 12))
    assert hide_generated(f"Next step: import {words.replace(' ', ', ')}.") == f"Next step: import {MARK}."


@pytest.mark.parametrize(
    "text",
    [
        "The wallet shows the phrase again, but the order of the words is not what the list of the standard says.",
        "wallet: total_amount=total_amount, balance_index=balance_index, state=state, debit=debit, link=link",
        "phrase list: 'cover-cross-fade', 'border-image-slice', 'column-gap', 'scroll-snap-stop', 'trim-head-tail'",
        "seed words such as abandon, ability and able begin the list",
    ],
)
def test_talk_and_code_about_wallets_stay(text: str) -> None:
    assert redact_text(text) == text


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for start, end in recovery_phrases(text):
        assert len(text[start:end].split()) or text[start:end]
        assert end - start >= 12 * 3
