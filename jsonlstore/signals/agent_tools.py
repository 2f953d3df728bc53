"""What an agent's own tools report: long-term memory, pins, messages to other agents, operating procedures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.signals.learnings import MemoryCalls, categories_of
from jsonlstore.signals.pins import PinBoard
from jsonlstore.signals.sops import SopTracker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonlstore.redact import Redactor
    from jsonlstore.signals.options import SignalOptions
    from jsonlstore.signals.tasks import TaskBook
    from jsonlstore.signals.topics import HotTopicExtractor
    from jsonlstore.transcripts import Entry, ToolCall


class AgentTools:
    """Follows the tools an agent manages itself with, through the calls that went well."""

    def __init__(self, options: SignalOptions, topics: HotTopicExtractor, tasks: TaskBook, redactor: Redactor) -> None:
        self._redactor = redactor
        self._tools = tools = options.tools
        self.followed = tools.learn | tools.adjust | tools.recall | tools.pin | tools.mail | tools.sop
        self.topics = topics
        self.tasks = tasks
        self.memory = MemoryCalls(options.max_learnings)
        self.pins = PinBoard()
        self.sops = SopTracker()

    def take(self, name: str, call: ToolCall, entry: Entry, head: str) -> None:
        """A call of a tool we follow that went well."""
        tools = self._tools
        if name not in self.followed:
            return
        answer = self._redactor.text(head)
        arguments = self._redactor.value(dict(call.arguments))
        details = self._redactor.value(dict(entry.details))
        at = entry.timestamp or ""
        if name in tools.learn | tools.adjust | tools.recall:
            self.topics.record_memory_access(categories_of(arguments))
        if name in tools.learn:
            memory_id = self.memory.learned(arguments, details, answer)
            if memory_id:
                self.topics.record_learning_id(memory_id)
        elif name in tools.adjust:
            self.memory.adjusted(arguments, details, answer, at)
        elif name in tools.pin:
            self._take_pin(name, arguments, at, entry)
        elif name in tools.mail:
            self._take_mail(name, arguments, answer, entry)
        elif name in tools.sop:
            self._take_sop(name, arguments, at, call.name)

    def _take_pin(self, name: str, arguments: Mapping[str, Any], at: str, entry: Entry) -> None:
        pin = self.pins.apply(name, arguments, at)
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
            self.tasks.read_ack(f"ack {subject} {body} {said.get('task_id', '')} {answer[:500]}", entry.id)
            return
        if subject or body:
            self.topics.record_synapse_signal(subject or body[:80], said.get("to", ""))
            self.tasks.read_mail(subject, body[:2_000], entry.id)
            self._visit_named(said.get("project"))
        else:
            self.tasks.read_ack(answer, entry.id)

    def _visit_named(self, project: str | None) -> None:
        if project and len(project) <= 64 and "/" not in project:
            self.topics.projects.mention(project)

    def _take_sop(self, name: str, arguments: Mapping[str, Any], at: str, tool: str) -> None:
        path = next(
            (value for key in ("path", "sop_path", "sop", "name") if isinstance(value := arguments.get(key), str)), None
        )
        if name.endswith("ack") or arguments.get("action") in {"ack", "acknowledge"}:
            self.sops.acknowledge(path)
        elif path:
            self.sops.injected(path, at, tool)
