"""One way through a text, from hit to hit: at each place the automata name, the exact work of the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact import assignments as named
from jsonlstore.redact import containers, joints, runs, tables
from jsonlstore.redact.automata import MUCH_TEXT, Automata
from jsonlstore.redact.blocks import private_keys, private_spans
from jsonlstore.redact.budget import FITTED, HIDDEN, HIT, JUDGED, LISTED, MATCHED, NAMED, ROW, Steps
from jsonlstore.redact.folding import escapes_end
from jsonlstore.redact.hits import NO_HIT, Hits, is_long, next_trigger
from jsonlstore.redact.phrases import ANNOUNCED, ANNOUNCING, announced_phrases
from jsonlstore.redact.spans import MARK, Span
from jsonlstore.redact.triggers import SHAPES, counted_from, fits, own_trigger, search_of, triggers
from jsonlstore.redact.values import whole

if TYPE_CHECKING:
    from jsonlstore.core.regex import Groups, SearchWithin

# bytes a step: of a run that is judged, of a container that is read, of a look ahead
_BYTES_WEIGHED, _BYTES_READ, _BYTES_SOUGHT = 3, 64, 1024
_MANY_HITS = 32  # of the large automaton
_BACK, _AHEAD = 800, 1024  # how far before its trigger a shape may begin, and how far it is looked for at first
_LONG_NAME = 256
_MOST_IN_A_WORD = 64
_TAIL = 32  # of a word is looked at as if it began there: a name may end it


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
        "_phrases_until",
        "_plain",
        "_run_until",
        "_searched",
        "_skipped",
        "_table_until",
        "_until",
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
        self._named_until = self._table_until = self._held_until = self._run_until = self._phrases_until = 0
        self._skipped = 0
        self._blocks = False
        self._until = len(data)
        self.found: list[Span] = []
        self.hints: list[int] = []
        self.disguised = False

    def run(self, first: int = 0) -> list[Span]:
        """What is to be hidden as the text stands, from `first` on.

        Whether one automaton finds the places or several do: they are the same, and at each of them the same is done.
        """
        data, whole = self._data, self._automata.whole
        at = self._with_one(whole, first) if whole and len(data) <= MUCH_TEXT else first
        if at < NO_HIT:
            self._with_several(at)
        if self._until < len(data):
            self.found.append((self._until, len(data), "unread"))
        if self._blocks:
            self.found += ((start, end, "private") for start, end in private_spans(data[: self._until]))
            self.found += ((start, end, "private-key") for start, end in private_keys(data[: self._until]))
        return self.found

    def _with_one(self, whole: SearchWithin, at: int) -> int:
        """From hit to hit of the large automaton, up to where the small ones go on, if they must.

        Each of its finds may hold it up to the end of a long word, and it cannot say what it has found: it is the
        faster way to a few places in a text.
        """
        data, size = self._data, len(self._data)
        for _ in range(_MANY_HITS):
            at = whole(data, at, size)[0][0]
            if at < 0:
                return NO_HIT
            if at < self._run_until or is_long(data, at):
                return at
            if not self._pay(at):
                return NO_HIT
            self._shapes(at)
            self._look(at)
            if self._budget.left <= 0:
                self._until = max(at, self._table_until)
                return NO_HIT
            at = max(at + 1, self._skipped)
        return at

    def _with_several(self, at: int) -> None:
        """The same with the small automata, up to the end."""
        hits = Hits(self._automata, self._data)
        while (at := hits.next(at, self._run_until)) < NO_HIT and self._pay(at):
            if not hits.is_far(at):
                self._shapes(at)
                self._look(at, hits)
                if self._budget.left <= 0:
                    self._until = max(at, self._table_until)
                    return
            # an endless word is one word, and what is hidden is done with: neither is looked at letter by letter
            at = max(at + 1, self._skipped)

    def _pay(self, at: int) -> bool:
        """Whether there is a step left for a place; what lies beyond is unread."""
        self._budget.left -= HIT
        if self._budget.left > 0:
            return True
        self._until = at
        return False

    def _look(self, at: int, hits: Hits | None = None) -> None:
        data, what = self._data, _BEGINS[self._data[at]]
        inside = at < self._run_until
        if what & _NAME and self._names and at >= self._named_until:
            named_here = not inside or (hits is not None and hits.is_named(at))
        else:
            named_here = False
        if not inside or (hits is not None and hits.is_signed(at)):
            if not self._plain:
                if data[at + 1 : at + 2] in joints.SECOND:
                    self.hints.append(at)
                if data[at] in _DISGUISES:
                    self.disguised = True
                    self._skipped = max(self._skipped, escapes_end(data, at) - 1)
            if what & _CONTAINER and at >= self._held_until:
                self._contained(at)
        if named_here:
            self._named(at)
        if what & _RUN and not inside and at >= self._run_until and at >= self._skipped:
            self._run(at)

    def _contained(self, at: int) -> None:
        self._held_until, held, read = containers.values(self._data, at)
        if read:
            self._budget.left -= JUDGED + len(held) + read // _BYTES_READ
        self.found += held

    def _shapes(self, at: int) -> None:
        data = self._data
        begins, some = triggers(data[at])
        if some and begins(data, at, min(len(data), at + 512))[0][0] >= 0:
            self._budget.left -= 2
            for index in some:
                if at >= self._searched.get(index, 0) and own_trigger(index).match(data, at, at + 512):
                    self._shape(index, at)

    def _shape(self, index: int, at: int) -> None:
        """A shape around its trigger. Once looked for, it is not looked for again in the same stretch."""
        data = self._data
        shape, find, counted = SHAPES[index], search_of(index), counted_from(index)
        low, high = max(self._searched.get(index, 0) - _BACK, at - _BACK, 0), min(len(data), at + _AHEAD)
        self._budget.left -= MATCHED
        while (groups := find(data, low, high))[0][0] >= 0:
            if counted:
                first = groups[0][0]
                self._budget.left -= HIT + (groups[0][1] - low) // _BYTES_SOUGHT
                if (groups := counted(data, first, high))[0][0] < 0:
                    low = first + 1
                    continue
            start, end = _told(groups)
            self._budget.left -= (FITTED if shape.unlike or shape.near else 2) + (end - groups[0][0]) // _BYTES_READ
            if end == high < len(data):  # a long one goes on as it began
                end = _GOES_ON.match(data, end).end()  # type: ignore[union-attr]
            if end - start <= len(MARK) + 3 and data.startswith(MARK, start):
                pass  # hidden before
            elif fits(shape, data, start, end) and not _SAMPLE.search(data, start, min(end, start + 80)):
                self.found.append((start, end, shape.kind))
                near = at - 64 < start <= at or (data[at] == _COLON and start < at + 64)  # an address, or a token
                if near and b"private" not in data[at:end].lower():
                    self._go_behind(start, end)
            low = max(groups[0][1], groups[0][0] + 1, end)
            if low >= high:
                break
        self._searched[index] = len(data) if high == len(data) else max(high - _AHEAD // 2, low)

    def _named(self, at: int) -> None:
        data, budget = self._data, self._budget
        budget.left -= HIT
        if b"private" in data[at : at + 12].lower():
            self._blocks = True
            budget.left -= 1
        if data[at] in ANNOUNCING and at >= self._phrases_until and ANNOUNCED.match(data, at):
            self._announced(at)
        self._named_until, values = named.judge_name(data, at, budget)
        if self._named_until > at + 1:
            budget.left -= NAMED + HIDDEN * len(values)
            if at >= self._table_until:
                self._table(at)
        if not values and self._inserts:
            cells, price = tables.inserted(data, at)
            budget.left -= price + HIDDEN * len(cells)
            self.found += ((start, end, "column") for start, end in cells)
        if self._named_until > at + _LONG_NAME:
            self._skip(at, self._named_until)
        for value in values:
            start, end = whole(data, *value)
            self.found.append((start, end, "named"))
            self._named_until = max(self._named_until, end)
            # unless a private span reaches out of what is hidden
            if start - at < 64 and b"private" not in data[start:end].lower():
                self._go_behind(start, end)

    def _go_behind(self, start: int, end: int) -> None:
        """Go on behind what is hidden: at its last letter or at an escaped quote in it, for each may begin a joint."""
        quote = _ESCAPED_QUOTE.search(self._data, start, end)
        self._skipped = max(self._skipped, (quote.start() if quote else end) - 1)

    def _announced(self, at: int) -> None:
        look = announced_phrases(self._data, at, self._phrases_until)
        self._phrases_until = max(self._phrases_until, look.until)
        self._budget.left -= LISTED if look.listed else HIT
        self.found += ((start, end, "recovery-phrase") for start, end in look.spans)

    def _table(self, at: int) -> None:
        """Read the table whose head holds the name at `at`, if there is one."""
        data, budget = self._data, self._budget
        if tables.may_begin(data, at):
            read = tables.columns
        elif b"<t" in data[max(0, at - 400) : at] and tables.is_tagged(data, at):
            read = tables.tagged
        else:
            return
        self._table_until, cells, price = read(data, at, max(0, budget.left))
        budget.left -= price
        self.found += ((start, end, "column") for start, end in cells)
        if budget.left < ROW:  # the rows below would stand without their head
            budget.left = 0

    def _run(self, at: int) -> None:
        self._run_until, span, inside, weighed = runs.judge_run(self._data, at, self._holds)
        self._budget.left -= 1 + weighed // _BYTES_WEIGHED
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
            at = next_trigger(self._automata.triggered, self._data, at + 1, end)
            if at >= end:
                return
            self._budget.left -= HIT
            self._shapes(at)

    def _holds(self, text: bytes) -> bool:
        """Whether a text that was found encoded holds a secret; what is encoded in it in turn is not looked at."""
        self._budget.left -= len(text) // 256
        return not self._plain and bool(SecretScan(self._automata, text, self._budget, plain=True).run())


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
_ESCAPED_QUOTE = re.compile(rb"\\u002[27]|&(?:quot|apos|#3[49]);")
_SAMPLE = re.compile(rb"(?i)[-_]your[-_]|[-_]x{8}|(?-i:EXAMPLE)")  # xoxb-your-slack-token
_GOES_ON = re.compile(rb"[A-Za-z0-9_+/=.%~-]*+")
_DISGUISES = frozenset(b"\x1b\xe2\xc2\xef\\")
