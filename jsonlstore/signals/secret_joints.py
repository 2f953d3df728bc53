"""Where adjacent string literals are one text: `"gh" + "p_…"`, `'AK' 'IA…'`, a token wrapped over two lines.

A secret may be cut anywhere, also inside the few letters it is known by, so shapes are looked for in the text without
the joints too. Only what stands between two characters of a value is a joint: `["a", "b"]` has none.
"""

# An expression is easier to read whole than in pieces.

from __future__ import annotations

_QUOTE = r"(?:\\*[\"'`]|&quot;|&#3[49];|\\+u002[27])"
_GAP = r"(?:[ \t\r\n]|\\+[nrt]|\\+\r?\n)"
# what languages put between two literals, or call to append one
_OPERATOR = r"(?:\+{1,2}|\.{1,2}|&|\|\||~|<>|\^|\}\$\{|\)?\.(?:concat|append|push_str|add)\()"
_PREFIX = r"[bBfFrRuUL@$]{0,2}"  # of a literal: f"", b'', $""
_CONTINUED = r"\\\r?\n[ \t]*|\\\\\\n[ \t]*"
_VALUE = r"[A-Za-z0-9_./+=:~%|$@-]"
_BEFORE = r"[A-Za-z0-9_./+=:~%|$@?& -]"

JOINT = rf"{_QUOTE}(?:{_GAP}*{_OPERATOR}{_GAP}*{_PREFIX}|{_GAP}+{_PREFIX}|){_QUOTE}|{_CONTINUED}"
# a quote in the middle of a word, as shells allow it: gh"p_…"
LONE = r"[A-Za-z0-9_-](\\*[\"'])[A-Za-z0-9_-]{12}"
# some joint or other, for a first look
HINT = rf"{_BEFORE}(?:{JOINT}){_VALUE}|{LONE.replace('(', '(?:')}"

_TOKEN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+=:~%|$@-")
_BEFORE_BYTES = _TOKEN_BYTES | frozenset(b"?& ")
_PLAIN_GAP = b" \t\r\n\\nrt\"'`"


def is_joint(data: bytes, start: int, end: int) -> bool:
    """Whether a match of `JOINT` stands inside a value."""
    return start > 0 and end < len(data) and data[start - 1] in _BEFORE_BYTES and data[end] in _TOKEN_BYTES


def is_operator(data: bytes, start: int, end: int) -> bool:
    """Whether something says that the two are one; mere neighbours may be two arguments of a command."""
    return bool(data[start:end].strip(_PLAIN_GAP)) or end - start == 2
