"""Shapes where their triggers stand: which may begin with a byte, their expressions, what a match must be like."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from jsonlstore.core import expressions as re
from jsonlstore.core.regex import any_of, compiled, matcher, searcher_within
from jsonlstore.redact import rules
from jsonlstore.redact.keys import looks_typed
from jsonlstore.redact.looks import (
    is_key_hex,
    is_placeholder,
    is_reference,
    is_wordy,
    looks_random,
    looks_secret,
    tells,
)
from jsonlstore.redact.names import PASSWORD_WORDS
from jsonlstore.redact.rules import Shape, own_rules, shapes, words

if TYPE_CHECKING:
    from jsonlstore.core.regex import Groups, SearchWithin

SHAPES = shapes()
_URL_WORDS = frozenset(
    ("tag", "token", "redacted", "xxxxx", "masked", "hidden", "password", "pass", "pwd", "pw", "passwd")
)
_PASSWORD_WORD = re.compile(rf"(?i:{PASSWORD_WORDS})\Z")  # user:wachtwoord@host
_OURS = len(SHAPES) - len(own_rules().shapes)


def all_triggers() -> str:
    """One expression for the triggers of all shapes.

    Branches that begin alike stand side by side, as RE2 joins only such: the automaton has fewer ways to follow, and
    its first states, which cost most, are made in three quarters of the time.
    """
    ours = {branch for shape in SHAPES[:_OURS] for branch in _branches(shape.trigger)}
    return any_of([*sorted(ours), *(shape.trigger for shape in SHAPES[_OURS:])])


@cache
def triggers(byte: int) -> tuple[SearchWithin, tuple[int, ...]]:
    """Whether one of the triggers that may begin with a byte begins at a place, and which those are.

    Of RE2's, because Python takes a hundred times as long to compile so many alternatives, and most bytes begin none.
    """
    some = tuple(at for at, begins in enumerate(_begins()) if any(one[0] <= byte <= one[1] for one in begins))
    begun = [SHAPES[index].trigger if index < _OURS else "" for index in some]  # a user's is asked for by its shape
    return matcher(compiled(any_of(begun), groups=False)), some


@cache
def own_trigger(index: int) -> re.Pattern[bytes]:
    """A shape's own trigger; most are never needed."""
    if index >= _OURS:
        return re.compile(b"")  # a user's: RE2 has found it and will look again, Python might never end
    trigger = SHAPES[index].trigger
    scoped = f"(?i:{trigger[4:]})" if trigger.startswith("(?i)") else f"(?:{trigger})"
    return re.kept(scoped.encode())


@cache
def begun(byte: int, second: bytes) -> tuple[int, ...]:
    """Those of `triggers` that may go on with a second byte: to ask all takes longer than anything else here."""
    some = triggers(byte)[1]
    return tuple(index for index in some if any(_may_begin(begin, byte, second) for begin in _begins()[index]))


def _may_begin(begin: _Begin, byte: int, second: bytes) -> bool:
    return begin[0] <= byte <= begin[1] and (not second or begin[2] <= second[0] <= begin[3])


@cache
def _begins() -> list[list[_Begin]]:
    """For each shape the bytes its trigger may begin with, so that a hit asks a few of them and not all."""
    return [[begin for branch in _branches(shape.trigger) for begin in _begins_of(branch)] for shape in SHAPES]


def _begins_of(branch: str) -> list[_Begin]:
    """The first and the second byte of a branch, each from the least to the most; in either case where it says so."""
    if opened := _OPENED.match(branch):  # what one range would hold is far more than what its ends say
        flag, rest = opened[1] or "", branch[opened.end() :]
        return [begin for part in opened[2].split("|") for begin in _begins_of(flag + part + rest)]
    if pair := _PAIR.match(branch):  # most do, and need not be compiled to tell
        firsts, seconds = ({pair[2].lower(), pair[2].upper()}, {pair[3][-1].lower(), pair[3][-1].upper()})
        if not pair[1]:
            firsts, seconds = {pair[2]}, {pair[3][-1]}
        return [(ord(one), ord(one), ord(two), ord(two)) for one in firsts for two in seconds]
    if letter := _LITERAL.match(branch):
        return [
            (ord(one), ord(one), 0, 255) for one in ({letter[2].lower(), letter[2].upper()} if letter[1] else letter[2])
        ]
    least, most = compiled(branch).possiblematchrange(8)
    if least[:1] != most[:1] and least[:1].lower() == most[:1].lower():
        return [(first, first, 0, 255) for first in (least[0], most[0])]
    alike = least[0] == most[0] and len(least) > 1 and len(most) > 1
    return [(least[0], most[0], least[1] if alike else 0, most[1] if alike else 255)]


_Begin: TypeAlias = "tuple[int, int, int, int]"
# a choice of words that a branch begins with; a letter or figure and what certainly follows it
_OPENED = re.compile(r"(\(\?i\))?\(\?:([A-Za-z0-9_|-]+)\)(?![?*+{])")
_LITERAL = re.compile(r"(\(\?i\))?([A-Za-z0-9])(?![?*+{])")
_PAIR = re.compile(r"(\(\?i\))?([A-Za-z0-9_-])([A-Za-z0-9_=:-]|\\[._=:-])(?![?*+{])")


def _branches(trigger: str) -> list[str]:
    """The alternatives of a trigger: what one range would hold is far more than what its ends say."""
    flag = "(?i)" if trigger.startswith("(?i)") else ""
    branches, depth = [""], 0
    for part in _PARTS.findall(trigger.removeprefix("(?i)")):
        depth += (part == "(") - (part == ")")
        if part == "|" and depth == 0:
            branches.append("")
        else:
            branches[-1] += part
    return [flag + branch for branch in branches]


_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)  # an escape, a class, a character


@cache
def search_of(index: int) -> SearchWithin:
    """A shape's own expression; most are never needed. Of one that counts, where it may begin: no groups."""
    shape = SHAPES[index].shape
    return searcher_within(compiled(uncounted(shape), groups=_COUNTED.search(shape) is None))


@cache
def counted_from(index: int) -> SearchWithin | None:
    """What finds a shape that counts where it may begin, or None: it finds what was found.

    An automaton that counts from every place of a text at once has a state for each set of sums, and hostile text takes
    it to ever new ones (a window of two kilobytes took four milliseconds). Counted from one place there is one sum.
    """
    shape = SHAPES[index].shape
    if not _COUNTED.search(shape):
        return None
    begins = matcher(compiled(shape, groups=False))

    def count(data: bytes, at: int, end: int) -> Groups:
        start, last = (found := begins(data, at, end))[0]
        return _groups_of(index)(data, start, last) if start >= 0 else found  # groups cost most: only of what is found

    return count


@cache
def _groups_of(index: int) -> SearchWithin:
    return matcher(compiled(SHAPES[index].shape))


def uncounted(expression: str) -> str:
    """An expression without upper bounds: it finds whatever the expression finds, perhaps more."""
    return _COUNTED.sub(r"{\1,}?", expression)


# of so many that their sums make a difference: `{0,200}`, `{4,80}?`
_COUNTED = re.compile(r"\{([0-9]{1,2}),(?:1[6-9]|[2-9][0-9]|[0-9]{3,})\}\??")


def fits(shape: Shape, data: bytes, start: int, end: int) -> bool:  # noqa: C901, PLR0911, PLR0912 - one exit per condition
    if shape.near and not _is_near(shape, data, start):
        return False
    if data[max(0, start - 8) : start] == b"enode://":
        return False  # what a node is called by, its public key
    if data[end : end + 1] == b"{" and data[end - 1 : end] in (b":", b"_", b"-", b"="):
        return False  # Bearer kind:{}, what a program adds is the secret
    if start > _BLOB and data[start - 1] in _BASE64 and not data[start - _BLOB : start].translate(None, _BASE64):
        return False  # inside of a font, a table or another long run
    if data[end : end + 4] in (b"/tcp", b"/udp"):
        return False  # a port
    if data[start - 1 : start] in _HASHED_SIGNS and _HASHED.search(data, max(0, start - _LONGEST_HASH), start):
        return False  # inside of a hash of a lock file
    if not shape.unlike:
        return shape.kind != "facebook" or not _ONLY_HEX.match(data, start, end)
    value = data[start:end].decode("utf-8", "replace")
    if value.startswith(("//", "http://", "https://")) or (shape.kind == "url-token" and "%40" in value):
        return False  # -u http://host: an address, no user and password; imap://bob%40example.org@host
    if shape.unlike == "url":
        # `secret` is a word, but nobody writes one between a user and a host; `user:password` stands in every manual
        return not (
            is_reference(value)
            or re.match(r"\d+[/?#]", value)
            or value.lower().strip("[]()<>{}") in _URL_WORDS
            or _PASSWORD_WORD.match(value.rstrip("@"))
        )
    quoted = data[max(0, start - 1) : start] in (b"'", b'"')
    if is_placeholder(value, bare=not quoted and shape.unlike not in ("random", "chosen", "mixedchosen")):
        return False
    if (shape.kind == "basic-auth" and is_wordy(value)) or (shape.kind == "netrc" and value.lower() in _TALK):
        return False  # Basic round2SameRect; login and password with
    if shape.unlike == "plain":
        return looks_secret(value) or looks_random(value) or (len(value) > 30 and any(c.isdigit() for c in value))
    if shape.unlike == "chosen":
        return looks_secret(value, chosen=True)
    if shape.unlike == "mixedchosen":
        return looks_secret(value, chosen=True) and len(_SIGNED.sub("", value)) < len(value) - 1
    if shape.unlike == "id":
        if _IDENTIFIED.search(data, max(0, start - 16), start) or _OF_A_FILE.search(value):
            return False
        return not _ID_NAMES.intersection(_NAME_PARTS.findall(_NUMBER.sub("", value).lower()))
    if shape.unlike == "told":
        return tells(value)
    if shape.unlike == "typed":
        return looks_typed(value)
    if shape.unlike == "hexchosen":
        return looks_secret(value, chosen=True) or is_key_hex(value)
    if shape.unlike == "mixed":
        return any(c.isdigit() for c in value[:-64])
    if shape.unlike == "random":
        return looks_random(value)
    if shape.unlike in ("ids", "option"):
        ports = value.replace(":", "").isdigit() and (":" in value or len(value) < 6)
        return not ports and not value.startswith("-") and not value.endswith(",")
    return True


def _is_near(shape: Shape, data: bytes, start: int) -> bool:
    """Whether the command is the one that has such an option: it stands before it in the same, perhaps wrapped line."""
    low = max(0, start - 2000)
    places = (data.rfind(word, low, start) for word in shape.near)
    at = max((at for at in places if at >= 0 and _begins_word(data, at)), default=-1)
    return at >= 0 and not _ENDED.search(data, at, start)


def _begins_word(data: bytes, at: int) -> bool:
    """gunzip is not unzip; the n of an escaped line break is no part of a word."""
    return at == 0 or not data[at - 1 : at].isalnum() or data[max(0, at - 2) : at - 1] == b"\\"


_OF_A_FILE = re.compile(r"_8[a-z]{1,4}_a[0-9a-f]{32}")  # matrix_8c_a5ae…: an anchor in the pages of a C file
_IDENTIFIED = re.compile(
    rb"(?i)(?:(?:[^a-z]id|href|anchor|alias|[^a-z]name)\\*[\"']?[ \t]*[=:][ \t]*\\*[\"']#?"
    rb"|boundary=\\*[\"']?[_=.-]{0,20}|[#/])\Z"
)
_TALK, _ONLY_HEX = rules.words("talk"), re.compile(rb"[0-9A-F]+\Z")
_HASHED_SIGNS, _LONGEST_HASH = (b"+", b"/"), 100
_HASHED = re.compile(rb"(?:sha(?:1|256|384|512)|md5)[-:][A-Za-z0-9+/]*\Z")
_ID_NAMES = frozenset().union(*map(words, ("ids", "keyed", "about", "hex-named")))
_NUMBER = re.compile(r"[_-][0-9a-f]{32}.*")
_NAME_PARTS = re.compile(r"[a-z]+|[a-z]+[0-9]+")
_SIGNED = re.compile(r"[A-Z0-9!@#$%^&*_]")
_BLOB, _BASE64 = 160, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_ENDED = re.compile(rb"(?<!\\)(?:\r?\n|\\n)|[ \t]\|[ \t]")
