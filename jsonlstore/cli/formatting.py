"""What people read on a terminal: safe to show, measured in columns, cut or folded to fit; times as people say them."""

from __future__ import annotations

import os
import re
import shutil
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

from jsonlstore.cli.console import say
from jsonlstore.core.clock import parse_time
from jsonlstore.redact import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

_MOST_MARKS = 3  # stacked on one character; more would run over the lines above and below
# what terminals take for commands: whole, so that no half of one is left to read
_COMMANDS = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -~]?"
)
_SPACES = frozenset(("Zs", "Zl", "Zp"))
_NARROWEST = 24
_UNLIMITED = 1_000_000  # columns: wider than any line we print
_UNITS = (("y", 365 * 86400), ("mo", 30 * 86400), ("d", 86400), ("h", 3600), ("m", 60))
_FEW = 60 * 86400  # below this, days say more than months


def ago(text: str | None, now: datetime) -> str:
    """`3d ago`, `2h ago`, `just now`; `-` for no time."""
    if not text:
        return "-"
    try:
        seconds = (now - parse_time(text)).total_seconds()
    except ValueError:
        return plain(text)
    if seconds < -60:
        return "in the future"
    for unit, length in _UNITS:
        if seconds >= max(length, _FEW if length > 86400 else 0):
            return f"{int(seconds // length)}{unit} ago"
    return "just now"


def lasted(start: str | None, end: str | None) -> str:
    """`1h 30m`, `2d 4h`; nothing where either end is unknown."""
    try:
        minutes = int((parse_time(end or "") - parse_time(start or "")).total_seconds() // 60)
    except ValueError:
        return ""
    days, hours, rest = minutes // 1440, minutes // 60 % 24, minutes % 60
    if minutes < 0:
        return ""
    if days:
        return f"{days}d {hours}h"
    return f"{hours}h {rest}m" if hours else f"{rest}m"


def local(text: str | None) -> str:
    """A time as the wall clock showed it: `Tue 2026-11-10 14:02`; `-` for no time."""
    if not text:
        return "-"
    try:
        return f"{parse_time(text).astimezone():%a %Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return plain(text)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 session`, `2 sessions`, `1,000 sessions`, `2 memories`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def bar(number: float, most: float, columns: int = 20) -> str:
    """A number as a bar, of `columns` for the greatest; what is not nothing is at least one column."""
    return "#" * max(1, round(columns * number / most)) if number > 0 and most > 0 else ""


def megabytes(number: int) -> str:
    """`512 bytes`, `1.2 kB`, `34 MB`."""
    size = float(number)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if size >= 10 or unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return ""


def terminal_width(*, err: bool = False) -> int:
    """Columns to fill: those of the terminal, or what COLUMNS says. Output to a pipe or file is never cut or folded."""
    if not is_terminal(err=err):
        return _UNLIMITED
    return max(_NARROWEST, shutil.get_terminal_size((80, 24)).columns)


def is_terminal(*, err: bool = False) -> bool:
    """Whether stdout (or stderr) is a terminal, or is to be written as if it were one (COLUMNS is set)."""
    return bool(os.environ.get("COLUMNS")) or (sys.stderr if err else sys.stdout).isatty()


def say_line(text: str, **style: Any) -> None:
    """One line, cut to the terminal."""
    say(cut_to_width(shown(text), terminal_width()), **style)  # half a secret is no longer seen either


def say_folded(text: str, indent: str = "", *, label: str = "", **style: Any) -> None:
    """As many lines as it takes, each within the terminal and ended between words: for what must not be cut.

    A `label` is a word of ours that stands before the text and announces no secret, as `user` otherwise does.
    """
    # redacted before it is folded: over two lines a secret is no longer seen
    for line in fold_text(label + shown(text), terminal_width(err=bool(style.get("err"))), indent):
        say(line, redacted=True, **style)


def say_value(label: str, value: str, *, columns: int = 10, **style: Any) -> None:
    """A labelled value, `  label     value`, on as many lines as it takes."""
    say_folded(f"  {pad(label, columns)}{plain(value)}", indent=" " * (columns + 2), **style)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, flexible: int, whole: bool = False) -> None:
    """Aligned columns; the `flexible` one gives way when the terminal is narrow, then the last of the others go.

    With `whole` nothing is left out: its cells go on in the next line, and columns that do not fit stand below each
    other.
    """
    room = terminal_width()
    shown = [[plain(cell[: 4 * room]) for cell in row] for row in (headings, *rows)]
    widths = [max(width(row[i]) for row in shown) for i in range(len(headings))]
    columns = list(range(len(headings)))
    least = min(widths[flexible], 14)
    droppable = [i for i in reversed(columns[1:]) if i != flexible]
    while droppable and not whole and _taken(widths, columns, flexible) + least > room:
        columns.remove(droppable.pop(0))
    if whole and _taken(widths, columns, flexible) + least > room:
        _stacked(shown[1:])
        return
    widths[flexible] = max(1, min(widths[flexible], room - _taken(widths, columns, flexible)))
    for number, row in enumerate(shown):
        style = {"bold": True} if number == 0 else {}
        parts = fold_text(row[flexible], widths[flexible]) if whole else [cut_to_width(row[flexible], widths[flexible])]
        for part, text in enumerate(parts):
            cells = [text if i == flexible else "" if part else cut_to_width(row[i], widths[i]) for i in columns]
            line = "  ".join(pad(cell, widths[i]) for i, cell in zip(columns, cells, strict=True))
            say_line(line.rstrip(), **style)


def _stacked(rows: Sequence[Sequence[str]]) -> None:
    """Rows where columns do not fit: the first cell, and the others below it."""
    for first, *others in rows:
        say_folded(first)
        say_folded(f"  {'  '.join(others)}", indent="  ")


def _taken(widths: Sequence[int], columns: Sequence[int], flexible: int) -> int:
    return sum(widths[i] + 2 for i in columns if i != flexible)


DISABLED = "jsonlstore is disabled in the settings"
ENABLE_HINT = "set `enabled: true` in plugins.entries.jsonlstore.config of openclaw.json"
NO_SESSIONS_HINT = (
    "`jsonlstore backfill` reads the history there is, `jsonlstore watch` follows what comes, "
    "`jsonlstore demo` shows how it works"
)


def heading(text: str) -> None:
    """A section's name."""
    say_line(text, bold=True)


def bullets(items: Sequence[str], *, most: int | None = 10) -> None:
    """A list, each item whole; the first `most` of them."""
    for item in items[:most]:
        say_folded(f"  - {plain(item)}", indent="    ")
    if most is not None and len(items) > most:
        say_line(f"    … and {len(items) - most:,} more (--full shows all)", dim=True)


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
    return _head(text, limit - 1).rstrip() + "…" if limit >= 1 else ""


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
        # a word that fits no line, such as a sentence of Japanese, is split where the line ends
        if begun and width(joined) > limit >= width(indent + word):
            lines.append(current)
            joined = indent + word
        while width(joined) > limit:  # a word longer than the line
            head = _head(joined, limit)
            lines.append(head)
            joined = indent + joined[len(head) :]
        current, begun = joined, True
    return [*lines, current]


def _head(text: str, limit: int) -> str:
    """As much of the beginning of `text` as fits."""
    used = 0
    for place, char in enumerate(text):
        used += _columns(char)
        if used > limit:
            return text[:place]
    return text


def window_use(tokens: Mapping[str, Any]) -> str:
    """How full a model's window is; `about` where part of it is an estimate."""
    used, window = tokens["used"], tokens.get("window")
    share = f" of {window:,} ({round(100 * used / window)}%)" if window else ""
    return f"{'about ' if tokens.get('estimated') else ''}{used:,}{share} tokens"
