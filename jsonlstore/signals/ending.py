"""Where a session stood when it stopped: the last request and its fate, the last answer, what it left open.

A session's end tells more than its middle: what was asked last and whether it was answered, the list of next steps
in the closing message, its last offer. A turn that died half-way is told exactly.
"""

# ruff: noqa: E501 - expressions are data, one a line

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.signals.answers import answer_line
from jsonlstore.signals.closings import tells_deed
from jsonlstore.signals.conversation import ASSISTANT, USER
from jsonlstore.signals.finished import says_done
from jsonlstore.signals.handed import commands_left
from jsonlstore.signals.language import small_kinds
from jsonlstore.signals.obstacles import in_the_way, labelled_lately
from jsonlstore.signals.offers import (
    HEADINGS,
    IDEAS,
    MISSING,
    Opened,
    defects_listed,
    is_either_or,
    listed_next,
    open_rows,
    spoken_languages,
)
from jsonlstore.signals.outcome import last_error
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
    pasted_command,
)
from jsonlstore.signals.sentences import (
    own_sentences,
    plain_text,
    prose_lines,
    sentences,
    shorten,
)
from jsonlstore.signals.shell import Purpose, steps
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.signals.conversation import Exchange, Moment
    from jsonlstore.signals.language import Language

TO_USER = "for the user"  # something to send, or to choose between: a question to them, and no work of ours
LISTS_REACH = 5  # a list that was followed by so many other requests is history
_LONGEST_LEFT = 240
_LAST_LINES = 6
_MOST_UNMET = 3
_LISTED = re.compile(r"^\s*(?:[-*+•–]|\d{1,2}[.)])\s+(\S.*)$")
# what asks for an answer and names no work of its own, and what points back
_REPORT_BACK = re.compile(
    r"\b(?:and|then|und|dann|y|luego|et|puis|e|poi|depois)?\s*(?:(?:please |just )?(?:let me know|tell me|report back)"
    r"|(?:sag|gib|lass)\w*(?: \w+){0,2} (?:bescheid|wissen)|(?:dime|avísame|cuéntame)|(?:dis|dites)[- ]moi"
    r"|(?:me )?(?:diga|avise|conte)(?:-me)?\b|fammi sapere|dimmi)\b"
    r"|(?:дай(?:те)? знать|сообщи\w*|скажи(?:те)?|дай(?:те)? знати|повідом\w*)|告诉我|告訴我|知らせて|教えて|알려\s?주",
    re.IGNORECASE,
)
_POINTING = re.compile(r"(?i)\b(?:try|test|that|this|it|them|again|now)\b")
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
    not_ours: bool = False  # the answer says of what fails that it did so before
    done_by_hand: bool = False  # the user says that they did something themselves


def read_ending(talk: Sequence[Exchange], language: Language | None, *, pushed: bool = True) -> ClosingSituation:
    """The ending of a conversation; where nothing was `pushed`, an answer that says so is not believed."""
    if not talk:
        return ClosingSituation()
    at = last_substantive(talk)
    if at is None:
        return ClosingSituation()
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
        verify=_to_verify(talk, at, language) if done and offer is None else None,
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
        not_ours=done and _failed_before(talk[at:], language),
        done_by_hand=_did_themselves(last.user, language),
    )


def _failed_before(talk: Sequence[Exchange], language: Language | None) -> bool:
    """Whether an answer says of a failure that it was there before, or belongs to something else."""
    told = [one.closing.text for one in talk if one.closing]
    return any(known.says("not_ours", text) for text in told for known in spoken_languages(text, language))


def _did_themselves(said: Moment, language: Language | None) -> bool:
    """Whether the user's last words report something done."""
    return len(said.text) <= _LONGEST_LEFT and any(
        tells_deed(plain_text(sentence), known) or says_done(plain_text(sentence), known)
        for known in spoken_languages(said.text, language)
        for sentence in own_sentences(said.text)
    )


def _for_a_case(offer: str, closing: Moment, language: Language | None) -> bool:
    """Whether it asks for something only if something goes wrong: "If a step fails, please paste …"."""
    known = spoken_languages(closing.text, language)
    asked = [found.start() for one in known if (found := one.pattern("offer").search(offer))]
    conditional = any(one.pattern("conditional").match(offer) for one in known)
    return conditional and bool(asked) and min(asked) > 0 and not offer.endswith(("?", "？"))


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
    said = answer_line(closing.text, language, pushed=pushed, worked=_changed(one))
    known = spoken_languages(closing.text, language)
    idle = request.fate == INTERRUPTED and len(sentences(said)) == 1 and any(each.announces(said) for each in known)
    return None if idle else said or None


def _changed(one: Exchange) -> bool:
    return any(moment.changes for moment in (one.user, *one.answers))


# what the closing message leaves open


def _offer(talk: Sequence[Exchange], at: int, language: Language | None) -> Opened | None:
    closing = talk[at].closing
    offer = offer_of(closing, language)
    if not offer or not closing or _only_asks_back(offer.text) or _for_a_case(offer.text, closing, language):
        return None
    kind = "offer" if offer.is_offer else "question"
    chats = kind == "question" and not any(moment.calls for one in talk for moment in (one.user, *one.answers))
    if (
        chats  # where no tool was ever used, a question keeps the talk going and names no work
        or is_either_or(offer.text)
        or any(one.says("hand_over", offer.text) for one in spoken_languages(closing.text, language))
    ):
        kind = TO_USER
    return Opened(offer.text, closing.id, closing.at, len(talk) - 1 - at, closing.turn, kind, 0.8)


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


def _to_verify(talk: Sequence[Exchange], at: int, language: Language | None) -> Opened | None:
    """What is to be done so that the last work shows: what was asked for outright tells more than "check the error"."""
    told = _told_to(talk, at, language)
    unverified = _unverified(talk, at)
    return (unverified and (told or unverified)) or _handed_over(talk, at, language) or told


def _unverified(talk: Sequence[Exchange], at: int) -> Opened | None:
    """An error the user pasted and that was worked on, but which nobody has seen gone: what to run again."""
    one = talk[at]
    pasted = one.user.text
    error = last_error(pasted)
    if not error or not _changed(one):
        return None
    ran = pasted_command(pasted)
    telling = [step for step in steps(ran) if step.purpose is not Purpose.LOOK] if ran else []
    text = (
        f"Check that it is gone: {' '.join(ran.split())[:100]}"
        if telling
        else "Check whether the reported error is gone"
    )
    return Opened(f"{text} ({shorten(error, 80)})", one.user.id, one.user.at, 0, one.user.turn, "unverified", 0.75)


def _handed_over(talk: Sequence[Exchange], at: int, language: Language | None) -> Opened | None:
    """What the assistant asked the user to try after it had changed something, and nobody has said how that went."""
    for one in reversed(talk[max(at - 1, 0) : at + 1]):
        closing = one.closing
        if closing and (
            _changed(one) or (one is talk[at] and any(moment.calls for moment in (one.user, *one.answers)))
        ):
            asked = _to_try(closing.text, spoken_languages(closing.text, language))
            back = len(talk) - 1 - at
            if asked:
                return Opened(asked, closing.id, closing.at, back, closing.turn, "to try", 0.7)
            if _changed(one):
                return None
    return None


def _told_to(talk: Sequence[Exchange], at: int, language: Language | None) -> Opened | None:
    """What the closing message tells the user to do next: "Please run the commands above", "Veuillez fournir …"."""
    closing = talk[at].closing
    if closing is None or closing is not talk[at].last:
        return None
    known = spoken_languages(closing.text, language)
    listed = _steps_listed(closing.text, known)
    if listed:
        return Opened(listed, closing.id, closing.at, len(talk) - 1 - at, closing.turn, "told to", 0.7)
    lines = [line for line in prose_lines(closing.text) if not line.lstrip().startswith(("#", "|", ">", "-", "*"))]
    for line in reversed(lines[-_LAST_LINES:]):
        for sentence in reversed(sentences(line)):
            plain = plain_text(sentence).replace("’", "'")
            if len(plain) > _LONGEST_LEFT or len(content_words(plain)) < 2 or plain.endswith(("?", "？")):
                continue
            if _only_asks_back(plain):
                continue
            if any(one.pattern("instruct").match(plain) and not one.says("conditional", plain) for one in known):
                back = len(talk) - 1 - at
                told = shorten(plain.rstrip(" :："), 160)
                return Opened(told, closing.id, closing.at, back, closing.turn, "told to", 0.7)
    return None


def _steps_listed(text: str, known: Sequence[Language]) -> str:
    """The last list of a message, where each of its items tells the user to do something; empty if there is none."""
    items: list[str] = []
    for line in reversed([one for one in prose_lines(text) if one.strip()]):
        item = _LISTED.match(line)
        if item:
            items.insert(0, plain_text(item[1]).replace("’", "'"))
        elif items:
            break
    told = [one for one in items if any(each.pattern("instruct").match(one) for each in known)]
    return shorten("; ".join(told), 160) if len(items) > 1 and len(told) == len(items) else ""


def _found_wrong(talk: Sequence[Exchange], at: int) -> list[Opened]:
    """What the closing message lists as wrong, where nothing was changed: somebody has still to mend it."""
    one = talk[at]
    closing = one.closing
    if closing is None or closing is not one.last or _changed(one):
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
    lines = [line for line in prose_lines(closing.text) if not line.lstrip().startswith(("#", "|", ">"))]
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


def _only_asks_back(plain: str) -> bool:
    """ "Try that and let me know if it works": it names no work of its own, only that an answer is waited for."""
    asked = _REPORT_BACK.search(plain)
    if asked is None or asked.start() == 0:
        return False
    return len(content_words(_POINTING.sub(" ", plain[: asked.start()]))) < 2


def _to_try(text: str, known: Sequence[Language]) -> str:
    """The sentence of a closing message's last lines, or its first, that asks the user to test or restart something."""
    lines = [line for line in prose_lines(text) if not line.lstrip().startswith(("#", "|", ">"))]
    # at the end, or right behind the words that it is done
    for line in (*reversed(lines[-_LAST_LINES:]), *lines[:1]):
        for sentence in reversed(sentences(line)):
            plain = plain_text(sentence).replace("’", "'")
            if (
                len(plain) <= 200
                and content_words(plain)
                and not _only_asks_back(plain)
                and any(one.says("try", plain) for one in known)
            ):
                return shorten(plain, 160)
    return ""
