"""What leaves the program: lines for people and logs, documents for programs.

What we stored was redacted when it was written. What is shown besides comes from elsewhere: what a command was given,
the words of a transcript, the name of a file, which for a transcript is a session's id.
"""

from __future__ import annotations

from typing import Any

from jsonlstore.core import expressions as re
from jsonlstore.redact import may_hold_secret, sanitised
from jsonlstore.redact.rules import MARK

_TRANSCRIPT = ".jsonl"
_NAME = re.compile(r"[^/\\\n\"'`]{8,255}?(?=\.jsonl)")


def shown(text: str) -> str:
    """A text without secrets, and without a transcript's name that is one."""
    if _TRANSCRIPT in text:
        text = _NAME.sub(lambda name: MARK if sanitised(name[0]) != name[0] else name[0], text)
    return str(sanitised(text))


def shown_document(document: Any) -> Any:
    """A document whose texts and keys hold no secret; its own names announce none: `session_key` is one."""
    texts: list[str] = []
    _gather(document, texts)
    if not may_hold_secret("\n".join(texts)) and not any(_TRANSCRIPT in text for text in texts):
        return document
    return _walk(document)


def _gather(value: Any, texts: list[str]) -> None:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            texts.append(one)
        elif isinstance(one, dict):
            waiting += one.keys()
            waiting += one.values()
        elif isinstance(one, list | tuple):
            waiting += one


def _walk(value: Any) -> Any:
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {shown(key) if isinstance(key, str) else key: _walk(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_walk(item) for item in value]
    return value
