"""Words of a question against words of a session, in any script: case, accents, plurals and endings do not matter."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from jsonlstore.core import expressions as re

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〆"
ALMOST = 0.95  # more than a word that only begins alike can have
_JOINT = "[-._'’+/]"
_COMPOUND = re.compile(rf"[^\W_]+(?:{_JOINT}[^\W_]+)*")
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_JOINTS = re.compile(f"{_JOINT}+")
_MARKS = re.compile("[\u0300-\u036f]+")
_JOINT_BYTES = b"-._'+/"
_LOWER = bytes(range(256)).lower()
# what is no word of the session's: the names of our own fields, and JSON's escapes
_KEYS = re.compile(rb'"type":"(?:session|state)\.[a-z]+"|"by":"[a-z]+"|"[a-z_A-Z]+":|\\.')


def normalise(text: str) -> str:
    """`text` as it is compared: without case, accents or a choice between composed forms."""
    if text.isascii():
        return text.lower()
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", bare)


def squeeze(text: str) -> str:
    """A text normalised and without what joins words, as keys are looked for in it."""
    return _JOINTS.sub("", normalise(text))


def singular(word: str) -> str:
    """An English plural's singular, near enough; any other word as it is."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


def stem_of(word: str) -> str:
    """What an English word begins with in all its forms: solder, soldered, soldering."""
    single = singular(word)
    for ending, least in (("ing", 7), ("ed", 6)):
        if single.endswith(ending) and len(single) >= least:
            return single.removesuffix(ending)
    return single


class Term(NamedTuple):
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
        if singular(word) == singular(self.text):
            return 1.0
        if stem_of(word) == self.stem:
            return 0.9
        least = 3 if self.stem.isascii() else 2
        if len(self.stem) >= least and word.startswith(self.stem):
            return 0.6 + (ALMOST - 0.6) * len(self.stem) / len(word)
        longest = max(len(word), len(self.stem))
        numbered = any(map(str.isdigit, word)) or any(map(str.isdigit, self.stem))  # task-012 is not task-013
        if (
            not numbered
            and longest > least + 1
            and _common_prefix(word, self.stem) >= max(least + 1, math.ceil(0.8 * longest))
        ):
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
        folded = normalise(word)
        for run in _UNSPACED_RUN.findall(folded):
            pairs = tuple(run[n : n + 2] for n in range(len(run) - 1)) or (run,)
            found.setdefault(run, Term(run, run, True, pairs))
        for piece in _COMPOUND.findall(_UNSPACED_RUN.sub(" ", folded)):
            text = _JOINTS.sub("", piece)
            found.setdefault(text, _word_term(text))
    return tuple(found.values())


def _word_term(text: str) -> Term:
    stem = stem_of(text)
    size = math.ceil(0.8 * len(stem)) - (stem.endswith("y") and len(stem) < 5)
    return Term(text, stem, False, (stem[: max(1, size)],))


def words_of(folded: str) -> frozenset[str]:
    """The words of a folded text, compounds whole and in parts."""
    out: set[str] = set()
    spaced = folded if folded.isascii() else _UNSPACED_RUN.sub(" ", folded)
    for piece in _COMPOUND.findall(spaced):
        parts = _JOINTS.split(piece)
        out.update(parts)
        if len(parts) > 1:
            out.add("".join(parts))
    return frozenset(out)


class Prefilter:
    """Tells from a log's bytes which terms its session may match, and how well at best.

    Never too little; now and then too much, as a log still holds what was said before and since changed.
    """

    def __init__(self, terms: tuple[Term, ...]) -> None:
        self._keys = [term.keys for term in terms]
        self._bytes = [tuple(key.encode() for key in keys) for keys in self._keys]
        self._whole = [_whole_word(term) for term in terms]

    def hits(self, data: bytes) -> dict[int, float]:
        """Term number -> the best quality it can have in there."""
        if b"\\u" in data:  # what is written in escapes cannot be seen from here
            return dict.fromkeys(range(len(self._keys)), 1.0)
        if not data.isascii():
            text = normalise(_KEYS.sub(b" ", data).decode("utf-8", "replace"))
            squeezed = _JOINTS.sub("", text)
            found = [n for n, keys in enumerate(self._keys) if any(key in squeezed for key in keys)]
        else:
            lowered = data.translate(_LOWER, _JOINT_BYTES)
            found = [n for n, keys in enumerate(self._bytes) if any(key in lowered for key in keys)]
            if not found:
                return {}
            data = _KEYS.sub(b" ", data)
            lowered = data.translate(_LOWER, _JOINT_BYTES)
            found = [n for n in found if any(key in lowered for key in self._bytes[n])]
            text = data.decode().lower()
        return {n: 1.0 if self._whole[n](text) else ALMOST for n in found}


def _whole_word(term: Term) -> Callable[[str], object]:
    if term.unspaced:
        return lambda text: term.text in text
    single = singular(term.text)
    joint = f"{_JOINT}?"
    ending = f"(?:{joint}e)?{joint}s"
    if single.endswith("y"):
        single, ending = single[:-1], f"{joint}(?:y(?:{joint}s)?|i{joint}e{joint}s)"
    else:
        ending = f"(?:{ending})?"
    letter = rf"[^\W_{_UNSPACED}]"
    return re.compile(rf"(?<!{letter}){joint.join(map(re.escape, single))}{ending}(?!{letter})").search
