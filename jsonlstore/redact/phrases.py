"""Recovery phrases of wallets: twelve and more words of the list that BIP-39 fixes, one after the other.

The list holds no "the", "of" or "is": prose never says twelve of its words in a row.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from jsonlstore.core import expressions as re
from jsonlstore.core.regex import compiled, searcher_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.core.regex import SearchWithin

_LIST = Path(__file__).with_name("data") / "phrases.txt"
_LEAST = 12  # words; the standard has 12, 15, 18, 21 and 24
_LEAST_DIFFERENT = 6  # of them
# What stands between two words of a phrase: blanks or commas, quotes, a number or a bullet. Names in code are joined
# otherwise.
_BETWEEN = re.compile(r"""(?=[^\s,\\]{0,8}[\s,\\])(?:[\s\d,;:.)"'`|*#>-]|\\++[nrt]?){1,12}+\Z""")
SHORTEST = _LEAST * 4 - 1
_WORD = re.compile(r"[A-Za-z]+")
# What is said where a phrase is shown: reading every text for it would take a third of the redactor's time.
TELLS = (
    r"mnemonic|phrase|bip-?39|wallet|seed[ _-]?words|(?:recovery|backup|secret)[ _-]?(?:words|seed)|(?:12|24)[ -]words?"
)
TELL_LITERALS = (
    *("mnemonic", "phrase", "bip39", "bip-39", "wallet", "recovery", "backup", "secret"),
    *("seed words", "seed_words", "seed-words", "seedwords", "12 word", "12-word", "24 word", "24-word"),
)
# the names of secrets that begin before it included: seed phrase, passphrase
ANNOUNCED = re.compile(
    rb"(?i:(?:seed|recovery|backup|secret|pass)?[ _-]?phrase|(?:seed|recovery|backup|secret|12|24)[ _-]?word"
    rb"|(?:recovery|backup|secret)[ _-]?seed|mnemonic|bip-?39|wallet)"
)
ANNOUNCING = frozenset(b"bBmMpPrRsSwW12")  # what is said begins so: most names of secrets are ruled out by it
# twelve short words in a row: what RE2 does not find need not be looked up word by word
_SHORT_WORDS = r"(?:[A-Za-z]{3,9}[^A-Za-z]{1,12}){11}[A-Za-z]{3,9}"
_BEFORE, _BEHIND, _WHOLE = 1000, 2000, 600  # bytes around what is said in which a phrase is looked for, and of a phrase


class Look(NamedTuple):
    """What a look for phrases found, how far it went, and whether it had to look words up."""

    until: int
    spans: Sequence[tuple[int, int]] = ()
    listed: bool = False


def announced_phrases(data: bytes, at: int, seen: int = 0) -> Look:
    """The phrases around a place whose words announce one; up to `seen` the text was looked at before."""
    low, high = max(0, at - _BEFORE, seen - _WHOLE), min(len(data), at + _BEHIND)
    if _short_words()(data, low, high)[0][0] < 0:
        return Look(high)
    # one byte a letter: the places are those of the bytes
    spans = recovery_phrases(data[low:high].decode("latin-1"))
    return Look(high, [(low + start, low + end) for start, end in spans], listed=True)


@cache
def _short_words() -> SearchWithin:
    return searcher_within(compiled(_SHORT_WORDS, groups=False))


def recovery_phrases(text: str) -> list[tuple[int, int]]:
    """Where phrases stand in a text, from their first word to their last, whatever separates or numbers the words."""
    listed = _listed()
    spans: list[tuple[int, int]] = []
    start = last = 0
    said: list[str] = []
    for found in _WORD.finditer(text):
        word, at = found[0].lower(), found.start()
        if word not in listed and word[0] in "nrt" and text[at - 1 : at] == "\\":
            word, at = word[1:], at + 1  # behind an escaped line break
        if said and (word not in listed or not _BETWEEN.match(text[last : min(at, last + 13)])):
            if _is_phrase(said):
                spans.append((start, last))
            said = []
        if word in listed:
            start = start if said else at
            said.append(word)
            last = found.end()
    if _is_phrase(said):
        spans.append((start, last))
    return spans


def _is_phrase(words: list[str]) -> bool:
    """Twelve words that chance has drawn: no few of them over and over, as in a table, nor in alphabetical order."""
    return len(words) >= _LEAST and len(set(words)) >= _LEAST_DIFFERENT and words != sorted(words)


@cache
def _listed() -> frozenset[str]:
    lines = _LIST.read_text("ascii").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
