"""Where a session stood when it stopped: its last topic, what was in progress, what was to come next. Extractive."""

# ruff: noqa: E501 - word lists and phrases are data

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from jsonlstore.core.regex import compiled, searcher
from jsonlstore.signals.patterns import is_casual
from jsonlstore.signals.sentences import prose_lines, sentences, shorten
from jsonlstore.signals.words import keywords

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from jsonlstore.core.regex import Search

REMEMBERED = 256
LONGEST_TEXT = 4_000
LONGEST_LINE = 160
_LOOK_BACK = 12

_NEXT = re.compile(
    r"\bnext (?:steps?|up|thing|on the list|task|move)\b|^(?:up )?next[,:]|\bnext,? (?:i|we|let's|you|i'll|we'll)\b|\b(?:i|we)(?:'ll| will) [^.]{0,60}\bnext\b"
    r"|\bdo next\b|\b(?:still|we|i|then we|now we) (?:need|have|must|want) to\b|\bremains to\b|\bremaining\b.{0,20}:|\bto[- ]?do\b[:\s]|\bTODO\b"
    r"|\b(?:tomorrow|later|afterwards),? (?:i|we|let's|you)\b|\bleft to do\b|\bpick(?:ing)? (?:this|it) up\b|\bcontinue (?:with|by|on)\b"
    r"|\bals n(?:ä|ae)chstes\b|\bn(?:ä|ae)chster schritt\b|\bmuss(?:t|en)? (?:ich|wir) noch\b|\b(?:ich|wir) m(?:ü|ue)ssen? noch\b|\bfehlt noch\b"
    r"|下一步|接下来|次は|следующий шаг|дальше (?:нужно|надо)|ensuite|siguiente paso",
    re.IGNORECASE,
)  # fmt: skip
_DOING = re.compile(
    r"\b(?:i'm|i am|we're|we are|currently|now|still) (?:\w+ )?(?:working on|implementing|building|writing|fixing|debugging|migrating|refactoring|testing|adding|porting|investigating|setting up)\b"
    r"|\bin progress\b|\bwork in progress\b|\bhalfway through\b|\bin the middle of\b|\barbeite (?:gerade )?an\b|\bgerade dabei\b",
    re.IGNORECASE,
)  # fmt: skip
_NO_STEP = re.compile(r"^(?:thanks|thank you|ok|okay|great|cool|nice|perfect|bye|good night|see you)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """What one message said, with its place in the tree; text is redacted and bounded, empty for anything else."""

    id: str | None
    parent_id: str | None
    by_user: bool
    text: str


class Outlook:
    """Remembers the latest messages and reads off them, along the active path, where things stood."""

    def __init__(self) -> None:
        self._latest: deque[Said] = deque(maxlen=REMEMBERED)
        self._leaf: str | None = None

    def hear(self, said: Said) -> None:
        """The next entry of the file."""
        self._latest.append(said)
        self._leaf = said.id or self._leaf

    def move_leaf(self, target: str | None) -> None:
        """A `leaf` record: the conversation goes on from another entry."""
        self._leaf = target

    def path(self, on_path: Collection[str] | None = None) -> list[Said]:
        """The remembered messages on the active path, oldest first; records without ids are one line."""
        if on_path is not None:
            return [said for said in self._latest if said.text and (said.id is None or said.id in on_path)]
        if any(said.id is None for said in self._latest):
            return [said for said in self._latest if said.text]
        known = {said.id: said for said in self._latest}
        path: list[Said] = []
        at = self._leaf
        while at in known and len(path) <= len(known):
            path.append(known[at])
            at = known[at].parent_id
        return [said for said in reversed(path) if said.text]


def last_topic(path: list[Said]) -> str | None:
    """The first telling sentence of the latest thing the user said that was about something."""
    for said in reversed(path):
        if not said.by_user:
            continue
        for sentence in _sentences(said.text):
            if len(keywords(sentence)) >= 2 and not is_casual(sentence):
                return shorten(sentence, LONGEST_LINE)
    return None


@cache
def _glance(pattern: str) -> Search:
    """A cheap look at a whole message: whether any of its sentences could match.

    RE2 reads a message a hundred times faster than `re` its sentences; it errs on the side of looking closer, since a
    sentence may begin anywhere in a message and words may have letters beyond ASCII.
    """
    return searcher(compiled("(?i)" + pattern.replace("|^", "|").replace(r"\w+", r"\S+"), text=True))


def _may_match(pattern: re.Pattern[str], text: str) -> bool:
    return _glance(pattern.pattern)(text.replace("’", "'").encode("utf-8", "replace"), 0)[0][0] >= 0


def in_progress(path: list[Said], open_titles: Iterable[str], most: int = 5) -> list[str]:
    """What was being worked on: sentences that say so, latest first, then the tasks left open."""
    found: dict[str, None] = {}
    for said in list(reversed(path))[:_LOOK_BACK]:
        for sentence in _sentences(said.text) if _may_match(_DOING, said.text) else ():
            if _DOING.search(sentence.replace("’", "'")) and not sentence.endswith("?"):
                found[shorten(sentence, LONGEST_LINE)] = None
    for title in open_titles:
        found[shorten(title, LONGEST_LINE)] = None
    return list(found)[:most]


def next_step(path: list[Said]) -> str | None:
    """The user's last request if nobody answered it, else the latest sentence that says what comes next."""
    if path and path[-1].by_user:
        asked = [one for one in _sentences(path[-1].text) if len(keywords(one)) >= 1 and not is_casual(one)]
        if asked and not _NO_STEP.match(asked[-1]):
            return shorten(asked[-1], LONGEST_LINE)
    for said in list(reversed(path))[:_LOOK_BACK]:
        if not _may_match(_NEXT, said.text):
            continue
        telling = [one for one in _sentences(said.text) if _NEXT.search(one.replace("’", "'")) and len(one) > 12]
        told = [one for one in telling if not one.endswith("?")]
        if told:
            return shorten(told[-1], LONGEST_LINE)
    return None


def _sentences(text: str) -> Iterator[str]:
    return (sentence for line in prose_lines(text) for sentence in sentences(line))
