"""Regular expressions on RE2, which does not backtrack: every search takes linear time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeAlias

Groups: TypeAlias = "Sequence[tuple[int, int]]"
Search: TypeAlias = "Callable[[bytes, int], Groups]"
SearchWithin: TypeAlias = "Callable[[bytes, int, int], Groups]"


def any_of(patterns: Iterable[str]) -> str:
    """One pattern that matches any of `patterns`; flags set in one apply to that one only."""
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def compiled(pattern: str, *, text: bool = False, groups: bool = True) -> Any:
    """The compiled expression over bytes. With `text` the bytes are read as UTF-8, else as Latin-1.

    Without `groups` only the whole match is told, which a fast look needs no second pass for.
    """
    import re2

    options = re2.Options()
    if not text:
        # Latin-1 is three times faster, and a match is also found in invalid UTF-8
        options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 << 20
    options.log_errors = False
    options.never_capture = not groups
    return re2.compile(pattern.encode(), options)


def searcher(expression: Any) -> Search:
    """A function that searches from an offset and returns the spans of match and groups, (-1, -1) for no match."""
    within = searcher_within(expression)

    def search(data: bytes, at: int) -> Groups:
        return within(data, at, len(data))

    try:  # direct call: in short texts one more call costs as much as the search
        direct, anchor = _direct(expression)
    except AttributeError:
        return search

    def search_directly(data: bytes, at: int) -> Groups:
        return direct(anchor, data, at, len(data))  # type: ignore[no-any-return]

    return search_directly


def matcher(expression: Any) -> SearchWithin:
    """A function like `searcher_within`'s that finds only what begins at the offset."""
    groups = range(expression.groups + 1)
    none = [(-1, -1)] * (expression.groups + 1)

    def match(data: bytes, at: int, end: int) -> Groups:
        found = expression.match(data, at, end)
        return [found.span(group) for group in groups] if found else none

    try:
        import re2

        direct, anchor = expression._regexp.Match, re2._Anchor.ANCHOR_START  # noqa: SLF001
    except AttributeError:
        return match

    def match_directly(data: bytes, at: int, end: int) -> Groups:
        return direct(anchor, data, at, end)  # type: ignore[no-any-return]

    return match_directly


def searcher_within(expression: Any) -> SearchWithin:
    """A function like `searcher`'s that stops at an end offset, which anchors do not take for the end of the text."""
    groups = range(expression.groups + 1)
    none = [(-1, -1)] * (expression.groups + 1)

    def search(data: bytes, at: int, end: int) -> Groups:
        match = expression.search(data, at, end)
        return [match.span(group) for group in groups] if match else none

    try:  # direct call: the wrapper's generators and match objects cost more than a search in a short text
        direct, anchor = _direct(expression)
    except AttributeError:
        return search

    return partial(direct, anchor)


def _direct(expression: Any) -> tuple[Any, Any]:
    import re2

    return expression._regexp.Match, re2._Anchor.UNANCHORED  # noqa: SLF001
