"""Which documents answer a question best, and with which words.

FTS5 names candidates. Inside them every occurrence of what was asked for is placed into passages of twenty words, and
a document is scored by its BM25, by its best passage and by its best pair of neighbouring passages of one turn: words
that stand close together mean more than the same words far apart. A time that was named lifts what was said then or
soon after.
"""

from __future__ import annotations

import heapq
import math
import re
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from jsonlstore.recall.dates import is_explicit, lifts, near_dates, times_to_be_near
from jsonlstore.recall.documents import STATE_SEQ
from jsonlstore.recall.match import normalise
from jsonlstore.recall.occurrences import PART_FROM, as_part, finder, folded_text
from jsonlstore.recall.query import Concept, Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.recall.documents import Block, StoredDocument, Turn
    from jsonlstore.recall.fulltext import SearchIndex

CANDIDATE_BLOCKS = 40
SMALL_STORE, CANDIDATES_THERE = 4000, 64  # up to so many blocks, matching is cheap and more candidates can be looked at
MOST_ROWS = 6000  # of FTS5, about 10 ms
BLOCKS_OF_ONE = 6
NEAR_DATE_BLOCKS, NEAREST = 24, 16
K1, B = 1.2, 0.75
STATE_WEIGHT = 0.5  # what the log distilled repeats what was said
_PASSAGES_SHOWN = 3
_LOOKED_AT = 12
_PUNCTUATION = ".,;:!?()[]{}\"'`“”„«»…*<>。、，！？"
_EVERY_LANGUAGE = "de en romance"
_LEAST = 1e-3  # what only a time weeks away speaks for is no answer


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part of the ranking counts; a benchmark turns them off one by one."""

    forms: bool = True
    passage: float = 1.0
    pair: float = 1.0
    date: float = 4.0
    relative_date: float = 1.0


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


class _Place(NamedTuple):
    """A stretch of a candidate: its turns, how many passages they have, and what occurs in which passage, how often.

    `ends` are the passages that a turn ends with.
    """

    turns: list[Turn]
    passages: int
    counts: dict[int, dict[int, float]]
    ends: frozenset[int]


@dataclass(slots=True)
class _Candidate:
    document: StoredDocument
    words: int = 0
    places: list[_Place] = field(default_factory=list)

    def frequencies(self) -> dict[int, float]:
        total: dict[int, float] = {}
        for place in self.places:
            for counts in place.counts.values():
                for concept, count in counts.items():
                    total[concept] = total.get(concept, 0.0) + count
        return total


def rank(
    index: SearchIndex,
    query: Query,
    *,
    limit: int = 10,
    among: Sequence[int] | None = None,
    without: frozenset[int] = frozenset(),
    speaker: str | None = None,
    weights: Weights = Weights(),
) -> list[Ranked]:
    """The documents that answer best; of those numbered `among` only, if given, and of none `without`."""
    return _Ranking(index, query, weights, speaker).best(limit, among, without)


class _Ranking:
    """One question put to the index."""

    def __init__(self, index: SearchIndex, query: Query, weights: Weights, speaker: str | None) -> None:
        self._index = index
        self._query = query
        self._weights = weights
        self._speaker = speaker
        self._total, self._average = index.size()
        self._concepts = query.concepts
        # where the time was a filter, all that is left is of that time
        self._times = () if query.only_then else times_to_be_near(index, query.times)
        self._frequency = [self._blocks_with(concept) for concept in self._concepts]
        self._finders = [finder(concept, forms=weights.forms) for concept in self._concepts]

    def _blocks_with(self, concept: Concept) -> float:
        """In how many blocks a concept occurs, near enough: its forms seldom share a block."""
        if concept.alternatives[0].unspaced and len(concept.text) == 1:
            return 1  # only pairs are counted; that it may be rare is all that is needed
        found = sum(self._index.frequency(one.term) for one in concept.alternatives if one.weight == 1.0)
        return min(found, self._total)

    def best(self, limit: int, among: Sequence[int] | None, without: frozenset[int]) -> list[Ranked]:
        candidates = self._candidates(among, without)
        if not candidates:
            return []
        weights = self._weights
        lifted = lifts(
            [one.document for one in candidates], self._times, explicit=weights.date, relative=weights.relative_date
        )
        scorer = _Scorer(self, candidates)
        ranked = []
        for one in self._with_phrases(candidates):
            if any(_holds(one, word, whole=True) for word in self._query.excluded):
                continue
            found = scorer.score(one)
            found.parts["date"] = lifted.get(one.document.no, 0.0)
            found.score += found.parts["date"]
            if found.score > _LEAST:
                ranked.append(found)
        ceiling = scorer.ceiling + max(lifted.values(), default=0.0)
        for each in ranked:
            each.share = min(1.0, each.score / ceiling) if ceiling else 0.0
        ranked.sort(key=lambda one: (one.score, one.document.last_at or ""), reverse=True)
        for each in ranked[:limit]:
            each.passages = [self._marked(passage) for passage in each.passages]
        return ranked[:limit]

    def _with_phrases(self, candidates: list[_Candidate]) -> list[_Candidate]:
        """Those in which every phrase stands; all of them if it stands in none, and words besides it were asked for."""
        phrases = self._query.phrases
        if not phrases:
            return candidates
        found = [one for one in candidates if all(_holds(one, phrase) for phrase in phrases)]
        said = " ".join(phrases)
        besides = any(concept.text not in said for concept in self._concepts)
        return found or (candidates if besides else [])

    def _marked(self, passage: Passage) -> Passage:
        """The passage with the words in it that were looked for, as they are written there."""
        text, plain = passage.text, folded_text(passage.text)
        if text.isascii():  # then the plain text is as long, but for the space it begins with
            places = {at for find in self._finders for at, _ in find(plain, _EVERY_LANGUAGE)}
            found = [text[at - 1 : len(plain[:at] + plain[at:].split(" ", 1)[0]) - 1] for at in sorted(places)]
        else:
            found = [word for word in text.split() if self._occurs(word)]
        found = [word.strip(_PUNCTUATION) for word in found]
        return passage._replace(matches=tuple(dict.fromkeys(filter(None, found))))

    def _occurs(self, word: str) -> bool:
        plain = folded_text(word)
        return any(True for find in self._finders for _ in find(plain, _EVERY_LANGUAGE))

    # -- candidates

    def _candidates(self, among: Sequence[int] | None, without: frozenset[int]) -> list[_Candidate]:
        expression = self._expression()
        most = CANDIDATES_THERE if self._total <= SMALL_STORE else CANDIDATE_BLOCKS
        blocks = self._index.match(expression, most, among, without) if expression else []
        near = [no for no in near_dates(self._index, self._times, among) if no not in without]
        if near:
            blocks += self._index.match(expression, NEAR_DATE_BLOCKS, near) if expression else []
            # a day that was named is an answer by itself; "recently" is not
            if any(map(is_explicit, self._times)):
                blocks += [(number, 0.0) for number in self._index.first_blocks(near[:NEAREST])]
        chosen: dict[int, list[int]] = {}
        owners = self._index.owners([number for number, _ in blocks])
        for number, _ in blocks:
            mine = chosen.setdefault(owners[number], [])
            if number not in mine and len(mine) < BLOCKS_OF_ONE:
                mine.append(number)
        marks = ",".join("?" * len(chosen))
        documents = {one.no: one for one in self._index.documents(f"no IN ({marks})", tuple(chosen))}
        found = []
        for no, numbers in chosen.items():
            candidate = _Candidate(documents[no])
            for number in sorted(numbers):
                self._place(candidate, self._index.block(number))
            found.append(candidate)
        return found

    def _expression(self) -> str:
        """The FTS5 query: the rarest concepts, as many as can be looked up in time; in a small store that is all.

        What is in most blocks tells little about any of them, and costs most. Within candidates every concept counts.
        """
        chosen: list[int] = []
        rows = 0.0
        numbers = range(len(self._concepts))
        telling = [number for number in numbers if not self._concepts[number].common] or numbers
        for number in sorted(telling, key=self._frequency.__getitem__):
            count = self._frequency[number]
            if count and (not chosen or rows + count <= MOST_ROWS):
                chosen.append(number)
                rows += count
        terms: dict[str, None] = {}
        for number in chosen:
            concept = self._concepts[number]
            for one in concept.alternatives if self._weights.forms else concept.alternatives[:1]:
                if one.weight >= 1.0 or self._index.frequency(one.term) * 4 <= self._total:
                    terms.setdefault(f'words : "{one.term}"' + " *" * (one.unspaced and len(one.term) == 1))
        for concept in (self._concepts[number] for number in telling):
            if len(concept.text) >= PART_FROM and concept.text.isalpha() and not concept.alternatives[0].unspaced:
                terms.setdefault(f'parts : "{as_part(concept.text)}" *')
        return " OR ".join(terms)

    def _place(self, candidate: _Candidate, block: Block) -> None:
        """Put every occurrence of what was asked for into its passage."""
        is_talk = block.seq != STATE_SEQ
        candidate.words += block.words if is_talk else 0
        turns = (
            block.turns if self._speaker is None else [turn for turn in block.turns if turn.speaker == self._speaker]
        )
        if not turns:
            return
        plain = folded_text("\n".join(turn.text for turn in turns))
        found = [
            (position, number, weight)
            for number, find in enumerate(self._finders)
            for position, weight in find(plain, block.languages)
        ]
        counts: dict[int, dict[int, float]] = {}
        passage = before = 0
        for position, number, weight in sorted(found):
            passage += plain.count("\n", before, position)
            before = position
            here = counts.setdefault(passage, {})
            here[number] = here.get(number, 0.0) + (weight if is_talk else weight * STATE_WEIGHT)
        lengths = accumulate(turn.text.count("\n") + 1 for turn in turns)
        candidate.places.append(_Place(turns, plain.count("\n") + 1, counts, frozenset(end - 1 for end in lengths)))

    # -- what the scorer needs to know

    @property
    def concepts(self) -> Sequence[Concept]:
        return self._concepts

    @property
    def weights(self) -> Weights:
        return self._weights

    @property
    def average(self) -> float:
        return self._average

    def rarity(self, concept: int) -> float:
        """The inverse document frequency of a concept among all blocks."""
        count = min(self._frequency[concept], self._total)
        return self._concepts[concept].weight * math.log1p((self._total - count + 0.5) / (count + 0.5))


class _Scorer:
    """Scores candidates by words alone."""

    def __init__(self, ranking: _Ranking, candidates: Sequence[_Candidate]) -> None:
        self._weights = ranking.weights
        self._average = ranking.average
        concepts = range(len(ranking.concepts))
        self._rarity = [ranking.rarity(number) for number in concepts]
        places = [place for one in candidates for place in one.places]
        total = sum(place.passages for place in places)
        with_it = [0] * len(ranking.concepts)
        for place in places:
            for counts in place.counts.values():
                for number in counts:
                    with_it[number] += 1
        # how telling a word is within passages; a name of every session is in few of their passages
        self._telling = [
            ranking.concepts[number].weight * math.log1p((total - count + 0.5) / (count + 0.5))
            for number, count in enumerate(with_it)
        ]

    @property
    def ceiling(self) -> float:
        """What a document would have in which everything stands often, and all in one passage."""
        passages = (self._weights.passage + self._weights.pair) * sum(self._telling)
        return (K1 + 1) * sum(self._rarity) + 1.5 * passages

    def score(self, one: _Candidate) -> Ranked:
        norm = K1 * (1 - B + B * one.words / self._average)
        frequencies = one.frequencies().items()
        bm25 = sum(self._rarity[number] * tf * (K1 + 1) / (tf + norm) for number, tf in frequencies)
        best = pair = 0.0
        singles: list[tuple[float, int, int]] = []
        for nth, place in enumerate(one.places):
            for passage, counts in place.counts.items():
                worth = self._worth(counts)
                singles.append((-worth, nth, passage))
                best = max(best, worth)
                following = None if passage in place.ends else place.counts.get(passage + 1)
                pair = max(pair, worth if following is None else self._worth(_joined(counts, following)))
        parts = {"words": bm25, "passage": self._weights.passage * best, "pair": self._weights.pair * pair}
        shown = self._shown(one, heapq.nsmallest(_LOOKED_AT, singles))
        return Ranked(one.document, sum(parts.values()), passages=shown, parts=parts)

    def _worth(self, counts: dict[int, float]) -> float:
        return sum(self._telling[number] * count * 1.5 / (count + 0.5) for number, count in counts.items())

    @staticmethod
    def _shown(one: _Candidate, singles: list[tuple[float, int, int]]) -> list[Passage]:
        """The best passages, one of each turn; a passage goes on into its neighbour where the turn does."""
        shown: list[Passage] = []
        for negative, nth, passage in singles:
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


def _joined(one: dict[int, float], other: dict[int, float]) -> dict[int, float]:
    if not one or not other:
        return one or other
    return {number: one.get(number, 0.0) + other.get(number, 0.0) for number in one.keys() | other.keys()}


def _holds(one: _Candidate, phrase: str, *, whole: bool = False) -> bool:
    """Whether a phrase stands in a document, across passages too."""
    said = normalise(" ".join(turn.text.replace("\n", " ") for place in one.places for turn in place.turns))
    if not whole:
        return phrase in said
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", said) is not None
