"""No expression that reads transcripts backtracks its way through a hostile word.

Values and names are judged by expressions on windows of a few hundred bytes. What takes the square of such a window is
harmless; what takes its cube stops everything. So each expression is tried on words made to be ambiguous for it, and
its price compared with that of a search known to take the square.
"""

# ruff: noqa: E501

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import time
from typing import TYPE_CHECKING, TypeAlias

import pytest

from jsonlstore import redact, signals

if TYPE_CHECKING:
    from types import ModuleType

_WINDOW = 500  # characters; values are judged up to 512
_MATCHED, _SEARCHED = 30, 80  # times a search that takes the square: at most; the cube takes 170
_UNITS = (
    "a", "A", "1", "_", "-", ".", " ", "Ab", "aB", "aK1_", "AKIA", "a1", "a_", "a.", "a-", "a ", "A ", "Ab ", "a,", "a:", "1:", "a/", "/", "'",
    '"', "\\", "(", ")", "(a", "[", "{", "$", "${", "%", "\t", "\n", " \n", "é", "密", "=", "a=", "*", "#", "<a>", "://", "a@", "0x", "“",
    "token", "password ", "is ",
)  # fmt: skip
_ENDS = ("!", "x\n")


Expression: TypeAlias = "re.Pattern[str] | re.Pattern[bytes]"
_SEARCHING = "search|finditer|findall|sub|split"


def _expressions() -> list[tuple[str, Expression, bool]]:
    """Name, expression, and whether its module searches with it: what only ever matches begins in one place."""
    found = []
    modules = [*_modules(redact), *_modules(signals)]
    for home in map(importlib.import_module, modules):
        source = inspect.getsource(home)
        found += [
            (f"{home.__name__}.{name}", it, re.search(rf"\b{name}\.(?:{_SEARCHING})\b", source) is not None)
            for name, it in vars(home).items()
            if isinstance(it, re.Pattern)
        ]
    return found


def _modules(room: ModuleType) -> list[str]:
    return [f"{room.__name__}.{module.name}" for module in pkgutil.iter_modules(room.__path__)]


def _seconds(expression: Expression, text: str, searched: bool) -> float:
    given = text if isinstance(expression.pattern, str) else text.encode()
    look = expression.search if searched else expression.match
    start = time.process_time()
    look(given)  # type: ignore[arg-type]
    return time.process_time() - start


def _is_slow(expression: Expression, searched: bool, square: float) -> str | None:
    """The word it is slow on; other processes make a try slow, never fast."""
    most = square * (_SEARCHED if searched else _MATCHED)
    for unit in _UNITS:
        for end in _ENDS:
            word = (unit * _WINDOW)[:_WINDOW] + end
            if all(_seconds(expression, word, searched) > most for _ in range(4)):
                return word
    return None


def _square() -> float:
    return min(_seconds(re.compile(r"[a-z]+1"), "a" * _WINDOW, searched=True) for _ in range(5))


def test_no_expression_takes_more_than_the_square_of_a_word() -> None:
    square = _square()
    slow = {name: _is_slow(expression, searched, square) for name, expression, searched in _expressions()}
    assert len(slow) > 100
    assert {name: word for name, word in slow.items() if word} == {}


@pytest.mark.parametrize("cubic", [r"[a-z]{2,}1?[a-z]+2?[a-z]*\Z(?<=x)", r"[a-z]*[a-z]*[a-z]*\d"])
def test_one_that_takes_the_cube_is_noticed(cubic: str) -> None:
    assert _is_slow(re.compile(cubic), False, _square())
