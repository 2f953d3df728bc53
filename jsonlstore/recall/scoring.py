"""How well a document answers by its words: BM25 over all of it, and its best passage with what stands beside it.

Words that stand close together mean more than the same words far apart. A passage is twenty words; what stands before
and after it counts for less, but for the names of those who speak: in every turn somebody else is named.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.recall.documents import StoredDocument, Turn
    from jsonlstore.recall.query import Concept

K1, B = 2.0, 0.6
SATURATION = 0.8  # within a passage a word said twice is worth little more than one said once
_PASSAGES_SHOWN = 3
_LOOKED_AT = 12


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part of the ranking counts; a benchmark turns them off one by one."""

    forms: bool = True
    inflected: float = 0.75  # a word in another form than the question's
    passage: float = 1.5
    beside: float = 0.35
    name: float = 2.0  # whom a question names, among the words of a whole session
    listened: float = 0.3  # what the assistant said, where the asker asks about themselves
    date: float = 5.0
    relative_date: float = 1.0


USUAL = Weights()


class Passage(NamedTuple):
    """Words of a document that answer, whose they are, and which of them were looked for."""

    turn: Turn
    text: str
    score: float
    matches: tuple[str, ...] = ()


@dataclass(slots=True)
class Ranked:
    """A document that answers: how well, with which passages, and by which parts of the score."""

    document: StoredDocument
    score: float
    share: float = 0.0  # of the best score these words could have
    passages: list[Passage] = field(default_factory=list)
    parts: dict[str, float] = field(default_factory=dict)


class Place(NamedTuple):
    """A stretch of a candidate: its turns, how many passages they have, and what occurs in which passage, how often.

    `names` are the concepts that turns are labelled with ("Ada: I think so").
    """

    turns: list[Turn]
    passages: int
    counts: dict[int, dict[int, float]]
    names: frozenset[int] = frozenset()


@dataclass(slots=True)
class LookedAt:
    """A document that may answer, as far as it was looked at."""

    document: StoredDocument
    words: int = 0
    places: list[Place] = field(default_factory=list)

    def frequencies(self) -> dict[int, float]:
        """How often each concept occurs."""
        total: dict[int, float] = {}
        for place in self.places:
            for counts in place.counts.values():
                for concept, count in counts.items():
                    total[concept] = total.get(concept, 0.0) + count
        return total


class Scorer:
    """Scores candidates by words alone.

    `rarity` is the weight of each concept among all blocks, `average` how many words a block has.
    """

    def __init__(
        self,
        concepts: Sequence[Concept],
        rarity: Sequence[float],
        average: float,
        candidates: Sequence[LookedAt],
        weights: Weights,
    ) -> None:
        self._weights = weights
        self._average = average
        self._rarity = rarity
        places = [place for one in candidates for place in one.places]
        total = sum(place.passages for place in places)
        with_it = [0] * len(concepts)
        for place in places:
            for counts in place.counts.values():
                for number in counts:
                    with_it[number] += 1
        # how telling a word is within passages; a name of every session is in few of their passages
        self._telling = [
            concepts[number].weight * math.log1p((total - count + 0.5) / (count + 0.5))
            for number, count in enumerate(with_it)
        ]

    @property
    def ceiling(self) -> float:
        """What a document would have in which everything stands often, and all in one passage."""
        return (K1 + 1) * sum(self._rarity) + (1 + SATURATION) * self._weights.passage * sum(self._telling)

    def score(self, one: LookedAt) -> Ranked:
        """The score of a candidate, and the passages it is best for."""
        norm = K1 * (1 - B + B * one.words / self._average)
        frequencies = one.frequencies().items()
        bm25 = sum(self._rarity[number] * tf * (K1 + 1) / (tf + norm) for number, tf in frequencies)
        passages = [
            (-self._worth(place, passage), nth, passage)
            for nth, place in enumerate(one.places)
            for passage in place.counts
        ]
        best = heapq.nsmallest(_LOOKED_AT, passages)
        parts = {"words": bm25, "passage": -self._weights.passage * best[0][0] if best else 0.0}
        return Ranked(one.document, sum(parts.values()), passages=_shown(one, best), parts=parts)

    def _worth(self, place: Place, passage: int) -> float:
        """What a passage is worth, with a part of what stands beside it."""
        counts, beside = place.counts[passage], self._weights.beside
        neighbours = [near for at in (passage - 1, passage + 1) if beside and (near := place.counts.get(at))]
        if neighbours:
            counts = dict(counts)
            for near in neighbours:
                for number, count in near.items():
                    if number not in place.names:
                        counts[number] = counts.get(number, 0.0) + beside * count
        telling = self._telling
        return sum(
            telling[number] * count * (1 + SATURATION) / (count + SATURATION) for number, count in counts.items()
        )


def _shown(one: LookedAt, best: list[tuple[float, int, int]]) -> list[Passage]:
    """The best passages, one of each turn; a passage goes on into its neighbour where the turn does."""
    shown: list[Passage] = []
    for negative, nth, passage in best:
        if len(shown) == _PASSAGES_SHOWN:
            break
        turn, line = _turn_at(one.places[nth].turns, passage)
        if any(each.turn is turn for each in shown):
            continue
        text = " ".join(turn.text.split("\n")[line : line + 2])
        shown.append(Passage(turn, text, -negative))
    return shown


def _turn_at(turns: Sequence[Turn], passage: int) -> tuple[Turn, int]:
    """The turn a passage is of, and which of its lines it is."""
    for turn in turns:
        lines = turn.text.count("\n") + 1
        if passage < lines:
            return turn, passage
        passage -= lines
    raise IndexError(passage)
