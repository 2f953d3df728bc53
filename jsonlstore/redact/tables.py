"""Secrets that a column head announces: CSV, TSV, and tables in Markdown.

A head is a line of short names, one of which announces a secret; its rows are the lines below with as many cells.
Rows are read once, whatever heads they hold themselves, so a text takes linear time.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact.budget import CELLS, COLUMN, HIT, JUDGED, ROW, price_of
from jsonlstore.redact.looks import is_placeholder, looks_secret, tells
from jsonlstore.redact.names import Key, classify

if TYPE_CHECKING:
    from collections.abc import Iterator

_CELL_BEGINS = re.compile(rb"(?:[,;|\t\n]|\xe2[\x94\x95][\x80-\xbf]|\\+[tn]|\A)[ \t]*\\*[\"'`*]{0,2}[\w.-]{0,40}\Z")
_CELL_ENDS = re.compile(rb"[\w.-]{0,60}\\*[\"'`*]{0,2}[ \t]*(?:[,;|\t\r\n]|\\+[tnr]|\Z|\xe2\x94\x82|\xe2\x95\x91)")

_LINE_END = re.compile(rb"\r?\n|(?:\\+r)?\\+n|\Z")
_DELIMITER = re.compile(rb"\\+t|[|\t;,]|\xe2\x94\x82|\xe2\x95\x91")
_CELL_OPENS, _QUOTE = re.compile(rb"[ \t]*+\\*+[\"'`*]{0,2}+"), re.compile(rb"[\"'`]")
_CLOSES = (b'"', b"'", b"`", b"*")
_COLUMN = re.compile(r"[\w .()/-]{0,40}\Z")
# a line between head and rows: Markdown, psql, boxes
_RULED = re.compile(rb"(?=[+=:| \t]*+-)[-+=:| \t]++\Z|(?=[ \t|]*+\xe2)(?:[ \t|]|\xe2[\x94\x95][\x80-\xbf])++\Z")
_RULE = re.compile(rb"[-:=| \t]+\Z")
_LONGEST_LINE = 4096
_BYTES_READ = 64  # bytes a step of a line that is looked at


def may_begin(data: bytes, at: int) -> bool:
    """Whether the telling word at `at` is all of a cell's name."""
    return (
        _CELL_ENDS.match(data, at, at + 80) is not None and _CELL_BEGINS.search(data[max(0, at - 48) : at]) is not None
    )


def columns(data: bytes, at: int, most: int) -> tuple[int, list[tuple[int, int]], int]:
    """Where to go on, the cells to hide below the head with a telling name at `at`, and the steps it took, or `most`."""
    start, end = _line_around(data, at)
    line = data[start:end]
    steps = JUDGED + len(line) // _BYTES_READ
    found = _DELIMITER.search(data, max(start, at), end) or _last_delimiter(data, start, min(at, end))
    if not found or len(line) >= _LONGEST_LINE:
        return max(end, at + 1), [], steps
    delimiter = found.group()
    if delimiter[-1:] in b"|\x82\x91" and delimiter in _line_above(data, start):
        return max(end, at + 1), [], steps  # a row of a table, not its head
    if _CODE.search(line) or (delimiter == b"|" and not _framed(data, line, end)):
        return max(end, at + 1), [], steps  # a call's arguments, or a union of types
    heads = [_cell(line, *cell) for cell in _cells(line, delimiter)]
    steps += COLUMN * len(heads)
    names = [line[first:last].decode("utf-8", "replace") for first, last in heads]
    full = all(names) and (delimiter != b"\t" or min(map(len, names)) > 1)
    levels = _levels(names) if delimiter[-1:] in b"|\x82\x91" or full else []
    if not any(levels):
        return max(end, at + 1), [], steps
    spans: list[tuple[int, int]] = []
    while steps < most:
        steps += ROW
        row = _LINE_END.match(data, end)
        if not row or row.end() >= len(data):
            break
        start, end = row.end(), _line_end(data, row.end())
        if _RULED.match(data[start:end]):
            continue
        cells = list(_cells(data[start:end], delimiter))
        steps += len(cells) // CELLS + _price(cells, levels)
        if delimiter == b"," and _CALL.search(data[start:end]):
            break
        if len(cells) != len(levels):
            break
        spans += _hidden(data, start, [_cell(data[start:end], *cell) for cell in cells], levels)
    return max(start, at + 1), spans, steps


def _last_delimiter(data: bytes, start: int, end: int) -> re.Match[bytes] | None:
    last = deque(_DELIMITER.finditer(data, start, end), maxlen=1)
    return last[0] if last else None


def _price(cells: list[tuple[int, int]], levels: list[Key]) -> int:
    """What it takes to judge the cells of a row that stand below a telling name."""
    if len(cells) != len(levels):
        return 0
    return sum(price_of(last - first) for (first, last), level in zip(cells, levels, strict=True) if level)


# a call or a statement, of which the arguments are no columns
_CODE = re.compile(
    rb"\|\|| // |[\w\]]\([^()]*\Z|\A[^()]*\)|\A[ \t]*(?:return|import|from|def|if|for|yield|assert|raise|let|const|var) "
)


_CALL = re.compile(rb"\w\([^()]*,|\A[ \t]*\)")


def _framed(data: bytes, line: bytes, end: int) -> bool:
    """Whether a line of cells is ruled off below, or has a bar at both ends or at neither: `| A` alone is a type."""
    bare = line.strip()
    if bare.startswith(b"|") == bare.endswith(b"|"):
        return True
    row = _LINE_END.match(data, end)
    return row is not None and _RULED.match(data[row.end() : _line_end(data, row.end())]) is not None


_INSERTED = re.compile(rb"(?i)[^()\n]{0,400}\)\s*values\s*(?=\()")
_ROWS = 64


def inserted(data: bytes, at: int) -> tuple[list[tuple[int, int]], int]:
    """The values to hide in `INSERT INTO users (name, password) VALUES ('bob', …)`, the telling name at `at`; the steps."""
    head = _INSERTED.match(data, at, at + 480)
    opened = data.rfind(b"(", max(0, at - 400), at)
    if not head or opened < 0:
        return [], HIT
    names = data[opened + 1 : data.index(b")", at)].split(b",")
    levels = [classify(name.decode("utf-8", "replace").strip(" \t\r\n`\"'[]\\")) for name in names]
    levels = [level if level >= Key.HINT else Key.NONE for level in levels]
    spans: list[tuple[int, int]] = []
    end, steps = head.end(), HIT + COLUMN * len(names)
    for _ in range(_ROWS):
        row = _ROW.match(data, end, end + _LONGEST_LINE)
        if not row:
            break
        cells = list(_items(data, *row.span(1)))
        steps += ROW + (row.end() - end) // _BYTES_TAGGED + len(cells) + _price(cells, levels)
        if len(cells) == len(levels):
            spans += _hidden(data, 0, cells, levels)
        end = row.end()
    return spans, steps


def _items(data: bytes, at: int, end: int) -> Iterator[tuple[int, int]]:
    """The values of a row, one behind the other."""
    while at < end and (item := _ITEM.match(data, at, end)):
        yield item.span(1) if item[1] is not None else item.span(2)
        at = item.end()


_ROW = re.compile(rb"""\s*,?\s*\(((?:[^()"']|'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.)*+"|\([^()]*+\))*+)\)""")
_ITEM = re.compile(rb"""\s*+(?:N?'((?:[^'\\]|\\.|'')*+)'[^,'"]*+|([^,'"]++|"(?:[^"\\]|\\.)*+")\s*+)(?:,|\Z)""")


_TAGGED = re.compile(
    rb"<[tT][hH](?:[ \t][^<>]{0,120})?>\s*+(?:<[a-zA-Z]{1,8}+(?:[ \t][^<>]{0,80})?>\s*+){0,3}+[\w .-]{0,40}+\Z"
)
_TAG_ROW = re.compile(rb"(?i)<tr(?:[ \t][^<>]{0,120})?>((?:[^<]|<(?!/?tr))*+)</tr>")
_TAG_CELL = re.compile(rb"(?i)<t[hd](?:[ \t][^<>]{0,120})?>((?:[^<]|<(?!/?t[hdr]))*+)</t[hd]>")
_TAG_TEXT = re.compile(rb"(?:\s|<[^<>]{0,120}>)*+([^<>]*[^<>\s])?")
_LONGEST_ROW, _BYTES_TAGGED = 4096, 24  # bytes of a row, and bytes of it a step


def is_tagged(data: bytes, at: int) -> bool:
    """Whether the telling word at `at` stands in the head of a column, as HTML writes it."""
    return _TAGGED.search(data[max(0, at - 400) : at]) is not None


def tagged(data: bytes, at: int, most: int) -> tuple[int, list[tuple[int, int]], int]:
    """The same as `columns` for a table of HTML, the telling name at `at` in its head."""
    start = data.rfind(b"<tr", max(0, at - _LONGEST_ROW), at)
    start = start if start >= 0 else data.rfind(b"<TR", max(0, at - _LONGEST_ROW), at)
    head = _TAG_ROW.match(data, start, start + 2 * _LONGEST_ROW) if start >= 0 else None
    if not head:
        return max(at + 1, start + 2 * _LONGEST_ROW if start >= 0 else 0), [], JUDGED + 2 * _LONGEST_ROW // _BYTES_READ
    names = [data[slice(*cell)].decode("utf-8", "replace") for cell in _tag_cells(data, head)]
    levels = _levels([name if _COLUMN.match(name) else "" for name in names])
    spans: list[tuple[int, int]] = []
    end, steps = head.end(), JUDGED + len(head.group()) // _BYTES_TAGGED
    while any(levels) and steps < most and (next_row := data.find(head.group()[:3], end, end + _LONGEST_ROW)) >= 0:
        row = _TAG_ROW.match(data, next_row, next_row + _LONGEST_ROW)
        if not row:
            break
        cells = _tag_cells(data, row)
        steps += ROW + (row.end() - end) // _BYTES_TAGGED + _price(cells, levels)
        if len(cells) != len(levels):
            break
        spans += _hidden(data, 0, cells, levels)
        end = row.end()
    return end, spans, steps


def _tag_cells(data: bytes, row: re.Match[bytes]) -> list[tuple[int, int]]:
    """The texts of a row's cells, without the tags around them."""
    found = (_TAG_TEXT.match(data, *cell.span(1)) for cell in _TAG_CELL.finditer(data, *row.span(1)))
    return [text.span(1) if text and text[1] else (0, 0) for text in found]


_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)*\Z")
_CONSTANT = re.compile(r"[A-Z]+(?:_[A-Z]+)+\Z")


def _line_above(data: bytes, start: int) -> bytes:
    """The line above a row, or the one above the rule that stands between them."""
    lines = data[max(0, start - 400) : max(0, start - 1)].split(b"\n")
    ruled = len(lines) > 1 and _RULED.match(lines[-1]) is not None
    return lines[-2] if ruled else lines[-1]


def _levels(names: list[str]) -> list[Key]:
    """What each column's name says; nothing at all where these are no names but a sentence or a list."""
    plain = len(names) >= 2 and all(
        _COLUMN.match(name) and name.count(" ") <= 2 and not _NUMBER.match(name) for name in names
    )
    levels = [classify(name) if name else Key.NONE for name in names]
    return [level if level >= Key.HINT else Key.NONE for level in levels] if plain else []


def _hidden(data: bytes, start: int, cells: list[tuple[int, int]], levels: list[Key]) -> Iterator[tuple[int, int]]:
    for (first, last), level in zip(cells, levels, strict=True):
        if level is Key.NONE:
            continue
        value = data[start + first : start + last].decode("utf-8", "replace")
        if _CONSTANT.match(value) or (value.isalpha() and value.isupper() and level is not Key.PASSWORD):
            continue  # a list of names
        plain_word = level is Key.PASSWORD and len(value) >= 5 and " " not in value and not value.isdigit()
        if (tells(value) if level is not Key.HINT else looks_secret(value, chosen=True)) or (
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
    cell = line[first:last].rstrip(b" \t")
    start = _CELL_OPENS.match(cell).end()  # type: ignore[union-attr]
    inner = cell[start:]
    for _ in range(2):
        inner = inner[:-1] if inner.endswith(_CLOSES) else inner
    inner = inner.rstrip(b"\\")
    return (first, last) if _QUOTE.search(inner) else (first + start, first + start + len(inner))


def _line_around(data: bytes, at: int) -> tuple[int, int]:
    head = data[max(0, at - _LONGEST_LINE) : at]
    start = max(head.rfind(b"\n") + 1, head.rfind(b"\\n") + 2 if b"\\n" in head else 0)
    begin = at - len(head) + start
    after = _LINE_END.match(data, begin)  # the match itself may begin with the line break before its line
    begin = after.end() if after and after.end() > begin and begin >= at else begin
    return begin, _line_end(data, max(begin, at + 1))


def _line_end(data: bytes, at: int) -> int:
    limit = min(len(data), at + _LONGEST_LINE)
    ends = [end for end in (data.find(b"\n", at, limit), data.find(b"\\n", at, limit)) if end >= 0]
    if not ends:
        return limit
    end = at + len(data[at : min(ends)].rstrip(b"\r\\"))
    return end - 2 if data[end - 2 : end] == b"\\r" and end - 2 >= at else end
