"""What is asked of the full-text index: concepts, phrases, words that must not occur, and times.

A time lifts sessions of that time. It leaves the others out only when nothing but a time was asked for, or when the
question says `only`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from jsonlstore.core.clock import parse_time
from jsonlstore.recall.calendar import MONTHS, SHORT
from jsonlstore.recall.forms import NEIGHBOUR, forms_of
from jsonlstore.recall.match import normalise
from jsonlstore.recall.stems import english, german, romance
from jsonlstore.recall.terms import bare, is_unspaced, pairs_of, raw_words
from jsonlstore.recall.when import Interval, find_when

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, tzinfo

AFTER, BEFORE = timedelta(days=10), timedelta(days=1)  # people tell of the past, and seldom of what is to come
TIME_WORD = 0.5  # a word that told a time may still be a word of the text, but seldom is
UNSPACED_PAIR = 0.7  # pairs of characters overlap, so a word of them is counted more than once
_EDGES = "?!,;:()[]{}<>“”„«»…'`*"
_EXPLICIT = re.compile(rf"20\d\d|\d\d?[./-]\d|{'|'.join(MONTHS)}|\b(?:{'|'.join(SHORT)})\b")
# what questions are made of, in the languages the tables know; they are looked for only where nothing else was asked
_ASKING_TEXT = """
a about after all am an and any anything are as at be been before being but by can could did do does doing done during
each ever find for from had has have having he her hers him his how i i'd i'm i've if in into is it its just kind know
last let like many me might mine more most much my of on or our out over please recall remember session sessions she
should show since so some something than that the their them then there these they thing things this those to tell up
us was we were what what's when where which while who whom whose why will with would you your
der die das den dem des ein eine einen einem einer und oder ist sind war waren wie was wer wo wann warum welche welcher
welches hat haben habe ich du er sie es wir ihr mit von zu im in am auf fur bei uber nicht auch mir mich uns
el la los las un una unos unas y o es son fue que quien cuando donde como de del en por para con mi su se
le les des du et ou est sont que qui quoi quand comment pour avec dans sur mon ma mes son sa ses il elle nous vous
"""
_ASKING = frozenset(_ASKING_TEXT.split())


@dataclass(frozen=True, slots=True)
class Alternative:
    """One term that stands for a concept, and how much it counts."""

    term: str
    weight: float
    unspaced: bool = False


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing looked for: a word in all its forms and its neighbours in meaning."""

    text: str
    alternatives: tuple[Alternative, ...]
    weight: float = 1.0
    common: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A question taken apart."""

    concepts: tuple[Concept, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    times: tuple[Interval, ...] = ()
    only_then: bool = False

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
    concepts = _concepts([*rest, *literal], set())
    if times and not only_then:
        concepts += _concepts([words[at] for at in sorted(timed)], {one.text for one in concepts}, TIME_WORD)
    if only_then and not (telling or phrases or literal):
        concepts = []
    said = [phrase for phrase in phrases if phrase]
    concepts += _concepts(" ".join(said).split(), {one.text for one in concepts})
    return Query(
        tuple(concepts),
        tuple(dict.fromkeys(map(normalise, said))),
        tuple(dict.fromkeys(map(normalise, excluded))),
        tuple(times),
        only_then,
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


def is_explicit(when: Interval) -> bool:
    """Whether a time names the calendar (`7 May 2023`), and not its distance from today (`last week`)."""
    return _EXPLICIT.search(when.said) is not None


def closeness(started_at: str | None, last_at: str | None, when: Interval) -> float:
    """1 for what was said in a time, less for what was said after it (people tell of the past), least before it."""
    try:
        start, end = parse_time(started_at or ""), parse_time(last_at or started_at or "")
    except ValueError:
        return 0.0
    if when.overlaps(start, end):
        return 1.0
    if start >= when.end:
        return math.exp(-_days(start, when.end) / (AFTER / timedelta(days=1)))
    return math.exp(-_days(when.start, end) / (BEFORE / timedelta(days=1)))


def _days(later: datetime, earlier: datetime) -> float:
    return (later - earlier) / timedelta(days=1)


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
    chosen: dict[str, float] = {}
    for stem in (english(text), german(text), romance(text)):
        chosen.setdefault(stem, 1.0)
    for form in same:
        chosen.setdefault(english(form), 1.0)
    for form in near:
        chosen.setdefault(english(form), NEIGHBOUR)
    common = text in _ASKING or word in _ASKING
    return Concept(text, tuple(Alternative(term, value) for term, value in chosen.items()), weight, common)
