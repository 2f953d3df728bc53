"""From the entries of one session to what is worth remembering of it.

`Distiller` is fed every entry of a stretch in file order and asked for its `Signals` whenever somebody wants them.
The outcome depends on that sequence and on nothing else: not on when it was read, nor in how many portions.
Text is redacted before anything is taken from it, and what leaves is redacted again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jsonlstore.core.model import Part, Tokens
from jsonlstore.redact import MARK, Redactor, hide_generated, hide_generated_in, redact_text
from jsonlstore.signals.agent_tools import AgentTools
from jsonlstore.signals.choices import (
    CHOICE,
    CONSTRAINT,
    DECISION,
    INSIGHT,
    REVERT,
    SCOPE,
    TASK,
    WORKS,
    decided,
    directives,
    explicit,
    may_answer,
)
from jsonlstore.signals.conclusions import Conclusions, conclude
from jsonlstore.signals.conversation import ASSISTANT, SYSTEM, USER, Conversation, Moment, exchanges
from jsonlstore.signals.ending import is_nudge, request_line
from jsonlstore.signals.evidence import WorkLog
from jsonlstore.signals.language import recognise
from jsonlstore.signals.notes import NoteBook
from jsonlstore.signals.offers import closing_offer, rules_of, spoken_languages
from jsonlstore.signals.options import SignalOptions, ToolNames
from jsonlstore.signals.patterns import DONE, detect_first_match
from jsonlstore.signals.patterns import TASK as TASK_CREATED
from jsonlstore.signals.projects import directories_in_command, git_roots_in_output
from jsonlstore.signals.sentences import own_lines, shorten, without_code
from jsonlstore.signals.shell import is_evidence
from jsonlstore.signals.sops import is_sop
from jsonlstore.signals.tasks import TaskBook
from jsonlstore.signals.topics import HotTopicExtractor
from jsonlstore.signals.words import content_words
from jsonlstore.transcripts.speech import Speaker
from jsonlstore.transcripts.tokens import TokenMeter

if TYPE_CHECKING:
    from collections.abc import Collection

    from jsonlstore.core.model import (
        Closed,
        Commit,
        ConfidenceUpdate,
        Failing,
        FileInWork,
        LastRequest,
        Note,
        PendingTask,
        SOPInteraction,
        WorkingMemoryPin,
    )
    from jsonlstore.signals.language import Language
    from jsonlstore.signals.offers import Offer
    from jsonlstore.transcripts.records import Entry, ToolCall

# of a very long message its beginning and end are read: that is where people and agents say what matters
HEAD, TAIL = 12_000, 4_000
_OUTPUT_SLICE = 2_000
_MOST_WAITING = 256
_WORKDIR_KEYS = ("workdir", "cwd", "working_directory", "workingDirectory")
_REPLACED = ("last_topic", "next_step", "last_request", "last_answer", "failing")
_MOST_CONSTRAINTS = 10
_NOTED_AS = {CHOICE: DECISION, DECISION: DECISION, CONSTRAINT: DECISION, SCOPE: SCOPE, INSIGHT: INSIGHT, WORKS: DONE}
_ASSISTANT_WEIGHT = 0.5
_ASSISTANT_OPENING = 800
_LONG_SESSION = 6  # turns
_SYSTEM_OPENING = 200
_LONGEST_TOPIC_LINE = 160
_LONGEST_CALL = 1_000
_TOLD_BY = ("path", "file_path", "filePath", "url", "query", "pattern", "subject", "task", "description", "action")
_HIDDEN = re.compile(
    rf"""(?:(?<![\w.-])[\w.-]{{1,80}}+["'`]?[ \t]{{0,4}}[:=]{{1,2}}>?[ \t]{{0,4}}["'`]?)?{re.escape(MARK)}"""
)


@dataclass(frozen=True, slots=True)
class Signals:
    """What one stretch of a transcript tells; field names are those of `SessionState`."""

    hot_topics: tuple[str, ...] = ()
    active_projects: tuple[str, ...] = ()
    pending_tasks: tuple[PendingTask, ...] = ()
    recent_learnings: tuple[str, ...] = ()
    confidence_updates: tuple[ConfidenceUpdate, ...] = ()
    sop_interactions: tuple[SOPInteraction, ...] = ()
    working_memory: tuple[WorkingMemoryPin, ...] = ()
    notes: tuple[Note, ...] = ()
    last_topic: str | None = None
    in_progress: tuple[str, ...] = ()
    next_step: str | None = None
    last_request: LastRequest | None = None
    last_answer: str | None = None
    open_questions: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    files: tuple[FileInWork, ...] = ()
    failing: Failing | None = None
    closed: tuple[Closed, ...] = ()
    tokens: Tokens | None = None
    start_time: str | None = None
    end_time: str | None = None

    def to_fields(self) -> dict[str, Any]:
        """The JSON fields of a SessionState update. What is not known is left out, but empty lists and what the end of
        a session tells are not: they replace what was thought before."""
        out: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, tuple):
                out[item.name] = [part.to_dict() if isinstance(part, Part) else part for part in value]
            elif isinstance(value, Part):
                out[item.name] = value.to_dict()
            elif value is not None or item.name in _REPLACED:
                out[item.name] = value
        return out


class Distiller:
    """Accumulates the signals of one stretch in bounded memory. Feeding never raises, whatever the entry holds."""

    def __init__(self, options: SignalOptions | None = None) -> None:
        self._options = options or SignalOptions()
        self._redactor = Redactor()
        self._tools = self._options.tools
        self.topics = HotTopicExtractor(self._options.stopwords, self._options.project_roots)
        self.tasks = TaskBook(self._options)
        self.work = WorkLog()
        self._agent = AgentTools(self._options, self.topics, self.tasks, self._redactor)
        self._notes = NoteBook(self._options.max_notes)
        self._constraints: dict[str, None] = {}
        self._talk = Conversation()
        self._tokens = TokenMeter()
        self._waiting: dict[str, ToolCall] = {}
        self._language: Language | None = None
        self._speakers: list[Language] = []
        self._closing: Moment | None = None  # what the assistant said last, for the user's answer to it
        self._cwd: str | None = None
        self._project: str | None = None
        self._start: str | None = None
        self._end: str | None = None

    def feed(self, entry: Entry) -> None:
        """Take in the next entry of the file."""
        moment = entry.timestamp
        if moment:
            self._start = self._start or moment
            self._end = moment
        self._tokens.feed(entry)
        speaker = entry.speaker
        if speaker is Speaker.USER:
            self._hear_user(entry)
        elif speaker is Speaker.ASSISTANT:
            self._hear_assistant(entry)
        elif speaker is Speaker.TOOL:
            self._talk.passed(entry.id, entry.parent_id)
            self._take_result(entry)
        elif speaker is Speaker.SYSTEM:
            self._talk.hear(
                SYSTEM, entry.text[:_SYSTEM_OPENING], moment or "", entry.id, entry.parent_id, self.work.turn
            )
        elif entry.type == "session":
            cwd = entry.raw.get("cwd")
            self._cwd = cwd if isinstance(cwd, str) else None
            if self._cwd:
                self.work.start_in(self._cwd[:1_000])
                self._project = self.topics.record_start(self._path(self._cwd[:1_000])) or self._project
        elif entry.type == "leaf":
            target = entry.raw.get("targetId")
            self._talk.move_leaf(target if isinstance(target, str) else None)
        else:
            self._talk.passed(entry.id, entry.parent_id)

    def result(self, on_path: Collection[str] | None = None) -> Signals:
        """The signals so far. `on_path`: ids on the active path; without it, parents are followed from the end."""
        found = self.conclusions(on_path)
        options = self._options
        return Signals(
            hot_topics=self._redacted(self.topics.current_topics(options.max_topics, self._least_said())),
            active_projects=self._redacted(self.topics.active_projects(options.max_projects)),
            pending_tasks=self._parts(found.pending_tasks),
            recent_learnings=self._redacted(self._agent.memory.learnings()),
            confidence_updates=self._parts(self._agent.memory.updates()),
            sop_interactions=self._parts(self._agent.sops.interactions()),
            working_memory=self._parts(self._agent.pins.pins()),
            notes=self._parts(found.notes),
            last_topic=self._redacted_or_none(self._last_topic(on_path)),
            in_progress=self._redacted([*map(hide_generated, found.in_progress)]),
            next_step=self._redacted_or_none(found.next_step),
            last_request=self._part(found.last_request),
            last_answer=self._redacted_or_none(found.last_answer),
            open_questions=self._redacted([*map(hide_generated, found.open_questions)]),
            constraints=self._redacted([*map(hide_generated, self._constraints)]),
            commits=self._parts(found.commits),
            files=self._parts(found.files),
            failing=self._part(found.failing),
            closed=self._parts(found.closed),
            tokens=_tokens(self._tokens.result()),
            start_time=self._start,
            end_time=self._end,
        )

    def conclusions(self, on_path: Collection[str] | None = None) -> Conclusions:
        """What the end of the session and its evidence amount to, with reasons."""
        talk = list(exchanges(self._talk.path(on_path)))
        notes = self._notes.notes()
        return conclude(talk, self.work, self.tasks, notes, self._language, self._options.max_tasks)

    def _least_said(self) -> float:
        """How often a word must come up to be a topic: in a short session once by the user will do."""
        return 2.0 if self.work.turn >= _LONG_SESSION else 1.0

    def _last_topic(self, on_path: Collection[str] | None) -> str | None:
        """The latest thing the user said that was about something."""
        for moment in reversed(self._talk.path(on_path)):
            if moment.who == USER and not is_nudge(moment.text) and len(content_words(moment.text[:400])) >= 2:
                return shorten(request_line(moment.text), _LONGEST_TOPIC_LINE)
        return None

    def _redacted(self, texts: Collection[str]) -> tuple[str, ...]:
        """Each text redacted; one that was nothing but a secret is left out."""
        safe = ((text, self._redactor.text(text)) for text in texts)
        return tuple(dict.fromkeys(shown for text, shown in safe if shown == text or "[REDACTED" not in shown[:12]))

    def _redacted_or_none(self, text: str | None) -> str | None:
        return hide_generated(self._redactor.text(text)) if text else None

    def _parts(self, parts: Collection[Any]) -> tuple[Any, ...]:
        return tuple(type(part).from_dict(hide_generated_in(self._redactor.value(part.to_dict()))) for part in parts)

    def _part(self, part: Any) -> Any:
        return self._parts([part])[0] if part is not None else None

    def _path(self, path: str) -> str:
        return self._redactor.again(_redacted_path(path))

    # who said what

    def _hear_user(self, entry: Entry) -> None:
        text = self._safe(entry.text)
        at = entry.timestamp or ""
        self.work.next_turn()
        self.tasks.turn = self.work.turn
        self._talk.hear(USER, text, at, entry.id, entry.parent_id, self.work.turn)
        if not text or text.isspace():
            return
        own = "\n".join(own_lines(text))
        self._language = recognise(own) or self._language
        self._speakers = rules_of(self._language)
        self.tasks.language = self._language
        self.topics.record_text(_without_hidden(own))
        if self._options.first_match_patterns:
            self._note_first_match(text, entry, "user")
        else:
            self._note_user(text, entry)
        self.tasks.read(own, entry.id)
        self._closing = None

    def _note_user(self, text: str, entry: Entry) -> None:
        """What the user decided, ruled, asked to remember or took back."""
        at = entry.timestamp or ""
        before = self._closing.text if self._closing else ""
        said = decided(text, self._offer(before), before) if may_answer(text) else []
        said += directives(text, self._speakers)
        said += [one for one in explicit("\n".join(own_lines(text)), self._speakers) if one.kind == INSIGHT]
        for one in said:
            if one.kind == TASK and self.tasks.add(one.text, entry.id):
                self._note(TASK_CREATED, one.text, one.confidence, entry, at)
            elif one.kind == REVERT:
                self._notes.take_back(DECISION, frozenset())
            elif one.kind in _NOTED_AS:
                self._note(_NOTED_AS[one.kind], one.text, one.confidence, entry, at, one.source)
            if one.kind == CONSTRAINT:
                self._keep_rule(one.text)

    def _keep_rule(self, text: str) -> None:
        self._constraints.pop(text, None)
        self._constraints[text] = None
        while len(self._constraints) > _MOST_CONSTRAINTS:
            del self._constraints[next(iter(self._constraints))]

    def _note(self, kind: str, text: str, confidence: float, entry: Entry, at: str, source: str = "user") -> None:
        self._notes.add(kind, text, confidence, entry_id=entry.id, at=at, source=source, project=self._project)

    def _note_first_match(self, text: str, entry: Entry, source: str) -> None:
        for told in detect_first_match(without_code(text)):
            self._note(told.kind, told.sentence, told.confidence, entry, entry.timestamp or "", source)

    def _offer(self, before: str) -> Offer | None:
        return closing_offer(before, spoken_languages(before, self._language)) if before else None

    def _hear_assistant(self, entry: Entry) -> None:
        text = self._safe(entry.text)
        at = entry.timestamp or ""
        calls = entry.tool_calls
        stop = entry.message.get("stopReason")
        error = entry.message.get("errorMessage")
        if text.strip() or not calls:
            moment = self._talk.hear(ASSISTANT, text, at, entry.id, entry.parent_id, self.work.turn)
            moment.aborted = stop == "aborted"
            if stop == "error" or (isinstance(error, str) and error):
                moment.error = (
                    shorten(self._redactor.text(error), 160) if isinstance(error, str) and error else "the model failed"
                )
            if text.strip() and not moment.silent:
                self._closing = moment
                self._read_answer(text, entry)
        else:
            self._talk.passed(entry.id, entry.parent_id)
        for call in calls:
            self._take_call(call, entry)

    def _read_answer(self, text: str, entry: Entry) -> None:
        prose = without_code(text)
        self.topics.record_text(_without_hidden(_opening(prose)), _ASSISTANT_WEIGHT)
        if self._options.first_match_patterns:
            self._note_first_match(prose, entry, "assistant")
        else:
            for told in explicit(prose, self._speakers):
                self._note(told.kind, told.text, told.confidence, entry, entry.timestamp or "", ASSISTANT)
        self.tasks.read(prose, entry.id, ASSISTANT)
        self._agent.sops.heard(prose)

    def _safe(self, text: str) -> str:
        """Redacted whole, then cut: half a key block would not be known for what it is."""
        return _bounded(self._redactor.heard(text)) if text else text

    # what tools were asked, and what they answered

    def _take_call(self, call: ToolCall, entry: Entry) -> None:
        name = ToolNames.plain(call.name)
        self.topics.record_tool_call(call.name)
        if call.id:
            self._waiting[call.id] = call
            if len(self._waiting) > _MOST_WAITING:
                del self._waiting[next(iter(self._waiting))]
        self._talk.called(entry.id, call.id, _describe(name, call))
        for key in _WORKDIR_KEYS:
            if key in call.arguments:
                self._visit(call.arguments[key])
        if name in self._tools.execute:
            command = command_of(call)
            for place in directories_in_command(command[:4_000]) if command else ():
                self._visit(place)
        elif name in self._tools.file:
            for key in ("path", "file_path", "filePath", "file", "notebook_path"):
                path = call.arguments.get(key)
                if isinstance(path, str) and path:
                    self._open_file(path[:1_000], entry, call.name)

    def _visit(self, place: object) -> None:
        if isinstance(place, str) and place:
            self._project = self.topics.record_exec_workdir(self._path(place[:1_000]), self._cwd) or self._project

    def _open_file(self, path: str, entry: Entry, tool: str) -> None:
        shown = self._path(path)
        self._project = self.topics.record_file(shown, self._cwd) or self._project
        if is_sop(shown):
            self._agent.sops.injected(shown, entry.timestamp or "", tool)

    def _take_result(self, entry: Entry) -> None:
        tool = entry.tool_name or ""
        name = ToolNames.plain(tool)
        call_id = entry.tool_call_id or ""
        call = self._waiting.pop(call_id, None)
        runs = name in self._tools.execute or (call is not None and ToolNames.plain(call.name) in self._tools.execute)
        if entry.is_long and name not in self._agent.followed and not (runs and call and is_evidence(command_of(call))):
            self._talk.answered(call_id, changed=False)
            return  # output nobody will quote: most of a transcript's bytes, and not worth parsing
        details = entry.details
        text = entry.text
        head = text if len(text) <= 2 * _OUTPUT_SLICE else text[:_OUTPUT_SLICE] + "\n" + text[-_OUTPUT_SLICE:]
        failed = entry.is_error or details.get("status") == "error" or bool(details.get("error"))
        changed = False
        self.work.todos.at(entry.id, self.work.turn)
        if runs:
            changed = self._take_run(call, entry, text, head)
        elif call and not failed:
            arguments = call.arguments
            written = self.work.wrote(name, arguments)
            changed = bool(written)
            for path in written:
                self.topics.projects.visit(self._path(path[:1_000]), base=self._cwd, is_file=True, weight=2)
            self.work.todos.called(name, arguments, head)
        self._talk.answered(call_id, changed=changed)
        if "SOP" in head or "sop" in details or "sops" in details:
            self._agent.sops.result(
                self._redactor.text(head), self._redactor.value(dict(details)), entry.timestamp or "", tool
            )
        if details:
            self._agent.memory.reported(details, entry.timestamp or "")
        if call and not failed:
            self._agent.take(name, call, entry, head)

    def _take_run(self, call: ToolCall | None, entry: Entry, text: str, head: str) -> bool:
        """A command answered; returns whether it changed files."""
        details = entry.details
        command = command_of(call) if call else ""
        self._visit(details.get("cwd"))
        if ".git" in head or "show-toplevel" in command:
            for root in git_roots_in_output(head, command):
                self._project = self.topics.projects.visit_git_root(self._redactor.text(root)) or self._project
        before = len(self.work.commits)
        at = entry.timestamp or ""
        went = (
            self.work.ran(command, text, details, is_error=entry.is_error, at=at, entry_id=entry.id)
            if command
            else None
        )
        for commit in self.work.commits[before:]:
            self.tasks.covered(content_words(commit.subject), f"commit {commit.sha or commit.subject}", entry.id)
        return went is not None and went.failed is not True and "*** " in command


def command_of(call: ToolCall) -> str:
    """The command a call runs; some runtimes give it as a list of words."""
    for key in ("command", "cmd", "script"):
        value = call.arguments.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            words = [str(word) for word in value]
            return words[-1] if len(words) == 3 and words[1] in {"-c", "-lc"} else " ".join(words)
    return ""


def _describe(name: str, call: ToolCall) -> str:
    """What a call does, in one redacted line."""
    told = command_of(call)
    if not told:
        told = next((v for key in _TOLD_BY if isinstance(v := call.arguments.get(key), str) and v), "")
        told = f"{name} {told}"
    return shorten(told[:_LONGEST_CALL], _LONGEST_TOPIC_LINE)


@lru_cache(maxsize=1024)
def _redacted_path(path: str) -> str:
    """A session works in few places, many times."""
    return redact_text(path)


def _bounded(text: str) -> str:
    """A message whole, or the beginning and end of a very long one, cut at line ends so that no word is halved."""
    if len(text) <= HEAD + TAIL:
        return text
    head, tail = text[:HEAD], text[-TAIL:]
    return head[: head.rfind("\n") + 1 or HEAD] + "\n" + tail[tail.find("\n") + 1 :]


def _opening(prose: str) -> str:
    """The beginning of an answer, which says what it is about, up to a word's end."""
    if len(prose) <= _ASSISTANT_OPENING:
        return prose
    space = prose.find(" ", _ASSISTANT_OPENING)
    return prose[: min(space, _ASSISTANT_OPENING + 200)] if space > 0 else prose[:_ASSISTANT_OPENING]


def _without_hidden(prose: str) -> str:
    """`prose` without what was hidden and the key it stood behind: nobody talked about either."""
    return _HIDDEN.sub(" ", prose) if MARK in prose else prose


def _tokens(counted: tuple[int, bool] | None) -> Tokens | None:
    return Tokens(counted[0], estimated=counted[1]) if counted else None
