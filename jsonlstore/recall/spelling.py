"""Words nobody said, as they may have been meant: the terms of the index that differ by one slip of the hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jsonlstore.recall.query import Alternative
from jsonlstore.recall.stems import english

if TYPE_CHECKING:
    from jsonlstore.recall.index_reader import IndexReader
    from jsonlstore.recall.query import Concept

RESPELT = 0.7
LEAST = 5  # of shorter words too many differ by a letter
_BEGINNING = 3  # slips in the first letters are rare, and looking for them means reading the whole vocabulary
_MOST = 3


def respelt(concept: Concept, index: IndexReader) -> Concept:
    """A concept whose word occurs nowhere, with the terms it may be a misspelling of."""
    stem = english(concept.text)
    if len(stem) < LEAST or not stem.isalpha() or concept.alternatives[0].unspaced:
        return concept
    near = index.terms_like(stem[:_BEGINNING], len(stem) - 1, len(stem) + 1)
    meant = sorted((-count, term) for term, count in near if one_slip(stem, term))[:_MOST]
    alternatives = (*concept.alternatives, *(Alternative(term, RESPELT) for _, term in meant))
    return replace(concept, alternatives=alternatives) if meant else concept


def one_slip(word: str, other: str) -> bool:
    """Whether a letter left out, put in, changed, or two letters exchanged make one word the other."""
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    left, right = word[at:], other[at:]
    if len(left) != len(right):
        return left[1:] == right or left == right[1:]
    return left[1:] == right[1:] or (left[:2] == right[1::-1] and left[2:] == right[2:])
