"""What is in the way at the end, as notes: a failing command, an error nobody saw gone, what was said near the end.

What later evidence mends is not in the way: a commit about it, a command that passed, a failure that was there before.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.notes import NoteBook
from jsonlstore.signals.obstacles import failed_before, reported_error
from jsonlstore.signals.patterns import BLOCKER
from jsonlstore.signals.requests import FAILED, INTERRUPTED, UNFINISHED, pasted_command
from jsonlstore.signals.sentences import shorten
from jsonlstore.signals.shell import steps
from jsonlstore.signals.tasks import covers
from jsonlstore.signals.undone import reverted_subject
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jsonlstore.core.model import Note
    from jsonlstore.signals.conversation import Exchange
    from jsonlstore.signals.ending import ClosingSituation
    from jsonlstore.signals.evidence import GitCommit, WorkLog
    from jsonlstore.signals.families import Family
    from jsonlstore.signals.language import Language
    from jsonlstore.signals.offers import Opened

_ALL_FAIL = 3  # commands in a row
_FIX = re.compile(r"(?:bug|hot)?fix(?:e[sd])?\b|(?:re)?solve[sd]?\b|repair|correct", re.IGNORECASE)
_PLAIN_ERRORS = content_words("error exception fix file line module name object value string type")


def blockers(
    ending: ClosingSituation,
    failing: Family | None,
    talk: Sequence[Exchange],
    work: WorkLog,
    language: Language | None,
) -> list[Note]:
    """What is still in the way: a failing command, an error reported and not seen gone, what was said at the end."""
    book = NoteBook()
    request = ending.request
    if request and request.fate == FAILED and request.error:
        book.add(
            BLOCKER,
            f"The last request failed: {request.error}",
            0.85,
            entry_id=request.entry_id,
            at=request.at,
            source="request",
        )
    if request:
        error = reported_error(talk, language)
        untouched = not any(moment.changes for moment in (talk[-1].user, *talk[-1].answers))
        if error and not _is_mended(error, talk, work) and (ending.verify or untouched or request.fate in UNFINISHED):
            book.add(BLOCKER, error.text, error.confidence, entry_id=error.entry_id, at=error.at, source="reported")
    for one in reversed([each for each in ending.blockers if not _is_mended(each, talk, work)]):
        book.add(BLOCKER, one.text, one.confidence, entry_id=one.entry_id, at=one.at, source=one.kind)
    if closing := talk[-1].closing if talk else None:
        for refused in islice(work.refusals.told_by(closing.text, work.turn), 1):
            said = f"{shorten(refused.what, 60)}: {refused.said}"
            book.add(BLOCKER, said, 0.75, entry_id=refused.entry_id, at=refused.at, source="command")
    stopped = work.stopped_at
    if work.failed_in_a_row >= _ALL_FAIL:
        said = f"Every command fails: {work.bare_exit} (the last {work.failed_in_a_row} commands)"
        book.add(BLOCKER, said, 0.8, entry_id=stopped.entry_id if stopped else None, at="", source="command")
    elif stopped and failing is None and request and request.fate == INTERRUPTED:
        said = f"{shorten(stopped.what, 80)} fails: {stopped.summary}"
        book.add(BLOCKER, said, 0.8, entry_id=stopped.entry_id, at=stopped.at, source="command")
    ran_last = failing is not None and failing.turn == talk[-1].user.turn if talk else False
    if failing is not None and not (ran_last and failed_before(talk[-1], language)):
        said = f"{failing.command} fails" + (f": {failing.summary}" if failing.summary else "")
        book.add(BLOCKER, said, 0.85, entry_id=failing.entry_id, at=failing.at, source="command")
    return book.notes()


def _is_mended(one: Opened, talk: Sequence[Exchange], work: WorkLog) -> bool:
    """Whether an obstacle is gone: a later commit is about it, or names it as fixed, or its command passed."""
    by_user = one.by_user or one.kind == "reported"
    words = content_words(one.text)
    for commit in since(work, one.turn if by_user else one.turn + 1):
        named = content_words(commit.subject)
        if covers(words, named) or (_FIX.match(commit.subject) and words & named - _PLAIN_ERRORS):
            return True
    said = next((each.user.text for each in reversed(talk) if each.user.id == one.entry_id), "") if by_user else ""
    ran = {step.family for step in steps(pasted_command(said))} if said else set()
    later = [each for each in work.families() if each.name in ran and each.turn >= one.turn]
    return bool(later) and not any(each.failed for each in later)


def since(work: WorkLog, turn: int) -> Iterator[GitCommit]:
    """The commits made since a turn began; one that takes another back does nothing of what it names."""
    return (one for one in work.commits if one.turn >= turn and not reverted_subject(one.subject))
