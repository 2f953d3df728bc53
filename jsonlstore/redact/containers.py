"""Places that hold secrets whatever they are called: a Kubernetes Secret's data, a list under a plural secret's name.

Only what stands below such a head is read, line by line or pair by pair, within a bounded window.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact import rules
from jsonlstore.redact.keys import looks_typed
from jsonlstore.redact.looks import is_placeholder, looks_random, tells

if TYPE_CHECKING:
    from collections.abc import Iterator

Span = tuple[int, int, str]

_BREAK = r"(?:\r?\n|\\+n)"
_PLURAL = r"(?i:passwords|passw(?:oe|ö)rter|contraseñas|secrets|api[_-]?keys|(?:auth|access|api|bearer|refresh|device)[_-]?tokens|tokens|(?:backup|recovery|emergency|scratch)[ _-](?:codes|keys))"
_OPENS = rf"""\\*["'`]?[*]*[ \t]*(?:=>|:=|[:=])[*]*[ \t]*(?:{_BREAK}|[\[{{])"""
# RE2, over bytes
HEAD = rf"""{_PLURAL}{_OPENS}|kind\\*["']?:[ \t]*\\*["']?Secret|{_BREAK}[ \t]*\\*["']?secrets\\*["']?:[ \t]*(?:{_BREAK}|\{{)|^secrets:[ \t]*{_BREAK}"""
_HEAD = re.compile(HEAD.encode())
_LISTED = re.compile(f"(?P<name>{_PLURAL}){_OPENS}".encode())
_KIND = re.compile(rb"kind\\*[\"']?:")
_WINDOW = 1 << 14
_MOST_LINES = 400
_EDGE = re.compile(rb"(?:\r?\n|(?<!\\)\\++n)---|\A---")
_DATA = re.compile(
    rb"(?:(?P<indent>(?:^|\n|(?<!\\)\\++n)[ \t]*+)|[{,]\s*)\\*[\"']?(?:stringData|data|secrets)\\*[\"']?:[ \t]*(?:(?P<map>\{)|(?P<nl>\r?\n|\\+n))"
)
_LINE = re.compile(
    rb"(?P<indent>(?:[ \t]|\\+t)*+)(?:#[^\n]*|(?P<item>-[ \t]+)?(?:(?P<key>[\w.\"'/-]{1,80}+)[ \t]*:(?=\s|\\+n|\Z))?[ \t]*(?P<value>(?:[^\r\n\\]|\\(?!n))*+))(?:\r?\n|\\+n|\Z)"
)
_PAIR = re.compile(rb"(?<!\\)\\*+[\"'][\w.-]{1,80}\\*[\"']\s*:\s*\\*[\"']((?:[^\"'\\]|\\(?![\"']))*+)\\*[\"']")
# [section], user=$NAME: a file of settings whose values are filled in later
_REFERRED = re.compile(rb"\[[A-Za-z][\w .-]{0,40}\]\Z|[\w.-]{1,60}[ \t]*[=:][ \t]*[\"']?\$\{?[A-Za-z_]\w*\}?[\"']?\Z")
_BLOCK = re.compile(rb"[|>][+-]?[0-9]?[ \t]*\Z")


# the first byte of every match of `HEAD`
FIRST = frozenset(b"abcdekprstABCDEPRST\n\r\\")


def values(data: bytes, at: int) -> tuple[int, list[Span], int]:
    """Where to go on, what to hide in the container whose head stands at `at`, a match of `HEAD`, and how much was read."""
    if not _HEAD.match(data, at):
        return at + 1, [], 0
    listed = _LISTED.match(data, at)
    if listed and (at or not _DATA.match(data)):  # a file's first line may be the head of a map
        until, held = _items(data, listed)
        return (held[-1][1] if held else at + 1), held, until - at
    if _KIND.match(data, at, at + 16):
        low = max(0, at - _WINDOW)
        after = _EDGE.search(data, at, at + _WINDOW)
        start = max(low, data.rfind(b"\n---", low, at), data.rfind(b"\\n---", low, at))  # the nearest edge before
        end = after.start() if after else min(len(data), at + _WINDOW)
        found = _DATA.search(data, start, end)
        held = list(_below(data, found, end, everything=True)) if found else []
        return end, held, end - start  # one head a document
    found = _DATA.match(data, at, at + 160) if data[at] != ord("k") else None
    end = min(len(data), at + _WINDOW)
    held = list(_below(data, found, end, everything=False)) if found else []
    return (held[-1][1], held, held[-1][1] - at) if held else (at + 1, held, end - at if found else 0)


def _items(data: bytes, head: re.Match[bytes]) -> tuple[int, list[Span]]:
    """How far the items below a plural name were read, and those that somebody typed or a machine made."""
    at, held = head.end(), []
    read = _ITEM if data[at - 1] in b"[{" else _ITEM_LINE
    plain = head["name"].lower() == b"tokens"  # of a parser or a model, nearly always
    for _ in range(_MOST_LINES):
        item = read.match(data, at, min(len(data), at + _LONGEST_ITEM))
        if not item or item.end() == at:
            break
        at = item.end()
        value = item["value"].decode("utf-8", "replace")
        if not is_placeholder(value) and (looks_random(value) if plain else looks_typed(value)):
            held.append((*item.span("value"), "container"))
    return at, held


_ITEM = re.compile(
    rb"(?:[\s,\[({]|\\+[nrt]|(?:#|//)[^\n\\]*+(?:\n|\\+n))*+(?:(?:\\*[\"'][^\"'\\\n]{1,80}+\\*[\"']|[\w.$-]{1,80}+)[ \t]*+(?:=>|[:=])[ \t]*+)?+"
    rb"\\*+[\"'](?P<value>[^\"'\\\n]{1,200}+)\\*+[\"'](?=[\s,\])}#/\\;]|\Z)[\])}]*+"
)
_ITEM_LINE = re.compile(
    rb"(?:[ \t>]|\\+t)*+(?:(?:[-*+]|[0-9]{1,2}[.)])[ \t]+)?+(?:[\w.-]{1,60}+:[ \t]+)?+(?:\\*[\"'`])?+(?P<value>[^\s\"'`\\:]{4,200}+)(?:\\*[\"'`])?+,?[ \t]*+(?:\r?\n|\\+n|\Z)"
)
_LONGEST_ITEM = 512


def _below(data: bytes, found: re.Match[bytes], end: int, *, everything: bool) -> Iterator[Span]:
    if found["map"]:
        close = data.find(b"}", found.end(), end)
        for pair in _PAIR.finditer(data, found.end(), close if close >= 0 else end):
            if _is_value(pair[1], everything=everything):
                yield (*pair.span(1), "container")
        return
    indent = len((found["indent"] or b"").lstrip(b"\r\n\\n"))
    yield from _lines(data, found.end(), end, indent, everything=everything)


def _lines(data: bytes, at: int, end: int, indent: int, *, everything: bool) -> Iterator[Span]:  # noqa: C901 - one branch per kind of line
    block = -1
    for _ in range(_MOST_LINES):
        line = _LINE.match(data, at, end)
        if not line or at >= end:
            return
        at = line.end()
        depth = len(line["indent"])
        value = (line["value"] or b"").strip()
        if not value and not line["key"]:
            if line.end() == line.start():
                return
            continue
        if block >= 0 and depth > block:
            if not _REFERRED.match(value):
                yield line.start("indent") + depth, line.end("value"), "container"
            continue
        block = -1
        if depth < indent or (depth == indent and not line["item"]):
            return
        if _BLOCK.match(value):
            block = depth
        elif line["key"] or line["item"]:
            first = line.start("value") + len(line["value"]) - len(line["value"].lstrip())
            bare = value.strip(b"\"'")
            start = data.find(bare, first) if bare else first
            key = (line["key"] or b"").strip(b"\"'").decode("utf-8", "replace")
            if key not in _FIELDS and _is_value(bare, everything=everything and bool(key)):
                yield start, start + len(bare), "container"


def _is_value(value: bytes, *, everything: bool) -> bool:
    text = value.decode("utf-8", "replace").strip()
    if not text or is_placeholder(text):
        return False
    return everything or tells(text)


_FIELDS = rules.words("container-fields")
