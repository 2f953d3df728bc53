"""What the user asked before the last request: a session's story, in words that are always true.

Of the requests shortly before the last one those that say and moved most: small talk, nudges, replies and pastes tell
nobody what a session was about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.core.model import EarlierRequest
from jsonlstore.signals.decisions import pasted
from jsonlstore.signals.language import speaks_another
from jsonlstore.signals.notes import is_echo
from jsonlstore.signals.requests import UNANSWERED, fate_of, is_nudge, last_substantive, request_line
from jsonlstore.signals.sentences import own_lines, shorten
from jsonlstore.signals.tasks import evidence
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jsonlstore.signals.conversation import Exchange
    from jsonlstore.signals.language import Language

MOST = 3
# how notes begin that were written elsewhere (a mark, a letter, a heading in capitals), and what a terminal showed
_PASTED = re.compile(
    r"""\s*(?:[\#|>•]|[-*]\ |[a-z]\)\ |[A-ZÄÖÜÉÈÁÍÓÚÑÇ]{7,}\b|[А-ЯЁЇІЄ]{7,}\b
      |[$%❯]|sudo\ |\./\w|(?:\(\S+\)\ )?\w+@[\w.-]+:|PS\ [A-Z]:|[A-Z]:\\\S*>)""",
    re.VERBOSE,
)
LONGEST = 160
_REACH = 8  # requests before the last one, in so many exchanges
_FURTHEST = 40
_LEAST_WORDS = 3
_MOST_WORDS = 12  # a request of more says no more
_FOR_A_CHANGE, _FOR_A_CALL = 4, 2  # words a request counts for besides, when files were changed or tools used for it


def earlier_requests(
    talk: Sequence[Exchange], language: Language | None, heard: Mapping[str, int]
) -> tuple[EarlierRequest, ...]:
    """The requests before the last one, oldest first, none that the last or a later one repeats.

    `heard` says how many of the user's messages were in which language: one in another is a program's.
    """
    last = last_substantive(talk)
    if not last:
        return ()
    known = [content_words(line) for line in (request_line(talk[last].user.text), *_stood_for(talk, last)) if line]
    in_lines = pasted(talk)
    found: list[tuple[int, int, str]] = []
    for at in range(last - 1, max(last - 1 - _FURTHEST, -1), -1):
        if len(found) == _REACH:
            break
        user = talk[at].user
        line = "" if user.id in in_lines or speaks_another(user.text, heard) else _told(talk[at])
        words = content_words(line)
        if len(words) < _LEAST_WORDS or any(is_echo(words, one) for one in known):
            continue
        known.append(words)
        found.append((_substance(talk, at, len(words)), at, line))
    best = sorted(sorted(found, reverse=True)[:MOST], key=lambda one: one[1])
    return tuple(
        EarlierRequest(
            shorten(line, LONGEST),
            talk[at].user.at,
            _fate(talk, at, language),
            extra=evidence([talk[at].user.id], "request"),
        )
        for _, at, line in best
    )


def _told(one: Exchange) -> str:
    """A request in one line; empty for what asks nothing of its own and for a mere paste."""
    text = one.user.text
    if is_nudge(text) or text.lstrip().startswith("/"):
        return ""
    lines = own_lines(text)
    return request_line(text) if lines and not _PASTED.match(lines[0]) else ""


def _stood_for(talk: Sequence[Exchange], last: int) -> list[str]:
    """The request that a last one of few words or a nudge is told together with."""
    if len(content_words(request_line(talk[last].user.text))) >= _LEAST_WORDS:
        return []
    before = next((one.user.text for one in reversed(talk[:last]) if not is_nudge(one.user.text)), "")
    return [request_line(before)]


def _taken_up(talk: Sequence[Exchange], at: int) -> int:
    """The last exchange that was still about a request: nudges go on with it."""
    while at + 1 < len(talk) and is_nudge(talk[at + 1].user.text) and talk[at + 1].answers:
        at += 1
    return at


def _substance(talk: Sequence[Exchange], at: int, words: int) -> int:
    moments = [moment for one in talk[at : _taken_up(talk, at) + 1] for moment in (one.user, *one.answers)]
    changed, called = any(one.changes for one in moments), any(one.calls for one in moments)
    return min(words, _MOST_WORDS) + _FOR_A_CHANGE * changed + _FOR_A_CALL * called


def _fate(talk: Sequence[Exchange], at: int, language: Language | None) -> str:
    """What became of it; of one without an answer nothing: the next message may have gone on with it."""
    fate = fate_of(talk, _taken_up(talk, at), language)
    return "" if fate == UNANSWERED else fate
