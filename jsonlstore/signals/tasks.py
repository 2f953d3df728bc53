"""Work left undone: from the pipeline's own state, from pins, from what was said and from messages to other agents.

Text tasks open at an id (`task-017`) or a marker (`TODO:`, `[TASK]`, an open checkbox, "still in progress") and close
when a later sentence says so and names the id or two words of the title (DECISION 24).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from jsonlstore.core.model import PendingTask
from jsonlstore.core.regex import any_of, compiled, searcher
from jsonlstore.signals.options import SignalOptions
from jsonlstore.signals.pattern_rules import TASK_WORDS
from jsonlstore.signals.patterns import says_done
from jsonlstore.signals.sentences import prose_lines, sentences, shorten
from jsonlstore.signals.words import keywords

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jsonlstore.core.model import WorkingMemoryPin
    from jsonlstore.core.regex import Search

LONGEST_TITLE = 200
MOST_OPEN = 200
MOST_CLOSED = 1_000

_ID = re.compile(r"(?<![\w/.-])task[-_](?:\d[\w-]{0,60}|[0-9a-f]{6,40})(?![\w/])", re.IGNORECASE)
_MARKER = re.compile(
    r"(?<![\w.-])TODO\b[:\s-]*|\b(?:todo|to-do|Todo|ToDo):\s*|\[(?:TASK|TODO|task|todo)\]\s*"
    r"|\b(?:INCOMPLETE|IN[- ]PROGRESS|UNFINISHED)\b"
    r"|\b(?:is|are|still|remains?|marked|status:)\s+(?:as\s+|still\s+)?(?:incomplete|in[- ]progress|unfinished)\b"
)
_PIN_MARKER = re.compile(
    r"\[task\]|\btodo\b|\bincomplete\b|\bin[- ]progress\b|\bunfinished\b|\bnot (?:yet )?done\b", re.IGNORECASE
)
_CHECKBOX = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+\[([ xX])\]\s+(\S.*)")
_REOPENED = re.compile(
    r"\bre-?open(?:ed|ing|s)?\b|\bnot (?:actually |really )?done\b|\bwieder (?:offen|geöffnet)\b", re.IGNORECASE
)
_STAGES = (
    re.compile(r"\b(?:stage|phase|stufe)\b\s*[:=]?\s*[\"'`]?([a-z]+)", re.IGNORECASE),
    re.compile(r"\b([a-z]+)[ -](?:stage|phase)\b", re.IGNORECASE),
)
_CANCELLED = re.compile(
    r"\b(?:cancell?ed|killed|abandoned|obsolete|no longer needed|won't do|wontfix|dropped|abgebrochen)\b", re.IGNORECASE
)
_DONE_MARK = re.compile(
    r"\b(?:done|completed?|finished|closed|ack(?:ed|nowledged)?|erledigt|fertig|DONE)\b", re.IGNORECASE
)
_SPLIT_IDS = re.compile(r"[,;]|\bbut\b|\band\b|\baber\b|\bund\b")
_CLOSED_STATUS = frozenset({"completed", "complete", "done", "killed", "cancelled", "canceled", "closed", "archived"})


@dataclass(slots=True)
class _Open:
    task_id: str
    title: str
    stage: str
    words: frozenset[str]
    entry_id: str | None


def pipeline_tasks(
    document: object, stages: Iterable[str] = SignalOptions().pending_stages
) -> list[PendingTask] | None:
    """The open tasks of a parsed `pipeline/state.json` (DECISIONS 22, 23); None if it is not such a document."""
    if not isinstance(document, dict) or not isinstance(document.get("active_tasks"), list):
        return None
    pending = {stage.lower() for stage in stages}
    closed = closed_in_pipeline(document)
    found: dict[str, PendingTask] = {}
    for raw in document["active_tasks"]:
        task = _pipeline_task(raw)
        if task and task.task_id not in closed and task.stage.lower() in pending:
            found.setdefault(task.task_id, task)
    return list(found.values())


def closed_in_pipeline(document: Mapping[str, Any]) -> frozenset[str]:
    """The ids a `pipeline/state.json` calls completed or killed, wherever it lists them."""
    closed: set[str] = set()
    for key in ("active_tasks", "completed_tasks"):
        listed = document.get(key)
        for raw in listed if isinstance(listed, list) else ():
            task_id = (
                raw if isinstance(raw, str) else raw.get("task_id") or raw.get("id") if isinstance(raw, dict) else None
            )
            if not isinstance(task_id, str):
                continue
            ended = isinstance(raw, dict) and (
                str(raw.get("status", "")).lower() in _CLOSED_STATUS
                or str(raw.get("current_stage") or raw.get("stage") or "").lower() in _CLOSED_STATUS
            )
            if ended or key == "completed_tasks":
                closed.add(task_id)
    return frozenset(closed)


def _pipeline_task(raw: object) -> PendingTask | None:
    if not isinstance(raw, dict):
        return None
    task_id = raw.get("task_id") or raw.get("id")
    if not isinstance(task_id, str) or not task_id:
        return None
    stage = raw.get("current_stage") or raw.get("stage") or ""
    title = raw.get("title") or raw.get("name") or ""
    return PendingTask(task_id[:128], shorten(str(title), LONGEST_TITLE), str(stage)[:40], flagged_incomplete=False)


class TaskBook:
    """The text tasks of one session, opened and closed in the order things were said."""

    def __init__(self, options: SignalOptions | None = None) -> None:
        self._stages = (options or SignalOptions()).pending_stages
        self._open: dict[str, _Open] = {}
        self._closed: dict[str, None] = {}

    @property
    def any_open(self) -> bool:
        """Whether something said later could close a task."""
        return bool(self._open)

    def read(self, text: str, entry_id: str | None = None) -> list[str]:
        """Take in what was said; returns the ids of tasks it opened."""
        if not self._open and not _may_matter(text):
            return []
        opened: list[str] = []
        for line in prose_lines(text):
            box = _CHECKBOX.match(line)
            if box and box[1] == " ":
                opened += self._open_task(box[2], entry_id)
            elif box:
                self._close_named(box[2])
            else:
                for sentence in sentences(line):
                    opened += self._read_sentence(sentence, entry_id)
        return opened

    def read_pin(self, pin: WorkingMemoryPin, entry_id: str | None = None) -> list[str]:
        """A pin that mentions a task, or says that something is not finished."""
        text = f"{pin.label}: {pin.content}" if pin.label else pin.content
        if says_done(text) and not _REOPENED.search(text):
            self._close_named(text)
            return []
        if _ID.search(text) or _PIN_MARKER.search(text):
            return self._open_task(text, entry_id)
        return []

    def read_mail(self, subject: str, body: str, entry_id: str | None = None) -> list[str]:
        """A message to another agent: it leaves a task open that it names, until somebody says it is done."""
        text = f"{subject}. {body}" if body else subject
        named = _ID.findall(text)
        if says_done(text) or _DONE_MARK.match(subject):
            self._close_named(text)
            return []
        if not named and not _MARKER.search(text):
            return []
        return self._open_task(text if not subject else f"{named[0] if named else ''} {subject}".strip(), entry_id)

    def read_ack(self, text: str) -> None:
        """An acknowledgement closes the tasks it names; it opens none."""
        for sentence in sentences(text[:2000].replace("\n", " ")):
            if says_done(sentence) or _DONE_MARK.search(sentence):
                self._close_named(sentence)

    def close(self, task_id: str) -> None:
        """Close one task by id; later mentions do not open it again unless they say so."""
        self._open.pop(task_id.lower(), None)
        self._closed.pop(task_id.lower(), None)
        self._closed[task_id.lower()] = None
        if len(self._closed) > MOST_CLOSED:
            del self._closed[next(iter(self._closed))]

    def pending(self, most: int = 100) -> list[PendingTask]:
        """The tasks still open, oldest first; the latest `most` of them."""
        return [
            PendingTask(task.task_id, task.title, task.stage, flagged_incomplete=True)
            for task in list(self._open.values())[-most:]
        ]

    def sources(self) -> dict[str, str | None]:
        """Task id -> the entry that opened it."""
        return {task.task_id: task.entry_id for task in self._open.values()}

    def _read_sentence(self, sentence: str, entry_id: str | None) -> list[str]:
        ids = [match.lower() for match in _ID.findall(sentence)]
        marked = _MARKER.search(sentence)
        if not ids and not marked and not self._open:
            return []
        done = says_done(sentence) or bool(_CANCELLED.search(sentence))
        if done and len(set(ids)) > 1:
            return self._read_several(sentence, entry_id)
        if done and not _REOPENED.search(sentence):
            self._close_named(sentence)
            return []
        if (ids or marked) and not sentence.rstrip().endswith("?"):
            return self._open_task(sentence, entry_id)
        return []

    def _read_several(self, sentence: str, entry_id: str | None) -> list[str]:
        """Several ids in one sentence that says something is done: each goes by its own part of it."""
        opened: list[str] = []
        for part in _SPLIT_IDS.split(sentence):
            for task_id in dict.fromkeys(match.lower() for match in _ID.findall(part)):
                if says_done(part) or _CANCELLED.search(part):
                    self.close(task_id)
                else:
                    opened += self._open_task(part, entry_id)
        return opened

    def _open_task(self, text: str, entry_id: str | None) -> list[str]:
        ids = list(dict.fromkeys(match.lower() for match in _ID.findall(text)))
        title = _title(text)
        again = bool(_REOPENED.search(text) or _MARKER.search(text))
        opened = []
        for task_id in ids or [_hash_id(title)]:
            if not ids and not keywords(title):
                continue
            if task_id in self._closed:
                if not again:
                    continue
                del self._closed[task_id]
            known = self._open.get(task_id)
            stage_now = self._stage(text) or (known.stage if known else "")
            if known:
                known.stage = stage_now
                continue
            self._open[task_id] = _Open(task_id, title, stage_now, frozenset(keywords(title)), entry_id)
            opened.append(task_id)
            if len(self._open) > MOST_OPEN:
                del self._open[next(iter(self._open))]
        return opened

    def _close_named(self, text: str) -> None:
        ids = {match.lower() for match in _ID.findall(text)}
        for task_id in ids:
            self.close(task_id)
        said = frozenset(keywords(text))
        for task in list(self._open.values()):
            enough = min(2, len(task.words))
            if enough and len(task.words & said) >= enough:
                self.close(task.task_id)

    def _stage(self, text: str) -> str:
        named = (match[1].lower() for pattern in _STAGES for match in pattern.finditer(text))
        return next((stage for stage in named if stage in self._stages), "")


@cache
def _task_words() -> Search:
    return searcher(compiled(any_of(map(re.escape, TASK_WORDS))))


def _may_matter(text: str) -> bool:
    return _task_words()(text.lower().encode("utf-8", "replace"), 0)[0][0] >= 0


def _title(text: str) -> str:
    bare = _MARKER.sub(" ", _ID.sub(" ", text))
    bare = re.sub(r"^[\s:;,.()\[\]–—-]+|\s+(?=[:,.])|[\s:;,(\[–—-]+$", "", " ".join(bare.split()))
    return shorten(bare or text, LONGEST_TITLE)


def _hash_id(title: str) -> str:
    normal = " ".join(keywords(title)) or title.lower()
    return "text-" + hashlib.sha256(normal.encode("utf-8", "replace")).hexdigest()[:10]
