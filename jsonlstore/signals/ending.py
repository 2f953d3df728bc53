"""Where a session stood when it stopped: the last request and its fate, the last answer, what it left open.

A session's end tells more than its middle: what was asked last and whether it was answered, the list of next steps
in the closing message, its last offer. A turn that died half-way is told exactly.
"""

# ruff: noqa: E501 - expressions are data, one a line

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.answers import answer_line
from jsonlstore.signals.conversation import ASSISTANT, USER
from jsonlstore.signals.handed import commands_left, only_asks_back, to_verify
from jsonlstore.signals.language import small_kinds
from jsonlstore.signals.obstacles import in_the_way, labelled_lately
from jsonlstore.signals.offers import (
    HEADINGS,
    IDEAS,
    MISSING,
    OR_ELSE,
    Opened,
    defects_listed,
    listed_next,
    open_rows,
    spoken_languages,
)
from jsonlstore.signals.requests import (
    ANSWERED,
    FAILED,
    INTERRUPTED,
    UNANSWERED,
    Request,
    is_nudge,
    last_request,
    last_substantive,
    offer_of,
)
from jsonlstore.signals.sentences import (
    plain_text,
    prose_lines,
    sentences,
    shorten,
)
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.signals.conversation import Exchange, Moment
    from jsonlstore.signals.language import Language

TO_USER = "for the user"  # something to send, or to choose between: a question to them, and no work of ours
LISTS_REACH = 5  # a list that was followed by so many other requests is history
_LONGEST_LEFT = 240
_NO_SPEECH = ("#", "|", ">")
_LEAST_UNSPACED = 14  # signs: "please check it" names nothing in fewer
_LAST_LINES = 6
_LEAST_NAMED = 2  # words of content beside those of leaving
_MOST_UNMET = 3
_POINTS_AT_LIST = re.compile(
    r"\b(?:(?:either|any|one|some|both|all|which) of (?:these|those|them|the)|(?:one|einen?|eines) (?:von|davon|dieser)|alguno de|algum (?:desses|deles)|l'un de|uno di)\b"
    r"|(?:один|какой-то|что-то) из (?:этих|них)|(?:上述|以上)(?:任|哪|其中)?|これらの(?:うち|いずれ)|위(?:의)? 중",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ClosingSituation:
    """Everything the end of a session tells."""

    request: Request | None = None
    answer: str | None = None
    answer_id: str | None = None
    offer: Opened | None = None
    listed: tuple[Opened, ...] = ()
    blockers: tuple[Opened, ...] = ()
    verify: Opened | None = None
    left: Opened | None = None
    run: Opened | None = None
    wrong: tuple[Opened, ...] = ()
    labelled: tuple[Opened, ...] = ()
    ideas: tuple[str, ...] = ()
    unmet: tuple[Opened, ...] = ()
    offer_comes_after: bool = False  # it offers something on top of what is listed, or points back at that


def read_ending(talk: Sequence[Exchange], language: Language | None, *, pushed: bool = True) -> ClosingSituation:
    """The ending of a conversation; where nothing was `pushed`, an answer that says so is not believed."""
    if not talk:
        return ClosingSituation()
    at = last_substantive(talk)
    if at is None:
        greeted = last_request(talk, len(talk) - 1, language)
        # nothing was asked but whether somebody is there, and nobody was: that much is worth telling
        return ClosingSituation(request=greeted if greeted.fate == FAILED else None)
    request = last_request(talk, at, language)
    last = talk[at]
    closing = last.closing
    done = request.fate == ANSWERED
    offer = _offer(talk, at, language) if done or request.fate == UNANSWERED else None
    return ClosingSituation(
        request=request,
        answer=_answer(last, request, language, pushed=pushed),
        answer_id=closing.id if closing else None,
        offer=offer,
        listed=tuple(_listed(talk, language)),
        blockers=tuple(in_the_way(talk, at, language)),
        verify=to_verify(talk, at, language) if done and offer is None else None,
        left=_left_over(talk, at, language) if done else None,
        run=commands_left(talk, at, language) if done else None,
        wrong=tuple(_found_wrong(talk, at)) if done else (),
        labelled=tuple(
            one
            for kind, who in (("next_label", (USER, ASSISTANT)), ("advice_label", (USER,)))
            for one in labelled_lately(talk, kind, language, who)
            if one.by_user or one.back == 0
        ),
        ideas=tuple(_ideas(closing, language)) if closing and done else (),
        unmet=tuple(_unmet(talk, at, language)) if not done else (),
        offer_comes_after=offer is not None and closing is not None and _comes_after(offer.text, closing, language),
    )


def _for_a_case(offer: str, closing: Moment, language: Language | None) -> bool:
    """Whether it asks for something only if something goes wrong ("If a step fails, please paste …"), or takes leave."""
    known = spoken_languages(closing.text, language)
    if any(found and len(content_words(found.re.sub(" ", offer))) < _LEAST_NAMED for found in _leaves(offer, known)):
        return True
    asked = [found.start() for one in known if (found := one.pattern("offer").search(offer))]
    conditional = any(one.pattern("conditional").match(offer) for one in known)
    return conditional and bool(asked) and min(asked) > 0 and not offer.endswith(("?", "？"))


def _leaves(offer: str, known: Sequence[Language]) -> list[re.Match[str] | None]:
    """What in an offer only takes leave: "Let me know if you have any questions"."""
    return [] if offer.endswith(("?", "？")) else [one.pattern("courtesy").search(offer) for one in known]


def _comes_after(offer: str, closing: Moment, language: Language | None) -> bool:
    """Whether an offer says nothing without the list before it ("either of the two?"), or offers something on top."""
    pointing = _POINTS_AT_LIST.search(offer) is not None
    return pointing or any(one.says("extra", offer) for one in spoken_languages(closing.text, language))


def _ideas(closing: Moment, language: Language | None) -> list[str]:
    """What the closing message merely suggests: nobody agreed to it, so it is no task."""
    return listed_next(closing.text, spoken_languages(closing.text, language), (IDEAS,))


def _unmet(talk: Sequence[Exchange], at: int, language: Language | None) -> list[Opened]:
    """The requests right before the last one that nothing came of either, oldest first."""
    found: list[Opened] = []
    for back in range(at - 1, -1, -1):
        one = talk[back]
        request = last_request(talk, back, language)
        if request.fate != FAILED and any(moment.text or moment.calls for moment in one.answers):
            break
        if not is_nudge(one.user.text):
            found.insert(0, Opened(request.text, one.user.id, one.user.at, 0, one.user.turn, "request unanswered", 0.8))
    return found[-_MOST_UNMET:]


def _answer(one: Exchange, request: Request, language: Language | None, *, pushed: bool) -> str | None:
    """The answer in one line; words that only said what would come next, and did not, are none."""
    closing = one.closing
    if closing is None or request.fate == FAILED:
        return None
    said = answer_line(closing.text, language, pushed=pushed, worked=one.changed)
    known = spoken_languages(closing.text, language)
    idle = request.fate == INTERRUPTED and len(sentences(said)) == 1 and any(each.announces(said) for each in known)
    return None if idle else said or None


# what the closing message leaves open


def _offer(talk: Sequence[Exchange], at: int, language: Language | None) -> Opened | None:
    closing = talk[at].closing
    offer = offer_of(closing, language)
    if not offer or not closing or only_asks_back(offer.text) or _for_a_case(offer.text, closing, language):
        return None
    kind = "offer" if offer.is_offer else "question"
    chats = kind == "question" and not any(one.called for one in talk)
    if (
        chats  # where no tool was ever used, a question keeps the talk going and names no work
        or _is_either_or(offer.text)
        or any(one.says("hand_over", offer.text) for one in spoken_languages(closing.text, language))
    ):
        kind = TO_USER
    return Opened(offer.text, closing.id, closing.at, len(talk) - 1 - at, closing.turn, kind, 0.8)


def _is_either_or(question: str) -> bool:
    """Whether a question ends with another way ("… draw its parts? Or open the notes?"): nobody can say which comes."""
    first, mark, other = question.replace("？", "?").rstrip("? ").rpartition("?")
    return bool(mark and first) and OR_ELSE.match(other.lstrip()) is not None


def _listed(talk: Sequence[Exchange], language: Language | None) -> list[Opened]:
    """The latest list of what is left in a closing message.

    What was proposed lapses when the user asks for something else; what is undone stays so for a while.
    """
    asked = 0
    for back, one in enumerate(reversed(talk)):
        if asked >= LISTS_REACH:
            break
        kinds = HEADINGS if asked == 0 else (MISSING,)
        latest = asked == 0
        asked += not small_kinds(one.user.text)
        closing = one.closing
        if not closing or closing is not one.last or closing.ends_with != "said":
            continue
        spoken = spoken_languages(closing.text, language)
        items = listed_next(closing.text, spoken, kinds)
        if not latest:
            items = [item for item in items if not item.endswith(("?", "？"))]  # what was asked, they answered
        else:
            items = list(dict.fromkeys([*items, *open_rows(closing.text, spoken)]))
        if items:
            sure = 0.8 if back <= 1 else 0.7
            return [Opened(item, closing.id, closing.at, back, closing.turn, "listed", sure) for item in items]
    return []


def _found_wrong(talk: Sequence[Exchange], at: int) -> list[Opened]:
    """What the closing message lists as wrong, where nothing was changed: somebody has still to mend it."""
    one = talk[at]
    closing = one.closing
    if closing is None or closing is not one.last or one.changed:
        return []
    back = len(talk) - 1 - at
    found = defects_listed(closing.text)
    return [Opened(said, closing.id, closing.at, back, closing.turn, "found wrong", 0.7) for said in found]


def _left_over(talk: Sequence[Exchange], at: int, language: Language | None) -> Opened | None:
    """What the closing message says outright is left to do: "What remains is the legend", "Il reste à …"."""
    closing = talk[at].closing
    if closing is None or closing is not talk[at].last:
        return None
    known = spoken_languages(closing.text, language)
    lines = [line for line in prose_lines(closing.text) if not line.lstrip().startswith(_NO_SPEECH)]
    for line in reversed(lines[-_LAST_LINES:]):
        for sentence in reversed(sentences(line)):
            plain = plain_text(sentence).replace("’", "'")
            if not 12 <= len(plain) <= _LONGEST_LEFT and plain.isascii():
                continue
            says = any(one.pattern("left").match(plain) for one in known)
            if says and len(content_words(plain)) >= 2 and not plain.endswith(("?", "？", ":", "：")):
                back = len(talk) - 1 - at
                return Opened(shorten(plain, 160), closing.id, closing.at, back, closing.turn, "left", 0.7)
    return None
