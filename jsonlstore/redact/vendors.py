"""What stands near a provider's name: `deepgram = 7be0…`, `X-Airship-Auth: …`, `("AbuseIPDB", "…")`, "# Mixpanel" above it.

Such a name says less than a secret's: only what a machine made up is hidden, and only where nothing between the two says
that it is something else, as a checksum, an id or a commit. RE2 finds the value: such values are rarer than names.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from jsonlstore.core import expressions as re
from jsonlstore.redact import rules
from jsonlstore.redact.keys import looks_generated
from jsonlstore.redact.looks import is_placeholder, looks_random

if TYPE_CHECKING:
    from jsonlstore.redact.budget import Steps

_OPENS = r"""[ \t]*(?:\\*["'`])?"""
_ISSUED = "|".join(sorted(rules.words("vendors-uuid")))
# RE2, over bytes: a long hexadecimal number behind an operator, a quote or a blank (forty letters behind a blank are a commit's in every log, so not behind a t), or the name of one of the few whose keys are UUIDs
VALUE = (
    rf"(?:[=:(>,\[]|is[ \t]){_OPENS}[0-9a-f]{{32}}|[ \t][0-9a-f]{{32}}(?:[^0-9a-f]|$|[0-9a-f]{{32}})|\n[0-9a-f]{{32}}|[|-][ \t][0-9a-f]{{32}}"
    rf"|(?:key|token|auth|secret|api|use|with|value|one)[ \t]{_OPENS}[0-9a-f]{{32}}|[0-9a-su-z][ \t][0-9a-f]{{40}}"
    rf"|(?:{_ISSUED})"
)
# the first byte of every match of `VALUE` that is no letter
OPERATORS = frozenset(b"=:(> \t,[\n|")
_VALUE = re.compile(
    rb"""(?i)(?:[=:(>,\[\n|]|is[ \t]|(?:key|token|auth|secret|api|use|with|value|one|[0-9a-z])?[ \t])[ \t]*+(?:- )?(?:\\*["'`])?([0-9a-f]{32,64})(?![0-9A-Za-z_/+-]|\.[0-9A-Za-z])"""
)
_UUID = re.compile(
    rb"""(?i)[a-z][^\n]{1,100}?["'`=:(>{ \t/]([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9A-Za-z_/+-]|\.[0-9A-Za-z])"""
)
_HEX = re.compile(r"(?i)(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{32,64}\Z")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_BEFORE = re.compile(rb"[ \t\r\n=:(>,\[{\"'`|&?]\Z")
# the first half of a pair, a hash: letters of it are no words
_RANDOM = re.compile(r"(?=[A-Za-z_-]{0,80}[0-9])[0-9A-Za-z_-]{18,}")
_LINE, _LEAST, _LEAST_BESIDE, _LEAST_RANDOM, _LONGEST_NAME, _MOST_PARTS = 200, 18, 14, 16, 80, 10
_NEAR, _FAR, _LINES = (
    40,
    120,
    4,
)  # bytes between a provider's name and a value, where nothing tells of a key and where something does; lines
_SAID, _LEAST_SAID = 60, 20
_MOST_JOINED = 4  # parts of a name: d7network
_LISTED = re.compile(rb"""[ \t"'{,-]*+[\w@./+-]{1,80}["']?[ \t]*[:=]{1,2}[ \t]*["']?([0-9a-fA-F]{32,64})\b""")
_LOOK = 8  # steps


class _Lists(NamedTuple):
    """The words that tell; read when the first value asks for them."""

    vendors: frozenset[str]
    words: frozenset[str]  # providers whose names are words
    things: frozenset[str]  # of those, what names anything in a program
    uuids: frozenset[str]  # providers whose keys are UUIDs
    begins: frozenset[str]  # how the names begin, up to three letters
    own: frozenset[str]  # what the rest of a provider's name may say and leave it one
    telling: frozenset[str]
    saying: frozenset[str]  # of that, what says by itself that a value is one
    keys: frozenset[str]  # before a key, what makes it one that opens something
    another: frozenset[str]  # before a token, what makes it none
    other: frozenset[str]  # what says that a value is no key


@cache
def _lists() -> _Lists:
    vendors = frozenset(name.replace("_", "") for name in rules.words("vendors"))
    words, own, telling = (rules.words(f"vendors-{name}") for name in ("words", "own", "telling"))
    other = frozenset().union(*map(rules.words, ("vendors-other", "hex-named", "keyed", "ids", "about")))
    return _Lists(
        vendors,
        words - vendors,
        rules.words("vendors-things"),
        rules.words("vendors-uuid"),
        frozenset(name[:size] for name in vendors | words for size in (1, 2, 3)),
        own,
        telling,
        rules.words("vendors-saying"),
        rules.words("vendors-keys"),
        rules.words("other"),
        other - own - telling - rules.words("vendors-between") | {"id", "ids"},
    )


def vendors_value(data: bytes, at: int, budget: Steps) -> tuple[int, list[tuple[int, int]]]:
    """Where to go on, and the span to hide near a provider's name; `at` is a match of `VALUE`."""
    found = _VALUE.match(data, at, at + _LINE) or (None if data[at] in OPERATORS else _UUID.match(data, at, at + _LINE))
    if not found:
        return at + 1, []
    budget.left -= _LOOK
    if not _is_near(data, *found.span(1), _lists().uuids if b"-" in found[1] else _lists().vendors):
        return at + 1, []
    budget.weigh(len(found[1]))
    if _is_in_list(data, at, found.end(1), len(found[1])) or not is_vendors_key(found[1].decode()):
        return at + 1, []
    return at + 1, [found.span(1)]


def vendors_run(data: bytes, start: int, end: int) -> tuple[tuple[int, int] | None, int]:
    """The span to hide of a run of letters and digits that is no token of its own, near a provider's name; and how many
    bytes the answer weighs.
    """
    start = max(start, data.rfind(b"=", start, end - _LEAST_BESIDE) + 1)
    size = end - start
    if size < _LEAST_BESIDE or size > _LINE or not _BEFORE.search(data[start - 1 : start]):
        return None, _ASKED
    if not _is_near(data, start, end, _lists().vendors):
        return None, _SOUGHT
    text = data[start:end].decode("latin1")
    generated = looks_random(text) or (size < _LEAST_RANDOM and looks_generated(text))
    return (start, end) if generated and not _NUMBERED.match(text) else None, _SOUGHT + _WEIGHED + size


_ASKED, _SOUGHT, _WEIGHED = 6, 15, 24  # bytes that are weighed: asked, looked for a name nearby, judged
# a file, the number of an advisory or of a parcel
_NUMBERED = re.compile(r".*\.[A-Za-z]{1,5}\Z|(?:GHSA|CVE|RUSTSEC|PYSEC)-|1Z[0-9A-Z]{16}\Z")


def is_vendors_key(text: str) -> bool:
    """Whether a value is one that a provider may have issued, where it stands near its name."""
    if is_placeholder(text):
        return False
    return _HEX.match(text) is not None or (len(text) >= _LEAST and looks_generated(text))


def _is_near(data: bytes, start: int, end: int, names: frozenset[str]) -> bool:
    """Whether the name of a provider stands before a value, and nothing between them says that it is no key; or right behind.

    One of `names` does alone, any other's only where something tells of a key, or where nothing at all is between.
    """
    lists = _lists()
    commit = _COMMIT.match(data, start, end) is not None
    lines = data[max(0, start - _FAR) : start].replace(b"\\n", b" \n").split(b"\n")[-_LINES:]
    head = _RANDOM.sub(lambda run: " " * len(run[0]), "\n".join(line.decode("latin1") for line in lines))
    parts = [(part[0].lower(), part.start()) for part in _PART.finditer(head)]
    telling, own_line = False, len(head) - len(lines[-1])
    for index in range(len(parts) - 1, -1, -1):
        part, at = parts[index]
        near = len(head) - at
        if part[:3] in lists.begins and (found := _name_at(parts, index)):
            name, ends = found
            told = telling or (index > 0 and parts[index - 1][0] in lists.telling and parts[index - 1][1] >= own_line)
            beside = _BESIDE.match(head, ends) is not None
            known = name in names and near <= _NEAR + len(name)
            if commit and not told:
                known = known and at >= own_line and _ASSIGNED.match(head, ends) is not None
            word = name in lists.words and ((told and at >= own_line) or (beside and name not in lists.things))
            if (known or word or (told and name in lists.vendors)) and (beside or end - start >= _LEAST):
                return head[at - 1 : at] != "@"
        if part in lists.other and at >= own_line and not _is_within(parts, index):
            return False
        if near <= _SAID and at >= own_line and names is lists.vendors and _says(parts, index):
            return end - start >= _LEAST_SAID
        telling = telling or part in lists.telling
        if near > _NEAR and not telling:
            return False
    return end - start >= _LEAST and (telling or not commit) and _is_behind(data, end, names)


def _says(parts: list[tuple[str, int]], index: int) -> bool:
    """Whether a word tells by itself that what follows on its line is one: the token, an API key; not the next token."""
    part, before = parts[index][0], parts[index - 1][0] if index else ""
    lists = _lists()
    if part == "key":
        return before in lists.keys
    return part in lists.saying and before not in lists.another


# nothing between a name and a value but what joins them
_BESIDE = re.compile(
    r"""[\\"'`\])*]{0,4}[ \t]{0,4}(?:[=:>(\[,|-]|:=|=>|\r?\n|is[ ]|one[ ]is[ ])?[ \t\r\n]{0,4}(?:- )?[\\"'`(\[]{0,3}\Z"""
)


# what a commit looks like, which stands near any name: a key only where something tells of one, or where it is assigned
_COMMIT = re.compile(rb"[0-9a-f]{40}(?![0-9A-Za-z])")
_ASSIGNED = re.compile(
    r"""(?i:\.[a-z]{2,5}\b)?[\\"'`\])]{0,4}(?:[ ]one)?[ \t]{0,4}(?:[=:(,]|:=|=>)[ \t]{0,4}[\\"'`(\[]{0,3}\Z"""
)


def _name_at(parts: list[tuple[str, int]], index: int) -> tuple[str, int] | None:
    """The provider's name whose first part is `parts[index]`, and its end; its own may be joined: `D7Network`, `Alpha Vantage`."""
    lists = _lists()
    name, ends, vendor, word = "", 0, None, None
    for part, at in parts[index : index + _MOST_JOINED]:
        if name and at - ends > 1:
            break
        name, ends = name + part, at + len(part)
        if name in lists.vendors:
            vendor = name, ends  # the longest: `vonage`, `vonage.video`
        word = word or ((name, ends) if name in lists.words else None)
    if vendor:
        return vendor
    part, at = parts[index]
    bare = _ENDS.sub("", part)  # deepgramkey
    return (bare, at + len(part)) if bare != part and bare in lists.vendors else word


def _is_within(parts: list[tuple[str, int]], index: int) -> bool:
    """Whether a part is the end or the middle of a provider's name: of `d7network`, of `phrase_app`."""
    earlier = (_name_at(parts, first) for first in range(max(0, index - _MOST_JOINED + 1), index))
    return any(found and found[1] > parts[index][1] for found in earlier)


_ENDS = re.compile(
    r"(?:api|access|auth|secret|admin|project|write|server|personal|bot|basic)?(?:key|token|secret|o?auth|api|app|io|messag(?:e|ing)|sms|webhook)s?\Z"
)
_BEHIND = re.compile(
    rb"""\\*["'`)\];,]*+[ \t]*+(?:#|//|--|/\*|<!--|\(|(?:with|for|on|from|as|is)[ \t](?:(?:the|my|our|a)[ \t])?)[ \t]*([A-Za-z0-9_. -]{3,40})"""
)


def _is_behind(data: bytes, end: int, names: frozenset[str]) -> bool:
    """`key = "…"  # airship`, "I use … with Airship": whose key it is, said right behind it."""
    lists = _lists()
    found = _BEHIND.match(data, end, end + 80)
    if not found:
        return False
    parts = [(part[0].lower(), part.start()) for part in _PART.finditer(found[1].decode("latin1"))][:_MOST_PARTS]
    for index, (part, _) in enumerate(parts):
        if part[:3] in lists.begins and (named := _name_at(parts, index)) and named[0] in names:
            return True
        if part in lists.other and not _is_within(parts, index):
            return False
    return False


@lru_cache(maxsize=1024)
def is_vendors_name(name: str) -> bool:
    """`splunk.hec` and `DEEPGRAM` are a provider's, `datadog_trace_id` names something of its own."""
    parts = [part.lower() for part in _PART.findall(name[-_LONGEST_NAME:])]
    if len(parts) > _MOST_PARTS:
        return False  # a run of letters and digits
    lists = _lists()
    for first in range(len(parts)):
        for last in range(first + 1, first + 1 + _MOST_JOINED):
            if "".join(parts[first:last]) in lists.vendors:
                rest = (*parts[:first], *parts[last:])
                return all(part in lists.own or part.isdigit() for part in rest)
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
