"""No expression that reads transcripts backtracks its way through a hostile word.

Values, names and lines are judged by expressions on windows of a few hundred bytes. What takes the square of such a
window is dear, what takes its cube or doubles with each letter stops everything. So each expression is tried on words
made to be slow for it, and its price compared with that of a search known to take the square.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import string
import time
from importlib import resources
from itertools import product
from typing import TYPE_CHECKING

import pytest

from jsonlstore import context, handoff, recall, redact, restore, signals, transcripts
from jsonlstore.redact.triggers import SHAPES
from jsonlstore.signals.language import SMALL, languages
from tests.redact.hostile_words import hostile_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

    from tests.redact.hostile_words import Expression

_WINDOW = 250  # characters; what takes the square of them would take it of a whole value, too
_SHORT = 16
_DEAREST = 12  # times a search that takes the square: some have dozens of branches; the cube takes 80
_TRIES = 5
# these look at less than that, whoever asks them
_WINDOWS = {
    "redact.judging._KEYED": 64,
    "redact.runs._IDENTIFIED": 24,
    "redact.runs._VERSION": 24,
    "redact.tables._CELL_BEGINS": 48,
    "redact.tables._CELL_ENDS": 80,
    "signals.language._small": 80,
    "signals.language._small_kind": 80,
}
# these read what is ours: rules, phrases of languages
_OURS = {"redact.rules._GROUP", "redact.rules._CLASS", "signals.language._BRACKETS"}
_ENGLISH = json.loads(resources.files(signals).joinpath("languages", "en.json").read_text("utf-8"))
_ROOMS = (redact, signals, transcripts, handoff, recall, context, restore)
_PHRASES_DEAREST = 150  # dozens of phrases at once, read in sentences of 240 characters
_MANY_DEAREST = 40  # names and triggers: dozens of branches at once
_KINDS = [kind for kind, phrases in _ENGLISH.items() if isinstance(phrases, list) and kind != "words"]
_SEARCHING = "search|finditer|findall|sub|split"


def _expressions(room: ModuleType) -> Iterator[tuple[str, Expression, bool]]:
    """Name, expression, and whether its module searches with it: what only ever matches begins in one place."""
    for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        home = importlib.import_module(module.name)
        source = inspect.getsource(home)
        for name, held in vars(home).items():
            several = held if isinstance(held, tuple | list) else [held]
            searched = several is held or re.search(rf"\b{name}\.(?:{_SEARCHING})\b", source) is not None
            full = f"{module.name}.{name}".removeprefix("jsonlstore.")
            yield from ((full, one, searched) for one in several if isinstance(one, re.Pattern) and full not in _OURS)


def _lazily(room: ModuleType) -> Iterator[tuple[str, Expression, bool]]:
    """Those that are compiled when first asked for: by functions that say they return one, whatever they are asked."""
    for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        home = importlib.import_module(module.name)
        source = inspect.getsource(home)
        for name, function in vars(home).items():
            if not hasattr(function, "cache_info") or function.__module__ != module.name:
                continue
            if "re.Pattern" not in str(function.__annotations__.get("return")):
                continue
            full = f"{module.name}.{name}".removeprefix("jsonlstore.")
            taken = list(inspect.signature(function).parameters)
            seen: dict[int, Expression] = {}
            for given in product(*(_ASKED[one]() for one in taken)):
                found = function(**dict(zip(taken, given, strict=True)))
                several = found if isinstance(found, tuple) else (found,)
                flat = [one for each in several for one in (each if isinstance(each, tuple) else (each,))]
                seen.update((id(one), one) for one in flat if isinstance(one, re.Pattern))
            assert seen, full
            searched = re.search(rf"\b{name}\([^\n]*?\)\.(?:{_SEARCHING})\b", source) is not None
            yield from ((full, one, searched) for one in seen.values())


# what the functions that compile are asked with; one that is asked with something new is told by a KeyError
_ASKED: dict[str, Callable[[], Iterable[object]]] = {
    "byte": lambda: range(256),
    "letter": lambda: ["", *string.ascii_lowercase],
    "index": lambda: range(len(SHAPES)),
    "kind": lambda: SMALL,
    "language": lambda: languages().values(),
    "at_end": lambda: (True, False),
}


def _seconds(expression: Expression, word: str, searched: bool) -> float:
    given = word if isinstance(expression.pattern, str) else word.encode()
    look = expression.search if searched else expression.match
    start = time.process_time()
    look(given)  # type: ignore[arg-type]
    return time.process_time() - start


def _slow_on(expression: Expression, searched: bool, most: float, window: int = _WINDOW) -> str | None:
    """The word it is slow on; other processes make a try slow, never fast."""
    for size in (_SHORT, 2 * _SHORT, window):  # what doubles with each letter would never come to an end on the longest
        for word in hostile_words(expression, size):
            if all(_seconds(expression, word, searched) > most for _ in range(_TRIES)):
                return word
    return None


@pytest.fixture(scope="module")
def square() -> float:
    return min(_seconds(re.compile(r"[a-z]+1"), "a" * _WINDOW, searched=True) for _ in range(9))


@pytest.mark.parametrize("room", _ROOMS, ids=lambda room: room.__name__.rpartition(".")[2])
def test_no_expression_takes_more_than_the_square_of_a_word(room: ModuleType, square: float) -> None:
    found = {
        name: _slow_on(expression, searched, _DEAREST * square, _WINDOWS.get(name, _WINDOW))
        for name, expression, searched in _expressions(room)
    }
    assert found
    assert {name: word for name, word in found.items() if word} == {}


@pytest.mark.parametrize("room", _ROOMS, ids=lambda room: room.__name__.rpartition(".")[2])
def test_none_that_is_compiled_when_first_needed_does(room: ModuleType, square: float) -> None:
    """Read off the functions that return one; those of names and triggers have dozens of words at once."""
    slow = {
        (name, expression.pattern): word
        for name, expression, searched in _lazily(room)
        if (word := _slow_on(expression, searched, _MANY_DEAREST * square, _WINDOWS.get(name, _WINDOW)))
    }
    assert slow == {}


def test_no_phrase_of_a_language_does(square: float) -> None:
    """Each of them all at once, as a language is asked for them."""
    slow = {
        f"{code} {kind}": _slow_on(language.pattern(kind), True, _PHRASES_DEAREST * square)
        for code, language in languages().items()
        for kind in _KINDS
    }
    assert {name: word for name, word in slow.items() if word} == {}


@pytest.mark.parametrize(
    "dear", [r"[a-z]{2,}1?[a-z]+2?[a-z]*\Z(?<=x)", r"[a-z]*[a-z]*[a-z]*\d", r"[a-z]{2}(?:[A-Z][A-Za-z]*)*\Z"]
)
def test_one_that_takes_the_cube_or_doubles_is_noticed(dear: str, square: float) -> None:
    assert _slow_on(re.compile(dear), False, _DEAREST * square)
