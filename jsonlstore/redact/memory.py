"""A value once found is a secret wherever it stands again, with no name beside it.

`Redactor` is the redactor of one session: it remembers, in memory only, the values it has hidden, and that the last
message asked for one.
"""

# ruff: noqa: E501

from __future__ import annotations

import re
from typing import Any

from jsonlstore.redact import text as redaction
from jsonlstore.redact.looks import looks_secret
from jsonlstore.redact.rules import MARK
from jsonlstore.redact.text import is_distinctive, redact_value

_MOST = 256  # values; the oldest is forgotten first
_LONGEST = 512
_ASKS = re.compile(
    r"(?i)\b(?:pass(?:word|phrase|code)|api[ -]?key|token|secret|pin|passwort|kennwort|mot de passe|contraseña)\b[^.!\n]{0,80}\?\s*\Z"
)
_ANSWER = re.compile(r"(?i)\A\s*(?:(?:it'?s|its|it is|sure|ok|yes|here|use|try)[,: ]+)*([^\s\"'`]{5,128})[.!]?\s*\Z")


class Redactor:
    """Redacts the messages of one session in their order."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}
        self._asked = False

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
        return not self._known and not self._asked

    def heard(self, text: str) -> str:
        """The same for what somebody said, who may be answering a question for a secret."""
        answer = _ANSWER.match(text) if self._asked and len(text) < _LONGEST else None
        if answer and looks_secret(answer[1], chosen=True):
            self._learn(answer[1])
            text = text[: answer.start(1)] + MARK + text[answer.end(1) :]
        hidden = self.text(text)
        end = hidden[-200:]
        self._asked = end.rstrip().endswith("?") and _ASKS.search(end) is not None
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
        return self._asked or any(value in text for value in self._known)

    def _learn(self, value: str) -> None:
        value = value.strip().strip("\"'`,;")
        if "\n" not in value and MARK not in value and is_distinctive(value.encode("utf-8", "replace")):
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
