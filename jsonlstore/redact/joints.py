"""Where adjacent string literals are one text: `"gh" + "p_…"`, `'AK' 'IA…'`, a token wrapped over two lines.

A secret may be cut anywhere, also inside the few letters it is known by, so shapes are looked for in the text without
the joints too. Only what stands between two characters of a value is a joint: `["a", "b"]` has none.
"""

# An expression is easier to read whole than in pieces.

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUOTE = r"(?:\\*[\"'`]|&quot;|&#3[49];|\\+u002[27])"
_GAP = r"(?:[ \t\r\n]|\\+[nrt]|\\+\r?\n)"
# what languages put between two literals, or call to append one
_OPERATOR = r"(?:\+{1,2}|\.{1,2}|&|\|\||~|<>|\^|\}\$\{|\)?\.(?:concat|append|push_str|add)\()"
_PREFIX = r"[bBfFrRuUL@$]{0,2}"  # of a literal: f"", b'', $""
_CONTINUED = r"\\\r?\n[ \t]*|\\\\\\n[ \t]*"
_VALUE = r"[A-Za-z0-9_./+=:~%|$@!-]"
_BEFORE = r"[A-Za-z0-9_./+=:~%|$@!?&-]"
_OPERATED = rf"{_QUOTE}{_GAP}*{_OPERATOR}{_GAP}*{_PREFIX}{_QUOTE}"

JOINT = rf"{_OPERATED}|{_QUOTE}(?:{_GAP}+{_PREFIX})?{_QUOTE}|{_CONTINUED}"
# a quote in the middle of a word, as shells allow it: gh"p_…"
LONE = r"[A-Za-z0-9_-](\\*[\"'])[A-Za-z0-9_-]{12}"
# some joint or other, for a first look; beside a blank or a comma (`"Bearer " + "…"`) only where an operator says so
HINT = rf"{_BEFORE}(?:{JOINT}){_VALUE}|[A-Za-z0-9 ,;#]{_OPERATED}[A-Za-z0-9_,;#-]|{LONE.replace('(', '(?:')}"

_TOKEN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+=:~%|$@!-")
_BEFORE_BYTES = _TOKEN_BYTES | frozenset(b"?&")
_OPERATED_BYTES = _BEFORE_BYTES | frozenset(b" ,;#")
_BLANK = ord(" ")
_PLAIN_GAP = b" \t\r\n\\nrtbBfFuULR@$\"'`"


def is_joint(data: bytes, start: int, end: int) -> bool:
    """Whether a match of `JOINT` stands inside a value."""
    if not 0 < start < end < len(data):
        return False
    before, after = data[start - 1], data[end]
    if before in _BEFORE_BYTES and after in _TOKEN_BYTES:
        return True
    return before in _OPERATED_BYTES and after in _OPERATED_BYTES and after != _BLANK and is_operator(data, start, end)


def is_operator(data: bytes, start: int, end: int) -> bool:
    """Whether something says that the two are one; mere neighbours may be two arguments of a command."""
    return bool(data[start:end].strip(_PLAIN_GAP))


# the second byte of every match of `HINT`
SECOND = frozenset((b'"', b"'", b"`", b"\\", b"&"))
_AROUND = 512
_RUN = re.compile(rb"[A-Za-z0-9_./+=:~%|$@!-]*")
_RUN_BYTES = bytes(sorted(_TOKEN_BYTES))


def windows(data: bytes, hints: list[int]) -> Iterator[tuple[int, int]]:
    """The parts of the text around the hints, disjoint and in order, none ending inside a value."""
    start = end = 0
    for at in hints:
        first = max(0, at - _AROUND)
        if first > end:
            if end > start:
                yield start, end
            start = max(end, len(data[end:first].rstrip(_RUN_BYTES)) + end) if first - end < 1 << 16 else first
            end = start
        if at + _AROUND > end:
            end = _RUN.match(data, min(at + _AROUND, len(data))).end()  # type: ignore[union-attr]
    if end > start:
        yield start, end
