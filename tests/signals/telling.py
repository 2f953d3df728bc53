"""Which words a rule cannot do without: `python -m tests.signals.telling` writes `jsonlstore/signals/pattern_words.py`.

Every text a pattern matches is described by a finite set of sketches: literal characters, `BOUNDARY` for an edge of a
word, `ANYTHING` for whatever may stand in between. A word that stands whole in a sketch stands in every text it
describes; one word of each sketch, the rarest, is what the rule asks for.
"""

from __future__ import annotations

import re
from itertools import pairwise, product
from math import prod
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser
from typing import Any

from jsonlstore.signals.background import STOP, rarity
from jsonlstore.signals.pattern_matcher import BEYOND_ASCII, is_beyond_ascii
from jsonlstore.signals.pattern_rules import RULES

BOUNDARY, ANYTHING = "\0", "\1"
_MOST_SKETCHES = 250
_SMALL_CLASS = 8
# words that talk about software is full of, whatever it is about
_OF_THE_TRADE = frozenset(
    {
        *("access", "add", "app", "api", "branch", "bug", "build", "change", "check", "code", "commit", "config"),
        *("connection", "data", "deploy", "error", "fail", "file", "fix", "function", "import", "install", "issue"),
        *("job", "key", "line", "list", "load", "log", "merge", "message", "network", "open", "output", "password"),
        *("path", "permission", "pipeline", "port", "power", "problem", "process", "project", "queue", "read"),
        *("release", "request", "response", "result", "review", "root", "run", "script", "send", "server", "service"),
        *("session", "set", "signal", "sound", "start", "state", "stop", "sync", "system", "table", "task", "test"),
        *("tests", "time", "token", "update", "user", "value", "version", "wait", "work", "write"),
    }
)
_WORD = re.compile(r"[a-z0-9_]+")
_BESIDE = re.compile(r"[^a-z0-9_\1]")

Asked = frozenset[str] | None


class Sketched:
    """What a part of a pattern matches, and word sets one of which every match holds a member of."""

    def __init__(self, sketches: set[str], asked: list[frozenset[str]]) -> None:
        self.sketches = sketches
        self.asked = asked


def words_of(pattern: str) -> frozenset[str]:
    """The words one of which is in every text that `pattern` matches, rare ones where there is a choice."""
    found: set[str] = set()
    for one in alternatives(pattern):
        best = _best(_sequence(_parser.parse("(?i)" + one)))
        if best is None:
            raise ValueError(f"no word is certain: {one}")
        found |= best
    return frozenset(found)


def alternatives(pattern: str) -> list[str]:
    """A pattern's alternatives, each whole: the parser would take what they begin with in common out of them."""
    found = [""]
    depth = 0
    for piece in re.findall(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", pattern):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and not depth:
            found.append("")
        else:
            found[-1] += piece
    return found


def _sequence(nodes: Any) -> Sketched:
    out = Sketched({""}, [])
    for node in nodes:
        part = _part(*node)
        out.asked += part.asked
        for one, shorter in ((out, _ending), (out, _outline), (part, _outline)):
            if len(out.sketches) * len(part.sketches) > _MOST_SKETCHES:
                found = _asked(one.sketches)
                out.asked += [found] if found else []
                one.sketches = {shorter(sketch) for sketch in one.sketches}
        out.sketches = {_plain(left + right) for left, right in product(out.sketches, part.sketches)}
    return out


def _part(kind: Any, value: Any) -> Sketched:
    if kind is op.LITERAL:
        return Sketched({chr(value).lower()}, [])
    if kind is op.AT:
        return Sketched({BOUNDARY}, [])
    if kind is op.SUBPATTERN:
        return _sequence(value[-1])
    if kind is op.BRANCH:
        each = [_sequence(one) for one in value[1]]
        found = [_best(one) for one in each]
        union = frozenset().union(*(one for one in found if one is not None))
        return Sketched(set().union(*(one.sketches for one in each)), [union] if None not in found else [])
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
        return _repeated(*value)
    if kind is op.IN:
        return Sketched(_class(value), [])
    assert kind in (op.ANY, op.NOT_LITERAL), kind
    return Sketched({ANYTHING}, [])


def _repeated(least: int, most: int, nodes: Any) -> Sketched:
    item = _sequence(nodes)
    sketches = set(item.sketches)
    if most > 1:
        edges = [_edges(sketch) for sketch in item.sketches if sketch]
        before = {left + ANYTHING + right for (left, _), (_, right) in product(edges, repeat=2)}
        sketches |= {_plain(outline + last) for outline, last in product(before, item.sketches)}
    return Sketched(sketches | ({""} if not least else set()), item.asked if least else [])


def _class(items: Any) -> set[str]:
    if all(kind is op.LITERAL for kind, _ in items) and len(items) <= _SMALL_CLASS:
        return {chr(value).lower() for _, value in items}
    if all(
        (kind is op.LITERAL and _BESIDE.match(chr(value).lower())) or (kind, value) == (op.CATEGORY, op.CATEGORY_SPACE)
        for kind, value in items
    ):
        return {" "}
    return {ANYTHING}


def _plain(sketch: str) -> str:
    return re.sub("\1+", "\1", sketch)


def _edges(sketch: str) -> tuple[str, str]:
    """What a sketch begins and ends with where that is no part of a word: a word beside it is whole."""
    left, right = (edge if _BESIDE.match(edge) else "" for edge in (sketch[0], sketch[-1]))
    return left, right


def _outline(sketch: str) -> str:
    """Only the edges of a sketch."""
    if not _WORD.search(sketch) and ANYTHING not in sketch:
        return sketch[:1]
    return ANYTHING.join(_edges(sketch))


def _ending(sketch: str) -> str:
    """Only the last word of a sketch, if it begins there, and the edges."""
    last = re.search(r"[^a-z0-9_\1]([a-z0-9_]+[^a-z0-9_\1]*)$", sketch)
    return _outline(sketch[: last.start(1)]) + last[1] if last else _outline(sketch)


def _asked(sketches: set[str]) -> Asked:
    """Words that cover every sketch, chosen one by one for being rare and covering many."""
    covers: dict[str, set[str]] = {}
    for sketch in sketches:
        certain = [*_words(sketch), *_neighbours(sketch)] or [BEYOND_ASCII] * is_beyond_ascii(sketch)
        if not certain:
            return None
        for words in certain:
            covers.setdefault(words, set()).add(sketch)
    found: set[str] = set()
    left = set(sketches)
    while left:
        best = min(covers, key=lambda words: (_frequency(words) / (len(covers[words] & left) or 1e-9), words))
        found.add(best)
        left -= covers.pop(best)
    return frozenset(words for words in found if words in words.split() or found.isdisjoint(words.split()))


def _words(sketch: str) -> list[str]:
    """The words that stand whole in a sketch."""
    return [
        match[0]
        for match in _WORD.finditer(sketch)
        if _BESIDE.fullmatch(sketch[match.start() - 1 : match.start()] or ANYTHING)
        and _BESIDE.fullmatch(sketch[match.end() : match.end() + 1] or ANYTHING)
    ]


def _neighbours(sketch: str) -> list[str]:
    """The pairs of words that stand whole and side by side in a sketch."""
    runs = (_words(ANYTHING + run + ANYTHING) for run in sketch.split(ANYTHING))
    return [" ".join(pair) for run in runs for pair in pairwise(run)]


def _best(part: Sketched) -> Asked:
    last = _asked(part.sketches)
    choices = [*part.asked, *([last] if last is not None else [])]
    return min(choices, key=lambda words: (sum(map(_frequency, words)), sorted(words)), default=None)


def _frequency(words: str) -> float:
    """A guess at how often words are said in a row, where it only matters which of two are said more often."""
    if words == BEYOND_ASCII:
        return 0.05
    return prod(_commonness(word) for word in words.split())


def _commonness(word: str) -> float:
    if len(word) <= 2:
        return 0.03
    if word in STOP:
        return 0.02
    if word in _OF_THE_TRADE:
        return 0.003
    return 0.001 if rarity(word) < rarity("zyzzyva") else 0.0003


def table() -> str:
    """The module's text."""
    rows = "".join(f'    "{",".join(sorted(words_of(rule.pattern)))}",\n' for rule in RULES)
    return (
        '"""For each rule of `pattern_rules`, in order, the words one of which is in every text it matches.\n\n'
        'Made from the rules by `python -m tests.signals.telling`; a test holds the two together.\n"""\n\n'
        "# ruff: noqa: E501 - a rule is one line of data\n\n"
        f"WORDS: tuple[str, ...] = (\n{rows})  # fmt: skip\n"
    )


if __name__ == "__main__":
    import jsonlstore.signals

    Path(jsonlstore.signals.__file__).with_name("pattern_words.py").write_text(table())
