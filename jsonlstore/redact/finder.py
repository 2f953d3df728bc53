"""Where secrets lie in bytes: one pass of RE2 asks whether any could, exact work is done only where it says yes.

RE2 cannot backtrack, whatever looks past a match is bounded, and every look is paid for from a budget: a text that asks
for more than any real one does is not read to its end. What was not read is dropped, never kept as it was. The budget
counts steps and bytes, not time, so that the same text gives the same result on any machine.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from time import process_time
from typing import TYPE_CHECKING, TypeAlias

from jsonlstore.core.regex import any_of, compiled, matcher, searcher, searcher_within
from jsonlstore.redact import assignments as named
from jsonlstore.redact import containers, joints, runs, tables
from jsonlstore.redact.blocks import private_keys, private_spans
from jsonlstore.redact.folding import FOLDED, escapes_end, folds
from jsonlstore.redact.rules import own_rules
from jsonlstore.redact.triggers import SHAPES, all_triggers, fits, search_of, triggers
from jsonlstore.redact.values import GLANCE, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jsonlstore.core.regex import Groups, Search, SearchWithin

MARK = b"[REDACTED]"
UNREAD = b"[UNREAD]"
_LEAVE = own_rules().leave
Span: TypeAlias = tuple[int, int, str]

MOST_BYTES = 16 << 20  # of one text; the rest of a longer one is not read
# A megabyte of real text takes about 10,000 steps and one of nothing but hostile triggers a million: what lies between
# is code and configuration full of names, which is read whole up to 120 KB. The file of real text that takes most takes
# 10,917 steps for 256 KB.
_STEPS, _BYTES_A_STEP = 8_700, 80
_JUDGED, _MATCHED, _FITTED, _ROW = 10, 4, 10, 8
_BYTES_JUDGED = 64  # bytes a step: a long word takes longer to judge
_BACK, _AHEAD = 800, 1024  # how far before its trigger a shape may begin, and how far it is looked for at first
_LONG_NAME = 256
_FOLDS = 4  # disguises a step
_MOST_IN_A_WORD = 64
_TAIL = 32  # of a word is looked at as if it began there: a name may end it


def may_hide(data: bytes) -> bool:
    """Whether there may be something to hide; False is certain."""
    return first_hit(data) >= 0


def first_hit(data: bytes) -> int:
    """Where the first place is that may hold something to hide, or -1."""
    finder = _FINDER or _finder()
    whole = finder.whole
    if whole is not None and len(data) < _LONG_TEXT:
        return whole(data, 0)[0][0]
    return finder.first(data)


def steps_for(data: bytes) -> int:
    """How many steps a text may take: a glance is one, a judgement several. Never a matter of time (decision 69)."""
    return _STEPS + len(data) // _BYTES_A_STEP


def find_spans(data: bytes, budget: Steps, first: int = 0) -> list[Span]:
    """Byte spans to hide, unmerged, in the order of the rules; what is beyond the budget is unread.

    Nothing telling begins before `first`.
    """
    finder = _finder()
    beyond: list[Span] = []
    if len(data) > MOST_BYTES:
        beyond, data = [(MOST_BYTES, len(data), "unread")], data[:MOST_BYTES]
    return [
        _snap(data, span)
        for span in [*finder.spans(data, budget, min(first, MOST_BYTES)), *beyond]
        if not _is_left(data, span)
    ]


def mark_of(kind: str) -> bytes:
    """What stands in the place of a span."""
    return b"" if kind == "private" else UNREAD if kind == "unread" else MARK


def hide(data: bytes, spans: Sequence[Span]) -> tuple[bytes, list[tuple[int, int, int, int]]]:
    """The text with the spans hidden, and where each kept piece came from: (new start, new end, old start, old end).

    A kind that begins with `=` is what takes the span's place: so a text is read without its disguise.
    """
    out: list[bytes] = []
    pieces: list[tuple[int, int, int, int]] = []
    at = size = 0
    for start, end, kind in [*spans, (len(data), len(data), "private")]:
        piece = data[at:start]
        pieces.append((size, size + len(piece), at, start))
        mark = kind[1:].encode() if kind[:1] == "=" else mark_of(kind)
        out += (piece, mark)
        size += len(piece) + len(mark)
        at = end
    return b"".join(out), pieces


def back(span: Span, pieces: Sequence[tuple[int, int, int, int]], spans: Sequence[Span]) -> Span:
    """A span of the shown text in the coordinates of the original; what it touches of a mark is taken whole."""

    def original(at: int, *, last: bool) -> int:
        index = bisect_right(pieces, at if not last else at - 1, key=lambda piece: piece[0]) - 1
        new_start, new_end, old_start, _ = pieces[max(index, 0)]
        if at <= new_end:
            return old_start + (at - new_start)
        return spans[index][1] if last else spans[index][0]

    return original(span[0], last=False), original(span[1], last=True), span[2]


def _is_left(data: bytes, span: Span) -> bool:
    """Whether a span is a mark of ours, or a value that the user's rules leave alone."""
    if _LEAVE and data[span[0] : span[1]] in _LEAVE:
        return True
    return span[2] != "private" and data.startswith((MARK, UNREAD), span[0]) and span[1] - span[0] <= len(MARK) + 3


def _snap(data: bytes, span: Span) -> Span:
    """Never cut a character in two."""
    start, end, kind = span
    while start > 0 and start < len(data) and data[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return start, end, kind


class Steps:
    """The steps a text may still take."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps


_SIGNS = (joints.HINT, containers.HEAD, FOLDED)
_LONG_TEXT = 2048  # bytes
_MANY_HITS = 2000  # a megabyte of talk has some hundred
_TIMED, _CRAWL = 64, 2e6  # hits, and bytes a second: only text made for it crowds the large automaton so
_SAMPLED = 7  # of eight texts are not timed: the clock costs as much as a page of text
_WATCHED, _SLOW = 1 << 16, 100e6  # bytes, and bytes a second


class _Finder:
    """All rules behind one expression: whatever may be telling is found in one pass and looked at where it stands.

    Not an RE2 set: a set's automaton remembers which members have matched so far, so a dozen common triggers make
    thousands of states of it, and it crawls. Even the one expression's automaton has states that are pairs of a
    trigger's and a name's. Much and varied text, source code above all, fills its memory with them; then RE2 begins
    anew again and again, at a tenth of its speed (25 MB/s). So the time of long texts is watched, and from there on
    four expressions are used, each with few states (300 MB/s), as they are for the rest of any text with thousands of
    hits. Both ways find the same: only the speed depends on the clock.
    """

    def __init__(self) -> None:
        self._joint = searcher(compiled(f"{joints.JOINT}|{joints.LONE}"))
        self.whole: Search | None = searcher(compiled(any_of([all_triggers(), named.NAME, *_SIGNS, runs.HINT])))
        self._texts, self._bytes, self._seconds, self._slow = 0, 0, 0.0, 0

    @cached_property
    def any_named(self) -> Search:
        """Whether one of `named` finds anything: in clean text one pass is faster than three."""
        return searcher(compiled(any_of([named.NAME, *_SIGNS, runs.HINT])))

    @cached_property
    def named(self) -> tuple[Search, ...]:
        """Where a name, a joint, a container or a disguise may begin, and where a run may.

        A name's joint may be too far from it.
        """
        return tuple(searcher(compiled(one)) for one in (named.ENDLESS_NAME, any_of(_SIGNS), runs.HINT))

    @cached_property
    def joined(self) -> SearchWithin:
        """Whether the name that begins here has a joint."""
        return matcher(compiled(named.NAME))

    @cached_property
    def signed(self) -> SearchWithin:
        """Whether a joint, a container or a disguise begins here."""
        return matcher(compiled(any_of(_SIGNS)))

    @cached_property
    def triggered(self) -> Search:
        """Where a shape's trigger stands."""
        return searcher(compiled(all_triggers()))

    @cached_property
    def triggered_within(self) -> SearchWithin:
        """The same up to an end."""
        return searcher_within(compiled(all_triggers()))

    def first(self, data: bytes) -> int:
        """Where the first place is that may hold something to hide, or -1."""
        whole = self.whole
        if whole is None:
            name, trigger = self.any_named(data, 0)[0][0], self.triggered(data, 0)[0][0]
            at = max(name, trigger) if name < 0 or trigger < 0 else min(name, trigger)
        else:
            self._texts += 1
            at = whole(data, 0)[0][0] if self._texts & _SAMPLED else self._timed(whole, data)
        return min(len(data), MOST_BYTES) if at < 0 and len(data) > MOST_BYTES else at

    def _timed(self, whole: Search, data: bytes) -> int:
        started = process_time()
        at = whole(data, 0)[0][0]
        self._seconds += process_time() - started
        self._bytes += len(data) if at < 0 else at
        if self._bytes > _WATCHED:
            self._slow = self._slow + 1 if self._seconds * _SLOW > self._bytes else 0
            if self._slow > 1:  # the first states of an automaton are slow to make whatever the text
                self.whole = None
            self._bytes, self._seconds = 0, 0.0
        return at

    def spans(self, data: bytes, budget: Steps, first: int = 0) -> list[Span]:
        """Every span of every rule, unmerged."""
        scan = _Scan(self, data, budget)
        found = scan.run(first)
        for start, end in joints.windows(data, scan.hints) if scan.hints else ():
            if budget.left <= 0:
                found.append((start, len(data), "unread"))
                break
            found += self._joined(data, start, end, budget)
        if scan.disguised:
            found += self._undisguised(data, budget)
        return found

    def again(self, data: bytes, cuts: list[Span], budget: Steps, *, names: bool = True) -> Iterator[Span]:
        """What shows only in the text with some of its pieces taken out or replaced."""
        shown, pieces = hide(data, cuts)
        for span in _Scan(self, shown, budget, plain=True, names=names).run():
            yield back(span, pieces, cuts)

    def _undisguised(self, data: bytes, budget: Steps) -> Iterator[Span]:
        """What shows only without escape sequences, invisible characters, full-width letters and escaped ones."""
        cuts = folds(data, max(budget.left, 1) * _FOLDS)
        budget.left -= len(cuts) // _FOLDS
        if budget.left <= 0:
            yield 0, len(data), "unread"
        elif cuts:
            yield from self.again(data, cuts, budget)

    def _joined(self, data: bytes, start: int, end: int, budget: Steps) -> Iterator[Span]:
        """What shows only in the text without the joints between its literals, in one window of it."""
        part = data[start:end]
        found, told = self._joints(part, budget)
        for cuts, by_name in ((found, False), (told, True)):
            if cuts:
                for first, last, kind in self.again(part, cuts, budget, names=by_name):
                    if (kind == "named") is by_name or kind == "unread":
                        yield start + first, start + last, kind

    def _joints(self, data: bytes, budget: Steps) -> tuple[list[Span], list[Span]]:
        """All joints, and those among them that an operator makes certain."""
        found: list[Span] = []
        told: list[Span] = []
        at = 0
        while budget.left > 0 and (groups := self._joint(data, at))[0][0] >= 0:
            budget.left -= 1
            (_, at), lone = groups
            start, end = lone if lone[0] >= 0 else groups[0]
            if lone[0] >= 0 or joints.is_joint(data, start, end):
                found.append((start, end, "private"))
                if lone[0] < 0 and joints.is_operator(data, start, end):
                    told.append((start, end, "private"))
        return found, told


class _Scan:
    """One way through a text, from hit to hit."""

    __slots__ = (
        "_blocks",
        "_budget",
        "_data",
        "_finder",
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

    def __init__(self, finder: _Finder, data: bytes, budget: Steps, *, plain: bool = False, names: bool = True) -> None:
        self._finder = finder
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
        data, budget, whole = self._data, self._budget, self._finder.whole
        triggered = whole or self._finder.triggered
        trigger = name = triggered(data, first)[0][0]
        if not whole:
            name = self._start_apart(first)
        until, hits = len(data), 0
        started = process_time() if len(data) >= _LONG_TEXT else 0.0
        while trigger >= 0 or name >= 0:
            at = name if trigger < 0 or 0 <= name < trigger else trigger
            hits += 1
            if whole and (hits == _MANY_HITS or (hits % _TIMED == 0 and started and _crawls(started, at))):
                whole, triggered = None, self._finder.triggered
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
        for number, find in enumerate(self._finder.named):
            least = max(at, self._run_until) if number == _RUNS else at
            if 0 <= places[number] < least:
                places[number] = self._joined(least) if number == _NAMES else find(self._data, least)[0][0]
        return min((place for place in places if place >= 0), default=-1)

    def _start_apart(self, at: int) -> int:
        """The same, from a place where nothing is known."""
        self._places = [find(self._data, at)[0][0] for find in self._finder.named]
        self._places[_NAMES] = self._joined(at)
        return self._next_name(at)

    def _begins(self, matched: SearchWithin, at: int) -> bool:
        return matched(self._data, at, min(len(self._data), at + _JOINT_WINDOW))[0][0] >= 0

    def _joined(self, at: int) -> int:
        """Where the next name begins that has a joint near enough: of an endless word only the last ones may."""
        find, joined = self._finder.named[_NAMES], self._finder.joined
        while (at := find(self._data, at)[0][0]) >= 0 and not self._begins(joined, at):
            at = max(at + 1, _ENDLESS.match(self._data, at).end() - _NEAR_JOINT)  # type: ignore[union-attr]
        return at

    def _look(self, at: int) -> None:
        data, what = self._data, _BEGINS[self._data[at]]
        inside = at < self._run_until
        if inside and not self._begins(self._finder.signed, at):
            if what & _NAME and self._names and at >= self._named_until and self._begins(self._finder.joined, at):
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
        if named_here and (not inside or self._begins(self._finder.joined, at)):
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
            self._budget.left -= _JUDGED + (word - self._named_until) // _BYTES_JUDGED
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
        self._budget.left -= 2
        self._run_until, span, inside = runs.judge_run(self._data, at, self._holds)
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
            at = self._finder.triggered_within(self._data, at + 1, end)[0][0]
            if at < 0:
                return
            self._shapes(at)

    def _holds(self, text: bytes) -> bool:
        """Whether a text that was found encoded holds a secret; what is encoded in it in turn is not looked at."""
        self._budget.left -= len(text) // 256
        return not self._plain and bool(_Scan(self._finder, text, self._budget, plain=True).run())


_NAMES, _RUNS = 0, 2  # their places among the small automata
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


def _finder() -> _Finder:
    global _FINDER  # noqa: PLW0603 - made when first asked for, and asked for by every text
    if _FINDER is None:
        _FINDER = _Finder()
    return _FINDER


_FINDER: _Finder | None = None
