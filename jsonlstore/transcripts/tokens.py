"""The use of the model's context window: the provider's last report plus an estimate of what came after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jsonlstore.transcripts.context import Context, build_context
from jsonlstore.transcripts.json_values import read_millis
from jsonlstore.transcripts.records import Entry, join_text

_PARTS = ("input", "output", "cacheRead", "cacheWrite")
_NUMBER = (int, float)
_IMAGE_CHARACTERS = 4800
_CUTS = frozenset({"compaction", "reset", "leaf"})
_MOST_FOLLOWING = 64
_MOST_TOKENS = 2**53  # a larger number from a provider, or infinity, is not a token count


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens in the window; `method` names the number's origin: usage, bpe, chars/4, or usage+ one of these."""

    used: int
    window: int | None
    estimated: int
    method: str

    @property
    def line(self) -> str | None:
        """The line shown to an agent, if the window's size is known."""
        return context_line(self.used, self.window) if self.window else None


def count_tokens(entries: Iterable[Entry], window: int | None = None, leaf: str | None = None) -> TokenCount:
    """Usage of the last good assistant message in the context plus an estimate of what follows it (decision 38)."""
    return count_context(build_context(entries, leaf), window)


def count_context(context: Context, window: int | None = None) -> TokenCount:
    """The token count of a context that is already built."""
    messages = context.messages
    reported = _reported(messages)
    compacted = _compacted_at(context.path)
    at = next((i for i in range(len(messages) - 1, -1, -1) if reported[i] and _newer(messages[i], compacted)), None)
    following = messages if at is None else messages[at + 1 :]
    estimate = sum(estimate_tokens(_visible_text(message)) for message in following)
    used = estimate if at is None else reported[at] + estimate
    method = estimator() if at is None else (f"usage+{estimator()}" if estimate else "usage")
    return TokenCount(used, window, estimate, method)


class TokenMeter:
    """The use of the window, for readers that see each entry once and keep none.

    The numbers are the same on every machine, because the estimate is always characters/4, whatever is installed. After
    a compaction, or if a provider reports nothing, there is no result until the next answer.
    """

    def __init__(self) -> None:
        self._reported = 0
        self._cut_at = 0
        self._following: list[Entry] = []

    def feed(self, entry: Entry) -> None:
        """Take in the next entry."""
        if entry.type == "message":
            if entry.role == "assistant" and (total := _good_usage(entry.message)) and self._is_fresh(entry):
                self._reported = total
                self._following.clear()
            elif self._reported:
                self._following.append(entry)
                if len(self._following) > _MOST_FOLLOWING:
                    self._reset()
        elif entry.type in _CUTS:
            self._reset()
            self._cut_at = read_millis(entry.raw.get("timestamp")) or 0

    def result(self) -> tuple[int, bool] | None:
        """The tokens used, and whether part of that is an estimate; None if unknown."""
        if not self._reported:
            return None
        characters = sum(len(_visible_text(entry.message)) for entry in self._following)
        return self._reported + -(-characters // 4), characters > 0

    def _is_fresh(self, entry: Entry) -> bool:
        # a compaction keeps earlier answers, whose usage counts entries that are gone
        return not self._cut_at or (read_millis(entry.raw.get("timestamp")) or 0) > self._cut_at

    def _reset(self) -> None:
        self._reported = 0
        self._following.clear()


def estimator() -> str:
    """The name of the estimate in use: `bpe` (the `tokens` extra) or `chars/4`."""
    return "bpe" if _bpe() else "chars/4"


def estimate_tokens(text: str) -> int:
    """An estimate of the tokens in `text`; at least one."""
    if not text:
        return 0
    count = _bpe()
    return count(text) if count else -(-len(text) // 4)


def context_line(used: int, window: int) -> str:
    """`[Context: 156k/200k tokens (78%)]`"""
    return f"[Context: {_short(used)}/{_short(window)} tokens ({round(100 * used / window) if window else 0}%)]"


def usage_total(usage: Mapping[str, Any]) -> int:
    """Everything a provider counted for one answer, which is the base of the next request."""
    total = 0
    for part in _PARTS:  # every answer is asked: a generator would take longer than the additions
        value = usage.get(part)
        if (value.__class__ is int or isinstance(value, _NUMBER)) and 0 < value < _MOST_TOKENS:
            total += int(value)
    return total


@cache
def _bpe() -> Callable[[str], int] | None:
    import warnings

    try:
        with warnings.catch_warnings():
            # it loads its table through an importlib.resources call that some Python versions deprecate
            warnings.simplefilter("ignore", DeprecationWarning)
            import bpe_openai

            encode = bpe_openai.get_encoding("cl100k_base").encode_ordinary
    except ImportError:
        return None
    return lambda text: len(encode(text))


def _reported(messages: Iterable[Mapping[str, Any]]) -> list[int]:
    return [_good_usage(message) for message in messages]


def _good_usage(message: Mapping[str, Any]) -> int:
    if message.get("role") != "assistant" or message.get("stopReason") in {"error", "aborted"}:
        return 0
    usage = message.get("usage")
    return usage_total(usage) if isinstance(usage, dict) else 0


def _compacted_at(path: Sequence[Entry]) -> int:
    """The time of the last compaction; usage reported before it counts entries that are gone."""
    cut = next((entry for entry in reversed(path) if entry.type in {"compaction", "reset"}), None)
    return (read_millis(cut.raw.get("timestamp")) or 0) if cut else 0


def _newer(message: Mapping[str, Any], moment: int) -> bool:
    return not moment or (read_millis(message.get("timestamp")) or 0) > moment


def _visible_text(message: Mapping[str, Any]) -> str:
    if message.get("role") in {"compactionSummary", "branchSummary"}:
        return str(message.get("summary") or "")
    if message.get("role") == "bashExecution":
        return f"{message.get('command', '')}\n{message.get('output', '')}"
    content = message.get("content")
    parts = [join_text(content)]
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        if block.get("type") == "thinking":
            parts.append(str(block.get("thinking") or ""))
        elif block.get("type") == "toolCall":
            parts.append(f"{block.get('name')} {_shown(block.get('arguments'))}")
        elif block.get("type") == "image":
            parts.append("~" * _IMAGE_CHARACTERS)
    return "\n".join(part for part in parts if part)


def _shown(arguments: object) -> str:
    try:
        return str(arguments)
    except RecursionError:  # nested too deeply for Python's `repr`
        return ""


def _short(tokens: int) -> str:
    return f"{round(tokens / 1000)}k" if tokens >= 1000 else str(tokens)
