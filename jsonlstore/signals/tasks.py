"""Work left undone: from pins, from what was said and from messages to other agents.

Text tasks open at an id (`task-017`), a marker (`TODO:`, `[TASK]`, an open checkbox) or because the user asked to be
reminded, and close when later words say so and name the id or the words of the title (DECISION 24), or when evidence
covers them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from jsonlstore.core import expressions as re
from jsonlstore.core.hashes import sha256
from jsonlstore.core.model import PendingTask
from jsonlstore.signals.finished import says_done
from jsonlstore.signals.options import SignalOptions
from jsonlstore.signals.sentences import plain_text, prose_lines, sentences, shorten
from jsonlstore.signals.telling import GIVEN_UP, may_open, may_tell, telling_lines
from jsonlstore.signals.titles import LONGEST_TITLE, TitleIndex
from jsonlstore.signals.words import content_words, keywords

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonlstore.core.model import WorkingMemoryPin
    from jsonlstore.signals.language import Language

MOST_OPEN = 200
MOST_CLOSED = 1_000
LONG_AGO = 30  # the same for what the user wanted kept, and at least half a session
STALE_AFTER = 8  # turns after which what only the assistant wrote down, and nobody touched, is history

_ID = re.compile(r"(?<![\w/.-])task[-_](?:\d[\w-]{0,60}|[0-9a-f]{6,40})(?![\w/])", re.IGNORECASE)
# "todo" is an everyday word of Spanish and Portuguese: a marker is in capitals, or has a colon or brackets
_MARKER = re.compile(
    r"(?<![\w.-])TODO(?:\([^)\n]{1,40}\))?\s?[:–-]\s*(?=\S)|^TODO\s+(?=\S*[a-z0-9])|^(?:todo|to-do|Todo|ToDo|FIXME)\s?:\s*|\[(?:TASK|TODO|task|todo)\]\s*"
)
_LEADING_MARKERS = re.compile(rf"^(?:{_MARKER.pattern})+")
_LOOSE_ENDS = re.compile(r"^[\s:;,.()\[\]–—-]+|\s+(?=[:,.])|[\s:;,(\[–—-]+$")
_INCOMPLETE = re.compile(
    r"\b(?:INCOMPLETE|IN[- ]PROGRESS|UNFINISHED)\b"
    r"|\b(?:is|are|still|remains?|marked|status:)\s+(?:as\s+|still\s+)?(?:incomplete|in[- ]progress|unfinished)\b"
)
_PIN_MARKER = re.compile(
    r"\[task\]|\btodo\b|\bincomplete\b|\bin[- ]progress\b|\bunfinished\b|\bnot (?:yet )?done\b", re.IGNORECASE
)
_NUMBERED = re.compile(r"(?<!\w)\w*\d(?:[\w.-]*\w)?")
_TICKED = re.compile(r"[✅☑✔]|\[[xX]\]")
_CHECKBOX = re.compile(r"\s*(?:(?:[-*+]|\d{1,3}[.)])\s+)?\[([ xX])\]\s+(\S.*)")
_MOST_BOXES = 12  # more open boxes in one message are a template, not this session's list
_REOPENED = re.compile(
    r"\bre-?open(?:ed|ing|s)?\b|\bnot (?:actually |really )?done\b|\bwieder (?:offen|geöffnet)\b", re.IGNORECASE
)
_STAGES = (
    re.compile(r"\b(?:stage|phase|stufe)\b\s*+[:=]?\s*+[\"'`]?([a-z]+)", re.IGNORECASE),
    re.compile(r"\b([a-z]+)[ -](?:stage|phase)\b", re.IGNORECASE),
)
_CANCELLED = re.compile(rf"\b{GIVEN_UP}\b", re.IGNORECASE)
_DONE_MARK = re.compile(
    r"\b(?:done|completed?|finished|closed|ack(?:ed|nowledged)?|erledigt|fertig|DONE)\b", re.IGNORECASE
)
_LEAST_TOLD = 2  # words of content
_SPLIT_IDS = re.compile(r"[,;]|\bbut\b|\band\b|\baber\b|\bund\b")
USER, ASSISTANT, PIN, MAIL = "user", "assistant", "pin", "mail"


class _Open(NamedTuple):
    task_id: str
    title: str
    stage: str
    words: frozenset[str]
    entry_id: str | None
    origin: str
    turn: int


class ClosedTask(NamedTuple):
    """A task that was open and is not any more, with the reason."""

    task_id: str
    title: str
    how: str
    entry_id: str | None
    by: str = "statement"  # the kind of evidence


def covers(title: frozenset[str], said: frozenset[str]) -> bool:
    """Whether words said later are about a title: at least two of its words, or its only one, and most of them."""
    if not title:
        return False
    shared = len(title & said)
    return shared >= min(2, len(title)) and 3 * shared >= 2 * len(title)


class TaskBook:
    """The text tasks of one session, opened and closed in the order things were said."""

    def __init__(self, options: SignalOptions | None = None) -> None:
        self._stages = (options or SignalOptions()).pending_stages
        self._open: dict[str, _Open] = {}
        self._closed: dict[str, ClosedTask] = {}
        self._covered: dict[str, _Open] = {}  # closed by a commit, which may be taken back
        self._titles = TitleIndex()
        self.turn = 0
        self.language: Language | None = None

    def read(self, text: str, entry_id: str | None = None, origin: str = USER) -> list[str]:
        """Take in what was said; returns the ids of tasks it opened."""
        if not self._may_change(text, origin):
            return []
        if origin == ASSISTANT:
            self._let_go()
        opened: list[str] = []
        boxes: list[str] = []
        wanted = telling_lines(text, self.language).__contains__ if "\n" in text else None
        for line in prose_lines(text, wanted):
            box = _CHECKBOX.match(line)
            if box and box[1] == " ":
                boxes.append(box[2])
            elif box:
                self._tick(box[2], entry_id)
            else:
                for sentence in sentences(line):
                    opened += self._read_sentence(sentence, entry_id, origin)
        if len(boxes) <= _MOST_BOXES:
            for title in boxes:
                opened += self._open_task(title, entry_id, origin)
        return opened

    def _may_change(self, text: str, origin: str) -> bool:
        """Whether a text could open or close a task: most could not, and that is found out fast."""
        opens = may_open(text)
        if not opens and not self._open:
            return False
        if not may_tell(text, self.language) and not (origin == ASSISTANT and self._stale()):
            return False
        return opens or self._titles.touched_by(text)

    def add(self, title: str, entry_id: str | None, origin: str = USER) -> list[str]:
        """Somebody asked for this to be kept for later."""
        return self._open_task(title, entry_id, origin)

    def read_pin(self, pin: WorkingMemoryPin, entry_id: str | None = None) -> list[str]:
        """A pin that mentions a task, or says that something is not finished."""
        text = f"{pin.label}: {pin.content}" if pin.label else pin.content
        ticked = _TICKED.search(text) and not _PIN_MARKER.search(text)
        if (says_done(text) or ticked) and not _REOPENED.search(text):
            self._close_named(text, "said done in a pin", entry_id, "pin")
            return []
        if _ID.search(text) or _PIN_MARKER.search(text):
            return self._open_task(text, entry_id, PIN)
        return []

    def read_mail(self, subject: str, body: str, entry_id: str | None = None) -> list[str]:
        """A message to another agent: it leaves a task open that it names, until somebody says it is done."""
        text = f"{subject}. {body}" if body else subject
        named = _ID.findall(text)
        if says_done(text) or _DONE_MARK.match(subject):
            self._close_named(text, "said done in a message", entry_id, "mail")
            return []
        if not named and not _MARKER.search(text) and not _INCOMPLETE.search(text):
            return []
        return self._open_task(
            text if not subject else f"{named[0] if named else ''} {subject}".strip(), entry_id, MAIL
        )

    def read_ack(self, text: str, entry_id: str | None = None) -> None:
        """An acknowledgement closes the tasks it names; it opens none."""
        for sentence in sentences(text[:2000].replace("\n", " ")):
            if says_done(sentence) or _DONE_MARK.search(sentence):
                self._close_named(sentence, "acknowledged", entry_id, "mail")

    def close(self, task_id: str, how: str, entry_id: str | None, by: str = "statement", title: str = "") -> None:
        """Close one task by id; later mentions do not open it again unless they say so.

        One that was never opened here is closed, too: another session may have left it open.
        """
        key = task_id.lower()
        task = self._open.get(key)
        if task:
            self._forget(task)
        before = self._closed.pop(key, None)
        if task or before is None:
            before = ClosedTask(key, task.title if task else title or key, how, entry_id, by)
        self._closed[key] = before
        if len(self._closed) > MOST_CLOSED:
            del self._closed[next(iter(self._closed))]

    def _tick(self, text: str, entry_id: str | None) -> None:
        """An item of a list was ticked off, whether it was seen open or not."""
        self._close_named(text, "ticked", entry_id, "ticked")
        title = _title(text)
        if not _ID.search(text) and content_words(title):
            self.close(hash_id(title), "ticked", entry_id, "ticked", title)

    def covered(self, words: frozenset[str], how: str, entry_id: str | None) -> None:
        """Evidence (a commit, a ticked item) closes the tasks it is about."""
        for task in list(self._open.values()):
            if covers(task.words, words):
                self.close(task.task_id, how, entry_id, "commit")
                self._covered[task.task_id] = task
                while len(self._covered) > MOST_CLOSED:
                    del self._covered[next(iter(self._covered))]

    def uncovered(self, how: str) -> None:
        """The evidence was taken back: what it closed is open again."""
        for key in [one.task_id for one in self._closed.values() if one.how == how and one.task_id in self._covered]:
            task = self._covered.pop(key)
            del self._closed[key]
            self._titles.add(key, task.words)
            self._open[key] = task

    def pending(self, most: int = 100) -> list[PendingTask]:
        """The tasks still open, oldest first; what only the assistant wrote down long ago is left out."""
        waiting = [one for one in self._open.values() if not self._is_stale(one)]
        return [
            PendingTask(
                task.task_id,
                task.title,
                task.stage,
                flagged_incomplete=True,
                extra={
                    "confidence": 0.7 if task.origin == ASSISTANT else 0.9,
                    **evidence([task.entry_id], task.origin),
                },
            )
            for task in waiting[-most:]
        ]

    def _is_stale(self, task: _Open) -> bool:
        """Whether a task was opened long before the end and never touched again."""
        age = self.turn - task.turn
        return age > (STALE_AFTER if task.origin == ASSISTANT else max(LONG_AGO, self.turn // 2))

    def _let_go(self) -> None:
        """Forget what is stale for good: nothing said later can bring back what nobody touched."""
        for task in self._stale():
            self._forget(task)

    def _stale(self) -> list[_Open]:
        return [one for one in self._open.values() if one.origin == ASSISTANT and self._is_stale(one)]

    def _forget(self, task: _Open) -> None:
        del self._open[task.task_id]
        self._titles.remove(task.task_id, task.words)

    def closed(self) -> list[ClosedTask]:
        """The tasks that are done, oldest first."""
        return list(self._closed.values())

    def sources(self) -> dict[str, str | None]:
        """Task id -> the entry that opened it."""
        return {task.task_id: task.entry_id for task in self._open.values()}

    def _read_sentence(self, sentence: str, entry_id: str | None, origin: str) -> list[str]:
        if not may_tell(sentence, self.language):
            return []
        ids = [match.lower() for match in _ID.findall(sentence)]
        marked = _MARKER.search(sentence) or _INCOMPLETE.search(sentence)
        if not ids and not marked and not self._titles.touched_by(sentence):
            return []
        done = says_done(sentence, self.language) or bool(_CANCELLED.search(sentence))
        if done and len(set(ids)) > 1:
            return self._read_several(sentence, entry_id, origin)
        if done and not _REOPENED.search(sentence):
            self._close_named(sentence, "said done", entry_id)
            return []
        names_only = ids and not marked and origin == ASSISTANT and not _is_told(sentence)
        if (ids or marked) and not names_only and not sentence.rstrip().endswith("?"):
            return self._open_task(sentence, entry_id, origin)
        return []

    def _read_several(self, sentence: str, entry_id: str | None, origin: str) -> list[str]:
        """Several ids in one sentence that says something is done: each goes by its own part of it."""
        opened: list[str] = []
        for part in _SPLIT_IDS.split(sentence):
            for task_id in dict.fromkeys(match.lower() for match in _ID.findall(part)):
                if says_done(part) or _CANCELLED.search(part):
                    self.close(task_id, "said done", entry_id, title=_title(part))
                else:
                    opened += self._open_task(part, entry_id, origin)
        return opened

    def _open_task(self, text: str, entry_id: str | None, origin: str) -> list[str]:
        ids = list(dict.fromkeys(match.lower() for match in _ID.findall(text)))
        title = _title(text)
        again = bool(_REOPENED.search(text) or _MARKER.search(text) or _INCOMPLETE.search(text))
        opened = []
        for task_id in ids or [hash_id(title)]:
            if not ids and not content_words(title):
                continue
            if task_id in self._closed:
                if not again:
                    continue
                del self._closed[task_id]
            known = self._open.get(task_id)
            stage_now = self._stage(text) or (known.stage if known else "")
            if known:
                self._open[task_id] = known._replace(stage=stage_now, turn=self.turn)
                continue
            words = content_words(title)
            if not ids and origin == ASSISTANT and self._echoes(words):
                continue
            self._titles.add(task_id, words)
            self._open[task_id] = _Open(task_id, title, stage_now, words, entry_id, origin, self.turn)
            opened.append(task_id)
            if len(self._open) > MOST_OPEN:
                self._forget(next(iter(self._open.values())))
        return opened

    def _echoes(self, words: frozenset[str]) -> bool:
        """Whether the assistant repeats, in its own words, a task that is open: that is no second one."""
        for task in self._open.values():
            if covers(task.words, words) or (len(words) > 1 and covers(words, task.words)):
                self._open[task.task_id] = task._replace(turn=self.turn)
                return True
        return False

    def _close_named(self, text: str, how: str, entry_id: str | None, by: str = "statement") -> None:
        for task_id in dict.fromkeys(match.lower() for match in _ID.findall(text)):
            self.close(task_id, how, entry_id, by, _title(text))
        said = content_words(text)
        for task in list(self._open.values()):
            enough = min(2, len(task.words))
            if enough and len(task.words & said) >= enough:
                self.close(task.task_id, how, entry_id, by)

    def _stage(self, text: str) -> str:
        named = (match[1].lower() for pattern in _STAGES for match in pattern.finditer(text))
        return next((stage for stage in named if stage in self._stages), "")


def evidence(entry_ids: Iterable[str | None], kind: str) -> dict[str, Any]:
    """Where a statement comes from, as it is kept beside it."""
    return {"evidence": {"entry_ids": [one for one in entry_ids if one], "kind": kind}}


def _is_told(sentence: str) -> bool:
    """Whether a sentence says more of an id than a word: "Branch: task-3-new-chart" names a branch."""
    return len(content_words(_title(_ID.sub(" ", sentence)))) >= _LEAST_TOLD


def _title(text: str) -> str:
    """A task's title: the words around its id and its marker at either end; what stands inside a sentence stays."""
    bare = plain_text(_ID.sub(" ", text))
    bare = _LEADING_MARKERS.sub("", bare.strip(" :;,.-–—"))
    bare = _LOOSE_ENDS.sub("", " ".join(bare.split()))
    return shorten(bare or text, LONGEST_TITLE)


def hash_id(title: str) -> str:
    """A stable id for a task that was given none; "valve 2" and "valve 3" are two."""
    words = keywords(title)
    numbers = [one for one in _NUMBERED.findall(title.lower()) if not any(one in word for word in words)]
    normal = " ".join([*words, *numbers]) or title.lower()
    return "text-" + sha256(normal.encode("utf-8", "replace")).hexdigest()[:10]
