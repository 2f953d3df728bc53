"""What a session closes, each with its evidence: a later restore takes it off what earlier sessions left open.

Nothing here asks whether this session opened it. A commit, a ticked item or "the tide table is done" may close what
another session wrote down; which one is found at restore, by id or by the words of the title.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jsonlstore.core.model import Closed
from jsonlstore.signals.finished import says_done
from jsonlstore.signals.sentences import own_sentences, plain_text, prose_lines, sentences, shorten
from jsonlstore.signals.shell import Purpose
from jsonlstore.signals.tasks import evidence, hash_id
from jsonlstore.signals.telling import may_tell, telling_lines
from jsonlstore.signals.undone import reverted_subject
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from jsonlstore.core.model import Note
    from jsonlstore.signals.conversation import Moment
    from jsonlstore.signals.evidence import WorkLog
    from jsonlstore.signals.language import Language
    from jsonlstore.signals.offers import Opened
    from jsonlstore.signals.tasks import TaskBook

MOST_STATEMENTS = 40
MOST_OF_A_KIND = 20
MOST_CLOSED = 100
_LONGEST = 160
_LONGEST_SENTENCE = 260
_DEED = ("deed",)
_CHECKS = frozenset({Purpose.TEST, Purpose.BUILD})
_SURE = {"said": 0.6, "said by the user": 0.8}


@dataclass(slots=True)
class DoneStatements:
    """What either side said is done, and what the user took back: the latest of each, in bounded memory."""

    _said: dict[str, Closed] = field(default_factory=dict)
    _reversed: dict[str, Closed] = field(default_factory=dict)

    def hear_user(self, text: str, entry_id: str | None, language: Language | None) -> None:
        """The user's own sentences."""
        if language and (may_tell(text, language) or _may_tell_deed(text, language)):
            self._keep(own_sentences(text), entry_id, language, "said by the user")

    def hear_closing(self, moment: Moment, language: Language | None) -> None:
        """The assistant's last words before the user spoke again; what it says on the way is not its last word."""
        wanted = telling_lines(moment.text, language) if language else None
        if language and wanted:
            told = (one for line in prose_lines(moment.text, wanted.__contains__) for one in sentences(line))
            self._keep(told, moment.id, language, "said")

    def take_back(self, note: Note, entry_id: str | None) -> None:
        """The user took a decision back."""
        self._reversed[note.id] = Closed(
            note.content, "taken back", note.id, extra={"confidence": 0.7, **evidence([entry_id], "reversal")}
        )
        while len(self._reversed) > MOST_OF_A_KIND:
            del self._reversed[next(iter(self._reversed))]

    def until(self, closing: Moment | None, language: Language | None) -> DoneStatements:
        """The same with what the assistant said last, which may still turn out not to be its last word."""
        if closing is None:
            return self
        latest = DoneStatements(dict(self._said), self._reversed)
        latest.hear_closing(closing, language)
        return latest

    def closed(self) -> list[Closed]:
        """What was said, oldest first, and what was taken back."""
        return [*self._said.values(), *self._reversed.values()]

    def _keep(self, told: Iterable[str], entry_id: str | None, language: Language, how: str) -> None:
        for sentence in told:
            plain = plain_text(sentence)
            told_deed = how == "said by the user" and tells_deed(plain, language)
            if len(plain) > _LONGEST_SENTENCE or not (told_deed or says_done(plain, language)):
                continue
            bare = language.pattern("done").sub(" ", plain)
            # "done" alone closes whatever was meant, and nobody can say what that was
            if len(content_words(bare)) < 2 or language.pattern("conditional").match(plain):
                continue
            title = shorten(plain, _LONGEST)
            self._said.pop(title.lower(), None)
            self._said[title.lower()] = Closed(
                title, how, extra={"confidence": _SURE[how], **evidence([entry_id], "statement")}
            )
        while len(self._said) > MOST_STATEMENTS:
            del self._said[next(iter(self._said))]


def _may_tell_deed(text: str, language: Language) -> bool:
    return language.may_say(_DEED, text) and language.says("deed", text)


def tells_deed(sentence: str, language: Language) -> bool:
    """Whether a person reports what they did ("I wired the relay today"): done, and not tried, planned or half done."""
    plain = sentence.replace("’", "'")
    deed = language.pattern("deed").match(plain)
    if deed is None or plain.rstrip().endswith(("?", "？")):
        return False
    rest = plain[deed.end() :].lstrip()
    return not (language.says("not_done", rest) or language.says("but", rest) or rest.startswith("to "))


def closed_by_session(
    said: DoneStatements, work: WorkLog, tasks: TaskBook, covered: Sequence[Opened]
) -> tuple[Closed, ...]:
    """Everything a session closes, each thing once; the surest kinds stand last, because lists are cut at the front."""
    found: dict[str, Closed] = {}
    for one in (*said.closed(), *_by_work(work), *_listed(covered), *_ticked(work), *_tasks(tasks)):
        key = one.id or one.title.lower()
        found.pop(key, None)
        found[key] = one
    return tuple(found.values())[-MOST_CLOSED:]


def _by_work(work: WorkLog) -> Iterator[Closed]:
    """Checks that passed in the end, and commits."""
    failing = {
        one.name for one in work.families() if one.failed
    }  # a part that passed closes nothing while the whole fails
    passed = [
        one
        for one in work.families()
        if not one.failed and one.name not in failing and (one.was_failing or one.purpose in _CHECKS)
    ]
    for family in passed[-MOST_OF_A_KIND:]:
        how = "failed, then passed" if family.was_failing else "passed"
        yield Closed(family.name, how, extra={"confidence": 0.9, **evidence([family.entry_id], "command")})
    for commit in work.commits[-MOST_OF_A_KIND:]:
        if reverted_subject(commit.subject):
            continue  # it undoes what it names
        how = f"commit {commit.sha}" if commit.sha else "commit"
        yield Closed(commit.subject, how, extra={"confidence": 0.9, **evidence([commit.entry_id], "commit")})


def _listed(covered: Sequence[Opened]) -> Iterator[Closed]:
    for one in covered:
        told = {"confidence": 0.8, **evidence([one.entry_id], "commit")}
        yield Closed(one.text, "covered by later work", hash_id(one.text), extra=told)


def _ticked(work: WorkLog) -> Iterator[Closed]:
    for item in work.todos.done_items()[-MOST_OF_A_KIND * 2 :]:
        how = "ticked" if item.is_done else "dropped from the plan"
        told = {"confidence": 0.9 if item.is_done else 0.6, **evidence([item.entry_id], "todo")}
        yield Closed(item.title, how, hash_id(item.title), extra=told)


def _tasks(tasks: TaskBook) -> Iterator[Closed]:
    for task in tasks.closed()[-MOST_OF_A_KIND * 2 :]:
        told = {"confidence": 0.9, **evidence([task.entry_id], task.by)}
        yield Closed(task.title, task.how, task.task_id, extra=told)
