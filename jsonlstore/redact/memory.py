"""A value once found is a secret wherever it stands again, with no name beside it.

`Redactor` is the redactor of one session: it remembers, in memory only, the values it has hidden, and that the last
message asked for one.
"""

from __future__ import annotations

from typing import Any

from jsonlstore.redact import text as redaction
from jsonlstore.redact.questions import Asked, asked_for, told_in
from jsonlstore.redact.rules import MARK
from jsonlstore.redact.text import is_distinctive, redact_value

_MOST = 256  # values; the oldest is forgotten first
_LEAST, _LONGEST = 8, 512  # characters of one


class Redactor:
    """Redacts the messages of one session in their order."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}
        self._asked: Asked | None = None

    def text(self, text: str) -> str:
        """A message without its secrets, and without those of the messages before it."""
        return self.again(self.overhear(text))

    def overhear(self, text: str) -> str:
        """The same without those of the messages before: what nobody keeps, such as a command, is learnt from too."""
        hidden, found = redaction.redact(text)
        for finding in found:
            if finding.kind not in ("private", "private-key", "unread"):
                self._learn(text[finding.start : finding.end])
        return hidden

    @property
    def is_new(self) -> bool:
        """Whether it does nothing that a new one would not."""
        return not self._known and self._asked is None

    def heard(self, text: str) -> str:
        """The same for what somebody said, who may be answering a question for a secret."""
        if self._asked:
            for start, end in reversed(told_in(text, self._asked)):
                self._learn(text[start:end], certain=True)
                text = text[:start] + MARK + text[end:]
        hidden = self.text(text)
        self._asked = asked_for(hidden)
        return hidden

    def value(self, value: Any) -> Any:
        """A JSON value without secrets, its own and those known."""
        return self._walk(redact_value(value))

    def again(self, text: str) -> str:
        """A text without the values that are known."""
        for value in self._known:
            if value in text:
                text = text.replace(value, MARK)
        return text

    def knows(self, text: str) -> bool:
        """Whether a known value stands in a text, or the next one may be an answer."""
        return self._asked is not None or any(value in text for value in self._known)

    def _learn(self, value: str, *, certain: bool = False) -> None:
        """Remember a value that no ordinary text holds; of one that was asked for it is enough not to be a word."""
        value = value.strip().strip("\"'`,;")
        odd = certain and _LEAST <= len(value) <= _LONGEST and not value.isalpha() and not value.isdigit()
        if "\n" not in value and MARK not in value and (odd or is_distinctive(value.encode("utf-8", "replace"))):
            self._known.pop(value, None)
            self._known[value] = None
            while len(self._known) > _MOST:
                del self._known[next(iter(self._known))]

    def _walk(self, value: Any) -> Any:
        if not self._known:
            return value
        if isinstance(value, str):
            return self.again(value)
        if isinstance(value, list):
            return [self._walk(item) for item in value]
        if isinstance(value, dict):
            return {self.again(key) if isinstance(key, str) else key: self._walk(item) for key, item in value.items()}
        return value
