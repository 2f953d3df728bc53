"""What is asked of the full-text index: concepts, phrases, words that must not occur, and times.

A time lifts sessions of that time. It leaves the others out only when nothing but a time was asked for, or when the
question says `only`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from jsonlstore.recall.forms import NEIGHBOUR, forms_of
from jsonlstore.recall.match import normalise
from jsonlstore.recall.stems import english, german, romance
from jsonlstore.recall.terms import bare, is_unspaced, pairs_of, raw_words
from jsonlstore.recall.when import Interval, find_when

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, tzinfo

TIME_WORD = 0.5  # a word that told a time may still be a word of the text, but seldom is
COMMON_WORD = 0.3
UNSPACED_PAIR = 0.7  # pairs of characters overlap, so a word of them is counted more than once
_EDGES = "?!,;:()[]{}<>“”„«»…'`*"
# what every sentence is made of, in the languages the tables know: looked for only where nothing else was asked
_FUNCTION_TEXT = """
a am an and are as at be been being but by did do does he how i i'd i'm i've in is it its of on or she the they to was
we were what what's when where which who whom whose why you
der die das den dem des ein eine einen einem einer und oder ist sind war waren wie was wer wo wann warum welche welcher
welches hat haben habe ich du er sie es wir ihr mit von zu im in am auf fur bei uber nicht auch mir mich uns
el la los las un una unos unas y o es son fue que quien cuando donde como de del en por para con mi su se
le les des du et ou est sont que qui quoi quand comment pour avec dans sur mon ma mes son sa ses il elle nous vous
"""
# what questions are often made of and answers sometimes too: they count for little, and name no candidates
_COMMON_TEXT = """
about after all any anything before can could doing done during each ever find for from had has have having her hers
him his if into just kind know last let like many me might mine more most much my our out over please recall remember
session sessions should show since so some something than that their them then there these thing things this those tell
up us while will with would your
"""
# who asks about themselves, and whom the assistant is addressed with; "me" may be whom to tell the answer
_ASKER_TEXT = """
i i'd i'll i'm i've my mine myself ich mein meine meinem meinen meiner mich je j'ai mon mes yo mis io mio mia miei eu
meu minha
"""
_ADDRESSED_TEXT = "you your yours you'd you've du dein deine dich dir vous votre vos tu tes usted tuyo voce"
_ASKER, _ADDRESSED = frozenset(_ASKER_TEXT.split()), frozenset(_ADDRESSED_TEXT.split())
_FUNCTION = frozenset(_FUNCTION_TEXT.split())
_COMMON = frozenset(_COMMON_TEXT.split()) - _FUNCTION
_ASKING = _FUNCTION | _COMMON


@dataclass(frozen=True, slots=True)
class Alternative:
    """One term that stands for a concept, and how much it counts; a `foreign` one is no stem of an English word."""

    term: str
    weight: float
    unspaced: bool = False
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing looked for: a word in all its forms and its neighbours in meaning; a `common` one tells little.

    A `name` is written with a capital letter within the question.
    """

    text: str
    alternatives: tuple[Alternative, ...]
    weight: float = 1.0
    common: bool = False
    name: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A question taken apart."""

    concepts: tuple[Concept, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    times: tuple[Interval, ...] = ()
    only_then: bool = False
    about_asker: bool = False

    @property
    def asks_for_words(self) -> bool:
        return bool(self.concepts or self.phrases)


def read_query(
    spoken: Iterable[str], now: datetime, zone: tzinfo | None = None, *, literal: Iterable[str] = ()
) -> Query:
    """Take a question apart. What stands in double quotes is a phrase; a word behind a minus must not occur."""
    free: list[str] = []
    phrases: list[str] = []
    for number, part in enumerate(" ".join(spoken).split('"')):
        if number % 2:
            phrases.append(" ".join(part.split()))
        else:
            free += part.split()
    excluded = [word[1:] for word in free if len(word) > 1 and word[0] == "-" and word[1].isalnum()]
    free = [word for word in free if not (len(word) > 1 and word[0] == "-" and word[1].isalnum())]
    words = [tidied for word in free if (tidied := _tidy(word))]
    times, timed = _times(words, now, zone, alone=not phrases)
    rest = [word for at, word in enumerate(words) if at not in timed]
    telling = [word for word in rest if normalise(word) not in _ASKING and word != "only"]
    only_then = bool(times) and ("only" in rest or not (telling or phrases or literal))
    said = [phrase for phrase in phrases if phrase]
    concepts = _concepts([*rest, *literal], set())
    if times and not only_then:
        concepts += _concepts([words[at] for at in sorted(timed)], {one.text for one in concepts}, TIME_WORD)
    if only_then and not (telling or phrases or literal):
        concepts = []
    concepts += _concepts(" ".join(said).split(), {one.text for one in concepts})
    names = _names(free)
    concepts = [
        replace(one, name=True) if one.text in names else one for one in concepts if one.text not in _FUNCTION
    ] or concepts
    return Query(
        tuple(concepts),
        tuple(dict.fromkeys(map(normalise, said))),
        tuple(dict.fromkeys(map(normalise, excluded))),
        tuple(times),
        only_then,
        _ASKER.intersection(words) != set() and not _ADDRESSED.intersection(words),
    )


def _times(words: list[str], now: datetime, zone: tzinfo | None, *, alone: bool) -> tuple[list[Interval], set[int]]:
    """Every time that is told, and the places of the words that tell them."""
    found: list[Interval] = []
    taken: set[int] = set()
    at = 0
    content = [word for word in words if normalise(word) not in _ASKING]
    while at < len(words):
        one = find_when(words[at:], now, zone, alone=alone and len(content) == 1)
        if one is None:
            break
        found.append(one.interval)
        taken.update(range(at + one.first, at + one.after))
        at += one.after
    return found, taken


def _names(words: list[str]) -> set[str]:
    """The words written with a capital letter where no sentence begins; none where all are, as in a headline."""
    within = [word for before, word in pairwise(words) if before[-1] not in ".?!:"]
    capital = [word for word in within if word.lstrip(_EDGES)[:1].isupper()]
    if len(capital) == len(within) > 1:
        return set()
    return {bare(part) for word in capital for part in raw_words(normalise(_tidy(word)))}


def _tidy(word: str) -> str:
    plain = word.casefold().replace("’", "'").strip(_EDGES).removesuffix("'s")
    if not plain.endswith(".."):
        plain = plain.rstrip(".")
    return plain if any(map(str.isalnum, plain)) or plain in ("-", "–", "..") else ""


def _concepts(words: Iterable[str], known: set[str], weight: float = 1.0) -> list[Concept]:
    found: dict[str, Concept] = {}
    for spoken in words:
        for word in raw_words(normalise(spoken)):
            if is_unspaced(word):
                for pair in pairs_of(word):
                    found.setdefault(pair, Concept(pair, (Alternative(pair, 1.0, True),), weight * UNSPACED_PAIR))
                continue
            text = bare(word)
            if text and text not in known:
                found.setdefault(text, _concept(word, text, weight))
    return list(found.values())


def _concept(word: str, text: str, weight: float) -> Concept:
    same, near = forms_of(text)
    chosen: dict[str, float] = {english(text): 1.0}
    for form in same:
        chosen.setdefault(english(form), 1.0)
    for form in near:
        chosen.setdefault(english(form), NEIGHBOUR)
    foreign = [stem for stem in dict.fromkeys((german(text), romance(text))) if chosen.get(stem) != 1.0]
    common = text in _ASKING or word in _ASKING
    alternatives = (
        *(Alternative(term, value) for term, value in chosen.items()),
        *(Alternative(stem, 1.0, foreign=True) for stem in foreign),
    )
    return Concept(text, alternatives, weight * COMMON_WORD if common else weight, common)
