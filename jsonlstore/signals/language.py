"""The languages in which prose is read, as data: one JSON file each in `languages/`; adding one is adding a file.

A file names the words a language is recognised by and, for each kind of statement, regular expressions that are
matched at word boundaries ignoring case. Text in a language without a file says nothing here: only evidence counts.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from jsonlstore.core import expressions as re
from jsonlstore.core.regex import any_of, compiled, searcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from jsonlstore.core.regex import Search

LATIN, CYRILLIC, HAN, KANA, HANGUL = "latin", "cyrillic", "han", "kana", "hangul"
_SAMPLE = 800  # a message's language shows in its first lines
_UNSPACED = frozenset({HAN, KANA})
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
# what neither is a letter of ASCII nor may stand in a word or be a letter of another script
_NO_LETTERS = bytes(code if code > 127 or chr(code).isalpha() or code == ord("'") else 32 for code in range(256))
_KANA = re.compile("[\u3041-\u30fa]")
# U+3400 to U+9FFF and U+AC00 to U+D7A3 by their first bytes: Python takes a millisecond or two to compile such a range
_HAN = re.compile(rb"\xe3[\x90-\xbf]|[\xe4-\xe9]")
_HANGUL = re.compile(rb"\xea[\xb0-\xbf]|[\xeb\xec]|\xed[\x80-\x9d]|\xed\x9e[\x80-\xa3]")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
# all bytes but those that a sign of one of these scripts begins with in UTF-8
_NO_SCRIPT = bytes({*range(256)} - {*range(0xD0, 0xD4), *range(0xE3, 0xEE)})
_UKRAINIAN = re.compile("[іїєґІЇЄҐ]")
_MOST_SMALL = 80
_ENGLISH = "en"
# whoever spoke another language twice or more, and English at most every third time, pastes English of this length
_LEAST_HEARD, _MOST_ENGLISH, _LONG_PASTE = 2, 2, 60
_SHORT = 40  # in so few signs a single kana shows Japanese
# What RE2's classes, which hold ASCII only, become in a fast look: whatever is not ASCII belongs to all of them. The
# letters of all scripts one by one would make an automaton of many times the size, and its states are what costs.
_CLASSES = {r"\w": "0-9A-Za-z_", r"\d": "0-9", r"\s": r"\s\v\x1c-\x1f"}
_FOREIGN = r"\x{80}-\x{10ffff}"
_ASSERTIONS = frozenset({"(?=", "(?!", "(?<=", "(?<!"})
_BRACKETS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?<?[=!]|[()]|[^\\\[()]+", re.DOTALL)
_EDGES = frozenset({"^", "$", r"\b", r"\B"})
_PARTS = re.compile(r"\\.|\[\^?|\]|\{(\d+),\d{2,}\}|[^\\\[\]{^$]+|.", re.DOTALL)
_SIGN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
_REPEATS = re.compile(r"(?:[*+?]|\{\d*,?\d*\})[?+]?")
_ANY = r"(?:\.|\\S|\[\^[^\]]*\])"
_GAP = re.compile(rf"{_ANY}|\(\?:{_ANY}[*+]? ?\)")

# what a whole message may be without saying anything of its own
SMALL = ("yes", "no", "nudge", "talk")


class Language:
    """One language's words and rules; expressions are compiled when they are first asked for."""

    def __init__(self, code: str, data: dict[str, Any]) -> None:
        self.code = code
        self.name: str = data["name"]
        self.script: str = data.get("script", LATIN)
        self.words = frozenset(data["words"])
        self._data = data
        self._compiled: dict[str, list[re.Pattern[str]]] = {}
        self._joined: dict[str, re.Pattern[str]] = {}
        self._headings: dict[str, re.Pattern[str]] = {}
        self._glances: dict[tuple[str, ...], Search] = {}

    def __reduce__(self) -> tuple[Callable[[str], Language], tuple[str]]:
        """Copied by name: what is compiled here is the process's own."""
        return _by_code, (self.code,)

    def phrases(self, kind: str) -> list[str]:
        """The expressions of one kind, as the file has them."""
        return list(self._data.get(kind, ()))

    def expressions(self, kind: str) -> list[str]:
        """The same as they are asked: people leave out accents, and expect to be understood."""
        told = self.phrases(kind)
        return [_without_accents(one) for one in told] if self.code in _ACCENTED else told

    def pattern(self, kind: str) -> re.Pattern[str]:
        """One expression for all of a kind."""
        found = self._joined.get(kind)
        if found is None:
            found = self._joined[kind] = self._compile("|".join(one.rstrip() for one in self.expressions(kind)))
        return found

    def patterns(self, kind: str) -> Iterator[re.Pattern[str]]:
        """The expressions of a kind one by one, where a group says what is meant; those nobody gets to stay as text."""
        found = self._compiled.setdefault(kind, [])
        for place, phrase in enumerate(self.expressions(kind)):
            if place == len(found):
                found.append(self._compile(phrase.rstrip()))
            yield found[place]

    def _compile(self, source: str) -> re.Pattern[str]:
        if not source:
            return re.kept(r"(?!)")
        before = "" if self.script in _UNSPACED or self.script == HANGUL else r"(?<!\w)"
        # Cyrillic and Korean words go on after their stem
        after = r"(?!\w)" if self.script == LATIN else ""
        return re.kept(f"{before}(?:{source}){after}", re.IGNORECASE)

    def says(self, kind: str, text: str) -> bool:
        """Whether `text` holds a phrase of the kind."""
        return self.pattern(kind).search(text) is not None

    def announces(self, sentence: str) -> bool:
        """Whether a sentence begins with what its speaker is about to do; where verbs stand last, ends so."""
        expression = self.pattern("announce")
        return bool(expression.search(sentence) if self.script in {KANA, HANGUL} else expression.match(sentence))

    def may_say(self, kinds: tuple[str, ...], text: str) -> bool:
        """Whether a long text could hold a phrase of any of the kinds: one fast look that errs on the side of yes."""
        search = self._glances.get(kinds)
        if search is None:
            search = self._glances[kinds] = _glance((self,), kinds)
        return search(text.encode("utf-8", "replace"), 0)[0][0] >= 0

    def heading(self, kind: str) -> re.Pattern[str]:
        """A whole line that heads a list of the kind."""
        found = self._headings.get(kind)
        if found is None:
            phrases = "|".join(self.expressions(kind))
            found = self._headings[kind] = re.kept(rf"(?:{phrases})\s*", re.IGNORECASE)
        return found


def may_any_say(speakers: Iterable[Language], kinds: tuple[str, ...], text: str) -> bool:
    """The same asked of several languages, one after the other: the automaton of two has many times their states."""
    return any(language.may_say(kinds, text) for language in speakers)


def may_be_said(kinds: tuple[str, ...], text: str) -> bool:
    """The same asked of all languages in one look: for kinds of few and short phrases."""
    return _any_glance(kinds)(text.encode("utf-8", "replace"), 0)[0][0] >= 0


@cache
def _any_glance(kinds: tuple[str, ...]) -> Search:
    return _glance(tuple(languages().values()), kinds)


def _glance(spoken: tuple[Language, ...], kinds: tuple[str, ...]) -> Search:
    phrases = (one.rstrip() for language in spoken for kind in kinds for one in language.expressions(kind))
    return searcher(compiled(f"(?i){any_of(map(widened, phrases))}", text=True, groups=False))


def widened(phrase: str) -> str:
    """An expression of RE2's that finds whatever `phrase` finds, and more: it errs on the side of yes.

    Letters of any script are letters, gaps have any length, and a phrase may begin and end anywhere, because the text
    of a fast look is longer than the sentence that is read afterwards.
    """
    parts: list[str] = []
    within = ""  # the bracket that began a class of characters
    for found in _PARTS.finditer(_without_looks(phrase) if "(?" in phrase else phrase):
        part = found[0]
        if within:
            if part in _CLASSES and within != "[^":
                part = _CLASSES[part] + _FOREIGN
            elif part == "]":
                within = ""
        elif part in _CLASSES:
            part = f"[{_CLASSES[part]}{_FOREIGN}]"
        elif part in _EDGES:
            continue
        elif found[1] is not None:
            part = f"{{{found[1]},}}"  # counting the signs of a gap takes a state for each
        elif part[0] == "[":
            within = part
        parts.append(part)
    return _solid("".join(parts))


def _solid(phrase: str) -> str:
    """`phrase` without what may be left out at its beginning and end, and without gaps there: whatever finds the one
    finds the other, and an automaton that waits for what follows "the" has many times the states.
    """
    elements = _elements(phrase)
    begin, end = 0, len(elements)
    while begin < end and _is_loose(*elements[begin]):
        begin += 1
    while end > begin and _is_loose(*elements[end - 1]):
        end -= 1
    return "".join(sign + repeats for sign, repeats in elements[begin:end]) or phrase


def _elements(phrase: str) -> list[tuple[str, str]]:
    """The signs, classes and brackets of an expression one after another, each with how often it may stand there; none
    of alternatives outside of any bracket.
    """
    found: list[tuple[str, str]] = []
    at = start = depth = 0  # of the brackets around a place
    while at < len(phrase):
        sign = _SIGN.match(phrase, at)
        assert sign is not None  # it takes any sign
        depth -= sign[0] == ")"
        if not depth and sign[0] not in {"(", ")"}:
            start = at
        depth += sign[0] == "("
        if sign[0] == "|" and not depth:
            return []
        if sign[0] == "(" and depth == 1:
            start = at
        at = sign.end()
        if not depth:
            repeats = _REPEATS.match(phrase, at)
            found.append((phrase[start:at], repeats[0] if repeats else ""))
            at += len(found[-1][1])
    return found


def _is_loose(sign: str, repeats: str) -> bool:
    """Whether a part of an expression may be missing, or is a gap."""
    return repeats.startswith(("*", "?", "{0")) or sign == " " or (bool(repeats) and _GAP.fullmatch(sign) is not None)


def _without_looks(phrase: str) -> str:
    """`phrase` without what it asks of the text around, which RE2 does not know."""
    kept: list[str] = []
    depth = 0  # of brackets in what is left out
    for part in _BRACKETS.findall(phrase):
        if depth:
            depth += (part[0] == "(") - (part == ")")
        elif part in _ASSERTIONS:
            depth = 1
        else:
            kept.append(part)
    return "".join(kept)


def _without_accents(expression: str) -> str:
    """An expression in which a word of some letters may be spelt without its accents; in short ones they tell two
    words apart ("é" and "e", "más" and "mas")."""
    return expression if expression.isascii() else _LONG_WORD.sub(_either_way, expression)


def _either_way(word: re.Match[str]) -> str:
    if word[0].startswith("["):  # a class of characters, or a word that has none
        return word[0]
    return _ACCENT.sub(lambda letter: f"[{letter[0]}{_PLAIN[letter[0]]}]", word[0])


def _by_code(code: str) -> Language:
    return languages()[code]


_ACCENTED = frozenset({"es", "fr", "it", "pt"})
_PLAIN = dict(zip("áàâãäéèêëíìîïóòôõöúùûüçñ", "aaaaaeeeeiiiiooooouuuucn", strict=True))
_ACCENT = re.compile(f"[{''.join(_PLAIN)}]")
_LONG_WORD = re.compile(r"\[[^\]]*\]|(?<!\\)\bnão\b|[^\W\d_]{5,}")


@cache
def languages() -> dict[str, Language]:
    """Every language there is a file for, by its code."""
    found: dict[str, Language] = {}
    for file in sorted(resources.files(__package__).joinpath("languages").iterdir(), key=lambda one: one.name):
        if file.name.endswith(".json"):
            code = file.name.removesuffix(".json")
            found[code] = Language(code, json.loads(file.read_text(encoding="utf-8")))
    return found


def recognise(text: str) -> Language | None:
    """The language a message is written in, None if that cannot be told or there is no file for it."""
    return _recognised(text[:_SAMPLE])


@lru_cache(maxsize=256)  # a message is asked for its language by every rule that reads it
def _recognised(sample: str) -> Language | None:
    known = languages()
    if not sample.isascii():
        code = _by_script(sample)
        if code:
            return known.get(code)
    words = _words(sample.lower().replace("’", "'"))
    if not words:
        return None
    latin = _latin_words()
    shared: dict[str, int] = {}
    for word in words & latin.keys():
        for code in latin[word]:
            shared[code] = shared.get(code, 0) + 1
    most = max(shared.values(), default=0)
    best = [code for code, count in shared.items() if count == most]
    needed = 1 if len(words) <= 6 else 2
    return known[best[0]] if len(best) == 1 and most >= needed else None


def speaks_another(text: str, heard: Mapping[str, int]) -> bool:
    """Whether a message is English from somebody who speaks another language: mostly what a program printed."""
    others = sum(heard.values()) - heard.get(_ENGLISH, 0)
    if others < _LEAST_HEARD or _MOST_ENGLISH * heard.get(_ENGLISH, 0) > others or len(text) < _LONG_PASTE:
        return False
    own = recognise(text)
    return own is not None and own.code == _ENGLISH


def heard_in(texts: Iterable[str]) -> Counter[str]:
    """How many of the messages are in which language."""
    return Counter(own.code for own in map(recognise, texts) if own is not None)


def _words(sample: str) -> set[str]:
    words = set(sample.encode("utf-8", "replace").translate(_NO_LETTERS).decode().split())
    # nothing but letters makes most words, and no expression is needed to tell
    odd = [word for word in words if "'" in word or not word.isascii()]
    if odd:
        words.difference_update(odd)
        words.update(_WORD.findall(" ".join(odd)))
    return words


@cache
def _latin_words() -> dict[str, tuple[str, ...]]:
    """Every word a language in Latin letters is recognised by -> the languages it speaks for."""
    latin = [one for one in languages().values() if one.script == LATIN]
    words = frozenset().union(*(one.words for one in latin))
    return {word: tuple(one.code for one in latin if word in one.words) for word in words}


def _by_script(sample: str) -> str | None:
    data = sample.encode("utf-8", "replace")
    if not data.translate(None, _NO_SCRIPT):  # dashes and accents
        return None
    if len(_KANA.findall(sample)) >= (2 if len(sample) > _SHORT else 1):
        return "ja"
    if len(_HANGUL.findall(data)) >= 2:
        return "ko"
    han = len(_HAN.findall(data))
    if han >= 2 and han * 12 >= len(sample):
        return "zh"
    cyrillic = len(_CYRILLIC.findall(sample))
    if cyrillic >= 2 and cyrillic * 6 >= len(sample):
        return "uk" if _UKRAINIAN.search(sample) else "ru"
    return None


def small_kinds(text: str) -> frozenset[str]:
    """What a message amounts to that is nothing but agreement, refusal, a nudge or small talk; empty if it is more."""
    plain = text.strip().lower()
    if not plain or len(plain) > _MOST_SMALL:
        return frozenset()
    expression = _small()
    if not expression.fullmatch(plain):
        return frozenset()
    first = [kind for kind in SMALL if _small_kind(kind).match(plain)]
    return frozenset(first) or frozenset({"talk"})


@cache
def _small() -> re.Pattern[str]:
    return re.kept(rf"[\W_]*(?:(?:{_phrases(SMALL)})[\W_]*)+")


@cache
def _small_kind(kind: str) -> re.Pattern[str]:
    return re.kept(rf"[\W_]*(?:{_phrases((kind,))})")


def _phrases(kinds: tuple[str, ...]) -> str:
    """Phrases of all languages, the longest first so that none hides a longer one; only unspaced scripts join up."""
    spaced: set[str] = set()
    unspaced: set[str] = set()
    for language in languages().values():
        into = unspaced if language.script in _UNSPACED else spaced
        into |= {phrase.lower() for kind in kinds for phrase in language.phrases(kind)}
    joined = "|".join(sorted(map(re.escape, sorted(spaced)), key=len, reverse=True))
    loose = "|".join(sorted(map(re.escape, sorted(unspaced)), key=len, reverse=True))
    return rf"(?:{joined})(?!\w)|(?:{loose})"
