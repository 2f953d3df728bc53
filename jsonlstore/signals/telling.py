"""Fast looks for what may open or close a task: asked of every message, so that the exact rules read few of them.

They err on the side of yes: where one says no, the exact rules find nothing either.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.core.regex import any_of, compiled, searcher
from jsonlstore.signals.language import languages, widened

if TYPE_CHECKING:
    from jsonlstore.core.regex import Search
    from jsonlstore.signals.language import Language

GIVEN_UP = r"(?:cancell?ed|killed|abandoned|obsolete|no longer needed|won't do|wontfix|dropped|abgebrochen)"
# one of these is in every text that opens a task
_OPENERS = (
    "task-", "task_", "Task-", "TASK-", "TODO", "odo:", "oDo:", "o-do:", "o-Do:", "odo :", "FIXME", "[TASK", "[task",
    "[todo", "[ ]", "[x]", "[X]", "ncomplete", "NCOMPLETE", "rogress", "ROGRESS", "nfinished", "NFINISHED",
)  # fmt: skip
# the same for one line, whatever its case; together with the words for "done" no line without one changes a task
_MARKS = r"task[-_][0-9a-f]|to-?do|fixme|\[task\]|\[[ x]\]|incomplete|in[- ]progress|unfinished"


@cache
def _teller(language: Language | None) -> Search:
    """A fast look for what may open or close a task, where `language` is spoken; it errs on the side of yes."""
    spoken = [language] if language else languages().values()
    done = [widened(phrase) for one in spoken for phrase in one.phrases("done")]
    return searcher(compiled(f"(?i){any_of([_MARKS, GIVEN_UP, *done])}", text=True, groups=False))


def may_tell(text: str, language: Language | None) -> bool:
    """Whether a text may open or close a task, where `language` is spoken."""
    return _teller(language)(_for_teller(text), 0)[0][0] >= 0


def _for_teller(text: str) -> bytes:
    return text.replace("’", "'").encode("utf-8", "replace")


def telling_lines(text: str, language: Language | None) -> frozenset[str]:
    """The lines of a text that may open or close a task; few do, so the text is looked through and not line by line."""
    search, data = _teller(language), _for_teller(text)
    lines: list[str] = []
    found: list[str] = []
    at = number = 0
    while (start := search(data, at)[0][0]) >= 0:
        lines = lines or text.split("\n")
        number += data.count(b"\n", at, start)
        found.append(lines[number])
        at = data.find(b"\n", start) + 1
        if not at:
            break
        number += 1
    return frozenset(found)


def may_open(text: str) -> bool:
    """Whether a text may open a task, whatever language it is in."""
    return _opener()(text.encode("utf-8", "replace"), 0)[0][0] >= 0


@cache
def _opener() -> Search:
    return searcher(compiled(any_of(map(re.escape, _OPENERS)), groups=False))
