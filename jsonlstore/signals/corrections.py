"""What the user takes back by saying something else: the later word replaces the earlier one on the same subject."""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from jsonlstore.core import expressions as re
from jsonlstore.signals.choices import CONSTRAINT, DECISION, LONGEST_RULING, REVERT, WEAK_RULE, Said, is_order
from jsonlstore.signals.language import may_any_say
from jsonlstore.signals.sentences import own_lines, plain_text, shorten
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.core.model import Note
    from jsonlstore.signals.language import Language

REACH = 3  # messages back that a correction may be about
_LONGEST = 240
_LONGEST_MESSAGE = 1_000
_LONGEST_LEAD = 60
_SPOKEN_OF = 80  # characters before a word such as "instead"
_WHOLE = 3  # words of content that say what they are about
_RULED = frozenset({DECISION, CONSTRAINT, REVERT})
_CORRECT = ("correct",)
# without an announcement: what it speaks against must have been said
_INSTEAD = re.compile(
    r"(?:(?:instead of|rather than|(?:an)?statt|en (?:vez|lugar) de|au lieu d[e']|em vez d\w+|ao invés d\w+|invece d\w+|вместо|замість)"
    r"|(?:, |^)(?:and )?(?:not|nicht|no|pas|não|non|не|а не)|而不是) ?(?P<against>\w[^,.;]{1,60})"
    r"|(?P<behind> instead(?! of)| is too \w+| was (?:a mistake|wrong)| ist zu \w+| stattdessen|대신|말고|ではなく|じゃなくて)"
    r"|(?P<now>改成|改为|改用)",
    re.IGNORECASE,
)


class Correction(NamedTuple):
    """What a message says in the place of something said before, whether so outright, and what it speaks against."""

    text: str
    outright: bool
    against: str

    def replaces(self, said: str) -> bool:
        """Whether the two are about the same: one word in common may be the name of the project."""
        before, now = content_words(said), content_words(self.text)
        shared = len(before & now)
        if said == self.text or not shared:
            return False
        against = content_words(self.against)
        if against:
            return bool(before & against)
        return shared > 1 or (3 if self.outright else 2) * shared >= min(len(before), len(now))


def correction(text: str, known: Sequence[Language]) -> Correction | None:
    """How a message takes something back; None if it does not, or only asks."""
    if len(text) > _LONGEST_MESSAGE:
        return None
    said = plain_text(" ".join(own_lines(text)[:2])).replace("’", "'").strip()
    if not said or len(said) > _LONGEST or said.endswith(("?", "？")):
        return None
    rest, lead = said, ""
    if may_any_say(known, _CORRECT, said[:_LONGEST_LEAD]):
        rest, lead = _without_lead(said, known)
    if any(one.pattern("asks").match(rest) for one in known) or not content_words(rest):
        return None
    outright = any(one.says("meant", lead) for one in known)
    if lead:
        return Correction(rest, outright, "")
    instead = _INSTEAD.search(said)
    if instead is None:
        return None
    before = said[max(0, instead.start() - _SPOKEN_OF) : instead.start()] if instead["behind"] else ""
    return Correction(rest, outright, instead["against"] or before)


def _without_lead(said: str, known: Sequence[Language]) -> tuple[str, str]:
    """A message without the words that announce a correction, and those words; a sentence of nothing else goes too."""
    for one in known:
        rest = said
        while (lead := one.pattern("correct").match(rest)) and lead.end():
            rest = rest[lead.end() :].lstrip(" ,.:;!-—、。，！")
        if rest and rest != said:
            return rest, said[: len(said) - len(rest)]
    return said, ""


def takes_back(later: Correction, said: Sequence[Said], known: Sequence[Language]) -> bool:
    """Whether a correction says what is to be instead: "no, the test is still red" takes nothing back."""
    return later.outright or any(one.kind in _RULED for one in said) or is_order(later.text, known)


def told_anew(later: Correction, said: Sequence[Said], gone: Sequence[Note]) -> list[Said]:
    """What a message says once it replaced something; a mere part of a sentence is told with what it replaces."""
    kept = [one for one in said if one.kind != REVERT or not gone]
    if not gone:
        return kept
    if any(one.kind in {DECISION, CONSTRAINT} for one in kept):  # who corrects themselves weighed it
        return [replace(one, confidence=max(one.confidence, WEAK_RULE)) for one in kept]
    text = later.text
    if len(content_words(text)) < _WHOLE:
        text = f"{text.rstrip(' .!。')} (not: {gone[-1].content})"
    return [*kept, Said(DECISION, shorten(text, LONGEST_RULING), WEAK_RULE)]
