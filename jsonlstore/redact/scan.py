"""One way through a text, from hit to hit: at each place the automata name, the exact work of the rules."""

from __future__ import annotations

import re
from time import process_time
from typing import TYPE_CHECKING

from jsonlstore.redact import assignments as named
from jsonlstore.redact import containers, joints, runs, tables
from jsonlstore.redact.automata import LONG_TEXT, NAMES, RUNS, Automata
from jsonlstore.redact.blocks import private_keys, private_spans
from jsonlstore.redact.folding import escapes_end
from jsonlstore.redact.spans import MARK, Span
from jsonlstore.redact.triggers import SHAPES, fits, search_of, triggers
from jsonlstore.redact.values import GLANCE, whole

if TYPE_CHECKING:
    from jsonlstore.core.regex import Groups, SearchWithin

_JUDGED, _HIDDEN, _MATCHED, _FITTED, _ROW = 10, 20, 4, 10, 8
_BYTES_JUDGED, _BYTES_WEIGHED = 64, 16  # bytes a step: a long word or run takes longer to judge
_BACK, _AHEAD = 800, 1024  # how far before its trigger a shape may begin, and how far it is looked for at first
_LONG_NAME = 256
_MOST_IN_A_WORD = 64
_TAIL = 32  # of a word is looked at as if it began there: a name may end it
_MANY_HITS = 500  # a megabyte of talk has some hundred
_TIMED, _CRAWL = 64, 2e6  # hits, and bytes a second: only text made for it crowds the large automaton so


class Steps:
    """The steps a text may still take."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps


class SecretScan:
    """One way through a text, from hit to hit."""

    __slots__ = (
        "_automata",
        "_blocks",
        "_budget",
        "_data",
        "_held_until",
        "_inserts",
        "_named_until",
        "_names",
        "_places",
        "_plain",
        "_run_until",
        "_searched",
        "_skipped",
        "_table_until",
        "disguised",
        "found",
        "hints",
    )

    def __init__(
        self, automata: Automata, data: bytes, budget: Steps, *, plain: bool = False, names: bool = True
    ) -> None:
        self._automata = automata
        self._data = data
        self._budget = budget
        self._names = names
        self._plain = plain  # neither joints nor disguises are looked for: they are what was taken out
        self._inserts = b"VALUES" in data or b"values" in data
        self._searched: dict[int, int] = {}  # how far each shape was looked for
        self._named_until = self._table_until = self._held_until = self._run_until = 0
        self._skipped = 0
        self._places: list[int] = []  # where each of the small automata has found something
        self._blocks = False
        self.found: list[Span] = []
        self.hints: list[int] = []
        self.disguised = False

    def run(self, first: int = 0) -> list[Span]:  # noqa: C901 - one loop, several cursors
        """What is to be hidden as the text stands, from `first` on.

        Whether one automaton finds the places or several do: they are the same, and at each of them the same is done.
        """
        data, budget, whole = self._data, self._budget, self._automata.whole
        triggered = whole or self._automata.triggered
        trigger = name = triggered(data, first)[0][0]
        if not whole:
            name = self._start_apart(first)
        until, hits = len(data), 0
        started = process_time() if len(data) >= LONG_TEXT else 0.0
        while trigger >= 0 or name >= 0:
            at = name if trigger < 0 or 0 <= name < trigger else trigger
            hits += 1
            if whole and (hits == _MANY_HITS or (hits % _TIMED == 0 and started and _crawls(started, at))):
                whole, triggered = None, self._automata.triggered
                trigger, name = triggered(data, at)[0][0], self._start_apart(at)
            if at >= self._run_until:  # inside of a run that was judged not every way stops at every letter
                budget.left -= 1
            if budget.left <= 0:
                until = at
                break
            self._shapes(at)
            self._look(at)
            if budget.left <= 0:
                until = max(at, self._table_until)
                break
            # an endless word is one word, and what is hidden is done with: neither is looked at letter by letter
            go_on = max(at + 1, self._skipped)
            if 0 <= trigger < go_on:
                trigger = triggered(data, go_on)[0][0]
            if whole:
                name = trigger
            elif 0 <= name < go_on:
                name = self._next_name(go_on)
        if until < len(data):
            self.found.append((until, len(data), "unread"))
        if self._blocks:
            self.found += ((start, end, "private") for start, end in private_spans(data[:until]))
            self.found += ((start, end, "private-key") for start, end in private_keys(data[:until]))
        return self.found

    def _next_name(self, at: int) -> int:
        """Where a name, a sign or a run may begin from `at` on; inside of a run that was judged there is no other."""
        places = self._places
        for number, find in enumerate(self._automata.named):
            least = max(at, self._run_until) if number == RUNS else at
            if 0 <= places[number] < least:
                places[number] = self._joined(least) if number == NAMES else find(self._data, least)[0][0]
        return min((place for place in places if place >= 0), default=-1)

    def _start_apart(self, at: int) -> int:
        """The same, from a place where nothing is known."""
        self._places = [find(self._data, at)[0][0] for find in self._automata.named]
        self._places[NAMES] = self._joined(at)
        return self._next_name(at)

    def _begins(self, matched: SearchWithin, at: int) -> bool:
        return matched(self._data, at, min(len(self._data), at + _JOINT_WINDOW))[0][0] >= 0

    def _joined(self, at: int) -> int:
        """Where the next name begins that has a joint near enough: of an endless word only the last ones may."""
        find, joined = self._automata.named[NAMES], self._automata.joined
        while (at := find(self._data, at)[0][0]) >= 0 and not self._begins(joined, at):
            at = max(at + 1, _ENDLESS.match(self._data, at).end() - _NEAR_JOINT)  # type: ignore[union-attr]
        return at

    def _look(self, at: int) -> None:
        data, what = self._data, _BEGINS[self._data[at]]
        inside = at < self._run_until
        if inside and not self._begins(self._automata.signed, at):
            if what & _NAME and self._names and at >= self._named_until and self._begins(self._automata.joined, at):
                self._named(at)
            return
        if not self._plain:
            if data[at + 1 : at + 2] in joints.SECOND:
                self.hints.append(at)
            if data[at] in _DISGUISES:
                self.disguised = True
                self._skipped = max(self._skipped, escapes_end(data, at) - 1)
        if what & _CONTAINER and at >= self._held_until:
            self._held_until, held = containers.values(data, at)
            self._budget.left -= _JUDGED + len(held)
            self.found += held
        named_here = what & _NAME and self._names and at >= self._named_until
        if named_here and (not inside or self._begins(self._automata.joined, at)):
            self._named(at)
        if what & _RUN and at >= self._run_until and at >= self._skipped:
            self._run(at)

    def _shapes(self, at: int) -> None:
        data = self._data
        any_of_them, each = triggers(data[at])
        if each and any_of_them.match(data, at, at + 512):
            self._budget.left -= 2
            for index, trigger in each:
                if at >= self._searched.get(index, 0) and trigger.match(data, at, at + 512):
                    self._shape(index, at)

    def _shape(self, index: int, at: int) -> None:
        """A shape around its trigger. Once looked for, it is not looked for again in the same stretch."""
        data = self._data
        shape, find = SHAPES[index], search_of(index)
        low, high = max(self._searched.get(index, 0) - _BACK, at - _BACK, 0), min(len(data), at + _AHEAD)
        self._budget.left -= _MATCHED
        while (groups := find(data, low, high))[0][0] >= 0:
            self._budget.left -= _FITTED if shape.unlike else 2
            start, end = _told(groups)
            if end == high < len(data):  # a long one goes on as it began
                end = _GOES_ON.match(data, end).end()  # type: ignore[union-attr]
            if end - start <= len(MARK) + 3 and data.startswith(MARK, start):
                pass  # hidden before
            elif fits(shape, data, start, end) and not _SAMPLE.search(data, start, min(end, start + 80)):
                self.found.append((start, end, shape.kind))
                near = at - 64 < start <= at or (data[at] == _COLON and start < at + 64)  # an address, or a token
                if near and b"private" not in data[at:end].lower():
                    self._skipped = max(self._skipped, end - 1)  # its last letter may begin a joint
            low = max(groups[0][1], groups[0][0] + 1, end)
            if low >= high:
                break
        self._searched[index] = len(data) if high == len(data) else max(high - _AHEAD // 2, low)

    def _named(self, at: int) -> None:
        data = self._data
        self._blocks = self._blocks or b"private" in data[at : at + 12].lower()
        self._named_until, values = named.judge_name(data, at)
        if self._named_until > at + 1:
            word = _WORD.match(data, self._named_until, self._named_until + GLANCE).end()  # type: ignore[union-attr]
            self._budget.left -= _JUDGED + _HIDDEN * len(values) + (word - self._named_until) // _BYTES_JUDGED
            if at >= self._table_until and tables.may_begin(data, at):
                self._table_until, cells, rows = tables.columns(data, at, max(0, self._budget.left) // _ROW)
                self._budget.left -= _JUDGED + rows * _ROW
                self.found += ((start, end, "column") for start, end in cells)
                if self._budget.left < _ROW:  # the rows below would stand without their head
                    self._budget.left = 0
        if not values and self._inserts and (cells := tables.inserted(data, at)):
            self._budget.left -= len(cells)
            self.found += ((start, end, "column") for start, end in cells)
        if self._named_until > at + _LONG_NAME:
            self._skip(at, self._named_until)
        for value in values:
            start, end = whole(data, *value)
            self.found.append((start, end, "named"))
            self._named_until = max(self._named_until, end)
            # unless a private span reaches out of what is hidden
            if start - at < 64 and b"private" not in data[start:end].lower():
                self._skipped = max(self._skipped, end - 1)  # its last letter may begin a joint

    def _run(self, at: int) -> None:
        self._run_until, span, inside = runs.judge_run(self._data, at, self._holds)
        self._budget.left -= 2 + min(self._run_until - at, runs.BLOB) // _BYTES_WEIGHED
        self._skip(at, self._run_until if span else inside)
        if span:
            self.found.append(span)

    def _skip(self, at: int, end: int) -> None:
        """Go on near the end of a word; what is known by its letters alone may still stand inside it."""
        end -= _TAIL
        if end <= at:
            return
        self._skipped = max(self._skipped, end)
        for _ in range(_MOST_IN_A_WORD):
            at = self._automata.triggered_within(self._data, at + 1, end)[0][0]
            if at < 0:
                return
            self._shapes(at)

    def _holds(self, text: bytes) -> bool:
        """Whether a text that was found encoded holds a secret; what is encoded in it in turn is not looked at."""
        self._budget.left -= len(text) // 256
        return not self._plain and bool(SecretScan(self._automata, text, self._budget, plain=True).run())


_JOINT_WINDOW = 4096
_ENDLESS, _NEAR_JOINT = re.compile(rb"[\w.-]*+"), 104


def _crawls(started: float, at: int) -> bool:
    return (process_time() - started) * _CRAWL > at


_COLON = ord(":")


def _told(groups: Groups) -> tuple[int, int]:
    """The first group that matched, or all of the match."""
    for group in groups[1:]:
        if group[0] >= 0:
            return group
    return groups[0]


_CONTAINER, _RUN, _NAME = 1, 2, 4
# What a hit may be the beginning of, by its first byte: a look that cannot succeed costs more than all the others.
_BEGINS = [
    _CONTAINER * (byte in containers.FIRST) | _RUN * (byte in runs.FIRST) | _NAME * (byte in named.FIRST)
    for byte in range(256)
]
_SAMPLE = re.compile(rb"(?i)[-_]your[-_]|[-_]x{8}")  # xoxb-your-slack-token
_WORD = re.compile(rb"[^\s\"']*+")
_GOES_ON = re.compile(rb"[A-Za-z0-9_+/=.%~-]*+")
_DISGUISES = frozenset(b"\x1b\xe2\xc2\xef\\")
