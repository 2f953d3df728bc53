"""Whether what was asked was done before a turn stopped: then the request is no task, and what was left of it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jsonlstore.signals.blockers import since
from jsonlstore.signals.finished import says_done
from jsonlstore.signals.requests import ANSWERED, FAILED, UNANSWERED, UNFINISHED
from jsonlstore.signals.sentences import sentences
from jsonlstore.signals.shell import Purpose, steps
from jsonlstore.signals.tasks import covers
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.signals.conversation import Exchange
    from jsonlstore.signals.ending import ClosingSituation
    from jsonlstore.signals.evidence import WorkLog

_HEAD = 600  # of a message
_AFTERWARDS = frozenset({Purpose.TEST, Purpose.BUILD, Purpose.SHIP, Purpose.RUN})
_KEPT = frozenset({"git add", "git commit", "git push"})


def with_fate(ending: ClosingSituation, talk: Sequence[Exchange], work: WorkLog) -> ClosingSituation:
    """The ending, where what was asked was done before the turn stopped: a commit covers it, or words said so."""
    request = ending.request
    if request is None or request.fate not in UNFINISHED:
        return ending
    asked = next((one for one in reversed(talk) if one.user.id == request.entry_id), None)
    if asked is None:
        return ending
    words = content_words(request.text)
    committed = any(covers(words, content_words(one.subject)) for one in since(work, asked.user.turn))
    if committed and request.fate != FAILED and not (asked.last.aborted or asked.last.waiting):
        return replace(ending, request=replace(request, fate=ANSWERED, doing=""))
    if committed or (request.fate != UNANSWERED and _said_done(asked, words)):
        return replace(ending, request=replace(request, worked=True))
    return ending


def _said_done(asked: Exchange, words: frozenset[str]) -> bool:
    """Whether files were changed for a request, and words behind the last change say that what it asked for is done.

    What was under way when the turn stopped must be a check of it or its way out: an edit is part of the work.
    """
    waiting = [step for what in asked.last.waiting.values() for step in steps(what)]
    if not asked.changed or not all(asked.last.waiting.values()):
        return False
    if not all(one.purpose in _AFTERWARDS or one.family in _KEPT for one in waiting):
        return False
    for moment in reversed(asked.answers):
        if moment.changes:
            return False
        told = sentences(moment.text[:_HEAD].replace("\n", " "))
        if any(says_done(one) and (at == 0 or words & content_words(one)) for at, one in enumerate(told)):
            return True
    return False
