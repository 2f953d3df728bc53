"""Which rules hold for a clause, without asking every rule.

All rules in one automaton would be one pass, but not a cheap one: gaps such as "up to six words" make new states of it
with nearly every sentence people write. Each rule cannot do without certain words, though (`pattern_words`), most
sentences hold none of them, and those that do are put to one or two rules.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from jsonlstore.core.regex import any_of, compiled, searcher
from jsonlstore.signals.pattern_rules import NEUTRAL, RULES, TASK_WORDS
from jsonlstore.signals.pattern_words import WORDS
from jsonlstore.signals.sentences import FENCES

if TYPE_CHECKING:
    from jsonlstore.core.regex import Search
    from jsonlstore.signals.pattern_rules import Rule

# stands for any letter or sign beyond ASCII, punctuation aside, where a rule has no word in ASCII to offer
BEYOND_ASCII = "é"
_WORD = re.compile(r"[a-z0-9_]+")
_BEYOND_ASCII = re.compile("[^\x00-\x7f‘’“”–—…•→«»„]")


def words_in(text: str) -> set[str]:
    """The words of `text` and its pairs of neighbours, as rules ask for them."""
    words = _WORD.findall(_lowered(text).decode("ascii", "replace"))
    found = {*words, *map(" ".join, pairwise(words))}
    if is_beyond_ascii(text):
        found.add(BEYOND_ASCII)
    return found


def _lowered(text: str) -> bytes:
    """Only ASCII is lowered: elsewhere a capital may become a letter of ASCII, and change a word that is next to it."""
    return text.encode("utf-8", "replace").lower()


def is_beyond_ascii(text: str) -> bool:
    """Whether `text` holds more than ASCII and some punctuation."""
    return not text.isascii() and bool(_BEYOND_ASCII.search(text))


@cache
def _asking() -> dict[str, tuple[int, ...]]:
    """Words -> the rules that ask for them."""
    asking: dict[str, tuple[int, ...]] = {}
    for at, words in enumerate(WORDS):
        for word in words.split(","):
            asking[word] = (*asking.get(word, ()), at)
    return asking


@cache
def _anywhere() -> Search:
    phrases = sorted(re.escape(words).replace(r"\ ", r"\W+") for words in _asking() if words != BEYOND_ASCII)
    return searcher(compiled(rf"\b(?:{'|'.join(phrases)})\b|{any_of(map(re.escape, (*TASK_WORDS, *FENCES)))}"))


def may_tell(text: str) -> bool:
    """Whether there may be something in `text` for a rule to hold for, to open a task by, or to cut out as code.

    Of letters beyond ASCII nothing is certain; what is nothing but plain words is known for that in one pass.
    """
    return is_beyond_ascii(text) or _anywhere()(_lowered(text), 0)[0][0] >= 0


def matching(clause: str) -> list[Rule]:
    """The rules that hold for a clause as it stands."""
    asking = _asking()
    asked = {at for words in asking.keys() & words_in(clause) for at in asking[words]}
    data = clause.encode("utf-8", "replace")
    return [RULES[at] for at in sorted(asked) if _rule(at)(data, 0)[0][0] >= 0]


@cache
def _rule(at: int) -> Search:
    return searcher(compiled("(?i)" + RULES[at].pattern, text=True))


def without_neutral(clause: str) -> str:
    """A clause without the phrases that hold a telling word but do not mean it."""
    plain: str = _neutral().sub(" … ", clause)
    return plain


@cache
def _neutral() -> Any:
    import re2

    return re2.compile("(?i)" + any_of(NEUTRAL))
