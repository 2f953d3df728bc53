"""How likely a value that the rules would hide is a secret: a sum of weights over what it and its place look like.

The rules know what a name announces and what a value is not. What stands behind `token` in programs and manuals is of
too many kinds for rules: names of things, labels, terms of a calculation, words of a sentence. So a value that nothing
generated is weighed once more: `data/likelihood.tsv` has a weight for each trait, found by `tools/likelihood.py` from
values that were judged by eye and from secrets drawn at random. Only the least likely are left, and none in settings.

What is looked at is bounded, and each look is paid for.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact import rules
from jsonlstore.redact.budget import LIKELY
from jsonlstore.redact.keys import looks_generated
from jsonlstore.redact.looks import is_key_hex, randomness
from jsonlstore.redact.names import Key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonlstore.redact.judging import Link

# A value that no code, word, version or address looks like; most are, and need no further question.
GENERATED = re.compile(
    rb"(?![A-Za-z]*[0-9]+[A-Za-z]*\Z)(?=\D*\d\D*\d\D*\d)(?=[0-9A-Fa-f_-]*[G-Zg-z])(?:[A-Za-z0-9]{2,8}[-_])?[A-Za-z0-9]{16,}\Z"
)
_LONGEST = 160  # bytes of a value that is weighed; a longer one is no word
_FAR = 200  # bytes between a name and its value
_BEFORE, _BEHIND = 400, 240  # bytes of the surroundings


def likely(data: bytes, spans: list[tuple[int, int]], link: Link, how: str) -> list[tuple[int, int]]:
    """The spans without those whose value is no secret in all likelihood; `how` says what joins it to its name."""
    return [span for span in spans if not _is_left(data, span, link, how)]


def _is_left(data: bytes, span: tuple[int, int], link: Link, how: str) -> bool:
    start = span[0]
    if data[link.name_end : start] == b"=" and data[link.name_at : link.name_end].isupper():
        return False  # TOKEN=word, of an environment
    if not is_weighed(data, span, link):
        return False
    link.budget.left -= LIKELY
    place = Surroundings(data, span, link, how)
    return not is_sure(place) and likelihood(place) < rules.weights()["least"]


def is_weighed(data: bytes, span: tuple[int, int], link: Link) -> bool:
    """Whether a value is short, near its name and not made up by a machine."""
    start, end = span
    if not 0 < end - start <= _LONGEST or start - link.name_end > _FAR:
        return False
    value = data[start:end]
    if GENERATED.match(value):
        return False
    text = value.decode("utf-8", "replace")
    return not is_key_hex(text) and not looks_generated(text)


class Surroundings:
    """A value, its name, and what stands around them, with the escapes of a string taken out."""

    __slots__ = ("after", "before", "between", "how", "level", "name", "op", "quoted", "text", "value")

    def __init__(self, data: bytes, span: tuple[int, int], link: Link, how: str) -> None:
        start, end = span
        self.value, self.text = data[start:end], data[start:end].decode("utf-8", "replace")
        self.name = data[link.name_at : link.name_end]
        self.before = _plain(data[max(0, link.name_at - _BEFORE) : link.name_at])
        self.between, self.op = data[link.name_end : start], data[link.op_at : link.op_end]
        after = _plain(data[end : end + _BEHIND])
        quote = after[:1]
        self.quoted = quote in _QUOTES and self.between.endswith(quote)
        self.after = after[1:] if self.quoted else after
        self.level, self.how = link.level, how


_QUOTES = (b'"', b"'", b"`")


def _plain(part: bytes) -> bytes:
    return part.replace(b"\\n", b"\n").replace(b"\\r", b"").replace(b"\\", b"") if b"\\" in part else part


def likelihood(place: Surroundings) -> float:
    """The sum of the weights of all traits: above 0 a secret, below 0 none."""
    weights = rules.weights()
    return weights["bias"] + sum(weights.get(trait, 0.0) for trait in traits(place))


def is_sure(place: Surroundings) -> bool:
    """Whether the name alone decides: in settings, a shell, a log or a chat, and for a quoted password anywhere."""
    if place.how != "assigned":
        return False
    if place.quoted and place.level is Key.PASSWORD and place.op in _ASSIGNS and _PASSWORD.search(place.name):
        return True
    if not place.quoted and place.between == b"=":
        if place.name.isupper():
            return True
        if place.level is Key.PASSWORD and not _is_run_together(place.name, _telling_word(place.name)):
            return True  # user=bob;password=a}b
    return not _SIGN_OF_CODE.search(place.before + b" " + place.after)


_ASSIGNS = (b"=", b":", b":=", b"=>", b"==")
_PASSWORD = re.compile(rb"(?i)pass|pwd|pw\Z")
_SIGN_OF_CODE = re.compile(
    rb"(?m);[ \t]*$|[{(][ \t]*$|^[ \t]*(?:def|class|func|fn|function|const|let|var|import|from|return|if|for|while|public|private|protected|static|struct|enum|package|use|else|elif|case|switch|assert\w*|self|this|#define|#include|using|namespace|export|async|await|try|except|catch|raise|throw|void|int|char|my|sub|end|do)\b|=>|->|::|\)\s{0,8}\{|\w\(|\)[;,]|&&|\|\||[!=]=|\*/|(?<!:)//"
)
_WORD_OF_PROSE = re.compile(rb"\b(?:the|is|are|and|of|to|for|with|that|this|in|an|be|or|from|will|was|can)\b")


def traits(place: Surroundings) -> Iterator[str]:
    """What can be said of a value and its place, each by a word that may have a weight."""
    shape, quoted = _shape(place.text), "quoted" if place.quoted else "bare"
    level, told = f"level {int(place.level)}", _telling_word(place.name)
    behind = _sign(place.after)
    own = list(_of_value(place.text))
    yield from own
    yield from _of_name(place, told)
    yield from _of_joint(place)
    signs = len(_SIGN_OF_CODE.findall(_around(place)))
    code = f"code {_grade(signs, (1, 3, 8))}"
    prose = len(_WORD_OF_PROSE.findall(_around(place)))
    line = _line(place)
    elsewhere = list(_elsewhere(place))
    yield from elsewhere
    yield from (level, quoted, code, f"shape {shape}", f"name {told}", f"how {place.how}", f"behind {behind}")
    yield from (
        f"prose {_grade(prose, (1, 4))}",
        f"code of line {min(len(_SIGN_OF_CODE.findall(line)), 3)}",
        f"prose of line {min(len(_WORD_OF_PROSE.findall(line)), 3)}",
        f"further {_sign(place.after.lstrip(_CLOSING))}",
    )
    yield from (f"{quoted}, {each}" for each in (level, f"shape {shape}", f"behind {behind}", f"how {place.how}"))
    yield f"{level}, {quoted}, shape {shape}"
    yield f"{level}, {quoted}, {code}"
    yield f"name {told}, {quoted}, shape {shape}"
    if "operator" in own:
        yield from (f"operator, {quoted}", f"operator, {code}")
    if "again outside quotes" in elsewhere:
        yield f"again outside quotes, {level}, {quoted}"


_SHAPES = (
    ("digits", re.compile(r"\d+\Z")),
    ("word", re.compile(r"[a-z]+\Z")),
    ("Word", re.compile(r"[A-Z][a-z]+\Z")),
    ("WORD", re.compile(r"[A-Z]+\Z")),
    ("camelCase", re.compile(r"[a-z]+(?:[A-Z]+[a-z]*)+\Z")),
    ("PascalCase", re.compile(r"(?:[A-Z]+[a-z]+)+[A-Z]*\Z")),
    ("snake_case", re.compile(r"[a-z]+(?:_[a-z]+)+\Z")),
    ("CONSTANT", re.compile(r"[A-Z]+(?:_[A-Z]+)+\Z")),
    ("kebab-case", re.compile(r"[a-z]+(?:-[a-z]+)+\Z")),
    ("dotted.words", re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+\Z")),
    ("word1", re.compile(r"[A-Za-z]+\d{1,2}\Z")),
    ("word123", re.compile(r"[A-Za-z]+\d{3,}\Z")),
    ("snake_1", re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\Z")),
    ("kebab-1", re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+\Z")),
    ("dotted.1", re.compile(r"[\w-]+(?:\.[\w-]+)+\Z")),
    ("path", re.compile(r"[\w.~-]*+/[\w./-]+\Z")),
    ("letters and digits", re.compile(r"[A-Za-z0-9]+\Z")),
    ("several", re.compile(r"\S+(?: \S+)+\Z")),
)


def _shape(text: str) -> str:
    return next((name for name, shape in _SHAPES if shape.match(text)), "other")


_LETTERS = re.compile(r"[^A-Za-z]+")
_OPERATOR, _MARK = re.compile(r"[()\[\]{}<>|;,=*+&]"), re.compile(r"[%$#\\]")
_TYPED_SIGN = re.compile(r"[!@^~?#%&*]")
_OWN_WORD = re.compile(r"(?i)pass|pwd|secret|token|key")
_SAMPLE = re.compile(
    r"(?i)test|abc|123|demo|admin|root|user|my|fake|dummy|xyz|foo|bar|hunter|example|changeme|welcome|qwerty|letmein"
)
_FIRST = "'\"`@-.&"


def _of_value(text: str) -> Iterator[str]:
    letters = _LETTERS.sub("", text)
    figures = sum(map(str.isdigit, text))
    yield f"length {_grade(len(text), (3, 5, 8, 12, 20, 40))}"
    yield f"surprise {_grade(randomness(letters.lower()), (4, 4.5, 5)) if len(letters) > 3 else 'unknown'}"
    if operator := _OPERATOR.search(text):
        yield "operator"
    if _MARK.search(text):
        yield "mark"
    if figures:
        yield "figures"
        if letters and not operator and _TYPED_SIGN.search(text):
            yield "typed sign"
    elif not letters:
        yield "only signs"
    if text[:1] in _FIRST:
        yield f"begins {text[:1]}"
    if _OWN_WORD.search(text):
        yield "word for a secret"
    if _SAMPLE.search(text):
        yield "word of samples"


_TELLING = re.compile(
    rb"(?i)(?:password|passwd|passphrase|pwd|pass|pw|secret|token|key|auth\w{0,12}|cred\w{0,8}|mnemonic|session|signature|sig|cert|cookie|salt|pin)(?=s?\W{0,4}\d{0,4}\Z)"
)


def _telling_word(name: bytes) -> str:
    found = _TELLING.search(name[-40:])
    return found.group().lower().decode() if found else "another"


def _is_run_together(name: bytes, told: str) -> bool:
    """`lpass`, `PASSIVE`: letters before the telling word that end in no word of their own."""
    at = name.lower().rfind(told.encode())
    return at > 0 and name[at - 1 : at].isalpha() and not (name[at : at + 1].isupper() and name[at - 1 : at].islower())


_NAME_BEFORE = {
    b'"': "quoted",
    b"'": "quoted",
    b"`": "quoted",
    b" ": "blank",
    b"\t": "blank",
    b"\n": "blank",
    b"": "blank",
}


def _of_name(place: Surroundings, told: str) -> Iterator[str]:
    name, before = place.name, place.before[-1:]
    if name.lower().startswith(told.encode()):
        yield "name of one word"
    elif _is_run_together(name, told):
        yield "name run together"
    if b"." in name:
        yield "name with a dot"
    if name.isupper():
        yield "name in capitals"
    yield f"before {_NAME_BEFORE.get(before) or before.decode('latin-1')}"
    head = place.before[place.before.rfind(b"\n") + 1 :]
    if not head:
        yield "begins its line"
    elif head.isspace():
        yield "indented"
    if _COMMENT.match(head):
        yield "comment"


_COMMENT = re.compile(rb"[ \t]*(?:#|//|\*|--|;|/\*)")
_LONG_JOINT = 8
_CLOSING = b" \t)"
_OPS = (b"=", b":", b":=", b"=>", b"==", b"->", b"|", b"===")


def _of_joint(place: Surroundings) -> Iterator[str]:
    op, between = place.op, place.between
    yield f"joint {op.decode() if op in _OPS else 'blank' if op.isspace() else 'another'}"
    at = between.find(op) if op else -1
    yield f"blanks {int(between[at - 1 : at].isspace())}{int(between[at + len(op) : at + len(op) + 1].isspace())}"
    if b"\n" in between:
        yield "next line"
    if b"(" in between:
        yield "bracket"
    if len(between) > _LONG_JOINT:
        yield "long joint"


_SIGNS = b" ,;).}]+(:|'\"`<=-&?#/{"


def _sign(after: bytes) -> str:
    first = after[:1]
    if first in (b"", b"\n", b"\r"):
        return "end"
    return first.decode() if first in _SIGNS else "word" if first.isalnum() else "another"


def _around(place: Surroundings) -> bytes:
    """The lines around the value's own."""
    above = place.before.rpartition(b"\n")[0]
    return above + b"\n" + place.after.partition(b"\n")[2]


def _line(place: Surroundings) -> bytes:
    """The rest of the value's line."""
    return place.before.rpartition(b"\n")[2] + b" " + place.after.partition(b"\n")[0]


_NAME_LIKE = re.compile(rb"[\w.-]{3,}\Z")
_SET = re.compile(rb"[ \t]*[:=(]|\.[a-z]")


def _elsewhere(place: Surroundings) -> Iterator[str]:
    """Whether the value stands a second time nearby, as a name in a program does, or its name with another value."""
    rest = place.before + b" " + place.after
    if _NAME_LIKE.match(place.value):
        outside = inside = used = False
        at = rest.find(place.value)
        for _ in range(_MOST):
            if at < 0:
                break
            end = at + len(place.value)
            if not _is_word(rest[at - 1 : at]) and not _is_word(rest[end : end + 1]):
                inside = inside or rest[at - 1 : at] in _QUOTES
                outside = outside or rest[at - 1 : at] not in _QUOTES
                used = used or _SET.match(rest, end) is not None
            at = rest.find(place.value, end)
        yield from (trait for trait, told in zip(_AGAIN, (outside, used, inside), strict=True) if told)
    yield f"name again {min(rest.count(place.name), 2)}"


_AGAIN = ("again outside quotes", "again and used", "again in quotes")
_MOST = 8


def _is_word(sign: bytes) -> bool:
    return sign.isalnum() or sign in (b"_", b"-")


def _grade(number: float, steps: tuple[float, ...]) -> int:
    return sum(number >= step for step in steps)
