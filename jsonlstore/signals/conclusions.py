"""From evidence and ending to what is said of a session: tasks, blockers, next step, questions, what is closed.

Everything later evidence closes is closed here, and what is not supported is not said.
"""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.core.model import Commit, Failing, FileInWork, Ground, LastRequest, Note, PendingTask
from jsonlstore.signals.backing import Backing
from jsonlstore.signals.blockers import blockers
from jsonlstore.signals.closings import closed_by_session
from jsonlstore.signals.covered import is_covered, is_worked_off
from jsonlstore.signals.decisions import settled_notes, weighed_notes
from jsonlstore.signals.earlier import earlier_requests
from jsonlstore.signals.ending import TO_USER, ClosingSituation, read_ending
from jsonlstore.signals.fates import with_fate
from jsonlstore.signals.finished import says_done
from jsonlstore.signals.notes import NoteBook
from jsonlstore.signals.obstacles import did_themselves
from jsonlstore.signals.offers import Opened
from jsonlstore.signals.patterns import DONE
from jsonlstore.signals.plans import is_waiting
from jsonlstore.signals.requests import ANSWERED, FAILED, INTERRUPTED, UNFINISHED, is_nudge
from jsonlstore.signals.sentences import sentences, shorten
from jsonlstore.signals.tasks import covers, evidence, hash_id
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from jsonlstore.core.model import Closed, EarlierRequest
    from jsonlstore.signals.closings import DoneStatements
    from jsonlstore.signals.conversation import Exchange
    from jsonlstore.signals.evidence import WorkLog
    from jsonlstore.signals.families import Family
    from jsonlstore.signals.language import Language
    from jsonlstore.signals.options import SignalOptions
    from jsonlstore.signals.tasks import TaskBook
    from jsonlstore.signals.todos import TodoItem

MOST_SHOWN = 20
_LONGEST_LINE = 200
_LONGEST_PLAN = 120
_BARE = 3  # signs: "a", "2.", "(b)"
_HEAD, _MOST_COMPARED = 600, 2_000  # of a message
MOST_TICKED = 6
STALE_LIST = 4  # turns
STALE_FILE = 30


@dataclass(frozen=True, slots=True)
class Conclusions:
    """What is said of a session at its end; field names are those of `SessionState`."""

    last_request: LastRequest | None
    earlier_requests: tuple[EarlierRequest, ...]
    last_answer: str | None
    next_step: str | None
    in_progress: tuple[str, ...]
    open_questions: tuple[str, ...]
    pending_tasks: tuple[PendingTask, ...]
    failing: Failing | None
    commits: tuple[Commit, ...]
    files: tuple[FileInWork, ...]
    closed: tuple[Closed, ...]
    notes: tuple[Note, ...]
    grounds: tuple[Ground, ...]


def conclude(
    talk: Sequence[Exchange],
    work: WorkLog,
    tasks: TaskBook,
    notes: Iterable[Note],
    said: DoneStatements,
    language: Language | None,
    heard: Mapping[str, int],
    options: SignalOptions,
) -> Conclusions:
    """Put together what a session's end, its tools and its user said."""
    ending = with_fate(read_ending(talk, language, pushed=work.pushed), talk, work)
    request = ending.request
    failing = work.failing()
    if failing and talk and did_themselves(talk[-1].user, language):
        failing = work.failing(done_by_hand=True)
    still_open = [one for one in ending.listed if not is_covered(one, talk, work, language)]
    todos = _open_todos(ending, talk, work)
    pending = _pending(ending, still_open, todos, talk, work, tasks, options.max_tasks)
    step = _next_step(ending, still_open, todos, work) or _set_last(pending, talk)
    in_progress = _in_progress(ending, todos)
    backing = Backing(talk, language)
    weighed = weighed_notes(notes, talk, backing)
    # first: of two as sure the later is shown
    settled = [] if options.first_match_patterns else settled_notes(talk, weighed, language, backing)
    return Conclusions(
        last_request=_last_request(ending),
        earlier_requests=earlier_requests(talk, language, heard),
        last_answer=ending.answer if request and request.fate != FAILED else None,
        next_step=step.text if step else None,
        in_progress=tuple(one.text for one in in_progress),
        open_questions=_open_questions(ending),
        pending_tasks=tuple(pending),
        failing=_failing(failing),
        commits=_commits(work),
        files=_files(work),
        closed=closed_by_session(said, work, tasks, [one for one in ending.listed if one not in still_open]),
        notes=(*settled, *weighed, *_done_notes(work), *blockers(ending, failing, talk, work, language)),
        grounds=tuple(_grounds(ending, step, in_progress)),
    )


def _open_questions(ending: ClosingSituation) -> tuple[str, ...]:
    ideas = (shorten(f"Suggested, not agreed on: {'; '.join(ending.ideas)}", _LONGEST_LINE),) if ending.ideas else ()
    return ((ending.offer.text,) if ending.offer else ()) + ideas


def _grounds(ending: ClosingSituation, step: Opened | None, in_progress: Sequence[Opened]) -> Iterator[Ground]:
    """Where the fields that are plain text come from."""
    if step:
        yield ground("next_step", step.text, [step.entry_id], step.kind, step.confidence)
    if ending.answer:
        yield ground("last_answer", ending.answer, [ending.answer_id], "answer", 0.9)
    if ending.offer:
        yield ground("open_questions", ending.offer.text, [ending.offer.entry_id], ending.offer.kind, 0.8)
    for one in in_progress:
        yield ground("in_progress", one.text, [one.entry_id], one.kind, one.confidence)


def ground(name: str, text: str, entry_ids: Iterable[str | None], kind: str, confidence: float) -> Ground:
    """The evidence of one text of the field `name`."""
    return Ground(name, text, extra={"confidence": confidence, **evidence(entry_ids, kind)})


def _last_request(ending: ClosingSituation) -> LastRequest | None:
    request = ending.request
    if request is None or not request.text or (_is_bare(request.text) and not request.accepted):
        return None
    text = shorten(f"{request.text} (to: {request.accepted})" if request.accepted else request.text, _LONGEST_LINE)
    doing = shorten(request.doing, _LONGEST_LINE) if request.fate in UNFINISHED and request.doing else None
    error = shorten(request.error, _LONGEST_LINE) if request.error else None
    return LastRequest(text, request.at, request.fate, doing, error, extra=evidence([request.entry_id], "request"))


def _wanted(ending: ClosingSituation) -> str:
    """The unfinished request as a piece of work: what was accepted where the words alone say little."""
    request = ending.request
    assert request is not None
    if request.accepted and _is_bare(request.text):
        return request.accepted
    if request.accepted and len(content_words(request.text)) < 3:
        return shorten(f"{request.text}: {request.accepted}", _LONGEST_LINE)
    return request.text


def _says_nothing(ending: ClosingSituation) -> bool:
    """Whether the last request names no work: a nudge, or a letter that picks from what nobody can tell."""
    wanted = _wanted(ending)
    return is_nudge(wanted) or _is_bare(wanted)


def _is_bare(said: str) -> bool:
    return len(said) <= _BARE and sum(map(str.isalnum, said)) <= 1


def _next_step(
    ending: ClosingSituation, still_open: Sequence[Opened], todos: Sequence[TodoItem], work: WorkLog
) -> Opened | None:
    request = ending.request
    if request and request.worked and request.doing:
        return Opened(
            f"Not finished: {request.doing}", request.entry_id, request.at, 0, 0, f"request {request.fate}", 0.8
        )
    if request and request.fate in UNFINISHED and not request.worked and not _says_nothing(ending):
        at_work = next((item for item in todos if item.status.startswith("in") and item.turn == work.turn), None)
        if at_work:  # says more exactly what was left than the request does
            return Opened(at_work.title, at_work.entry_id, "", 0, 0, "todo", 0.85)
        tells = request.announced and not request.accepted and len(content_words(request.doing)) > 1  # not "Starting"
        text = request.doing if tells else _wanted(ending)
        return Opened(text, request.entry_id, request.at, 0, 0, f"request {request.fate}", 0.85)
    recent = [one for one in still_open if one.back == 0]
    if (
        ending.offer
        and ending.offer.kind != TO_USER
        and (not recent or (ending.offer.text.endswith(("?", "？", "…", ")")) and not ending.offer_comes_after))
        and not (
            ending.run and not ending.offer.text.endswith(("?", "？"))
        )  # "if you like, I could also …" comes after
    ):
        return ending.offer  # a question is for the user to answer first; "tell me if it fails" is not
    if recent:
        return recent[0]
    waiting = [Opened(item.title, item.entry_id, "", 0, 0, "todo", 0.75) for item in todos]
    asked = next((one for one in ending.labelled if one.by_user), None)  # "Next step: …" in the user's own words
    return (
        asked
        or _planned(ending, work)
        or ending.run
        or ending.left
        or ending.verify
        or next(iter([*ending.labelled, *waiting]), None)
    )


def _planned(ending: ClosingSituation, work: WorkLog) -> Opened | None:
    """A plan that was written and not carried out; else a file that was not written though the request was answered."""
    if (plan := work.plan) and is_waiting(plan, work.turn):
        said = f"Carry out the plan: {shorten(plan.title, _LONGEST_PLAN)}"
        return Opened(said, plan.entry_id, plan.at, 0, plan.turn, "plan", 0.8)
    one, request = work.unwritten, ending.request
    if one and is_waiting(one, work.turn) and request and request.fate == ANSWERED:
        said = f"Not written: {one.name}" + (f" ({one.why})" if content_words(one.why) else "")
        return Opened(said, one.entry_id, one.at, 0, one.turn, "not written", 0.7)
    return None


def _set_last(pending: Sequence[PendingTask], talk: Sequence[Exchange]) -> Opened | None:
    """The first task set in the last words of either side ("tomorrow we do the layout"), where nothing else comes first."""
    for said in (talk[-1].user, talk[-1].closing) if talk else ():
        for task in pending if said and said.id else ():
            if said and said.id in task.extra.get("evidence", {}).get("entry_ids", ()):
                return Opened(task.title, said.id, said.at, 0, said.turn, "task", 0.75)
    return None


def _open_todos(ending: ClosingSituation, talk: Sequence[Exchange], work: WorkLog) -> list[TodoItem]:
    """What todo lists leave open; one that nobody touched while the work went elsewhere is history.

    Nor is open what was being done when an answer came that tells of it as done: agents forget to tick the last item.
    """
    told = _told_done(ending, talk)
    committed = work.commits[-1].turn if work.commits else -1
    return [
        item
        for item in work.todos.open_items(committed)
        if work.turn - item.turn <= (STALE_FILE if item.in_file else STALE_LIST)
        and not (item.status.startswith("in") and item.turn == work.turn and covers(content_words(item.title), told))
    ]


def _told_done(ending: ClosingSituation, talk: Sequence[Exchange]) -> frozenset[str]:
    """The words of the last answer, where it says that something is done and leaves nothing open."""
    request = ending.request
    closing = talk[-1].closing if talk else None
    if request is None or request.fate != ANSWERED or closing is None or ending.listed or ending.left:
        return frozenset()
    opening = closing.text[:_HEAD]
    return content_words(closing.text[:_MOST_COMPARED]) if any(map(says_done, sentences(opening))) else frozenset()


def _in_progress(ending: ClosingSituation, todos: Sequence[TodoItem]) -> list[Opened]:
    found: dict[str, Opened] = {}
    request = ending.request
    if request and request.fate == INTERRUPTED and (request.doing or not (request.worked or _says_nothing(ending))):
        doing = shorten(request.doing or _wanted(ending), 160)
        found[doing] = Opened(doing, request.entry_id, request.at, 0, 0, "request interrupted", 0.85)
    for item in todos:
        if item.status.startswith("in"):
            found.setdefault(item.title, Opened(item.title, item.entry_id, "", 0, 0, "todo", 0.85))
    return list(found.values())[:5]


def _pending(
    ending: ClosingSituation,
    still_open: Sequence[Opened],
    todos: Sequence[TodoItem],
    talk: Sequence[Exchange],
    work: WorkLog,
    tasks: TaskBook,
    most: int,
) -> list[PendingTask]:
    """Open tasks, oldest first: what was to be remembered, lists left over, todo tools, the request that was not done."""
    found = {task.task_id: task for task in tasks.pending(most) if not is_worked_off(task, talk, work)}
    for one in still_open:
        _add(found, one.text, one.entry_id, one.kind, one.confidence)
    for one in ending.labelled:
        _add(found, one.text, one.entry_id, one.kind, one.confidence)
    for item in todos:
        _add(found, item.title, item.entry_id, "todo", 0.85)
    if ending.offer and ending.offer.kind == "offer" and not (ending.offer_comes_after and still_open):
        _add(found, ending.offer.text, ending.offer.entry_id, "offer", 0.7)
    listed = any(one.back == 0 for one in still_open)  # then the sentences around the list say it again
    for told in (*ending.wrong, _planned(ending, work), ending.left, *(() if listed else (ending.run, ending.verify))):
        if told:
            _add(found, told.text, told.entry_id, told.kind, told.confidence)
    for one in ending.unmet:
        _add(found, one.text, one.entry_id, one.kind, one.confidence)
    request = ending.request
    planned = any(item.turn == work.turn and not item.in_file for item in todos)  # its steps are told one by one
    if request and request.worked and request.doing:
        _add(found, f"Not finished: {request.doing}", request.entry_id, f"request {request.fate}", 0.8)
    elif request and request.fate in UNFINISHED and not (request.worked or planned or _says_nothing(ending)):
        _add(found, _wanted(ending), request.entry_id, f"request {request.fate}", 0.85)
    return list(found.values())[-most:]


def _add(found: dict[str, PendingTask], title: str, entry_id: str | None, kind: str, confidence: float) -> None:
    words = content_words(title)
    if any(_is_same(words, content_words(known.title)) for known in found.values()):
        return
    task_id = hash_id(title)
    found[task_id] = PendingTask(
        task_id,
        shorten(title, _LONGEST_LINE),
        flagged_incomplete=True,
        extra={"confidence": confidence, **evidence([entry_id], kind)},
    )


def _is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two titles are about one thing, each in its own words: the one may say more than the other."""
    return len(one) > 1 and len(other) > 1 and (covers(one, other) or covers(other, one))


def _failing(failing: Family | None) -> Failing | None:
    if failing is None:
        return None
    extra = {**evidence([failing.entry_id], "command"), "confidence": 0.9}
    return Failing(
        shorten(failing.command, _LONGEST_LINE), failing.at, shorten(failing.summary, _LONGEST_LINE), extra=extra
    )


def _commits(work: WorkLog) -> tuple[Commit, ...]:
    made = work.commits[-MOST_SHOWN:]
    return tuple(
        Commit(
            shorten(one.subject, _LONGEST_LINE),
            one.sha,
            one.at,
            one.branch,
            extra=evidence([one.entry_id], "commit"),
        )
        for one in made
    )


def _files(work: WorkLog) -> tuple[FileInWork, ...]:
    return tuple(FileInWork(one.path, one.changes, one.uncommitted) for one in work.files()[:MOST_SHOWN])


def _done_notes(work: WorkLog) -> list[Note]:
    book = NoteBook()
    for one in work.commits[-10:]:
        book.add(DONE, one.subject, 0.95, entry_id=one.entry_id, at=one.at, source="commit")
    for item in work.todos.done_items()[-MOST_TICKED:]:
        if item.is_done and not item.in_file:
            book.add(DONE, item.title, 0.85, entry_id=item.entry_id, source="todo")
    return book.notes()
