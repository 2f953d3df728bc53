"""The commands a closing message hands to the user to run: a block in a shell's language under words that say so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jsonlstore.signals.offers import Opened, spoken_languages
from jsonlstore.signals.outcome import last_error
from jsonlstore.signals.sentences import plain_text, sentences, shorten
from jsonlstore.signals.shell import Purpose, steps

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
_KEEPS = frozenset({"git add", "git commit", "git push", "git merge"})
_TO_RUN = frozenset({Purpose.RUN, Purpose.TEST, Purpose.BUILD, Purpose.SHIP, Purpose.INSTALL})


def commands_left(talk: Sequence[Exchange], at: int, language: Language | None) -> Opened | None:
    """What is to be run after files were changed, and was not by the agent itself: the last block that is told so."""
    one = talk[at]
    closing = one.closing
    if closing is None or closing is not one.last or "```" not in closing.text:
        return None
    changed = any(moment.changes for each in talk[max(at - 1, 0) : at + 1] for moment in (each.user, *each.answers))
    known = spoken_languages(closing.text, language)
    if not changed and not _tells_trouble(one.user.text, known):
        return None  # it explains how something is done
    for block in reversed(list(_BLOCK.finditer(closing.text[-_REACH:]))):
        lead = _lead(block["lead"], known)
        commands = _commands(block["code"])
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


def _commands(code: str) -> list[str]:
    """The commands of a block, without comments; none if it runs, tests, builds or ships nothing."""
    lines = [_PROMPT.sub("", line).strip() for line in code.split("\n") if line.strip() and not _COMMENT.match(line)]
    runs = any(step.purpose in _TO_RUN or step.family in _KEEPS for line in lines for step in steps(line))
    return [" ".join(line.split()) for line in lines[:_MOST_COMMANDS]] if runs else []
