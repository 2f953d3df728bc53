"""The rules as data: `data/shapes.tsv` and `data/names.tsv`, one line a rule.

A line is tab-separated: kind, trigger, shape, example, counter-example, options. A line that begins with `#` is a
comment; `@name` defines what `{name}` stands for in the shapes below it. Both files say at their top how to write one.
A test runs every line's example and counter-example, so a line without them, or with wrong ones, fails.

The pre-filter reads the same lines, so nothing here may import RE2 or compile an expression.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jsonlstore.core import expressions as re

MARK = "[REDACTED]"
_DATA = Path(__file__).with_name("data")
_WORD_FILES = ("words.txt", "vendors.txt")
RULES_VARIABLE = "JSONLSTORE_REDACT_RULES"


# What a token nobody named is seen by, and hashes, UUIDs and times have not: a digit beside a letter that no
# hexadecimal number has, twice in one run.
_EDGE = r"(?:[0-9][G-Zg-z]|[G-Zg-z][0-9])"
RUN_HINT = rf"{_EDGE}[A-Za-z0-9]{{0,20}}{_EDGE}"


class Shape(NamedTuple):
    """One kind of secret that its own form gives away."""

    kind: str
    trigger: str
    shape: str
    example: str
    counter: str
    near: tuple[bytes, ...] = ()
    unlike: str = ""
    has: tuple[str, ...] = ()
    leads: bool = False  # nothing but what cannot be part of a word may stand before it


class Name(NamedTuple):
    """One word that announces a secret; `level` says how much it tells."""

    level: str
    has: tuple[str, ...]
    word: str
    example: str
    counter: str


@cache
def shapes() -> tuple[Shape, ...]:
    """Every shape: ours in the order of the file, then the user's own."""
    return (*read_shapes((_DATA / "shapes.tsv").read_text("utf-8")), *own_rules().shapes)


class OwnRules(NamedTuple):
    """What a user's rules file says: more shapes, values to leave alone, and the lines that are wrong."""

    shapes: tuple[Shape, ...] = ()
    leave: frozenset[bytes] = frozenset()
    problems: tuple[str, ...] = ()


@cache
def own_rules() -> OwnRules:
    """The rules in the file that `JSONLSTORE_REDACT_RULES` names. A wrong line is left out: a session start goes on."""
    path = os.environ.get(RULES_VARIABLE)
    try:
        return read_own(Path(path).read_text("utf-8")) if path else OwnRules()
    except (OSError, UnicodeDecodeError) as problem:
        return OwnRules(problems=(f"{path}: {problem}",))


def name_rules(path: Path) -> tuple[str, ...]:
    """Take the user's rules from a file, unless the environment names one; returns what is wrong with them.

    To be called before the first text is redacted: the rules are compiled then.
    """
    os.environ.setdefault(RULES_VARIABLE, str(path))
    own_rules.cache_clear()
    shapes.cache_clear()
    return own_rules().problems


def read_own(text: str) -> OwnRules:
    """A rules file: `kind<TAB>shape<TAB>example<TAB>counter-example`, and `leave<TAB>value` for what is no secret."""
    found: list[Shape] = []
    leave: set[bytes] = set()
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        columns = line.split("\t")
        if not line.strip() or line.startswith("#"):
            continue
        if columns[0] == "leave" and len(columns) == 2:
            leave.add(columns[1].encode())
        elif len(columns) != 4:
            problems.append(f"line {number}: kind, shape, example and counter-example, joined by tabs")
        else:
            kind, shape, example, counter = columns
            wrong = _wrong(shape, example, counter)
            if wrong:
                problems.append(f"line {number}: {wrong}")
            else:
                # the pre-filter has no literal to look for, so it matches the shape itself
                found.append(Shape(kind, shape, shape, example, counter))
    return OwnRules(tuple(found), frozenset(leave), tuple(problems))


def _wrong(shape: str, example: str, counter: str) -> str | None:
    """Why a user's shape cannot be used. RE2 takes it, so it is linear; Python takes it, so the pre-filter can."""
    from jsonlstore.core.regex import compiled

    try:
        expression = compiled(shape)
        plain = re.compile(shape)
    except Exception:  # noqa: BLE001 - either library's own error, and nothing else is called here
        return "not an expression that RE2 and Python both take"
    if not expression.search(example.encode()) or not plain.search(example):
        return "the shape does not find its example"
    return "the shape finds its counter-example" if expression.search(counter.encode()) or plain.search("") else None


@cache
def names() -> tuple[Name, ...]:
    """Every telling word, in the order of the file."""
    return tuple(
        Name(level, tuple(has.split("|")), word, example, counter)
        for level, has, word, example, counter, *_ in _rows((_DATA / "names.tsv").read_text("utf-8"))
    )


def words(name: str) -> frozenset[str]:
    """One of the word lists in `data/words.txt` and `data/vendors.txt`."""
    return _word_lists()[name]


@cache
def _word_lists() -> dict[str, frozenset[str]]:
    lists: dict[str, set[str]] = {}
    current: set[str] = set()
    for line in [line for file in _WORD_FILES for line in (_DATA / file).read_text("utf-8").splitlines()]:
        if line.startswith("["):
            current = lists.setdefault(line.strip("[]"), set())
        elif not line.startswith("#"):
            current.update(line.split())
    return {name: frozenset(listed) for name, listed in lists.items()}


@cache
def bigrams() -> dict[tuple[str, str], int]:
    """How much one small letter surprises after another, in bits."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    rows = [line for line in (_DATA / "bigrams.txt").read_text("utf-8").splitlines() if line and line[0] != "#"]
    return {
        (a, b): int(bits) for a, row in zip(letters, rows, strict=True) for b, bits in zip(letters, row, strict=True)
    }


@cache
def weights() -> dict[str, float]:
    """What each trait of a value and its place adds to the likelihood that it is a secret."""
    return {trait: float(weight) for trait, weight in _rows((_DATA / "likelihood.tsv").read_text("utf-8"))}


def read_shapes(text: str) -> list[Shape]:
    """The shapes of a file's text, macros filled in."""
    macros: dict[str, str] = {}
    found: list[Shape] = []
    for kind, *columns in _rows(text):
        if kind.startswith("@"):
            macros[f"{{{kind[1:]}}}"] = columns[0]
            continue
        trigger, shape, example, counter, *rest = columns
        leads = _leads(shape)
        for macro, meaning in macros.items():
            shape = shape.replace(macro, meaning)
        found.append(Shape(kind, trigger, shape, example, counter, **_options(rest), leads=leads))  # type: ignore[arg-type]
    return found


def _leads(shape: str) -> bool:
    """Whether a shape has a lead before all of its branches, and each of them begins with letters of its own."""
    body = shape.removeprefix("{lead}(")
    if body == shape:
        return False
    flat = _CLASS.sub("\0", _GROUP.sub("\0", shape.removeprefix("{lead}")))
    branches = _CLASS.sub("\0", _GROUP.sub("\0", body)).partition(")")[0].split("|")
    return "|" not in flat and all(branch[:2].isalnum() for branch in branches)


def _options(rest: list[str]) -> dict[str, object]:
    given = dict(option.split("=", 1) for option in rest[0].split(";")) if rest else {}
    return {
        "near": tuple(word.encode() for word in given["near"].split("|")) if "near" in given else (),
        "unlike": given.get("unlike", ""),
        "has": tuple(given["has"].split("|")) if "has" in given else (),
    }


def _rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


# -- what a text must contain for a rule to find anything in it

_GROUP = re.compile(r"\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)(?:[?*+]|\{[^}]*\})?")
_CLASS = re.compile(r"\[\^?(?:\\.|[^\]\\])+\](?:[?*+]|\{[^}]*\})?|\\[A-Za-z](?:[?*+]|\{[^}]*\})?|.[?*]|.\{[^}]*\}")
_LEAST_LITERAL = 3


def literals(shape: Shape) -> tuple[str, ...]:
    """Lower-case strings one of which stands in every text that holds the shape; none where the trigger shows none."""
    if shape.has:
        return shape.has
    if shape.near:
        return tuple(word.decode().lower() for word in shape.near)
    bare = shape.trigger.removeprefix("(?i)").replace("\\\\*", "\0").replace("\\.", "\1").replace("\\$", "\2")
    bare = _CLASS.sub("\0", _GROUP.sub("\0", bare)).replace("\1", ".").replace("\2", "$").replace("\\", "").lower()
    best = [max(branch.split("\0"), key=len) for branch in bare.split("|")]
    return tuple(best) if all(len(literal) >= _LEAST_LITERAL for literal in best) else ()
