"""Where in a text a concept occurs: the words themselves are looked for, and no text is ever taken apart for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.recall.match import normalise
from jsonlstore.recall.stems import english, german, needle, romance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jsonlstore.recall.query import Concept

    Finder = Callable[[str, str], Iterable[tuple[int, float]]]

PART_FROM = 4
_INFLECTED_PART = 0.6  # a word inside a compound
_COMPOUND_FROM = 10
_SPACES = bytes(
    ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 10 if code == 10 else 32 for code in range(256)
)
_NO_WORD = re.compile(r"[^\w\n]+|_")
_WORD = re.compile(r"[^\W_]+")


def folded_text(text: str) -> str:
    """A text folded, every word behind a space, every passage still a line."""
    folded = text.encode().translate(_SPACES).decode() if text.isascii() else _NO_WORD.sub(" ", normalise(text))
    return " " + folded.replace("\n", "\n ")


def as_part(text: str) -> str:
    """The beginning of a word's forms inside a compound: without its inflection."""
    return german(text)


def finder(concept: Concept, *, forms: bool, inflected: float = 1.0) -> Finder:
    """What finds a concept in plain text: positions, and how much each occurrence counts; less in another form."""
    alternatives = concept.alternatives if forms else concept.alternatives[:1]
    if alternatives[0].unspaced:
        return lambda text, _languages: _unspaced(text, concept.text)
    wanted = {one.term: one.weight for one in alternatives}
    native = {one.term: one.weight for one in alternatives if not one.foreign}
    needles = _shortest({needle(term) for term in wanted})
    part = as_part(concept.text) if len(concept.text) >= PART_FROM and concept.text.isalpha() else None

    def find(text: str, languages: str) -> Iterable[tuple[int, float]]:
        foreign = None if languages == "en" else wanted
        for start in needles:
            spaced = " " + start
            at = text.find(spaced)
            while at >= 0:
                match = _WORD.match(text, at + 1)
                assert match is not None
                weight = _weight(match[0], native, foreign)
                if weight:
                    yield at + 1, weight if match[0] == concept.text else weight * inflected
                at = text.find(spaced, at + 1)
        if part is not None and "de" in languages:
            yield from _inside(text, part)

    return find


def _weight(word: str, native: dict[str, float], foreign: dict[str, float] | None) -> float:
    """A stem counts among stems of its own kind: the German one of "planet" is the English one of "planning"."""
    weight = native.get(english(word), 0.0)
    if weight or foreign is None:
        return weight
    return foreign.get(german(word)) or foreign.get(romance(word)) or 0.0


def _shortest(needles: Iterable[str]) -> list[str]:
    """Without those that begin with another, or every occurrence would be found twice."""
    kept: list[str] = []
    for one in sorted(needles, key=len):
        if one and not any(one.startswith(shorter) for shorter in kept):
            kept.append(one)
    return kept


def _unspaced(text: str, pair: str) -> Iterable[tuple[int, float]]:
    at = text.find(pair)
    while at >= 0:
        yield at, 1.0
        at = text.find(pair, at + 1)


def _inside(text: str, part: str) -> Iterable[tuple[int, float]]:
    """A word inside long words; at their beginning it is only if the word goes on beyond an ending."""
    at = text.find(part)
    while at >= 0:
        start = text.rfind(" ", 0, at) + 1
        match = _WORD.match(text, start)
        if match is not None and len(match[0]) >= _COMPOUND_FROM and len(match[0]) - len(part) > 3:
            yield at, _INFLECTED_PART
        at = text.find(part, at + 1)
