"""Shapes where their triggers stand: which may begin with a byte, their expressions, what a match must be like."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from jsonlstore.core.regex import any_of, compiled, searcher_within
from jsonlstore.redact.looks import is_key_hex, is_placeholder, is_reference, looks_random, looks_secret, tells
from jsonlstore.redact.names import PASSWORD_WORDS
from jsonlstore.redact.rules import Shape, own_rules, shapes

if TYPE_CHECKING:
    from collections.abc import Collection

    from jsonlstore.core.regex import SearchWithin

SHAPES = shapes()
_URL_WORDS = frozenset(
    ("tag", "token", "redacted", "xxxxx", "masked", "hidden", "password", "pass", "pwd", "pw", "passwd")
)
_PASSWORD_WORD = re.compile(rf"(?i:{PASSWORD_WORDS})\Z")  # user:wachtwoord@host
_Trigger: TypeAlias = "tuple[int, re.Pattern[bytes]]"


def all_triggers() -> str:
    """One expression for the triggers of all shapes."""
    return any_of([shape.trigger for shape in SHAPES])


@cache
def triggers(byte: int) -> tuple[re.Pattern[bytes], list[_Trigger]]:
    """The triggers that may begin with a byte, all in one and one by one; compiled when first asked for."""
    some = [(index, _compiled(index)) for index, first in enumerate(_first_bytes()) if byte in first]
    return re.compile(b"|".join(one.pattern for _, one in some) or b"(?!)"), some


@cache
def _compiled(index: int) -> re.Pattern[bytes]:
    if index >= len(SHAPES) - len(own_rules().shapes):
        return re.compile(b"")  # a user's: RE2 has found it and will look again, Python might never end
    trigger = SHAPES[index].trigger
    scoped = f"(?i:{trigger[4:]})" if trigger.startswith("(?i)") else f"(?:{trigger})"
    return re.compile(scoped.encode())


@cache
def _first_bytes() -> list[Collection[int]]:
    """For each shape the bytes its trigger may begin with, so that a hit asks a few of them and not all."""
    first: list[Collection[int]] = []
    for shape in SHAPES:
        bytes_: set[int] = set()
        for branch in _branches(shape.trigger):
            least, most = compiled(branch).possiblematchrange(8)
            either_case = least[:1].lower() == most[:1].lower()
            bytes_.update((least[0], most[0]) if either_case else range(least[0], most[0] + 1))
        first.append(bytes_)
    return first


def _branches(trigger: str) -> list[str]:
    """The alternatives of a trigger: what one range would hold is far more than what its ends say."""
    flag = "(?i)" if trigger.startswith("(?i)") else ""
    branches, depth = [""], 0
    for part in _PARTS.findall(trigger.removeprefix("(?i)")):
        depth += (part == "(") - (part == ")")
        if part == "|" and depth == 0:
            branches.append("")
        else:
            branches[-1] += part
    return [flag + branch for branch in branches]


_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)  # an escape, a class, a character


@cache
def search_of(index: int) -> SearchWithin:
    """A shape's own expression; most are never needed."""
    return searcher_within(compiled(SHAPES[index].shape))


def fits(shape: Shape, data: bytes, start: int, end: int) -> bool:  # noqa: C901, PLR0911, PLR0912 - one exit per condition
    if shape.near and not _is_near(shape, data, start):
        return False
    if start > _BLOB and data[start - 1] in _BASE64 and not data[start - _BLOB : start].translate(None, _BASE64):
        return False  # inside of a font, a table or another long run
    if not shape.unlike:
        return True
    value = data[start:end].decode("utf-8", "replace")
    if value.startswith(("//", "http://", "https://")):
        return False  # -u http://host: an address, no user and password
    if shape.unlike == "url":
        # `secret` is a word, but nobody writes one between a user and a host; `user:password` stands in every manual
        return not (
            is_reference(value)
            or re.match(r"\d+[/?#]", value)
            or value.lower().strip("[]()<>{}") in _URL_WORDS
            or _PASSWORD_WORD.match(value)
        )
    if is_placeholder(value, bare=shape.unlike not in ("random", "chosen")):
        return False
    if shape.unlike == "plain":
        return looks_secret(value) or looks_random(value) or (len(value) > 30 and any(c.isdigit() for c in value))
    if shape.unlike == "chosen":
        return looks_secret(value, chosen=True)
    if shape.unlike == "told":
        return tells(value)
    if shape.unlike == "hexchosen":
        return looks_secret(value, chosen=True) or is_key_hex(value)
    if shape.unlike == "mixed":
        return any(c.isdigit() for c in value[:-64])
    if shape.unlike == "random":
        return looks_random(value)
    if shape.unlike in ("ids", "option"):
        ports = value.replace(":", "").isdigit() and (":" in value or len(value) < 6)
        return not ports and not value.startswith("-")
    return True


def _is_near(shape: Shape, data: bytes, start: int) -> bool:
    """Whether the command is the one that has such an option: it stands before it in the same, perhaps wrapped line."""
    low = max(0, start - 2000)
    at = max(data.rfind(word, low, start) for word in shape.near)
    return at >= 0 and not _ENDED.search(data, at, start)


_BLOB, _BASE64 = 160, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_ENDED = re.compile(rb"(?<!\\)(?:\r?\n|\\n)")
