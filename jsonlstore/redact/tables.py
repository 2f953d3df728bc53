"""Secrets that a column head announces: CSV, TSV, and tables in Markdown.

A head is a line of short names, one of which announces a secret; its rows are the lines below with as many cells.
Rows are read once, whatever heads they hold themselves, so a text takes linear time.
"""

# An expression is easier to read whole than in pieces.

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jsonlstore.redact.looks import is_placeholder, looks_secret
from jsonlstore.redact.names import PASSWORD_WORDS, SECRET_WORDS, Key, classify

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = rf"[\w.-]*(?:{PASSWORD_WORDS}|{SECRET_WORDS})[\w.-]*"
_SIDE = r"(?:[,;|\t]|\\+t)[ \t]*\\*[\"'`*]{0,2}"
_END = r"\\*[\"'`*]{0,2}[ \t]*(?:[,;|\t]|\\+t)"
# a telling name between two delimiters, or between one and the line's end; RE2, over bytes
HEAD = rf"(?i)(?:{_SIDE}{_NAME}\\*[\"'`*]{{0,2}}[ \t]*(?:[,;|\t\r\n]|\\+[tnr])|(?:\n|\\+n){_NAME}{_END}|^{_NAME}{_END})"

_LINE_END = re.compile(rb"\r?\n|(?:\\+r)?\\+n|\Z")
_DELIMITER = re.compile(rb"\\+t|[|\t;,]")
_CELL = re.compile(rb"[ \t]*\\*[\"'`*]{0,2}([^\"'`]*?)\\*[\"'`*]{0,2}[ \t]*\Z")
_COLUMN = re.compile(r"[\w .()#/-]{0,40}\Z")
_RULE = re.compile(rb"[-:=| \t]+\Z")
_LONGEST_LINE = 4096
_MOST_ROWS = 100_000


def may_begin(data: bytes, at: int) -> bool:
    """Whether a match of `HEAD` could begin at `at`."""
    return at == 0 or data[at] in b",;|\t\n\\"


def columns(data: bytes, at: int) -> tuple[int, list[tuple[int, int]]]:
    """Where to go on, and the cells to hide below the head found at `at`, a match of `HEAD`."""
    start, end = _line_around(data, at)
    line = data[start:end]
    found = _DELIMITER.search(data, max(start, at), end)
    if not found or len(line) >= _LONGEST_LINE:
        return at + 1, []
    delimiter = found.group()
    heads = [_cell(line, *cell) for cell in _cells(line, delimiter)]
    names = [line[first:last].decode("utf-8", "replace") for first, last in heads]
    levels = _levels(names) if delimiter == b"|" or all(names) else []
    if not any(levels):
        return max(end, at + 1), []
    spans: list[tuple[int, int]] = []
    for _ in range(_MOST_ROWS):
        row = _LINE_END.match(data, end)
        if not row or row.end() >= len(data):
            break
        start, end = row.end(), _line_end(data, row.end())
        cells = list(_cells(data[start:end], delimiter))
        if len(cells) != len(levels):
            break
        spans += _hidden(data, start, [_cell(data[start:end], *cell) for cell in cells], levels)
    return max(start, at + 1), spans


def _levels(names: list[str]) -> list[Key]:
    """What each column's name says; nothing at all where these are no names but a sentence or a list."""
    plain = len(names) >= 2 and all(_COLUMN.match(name) and name.count(" ") <= 2 for name in names)
    levels = [classify(name) if name else Key.NONE for name in names]
    return [level if level >= Key.HINT else Key.NONE for level in levels] if plain else []


def _hidden(data: bytes, start: int, cells: list[tuple[int, int]], levels: list[Key]) -> Iterator[tuple[int, int]]:
    for (first, last), level in zip(cells, levels, strict=True):
        if level is Key.NONE:
            continue
        value = data[start + first : start + last].decode("utf-8", "replace")
        plain_word = level is Key.PASSWORD and len(value) >= 5 and " " not in value and not value.isdigit()
        if looks_secret(value, chosen=True) or (
            plain_word and not is_placeholder(value) and not _RULE.match(value.encode())
        ):
            yield start + first, start + last


def _cells(line: bytes, delimiter: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while (cut := line.find(delimiter, at)) >= 0:
        yield at, cut
        at = cut + len(delimiter)
    yield at, len(line)


def _cell(line: bytes, first: int, last: int) -> tuple[int, int]:
    """A cell without its quotes and blanks."""
    inner = _CELL.match(line[first:last])
    return (first + inner.start(1), first + inner.end(1)) if inner else (first, last)


def _line_around(data: bytes, at: int) -> tuple[int, int]:
    head = data[max(0, at - _LONGEST_LINE) : at]
    start = max(head.rfind(b"\n") + 1, head.rfind(b"\\n") + 2 if b"\\n" in head else 0)
    begin = at - len(head) + start
    after = _LINE_END.match(data, begin)  # the match itself may begin with the line break before its line
    begin = after.end() if after and after.end() > begin and begin >= at else begin
    return begin, _line_end(data, max(begin, at + 1))


def _line_end(data: bytes, at: int) -> int:
    found = _LINE_END.search(data, at, at + _LONGEST_LINE)
    return found.start() if found else min(len(data), at + _LONGEST_LINE)
