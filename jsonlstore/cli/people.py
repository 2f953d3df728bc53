"""Values as people read them: relative times, short texts, tables that fit the terminal."""

from __future__ import annotations

import shutil
import unicodedata
from typing import TYPE_CHECKING

import click

from jsonlstore.cli.session import say
from jsonlstore.clock import parse_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


def ago(text: str | None, now: datetime) -> str:
    """`3d ago`, `2h ago`, `just now`; `-` for no time."""
    if not text:
        return "-"
    try:
        seconds = (now - parse_time(text)).total_seconds()
    except ValueError:
        return text
    if seconds < 0:
        return "in the future"
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{int(seconds // length)}{unit} ago"
    return "just now"


def terminal_width() -> int:
    """Columns to fill; 80 where nobody knows."""
    return shutil.get_terminal_size((80, 24)).columns


def width(text: str) -> int:
    """Columns a text takes: East Asian characters take two, combining marks none."""
    total = 0
    for char in text:
        if unicodedata.combining(char):
            continue
        total += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return total


def plain(text: str) -> str:
    """A text that cannot move the cursor or restyle the terminal it is shown on."""
    return "".join(" " if char in "\n\r\t" else char for char in text if char in "\n\r\t" or char.isprintable())


def shorten(text: str, limit: int) -> str:
    """`text` in one line of at most `limit` columns."""
    text = plain(text)
    if width(text) <= limit:
        return text
    out, used = "", 0
    for char in text:
        used += width(char)
        if used > limit - 1:
            break
        out += char
    return out + "…"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, flexible: int) -> None:
    """Aligned columns; the `flexible` one gives way when the terminal is narrow."""
    room = terminal_width()
    widths = [max([width(head), *(width(plain(row[i])) for row in rows)]) for i, head in enumerate(headings)]
    fixed = sum(size + 2 for i, size in enumerate(widths) if i != flexible)
    widths[flexible] = max(8, min(widths[flexible], room - fixed))
    for number, row in enumerate([headings, *rows]):
        cells = [shorten(cell, size) for cell, size in zip(row, widths, strict=True)]
        line = "  ".join(cell + " " * (size - width(cell)) for cell, size in zip(cells, widths, strict=True))
        say(line.rstrip(), **({"bold": True} if number == 0 else {}))


def heading(text: str) -> None:
    """A section's name."""
    say(text, bold=True)


def bullets(items: Sequence[str]) -> None:
    """One line each, cut to the terminal."""
    room = terminal_width()
    for item in items:
        click.echo(f"  - {shorten(item, room - 4)}")
