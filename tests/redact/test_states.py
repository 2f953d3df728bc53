"""No automaton of RE2 makes new states for as long as a text goes on.

RE2 never backtracks, but it makes the states of an automaton when they are met. One that counts from every place of a
text at once has a state for each set of sums, and texts made of its own beginnings always meet new ones: a hundred to a
thousand times as long a byte, whatever is found.
"""

from __future__ import annotations

import random
import re
import re._parser as parser  # type: ignore[import-not-found]
import time
from typing import TYPE_CHECKING

import pytest

from jsonlstore.core.regex import any_of, compiled, searcher_within
from jsonlstore.redact import assignments, automata, blocks, joints, runs
from jsonlstore.redact.rules import names
from jsonlstore.redact.triggers import SHAPES, all_triggers, counted_from, search_of, uncounted
from tests.redact.fuzz_time import letters_of, make
from tests.redact.hostile_words import _sample

if TYPE_CHECKING:
    from jsonlstore.core.regex import Groups, SearchWithin

_WINDOW = 1824  # bytes that a shape is looked for in
_PLAIN = ("a", "_", "-", "x1", " ", ":", "=", "A", "0f", ".", "/", "\n", "\\", "'")
_SIGNS = any_of(automata._SIGNS)
_SCANS = {
    "triggers": all_triggers(),
    "names": assignments.ENDLESS_NAME,
    "signs": _SIGNS,
    "runs": runs.ENDLESS_HINT,
    "joints": f"{joints.JOINT}|{joints.LONE}",
    "keys": f"{blocks._BEGIN}|{blocks._END}",
}
_MIXTURES, _BYTES, _WARM = 40, 12_000, 10
_MOST = 100e-9  # seconds a byte, times what this machine needs for a plain look at one, as below
_MOST_OF_A_SHAPE = 150e-9


def _beginnings(expression: str, rng: random.Random) -> list[str]:
    """What an expression may begin with, in pieces."""
    whole = _sample(parser.parse(expression.replace("(?i)", "").replace("(?im)", ""), 0), rng.randrange(3))
    return [
        piece for size in range(1, len(whole) + 1, 2) for piece in (whole[:size], whole[size - 1 : size + 3]) if piece
    ]


def _mixture(some: list[str], size: int, rng: random.Random) -> bytes:
    return "".join(rng.choices(some, k=size)).encode()[:size]


def _passes(find: SearchWithin, data: bytes, *, behind: bool = False, most: int = 40) -> float:
    """Seconds a byte to the `most`th find, each looked for behind the beginning of the last, or `behind` all of it."""
    at, begun = 0, time.process_time()
    for _ in range(most):
        found, end = find(data, at, len(data))[0]
        if found < 0:
            at = len(data)
            break
        at = max(found + 1, end if behind else 0)
    return (time.process_time() - begun) / max(at, len(data) // 4)


def _sustained(find: SearchWithin, some: list[str], size: int, rng: random.Random, *, behind: bool = False) -> float:
    """The same for a text like those before it: first states take their time, whatever the text."""
    for _ in range(_WARM):
        _passes(find, _mixture(some, size, rng), behind=behind)
    return min(_passes(find, _mixture(some, size, rng), behind=behind) for _ in range(3))


@pytest.fixture(scope="module")
def machine() -> float:
    """How slow this machine is: 1 where a plain look at a byte takes a nanosecond."""
    find, rng = searcher_within(compiled("password[0-9]+x")), random.Random(1)
    return max(1.0, min(_passes(find, letters_of(rng, 100_000).encode()) for _ in range(9)) * 1e9)


@pytest.mark.parametrize("name", _SCANS)
def test_no_automaton_that_reads_whole_texts_goes_on_making_states(name: str, machine: float) -> None:
    """Mixed of what names, triggers and the automaton itself begin with."""
    rng = random.Random(7)
    find = searcher_within(compiled(_SCANS[name]))
    words = [one.word for one in names() if one.word.isalpha()]
    pool = [*words, *_PLAIN, *(piece for shape in SHAPES for piece in _beginnings(shape.trigger, rng))]
    slow = {}
    for _ in range(_MIXTURES):
        some = [*rng.choices(pool, k=rng.randint(2, 6)), *rng.choices(_PLAIN, k=2)]
        if (price := _sustained(find, some, _BYTES, rng)) > _MOST * machine:
            slow[tuple(some)] = price
    assert slow == {}


def test_no_shape_does(machine: float) -> None:
    """Each in windows mixed of its own beginnings and of what its example is made of."""
    rng = random.Random(9)
    slow = {}
    for index, shape in enumerate(SHAPES):
        example = make.slots(shape.example, rng)[0]
        pieces = [example[at : at + 6] for at in range(0, min(len(example), 60), 6)]
        pool = [*_beginnings(shape.shape, rng), *pieces, *_PLAIN[:6]]
        for _ in range(3):
            some = rng.choices(pool, k=rng.randint(2, 5))
            if (price := _sustained(search_of(index), some, _WINDOW, rng, behind=True)) > _MOST_OF_A_SHAPE * machine:
                slow[shape.kind, index] = (price, some)
    assert slow == {}


DEAR = {
    "of all triggers one": (
        f"{all_triggers()}|(?i)pass[a-z0-9_]{{0,24}},[ \t]",
        ["pass", "sig", "psk", "a", "_", "x1", "-"],
    ),
    "a shape": (
        r"snmp[a-z]{3,10}[ \t](?:[^\n]{0,200}?[ \t])?-X[ \t]+([^\s;|&<>]+)",
        ["snmpbbb\t-X", "D8g3A9", "snmpfff\t-X", "-X\t1"],
    ),
}


@pytest.mark.parametrize("name", DEAR)
def test_one_that_counts_from_every_place_is_noticed(name: str, machine: float) -> None:
    """A bound that nothing exceeds shows nothing."""
    expression, pool = DEAR[name]
    find = searcher_within(compiled(expression))
    assert _sustained(find, pool, _BYTES, random.Random(3)) > _MOST_OF_A_SHAPE * machine


def test_counting_where_a_shape_may_begin_finds_what_counting_everywhere_finds() -> None:
    """Place, end and groups."""
    rng = random.Random(5)
    for index, shape in enumerate(SHAPES):
        count = counted_from(index)
        assert (count is None) == (uncounted(shape.shape) == shape.shape)
        if count is None:
            continue
        everywhere, find = searcher_within(compiled(shape.shape)), search_of(index)
        examples = [make.slots(shape.example, rng)[0] for _ in range(3)]
        pool = [*examples, *(one[: len(one) // 2] for one in examples), *(one[len(one) // 2 :] for one in examples)]
        for _ in range(10):
            data = " ".join(rng.choices([*pool, " ", "\n", "x1", "a" * 30, "-"], k=16)).encode()[:_WINDOW]
            expected, found = everywhere(data, 0, len(data)), _counted(find, count, data)
            assert found[0] == expected[0]
            assert expected[0][0] < 0 or list(found) == list(expected)


def _counted(find: SearchWithin, count: SearchWithin, data: bytes) -> Groups:
    at = 0
    while (begin := find(data, at, len(data)))[0][0] >= 0:
        if (found := count(data, begin[0][0], len(data)))[0][0] >= 0:
            return found
        at = begin[0][0] + 1
    return begin


def test_no_trigger_holds_its_own_beginning_in_what_it_counts() -> None:
    """`pass[a-z0-9_]{0,24}`: read off each trigger, so one that is new is told by its name."""
    counted = re.compile(r"([A-Za-z]{2,})\[([^\]]+)\]\{[0-9]*,?(?:[0-9]{2,})\}")
    wrong = [
        shape.trigger
        for shape in SHAPES
        for found in counted.finditer(shape.trigger)
        if all(re.match(f"[{found[2]}]", letter) for letter in found[1])
    ]
    assert wrong == []
