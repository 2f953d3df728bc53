"""Hide secrets in text: the key stays, the value becomes `[REDACTED]`.

Where the secrets lie is the business of `finder`; clean text costs one pass of RE2 there and nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from jsonlstore.core import expressions as re
from jsonlstore.redact.budget import Steps, steps_for
from jsonlstore.redact.finder import find_spans, first_hit
from jsonlstore.redact.looks import (
    is_placeholder,
    is_type,
    is_worded,
    looks_random,
    looks_secret,
    randomness,
)
from jsonlstore.redact.names import Key, classify
from jsonlstore.redact.rules import MARK
from jsonlstore.redact.spans import Span, back, hide, mark_of
from jsonlstore.redact.vendors import is_vendors_key, is_vendors_name
from jsonlstore.redact.wording import NUMBERED_TERM

JSON: TypeAlias = Any

_SURROGATE = re.compile("[\ud800-\udfff]")
_SHORT = 200  # characters; entry ids, kinds and titles, which a state repeats and every writer redacts again
_BEFORE = 1024  # bytes before a hidden value in which its mark may change what is seen
_PASSES = 6  # hiding one value may lay bare another; more than two passes is hostile text


@dataclass(frozen=True, slots=True)
class Finding:
    """What was hidden and where it stood in the text; never the secret itself."""

    kind: str
    start: int
    end: int


def redact(text: str) -> tuple[str, list[Finding]]:
    """The text without its secrets, and what was found; never raises, and doing it twice changes nothing more.

    A lone surrogate, which no encoder accepts, becomes U+FFFD, so the result can always be written.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError:
        text = _SURROGATE.sub("\ufffd", text)
        data = text.encode()
    first = first_hit(data)
    if first < 0:  # nearly every text: nothing more is worked out for it
        return text, []
    spans = _settle(data, steps_for(data), first)
    return _rebuild(text, data, spans) if spans else (text, [])


def redact_text(text: str) -> str:
    """The text without its secrets."""
    return redact(text)[0]


def redact_bytes(data: bytes, steps: int | None = None) -> tuple[bytes, list[Span]]:
    """The same for bytes of any encoding, with the spans as (start, end, kind) in bytes; `steps` is the budget."""
    first = first_hit(data)
    spans = _settle(data, steps_for(data) if steps is None else steps, first) if first >= 0 else []
    return (hide(data, spans)[0], spans) if spans else (data, [])


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
        own = inner is Key.NONE and isinstance(item, str) and is_vendors_name(name) and is_vendors_key(item)
        new = MARK if own else _walk(item, inner, depth + 1)
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
    new = _short_text(value) if len(value) <= _SHORT else redact_text(value)
    return value if new == value else new


@lru_cache(maxsize=2048)  # about the strings of one state: it is redacted when derived and again when written
def _short_text(text: str) -> str:
    return redact_text(text)


def _settle(data: bytes, steps: int, first: int) -> list[Span]:
    """All spans to hide, in the coordinates of `data`, such that the result has none left."""
    found = find_spans(data, Steps(steps), first)
    if not found:
        return found
    spans = _again(data, _merge(found))
    kinds = {span[2] for span in spans}
    if kinds == _UNREAD:
        return spans  # what was read held nothing, and nothing in it has changed
    # for all further passes: a text that needs many, or more than it may take, must not cost many times as much
    budget = Steps(steps // 4 if "unread" in kinds else steps + steps // 4)
    for _ in range(_PASSES):
        shown, pieces = hide(data, spans)
        more = find_spans(shown, budget, min(first, max(0, spans[0][0] - _BEFORE)))
        if not more:
            break
        spans = _merge([*spans, *(back(span, pieces, spans) for span in more)])
    return spans


def _again(data: bytes, spans: list[Span]) -> list[Span]:
    """The spans, and wherever else in the text one of their values stands."""
    values = {data[start:end] for start, end, kind in spans if kind not in _NOT_VALUES}
    if len(values) == len(spans) == 1 and data.count(next(iter(values))) == 1:
        return spans  # nearly always: one value, which stands there once
    places = {start for start, _, _ in spans}
    unread = (start for start, end, kind in spans if kind == "unread" and end == len(data))
    data = data[: min(unread, default=len(data))]
    more: list[Span] = []
    for value in sorted(values, key=len, reverse=True)[:_MOST_VALUES]:
        if data.count(value) < 2 or not is_distinctive(value):  # counting is cheap, judging is not
            continue
        at = data.find(value)
        while at >= 0 and len(more) < _MOST_AGAIN:
            if at not in places:
                more.append((at, at + len(value), "again"))
            at = data.find(value, at + len(value))
    return _merge([*spans, *more]) if more else spans


_UNREAD = {"unread"}
_OTHER_MARKS = ("private", "unread")
_NOT_VALUES = ("private", "private-key", "unread")
_MOST_VALUES = 64
_NOT_A_TOKEN = re.compile(
    rb"[^!-~]|[\"'`()\[\]{}<>,;\\]|\A[\w.-]+:[0-9]{1,5}\Z"
)  # quotes, brackets, blanks: a piece of text
# types-pywin32, scram-sha-256, asn1Spec: a name, whoever bears it
_NAME = re.compile(
    rb"[A-Za-z]+(?:[-_.][A-Za-z]+)+[-_.]?[0-9]{0,4}\Z|[a-z]{2,}[0-9]{0,2}(?:[A-Z][a-z]+)+\Z|[a-z]+(?:_[a-z]+[0-9]?)+\Z"
)
_COLOUR = re.compile(rb"#[0-9A-Fa-f]{6}\Z|\A(?:web3|s3|base64|i18n|k8s|ec2)[:-]?[A-Za-z]+\Z")
_NUMBERED = re.compile(rb"[a-z]+-?[0-9]\Z")
_IDENTIFIER = re.compile(
    rb"[A-Za-z]?[a-z$_]{2}[A-Za-z$_]*(?:[0-9](?:[A-Z][A-Za-z$_]*)?)?(?:\$[0-9]{1,2})?\Z|[A-Z]+(?:_[A-Z0-9]+){2,}\Z|[A-Z][A-Z0-9]{1,8}_[A-Z]*[0-9]?\Z|[a-z]+(?:-[a-z0-9]+)*=\Z"
    rb"|[A-Za-z_]+=[a-z0-9.]{1,8}\Z"
)
_MOST_AGAIN = 1000
_LEAST_RANDOM = 4.8
_NO_LETTER = re.compile(r"[^A-Za-z]")


def is_distinctive(value: bytes) -> bool:  # noqa: PLR0911 - one exit per answer
    """Whether a value is long and odd enough to be known without its name: no ordinary word, no number."""
    if not 8 <= len(value) <= 512 or _NOT_A_TOKEN.search(value) or value.startswith((b"pass@", b"password@")):
        return False
    if value.isdigit() or value.endswith(b"*"):
        return value.isdigit() and len(value) >= 12
    text = value.decode("ascii")
    if is_type(text) or "://" in text or is_worded(text) or is_placeholder(text, bare=True):
        return False
    if _COLOUR.search(value) or NUMBERED_TERM.fullmatch(text):
        return False  # web3-types, s3:GetObject
    if _NUMBERED.match(value) and randomness(text[:-1]) < _LEAST_RANDOM:
        return False  # comment2, secp256r1
    if (_NAME.match(value) or _IDENTIFIER.match(value)) and randomness(_NO_LETTER.sub("", text)) < _LEAST_RANDOM:
        return False
    return looks_secret(text, chosen=True) or randomness(text) >= _LEAST_RANDOM


def _merge(spans: list[Span]) -> list[Span]:
    """Sorted, without overlap: the earliest span names the kind, the longer one where two begin together."""
    if len(spans) == 1:
        return spans
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
        parts += (text[char_at:first], MARK if kind not in _OTHER_MARKS else mark_of(kind).decode())
        findings.append(Finding(kind, first, last))
        byte_at, char_at = end, last
    parts.append(text[char_at:])
    return "".join(parts), findings


def _chars(data: bytes, start: int, end: int) -> int:
    return len(data[start:end].decode("utf-8", "replace"))
