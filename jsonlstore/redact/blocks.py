"""Secrets that span lines: private keys, and what the user marked `<private>`."""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.core.regex import compiled, searcher_within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonlstore.core.regex import SearchWithin

# RE2 finds these in a text that holds none of them ten times as fast
_BEGIN = r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|-{4} BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY -{4}|Private-Lines: \d+"
_END = r"-{4,5} ?END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_TAG_BEGINS, _CLOSED = r"(?i)(?:<|\\u003c|&lt;)/?private", r"(?i)(?:<|\\u003c|&lt;)/private"
_TRUNCATED = re.compile(
    rb"(?:[ \t]*+(?:(?:\r?\n|\\+r?\\*n|%0[aAdD]|\\+r)[ \t]*+)?(?:(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset):[^\r\n\\]*|[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]+={0,2}(?=[ \t]*(?:\r?\n|\\+n|[\"'`]|\Z))))*+"
)
# behind the marks of a comment, a quotation or a log: lines that end in a run as long as a key's
_PREFIXED = re.compile(
    rb"[^\r\n]{0,40}+(?:\r?\n[^\r\n]{0,120}?(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,100}={0,2}[\"'`,;)+\\ \t]{0,8}(?=\r?\n|\Z))++"
)
_LAST_LINE = re.compile(rb"[A-Za-z0-9+/]{4,100}={0,2}[\"'`,;)+\\ \t]{0,8}(?=\r?\n|\Z)")
# nothing of a key: <KEY>, or the two marks beside each other in a list of them
_NO_KEY = re.compile(
    rb"(?:\s|\\+[nr]|[\"',.:+*?()\[\]]|\xe2\x80\xa6|<[^<>]{0,40}>|\[[^\[\]]{0,60}\]|[xX]{4,40}|[A-Za-z_]{1,30} ?= ?[bru]?(?=[\"'])|-{4,5} ?END[ A-Z0-9]* ?-{4,5})*+\Z"
)
_TAG = re.compile(rb"(?i)(?:<|\\u003c|&lt;)(/?)private(?:\s[^<>]{0,200}?)?(/?)(?:>|\\u003e|&gt;)")


def private_keys(data: bytes) -> list[tuple[int, int]]:
    """Every private key block, from BEGIN to END; one without an END as far as it looks like a key."""
    spans: list[tuple[int, int]] = []
    at = 0
    ends = list(_places(_END, data))
    find, size = _search(_BEGIN), len(data)
    index = 0
    while (place := find(data, at, size)[0])[0] >= 0:
        first, begin = place
        while index < len(ends) and ends[index][0] < begin:
            index += 1
        following = find(data, begin, min(size, begin + 65536))[0][0]
        stop = following if following >= 0 else size
        if index < len(ends) and ends[index][0] <= stop and ends[index][1] - begin < 65536:
            end = ends[index][1]
        else:
            end = max(_TRUNCATED.match(data, begin).end(), _prefixed(data, first, begin))  # type: ignore[union-attr]
        if end > begin and _holds_key(data, begin, end):
            spans.append((first, end))
        at = max(end, begin)
    return spans


def _prefixed(data: bytes, first: int, begin: int) -> int:
    """Where a key without an END ends whose lines have something before them; where its BEGIN ends if it has none."""
    lines = _PREFIXED.match(data, begin)
    if not lines:
        return begin
    head = data[max(0, first - 120) : first].rpartition(b"\n")[2]
    at = data.find(b"\n", lines.end(), lines.end() + 2) + 1
    last = _LAST_LINE.match(data, at + len(head)) if at and data.startswith(head, at) else None
    return last.end() if last else lines.end()


@cache
def _search(expression: str) -> SearchWithin:
    return searcher_within(compiled(expression))


def _places(expression: str, data: bytes) -> Iterator[tuple[int, int]]:
    """Every match, one behind the other."""
    find, at = _search(expression), 0
    while (found := find(data, at, len(data))[0])[0] >= 0:
        yield found
        at = found[1]


def _holds_key(data: bytes, start: int, end: int) -> bool:
    """Whether something of a key stands between the marks, and no program that looks for them."""
    if _NO_KEY.match(data, start, end):
        return False
    quoted = data.find(b'"', start, end) >= 0 or data.find(b"'", start, end) >= 0
    return not quoted or _RUN.search(data, start, end) is not None


_RUN = re.compile(rb"[A-Za-z0-9+/=]{16}")


def private_spans(data: bytes) -> list[tuple[int, int]]:
    """Every `<private>` span, tags included; nested ones belong to the outer, an open one reaches to the end."""
    spans: list[tuple[int, int]] = []
    depth = start = 0
    closed = _search(_CLOSED)(data, 0, len(data))[0][0] >= 0
    read = 0
    for first, _ in _places(_TAG_BEGINS, data):
        tag = _TAG.match(data, first) if first >= read else None
        if not tag:
            continue
        read = tag.end()
        before = data[max(0, first - 4) : first].rstrip()
        if before.endswith(b"/*") and _COMMENTED.match(data, read, read + 8):
            continue  # what is private of a structure in C
        if (not closed and _TYPED.search(data, max(0, first - 3), first)) or _FLAG.match(data, read, read + 16):
            continue  # Pointer<Private>, <Private>True</Private>
        if tag.group(2) or (_WORDED.match(tag.group()) and not closed) or data[tag.start() - 3 : tag.start()] == b"var":
            continue  # empty, or a shader's variable
        if tag.group(1):
            depth = max(0, depth - 1)
            if (
                depth == 0
                and start >= 0
                and (not spans or spans[-1][1] < tag.end())
                and start < tag.start()
                and _open_at(data, start)
            ):
                spans.append((start, tag.end()))
                start = -1
        else:
            if depth == 0:
                start = tag.start()
            depth += 1
    if depth:
        spans.append((start, len(data)))
    return spans


_TYPED = re.compile(rb"(?:[A-Za-z0-9_]|::)\Z")
_FLAG = re.compile(rb"(?i)\s*(?:true|false)\s*<")
_COMMENTED = re.compile(rb"[ \t]*\*/")
# <Private Use, First>: words, and no end
_WORDED = re.compile(rb"(?i)(?:<|\\u003c|&lt;)private\s[^=]*\Z")


def _open_at(data: bytes, start: int) -> bool:
    found = _TAG.match(data, start)
    return bool(found and not found.group(1))
