"""What a closing message hands to the user to do: commands to run, something to test, instructions, a remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.finished import says_done
from jsonlstore.signals.offers import Opened, spoken_languages
from jsonlstore.signals.outcome import last_error
from jsonlstore.signals.requests import pasted_command
from jsonlstore.signals.sentences import plain_text, prose_lines, sentences, shorten
from jsonlstore.signals.shell import Purpose, steps
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.signals.conversation import Exchange
    from jsonlstore.signals.language import Language

_LONGEST = 160
_LONGEST_LEAD = 90
_LONGEST_TOLD = 600
_TERMINAL = re.compile(r"@\S*terminals?\b")  # a part of one, handed over by an editor
_REACH = 2_500  # from the end of a message
_MOST_COMMANDS = 3
_BLOCK = re.compile(
    r"^(?P<lead>[^\n]*\S)[ \t]*\n\s*```(?:bash|sh|shell|zsh|console|cmd|bat|powershell|ps1|text)?[ \t]*\n"
    r"(?P<code>[^`]{2,600}?)```",
    re.MULTILINE,
)
_COMMENT = re.compile(r"^\s*(?:#|//|REM\b|rem\b|::)")
_PROMPT = re.compile(r"^\s*(?:\$|>|PS [^>]*>|[A-Z]:\\[^>]*>)\s+")
_SHIPS = frozenset({"git push", "git merge"})
_KEEPS = frozenset({"git add", "git commit", "git push", "git merge"})
# what asks for an answer and names no work of its own, and what points back
_REPORT_BACK = re.compile(
    r"\b(?:and|then|und|dann|y|luego|et|puis|e|poi|depois)?\s*(?:(?:please |just )?(?:let me know|tell me|report back)"
    r"|(?:sag|gib|lass)\w*(?: \w+){0,2} (?:bescheid|wissen)|(?:dime|avísame|cuéntame)|(?:dis|dites)[- ]moi"
    r"|(?:me )?(?:diga|avise|conte)(?:-me)?\b|fammi sapere|dimmi)\b"
    r"|(?:дай(?:те)? знать|сообщи\w*|скажи(?:те)?|дай(?:те)? знати|повідом\w*)|告诉我|告訴我|知らせて|教えて|알려\s?주",
    re.IGNORECASE,
)
_POINTING = re.compile(r"(?i)\b(?:try|test|that|this|it|them|again|now)\b")
_LISTED = re.compile(r"^\s*(?:[-*+•–]|\d{1,2}[.)])\s+(\S.*)$")
_LONGEST_LEFT = 240
_LAST_LINES = 6
_NO_SPEECH = ("#", "|", ">")
_LEAST_UNSPACED = 14  # signs: "please check it" names nothing in fewer
_TO_RUN = frozenset({Purpose.RUN, Purpose.TEST, Purpose.BUILD, Purpose.SHIP, Purpose.INSTALL})


def commands_left(talk: Sequence[Exchange], at: int, language: Language | None) -> Opened | None:
    """What is to be run after files were changed, and was not by the agent itself: the last block that is told so."""
    one = talk[at]
    closing = one.closing
    if closing is None or closing is not one.last or "```" not in closing.text:
        return None
    changed = any(each.changed for each in talk[max(at - 1, 0) : at + 1])
    known = spoken_languages(closing.text, language)
    if not changed and not _tells_trouble(one.user.text, known):
        return None  # it explains how something is done
    blocks = [(block["lead"], _commands(block["code"])) for block in _BLOCK.finditer(closing.text[-_REACH:])]
    told = [(_lead(lead, known), commands) for lead, commands in reversed(blocks)]
    shipped = [(_lead_to_ship(lead, known), commands) for lead, commands in blocks if changed and _ships(commands)]
    for lead, commands in (*told, *shipped):
        if lead and commands:
            back = len(talk) - 1 - at
            said = shorten(f"{lead}: {'; '.join(commands)}", _LONGEST)
            return Opened(said, closing.id, closing.at, back, closing.turn, "to run", 0.75)
    return None


def _tells_trouble(text: str, known: Sequence[Language]) -> bool:
    """Whether a request is about something that went wrong: an error, a terminal's output, or words that say so."""
    told = bool(_TERMINAL.search(text) or last_error(text))
    return told or any(one.says("trouble", text[:_LONGEST_TOLD]) for one in known)


def _lead(line: str, known: Sequence[Language]) -> str:
    """The words above a block, if they say that it is to be run."""
    told = sentences(plain_text(line))
    plain = (told[-1] if told else "").replace("’", "'").strip(" :：#.")
    if not plain or len(plain) > _LONGEST_LEAD:
        return ""
    says = any(one.pattern("try_block").search(plain) or one.pattern("instruct").match(plain) for one in known)
    return plain if says else ""


def _lead_to_ship(line: str, known: Sequence[Language]) -> str:
    """The words above a block that ships what was changed, whatever they are, unless they say that it was done."""
    told = sentences(plain_text(line))
    plain = (told[-1] if told else "").strip(" #.")
    says = plain.endswith((":", "：")) and not any(says_done(plain, one) for one in known)
    return plain.rstrip(" :：") if says and len(plain) <= _LONGEST_LEAD else ""


def _ships(commands: Sequence[str]) -> bool:
    return any(step.purpose is Purpose.SHIP or step.family in _SHIPS for line in commands for step in steps(line))


def _commands(code: str) -> list[str]:
    """The commands of a block, without comments; none if it runs, tests, builds or ships nothing."""
    lines = [_PROMPT.sub("", line).strip() for line in code.split("\n") if line.strip() and not _COMMENT.match(line)]
    runs = any(step.purpose in _TO_RUN or step.family in _KEEPS for line in lines for step in steps(line))
    return [" ".join(line.split()) for line in lines[:_MOST_COMMANDS]] if runs else []


def to_verify(talk: Sequence[Exchange], at: int, language: Language | None) -> Opened | None:
    """What is to be done so that the last work shows: what was asked for outright tells more than "check the error"."""
    told = _told_to(talk, at, language)
    unverified = _unverified(talk, at)
    return (
        (unverified and (told or unverified)) or _handed_over(talk, at, language) or told or _remedy(talk, at, language)
    )


def _unverified(talk: Sequence[Exchange], at: int) -> Opened | None:
    """An error the user pasted and that was worked on, but which nobody has seen gone: what to run again."""
    one = talk[at]
    pasted = one.user.text
    error = last_error(pasted)
    if not error or not one.changed:
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
        if closing and (one.changed or (one is talk[at] and one.called)):
            asked = _to_try(closing.text, spoken_languages(closing.text, language))
            back = len(talk) - 1 - at
            if asked:
                return Opened(asked, closing.id, closing.at, back, closing.turn, "to try", 0.7)
            if one.changed:
                return None
    return None


def _to_try(text: str, known: Sequence[Language]) -> str:
    """The sentence of a closing message's last lines, or its first, that asks the user to test or restart something."""
    lines = [line for line in prose_lines(text) if not line.lstrip().startswith(_NO_SPEECH)]
    # at the end, or right behind the words that it is done
    for line in (*reversed(lines[-_LAST_LINES:]), *lines[:1]):
        for sentence in reversed(sentences(line)):
            plain = plain_text(sentence).replace("’", "'")
            if (
                _says_enough(plain, 200)
                and content_words(plain)
                and not only_asks_back(plain)
                and any(one.says("try", plain) for one in known)
            ):
                return shorten(plain, 160)
    return ""


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
            if not _says_enough(plain, _LONGEST_LEFT) or len(content_words(plain)) < 2 or plain.endswith(("?", "？")):
                continue
            if only_asks_back(plain):
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


def _remedy(talk: Sequence[Exchange], at: int, language: Language | None) -> Opened | None:
    """What an answer without any tool says would mend it: somebody has still to do that."""
    one = talk[at]
    closing = one.closing
    if closing is None or one.called:
        return None
    known = spoken_languages(closing.text, language)
    for line in reversed([each for each in prose_lines(closing.text) if not each.lstrip().startswith(_NO_SPEECH)]):
        for sentence in sentences(line):
            plain = plain_text(sentence).replace("’", "'")
            if len(plain) > _LONGEST_LEFT or plain.endswith(("?", "？")) or len(content_words(plain)) < 3:
                continue
            if any(each.pattern("remedy").match(plain) for each in known):
                said = shorten(plain.rstrip(" :："), 160)
                return Opened(said, closing.id, closing.at, len(talk) - 1 - at, closing.turn, "remedy", 0.7)
    return None


def _says_enough(plain: str, most: int) -> bool:
    """Whether a sentence is long enough to name something; where words are not spaced, few signs are a courtesy."""
    return (1 if plain.isascii() or " " in plain else _LEAST_UNSPACED) <= len(plain) <= most


def only_asks_back(plain: str) -> bool:
    """ "Try that and let me know if it works": it names no work of its own, only that an answer is waited for."""
    asked = _REPORT_BACK.search(plain)
    if asked is None or asked.start() == 0:
        return False
    return len(content_words(_POINTING.sub(" ", plain[: asked.start()]))) < 2
