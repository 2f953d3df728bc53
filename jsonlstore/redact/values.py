"""Where a value begins and ends: quoted at any depth of escaping, bare, a list, a block, the default of a lookup.

Every look ahead is bounded, so measuring is linear in the text however often it is asked.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from jsonlstore.core import expressions as re

if TYPE_CHECKING:
    from jsonlstore.redact.budget import Steps

LONGEST = 1 << 16  # bytes of one value that are looked at
GLANCE = 512  # bytes of a bare value that decide whether it is one
SKIP = re.compile(
    rb"(?:[ \t]|\*\*|%20|</?(?:b|i|u|p|br|em|td|dd|dt|li|tt|kbd|pre|code|span|div|font|samp|small|value|string|strong)>|!!\w+[ \t]|!binary[ \t]|&\w+[ \t]|\\++\r?\n|\\\\++n)*+"
)
_NEWLINE = re.compile(
    rb"(?:(?:\r?\n|\\++(?:r\\++)?n)(?:[ \t]|\\++t|>[ ])*+){1,2}+(?:```[a-z]*+(?:\r?\n|\\++(?:r\\++)?n))?"
)
_BLOCK = re.compile(rb"[|>][+-]?[0-9]?[ \t]*(?:\r?\n|\\++n)[ \t]++")
OPEN = re.compile(
    rb"(?:[bBrRfFuUN@$]{0,2})(\\*)([\"'`])|(%22|&quot;|&#34;|%27|\\u0022|\xe2\x80\x9c|\xe2\x80\x98|\xc2\xab|\xe3\x80\x8c)"
)
_CLOSERS = {
    b"\xe2\x80\x9c": b"\xe2\x80\x9d",
    b"\xe2\x80\x98": b"\xe2\x80\x99",
    b"\xc2\xab": b"\xc2\xbb",
    b"\xe3\x80\x8c": b"\xe3\x80\x8d",
}
_MORE = re.compile(
    rb"(?:[ \t]*+(?:[+.][ \t]*+|\\++\r?\n[ \t]*+|[+.]?\r?\n[ \t]*+[+.]?[ \t]*+|\+[ \t]*+\\++n[ \t]*+))?(\\*+)([\"'])"
)
_BARE = re.compile(rb"(?:[^\s\"'`<\\\xe3]|\\++(?![\"'`nrt\s])|\\++\r?\n[ \t]*+|<(?!/)|\xe3(?!\x80[\x81\x82\x8d]))++")
_CUT = re.compile(
    rb"\)\]?[(\[]|[;,&|][ \t]*(?:[\w.-]+[ \t]*[=:]|\Z)|(?:%26)[\w.-]+(?:=|%3D)|&(?:amp|quot|lt|gt|nbsp|[lr][ds]quo|#[0-9]{2,5}|#x[0-9a-fA-F]{2,5});?|[;,]\Z|\xef\xbc\x8c|\|\|?|&&"
)
_ENDS = b")]},;.:>"
_CODED_BLANK = re.compile(rb"(?:\+|%20){0,2}%22")
_CODED_CUT = re.compile(rb"(?i)%(?:2c|7d|5d|22)")  # of JSON in an address
_LINE = re.compile(rb"(?:[^\r\n\"\\]|\\++(?![nr\"]))++")
_FALLBACK = re.compile(
    rb"[\w.$\[\]()?]{1,80}[ \t]*(?:\|\||\?\?|or\b)[ \t]*(?=\\*[\"'])|[\w.]{1,60}(?:\[|\.get\(|\()\\*[\"'][\w.-]{1,60}\\*[\"'][\])][ \t]*(?:\|\||\?\?|or\b)[ \t]*(?=\\*[\"'])"
)
_LIST = re.compile(rb"[\[({][ \t\r\n]*(?=\\*[\"'])")
_ITEM_GAP = re.compile(rb"[^\"'\n\])};\\]*+")
_LINES_GAP = re.compile(rb"(?:[^\"'\n\])};\\]|\n[ \t]*+(?=\\*[\"']))*+")  # of a list over several lines
_ITEM = re.compile(rb"(\\*+)([\"'])")
_CALL = re.compile(rb"(?:\[\])?[A-Za-z_$][\w$.:>-]*[ \t]*\(")
# a type and its default; three words are a sentence: password: Use with auth='X'
_TYPED = re.compile(rb"[A-Za-z_][\w.\[\]<>?*&]*+(?: ?\| ?[\w.\[\]<>?*&]++)*+(?: [\w.*&?]++)?[ \t]*=[ \t]*(?=\\*[\"'])")


class Value(NamedTuple):
    """Where a value lies, and whether it was quoted."""

    start: int
    end: int
    quoted: bool

    def judged(self, data: bytes, budget: Steps) -> bytes:
        """What of it is looked at, and paid for: a longer one is judged by its beginning."""
        part = data[self.start : min(self.end, self.start + _JUDGED)]
        budget.weigh(len(part))
        return part


_JUDGED, _BYTES_READ = 320, 64  # bytes, and bytes a step


def measure(data: bytes, at: int, *, before: int, budget: Steps) -> list[Value]:
    """The value or values that begin at `at`, paid for by what was read; `before` is where their name began."""
    values = _measured(data, at, before)
    if values:
        budget.left -= (values[-1].end - at) // _BYTES_READ
    return values


def _measured(data: bytes, at: int, before: int) -> list[Value]:
    pos = SKIP.match(data, at).end()  # type: ignore[union-attr]
    first = data[pos : pos + 1]
    if first in _AWAY:
        block = _BLOCK.match(data, pos)
        if block:
            return _one(_block(data, block.end()))
        line = _NEWLINE.match(data, pos)
        if line:
            return _on_next_line(data, at, line.end(), before)
    if first not in _PLAIN_QUOTES and _has_quote(data, pos):
        typed = _TYPED.match(data, pos, pos + 60) or _FALLBACK.match(data, pos, pos + 160)
        if typed:
            pos = typed.end()
    opened = OPEN.match(data, pos)
    if opened:
        return _quoted(data, opened, before)
    several = _LIST.match(data, pos) or (data.find(b"(", pos, pos + 80) > 0 and _CALL.match(data, pos, pos + 80))
    if several:
        coded = several.group().endswith((b".encode(", b".decode("))
        return [] if coded else _inside(data, several.end(), lines=first == b"[")
    return _one(_bare(data, pos, before))


_ASSIGNED = re.compile(
    rb"[A-Za-z_][\w.]*[ \t]?=(?!=?\s*(?:\Z|\n))|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+=[ \t]*(?:[\r\n]|\Z)"
)  # the next setting: this one is empty
_DOTTED = re.compile(rb"\.(?!format\(|join\(|encode\(|decode\()")
_AWAY = frozenset((b"|", b">", b"\r", b"\n", b"\\"))
_PLAIN_QUOTES = frozenset((b'"', b"'", b"`"))


def _has_quote(data: bytes, pos: int) -> bool:
    return data.find(b'"', pos, pos + 160) >= 0 or data.find(b"'", pos, pos + 160) >= 0


def _on_next_line(data: bytes, at: int, pos: int, before: int) -> list[Value]:
    opened = OPEN.match(data, pos)
    if opened:
        # pretty-printed JSON, or a wrapped assignment; behind a plain `name:` it is a docstring
        wrapped = data[at - 1 : at] == b"=" or data[max(0, at - 8) : at].rstrip(b" \t:")[-1:] in (b'"', b"'")
        return _quoted(data, opened, before) if wrapped else []
    end = None if _ASSIGNED.match(data, pos, pos + 80) else _BARE.match(data, pos)
    after = data[end.end() : end.end() + 1] if end else b""
    return [Value(pos, end.end(), quoted=False)] if end and after in (b"", b"\n", b"\r", b'"', b"\\") else []


def _one(value: Value | None) -> list[Value]:
    return [value] if value and value.end > value.start else []


def _quoted(data: bytes, opened: re.Match[bytes], before: int) -> list[Value]:  # noqa: PLR0911 - one exit per form
    start = opened.end()
    if opened.group(3):
        mark = _CLOSERS.get(opened.group(3), opened.group(3))
        end = data.find(mark, start, start + _MOST_MARKED)
        return _one(Value(start, end, quoted=True)) if end > start else []
    depth, quote = len(opened.group(1)), opened.group(2)
    if (
        _is_inside(data, before, quote)
        and data[before - 1 : before] != quote
        and opened.end() - opened.start() == depth + 1
        and data[start : start + 1] in (b"", b",", b")", b" ", b"\n", b";", b"]", b"}", b"+", b"\\", b".", b"`")
        and not _DOTTED.match(data, start)
    ):
        return []  # `"…password="` ends here
    if data[before - 1 : before] == quote and data.find(quote, before, opened.start()) < 0:
        return []
    triple = quote * 3
    if data.startswith(triple, opened.end() - 1):
        end = data.find(triple, start + 2, start + LONGEST)
        if b"\n" in data[start:end] and b" " in data[start:end].strip():
            return []  # a docstring
        return _one(Value(start + 2, end if end >= 0 else min(len(data), start + LONGEST), quoted=True))
    end = _closing(data, start, depth, quote)
    if end < 0:
        return _one(to_line_end(data, start)) if data[start : start + 1].strip(b" ,;)]}:\n\r") else []
    end = _joined(data, end, depth)
    return _one(Value(start, end, quoted=True))


_MOST_MARKED = 1 << 13  # bytes between two marks other than plain quotes
_MOST_QUOTES = 512  # that are part of one text


def _closing(data: bytes, start: int, depth: int, quote: bytes) -> int:
    """The end of what a quote behind `depth` backslashes opened, or -1; a deeper quote is part of the text."""
    limit, at, step = min(len(data), start + LONGEST), start, 2 * (depth + 1)
    for _ in range(_MOST_QUOTES):
        if (at := data.find(quote, at, limit)) < 0:
            return -1
        run = at - len(data[max(start, at - 256) : at].rstrip(b"\\")) - max(start, at - 256)
        if run >= depth and (run - depth) % step == 0:
            return at - depth
        if run < depth:
            return at - run  # the text around us ends first
        at += 1
    return -1


def _joined(data: bytes, end: int, depth: int) -> int:
    """Past `"a" + "b"`, `"a"'b'` and a string continued on the next line."""
    for _ in range(64):
        after = end + depth + 1
        more = _MORE.match(data, after, after + 200)
        if not more and depth == 0 and data[after : after + 1].isalnum():
            rest = _BARE.match(data, after, after + 400)
            return rest.end() if rest else end
        if not more or len(more.group(1)) != depth or data.startswith(more.group(2) * 3, more.start(2)):
            return end  # what comes next is a docstring
        closed = _closing(data, more.end(), depth, more.group(2))
        if closed < 0 or b"\n" in data[more.end() : closed]:
            return end
        end = closed
    return end


def _inside(data: bytes, at: int, *, lines: bool) -> list[Value]:
    """The strings of a list, perhaps over several `lines`, or of a call, up to its end or the end of the line."""
    values: list[Value] = []
    gap = _LINES_GAP if lines else _ITEM_GAP
    for _ in range(64):
        skipped = gap.match(data, at, at + 200)
        at = skipped.end() if skipped else at
        opened = _ITEM.match(data, at)
        if not opened:
            break
        end = _closing(data, opened.end(), len(opened.group(1)), opened.group(2))
        if end < 0:
            break
        if not data[end + len(opened.group()) : end + len(opened.group()) + 24].lstrip().startswith((b":", b"=")):
            values.append(Value(opened.end(), end, quoted=True))
        at = end + len(opened.group())
    return [value for value in values if value.end > value.start]


def _bare(data: bytes, pos: int, before: int) -> Value | None:
    coded = data[pos - 3 : pos].upper() == b"%3A"
    blank = _CODED_BLANK.match(data, pos) if coded else None
    pos = blank.end() if blank else pos  # "name": "value" as a form sends it
    found = _BARE.match(data, pos, pos + GLANCE)
    if not found:
        return None
    end = found.end()
    run = data[pos:end]
    quote = data[end : end + 1]
    cut = _CUT.search(run) or (_CODED_CUT.search(run) if coded else None)
    if cut:
        run = run[: cut.start()]
    elif quote in (b"'", b'"') and not _is_inside(data, before, quote):
        closed = _closing(data, end + 1, 0, quote)
        goes_on = data[end + 1 : end + 2] not in (b":", b",", b"}", b")", b";", b"]", b"")
        if goes_on and 0 <= closed < end + 200 and b"\n" not in data[end:closed]:
            rest = _BARE.match(data, closed + 1, closed + 400)
            return Value(pos, rest.end() if rest else closed + 1, quoted=False)
    if len(run) < GLANCE:
        bare = run.rstrip(_ENDS if run[-1:] in _ENDS else b"\\")
        run = bare or run
    return Value(pos, pos + len(run), quoted=False)


def whole(data: bytes, start: int, end: int) -> tuple[int, int]:
    """A long value is judged by its beginning; once it is a secret, all of it goes."""
    if end - start not in (GLANCE, LONGEST):
        return start, end
    rest = (_BARE if end - start == GLANCE else _LINE).match(data, end)
    return start, rest.end() if rest else end


def to_line_end(data: bytes, pos: int, stop: bytes = b"") -> Value:
    limit = pos + LONGEST
    closing = data.find(stop, pos, limit) if stop else -1
    found = _LINE.match(data, pos, closing if closing >= 0 else limit)
    run = data[pos : found.end()].rstrip() if found else b""
    if run.endswith(b"\\"):  # a value wrapped over two lines
        rest = _BARE.match(data, pos, limit)
        run = data[pos : rest.end()].rstrip() if rest and rest.end() > pos + len(run) else run
    if run.endswith((b"'", b"`")) and run.count(run[-1:]) % 2:
        run = run[:-1]
    return Value(pos, pos + len(run), quoted=False)


def _block(data: bytes, pos: int) -> Value:
    """A YAML block: its first line, and those indented as much."""
    head = data[max(0, pos - 80) : pos]
    indent = len(head) - len(head.rstrip(b" \t"))
    end = to_line_end(data, pos).end
    for _ in range(256):
        line = re.compile(rb"(?:\r?\n|\\+n)[ \t]{%d,}" % max(indent, 1)).match(data, end)
        if not line:
            break
        end = to_line_end(data, line.end()).end
    return Value(pos, end, quoted=True)


def _is_inside(data: bytes, at: int, quote: bytes) -> bool:
    """Whether a string opened earlier on this line is still open at `at`."""
    start = max(data.rfind(b"\n", max(0, at - 400), at) + 1, at - 400, 0)
    return data.count(quote, start, at) % 2 == 1


def starts_line(data: bytes, at: int) -> bool:
    head = data[max(0, at - 80) : at]
    head = head[max(head.rfind(b"\n") + 1, head.rfind(b"\\n") + 2 if b"\\n" in head else 0) :]
    return not head.strip(b" \t-*_.>#|\"'{$") or head.split()[-1:] == [b"export"]
