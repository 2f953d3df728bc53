"""What somebody asks of the past, taken apart: when, and which words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from jsonlstore.recall.calendar import AMBIGUOUS, FILLER
from jsonlstore.recall.when import Interval, find_when

_EDGES = "?!,;:()[]{}<>“”„«»…'`*"


@dataclass(frozen=True, slots=True)
class Question:
    """A time, words to look for, or both, or neither: then it is about the latest there is."""

    when: Interval | None = None
    words: tuple[str, ...] = ()


def read_question(
    spoken: Iterable[str], now: datetime, zone: tzinfo | None = None, *, literal: Iterable[str] = ()
) -> Question:
    """Take a question apart. What stands in double quotes, and every `literal`, is a word whatever it looks like."""
    free: list[str] = []
    kept: list[str] = []
    for number, part in enumerate(" ".join(spoken).split('"')):
        (kept if number % 2 else free).extend(_tidy(part.split()))
    kept += _tidy(" ".join(literal).split())
    content = [word for word in free if word not in FILLER]
    found = find_when(free, now, zone, alone=len(content) == 1 and not kept)
    if found is not None:
        free = free[: found.first] + free[found.after :]
    words = _content(free, kept)
    return Question(found.interval if found else None, tuple(dict.fromkeys(words)))


def _tidy(words: Sequence[str]) -> list[str]:
    """Lower-cased, without the punctuation around them; a range may end in its dots."""
    out = []
    for word in words:
        bare = word.casefold().replace("’", "'").strip(_EDGES).removesuffix("'s")
        if not bare.endswith(".."):
            bare = bare.rstrip(".")
        if any(char.isalnum() for char in bare) or bare in ("-", "–", ".."):
            out.append(bare)
    return out


def _content(free: Sequence[str], kept: Sequence[str]) -> list[str]:
    """The words worth looking for: filler never, common words only where there are no others."""
    from jsonlstore.signals import word_rarity

    words = [word for word in free if word not in FILLER and any(char.isalnum() for char in word)]
    telling = {word for word in words if word_rarity(word) or not word.isalpha()}
    if telling or kept:
        words = [word for word in words if word in telling or word in AMBIGUOUS]
    return [*kept, *words]
