"""Where secrets lie in bytes: one pass of RE2 asks whether any could, exact work is done only where it says yes.

RE2 cannot backtrack, and whatever looks past a match is bounded, so no text takes more than linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from jsonlstore.core.regex import any_of, compiled, searcher
from jsonlstore.redact import assignments as named
from jsonlstore.redact import joints, tables
from jsonlstore.redact.blocks import private_keys, private_spans
from jsonlstore.redact.looks import is_placeholder, looks_random, looks_secret
from jsonlstore.redact.rules import Shape, shapes
from jsonlstore.redact.values import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from jsonlstore.core.regex import Search

MARK = b"[REDACTED]"
SHAPES = shapes()
Span: TypeAlias = tuple[int, int, str]
_Rule: TypeAlias = "Callable[[bytes], Iterator[Span]]"
_MOST_TRIGGERS = 32  # after so many hits simply all shapes are looked for


def may_hide(data: bytes) -> bool:
    """Whether there may be something to hide; False is certain."""
    return _finder().glance(data, 0)[0][0] >= 0


def find_spans(data: bytes) -> list[Span]:
    """Byte spans to hide, unmerged, in the order of the rules."""
    finder = _finder()
    first = finder.glance(data, 0)[0][0]
    if first < 0:
        return []
    return [_snap(data, span) for span in finder.spans(data, first) if not _is_mark(data, span)]


def hide(data: bytes, spans: Sequence[Span]) -> tuple[bytes, list[tuple[int, int, int, int]]]:
    """The text with the spans hidden, and where each kept piece came from: (new start, new end, old start, old end)."""
    out: list[bytes] = []
    pieces: list[tuple[int, int, int, int]] = []
    at = size = 0
    for start, end, kind in [*spans, (len(data), len(data), "private")]:
        piece = data[at:start]
        pieces.append((size, size + len(piece), at, start))
        mark = b"" if kind == "private" else MARK
        out += (piece, mark)
        size += len(piece) + len(mark)
        at = end
    return b"".join(out), pieces


def back(span: Span, pieces: Sequence[tuple[int, int, int, int]], spans: Sequence[Span]) -> Span:
    """A span of the shown text in the coordinates of the original; what it touches of a mark is taken whole."""

    def original(at: int, *, last: bool) -> int:
        index = bisect_right(pieces, at if not last else at - 1, key=lambda piece: piece[0]) - 1
        new_start, new_end, old_start, _ = pieces[max(index, 0)]
        if at <= new_end:
            return old_start + (at - new_start)
        return spans[index][1] if last else spans[index][0]

    return original(span[0], last=False), original(span[1], last=True), span[2]


def _is_mark(data: bytes, span: Span) -> bool:
    return span[2] != "private" and data.startswith(MARK, span[0])


def _snap(data: bytes, span: Span) -> Span:
    """Never cut a character in two."""
    start, end, kind = span
    while start > 0 and start < len(data) and data[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return start, end, kind


class _Finder:
    """All rules behind one expression: whatever may be telling is found in one pass and looked at where it stands.

    Not an RE2 set: a set's automaton remembers which members have matched so far, so a dozen common triggers make
    thousands of states of it, and it crawls. One expression rather than several: each automaton more is one more pass,
    and costs its tables in the processor's cache.
    """

    def __init__(self) -> None:
        triggers = [shape.trigger for shape in SHAPES]
        self.glance = searcher(compiled(any_of([*triggers, named.NAME, tables.HEAD, joints.HINT])))
        self._joint = searcher(compiled(f"{joints.JOINT}|{joints.LONE}"))
        self._rules = [_shape_rule(shape) for shape in SHAPES]

    def spans(self, data: bytes, first: int) -> Iterator[Span]:
        """Every span of every rule, unmerged, in text where nothing telling begins before `first`."""
        hints: list[int] = []
        yield from self._scan(data, first, hints)
        for start, end in joints.windows(data, hints):
            yield from self._joined(data, start, end)

    def _scan(self, data: bytes, at: int, hints: list[int] | None) -> Iterator[Span]:
        """What is to be hidden as the text stands; where literals may be joined goes to `hints`."""
        shapes: set[int] = set()
        asked = named_until = table_until = 0
        blocks = False
        while at >= 0:
            if asked < _MOST_TRIGGERS:
                any_of_them, each = _triggers(data[at])
                if any_of_them.match(data, at):
                    asked += 1
                    shapes.update(index for index, trigger in each if trigger.match(data, at))
            if hints is not None and data[at + 1 : at + 2] in joints.SECOND:
                hints.append(at)
            if at >= table_until and tables.may_begin(data, at):
                table_until, cells = tables.columns(data, at)
                yield from ((start, end, "column") for start, end in cells)
            if at >= named_until:
                blocks = blocks or b"private" in data[at : at + 12].lower()
                named_until, values = named.judge(data, at)
                for value in values:
                    start, end = whole(data, *value)
                    yield start, end, "named"
                    named_until = max(named_until, end)
            at = self.glance(data, at + 1)[0][0]
        if blocks:
            yield from ((start, end, "private") for start, end in private_spans(data))
            yield from ((start, end, "private-key") for start, end in private_keys(data))
        for index in range(len(SHAPES)) if asked >= _MOST_TRIGGERS else sorted(shapes):
            yield from self._rules[index](data)

    def _joined(self, data: bytes, start: int, end: int) -> Iterator[Span]:
        """What shows only in the text without the joints between its literals, in one window of it."""
        part = data[start:end]
        found, told = self._joints(part)
        for cuts, by_name in ((found, False), (told, True)):
            if cuts:
                shown, pieces = hide(part, cuts)
                for span in self._scan(shown, self.glance(shown, 0)[0][0], None):
                    if (span[2] == "named") is by_name:
                        first, last, kind = back(span, pieces, cuts)
                        yield start + first, start + last, kind

    def _joints(self, data: bytes) -> tuple[list[Span], list[Span]]:
        """All joints, and those among them that an operator makes certain."""
        found: list[Span] = []
        told: list[Span] = []
        at = 0
        while (groups := self._joint(data, at))[0][0] >= 0:
            (_, at), lone = groups
            start, end = lone if lone[0] >= 0 else groups[0]
            if lone[0] >= 0 or joints.is_joint(data, start, end):
                found.append((start, end, "private"))
                if lone[0] < 0 and joints.is_operator(data, start, end):
                    told.append((start, end, "private"))
        return found, told


_Trigger: TypeAlias = "tuple[int, re.Pattern[bytes]]"


@cache
def _triggers(byte: int) -> tuple[re.Pattern[bytes], list[_Trigger]]:
    """The triggers that may begin with a byte, all in one and one by one; compiled when first asked for."""
    some = [(index, _compiled(index)) for index, first in enumerate(_first_bytes()) if byte in first]
    return re.compile(b"|".join(one.pattern for _, one in some) or b"(?!)"), some


@cache
def _compiled(index: int) -> re.Pattern[bytes]:
    trigger = SHAPES[index].trigger
    scoped = f"(?i:{trigger[4:]})" if trigger.startswith("(?i)") else f"(?:{trigger})"
    return re.compile(scoped.encode())


@cache
def _first_bytes() -> list[Collection[int]]:
    """For each shape the bytes its trigger may begin with, so that a hit asks a few of them and not all."""
    first: list[Collection[int]] = []
    for shape in SHAPES:
        least, most = compiled(shape.trigger).possiblematchrange(8)
        either_case = least[:1].lower() == most[:1].lower()
        first.append({least[0], most[0]} if either_case else range(least[0], most[0] + 1))
    return first


def _shape_rule(shape: Shape) -> _Rule:
    search: list[Search] = []  # compiled when first needed: most shapes never are

    def rule(data: bytes) -> Iterator[Span]:
        if not search:
            search.append(searcher(compiled(shape.shape)))
        find, at = search[0], 0
        while (groups := find(data, at))[0][0] >= 0:
            start, end = next((group for group in groups[1:] if group[0] >= 0), groups[0])
            if _fits(shape, data, start, end):
                yield start, end, shape.kind
            at = max(groups[0][1], groups[0][0] + 1)

    return rule


def _fits(shape: Shape, data: bytes, start: int, end: int) -> bool:  # noqa: PLR0911 - one exit per condition
    if shape.near and not any(data.rfind(word, max(0, start - 2000), start) >= 0 for word in shape.near):
        return False
    if not shape.unlike:
        return True
    value = data[start:end].decode("utf-8", "replace")
    if is_placeholder(value, bare=shape.unlike not in ("url", "random", "chosen")):
        return False
    if shape.unlike == "plain":
        return looks_secret(value) or looks_random(value) or (len(value) > 30 and any(c.isdigit() for c in value))
    if shape.unlike == "chosen":
        return looks_secret(value, chosen=True)
    if shape.unlike == "random":
        return looks_random(value)
    if shape.unlike == "url":
        port = re.match(r"\d+[/?#]", value)
        return not port and value.lower() not in ("password", "pass", "pwd", "pw")
    if shape.unlike in ("ids", "option"):
        return not value.isdigit() and not value.startswith("-")
    return True


@cache
def _finder() -> _Finder:
    return _Finder()
