"""Which open tasks a text could be about, asked of every message: an index of the words of their titles."""

from __future__ import annotations

from jsonlstore.core import expressions as re

LONGEST_TITLE = 200
_FEW = 32  # words that are sooner looked for than a text is taken apart
_WORDISH = re.compile(r"\w[\w.+'’-]*\w|\w")


class TitleIndex:
    """Word of a title -> the tasks it is in; kept up as tasks open and close."""

    def __init__(self) -> None:
        self._tasks: dict[str, set[str]] = {}
        self._short: set[str] = set()  # tasks whose title is one word
        # words of other scripts may stand inside longer ones; by first letter, because most letters are in no text
        self._inside: dict[str, set[str]] = {}

    def add(self, task_id: str, words: frozenset[str]) -> None:
        """A task was opened."""
        if len(words) == 1:
            self._short.add(task_id)
        for word in words:
            self._tasks.setdefault(word, set()).add(task_id)
            if not word.isascii():
                self._inside.setdefault(word[0], set()).add(word)

    def remove(self, task_id: str, words: frozenset[str]) -> None:
        """A task was closed or forgotten."""
        self._short.discard(task_id)
        for word in words:
            tasks = self._tasks[word]
            tasks.discard(task_id)
            if not tasks:
                del self._tasks[word]
                if not word.isascii():
                    self._inside[word[0]].discard(word)

    def touched_by(self, text: str) -> bool:
        """Whether a text names enough of a title's words to be about it: two, or its only one."""
        if not self._tasks:
            return False
        said = text.lower()
        if len(self._tasks) <= _FEW and not any(word in said for word in self._tasks):
            return False
        named = self._tasks.keys() & set(_WORDISH.findall(said))
        if not said.isascii():
            for first in self._inside.keys() & set(said):
                named.update(word for word in self._inside[first] if word in said)
        seen: set[str] = set()
        for word in named:
            tasks = self._tasks[word]
            if not seen.isdisjoint(tasks) or not self._short.isdisjoint(tasks):
                return True
            seen |= tasks
        return False
