"""Which documents answer a question best, and with which words.

FTS5 names candidates. Inside them every occurrence of what was asked for is placed into passages of twenty words, by
which a document is scored. A time that was named lifts what was said then or soon after. Who asks about themselves
("my", "I") means what they said rather than what they were answered.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from jsonlstore.recall.dates import is_explicit, lifts, near_dates, times_to_be_near
from jsonlstore.recall.documents import STATE_SEQ
from jsonlstore.recall.match import normalise
from jsonlstore.recall.occurrences import PART_FROM, as_part, finder, folded_text
from jsonlstore.recall.query import Concept, Query
from jsonlstore.recall.scoring import USUAL, LookedAt, Place, Ranked, Scorer, Weights
from jsonlstore.recall.terms import raw_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.recall.documents import Block, Turn
    from jsonlstore.recall.fulltext import SearchIndex
    from jsonlstore.recall.scoring import Passage

CANDIDATE_BLOCKS = 40
SMALL_STORE, CANDIDATES_THERE = 4000, 64  # up to so many blocks, matching is cheap and more candidates can be looked at
MOST_ROWS = 6000  # of FTS5, about 10 ms
BLOCKS_OF_ONE = 6
NEAR_DATE_BLOCKS, NEAREST = 24, 16
STATE_WEIGHT = 0.5  # what the log distilled repeats what was said
_PUNCTUATION = ".,;:!?()[]{}\"'`“”„«»…*<>。、，！？"
_LABEL = re.compile(r"\W{0,2}(\w[^\n:]{0,30}):\s")
_EVERY_LANGUAGE = "de en romance"
_LEAST = 1e-3  # what only a time weeks away speaks for is no answer


def rank(
    index: SearchIndex,
    query: Query,
    *,
    limit: int = 10,
    among: Sequence[int] | None = None,
    without: frozenset[int] = frozenset(),
    speaker: str | None = None,
    weights: Weights = USUAL,
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
        self._finders = [finder(one, forms=weights.forms, inflected=weights.inflected) for one in self._concepts]

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
        rarity = [self._rarity(number) for number in range(len(self._concepts))]
        scorer = Scorer(self._concepts, rarity, self._average, candidates, weights)
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

    def _with_phrases(self, candidates: list[LookedAt]) -> list[LookedAt]:
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

    def _candidates(self, among: Sequence[int] | None, without: frozenset[int]) -> list[LookedAt]:
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
            candidate = LookedAt(documents[no])
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

    def _place(self, candidate: LookedAt, block: Block) -> None:
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
        said = self._factors(turns) if is_talk else None
        usual = 1.0 if is_talk else STATE_WEIGHT
        counts: dict[int, dict[int, float]] = {}
        passage = before = 0
        for position, number, weight in sorted(found):
            passage += plain.count("\n", before, position)
            before = position
            here = counts.setdefault(passage, {})
            here[number] = here.get(number, 0.0) + weight * (said[passage] if said else usual)
        labels = {
            word for turn in turns if (label := _LABEL.match(turn.text)) for word in raw_words(normalise(label[1]))
        }
        names = frozenset(number for number, concept in enumerate(self._concepts) if concept.text in labels)
        candidate.places.append(Place(turns, plain.count("\n") + 1, counts, names))

    def _factors(self, turns: Sequence[Turn]) -> list[float] | None:
        """How much each passage counts by who said it; None if that does not matter to the question."""
        if not self._query.about_asker or self._speaker is not None:
            return None
        listened = self._weights.listened
        return [1.0 if turn.speaker == "user" else listened for turn in turns for _ in range(turn.text.count("\n") + 1)]

    def _rarity(self, concept: int) -> float:
        """The inverse document frequency of a concept among all blocks.

        A name that many sessions have tells little by that alone, yet who is asked about is seldom beside the point.
        """
        count = min(self._frequency[concept], self._total)
        one = self._concepts[concept]
        weight = one.weight * self._weights.name if one.name else one.weight
        return weight * math.log1p((self._total - count + 0.5) / (count + 0.5))


def _holds(one: LookedAt, phrase: str, *, whole: bool = False) -> bool:
    """Whether a phrase stands in a document, across passages too."""
    said = normalise(" ".join(turn.text.replace("\n", " ") for place in one.places for turn in place.turns))
    if not whole:
        return phrase in said
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", said) is not None
