"""Text as the full-text index sees it: terms in any script, and passages of twenty words.

Case, accents and inflection do not matter. Scripts that set no spaces are taken as pairs of characters. A long German
word is findable by its parts: every tail of it that begins at a syllable is a term of a column of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import NamedTuple

from jsonlstore.recall.match import normalise
from jsonlstore.recall.stems import STEMMERS

PASSAGE_WORDS = 20
# Han, kana, hangul is spaced; Thai, Lao, Khmer, Burmese and Tibetan are not
UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005\u3006\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_PLAIN = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_UNSPACED_WORD = 2  # so many characters of a script without spaces count as a word of a passage
_COMPOUND_FROM = 10
_PART_FROM = 4
_CLUSTER = "sch|st|sp|str|tr|br|fr|gr|kr|pl|bl|fl|kl|pr|dr|schl|schr"
_SYLLABLE = re.compile(rf"(?<=[a-z]{{3}})(?=(?:[b-df-hj-np-tv-z]|{_CLUSTER})[aeiouy])")
_GERMAN_WORDS = "der die das und ist nicht ich ein eine mit fur auf wir den dem zu im auch noch wie war haben"
_ROMANCE_WORDS = """
el la los las que una por para con del est les des une dans pour pas nous vous avec che di il sono per nao uma com mais
esta como pero
"""
_MARKERS = {"de": frozenset(_GERMAN_WORDS.split()), "romance": frozenset(_ROMANCE_WORDS.split())}
_SURE = 2


# Compiled on first use: ranges this large take a millisecond each, and a backfill without the index needs none of them.


@cache
def _token() -> re.Pattern[str]:
    return re.compile(rf"(?P<run>[{UNSPACED}]+)|[^\W_{UNSPACED}]+(?:['’][^\W_{UNSPACED}]+)*")


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]")


@cache
def _piece() -> re.Pattern[str]:
    return re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")


class Terms(NamedTuple):
    """What is indexed of a text: its terms in order, and the parts of its compounds."""

    words: list[str]
    parts: list[str]
    language: str


def language_of(words: list[str]) -> str:
    """The language whose small words are there, English where none are; a guess that only chooses endings."""
    counted = Counter({name: sum(map(markers.__contains__, words)) for name, markers in _MARKERS.items()})
    name, count = counted.most_common(1)[0]
    # English has words of theirs ("die", "per"), so a few of them in a long English text mean nothing
    return name if count >= _SURE and count * 12 >= len(words) else "en"


def raw_words(folded: str) -> list[str]:
    """The words of a folded text as written, and each run of a script without spaces."""
    if folded.isascii():
        return _PLAIN.findall(folded)
    return [match[0] for match in _token().finditer(folded)]


def bare(word: str) -> str:
    """A word without its possessive and apostrophes."""
    if "'" in word or "’" in word:
        word = word.replace("’", "'")
        return word.removesuffix("'s").replace("'", "")
    return word


def is_unspaced(word: str) -> bool:
    """Whether a word is a run of a script that sets no spaces."""
    return not word.isascii() and _unspaced().match(word) is not None


def pairs_of(run: str) -> list[str]:
    """A run of a script without spaces as overlapping pairs; a lone character as itself."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def parts_of(word: str) -> list[str]:
    """A long word and the tails of it that begin at a syllable: bahnhaltestelle, haltestelle, stelle."""
    if len(word) < _COMPOUND_FROM or not word.isalpha():
        return []
    starts = {0, *(match.start() for match in _SYLLABLE.finditer(word))}
    return [word[at:] for at in sorted(starts) if len(word) - at >= _PART_FROM]


def terms_in(text: str) -> Terms:
    """What is indexed of a text."""
    found = raw_words(normalise(text))
    language = language_of(found)
    stem = STEMMERS[language]
    words: list[str] = []
    parts: list[str] = []
    plain = text.isascii()
    if plain and language != "de":  # most talk: every word is one term, and only one with an apostrophe is tidied
        tidy = [bare(word) if "'" in word else word for word in found] if "'" in text else found
        return Terms([stem(word) for word in tidy], parts, language)
    for word in found:
        if not plain and is_unspaced(word):
            words += pairs_of(word)
            words.append(word[-1])  # every other character begins a pair, so any one of them finds the text
            continue
        word = bare(word)  # noqa: PLW2901 - the same word, tidied
        words.append(stem(word))
        if language == "de" and len(word) >= _COMPOUND_FROM:
            parts += parts_of(word)
    return Terms(words, parts, language)


def passages_in(text: str) -> list[str]:
    """The text in passages of about twenty words, nothing lost but the white space between."""
    pieces = text.split()
    if text.isascii() or not _unspaced().search(text):
        return [" ".join(pieces[at : at + PASSAGE_WORDS]) for at in range(0, len(pieces), PASSAGE_WORDS)]
    return _unspaced_passages(text)


def _unspaced_passages(text: str) -> list[str]:
    """The same where characters stand for words; a cut falls between two pieces, never inside a word."""
    passages: list[str] = []
    start, count = 0, 0
    flat = " ".join(text.split())
    for match in _piece().finditer(flat):
        count += 1 if is_unspaced(match[0]) else _UNSPACED_WORD
        if count >= PASSAGE_WORDS * _UNSPACED_WORD:
            passages.append(flat[start : match.end()].strip())
            start, count = match.end(), 0
    if flat[start:].strip():
        passages.append(flat[start:].strip())
    return passages
