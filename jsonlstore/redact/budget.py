"""What a text may cost, in steps: never in time, so that every machine derives the same.

A step is about what a few microseconds of work are. Every look is paid for at its price, and what may be long by its
length: a text that asks for more than any real one does is not read to its end.
"""

from __future__ import annotations

# A megabyte of real text takes about 10,000 steps and one of nothing but hostile triggers a million: what lies between
# is code and configuration full of names.
_STEPS, _BYTES_A_STEP = 10_000, 100

HIT = 1  # a place that an automaton names, and a look for what it may be
NAMED = 6  # a name, and whether something stands behind it
JUDGED = 10  # a table's head, a container
HIDDEN = 20  # a value that is a secret: the text is read once more without it
MATCHED, FITTED = 2, 10  # a shape that is looked for, a match whose look decides
ROW, CELLS, COLUMN = 4, 4, 2  # of a table: a row, so many cells a step, and a name at its head
LIKELY = 20  # a value and its surroundings, weighed once more
LISTED = 24  # words that are looked up, one by one, in what may be a recovery phrase
AGAIN = 10  # a part of a text that is read once more, without what was taken out of it
# a value, the bytes of it that are in its price, and bytes a step beyond them
_VALUE, _FREE, _BYTES_WEIGHED = 16, 32, 3


class Steps:
    """The steps a text may still take."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    def weigh(self, size: int) -> None:
        """Pay for a value of so many bytes that is judged: a long one takes longer."""
        self.left -= price_of(size)


def price_of(size: int) -> int:
    """What it takes to judge a value of so many bytes."""
    return _VALUE + max(0, size - _FREE) // _BYTES_WEIGHED


def steps_for(data: bytes) -> int:
    """How many steps a text may take: a glance is one, a judgement several."""
    return _STEPS + len(data) // _BYTES_A_STEP
