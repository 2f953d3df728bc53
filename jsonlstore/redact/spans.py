"""Spans of bytes to hide: what takes their place, and where a place in the shown text stands in the original."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeAlias

MARK = b"[REDACTED]"
UNREAD = b"[UNREAD]"
Span: TypeAlias = tuple[int, int, str]


def mark_of(kind: str) -> bytes:
    """What stands in the place of a span."""
    return b"" if kind == "private" else UNREAD if kind == "unread" else MARK


def hide(data: bytes, spans: Sequence[Span]) -> tuple[bytes, list[tuple[int, int, int, int]]]:
    """The text with the spans hidden, and where each kept piece came from: (new start, new end, old start, old end).

    A kind that begins with `=` is what takes the span's place: so a text is read without its disguise.
    """
    out: list[bytes] = []
    pieces: list[tuple[int, int, int, int]] = []
    at = size = 0
    for start, end, kind in [*spans, (len(data), len(data), "private")]:
        piece = data[at:start]
        pieces.append((size, size + len(piece), at, start))
        mark = kind[1:].encode() if kind[:1] == "=" else mark_of(kind)
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
