"""Hide secrets in text: the key stays, the value becomes `[REDACTED]`.

One pass of RE2 asks whether a secret could be in the text at all, and clean text costs that pass and nothing more. Two
more ask where: behind which prefixes (`secret_patterns`), behind which names (`secret_assignments`). RE2 cannot
backtrack, and whatever looks past a match is bounded, so no text takes more than linear time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from jsonlstore.signals import secret_assignments as named
from jsonlstore.signals.secret_blocks import private_keys, private_spans
from jsonlstore.signals.secret_patterns import SHAPES, Shape
from jsonlstore.signals.secret_values import whole
from jsonlstore.signals.secret_words import Key, classify, is_placeholder, looks_random, looks_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

JSON: TypeAlias = Any

MARK = "[REDACTED]"
_SURROGATE = re.compile("[\ud800-\udfff]")
_PASSES = 6  # hiding one value may lay bare another; more than two passes is hostile text


@dataclass(frozen=True, slots=True)
class Finding:
    """What was hidden and where it stood in the text; never the secret itself."""

    kind: str
    start: int
    end: int


Span: TypeAlias = tuple[int, int, str]
_Rule: TypeAlias = "Callable[[bytes], Iterator[Span]]"


def redact(text: str) -> tuple[str, list[Finding]]:
    """The text without its secrets, and what was found; never raises, and doing it twice changes nothing more.

    A lone surrogate, which no encoder accepts, becomes U+FFFD, so the result can always be written.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError:
        text = _SURROGATE.sub("\ufffd", text)
        data = text.encode()
    spans = _settle(data)
    if not spans:
        return text, []
    return _rebuild(text, data, spans)


def redact_text(text: str) -> str:
    """The text without its secrets."""
    return redact(text)[0]


def redact_bytes(data: bytes) -> tuple[bytes, list[Span]]:
    """The same for bytes of any encoding, with the spans as (start, end, kind) in bytes."""
    spans = _settle(data)
    return (_apply(data, spans)[0], spans) if spans else (data, [])


def redact_value(value: JSON) -> JSON:
    """The same JSON value without secrets in its strings, behind its secret-looking keys, or in its keys.

    The very same object comes back where nothing had to be hidden.
    """
    return _walk(value, Key.NONE, 0)


def _walk(value: JSON, level: Key, depth: int) -> JSON:
    if isinstance(value, str):
        return _hide_string(value, level)
    if depth > 200:  # deeper than any JSON parser of ours lets through; too deep to look into is too deep to keep
        return MARK if isinstance(value, dict | list) else value
    if isinstance(value, list):
        items = [_walk(item, level, depth + 1) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        return _walk_dict(value, level, depth)
    if isinstance(value, int) and not isinstance(value, bool) and level is Key.PASSWORD and abs(value) > 99:
        return MARK
    return value


def _walk_dict(value: dict[str, JSON], level: Key, depth: int) -> dict[str, JSON]:
    changed = False
    result: dict[str, JSON] = {}
    paired = _paired_level(value)
    for key, item in value.items():
        name, inner = _read_key(key) if isinstance(key, str) else (key, Key.NONE)
        if inner is Key.NONE and key in ("value", "Value", "val"):
            inner = paired
        if level is not Key.NONE and inner is Key.NONE:
            inner = Key.WEAK
        new = _walk(item, inner, depth + 1)
        changed = changed or new is not item or name != key
        while name in result and name != key:
            name += "_"  # two hidden keys must not swallow each other's values
        result[name] = new
    return result if changed else value


@lru_cache(maxsize=4096)
def _read_key(key: str) -> tuple[str, Key]:
    """The key without secrets in it, and what it says; documents repeat their keys, so each is read once."""
    return redact_text(key), classify(key)


def _paired_level(value: dict[str, JSON]) -> Key:
    """`{"name": "DB_PASSWORD", "value": …}`: the name sits in a value."""
    for key in ("name", "Name", "key", "Key"):
        name = value.get(key)
        if isinstance(name, str) and len(name) < 100:
            return classify(name)
    return Key.NONE


def _hide_string(value: str, level: Key) -> str:
    hide = (
        level >= Key.SECRET
        and not is_placeholder(value)
        and not (level is Key.SECRET and value.isdigit() and len(value) < 8)
    )
    if hide and value.startswith(("Bearer ", "bearer ", "Basic ", "Token ", "token ")):
        scheme, _, rest = value.partition(" ")
        return value if is_placeholder(rest) else f"{scheme} {MARK}"
    if hide or (level is Key.WEAK and looks_random(value)):
        return MARK
    new = redact_text(value)
    return value if new == value else new


def _settle(data: bytes) -> list[Span]:
    """All spans to hide, in the coordinates of `data`, such that the result has none left."""
    spans = _merge(find_spans(data))
    for _ in range(_PASSES if spans else 0):
        shown, offsets = _apply(data, spans)
        more = find_spans(shown)
        if not more:
            break
        spans = _merge([*spans, *(_back(span, offsets, spans) for span in more)])
    return spans


def _apply(data: bytes, spans: list[Span]) -> tuple[bytes, list[tuple[int, int, int, int]]]:
    """The text with the spans hidden, and where each kept piece came from: (new start, new end, old start, old end)."""
    out: list[bytes] = []
    pieces: list[tuple[int, int, int, int]] = []
    at = size = 0
    for start, end, kind in [*spans, (len(data), len(data), "private")]:
        piece = data[at:start]
        pieces.append((size, size + len(piece), at, start))
        mark = b"" if kind == "private" else MARK.encode()
        out += (piece, mark)
        size += len(piece) + len(mark)
        at = end
    return b"".join(out), pieces


def _back(span: Span, pieces: list[tuple[int, int, int, int]], spans: list[Span]) -> Span:
    """A span of the shown text in the coordinates of the original; what it touches of a mark is taken whole."""
    from bisect import bisect_right

    def original(at: int, *, last: bool) -> int:
        index = bisect_right(pieces, at if not last else at - 1, key=lambda piece: piece[0]) - 1
        new_start, new_end, old_start, _ = pieces[max(index, 0)]
        if at <= new_end:
            return old_start + (at - new_start)
        return spans[index][1] if last else spans[index][0]

    return original(span[0], last=False), original(span[1], last=True), span[2]


def _merge(spans: list[Span]) -> list[Span]:
    """Sorted, without overlap: the earliest span names the kind, the longer one where two begin together."""
    merged: list[Span] = []
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1], span[2])):
        if merged and start < merged[-1][1]:
            first, last, name = merged[-1]
            if end > last or kind == "private":
                merged[-1] = (first, max(last, end), "private" if "private" in (kind, name) else name)
        else:
            merged.append((start, end, kind))
    return merged


def _rebuild(text: str, data: bytes, spans: list[Span]) -> tuple[str, list[Finding]]:
    ascii_only = len(text) == len(data)
    findings: list[Finding] = []
    parts: list[str] = []
    byte_at = char_at = 0
    for start, end, kind in spans:
        first = start if ascii_only else char_at + _chars(data, byte_at, start)
        last = end if ascii_only else first + _chars(data, start, end)
        parts += (text[char_at:first], "" if kind == "private" else MARK)
        findings.append(Finding(kind, first, last))
        byte_at, char_at = end, last
    parts.append(text[char_at:])
    return "".join(parts), findings


def _chars(data: bytes, start: int, end: int) -> int:
    return len(data[start:end].decode("utf-8", "replace"))


def find_spans(data: bytes) -> list[Span]:
    """Byte spans to hide, unmerged, in the order of the rules."""
    return [_snap(data, span) for span in _rules().spans(data) if not _is_mark(data, span)]


def _is_mark(data: bytes, span: Span) -> bool:
    return span[2] != "private" and data.startswith(MARK.encode(), span[0])


def _snap(data: bytes, span: Span) -> Span:
    """Never cut a character in two."""
    start, end, kind = span
    while start > 0 and start < len(data) and data[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return start, end, kind


class _Rules:
    """All rules, compiled: one expression finds any shape's trigger, one any telling name.

    Not an RE2 set: a set's automaton remembers which members have matched so far, so a dozen common triggers make
    thousands of states of it, and it crawls. For the same reason everything named shares one expression: each automaton
    more costs its tables in the processor's cache.
    """

    def __init__(self) -> None:
        import re2

        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1  # bytes: three times faster, and invalid UTF-8 hides nothing
        options.max_mem = 64 << 20
        options.log_errors = False
        self._compile: Callable[[str], Any] = lambda pattern: re2.compile(pattern.encode(), options)
        self._shapes = [self._shape_rule(shape) for shape in SHAPES]
        self._triggers = [re.compile(shape.trigger.encode()) for shape in SHAPES]
        self._any_trigger = self._compile("|".join(f"(?:{shape.trigger})" for shape in SHAPES))
        self._glue = self._compile(_GLUED)
        self._names = self._compile(named.NAME)
        self._anything = self._compile("|".join(f"(?:{part})" for part in (*(s.trigger for s in SHAPES), named.NAME)))

    def spans(self, data: bytes) -> Iterator[Span]:
        """Every span of every rule, unmerged; clean text is one pass and out."""
        if not self._anything.search(data):
            return
        shapes = self._shapes_in(data)
        for shape in shapes:
            yield from shape(data)
        if shapes:
            yield from self._glued(data)
        yield from self._named(data)

    def _shapes_in(self, data: bytes) -> list[_Rule]:
        """The shapes whose triggers occur; after many hits simply all of them."""
        found: set[int] = set()
        at = 0
        for _ in range(32):
            hit = self._any_trigger.search(data, at)
            if not hit:
                return [self._shapes[index] for index in sorted(found)]
            start = hit.start()
            found.update(index for index, trigger in enumerate(self._triggers) if trigger.match(data, start))
            at = start + 1
        return self._shapes

    def _named(self, data: bytes) -> Iterator[Span]:
        blocks: set[bytes] = set()
        at = 0
        while match := self._names.search(data, at):
            start = match.start()
            blocks.add(data[start : start + 11])
            at, spans = named.judge(data, start)
            for span in spans:
                start, end = whole(data, *span)
                yield start, end, "named"
                at = max(at, end)
        if any(b"priv" in block.lower() or b"/" in block for block in blocks):
            yield from ((start, end, "private") for start, end in private_spans(data))
            yield from ((start, end, "private-key") for start, end in private_keys(data))

    def _glued(self, data: bytes) -> Iterator[Span]:
        """Shapes split over quotes or lines: looked for in the text without the glue."""
        joints = [(*match.span(1 if match.start(1) >= 0 else 2), "private") for match in self._glue.finditer(data)]
        if joints:
            shown, pieces = _apply(data, joints)
            for shape in self._shapes_in(shown):
                for span in shape(shown):
                    yield _back(span, pieces, joints)

    def _shape_rule(self, shape: Shape) -> _Rule:
        compiled = self._compile(shape.shape)
        groups = range(1, compiled.groups + 1)

        def rule(data: bytes) -> Iterator[Span]:
            for match in compiled.finditer(data):
                group = next((g for g in groups if match.start(g) >= 0), 0)
                start, end = match.span(group)
                if _fits(shape, data, start, end):
                    yield start, end, shape.kind

        return rule


def _fits(shape: Shape, data: bytes, start: int, end: int) -> bool:  # noqa: PLR0911 - one exit per condition
    if shape.near and not any(data.rfind(word, max(0, start - 2000), start) >= 0 for word in shape.near):
        return False
    if not shape.unlike:
        return True
    value = data[start:end].decode("utf-8", "replace")
    if is_placeholder(value, bare=shape.unlike != "url"):
        return False
    if shape.unlike == "plain":
        return looks_secret(value) or looks_random(value) or (len(value) > 30 and any(c.isdigit() for c in value))
    if shape.unlike == "url":
        head = value.split("/", 1)[0]
        return not ("/" in value and head.isdigit()) and value.lower() not in ("password", "pass", "pwd", "pw")
    if shape.unlike in ("ids", "option"):
        return not value.isdigit() and not value.startswith("-")
    return True


# "ghp_" + "abc", 'ghp_''abc', ghp_"abc", and a token broken by a backslash at the end of the line
_GLUED = (
    r"""[A-Za-z0-9_.-](\\*["'`][ \t]*[+.]?[ \t]*(?:\\*\r?\n[ \t]*)?[+.]?[ \t]*\\*["'`]|\\\r?\n[ \t]*|\\\\\\n[ \t]*)"""
    r"""[A-Za-z0-9_-]|[_-](\\*["'])[A-Za-z0-9]{12}"""
)


@lru_cache(maxsize=1)
def _rules() -> _Rules:
    return _Rules()
