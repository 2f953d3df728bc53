"""Searching with RE2: it cannot backtrack, so no text takes more than linear time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

Groups: TypeAlias = "Sequence[tuple[int, int]]"
Search: TypeAlias = "Callable[[bytes, int], Groups]"


def any_of(patterns: Iterable[str]) -> str:
    """One pattern for all of them; flags set in one hold in that one only."""
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def compiled(pattern: str, *, text: bool = False) -> Any:
    """The compiled expression, over bytes; with `text` those are UTF-8 and not whatever they may be."""
    import re2

    options = re2.Options()
    if not text:
        options.encoding = re2.Options.Encoding.LATIN1  # three times faster, and invalid UTF-8 hides nothing
    options.max_mem = 64 << 20
    options.log_errors = False
    return re2.compile(pattern.encode(), options)


def searcher(expression: Any) -> Search:
    """A search from a place on for the spans of a match and its groups, (-1, -1) for none."""
    import re2

    groups = range(expression.groups + 1)
    none = [(-1, -1)] * (expression.groups + 1)

    def search(data: bytes, at: int) -> Groups:
        match = expression.search(data, at)
        return [match.span(group) for group in groups] if match else none

    try:  # the wrapper's generators and match objects cost more than a search in a short text
        direct, anchor = expression._regexp.Match, re2._Anchor.UNANCHORED  # noqa: SLF001
    except AttributeError:
        return search

    def search_directly(data: bytes, at: int) -> Groups:
        return direct(anchor, data, at, len(data))  # type: ignore[no-any-return]

    return search_directly
