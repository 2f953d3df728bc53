"""From place to place through a text with several small automata, each asked again only behind its last find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re

if TYPE_CHECKING:
    from jsonlstore.core.regex import SearchWithin
    from jsonlstore.redact.automata import Automata

NO_HIT = 1 << 62
_SHORT = 40  # bytes of a name and its joint: no bound within them is smaller
_LONG = re.compile(rb"[\x80-\xff]*+[\w.-]{%d}" % (_SHORT + 1))
_JOINT_WINDOW = 4096
_LONGEST_TRIGGER, _STRIDE = 512, 4096  # bytes; how far is looked for a trigger at first
_ENDLESS, _NEAR_JOINT = re.compile(rb"[\x80-\xff]*+[\w.-]*+"), 104


class Hits:
    """The places of a text in their order."""

    __slots__ = (
        "_automata",
        "_data",
        "_far",
        "_name",
        "_names",
        "_names_from",
        "_run",
        "_runs",
        "_sign",
        "_signs",
        "_trigger",
        "_triggered",
    )

    def __init__(self, automata: Automata, data: bytes) -> None:
        self._automata = automata
        self._data = data
        self._far = False
        self._names_from = 0
        self._trigger = self._name = self._sign = self._run = -1
        self._triggered = automata.triggered
        self._names, self._signs, self._runs = automata.named

    def next(self, at: int, run_until: int) -> int:
        """The first place from `at` on, or `NO_HIT`; no run begins inside of the one judged up to `run_until`."""
        data = self._data
        if self._trigger < at:
            self._trigger = next_trigger(self._triggered, data, at, len(data))
        if self._name < at:
            self._name = self._next_name(max(at, self._names_from))
        if self._sign < at:
            found = self._signs(data, at, len(data))[0][0]
            self._sign = found if found >= 0 else NO_HIT
        if self._run < at or self._run < run_until:
            found = self._runs(data, max(at, run_until), len(data))[0][0]
            self._run = found if found >= 0 else NO_HIT
        return min(self._trigger, self._name, self._sign, self._run)

    def _next_name(self, at: int) -> int:
        start, end = self._names(self._data, at, len(self._data))[0]
        if start < 0:
            return NO_HIT
        self._far = end - start > _SHORT and not self._is_joined(start)
        if self._far:  # of an endless word only the last names may have a joint near enough
            self._names_from = _ENDLESS.match(self._data, start).end() - _NEAR_JOINT  # type: ignore[union-attr]
        return start

    def _is_joined(self, at: int) -> bool:
        return self._automata.joined(self._data, at, min(len(self._data), at + _JOINT_WINDOW))[0][0] >= 0

    def is_far(self, at: int) -> bool:
        """Whether there is nothing at a place but a name whose joint is too far away."""
        return self._far and self._name == at and at not in (self._trigger, self._sign, self._run)

    def is_named(self, at: int) -> bool:
        """Whether a name with its joint begins at a place inside of a run."""
        return self._name == at and not self._far

    def is_signed(self, at: int) -> bool:
        """Whether a joint, a container or a disguise begins at a place inside of a run."""
        return self._sign == at


def next_trigger(find: SearchWithin, data: bytes, at: int, end: int) -> int:
    """Where the next trigger stands, or `NO_HIT`.

    One that may still come to its end far away keeps from sight what stands behind it: an endless word would be read
    to its end behind each find in it. So the look goes further only as long as it finds nothing.
    """
    stride = _STRIDE
    while True:
        stop = min(end, at + stride)
        found = find(data, at, stop)[0][0]
        if stop == end:
            return found if found >= 0 else NO_HIT
        if 0 <= found <= stop - _LONGEST_TRIGGER:
            return found
        at, stride = max(at, stop - _LONGEST_TRIGGER), 2 * stride


def is_long(data: bytes, at: int) -> bool:
    """Whether a word that begins at a place is longer than a name and its joint may be."""
    return len(data) - at > _SHORT and _LONG.match(data, at, at + 2 * _SHORT) is not None
