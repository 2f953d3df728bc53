"""Whether what was left open was done since: by a commit, a ticked item, a request taken up, a file that was filled."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.blockers import since
from jsonlstore.signals.language import small_kinds
from jsonlstore.signals.replies import opens_with_yes
from jsonlstore.signals.requests import offer_of
from jsonlstore.signals.tasks import covers
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jsonlstore.core.model import PendingTask
    from jsonlstore.signals.conversation import Exchange
    from jsonlstore.signals.evidence import WorkLog
    from jsonlstore.signals.language import Language
    from jsonlstore.signals.offers import Opened

_HEAD = 600  # of a message
_QUESTION_END = re.compile("[?？]")
_FILE_NAME = re.compile(r"(?<![\w-])[\w-]++(?:\.[\w-]+)*\.[a-zA-Z]\w{0,4}\b")


def is_worked_off(task: PendingTask, talk: Sequence[Exchange], work: WorkLog) -> bool:
    """Whether a task the user set was taken up: the file it names was changed since, and the user went on to others."""
    named = {name.lower() for name in _FILE_NAME.findall(task.title)}
    heard = task.extra.get("evidence", {}).get("entry_ids", ()) if named else ()
    turn = next((one.user.turn for one in reversed(talk) if one.user.id and one.user.id in heard), None)
    if turn is None:
        return False
    changed = {one.path.rpartition("/")[2].lower() for one in work.files() if turn <= one.turn < work.turn}
    return named <= changed


def is_covered(one: Opened, talk: Sequence[Exchange], work: WorkLog, language: Language | None) -> bool:
    """Whether something done after it was listed is about it: a commit, a ticked item, a request that changed files."""
    words = content_words(one.text)
    asked = [
        each.user.text[:_HEAD]
        for each in talk
        if each.user.turn > one.turn and any(moment.changes for moment in (each.user, *each.answers))
    ]
    asked += _accepted(one.turn, talk, language)
    later = [*asked, *(commit.subject for commit in since(work, one.turn + 1))]
    ticked = [item.title for item in work.todos.done_items() if item.is_done and item.turn >= one.turn]
    if any(covers(words, content_words(text)) for text in (*later, *ticked)):
        return True
    return _is_filled_in(one, asked, work)


def _is_filled_in(one: Opened, asked: Iterable[str], work: WorkLog) -> bool:
    """Whether what is missing in a file was put there: a later request names a part of it, and the file was changed."""
    named = {name.lower() for name in _FILE_NAME.findall(one.text)}
    changed = (
        {each.path.rpartition("/")[2].lower() for each in work.files() if each.turn > one.turn} if named else set()
    )
    about = content_words(_FILE_NAME.sub(" ", one.text)) if named <= changed else frozenset()
    return any(about & content_words(text) for text in asked)


def _accepted(turn: int, talk: Sequence[Exchange], language: Language | None) -> list[str]:
    """The offers the user said yes to since, where tools were used for them and the answer came."""
    taken = (
        before.closing
        for before, each in pairwise(talk)
        if each.user.turn > turn and each.called and each.last.ends_with == "said" and _says_yes(each.user.text)
    )
    # its question alone: what else there was to choose from stands behind it
    return [_QUESTION_END.split(offer.text)[0] for closing in taken if (offer := offer_of(closing, language))]


def _says_yes(text: str) -> bool:
    return "yes" in small_kinds(text) or opens_with_yes(text)
