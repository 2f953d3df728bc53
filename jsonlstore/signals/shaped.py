"""Requests that say how something is to be: decisions, once they were carried out.

Most of what a session settles nobody calls a decision: "move the legend below the map" was asked for, and done. Only
requests that changed something are read, at the end, so that plain talk costs nothing.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.choices import LONGEST_RULING, is_form, is_order, task_in
from jsonlstore.signals.corrections import REACH, correction
from jsonlstore.signals.language import heard_in, recognise, speaks_another
from jsonlstore.signals.offers import rules_of
from jsonlstore.signals.requests import is_nudge
from jsonlstore.signals.rulings import whole_clauses
from jsonlstore.signals.sentences import plain_text, spoken_sentences
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jsonlstore.signals.conversation import Exchange, Moment
    from jsonlstore.signals.language import Language

SHAPED = "shaped"
_LONGEST_REQUEST = 240
_SOME_WORDS = 4
_ASKING_END = " ?？!.。"
_NAME = re.compile(r"\w[=_/]\w|(?<!\w)--\w|\d")
_CUT_SHORT = re.compile(r"\s(?:-\w|to|of|the|a|an|in|with|for|as|from|that|by)$", re.IGNORECASE)  # by a line's end
# in the words of an editor's button
_GO_AHEAD = re.compile(r"(?:please )?implement (?:the|this) plan\b", re.IGNORECASE)


def shaped_requests(talk: Sequence[Exchange], language: Language | None) -> Iterator[tuple[Moment, str, bool]]:
    """What was asked for and done, in the user's words, oldest first, and whether it corrects what they said before.

    Not the message that opens a session, which is the work itself, and not the last one, which is told as such.
    """
    changed = [any(moment.changes for moment in (one.user, *one.answers)) for one in talk]
    if not any(changed):
        return
    heard = heard_in(one.user.text for one in talk)
    replaced: list[str] = []  # by what the user said soon after
    spoken: Language | None = None  # so far: a short request may not show its own
    for at, (one, after) in enumerate(pairwise(talk)):
        if speaks_another(one.user.text, heard):
            continue
        spoken = recognise(one.user.text) or spoken
        # at once, or after a go-ahead to what was planned
        done = changed[at] or (changed[at + 1] and _is_go_ahead(after.user.text))
        if done and one.user.turn > 1 and not after.user.text.startswith("/undo"):
            known = rules_of(spoken or language)
            wishes = wishes_in(one.user.text, known)
            own = correction(one.user.text, known) if replaced else None
            corrects = own is not None and any(own.replaces(wish) for wish in replaced)
            if own and corrects and not wishes and is_order(own.text, known):
                wishes = [whole_clauses(own.text, LONGEST_RULING)]
            later = [correction(each.user.text, known) for each in talk[at + 1 : at + 1 + REACH]] if wishes else []
            for wish in filter(None, wishes):
                if any(each and each.replaces(wish) for each in later):
                    replaced.append(wish)
                else:
                    yield one.user, wish, corrects


def _is_go_ahead(text: str) -> bool:
    return is_nudge(text) or _GO_AHEAD.match(text) is not None


def wishes_in(text: str, known: Sequence[Language]) -> list[str]:
    """The requests of a message that say how something is to be, asked politely ("can you move …?") or not."""
    plain = (plain_text(sentence).replace("’", "'").strip() for sentence in spoken_sentences(text))
    found = (_wish(sentence, known) for sentence in plain if len(sentence) <= _LONGEST_REQUEST)
    told = (
        whole_clauses(wish, LONGEST_RULING) for wish in found if wish and _says_which(wish) and not task_in(wish, known)
    )
    return [one for one in told if one and not any(is_form(one, each) for each in known)]


def _wish(plain: str, known: Sequence[Language]) -> str:
    """The request in a sentence; empty for what asks for an answer, or only says what to do next."""
    asks = plain.endswith(("?", "？")) or any(one.pattern("asks").match(plain) for one in known)
    if not asks:
        return plain if any(one.pattern("shape").match(plain) for one in known) else ""
    for one in known:
        lead = one.pattern("polite").match(plain)
        rest = plain[lead.end() :].strip(_ASKING_END) if lead else ""
        if lead and rest and (one.pattern("shape").match(rest) or one.pattern("pick").match(rest)):
            return plain.strip(_ASKING_END) if any(mark in lead[0] for mark in "，,") else rest
    return ""


def _says_which(wish: str) -> bool:
    """Whether a request says which change: by a name, or by some words ("add tests" could be anything)."""
    words = len(content_words(wish))
    told = words >= 3 or (words == 2 and wish.count(" ") >= _SOME_WORDS) or (words > 0 and _NAME.search(wish))
    return bool(told) and not _CUT_SHORT.search(wish)
