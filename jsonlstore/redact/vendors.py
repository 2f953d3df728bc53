"""What stands behind a provider's name alone: `deepgram = 7be0…`, `splunk.hec=…`, "my openweather key is …".

Such a name says less than a secret's: only what a machine made up is hidden, and only where nothing else explains it,
as a list of checksums or the rest of the name does. RE2 finds the value: values of this kind are rarer than names.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact import rules
from jsonlstore.redact.keys import looks_generated
from jsonlstore.redact.looks import is_placeholder, looks_random

if TYPE_CHECKING:
    from jsonlstore.redact.budget import Steps

_OPENS = r"""[ \t]*(?:\\*["'`])?"""
_ISSUED = "|".join(sorted(rules.words("vendors-uuid")))
# RE2, over bytes: a long hexadecimal number behind an operator or a blank (a log of commits has forty letters there), or a UUID behind one of the few who issue such keys
VALUE = (
    rf"(?:[=:(>]|is[ \t]){_OPENS}[0-9a-f]{{32}}|[ \t][0-9a-f]{{32}}(?:[^0-9a-f]|$|[0-9a-f]{{32}})"
    rf"|(?:key|token|auth|secret|api)[ \t]{_OPENS}[0-9a-f]{{32}}"
    rf"|(?:{_ISSUED})[\w.-]{{0,40}}(?:\\*[\"'`\])]){{0,2}}(?:[ \t]+(?:api|key|token|one)){{0,2}}[ \t]*(?:[=:(]|=>|is[ \t]){_OPENS}[0-9a-f]{{8}}-[0-9a-f]{{4}}-"
)
# the first byte of every match of `VALUE` that is no letter
OPERATORS = frozenset(b"=:(> \t")
_VALUE = re.compile(
    rb"""(?i)(?:[=:(>]|is[ \t]|(?:key|token|auth|secret|api)?[ \t])[ \t]*+(?:\\*["'`])?([0-9a-f]{32,64})(?![0-9A-Za-z_/+.-])"""
)
_UUID = re.compile(
    rb"""(?i)[a-z][\w.-]{1,60}+(?:\\*["'`\])]){0,2}(?:[ \t]++(?:api|key|token|one)){0,2}[ \t]*+(?:=>|[=:(]|is[ \t])[ \t]*+(?:\\*["'`])?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9A-Za-z_/+.-])"""
)
_HEX = re.compile(r"(?i)(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{32,64}\Z")
_ASSIGNED = re.compile(rb"""(?:(?:[=:(]|=>|[ \t]is)[ \t]*|(?<=[\w:)\]"'`/,])[ \t]{1,4})(?:\\*["'`])?\Z""")
# what may stand between a provider's name and its key: the first half of a pair, a version
_BESIDE = re.compile(r"v?[0-9]{1,2}|[/|+&,-]|and|init|[0-9a-f]{32,64}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{18,40}")
_CLOSED = b"\"'`\\])*"
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_VENDORS = frozenset(name.replace("_", "") for name in rules.words("vendors"))
_OWN = rules.words("vendors-own")  # what the rest of a name may say and leave it one
_LINE, _LEAST, _MOST_WORDS, _LONGEST_NAME, _MOST_PARTS = 200, 18, 5, 80, 10
_LISTED = re.compile(rb"""[ \t"'{,-]*+[\w@./+-]{1,80}["']?[ \t]*[:=]{1,2}[ \t]*["']?([0-9a-fA-F]{32,64})\b""")


def vendors_value(data: bytes, at: int, budget: Steps) -> tuple[int, list[tuple[int, int]]]:
    """Where to go on, and the span to hide behind a provider's name; `at` is a match of `VALUE`."""
    found = _VALUE.match(data, at, at + _LINE) or _UUID.match(data, at, at + _LINE)
    if not found:
        return at + 1, []
    budget.weigh(len(found[1]))
    if _is_in_list(data, at, found.end(1), len(found[1])) or not is_vendors_key(found[1].decode()):
        return at + 1, []
    return (at + 1, [found.span(1)]) if _is_said(data, found.start(1)) else (at + 1, [])


def vendors_run(data: bytes, start: int, end: int) -> tuple[int, int] | None:
    """The span to hide of a run of letters and digits that is no token of its own, behind a provider's name."""
    start = max(start, data.rfind(b"=", start, end - _LEAST) + 1)
    if end - start < _LEAST or end - start > _LINE or not _is_said(data, start):
        return None
    text = data[start:end].decode("latin1")
    return (start, end) if looks_random(text) and looks_generated(text) else None


def is_vendors_key(text: str) -> bool:
    """Whether a value is one that a provider may have issued, where it stands behind its name."""
    if is_placeholder(text):
        return False
    return _HEX.match(text) is not None or (len(text) >= _LEAST and looks_generated(text))


def _is_said(data: bytes, start: int) -> bool:
    """Whether what begins at `start` is assigned to the name of a provider, or said to be its key."""
    head = data[max(0, start - _LINE) : start].rpartition(b"\n")[2]
    joint = _ASSIGNED.search(head[-16:])
    if not joint:
        return False
    words = head[: len(head) - len(joint[0])].split()[-_MOST_WORDS:]
    for word in reversed(words):
        name = word.rpartition(b"(")[2].rstrip(_CLOSED).rstrip(b",;:").decode("latin1")
        if is_vendors_name(name):
            return True
        if name.lower() not in _OWN and name not in ("", "=", ":", "one") and not _BESIDE.fullmatch(name):
            return False
    return False


@lru_cache(maxsize=1024)
def is_vendors_name(name: str) -> bool:
    """`splunk.hec` and `DEEPGRAM` are a provider's, `datadog_trace_id` names something of its own."""
    parts = [part.lower() for part in _PART.findall(name[-_LONGEST_NAME:])]
    if len(parts) > _MOST_PARTS:
        return False  # a run of letters and digits
    for first in range(len(parts)):
        for last in (first + 1, first + 2):
            if "".join(parts[first:last]) in _VENDORS:
                rest = (*parts[:first], *parts[last:])
                return all(part in _OWN or part.isdigit() for part in rest)
    return False


def _is_in_list(data: bytes, at: int, end: int, size: int) -> bool:
    """Whether the line above or below has a number as long behind another name: the checksums of a lock file."""
    start = data.rfind(b"\n", max(0, at - _LINE), at)
    above = data[max(0, start - _LINE) : max(0, start)].rpartition(b"\n")[2]
    below = data[end : end + 2 * _LINE].partition(b"\n")[2].partition(b"\n")[0]
    found = (_LISTED.match(above), _LISTED.match(below))
    return any(
        one and len(one[1]) == size and not is_vendors_name(one[0].decode("latin1").strip(" \t\"'{,-").split(":")[0])
        for one in found
    )
