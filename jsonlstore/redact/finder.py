"""Where secrets lie in bytes: one pass of RE2 asks whether any could, exact work is done only where it says yes.

RE2 cannot backtrack, whatever looks past a match is bounded, and every look is paid for from a budget: a text that asks
for more than any real one does is not read to its end. What was not read is dropped, never kept as it was. The budget
counts steps and bytes, not time, so that the same text gives the same result on any machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.regex import compiled, searcher
from jsonlstore.redact import joints
from jsonlstore.redact.automata import LONG_TEXT, MOST_BYTES, Automata
from jsonlstore.redact.budget import AGAIN, Steps
from jsonlstore.redact.folding import folds
from jsonlstore.redact.rules import own_rules
from jsonlstore.redact.scan import SecretScan
from jsonlstore.redact.spans import MARK, UNREAD, Span, back, hide

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEAVE = own_rules().leave

_BYTES_AGAIN = 1000  # bytes a step that are read once more
_AROUND_DISGUISE = 4096  # bytes that may depend on a letter: a line of a table, a container


def may_hide(data: bytes) -> bool:
    """Whether there may be something to hide; False is certain."""
    return first_hit(data) >= 0


def first_hit(data: bytes) -> int:
    """Where the first place is that may hold something to hide, or -1."""
    finder = _FINDER or _finder()
    whole = finder.whole
    if whole is not None and len(data) < LONG_TEXT:
        return whole(data, 0, len(data))[0][0]
    return finder.first(data)


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


class _Finder(Automata):
    """What all rules find in a text, as it stands and without its joints and disguises."""

    def __init__(self) -> None:
        super().__init__()
        self._joint = searcher(compiled(f"{joints.JOINT}|{joints.LONE}"))

    def spans(self, data: bytes, budget: Steps, first: int = 0) -> list[Span]:
        """Every span of every rule, unmerged."""
        scan = SecretScan(self, data, budget)
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
        budget.left -= AGAIN + len(data) // _BYTES_AGAIN
        shown, pieces = hide(data, cuts)
        for span in SecretScan(self, shown, budget, plain=True, names=names).run():
            yield back(span, pieces, cuts)

    def _undisguised(self, data: bytes, budget: Steps) -> Iterator[Span]:
        """What shows only without escape sequences, invisible characters, full-width letters and escaped ones."""
        budget.left -= len(data) // _BYTES_AGAIN
        cuts = folds(data, max(budget.left, 1))
        index = 0
        for start, end in joints.windows(data, [cut[0] for cut in cuts], _AROUND_DISGUISE):
            some = []
            while index < len(cuts) and cuts[index][1] <= end:
                first, last, kind = cuts[index]
                some.append((first - start, last - start, kind))
                index += 1
            budget.left -= len(some)
            if budget.left <= 0:
                yield start, len(data), "unread"
                return
            for first, last, kind in self.again(data[start:end], some, budget):
                yield start + first, start + last, kind

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


def _finder() -> _Finder:
    global _FINDER  # noqa: PLW0603 - made when first asked for, and asked for by every text
    if _FINDER is None:
        _FINDER = _Finder()
    return _FINDER


_FINDER: _Finder | None = None
