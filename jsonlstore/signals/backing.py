"""What the rest of a session says for a decision: it answered a question, or its user came back to it.

"Make the harbour red" and "the harbour is red from now on" are told apart by what follows, not by their words: the one
is carried out with the next answer and never spoken of again, the other is what later requests are about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.offers import spoken_languages
from jsonlstore.signals.requests import is_nudge
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.signals.conversation import Exchange
    from jsonlstore.signals.language import Language

_HEAD = 600
_QUESTION_REACH = 300  # from the end of an answer
_SHARED, _SHARED_SIGNS = 2, 4  # words two texts have in common; of scripts without spaces pairs of signs, which overlap
# what stands for a thing of the work: with a stroke, a dot, a digit or a hump in it, or in capitals
_NAME = re.compile(
    r"(?<![A-Za-z0-9_-])(?:[A-Za-z]\w*+(?:[./-]++\w++)++|[A-Za-z]++[\d_]\w*+|[a-z]++[A-Z]\w*+|[A-Z]{2}\w*+)"
)


class Backing:
    """Looks up in the talk what bears a decision out; each message is read once, when it is first asked for."""

    def __init__(self, talk: Sequence[Exchange], language: Language | None) -> None:
        self._talk = talk
        self._language = language
        self._places = {one.user.id: at for at, one in enumerate(talk) if one.user.id}
        self._words: dict[int, frozenset[str]] = {}
        self._said = ""
        self._spoken: frozenset[str] = frozenset()

    def place(self, entry_id: str | None, at: str) -> int | None:
        """Which exchange a note belongs to: the one its entry opens, or the last that began before it."""
        if entry_id in self._places:
            return self._places[entry_id]
        before = [place for place, one in enumerate(self._talk) if one.user.at <= at] if at else []
        return before[-1] if before else None

    def answered(self, place: int) -> bool:
        """Whether the user was asked something right before."""
        before = self._talk[place - 1].closing if place else None
        return before is not None and any(mark in before.text[-_QUESTION_REACH:] for mark in "?？")

    def is_called_one(self, text: str) -> bool:
        """Whether a sentence calls itself a decision."""
        return any(one.says("decided", text) for one in spoken_languages(text, self._language))

    def came_back(self, text: str, place: int) -> bool:
        """Whether the user spoke of it again in a later request of another kind than "go on"."""
        words = content_words(text)
        least = _SHARED if text.isascii() else _SHARED_SIGNS
        return any(len(words & self._asked(at)) >= least for at in range(place + 1, len(self._talk)))

    def is_named(self, text: str) -> bool:
        """Whether the user ever spoke of a thing it names, or of two of its words."""
        if not self._said:
            said = "\n".join(one.user.text[:_HEAD] for one in self._talk)
            self._said, self._spoken = said.lower(), content_words(said)
        names = (name.lower() for name in _NAME.findall(text))
        spoken = any(name in self._said or name.rpartition(".")[0] in self._spoken for name in names)
        return spoken or len(content_words(text) & self._spoken) >= _SHARED

    def _asked(self, at: int) -> frozenset[str]:
        if at not in self._words:
            text = self._talk[at].user.text
            self._words[at] = frozenset() if is_nudge(text) else content_words(text[:_HEAD])
        return self._words[at]
