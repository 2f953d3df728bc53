"""Words made to be slow for one expression: what leads to a repetition in it, and what is repeated, again and again.

They are read off the expression itself, so one that is new is tried where it is weak without a word about it here.
"""

from __future__ import annotations

import re
import re._constants as of
import re._parser as parser  # type: ignore[import-not-found]
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Expression: TypeAlias = "re.Pattern[str] | re.Pattern[bytes]"
_USUAL = "a1A_-. :,/=\"'\\\n\t+0bf\xe9"
_ANY = [chr(code) for code in range(32, 127)]
_REPEATS = (of.MAX_REPEAT, of.MIN_REPEAT, of.POSSESSIVE_REPEAT)  # type: ignore[attr-defined]
_MANY = 8  # times: less is no repetition that a hostile word could use
_UNITS = (
    "a",
    "A",
    "1",
    "_",
    "-",
    ".",
    " ",
    "Ab",
    "a1_",
    "a ",
    "a:",
    "/",
    "'",
    '"',
    "\\",
    "(",
    "[",
    "{",
    "\t",
    "\n",
    "é",
    "密",
)


def hostile_words(expression: Expression, size: int) -> Iterator[str]:
    """Words of about `size` characters, none of which the expression matches to its end in a straight way."""
    source = expression.pattern if isinstance(expression.pattern, str) else expression.pattern.decode("latin-1")
    flags = expression.flags if isinstance(expression.pattern, str) else expression.flags & ~re.UNICODE
    pairs: dict[tuple[str, str], None] = dict.fromkeys(("", unit) for unit in _UNITS)
    for turn in range(2):
        _repetitions(parser.parse(source, flags), "", turn, pairs)
    for before, unit in pairs:
        yield before[-size:] + (unit * (size // len(unit) + 1))[:size] + "!"


def _repetitions(parts: Any, before: str, turn: int, found: dict[tuple[str, str], None]) -> None:
    """Gather what leads to each repetition, and what it repeats."""
    for kind, of_it in parts:
        if kind in _REPEATS:
            least, most, inner = of_it
            if most >= _MANY:
                found.update(
                    dict.fromkeys((before, unit) for unit in (_sample(inner, way) for way in range(3)) if unit)
                )
            _repetitions(inner, before, turn, found)
            before += _sample(inner, turn) * max(least, 1)
            continue
        if kind is of.SUBPATTERN:
            _repetitions(of_it[3], before, turn, found)
        elif kind is of.ATOMIC_GROUP:  # type: ignore[attr-defined]
            _repetitions(of_it, before, turn, found)
        elif kind is of.BRANCH:
            for branch in of_it[1]:
                _repetitions(branch, before, turn, found)
        elif kind in (of.ASSERT, of.ASSERT_NOT):
            _repetitions(of_it[1], before, turn, found)
        before += _sample([(kind, of_it)], turn)


def _sample(parts: Any, turn: int) -> str:
    """A word that the parts match, another one each turn."""
    text = ""
    for kind, of_it in parts:
        if kind is of.LITERAL:
            text += chr(of_it)
        elif kind in (of.NOT_LITERAL, of.ANY):
            text += "a"
        elif kind is of.IN:
            good = [sign for sign in _USUAL if _is_in(of_it, sign)] or [sign for sign in _ANY if _is_in(of_it, sign)]
            text += (
                good[min(turn, len(good) - 1)]
                if good
                else chr(next((it for _, it in of_it if isinstance(it, int)), 97))
            )
        elif kind is of.SUBPATTERN:
            text += _sample(of_it[3], turn)
        elif kind is of.ATOMIC_GROUP:  # type: ignore[attr-defined]
            text += _sample(of_it, turn)
        elif kind is of.BRANCH:
            text += _sample(of_it[1][min(turn, len(of_it[1]) - 1)], turn)
        elif kind in _REPEATS:
            text += _sample(of_it[2], turn) * of_it[0]
    return text


def _is_in(members: Any, sign: str) -> bool:
    found = negated = False
    for kind, member in members:
        if kind is of.NEGATE:
            negated = True
        elif kind is of.LITERAL:
            found |= member == ord(sign)
        elif kind is of.RANGE:
            found |= member[0] <= ord(sign) <= member[1]
        elif kind is of.CATEGORY:
            found |= _is_of(str(member), sign)
    return found != negated


def _is_of(category: str, sign: str) -> bool:
    known = {"DIGIT": sign.isdigit(), "SPACE": sign.isspace(), "WORD": sign.isalnum() or sign == "_"}
    name = category.removeprefix("CATEGORY_")
    return not known[name.removeprefix("NOT_")] if name.startswith("NOT_") else known[name]
