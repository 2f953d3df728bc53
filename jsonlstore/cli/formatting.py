"""Values as people read them: relative times, lines and tables that fit the terminal."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from jsonlstore.cli.console import say
from jsonlstore.cli.text import cut_to_width, fold_text, pad, plain, width
from jsonlstore.core.clock import parse_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

__all__ = [
    "ago",
    "bullets",
    "counted",
    "cut_to_width",
    "heading",
    "lasted",
    "local",
    "megabytes",
    "plain",
    "say_folded",
    "say_line",
    "say_value",
    "table",
    "terminal_width",
    "width",
]  # fmt: skip

_NARROWEST = 24
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


def counted(number: int, noun: str) -> str:
    """`1 session`, `2 sessions`, `1,000 sessions`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def megabytes(number: int) -> str:
    """`512 bytes`, `1.2 kB`, `34 MB`."""
    size = float(number)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if size >= 10 or unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return ""


def terminal_width() -> int:
    """Columns to fill; 80 where nobody knows."""
    return max(_NARROWEST, shutil.get_terminal_size((80, 24)).columns)


def say_line(text: str, **style: Any) -> None:
    """One line, cut to the terminal."""
    say(cut_to_width(text, terminal_width()), **style)


def say_folded(text: str, indent: str = "", **style: Any) -> None:
    """As many lines as it takes, each within the terminal: for what must not be cut."""
    for line in fold_text(text, terminal_width(), indent):
        say(line, **style)


def say_value(label: str, value: str, *, columns: int = 10, **style: Any) -> None:
    """A labelled line: `  label     value`."""
    say_line(f"  {pad(label, columns)}{value}", **style)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, flexible: int) -> None:
    """Aligned columns; the `flexible` one gives way when the terminal is narrow, then the last of the others go."""
    room = terminal_width()
    shown = [[plain(cell[: 4 * room]) for cell in row] for row in (headings, *rows)]
    widths = [max(width(row[i]) for row in shown) for i in range(len(headings))]
    columns = list(range(len(headings)))
    least = min(widths[flexible], 14)
    droppable = [i for i in reversed(columns[1:]) if i != flexible]
    while droppable and _taken(widths, columns, flexible) + least > room:
        columns.remove(droppable.pop(0))
    widths[flexible] = max(1, min(widths[flexible], room - _taken(widths, columns, flexible)))
    for number, row in enumerate(shown):
        line = "  ".join(pad(cut_to_width(row[i], widths[i]), widths[i]) for i in columns)
        say_line(line.rstrip(), **({"bold": True} if number == 0 else {}))


def _taken(widths: Sequence[int], columns: Sequence[int], flexible: int) -> int:
    return sum(widths[i] + 2 for i in columns if i != flexible)


def heading(text: str) -> None:
    """A section's name."""
    say_line(text, bold=True)


def bullets(items: Sequence[str], *, most: int = 10) -> None:
    """One line each, cut to the terminal; the first `most` of them."""
    for item in items[:most]:
        say_line(f"  - {item}")
    if len(items) > most:
        say_line(f"    … and {len(items) - most:,} more (--json shows all)", dim=True)
