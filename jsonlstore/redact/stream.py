"""Redact a stream of any length in bounded memory, without losing a secret that spans lines.

Text is gathered into blocks of lines and cut only where nothing is open: no private key, no `<private>` span, no value
that goes on in the next line. A line that is a JSON document by itself is redacted as one, so JSON lines stay JSON.
Bytes that are no UTF-8 pass through unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from jsonlstore.redact.text import redact_bytes, redact_value

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_LINE = 16 << 20  # a longer line is treated as several
_BLOCK = 1 << 18
_KEPT = 1 << 14  # of each block stays for the next, so that a secret across the cut is seen whole
_STEPS = 1 << 20  # a filter is asked to read all of its input, and nobody waits beside it
_OPEN_PRIVATE = b"<private>"
_GOES_ON = (b"\\", b",", b":", b"=", b"|", b">", b"+", b"(")


@dataclass(frozen=True, slots=True)
class LineFinding:
    """A kind of secret and the line of the input it begins in, from 1."""

    kind: str
    line: int


@dataclass(frozen=True, slots=True)
class StreamPiece:
    """A part of the output, and what was hidden in it."""

    data: bytes
    findings: list[LineFinding]


def redact_stream(source: BinaryIO) -> Iterator[StreamPiece]:
    """The redacted stream, piece by piece."""
    pending: list[bytes] = []
    size, line_number = 0, 1
    while line := source.readline(LONGEST_LINE):
        value = _json_value(line)
        if value is None or (pending and _is_open(pending)):
            pending.append(line)
            size += len(line)
            if size >= _BLOCK:
                piece, pending, line_number = _emit(b"".join(pending), line_number)
                size = sum(map(len, pending))
                yield piece
            continue
        if pending:
            yield _finish(pending, line_number)
            line_number += _count(pending)
            pending, size = [], 0
        yield _json_piece(line, value, line_number)
        line_number += 1
    if pending:
        yield _finish(pending, line_number)


def _count(lines: list[bytes]) -> int:
    return sum(line.count(b"\n") for line in lines)


def _is_open(pending: list[bytes]) -> bool:
    """Whether the text before may reach into this line."""
    text = b"".join(pending[-64:])
    _, spans = redact_bytes(text, _STEPS)
    return bool(spans) and spans[-1][1] >= len(text.rstrip()) and spans[-1][2] in ("private", "private-key")


def _json_value(line: bytes) -> Any:
    """The document that a line holds, or None: a scalar is text to us."""
    if line[:1] not in (b"{", b"["):
        return None
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _json_piece(line: bytes, value: Any, number: int) -> StreamPiece:
    hidden = redact_value(value)
    if hidden is value:
        return StreamPiece(line, [])
    ending = b"\r\n" if line.endswith(b"\r\n") else b"\n" if line.endswith(b"\n") else b""
    return StreamPiece(orjson.dumps(hidden) + ending, [LineFinding("json", number)])


def _finish(lines: list[bytes], number: int) -> StreamPiece:
    data = b"".join(lines)
    shown, spans = redact_bytes(data, _STEPS)
    return StreamPiece(shown, _locate(data, spans, number))


def _emit(data: bytes, number: int) -> tuple[StreamPiece, list[bytes], int]:
    """Redact the part of a block that later lines cannot change: (that part, what stays, the line that begins at)."""
    _, spans = redact_bytes(data, _STEPS)
    if spans and spans[-1][2] == "private" and spans[-1][1] == len(data):
        start = spans[-1][0]
        shown, before = redact_bytes(data[:start], _STEPS)
        found = _locate(data, [*before, (start, start, "private")], number)
        return StreamPiece(shown, found), [_OPEN_PRIVATE], number + data.count(b"\n")
    cut = _calm_line(data, max(0, len(data) - _KEPT))
    for start, end, _ in reversed(spans):
        if start < cut < end:
            cut = data.rfind(b"\n", 0, start) + 1
    if cut == 0 and len(data) < LONGEST_LINE:
        return StreamPiece(b"", []), [data], number
    cut = cut or len(data)
    shown, spans = redact_bytes(data[:cut], _STEPS)
    return (
        StreamPiece(shown, _locate(data, spans, number)),
        [data[cut:]] if cut < len(data) else [],
        number + data.count(b"\n", 0, cut),
    )


def _calm_line(data: bytes, before: int) -> int:
    """The start of a line near `before` that does not continue the one above it."""
    at = fallback = data.rfind(b"\n", 0, before) + 1
    for _ in range(200):
        if at <= 0:
            break
        above = data[max(0, at - 80) : at].rstrip()
        if not above.endswith(_GOES_ON) and data[at : at + 1] not in (b" ", b"\t"):
            return at
        at = data.rfind(b"\n", 0, at - 1) + 1
    return fallback


def _locate(data: bytes, spans: list[tuple[int, int, str]], number: int) -> list[LineFinding]:
    findings: list[LineFinding] = []
    at = 0
    for start, _, kind in spans:
        number += data.count(b"\n", at, start)
        at = start
        findings.append(LineFinding(kind, number))
    return findings
