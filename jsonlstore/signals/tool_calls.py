"""What tools were asked and what they answered, passed on to the work log, the projects, todo lists and agent tools."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from jsonlstore.core import expressions as re
from jsonlstore.redact import redact_text
from jsonlstore.signals.options import ToolNames
from jsonlstore.signals.outcome import outcome, says_error, told_error
from jsonlstore.signals.plans import is_plan_file, plan_after, plan_title
from jsonlstore.signals.projects import directories_in_command, git_roots_in_output
from jsonlstore.signals.sentences import shorten
from jsonlstore.signals.shell import is_evidence, merely_looks
from jsonlstore.signals.sops import is_sop
from jsonlstore.signals.undone import reverted_subject
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from jsonlstore.redact import Redactor
    from jsonlstore.signals.agent_tools import AgentTools
    from jsonlstore.signals.conversation import Conversation
    from jsonlstore.signals.evidence import WorkLog
    from jsonlstore.transcripts import Entry, ToolCall

_OUTPUT_SLICE = 2_000
_STOPPED = ("cancel", "abort", "interrupt")
_EXITED = ("Error: Exit code ", "Exit code ")
_MOST_WAITING = 256
_LONGEST_PATH = 1_000
_LONGEST_CALL = 1_000
_LONGEST_LINE = 160
_WORKDIR_KEYS = ("workdir", "cwd", "working_directory", "workingDirectory")
_FILE_KEYS = ("path", "file_path", "filePath", "file", "notebook_path")
_WHOLE_KEYS = ("content", "file_text", "contents")
_TEXT_KEYS = (*_WHOLE_KEYS, "newText", "new_string", "new_str")
_LONGEST_PLAN = 4_000
_MEMORY_FILE = re.compile(r"(?:^|/)(?:memory/[^/]+\.md|MEMORY\.md|decisions?(?:/[^/]+)?\.md)$", re.IGNORECASE)
_ASKING = frozenset({"askuserquestion", "ask_user_question", "ask_user", "request_user_input", "ask_followup_question"})
_PLANNING = frozenset({"exitplanmode", "exit_plan_mode"})  # a plan is put before the user, who lets it pass or not
_TOLD_BY = ("path", "file_path", "filePath", "url", "query", "pattern", "subject", "task", "description", "action")


class Hearer(Protocol):
    """Who is told of texts that a tool's call or answer holds."""

    def hear_memory(self, text: str, entry: Entry) -> None:
        """Something was written to a memory file."""

    def hear_picked(self, what: str, text: str, entry: Entry) -> None:
        """The user's `answers` where a tool asked, or the `plan` they let pass."""


class ToolReader:
    """Follows the tool calls of one stretch to their results."""

    def __init__(
        self,
        tools: ToolNames,
        talk: Conversation,
        work: WorkLog,
        agent: AgentTools,
        redactor: Redactor,
    ) -> None:
        self._tools = tools
        self._talk = talk
        self._work = work
        self._agent = agent
        self._redactor = redactor
        self._waiting: dict[str, ToolCall] = {}
        self._cwd: str | None = None
        self.project: str | None = None  # the project worked on last

    def start_in(self, directory: str) -> None:
        """Where the session was started."""
        self._cwd = directory
        self._work.start_in(directory[:_LONGEST_PATH])
        self.project = self._agent.topics.record_start(self._path(directory)) or self.project

    def call(self, call: ToolCall, entry: Entry) -> None:
        """A tool is called."""
        name = ToolNames.plain(call.name)
        command = command_of(call)
        self._agent.topics.record_tool_call(call.name)
        if call.id:
            self._waiting[call.id] = call
            if len(self._waiting) > _MOST_WAITING:
                del self._waiting[next(iter(self._waiting))]
        self._talk.called(entry.id, call.id, _describe(name, call, command))
        for key in _WORKDIR_KEYS:
            if key in call.arguments:
                self._visit(call.arguments[key])
        if name in self._tools.execute:
            self._work.runs.started(call.id, command)
            self._redactor.overhear(command)
            for place in directories_in_command(command[:4_000]):
                self._visit(place)
        elif name in self._tools.file:
            for key in _FILE_KEYS:
                path = call.arguments.get(key)
                if isinstance(path, str) and path:
                    self._open_file(path, entry, call.name)

    def _visit(self, place: object) -> None:
        if isinstance(place, str) and place:
            visited = self._agent.topics.record_exec_workdir(self._path(place), self._cwd)
            self.project = visited or self.project

    def _open_file(self, path: str, entry: Entry, tool: str) -> None:
        shown = self._path(path)
        self.project = self._agent.topics.record_file(shown, self._cwd) or self.project
        if is_sop(shown):
            self._agent.sops.injected(shown, entry.timestamp or "", tool)

    def _opened_sop(self, name: str, call: ToolCall | None) -> str | None:
        """The procedure a call opened, which was counted with the call."""
        keys = (
            _FILE_KEYS
            if name in self._tools.file
            else ("path", "sop_path", "sop", "name")
            if name in self._tools.sop
            else ()
        )
        paths = [call.arguments.get(key) for key in keys] if call else []
        return next((path for path in paths if isinstance(path, str) and path), None)

    def result(self, entry: Entry, hearer: Hearer) -> None:
        """A tool answered. The hearer is not kept: it keeps us, and a ring of the two would outlive the session."""
        tool = entry.tool_name or ""
        name = ToolNames.plain(tool)
        call_id = entry.tool_call_id or ""
        call = self._waiting.pop(call_id, None)
        self._work.runs.ended(call_id)
        runs = name in self._tools.execute or (call is not None and ToolNames.plain(call.name) in self._tools.execute)
        command = command_of(call) if runs and call else ""
        if entry.is_long and name not in self._agent.followed and not (command and is_evidence(command)):
            self._talk.answered(call_id, changed=False)
            self._work.answered(name, "", failed=False, is_command=bool(command), at="", entry_id=None)
            return  # output nobody will quote: most of a transcript's bytes, and not worth parsing
        details = entry.details
        text = entry.text
        head = text if len(text) <= 2 * _OUTPUT_SLICE else text[:_OUTPUT_SLICE] + "\n" + text[-_OUTPUT_SLICE:]
        failed = entry.is_error or details.get("status") == "error" or bool(details.get("error"))
        changed = False
        self._work.todos.at(entry.id, self._work.turn)
        if runs:
            changed = self._ran(command, entry, text, head)
        elif call and not failed:
            changed = self._used(name, call, entry, head, hearer)
        elif call:
            why = told_error(self._redactor.text(head))
            self._work.not_written(name, call.arguments, why, entry.timestamp or "", entry.id)
        self._talk.answered(call_id, changed=changed)
        self._tell_answer(name, call, command, entry, head, failed=failed)
        if "SOP" in head or "sop" in details or "sops" in details:
            self._agent.sops.result(
                self._redactor.text(head), self._redactor.value(dict(details)), entry.timestamp or "", tool,
                self._opened_sop(name, call),
            )  # fmt: skip
        if details:
            self._agent.memory.reported(details, entry.timestamp or "")
        if call and not failed:
            self._agent.take(name, call, entry, head)

    def _tell_answer(
        self, name: str, call: ToolCall | None, command: str, entry: Entry, head: str, *, failed: bool
    ) -> None:
        """The work log is told how any call went; a command that the user stopped did not fail."""
        wrong = failed or says_error(head) or head.startswith(_EXITED)
        stopped = wrong and outcome(head, entry.details, is_error=True, is_test=False).interrupted
        if stopped or (wrong and head.lstrip().lower().startswith(_STOPPED)):
            return
        what = ""
        if wrong or self._work.refusals:
            what = self._redactor.text(_describe(name, call, command) if call else name)
        self._work.answered(
            what, self._redactor.text(head) if wrong else "", failed=wrong,
            # a search that finds nothing fails as well
            is_command=bool(command) and not (wrong and merely_looks(command)), at=entry.timestamp or "",
            entry_id=entry.id,
        )  # fmt: skip

    def _used(self, name: str, call: ToolCall, entry: Entry, head: str, hearer: Hearer) -> bool:
        """A tool other than the shell went well; returns whether it changed files."""
        written = self._work.wrote(name, call.arguments)
        self._work.references.opened(call.arguments, entry.id)
        for path in written:
            self._agent.topics.projects.visit(self._path(path), base=self._cwd, is_file=True, weight=2)
            text = next((v for key in _TEXT_KEYS if isinstance(v := call.arguments.get(key), str)), "")
            if text and _MEMORY_FILE.search(path.replace("\\", "/")):
                hearer.hear_memory(text, entry)
            self._note_plan(path, call, entry)
        self._work.todos.called(name, call.arguments, head)
        if name in _ASKING:
            hearer.hear_picked("answers", head, entry)
        elif name in _PLANNING and isinstance(plan := call.arguments.get("plan"), str) and "approved" in head.lower():
            hearer.hear_picked("plan", plan, entry)
        return bool(written)

    def _note_plan(self, path: str, call: ToolCall, entry: Entry) -> None:
        """What is written after a plan carries it out, or puts it aside; parts of a plan have no title."""
        work = self._work
        if not is_plan_file(path):
            work.plan = None
            return
        whole = next((v for key in _WHOLE_KEYS if isinstance(v := call.arguments.get(key), str)), "")
        text = self._redactor.text(whole[:_LONGEST_PLAN])
        work.plan = plan_after(work.plan, text, work.turn, entry.timestamp or "", entry.id)

    def _ran(self, command: str, entry: Entry, text: str, head: str) -> bool:
        """A command answered; returns whether it changed files."""
        details = entry.details
        self._visit(details.get("cwd"))
        if ".git" in head or "show-toplevel" in command:
            for root in git_roots_in_output(head, command):
                visited = self._agent.topics.projects.visit_git_root(self._redactor.text(root))
                self.project = visited or self.project
        if not command:
            return False
        at = entry.timestamp or ""
        went = self._work.ran(command, text, details, is_error=entry.is_error, at=at, entry_id=entry.id)
        self._follow_commits(entry.id)
        return went.failed is not True and "*** " in command

    def undone(self, text: str, entry_id: str | None) -> None:
        """An answer to an undo command, which may name the commits it removed."""
        self._work.undone(text)
        self._follow_commits(entry_id)

    def _follow_commits(self, entry_id: str | None) -> None:
        """A commit closes the tasks it is about; one that is taken back leaves them open."""
        for commit in self._work.taken_back:
            self._agent.tasks.uncovered(f"commit {commit.sha or commit.subject}")
        for commit in self._work.made:
            if not reverted_subject(commit.subject):
                words = content_words(commit.subject)
                self._agent.tasks.covered(words, f"commit {commit.sha or commit.subject}", entry_id)

    def _path(self, path: str) -> str:
        return self._redactor.again(_redacted_path(path[:_LONGEST_PATH]))


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


def _describe(name: str, call: ToolCall, told: str) -> str:
    """What a call does, in one line; the command it runs, if it runs one. Empty where nothing but its name is known."""
    if name in _ASKING:
        told = f"asking the user: {_question(call)}"
    elif name in _PLANNING and isinstance(plan := call.arguments.get("plan"), str):
        told = f"asking the user to approve the plan: {plan_title(plan)}"
    if not told:
        told = next((v for key in _TOLD_BY if isinstance(v := call.arguments.get(key), str) and v), "")
        told = f"{name} {told}" if told.strip() else ""
    return shorten(told[:_LONGEST_CALL], _LONGEST_LINE)


def _question(call: ToolCall) -> str:
    """The first question a call puts to the user."""
    listed = call.arguments.get("questions")
    first = listed[0] if isinstance(listed, list) and listed else call.arguments
    asked = first.get("question") if isinstance(first, dict) else None
    return asked if isinstance(asked, str) else ""


@lru_cache(maxsize=1024)  # a session works in few places, many times
def _redacted_path(path: str) -> str:
    return redact_text(path)
