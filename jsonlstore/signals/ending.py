"""Where a session stood when it stopped: the last request and its fate, the last answer, what it left open.

A session's end tells more than its middle: what was asked last and whether it was answered, the list of next steps
in the closing message, its last offer. A turn that died half-way is told exactly.
"""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.signals.conversation import ASSISTANT, USER
from jsonlstore.signals.language import small_kinds
from jsonlstore.signals.obstacles import in_the_way, labelled_lately
from jsonlstore.signals.offers import (
    HEADINGS,
    MISSING,
    Opened,
    closing_offer,
    is_either_or,
    listed_next,
    open_rows,
    spoken_languages,
)
from jsonlstore.signals.outcome import last_error
from jsonlstore.signals.replies import begins_with_yes, choice
from jsonlstore.signals.sentences import (
    is_document,
    own_lines,
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
    from jsonlstore.signals.offers import Offer

LONGEST_LINE = 200
ANSWERED, UNANSWERED, INTERRUPTED, FAILED, REFUSED = "answered", "unanswered", "interrupted", "failed", "refused"
TO_USER = "for the user"  # something to send, or to choose between: a question to them, and no work of ours
LISTS_REACH = 5  # a list that was followed by so many other requests is history
_MOST_COMPARED, _LEAST_COMPARED, _LONG_ANSWER = 600, 3, 200
_NUDGES_BACK = 6
_SHORT_ANSWER = 400
_LONGEST_YES = 120
_LONGEST_LEFT = 240
_LAST_LINES = 6
_SLASH = re.compile(r"^/[\w:-]+(?:\s|$)")
_COMMAND_BEFORE = re.compile(r"\s*/(?:[\w:-]+[ \t]*\n|(?:ask|code|architect|btw)\s)")
_FRAMES = re.compile(r"^[ \t]+File \"[^\"\n]+\", line \d+[^\n]*\n(?:[ \t]+[^\n]*\n)*", re.MULTILINE)  # of a stack trace
_PUSHED = re.compile(
    r"\b(?:pushed|gepusht|pushead[oa]s?|poussée?s?)\b|\bpush (?:is |was )?(?:done|complete|successful|succeeded|realizad|hech|feit|conclu[ií]d|réussi|effectué|erledigt)"
    r"|\b(?:and|und|y|et|e|&) push (?:\w+ )?(?:done|complete|success|realizad|hech|feit|conclu[ií]d|réussi|effectué|erledigt|erfolgreich)"
    r"|запушен|запушил|已推送|推送(?:成功|完成|了)|プッシュ(?:しました|済み|完了)|푸시(?:했|완료)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"n't\b|\b(?:not|never|no|nicht|kein|nunca|pas|não|не|ще|if|once|when|after|wenn|si)\b|[未没不]", re.IGNORECASE
)
_FAILED_TURN = re.compile(
    r"^(?:API Error\b|(?:Invalid|Incorrect) API key|OAuth (?:token|authentication)|Please run /login|Credit balance is too low|(?:Claude(?: AI)?|Codex)? ?usage limit reached|(?:5-hour|Session|Weekly) limit reached|Rate limit|Internal server error|Overloaded\b|stream disconnected|Connection error|⚠️ Agent failed|Agent failed before reply|LLM (?:request|error)|Request (?:failed|timed out)|Prompt is too long|Unable to connect to API|Error: \d{3}\b|You've (?:hit|reached) your (?:usage )?limit)",
    re.IGNORECASE,
)
_INTERRUPTED = re.compile(
    r"^\[Request interrupted by user|^(?:Cancelled|Canceled|Aborted|\[aborted\])\.?$", re.IGNORECASE
)
_PROMPT_COMMAND = re.compile(
    r"(?:^|[$%❯#>~»⚡]\s{0,3}|\) (?:\S+ )?)((?:sudo )?(?:uv|npm|pnpm|yarn|bun|npx|python3?|pytest|cargo|go|docker|docker-compose|make|node|deno|uvicorn|flask|java|mvn|gradle|\./\w[\w.-]*|dotnet|ruby|rails|php|kubectl|terraform|git push|pip3?|poetry|streamlit)\s[^\n]{2,140})",
    re.MULTILINE,
)


_PROMPT = re.compile(r"\s*\([\w.-]+\)[^()\n]{0,60}$")  # "(venv) main ~ " before a pasted command


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked last, with what became of it."""

    text: str
    at: str
    fate: str
    entry_id: str | None
    doing: str = ""  # what was being done when it stopped
    error: str = ""
    accepted: str = ""  # the offer it said yes to


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
    labelled: tuple[Opened, ...] = ()


def read_ending(talk: Sequence[Exchange], language: Language | None, *, pushed: bool = True) -> ClosingSituation:
    """The ending of a conversation; where nothing was `pushed`, an answer that says so is not believed."""
    if not talk:
        return ClosingSituation()
    at = _last_substantive(talk)
    if at is None:
        return ClosingSituation()
    request = _request(talk, at, language)
    last = talk[at]
    closing = last.closing
    done = request.fate == ANSWERED
    offer = _offer(talk, at, language) if done else None
    return ClosingSituation(
        request=request,
        answer=_one_line(closing.text, pushed=pushed) or None if closing and request.fate != FAILED else None,
        answer_id=closing.id if closing else None,
        offer=offer,
        listed=tuple(_listed(talk, language)),
        blockers=tuple(in_the_way(talk, at, language)),
        verify=(_unverified(talk, at) or _handed_over(talk, at, language)) if done and offer is None else None,
        left=_left_over(talk, at, language) if done else None,
        labelled=tuple(
            one
            for kind, who in (("next_label", (USER, ASSISTANT)), ("advice_label", (USER,)))
            for one in labelled_lately(talk, kind, language, who)
            if one.by_user or one.back == 0
        ),
    )


# the last request


def is_nudge(text: str) -> bool:
    """Whether a message asks for nothing of its own: agreement, "go on", small talk, a slash command."""
    plain = text.strip()
    return not plain or _is_command(plain) or bool(small_kinds(plain)) or bool(_INTERRUPTED.match(plain))


def _is_command(plain: str) -> bool:
    """Whether a message is a slash command; one that is given a task in words is a request."""
    command = _SLASH.match(plain)
    return command is not None and len(content_words(plain[command.end() :][:_MOST_COMPARED])) < _LEAST_COMPARED


def _last_substantive(talk: Sequence[Exchange]) -> int | None:
    """The last exchange that was about something: small talk and slash commands that were answered are not."""
    for at in range(len(talk) - 1, -1, -1):
        text = talk[at].user.text.strip()
        kinds = small_kinds(text)
        empty = not text or _is_command(text) or kinds == {"talk"} or _INTERRUPTED.match(text)
        if not empty and not (kinds and at == 0 and not talk[at].answers):
            return at
    return None


def _request(talk: Sequence[Exchange], at: int, language: Language | None) -> Request:
    one = talk[at]
    text, accepted = _asked(talk, at, language)
    fate, doing, error = _fate(one, talk[at + 1] if at + 1 < len(talk) else None, language)
    return Request(text, one.user.at, fate, one.user.id, doing, error, accepted)


def _asked(talk: Sequence[Exchange], at: int, language: Language | None) -> tuple[str, str]:
    """The words of a request, and what it accepted where it was an answer to an offer."""
    text = request_line(talk[at].user.text)
    kinds = small_kinds(text)
    before = talk[at - 1].closing if at else None
    offer = _offer_of(before, language) if before else None
    picked = choice(text, offer, before.text) if before else []
    if picked:
        return text, shorten("; ".join(option for _, option in picked), LONGEST_LINE)
    if offer and (kinds & {"yes", "nudge"} or (len(text) < _LONGEST_YES and begins_with_yes(text))):
        return text, offer.text
    if kinds and at:
        for earlier in range(at - 1, max(at - _NUDGES_BACK, -1), -1):
            if not is_nudge(talk[earlier].user.text):
                said, accepted = _asked(talk, earlier, language)
                return (text, accepted) if accepted else (shorten(f"{text} ({said})", LONGEST_LINE), "")
    return text, ""


def without_command(text: str) -> str:
    """A message without the slash command on its first line, and without one that only says in what way to answer."""
    match = _COMMAND_BEFORE.match(text) if text.lstrip().startswith("/") else None
    rest = text[match.end() :].strip() if match else ""
    return rest or text


def request_line(text: str) -> str:
    """A request in one line: its own words, of a pasted document only the user's, cut before what was pasted."""
    text = without_command(text)
    spoken = _FRAMES.sub("", text) if ", line " in text else text
    lines = [plain_text(line) for line in own_lines(spoken)]
    said = " ".join(line for line in lines if line)
    if not said:  # nothing but a paste: the error it holds is what it is about
        said = (last_error(text) if "\n" in text else "") or plain_text(text.strip().split("\n", 1)[0])
    elif is_document(text):
        said = lines[0] if len(content_words(lines[0])) >= 2 or len(lines) == 1 else said
    if said.endswith(":") and "\n" in text:  # "Unhandled exception:" and a trace
        said = f"{said} {last_error(text)}".strip()
    pasted = _PROMPT_COMMAND.search(said)
    if pasted and pasted.start(1) > 12 and is_document(text):
        said = _PROMPT.sub("", said[: pasted.start(1)]).rstrip(" ($⚡~:")
    return shorten(said, LONGEST_LINE)


def _fate(one: Exchange, after: Exchange | None, language: Language | None) -> tuple[str, str, str]:
    last = one.last
    stopped = after is not None and bool(_INTERRUPTED.match(after.user.text.strip()))
    doing = "; ".join(list(last.waiting.values())[:2]) or last.last_call
    failed_turn = last.who == ASSISTANT and not last.calls and bool(_FAILED_TURN.match(last.text.strip()))
    if last.error or failed_turn:
        return FAILED, doing, last.error or shorten(plain_text(last.text), 120)
    if last.aborted or stopped or last.ends_with in {"called", "answered"}:
        return INTERRUPTED, doing, ""
    if last.who == "user" or not one.answers:
        return UNANSWERED, doing, ""
    if _is_refused(one, language):
        return REFUSED, "", ""
    announced = _announced(one, language)
    if announced:
        return INTERRUPTED, announced, ""
    return (UNANSWERED if _is_off_topic(one) else ANSWERED), "", ""


def _is_refused(one: Exchange, language: Language | None) -> bool:
    """Whether the assistant declined, and did nothing."""
    opening = one.last.text[:300]
    declined = any(known.says("refuse", opening) for known in spoken_languages(opening, language))
    return declined and not any(moment.calls for moment in one.answers)


def _announced(one: Exchange, language: Language | None) -> str:
    """What an assistant was about to do: a turn that ends with "Now I'll update the chart:" stopped before it did."""
    last = one.last
    if last.who != ASSISTANT or last.silent:
        return ""
    lines = [line for line in prose_lines(last.text) if line.strip()]
    told = sentences(lines[-1]) if lines else []
    if not told:
        return ""
    plain = plain_text(told[-1]).replace("’", "'")
    known = spoken_languages(last.text, language)
    if plain.endswith(("?", "？")) or any(each.says("offer", plain) for each in known):
        return ""
    # without a colon it may sum up what was done; not where nothing was done at all
    idle = len(last.text) <= _SHORT_ANSWER and not any(moment.calls for moment in (one.user, *one.answers))
    stops_short = plain.endswith((":", "：", "…", "...")) or idle
    return shorten(plain.rstrip(" :："), 160) if stops_short and any(each.announces(plain) for each in known) else ""


def _is_off_topic(one: Exchange) -> bool:
    """Whether what followed a request is about something else: long, no tool used, and not one word in common.

    A message sent while the agent was busy is stored before the end of the answer to the one before it.
    """
    closing = one.closing
    if closing is None or any(moment.calls for moment in (one.user, *one.answers)):
        return False
    asked = content_words(one.user.text[:_MOST_COMPARED])
    answer = closing.text.lower()
    return len(asked) >= _LEAST_COMPARED and len(answer) >= _LONG_ANSWER and not any(word in answer for word in asked)


def _one_line(text: str, *, pushed: bool = True) -> str:
    """What an answer says, in one line: its first words that are more than a heading, and not against the evidence."""
    if not pushed and _PUSHED.search(text):
        told = (one for line in prose_lines(text) for one in sentences(line))
        text = "\n".join(one for one in told if not _PUSHED.search(one) or _NOT.search(one))
    said: list[str] = []
    length = 0
    for line in prose_lines(text):
        plain = plain_text(line).strip(" -–—|")
        if (
            not content_words(plain)
            or line.lstrip().startswith(("|", "---"))
            or (line.lstrip().startswith("#") and not said)
        ):
            continue
        said.append(plain)
        length += len(plain)
        if length >= LONGEST_LINE:
            break
    return shorten(" ".join(said) or plain_text(text), LONGEST_LINE)


# what the closing message leaves open


def _offer_of(moment: Moment | None, language: Language | None) -> Offer | None:
    return closing_offer(moment.text, spoken_languages(moment.text, language)) if moment else None


def _offer(talk: Sequence[Exchange], at: int, language: Language | None) -> Opened | None:
    closing = talk[at].closing
    offer = _offer_of(closing, language)
    if not offer or not closing:
        return None
    kind = "offer" if offer.is_offer else "question"
    if is_either_or(offer.text) or any(
        one.says("hand_over", offer.text) for one in spoken_languages(closing.text, language)
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


def _unverified(talk: Sequence[Exchange], at: int) -> Opened | None:
    """An error the user pasted and that was worked on, but which nobody has seen gone: what to run again."""
    one = talk[at]
    pasted = one.user.text
    error = last_error(pasted)
    if not error or not any(moment.changes for moment in (one.user, *one.answers)):
        return None
    ran = pasted_command(pasted)
    telling = [step for step in steps(ran) if step.purpose is not Purpose.LOOK] if ran else []
    text = (
        f"Check that it is gone: {' '.join(ran.split())[:100]}"
        if telling
        else "Check whether the reported error is gone"
    )
    return Opened(f"{text} ({shorten(error, 80)})", one.user.id, one.user.at, 0, one.user.turn, "unverified", 0.75)


def pasted_command(text: str) -> str:
    """The command whose output a user pasted, as it stands behind the prompt; empty if there is none."""
    command = _PROMPT_COMMAND.search(text)
    return command[1].strip() if command else ""


def _handed_over(talk: Sequence[Exchange], at: int, language: Language | None) -> Opened | None:
    """What the assistant asked the user to try after it had changed something, and nobody has said how that went."""
    for one in reversed(talk[max(at - 1, 0) : at + 1]):
        closing = one.closing
        if closing and any(moment.changes for moment in (one.user, *one.answers)):
            asked = _to_try(closing.text, spoken_languages(closing.text, language))
            back = len(talk) - 1 - at
            return Opened(asked, closing.id, closing.at, back, closing.turn, "to try", 0.7) if asked else None
    return None


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


def _to_try(text: str, known: Sequence[Language]) -> str:
    """The sentence of a closing message's last lines that asks the user to test or restart something."""
    lines = [line for line in prose_lines(text) if not line.lstrip().startswith(("#", "|", ">"))]
    for line in reversed(lines[-_LAST_LINES:]):
        for sentence in reversed(sentences(line)):
            plain = plain_text(sentence).replace("’", "'")
            if len(plain) <= 200 and content_words(plain) and any(one.says("try", plain) for one in known):
                return shorten(plain, 160)
    return ""
