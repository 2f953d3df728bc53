"""Text that is safe to show and known to fit: no control characters, measured in columns, cut with an ellipsis."""

from __future__ import annotations

import re
import unicodedata

_MOST_MARKS = 3  # stacked on one character; more would run over the lines above and below
# what terminals take for commands: whole, so that no half of one is left to read
_COMMANDS = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -~]?"
)
_SPACES = frozenset(("Zs", "Zl", "Zp"))


def plain(text: str) -> str:
    """`text` in one line that cannot move the cursor, restyle the terminal, or turn the reading order around."""
    if text.isascii() and text.isprintable():
        return text
    out: list[str] = []
    marks = 0
    for char in _COMMANDS.sub("", text):
        kind = unicodedata.category(char)
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        if char in "\n\r\t\v\f" or kind in _SPACES:
            out.append(" ")
        elif char.isprintable() and marks <= _MOST_MARKS:
            out.append(char)
    return "".join(out)


def width(text: str) -> int:
    """Columns a text takes: East Asian characters and emoji two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if char == "\ufe0f":
        return 1  # asks for the emoji form of what stands before it, which is a column wider
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut_to_width(text: str, limit: int) -> str:
    """`text` in one line of at most `limit` columns, an ellipsis where something was cut."""
    first = plain(text[: 8 * limit])  # of a text of megabytes, no more than can be shown
    text = first if width(first) > limit else plain(text)
    if width(text) <= limit:
        return text
    if limit < 1:
        return ""
    out, used = [], 0
    for char in text:
        used += _columns(char)
        if used > limit - 1:
            break
        out.append(char)
    return "".join(out).rstrip() + "…"


def pad(text: str, columns: int) -> str:
    """`text` filled up with spaces to that many columns."""
    return text + " " * (columns - width(text))


def fold_text(text: str, limit: int, indent: str = "") -> list[str]:
    """`text` in lines of at most `limit` columns, nothing cut off; continued lines begin with `indent`."""
    return [folded for line in text.split("\n") for folded in _fold_line(plain(line), limit, indent)]


def _fold_line(line: str, limit: int, indent: str) -> list[str]:
    bare = line.lstrip(" ")
    current = line[: len(line) - len(bare)]
    if width(line) <= limit:
        return [line]
    lines: list[str] = []
    begun = False
    for word in bare.split(" "):
        joined = f"{current} {word}" if begun else current + word
        if begun and width(joined) > limit:
            lines.append(current)
            joined = indent + word
        while width(joined) > limit:  # a word longer than the line
            head = _head(joined, limit)
            lines.append(head)
            joined = indent + joined[len(head) :]
        current, begun = joined, True
    return [*lines, current]


def _head(text: str, limit: int) -> str:
    used = 0
    for place, char in enumerate(text):
        used += _columns(char)
        if used > limit:
            return text[:place]
    return text
