"""Words of a question against words of a session, in any script: case, accents, plurals and endings do not matter."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from functools import cache

_COMPOUND = re.compile(r"[^\W_]+(?:[-._'’+/][^\W_]+)*")
_JOINTS = re.compile(r"[-._'’+/]+")
_MARKS = re.compile("[\u0300-\u036f]+")
_JOINT_BYTES = b"-._'+/"
_LOWER = bytes(range(256)).lower()
# names of our own fields: they stand in every log and say nothing about the session
_KEYS = re.compile(rb'"type":"(?:session|state)\.[a-z]+"|"by":"[a-z]+"|"[a-z_A-Z]+":')


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〆]+")


def fold(text: str) -> str:
    """`text` as it is compared: without case, accents or a choice between composed forms."""
    if text.isascii():
        return text.lower()
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", bare)


def singular(word: str) -> str:
    """An English plural's singular, near enough; any other word as it is."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for. Every text that matches holds one of its `keys`, once squeezed."""

    text: str
    stem: str
    unspaced: bool
    keys: tuple[str, ...]

    def quality(self, folded: str, words: frozenset[str]) -> float:
        """How well a folded text, and the words of it, match: 1 the very word, 0 not at all."""
        if self.unspaced:
            return self._quality_unspaced(folded)
        if self.text in words:
            return 1.0
        return max((self._quality_of(word) for word in words), default=0.0)

    def _quality_of(self, word: str) -> float:
        if singular(word) == self.stem:
            return 1.0
        least = 3 if self.stem.isascii() else 2
        if len(self.stem) >= least and word.startswith(self.stem):
            return 0.6 + 0.35 * len(self.stem) / len(word)
        longest = max(len(word), len(self.stem))
        if longest > least + 1 and _common_prefix(word, self.stem) >= max(least + 1, math.ceil(0.8 * longest)):
            return 0.6
        return 0.45 if len(self.stem) >= 4 and self.stem in word else 0.0

    def _quality_unspaced(self, folded: str) -> float:
        if self.text in folded:
            return 1.0
        share = sum(key in folded for key in self.keys) / len(self.keys)
        return 0.8 * share if share >= 0.5 else 0.0


def _common_prefix(one: str, other: str) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def terms_of(words: tuple[str, ...]) -> tuple[Term, ...]:
    """What to look for, of the words of a question; each once."""
    found: dict[str, Term] = {}
    for word in words:
        folded = fold(word)
        for run in _unspaced().findall(folded):
            pairs = tuple(run[n : n + 2] for n in range(len(run) - 1)) or (run,)
            found.setdefault(run, Term(run, run, True, pairs))
        for piece in _COMPOUND.findall(_unspaced().sub(" ", folded)):
            text = _JOINTS.sub("", piece)
            found.setdefault(text, _word_term(text))
    return tuple(found.values())


def _word_term(text: str) -> Term:
    stem = singular(text)
    size = math.ceil(0.8 * len(stem)) - (stem.endswith("y") and len(stem) < 5)
    return Term(text, stem, False, (stem[: max(1, size)],))


def words_of(folded: str) -> frozenset[str]:
    """The words of a folded text, compounds whole and in parts."""
    out: set[str] = set()
    for piece in _COMPOUND.findall(folded):
        parts = _JOINTS.split(piece)
        out.update(parts)
        if len(parts) > 1:
            out.add("".join(parts))
    return frozenset(out)


class Sieve:
    """Tells from a log's bytes which terms its session may match: never too few, now and then too many."""

    def __init__(self, terms: tuple[Term, ...]) -> None:
        self._keys = [term.keys for term in terms]
        self._bytes = [tuple(key.encode() for key in keys) for keys in self._keys]

    def hits(self, data: bytes) -> tuple[int, ...]:
        """The numbers of the terms that may be in there."""
        if b"\\u" in data:  # what is written in escapes cannot be seen from here
            return tuple(range(len(self._keys)))
        data = _KEYS.sub(b" ", data)
        if data.isascii():
            squeezed = data.translate(_LOWER, _JOINT_BYTES)
            return tuple(n for n, keys in enumerate(self._bytes) if any(key in squeezed for key in keys))
        text = _JOINTS.sub("", fold(data.decode("utf-8", "replace")))
        return tuple(n for n, keys in enumerate(self._keys) if any(key in text for key in keys))
