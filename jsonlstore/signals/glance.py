"""One look at what somebody said: could it hold a secret, tell something, or be about a task?

Most messages do none of these. One automaton that looks for all of them costs one pass instead of one for each.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jsonlstore.signals import secret_finder, tasks
from jsonlstore.signals.pattern_matcher import telling
from jsonlstore.signals.searching import any_of, compiled, searcher
from jsonlstore.signals.sentences import FENCES

if TYPE_CHECKING:
    from jsonlstore.signals.searching import Search


def is_plain(text: str) -> bool:
    """Whether there is nothing in `text` to redact, to detect, to open a task by, or to cut out as code.

    It errs on the side of a closer look: letters beyond ASCII, whose cases RE2 and Python may fold differently, always
    get one.
    """
    return text.isascii() and _telling()(text.encode(), 0)[0][0] < 0


@cache
def _telling() -> Search:
    return searcher(compiled(any_of([secret_finder.TELLING, telling(), tasks.TELLING, *FENCES]), text=True))
