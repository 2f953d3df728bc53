"""Words are findable in any script, in any form, and a stem never hides the word it came from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.recall.match import normalise
from jsonlstore.recall.stems import STEMMERS, english, needle
from jsonlstore.recall.terms import PASSAGE_WORDS, bare, language_of, passages_in, raw_words, terms_in

LETTERS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=14)
ENDINGS = st.sampled_from(
    ["", "s", "es", "ies", "ed", "ing", "ational", "ization", "ability", "iveness", "y", "ly", "er"]
)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(LETTERS, ENDINGS)
def test_every_word_begins_with_its_needle(start: str, ending: str) -> None:
    """A word is found in plain text by what its stem begins with, whatever was cut off or replaced."""
    word = start + ending
    for stem in STEMMERS.values():
        assert word.startswith(needle(stem(word)))


@pytest.mark.parametrize(
    "forms",
    [
        "camp camps camped camping",
        "party parties",
        "adopt adopted adoption adopts",
        "hope hopes hoped hoping",
        "stop stops stopped stopping",
        "organization organizations",
    ],
)
def test_forms_of_an_english_word_share_a_stem(forms: str) -> None:
    """What differs in inflection alone is one term."""
    assert len({english(word) for word in forms.split()}) == 1


@pytest.mark.parametrize("pair", ["hope hop", "care car", "party part"])
def test_different_words_keep_different_stems(pair: str) -> None:
    """Short words that only look alike stay apart."""
    one, other = pair.split()
    assert english(one) != english(other)


def test_a_compound_is_indexed_by_its_parts() -> None:
    """Every part of a long German word begins a term of it."""
    text = "Ich habe die Straßenbahnhaltestelle und die Datenbankverbindung nicht gefunden"
    parts = terms_in(text).parts
    for part in ("bahn", "haltestelle", "stelle", "datenbank", "verbindung"):
        assert any(one.startswith(part) for one in parts), part


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("we die by the sword and per the rules of this long and rather English sentence it is fine", "en"),
        ("das ist nicht der Fehler", "de"),
        ("el problema es que los datos no están", "romance"),
        ("", "en"),
    ],
)
def test_the_language_is_guessed_by_small_words(text: str, language: str) -> None:
    """Endings are chosen by the language; a few foreign-looking words do not change it."""
    assert language_of(raw_words(normalise(text))) == language


def test_scripts_without_spaces_become_pairs() -> None:
    """Any two neighbouring characters of a Japanese or Thai text find it."""
    assert terms_in("東京タワー").words == ["東京", "京タ", "タワ", "ワー", "ー"]
    assert len(terms_in("กรุงเทพ").words) > 3


@given(ANY_TEXT)
def test_passages_lose_nothing_but_white_space(text: str) -> None:
    """All passages together are the text, and none is longer than it may be."""
    passages = passages_in(text)
    assert "".join("".join(passages).split()) == "".join(text.split())
    assert all(len(passage.split()) <= PASSAGE_WORDS for passage in passages)
    assert all("\n" not in passage for passage in passages)


@given(ANY_TEXT)
def test_terms_hold_no_separator(text: str) -> None:
    """FTS5 gets terms between spaces: a term with a space in it could never be taken out again."""
    terms = terms_in(text)
    assert all(term and not term.isspace() and " " not in term for term in [*terms.words, *terms.parts])


@given(st.sampled_from(["Caroline's", "don’t", "o'clock", "plain"]))
def test_apostrophes_do_not_matter(word: str) -> None:
    """A possessive is its owner, a contraction one word."""
    assert "'" not in bare(normalise(word))
