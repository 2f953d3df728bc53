"""What kept a tool from its work, by the words of programs: no permission, no credit, nothing there under that name.

Programs say this in English whatever language people speak. A refusal counts while the same program was refused nothing
less since, and while the session's last words still speak of it: agents find another way more often than they say so.
"""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.shell import steps
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 8
_REACH = 2  # turns
_HEAD = 2_000
_LONGEST_NAME = 40
_REFUSED = re.compile(
    r"\b(?:40[137]|402|429)\b|[Pp]ermission denied|EACCES|EPERM|[Uu]nauthori[sz]ed|[Ff]orbidden|[Aa]ccess (?:is )?denied"
    r"|[Nn]ot (?:authori[sz]ed|logged in|authenticated)|[Aa]uthentication (?:failed|required)|[Ll]ogin required"
    r"|(?:[Ii]nvalid|[Mm]issing|[Ii]ncorrect|[Ee]xpired) (?:\w+ )?(?:API[ _-]?[Kk]ey|api[ _-]?key|credentials?|token|password)"
    r"|[Qq]uota|[Rr]ate[ -]?limit|[Ii]nsufficient \w+|[Cc]redit balance|billing"
    r"|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|[Cc]ould not resolve host|[Cc]onnection (?:refused|reset|timed out)|[Nn]etwork is unreachable"
    r"|No module named|ModuleNotFoundError|Cannot find module|command not found|not installed|[Nn]o space left|out of memory"
)
_TERM = re.compile(r"\b[45]\d\d\b|[A-Z]{4,}|(?<![\w-])[\w-]++(?:\.[\w-]++)++|['\"`]([^'\"`\s]{3,60})['\"`]")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that was refused what it needed, and the words it was refused with."""

    what: str
    said: str
    turn: int
    at: str
    entry_id: str | None


@dataclass(slots=True)
class Refusals:
    """The latest refusals of a stretch, one a program."""

    _kept: dict[str, Refusal] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether there is any: most sessions have none, and need not be told what went well."""
        return bool(self._kept)

    def passed(self, what: str) -> None:
        """The same program went well."""
        if self._kept:
            self._kept.pop(_program(what), None)

    def failed(self, what: str, summary: str, text: str, turn: int, at: str, entry_id: str | None) -> None:
        """A call failed; it is kept if it was refused something."""
        if not _REFUSED.search(summary) and not _REFUSED.search(text[:_HEAD]):
            return
        self._kept.pop(_program(what), None)
        self._kept[_program(what)] = Refusal(what, summary, turn, at, entry_id)
        if len(self._kept) > _MOST:
            del self._kept[next(iter(self._kept))]

    def told_by(self, closing: str, turn: int) -> Iterator[Refusal]:
        """Those of the last turns that the session's last words speak of, the latest first."""
        words = content_words(closing[-_HEAD:]) if self._kept else frozenset[str]()
        for one in reversed(self._kept.values()):
            terms = {found[1] or found[0] for found in _TERM.finditer(one.said)}
            spoken = [term for term in terms if term in closing]
            if turn - one.turn < _REACH and (spoken or len(content_words(one.said) & words) > 2):
                yield one


def _program(what: str) -> str:
    """What is called, without what it is called with: the program and where it goes."""
    ran = steps(what)
    target = next((word for word in what.split() if "://" in word), "")
    return f"{ran[-1].family if ran else what[:_LONGEST_NAME]} {'/'.join(target.split('/')[:3])}"
