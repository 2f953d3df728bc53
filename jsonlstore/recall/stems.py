"""What a word begins with in all its forms: Porter's rules for English, light ones for German and Romance languages.

A stem is compared with other stems only. `needle` is what every word with that stem begins with, so that words can be
looked for in text that was never stemmed.
"""

from __future__ import annotations

from functools import lru_cache

from jsonlstore.core import expressions as re

_VOWEL = "[aeiou]|(?<=[^aeiou])y"
_LETTERS = re.compile(f"({_VOWEL})")
_DOUBLE = re.compile(r"([^aeioulsz])\1$")
_SHORT = re.compile(r"[^aeiou][aeiouy][^aeiouwxy]$")
# Porter's steps 2 to 4, the longest ending first: what goes, what takes its place, and how much must be left
_DERIVED = (
    ("ational", "ate", 1), ("ization", "ize", 1), ("iveness", "ive", 1), ("fulness", "ful", 1), ("ousness", "ous", 1),
    ("tional", "tion", 1), ("biliti", "ble", 1), ("ation", "ate", 1), ("alism", "al", 1), ("aliti", "al", 1),
    ("iviti", "ive", 1), ("ousli", "ous", 1), ("entli", "ent", 1), ("izer", "ize", 1), ("enci", "ence", 1),
    ("anci", "ance", 1), ("abli", "able", 1), ("alli", "al", 1), ("ator", "ate", 1), ("eli", "e", 1), ("bli", "ble", 1),
)  # fmt: skip
_ENDINGS = (("icate", "ic"), ("alize", "al"), ("iciti", "ic"), ("ative", ""), ("ical", "ic"), ("ness", ""), ("ful", ""))
_DROPPED = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "al",
    "er", "ic", "ou",
)  # fmt: skip
_GERMAN = (
    "ungen",
    "heiten",
    "keiten",
    "ern",
    "end",
    "est",
    "ung",
    "en",
    "em",
    "er",
    "es",
    "et",
    "st",
    "e",
    "n",
    "s",
    "t",
)
_ROMANCE = (
    "amientos", "imientos", "aciones", "amiento", "imiento", "issement", "azioni", "azione", "ciones", "mente", "ment",
    "ations", "ation", "acion", "cion", "ando", "iendo", "aron", "ieron", "aient", "ions", "eurs", "euse", "ados",
    "adas", "idos", "idas", "ait", "ais", "ant", "ees", "ado", "ada", "ido", "ida", "eur", "ons", "ent", "ato", "ata",
    "are", "ere", "ire", "ar", "er", "ir", "es", "os", "as", "ee", "ez", "e", "o", "a", "i", "s",
)  # fmt: skip
_CACHED = 1 << 14  # of each language; a store has more words, but most of what is said is said with these


def _measure(word: str) -> int:
    """How many times a vowel is followed by a consonant."""
    shape = "".join("v" if part and _LETTERS.fullmatch(part) else "c" * bool(part) for part in _LETTERS.split(word))
    return shape.count("vc")


def _has_vowel(word: str) -> bool:
    return _LETTERS.search(word) is not None


def _without_plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-2] if len(word) > 4 else word[:-1]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_tense(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest == word or not _has_vowel(rest):
            continue
        if rest.endswith(("at", "bl", "iz")):
            return rest + "e"
        if _DOUBLE.search(rest):
            return rest[:-1]
        return rest + "e" if _SHORT.search(rest) and _measure(rest) == 1 else rest
    return word


def _without_derivation(word: str) -> str:
    for ending, instead, least in _DERIVED:
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            word = rest + instead if _measure(rest) >= least else word
            break
    for ending, instead in _ENDINGS:
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            word = rest + instead if _measure(rest) else word
            break
    if word.endswith(("sion", "tion")) and _measure(word[:-3]) > 1:
        return word[:-3]
    for ending in _DROPPED:
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            return rest if _measure(rest) > 1 else word
    return word


@lru_cache(_CACHED)
def english(word: str) -> str:
    """Porter's stem of a folded word."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    word = _without_tense(_without_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _without_derivation(word)
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _SHORT.search(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _cut(word: str, endings: tuple[str, ...], least: int) -> str:
    return next(
        (word.removesuffix(one) for one in endings if word.endswith(one) and len(word) - len(one) >= least), word
    )


@lru_cache(_CACHED)
def german(word: str) -> str:
    """A German word without its inflection: Verbindungen, Verbindung; gelötet stays apart from löten."""
    return _cut(word, _GERMAN, 4)


@lru_cache(_CACHED)
def romance(word: str) -> str:
    """A French, Spanish, Italian or Portuguese word without gender, number and the commonest endings."""
    return _cut(_cut(word, ("s",), 3), _ROMANCE, 3)


STEMMERS = {"en": english, "de": german, "romance": romance}


def needle(stem: str) -> str:
    """What every word of that stem begins with: `happi` stands for happy, `hope` for hoping, `possibl` for -bility."""
    cut = len(stem) > 2 and (stem[-1] in "ie" or stem.endswith("bl"))
    return stem[:-1] if cut else stem
