"""The preamble: what came back, said as quoted, dated, past information, and never longer than it may be.

It stays in view for a whole session, so it begins with the time it speaks of, and names the sessions it quotes.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC
from typing import TYPE_CHECKING, NamedTuple

from jsonlstore.core.clock import hours_between, parse_time, system_clock
from jsonlstore.restore.wrapper import WRAPPER_LENGTH, identifier, named, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from jsonlstore.core.model import Note, PendingTask, SessionState, WorkingMemoryPin
    from jsonlstore.handoff import Handoff

DEFAULT_BUDGET = 2800
_TITLE = 120
_SHORT_TITLE = 48
_TOPIC = 40
_PROJECT = 60
_NOTE = 120
_LINE = 200
_SUBJECT = 100
_PATH = 80
_BLOCKERS_SHOWN = 2
_DECISIONS_SHOWN = 4
_OF_ONE_MESSAGE = 2
_COMMITS_SHOWN = 4
_FILES_SHOWN = 5
_MEMORIES_SHOWN = 3
_IN_PROGRESS_SHOWN = 3
HANDOFF_HEADING = "## Previous Session Context"  # the specification's words
_SURE = 0.7  # notes below this are kept, not shown


class PreambleContext(NamedTuple):
    """What a preamble tells of: contributing sessions best first, and what was taken from them."""

    sessions: Sequence[SessionState] = ()
    inherited_pins: Sequence[WorkingMemoryPin] = ()
    pending_tasks: Sequence[PendingTask] = ()
    hot_topics: Sequence[str] = ()
    active_projects: Sequence[str] = ()
    taken: tuple[str, str] | None = None  # a session whose handoff another has, and which one
    handoff: Handoff | None = None  # of one of the sessions: it leads the lines about the past


class PreambleOptions(NamedTuple):
    """How much to say; `date_format` is `relative` ("2d ago") or `absolute` ("2026-11-14")."""

    max_topics: int = 10
    max_projects: int = 5
    date_format: str = "relative"
    max_chars: int = DEFAULT_BUDGET


class _Draft:
    """The sections of a preamble, cut down step by step until they fit."""

    def __init__(self, head: str, task_line: Callable[[PendingTask, int], str]) -> None:
        self.head = head
        self.task_line = task_line
        self.sources = ""
        self.tasks: list[PendingTask] = []
        self.projects: list[str] = []
        self.past: list[str] = []
        self.earlier: list[str] = []
        self.topics: list[str] = []
        self.pins = 0
        self.title = _TITLE
        self.left_out = 0

    def text(self) -> str:
        parts = [f"{self.head}\n{self.sources}" if self.sources else self.head]
        if self.tasks:
            lines = [self.task_line(task, self.title) for task in self.tasks]
            if self.left_out:
                lines.append(f"- and {self.left_out} more")
            parts.append("\n".join(["PENDING TASKS:", *lines]))
        if self.projects:
            parts.append("ACTIVE PROJECTS: " + ", ".join(self.projects))
        if self.past:
            earlier = [f"EARLIER REQUESTS: {'; '.join(self.earlier)}"] if self.earlier else []
            parts.append("\n".join([*self.past, *earlier]))
        if self.topics:
            parts.append("HOT TOPICS: " + ", ".join(self.topics))
        if self.pins:
            parts.append(f"WORKING MEMORY RESTORED: {self.pins} pins inherited (see working_memory view)")
        return "\n\n".join(parts)

    def says_something(self) -> bool:
        told = [line for line in self.past if not line.startswith(("LAST SESSION", "PICKED UP", HANDOFF_HEADING))]
        return bool(self.tasks or self.projects or self.topics or self.pins or told)

    def shrink(self) -> bool:
        """Leave out the next least important thing; tasks go last of all. False when nothing is left to cut."""
        if len(self.topics) > 3:
            self.topics.pop()
        elif self.past:
            self.past.pop()
        elif self.title > _SHORT_TITLE and self.tasks:
            self.title = _SHORT_TITLE
        elif self.sources:
            self.sources = ""
        elif self.topics:
            self.topics.pop()
        elif len(self.projects) > 1 or (self.projects and self.tasks):
            self.projects.pop()
        elif len(self.tasks) > 1:
            self.tasks.pop()
            self.left_out += 1
        elif self.pins and self.tasks:
            self.pins = 0
        elif self.title > 16 and self.tasks:
            self.title = 16
        else:
            return False
        return True


class PreambleInjector:
    """Formats the preamble. Pure."""

    @staticmethod
    def format(
        context: PreambleContext, options: PreambleOptions | None = None, *, now: datetime | None = None
    ) -> str | None:
        """The text that goes into the wrapper, or None when there is nothing to say (a cold start is silent)."""
        chosen = options or PreambleOptions()
        if not context.sessions:
            return None
        moment = now or system_clock()
        ends = task_ends(context.sessions)

        def task_line(task: PendingTask, longest: int) -> str:
            age = ages_ago(ends.get(task.task_id), moment, chosen.date_format)
            facts = [f"last stage: {named(task.stage, 40)}"] if task.stage.strip() else []
            known = ", ".join([*facts, *([age] if age else [])])
            title = f" {quoted(task.title, longest)}" if task.title.strip() else ""
            return f"- [{identifier(task.task_id)}]{title}{f' ({known})' if known else ''}"

        draft = _Draft(_head(len(context.sessions), moment), task_line)
        draft.sources = _sources(context.sessions)
        draft.tasks = list(context.pending_tasks)
        draft.projects = _unique((named(name, _PROJECT) for name in context.active_projects), chosen.max_projects)
        draft.past = _past(context.sessions, context.handoff, context.taken, context.pending_tasks)
        draft.earlier = _earlier(context.sessions, context.pending_tasks)
        draft.topics = _unique((named(topic, _TOPIC) for topic in context.hot_topics), chosen.max_topics)
        draft.pins = len(context.inherited_pins)
        while draft.earlier and len(draft.text()) + WRAPPER_LENGTH > chosen.max_chars:
            del draft.earlier[0]  # before anything else: the oldest request is the least of all that is told
        while len(draft.text()) + WRAPPER_LENGTH > chosen.max_chars:
            if not draft.shrink():
                return None
        return draft.text() if draft.says_something() else None


def ages_ago(end_time: str | None, now: datetime, date_format: str = "relative") -> str:
    """How long ago something ended: `{days}d ago`, under a day `{h}h ago` (decision 26); empty when not known."""
    if end_time is None:
        return ""
    try:
        ended = parse_time(end_time)
    except ValueError:
        return ""
    if date_format == "absolute":
        return f"{ended:%Y-%m-%d}"
    hours = max(0.0, hours_between(ended, now))
    return f"{int(hours // 24)}d ago" if hours >= 24 else f"{int(hours)}h ago"


def task_ends(sessions: Sequence[SessionState]) -> dict[str, str]:
    """When each task was last worked on: the latest end among the sessions that left it open."""
    ends: dict[str, str] = {}
    for session in sessions:
        for task in session.pending_tasks:
            ends[task.task_id] = max(ends.get(task.task_id, ""), session.end_time or "")
    return {task_id: end for task_id, end in ends.items() if end}


def _head(count: int, now: datetime) -> str:
    said_at = now.astimezone(UTC)
    return (
        f"[SESSION CONTINUITY — inherited from {count} prior session(s)] "
        f"as of {said_at:%Y-%m-%d %H:%M} UTC; what was said since outranks it"
    )


def _sources(sessions: Sequence[SessionState]) -> str:
    """The ids of the sessions that are quoted, and how an agent learns more of them."""
    ids = ", ".join(identifier(session.session_id) for session in sessions)
    return f"SESSIONS: {ids} (the tool session_recall searches what was said in them)"


def handoff_lines(document: Handoff, state: SessionState) -> list[str]:
    """A handoff as a preamble tells it, for those who ask after it."""
    return _past([state], document)


def _past(
    sessions: Sequence[SessionState],
    document: Handoff | None = None,
    taken: tuple[str, str] | None = None,
    listed: Sequence[PendingTask] = (),
) -> list[str]:
    """The optional lines, in the order that helps most: where things stood, what is in the way, what was settled.

    With the handoff of one of the sessions that one comes first, whatever its score, under the specification's heading.
    """
    if document is None:
        last = max(sessions, key=lambda one: one.end_time or "")
        lines = []
    else:
        sessions = _handed_over(sessions, document)
        last = sessions[0]
        lines = [HANDOFF_HEADING]
    if last.end_time or document is not None:
        reason = (
            f", ended by {named(last.end_reason, 40)}" if last.end_reason else "" if last.end_time else ", not ended"
        )
        lines.append(f"LAST SESSION: {_minute(last.end_time or last.updated_at or last.start_time)}{reason}")
    if taken is not None:
        lines.append(f"PICKED UP: session {identifier(taken[0])} is continued by session {identifier(taken[1])}")
    if document is not None:
        lines += _current_work(document, listed)
    lines += _last_exchange(sessions, last)
    # the sessions come most relevant first: a crash in something else must not hide the step this one left
    left = next((session for session in sessions if session.next_step), None)
    if left is not None and left.next_step and not _is_told(left.next_step, lines):
        lines.append(f"NEXT STEP{_source(left, last)}: {quoted(left.next_step, _LINE)}")
    lines += _failing(sessions)
    lines += _noted(sessions, "blocker", "BLOCKERS", _BLOCKERS_SHOWN)
    lines += _noted(sessions, "decision", "DECISIONS", _DECISIONS_SHOWN)
    lines += _work(sessions)
    return lines if document is None else [*lines, *_related_memories(document)]


def _is_told(step: str, lines: Sequence[str]) -> bool:
    """Whether the line of the last request says the same, and that it is open: nobody needs to read it again."""
    said = f": {quoted(step, _LINE)} ("
    return any(line.startswith("LAST REQUEST") and said in line and not line.endswith("(answered)") for line in lines)


def _handed_over(sessions: Sequence[SessionState], document: Handoff) -> list[SessionState]:
    """The session that handed over, as its document tells it, before the others."""
    from jsonlstore.handoff import as_told

    own = next(one for one in sessions if one.session_id == document.session_id)
    return [as_told(document, own), *(one for one in sessions if one is not own)]


def _current_work(document: Handoff, listed: Sequence[PendingTask]) -> list[str]:
    """What only a handoff tells: the project at hand, and what was in progress beside the tasks listed above."""
    lines = [] if document.project == "general" else [f"CURRENT PROJECT: {named(document.project, _PROJECT)}"]
    told = {quoted(task.title, _NOTE) for task in listed}
    progress = (quoted(item, _NOTE) for item in document.summary.in_progress)
    said = _unique((item for item in progress if item not in told), _IN_PROGRESS_SHOWN)
    return [*lines, f"IN PROGRESS: {'; '.join(said)}"] if said else lines


def _related_memories(document: Handoff) -> list[str]:
    """Memory files about the project, by path and date."""
    found = document.evidence.get("relatedMemories")
    if not isinstance(found, list) or not found:
        return []
    files = [f"{named(str(one.get('path')), _PATH)} ({named(str(one.get('date')), 10)})" for one in found]
    return ["RELATED MEMORIES: " + ", ".join(files[:_MEMORIES_SHOWN])]


def _minute(time: str) -> str:
    return f"{time[:10]} {time[11:16]} UTC"


def _source(quoted_from: SessionState, last: SessionState, *, dated: bool = False) -> str:
    """Which session a line quotes, unless it is the one LAST SESSION speaks of: else two would be taken for one."""
    if quoted_from is last:
        return ""
    ended = f", {_minute(quoted_from.end_time)}" if dated and quoted_from.end_time else ""
    return f" (session {identifier(quoted_from.session_id)}{ended})"


def _last_exchange(sessions: Sequence[SessionState], last: SessionState) -> list[str]:
    """What was asked last and whether it was answered, and what the answer said."""
    asked = next((one for one in sessions if one.last_request), None)
    if asked is None or asked.last_request is None:
        return []
    request = asked.last_request
    fate = named(request.fate, 20) if request.fate else ""
    if fate and request.doing:
        fate += f"; it was at: {quoted(request.doing, _NOTE)}"
    lines = [
        f"LAST REQUEST{_source(asked, last, dated=True)}: {quoted(request.text, _LINE)}{f' ({fate})' if fate else ''}"
    ]
    if asked.last_answer:
        lines.append(f"LAST ANSWER{_source(asked, last)}: {quoted(asked.last_answer, _LINE)}")
    return lines


def _earlier(sessions: Sequence[SessionState], listed: Sequence[PendingTask] = ()) -> list[str]:
    """What was asked before the last request, oldest first; what is told as a decision or task is not told again."""
    asked = next((one for one in sessions if one.last_request), None)
    tasks = (quoted(task.title, _TITLE) for task in listed if task.title.strip())
    settled = [said.strip('"…') for said in (*_said(sessions, "decision", _DECISIONS_SHOWN), *tasks)]
    told = [(quoted(one.text, _LINE), one.fate) for one in (asked.earlier_requests if asked else ())]
    return [
        f"{text}{f' ({named(fate, 20)})' if fate else ''}"
        for text, fate in told
        if not any(said in text and 2 * len(said) > len(text) for said in settled)
    ]


def _failing(sessions: Sequence[SessionState]) -> list[str]:
    failing = sessions[0].failing
    if failing is None:
        return []
    said = f": {quoted(failing.summary, _NOTE)}" if failing.summary else ""
    return [f"FAILING: {quoted(failing.command, _NOTE)}{said}"]


def _noted(sessions: Sequence[SessionState], kind: str, heading: str, most: int) -> list[str]:
    said = _said(sessions, kind, most)
    return [f"{heading}: {'; '.join(said)}"] if said else []


def _said(sessions: Sequence[SessionState], kind: str, most: int) -> list[str]:
    """Notes of one kind that are sure enough, the surest and latest first, as they are quoted."""
    notes = [
        note
        for one in sessions
        for _, note in sorted(enumerate(one.notes), key=lambda placed: (-placed[1].confidence, -placed[0]))
        if note.type == kind and not note.resolved and note.confidence >= _SURE
    ]
    return _unique((quoted(note.content, _NOTE) for note in _spread(notes)), most)


def _spread(notes: Sequence[Note]) -> list[Note]:
    """The same notes, at most two of one message first: a list of rules must not hide what was settled elsewhere."""
    seen: Counter[str | None] = Counter()
    placed: list[tuple[bool, Note]] = []
    for note in notes:
        seen[note.source_entry_id] += 1
        placed.append((note.source_entry_id is not None and seen[note.source_entry_id] > _OF_ONE_MESSAGE, note))
    return [note for _, note in sorted(placed, key=lambda one: one[0])]


def _work(sessions: Sequence[SessionState]) -> list[str]:
    """What was done and where: the latest commits, and the files in work, those not committed first."""
    first = sessions[0]
    lines = []
    done = _unique((quoted(commit.subject, _SUBJECT) for commit in reversed(first.commits)), _COMMITS_SHOWN)
    if done:
        more = len(first.commits) - len(done)
        lines.append(f"DONE: {'; '.join(done)}{f' and {more} earlier commits' if more > 0 else ''}")
    else:
        lines += _ticked(first)
    marked = bool(first.commits)
    files = [f"{named(one.path, _PATH)}{' (uncommitted)' if marked and one.uncommitted else ''}" for one in first.files]
    if files:
        lines.append("FILES: " + ", ".join(_unique(files, _FILES_SHOWN)))
    return lines


def _ticked(session: SessionState) -> list[str]:
    """What a todo tool ticked off, where nothing was committed: a list is as good as its last items."""
    items = [one for one in session.notes if one.extra.get("evidence", {}).get("kind") == "todo"]
    done = _unique((quoted(one.content, _SUBJECT) for one in reversed(items)), _COMMITS_SHOWN)
    return [f"DONE: {'; '.join(done)}"] if done else []


def _unique(items: object, most: int) -> list[str]:
    """The first `most` different ones."""
    found: dict[str, None] = {}
    for item in items:  # type: ignore[attr-defined]
        if item and len(found) < most:
            found[item] = None
    return list(found)
