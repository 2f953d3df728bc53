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

from jsonlstore.core.model import Part
from jsonlstore.redact import MARK, hide_generated, hide_generated_in, may_hold_secret, redact_text, redact_value
from jsonlstore.signals.learnings import MemoryLedger, categories_of
from jsonlstore.signals.notes import NoteBook
from jsonlstore.signals.options import SignalOptions, ToolNames
from jsonlstore.signals.outlook import LONGEST_TEXT, Outlook, Said, in_progress, last_topic, next_step
from jsonlstore.signals.pattern_matcher import may_tell
from jsonlstore.signals.patterns import Detected, detect, detect_first_match
from jsonlstore.signals.pins import PinBoard
from jsonlstore.signals.projects import directories_in_command, git_roots_in_output
from jsonlstore.signals.sentences import without_code
from jsonlstore.signals.sops import SopTracker, is_sop
from jsonlstore.signals.tasks import TaskBook
from jsonlstore.signals.topics import HotTopicExtractor
from jsonlstore.transcripts.speech import Speaker

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from jsonlstore.core.model import ConfidenceUpdate, Note, PendingTask, SOPInteraction, WorkingMemoryPin
    from jsonlstore.transcripts.records import Entry, ToolCall

# of a very long message its beginning and end are read: that is where people and agents say what matters
HEAD, TAIL = 12_000, 4_000
_OUTPUT_SLICE = 2_000
_MOST_WAITING = 256
_WORKDIR_KEYS = ("workdir", "cwd", "working_directory", "workingDirectory")
_MOST_BLOCKED_TASKS = 5
_ASSISTANT_WEIGHT = 0.5
_ASSISTANT_OPENING = 400
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
    start_time: str | None = None
    end_time: str | None = None

    def to_fields(self) -> dict[str, Any]:
        """The JSON fields of a SessionState update; what is not known is left out, empty lists are not."""
        out: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, tuple):
                out[item.name] = [part.to_dict() if isinstance(part, Part) else part for part in value]
            elif value is not None:
                out[item.name] = value
        return out


class Distiller:
    """Accumulates the signals of one stretch in bounded memory. Feeding never raises, whatever the entry holds."""

    def __init__(self, options: SignalOptions | None = None) -> None:
        self._options = options or SignalOptions()
        self._tools = tools = self._options.tools
        self._followed = tools.learn | tools.adjust | tools.recall | tools.pin | tools.mail | tools.sop
        self.topics = HotTopicExtractor(self._options.stopwords, self._options.project_roots)
        self.tasks = TaskBook(self._options)
        self._memory = MemoryLedger(self._options.max_learnings)
        self._pins = PinBoard()
        self._sops = SopTracker()
        self._notes = NoteBook(self._options.max_notes)
        self._outlook = Outlook()
        self._waiting: dict[str, ToolCall] = {}
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
        speaker = entry.speaker
        text = ""
        if speaker is Speaker.USER or speaker is Speaker.ASSISTANT:
            text = self._hear(entry, by_user=speaker is Speaker.USER)
        elif speaker is Speaker.TOOL:
            self._take_result(entry)
        elif entry.type == "session":
            cwd = entry.raw.get("cwd")
            self._cwd = cwd if isinstance(cwd, str) else None
            self._visit(self._cwd)
        elif entry.type == "leaf":
            target = entry.raw.get("targetId")
            self._outlook.move_leaf(target if isinstance(target, str) else None)
            return
        if entry.type != "session":
            self._outlook.hear(Said(entry.id, entry.parent_id, speaker is Speaker.USER, text[:LONGEST_TEXT]))

    def result(self, on_path: Collection[str] | None = None) -> Signals:
        """The signals so far. `on_path`: ids on the active path; without it, parents are followed from the end."""
        notes, pending = self._notes_and_tasks()
        path = self._outlook.path(on_path)
        titles = [task.title for task in reversed(pending)]
        options = self._options
        return Signals(
            hot_topics=_redacted(self.topics.current_topics(options.max_topics)),
            active_projects=_redacted(self.topics.active_projects(options.max_projects)),
            pending_tasks=_parts(pending),
            recent_learnings=_redacted(self._memory.learnings()),
            confidence_updates=_parts(self._memory.updates()),
            sop_interactions=_parts(self._sops.interactions()),
            working_memory=_parts(self._pins.pins()),
            notes=_parts(notes),
            last_topic=_redacted_or_none(last_topic(path)),
            in_progress=_redacted([*map(hide_generated, in_progress(path, titles))]),
            next_step=_redacted_or_none(next_step(path)),
            start_time=self._start,
            end_time=self._end,
        )

    def _notes_and_tasks(self) -> tuple[list[Note], list[PendingTask]]:
        """Notes and tasks; a strong blocker that stands at the end leaves a task open (DECISION 44)."""
        notes = self._notes.notes()
        pending = self.tasks.pending(self._options.max_tasks)
        known = {task.task_id for task in pending}
        for task, note in self._notes.open_blockers()[-_MOST_BLOCKED_TASKS:]:
            if task.task_id not in known:
                pending.append(task)
                notes.append(note)
        return notes, pending[-self._options.max_tasks :]

    # who said what

    def _hear(self, entry: Entry, *, by_user: bool) -> str:
        text = entry.text
        plain = is_plain(text)
        if not plain:
            # redacted whole, then cut: half a key block would not be known for what it is
            text = _bounded(redact_text(text))
        if text and not text.isspace():
            prose = text if plain else without_code(text)
            if by_user:
                self.topics.record_text(_without_hidden(prose))
            else:
                self.topics.record_text(_without_hidden(_opening(prose)), _ASSISTANT_WEIGHT)
            self._notes.next_message()
            if not plain or self._options.first_match_patterns:
                for told in self._detect(prose):
                    self._notes.add(told, entry.id, entry.timestamp or "", self._project)
            if not plain or self.tasks.any_open:
                self.tasks.read(prose, entry.id)
            if not by_user:
                self._sops.heard(prose)
        if not by_user:
            for call in entry.tool_calls:
                self._take_call(call, entry)
        return text

    def _detect(self, prose: str) -> list[Detected]:
        return detect_first_match(prose) if self._options.first_match_patterns else detect(prose)

    # what tools were asked, and what they answered

    def _take_call(self, call: ToolCall, entry: Entry) -> None:
        name = ToolNames.plain(call.name)
        self.topics.record_tool_call(call.name)
        if call.id:
            self._waiting[call.id] = call
            if len(self._waiting) > _MOST_WAITING:
                del self._waiting[next(iter(self._waiting))]
        for key in _WORKDIR_KEYS:
            if key in call.arguments:
                self._visit(call.arguments[key])
        if name in self._tools.execute:
            command = call.arguments.get("command") or call.arguments.get("cmd")
            for place in directories_in_command(command[:4_000]) if isinstance(command, str) else ():
                self._visit(place)
        elif name in self._tools.file:
            for key in ("path", "file_path", "filePath", "file", "notebook_path"):
                path = call.arguments.get(key)
                if isinstance(path, str) and path:
                    self._open_file(path[:1_000], entry, call.name)

    def _visit(self, place: object) -> None:
        if isinstance(place, str) and place:
            self._project = self.topics.record_exec_workdir(_redacted_path(place[:1_000]), self._cwd) or self._project

    def _open_file(self, path: str, entry: Entry, tool: str) -> None:
        shown = _redacted_path(path)
        self._project = self.topics.record_file(shown, self._cwd) or self._project
        if is_sop(shown):
            self._sops.injected(shown, entry.timestamp or "", tool)

    def _take_result(self, entry: Entry) -> None:
        tool = entry.tool_name or ""
        name = ToolNames.plain(tool)
        call = self._waiting.pop(entry.tool_call_id or "", None)
        if entry.is_long and name not in self._followed and not (call and _asks_git(call)):
            return  # output nobody will quote: most of a transcript's bytes, and not worth parsing
        details = entry.details
        text = entry.text
        head = text if len(text) <= 2 * _OUTPUT_SLICE else text[:_OUTPUT_SLICE] + "\n" + text[-_OUTPUT_SLICE:]
        if name in self._tools.execute:
            self._visit(details.get("cwd"))
            command = call.arguments.get("command") if call else None
            if ".git" in head or (isinstance(command, str) and "show-toplevel" in command):
                for root in git_roots_in_output(head, command if isinstance(command, str) else ""):
                    self._project = self.topics.projects.visit_git_root(redact_text(root)) or self._project
        if "SOP" in head or "sop" in details or "sops" in details:
            self._sops.result(redact_text(head), redact_value(dict(details)), entry.timestamp or "", tool)
        if details:
            self._memory.reported(details, entry.timestamp or "")
        if call and not entry.is_error and not details.get("error"):
            self._take_answer(name, call, entry, head)

    def _take_answer(self, name: str, call: ToolCall, entry: Entry, head: str) -> None:
        """A call of a tool we follow that went well."""
        tools = self._tools
        if name not in self._followed:
            return
        answer = redact_text(head)
        arguments = redact_value(dict(call.arguments))
        details = redact_value(dict(entry.details))
        at = entry.timestamp or ""
        if name in tools.learn | tools.adjust | tools.recall:
            self.topics.record_memory_access(categories_of(arguments))
        if name in tools.learn:
            memory_id = self._memory.learned(arguments, details, answer)
            if memory_id:
                self.topics.record_learning_id(memory_id)
        elif name in tools.adjust:
            self._memory.adjusted(arguments, details, answer, at)
        elif name in tools.pin:
            self._take_pin(name, arguments, at, entry)
        elif name in tools.mail:
            self._take_mail(name, arguments, answer, entry)
        elif name in tools.sop:
            self._take_sop(name, arguments, at, call.name)

    def _take_pin(self, name: str, arguments: Mapping[str, Any], at: str, entry: Entry) -> None:
        pin = self._pins.apply(name, arguments, at)
        if pin:
            if pin.label:
                self.topics.record_working_memory_label(pin.label)
            self.topics.record_text(pin.content, 1.0)
            self.tasks.read_pin(pin, entry.id)

    def _take_mail(self, name: str, arguments: Mapping[str, Any], answer: str, entry: Entry) -> None:
        said = {key: value for key, value in arguments.items() if isinstance(value, str)}
        subject = said.get("subject", "") or said.get("title", "")
        body = said.get("body") or said.get("message") or said.get("content") or said.get("text") or ""
        action = said.get("action", name.rpartition("_")[2]).lower()
        if action in {"ack", "acknowledge", "complete", "done", "resolve", "close"}:
            self.tasks.read_ack(f"ack {subject} {body} {said.get('task_id', '')} {answer[:500]}")
            return
        if subject or body:
            self.topics.record_synapse_signal(subject or body[:80], said.get("to", ""))
            self.tasks.read_mail(subject, body[:2_000], entry.id)
            self._visit_named(said.get("project"))
        else:
            self.tasks.read_ack(answer)

    def _visit_named(self, project: str | None) -> None:
        if project and len(project) <= 64 and "/" not in project:
            self.topics.projects.mention(project)

    def _take_sop(self, name: str, arguments: Mapping[str, Any], at: str, tool: str) -> None:
        path = next(
            (value for key in ("path", "sop_path", "sop", "name") if isinstance(value := arguments.get(key), str)), None
        )
        if name.endswith("ack") or arguments.get("action") in {"ack", "acknowledge"}:
            self._sops.acknowledge(path)
        elif path:
            self._sops.injected(path, at, tool)


def is_plain(text: str) -> bool:
    """Whether `text` is short, and nothing in it could be a secret, tell something, open a task or be code."""
    return len(text) <= HEAD + TAIL and text.isascii() and not may_tell(text) and not may_hold_secret(text)


@lru_cache(maxsize=1024)
def _redacted_path(path: str) -> str:
    """A session works in few places, many times."""
    return redact_text(path)


def _asks_git(call: ToolCall) -> bool:
    command = call.arguments.get("command")
    return isinstance(command, str) and "git " in command


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


def _redacted(texts: Collection[str]) -> tuple[str, ...]:
    """Each text redacted; one that was nothing but a secret is left out."""
    return tuple(
        dict.fromkeys(safe for text in texts if (safe := redact_text(text)) == text or "[REDACTED" not in safe[:12])
    )


def _redacted_or_none(text: str | None) -> str | None:
    return hide_generated(redact_text(text)) if text else None


def _parts(parts: Collection[Any]) -> tuple[Any, ...]:
    return tuple(type(part).from_dict(hide_generated_in(redact_value(part.to_dict()))) for part in parts)
