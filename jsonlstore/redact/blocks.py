"""Secrets that span lines: private keys, and what the user marked `<private>`."""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

import re

_BEGIN = re.compile(
    rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|-{4} BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY -{4}|Private-Lines: \d+"
)
_END = re.compile(rb"-{4,5} ?END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_TRUNCATED = re.compile(
    rb"(?:[ \t]*(?:\r?\n|\\+r?\\*n|%0[aAdD]|\\+r)?[ \t]*(?:(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset):[^\r\n\\]*|[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]+={0,2}(?=[ \t]*(?:\r?\n|\\+n|[\"'`]|\Z))))*+"
)
# nothing of a key: <KEY>, or the two marks beside each other in a list of them
_NO_KEY = re.compile(
    rb"(?:\s|\\+[nr]|[\"',.:+*?()\[\]]|\xe2\x80\xa6|<[^<>]{0,40}>|[xX]{4,40}|[A-Za-z_]{1,30} ?= ?[bru]?(?=[\"'])|-{4,5} ?END[ A-Z0-9]* ?-{4,5})*+\Z"
)
_TAG = re.compile(rb"(?i)(?:<|\\u003c|&lt;)(/?)private(?:\s[^<>]{0,200}?)?(/?)(?:>|\\u003e|&gt;)")


def private_keys(data: bytes) -> list[tuple[int, int]]:
    """Every private key block, from BEGIN to END; one without an END as far as it looks like a key."""
    spans: list[tuple[int, int]] = []
    at = 0
    ends = [found.span() for found in _END.finditer(data)]
    index = 0
    while begin := _BEGIN.search(data, at):
        while index < len(ends) and ends[index][0] < begin.end():
            index += 1
        following = _BEGIN.search(data, begin.end(), begin.end() + 65536)
        stop = following.start() if following else len(data)
        if index < len(ends) and ends[index][0] <= stop and ends[index][1] - begin.end() < 65536:
            end = ends[index][1]
        else:
            end = max(begin.end(), _TRUNCATED.match(data, begin.end()).end())  # type: ignore[union-attr]
        if end > begin.end() and _holds_key(data, begin.end(), end):
            spans.append((begin.start(), end))
        at = max(end, begin.end())
    return spans


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
    closed = _CLOSED.search(data) is not None
    for tag in _TAG.finditer(data):
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


# <Private Use, First>: words, and no end
_WORDED = re.compile(rb"(?i)(?:<|\\u003c|&lt;)private\s[^=]*\Z")
_CLOSED = re.compile(rb"(?i)(?:<|\\u003c|&lt;)/private")


def _open_at(data: bytes, start: int) -> bool:
    found = _TAG.match(data, start)
    return bool(found and not found.group(1))
