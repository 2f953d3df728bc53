"""The automata of RE2 that say where to look: a large one, or several small ones that find the same."""

from __future__ import annotations

from functools import cached_property
from time import process_time
from typing import TYPE_CHECKING

from jsonlstore.core.regex import any_of, compiled, matcher, searcher_within
from jsonlstore.redact import assignments as named
from jsonlstore.redact import containers, joints, runs
from jsonlstore.redact.folding import FOLDED
from jsonlstore.redact.phrases import TELLS
from jsonlstore.redact.triggers import all_triggers

if TYPE_CHECKING:
    from jsonlstore.core.regex import SearchWithin

MOST_BYTES = 16 << 20  # of one text; the rest of a longer one is not read
LONG_TEXT = 2048  # bytes
MUCH_TEXT = 1 << 16  # bytes; how slow the large automaton may become is seen only when it comes to an end
_SIGNS = (joints.HINT, containers.HEAD, FOLDED, f"(?i:{TELLS})")
_NAMED = (named.ENDLESS_NAME, *_SIGNS, runs.ENDLESS_HINT)
_SAMPLED = 7  # of eight texts are not timed: the clock costs as much as a page of text
_WATCHED, _SLOW = 1 << 16, 50e6  # bytes, and bytes a second: twice what is left of the speed where states do not fit
_COMPARED, _JUDGED = 2, 3  # slow stretches of so many bytes before the small automata run beside it, and are known


class Automata:
    """All rules behind one expression: whatever may be telling is found in one pass and looked at where it stands.

    Names are looked for with endless tails: an automaton that counts the letters behind each of many names has a state
    for each sum and never comes to know them all (a megabyte of names without a joint took two seconds). A name whose
    joint turns out to be too far away is none.

    Not an RE2 set: a set's automaton remembers which members have matched so far, so a dozen common triggers make
    thousands of states of it, and it crawls. Even the one expression's automaton has states that are pairs of a
    trigger's and a name's. Much and varied text, source code above all, fills its memory with them; then RE2 begins
    anew again and again, at a tenth of its speed (25 MB/s). So the time of long texts is watched, and where it is long
    and four expressions with few states each (300 MB/s) take less of it, those are used from there on, as they are for
    the rest of any text with thousands of hits. Both ways find the same: only the speed depends on the clock.
    """

    def __init__(self) -> None:
        self.whole: SearchWithin | None = searcher_within(compiled(any_of([all_triggers(), *_NAMED])))
        self._texts, self._bytes, self._seconds, self._apart, self._slow = 0, 0, 0.0, 0.0, 0

    @cached_property
    def named(self) -> tuple[SearchWithin, ...]:
        """Where a name, a joint, a container or a disguise may begin, and where a run may."""
        return tuple(searcher_within(compiled(one)) for one in (named.ENDLESS_NAME, any_of(_SIGNS), runs.ENDLESS_HINT))

    @cached_property
    def joined(self) -> SearchWithin:
        """Whether the name that begins here has a joint near enough; what tells by itself is another one's find."""
        return matcher(compiled(named.NAME.removesuffix(f"|{TELLS}")))

    @cached_property
    def triggered(self) -> SearchWithin:
        """Where a shape's trigger stands."""
        return searcher_within(compiled(all_triggers()))

    def first(self, data: bytes) -> int:
        """Where the first place is that may hold something to hide, or -1."""
        whole = self.whole
        if whole is None or len(data) > MUCH_TEXT:
            at = self._first(data)
        else:
            self._texts += 1
            at = whole(data, 0, len(data))[0][0] if self._texts & _SAMPLED else self._timed(whole, data)
        return min(len(data), MOST_BYTES) if at < 0 and len(data) > MOST_BYTES else at

    def _first(self, data: bytes) -> int:
        """The same with the small automata: two of them in one would have a state for each pair of their states."""
        found = (find(data, 0, len(data))[0][0] for find in (self.triggered, *self.named))
        return min((at for at in found if at >= 0), default=-1)

    def _timed(self, whole: SearchWithin, data: bytes) -> int:
        started = process_time()
        at = whole(data, 0, len(data))[0][0]
        self._seconds += process_time() - started
        if self._slow >= _COMPARED:  # a machine with much else to do is slow whatever it is asked
            started = process_time()
            self._first(data)
            self._apart += process_time() - started
        self._bytes += len(data) if at < 0 else at
        if self._bytes > _WATCHED:
            slow = self._seconds * _SLOW > self._bytes
            # the first states of an automaton are slow to make whatever the text
            if slow and self._slow >= _JUDGED and self._seconds > self._apart:
                self.whole = None
            self._slow = self._slow + 1 if slow else 0
            self._bytes, self._seconds, self._apart = 0, 0.0, 0.0
        return at
