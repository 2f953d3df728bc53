"""From text to words that could be topics, in any script, without a dictionary.

Counting happens on whitespace-separated pieces, which is as cheap as it gets; what words a piece holds is worked out
only when somebody asks for topics, once per distinct piece. Scripts written without spaces are cut up beforehand.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

from jsonlstore.core import expressions as re
from jsonlstore.signals.background import CJK_FUNCTION, CJK_STOP, word_rarity

LONGEST_PIECE = 64
LONGEST_WORD = 40
_SHORT_RUN = 24
_BLOB_FROM = 16
_CUTS = dict.fromkeys(map(ord, CJK_FUNCTION), " ")
_SPACED = bytes({*range(256)} - {*range(0xE3, 0xEA), 0xEF})  # bytes no sign of an unspaced script begins with

_WORD = re.compile(r"\w+(?:[-.'’+]\w+)*")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{2,}")
_HANGUL_PARTICLE = re.compile("(?:에서|으로|까지|부터|은|는|이|가|을|를|의|에|로|와|과|도|만)$")

_LATIN_PARTICLE = re.compile(r"(?<=[0-9a-z_])(?:에서|으로|까지|부터|은|는|이|가|을|를|의|에|로|와|과|도|만|라는|인)$")

_BLOB_RUN = re.compile(r"[A-Za-z0-9+/_=-]{16,}")
_CAPITALS = re.compile(r"(?<![A-Z])[A-Z]{2,}+(?=[a-z\d+/])")
_SNAKE = re.compile(r"(?:[a-z]{2,}[_-])+(?:v?\d{1,4}|[a-z]{2,})")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[+/_=-]")
_HEX = re.compile(r"[0-9a-f]+(?:-[0-9a-f]+)*")
_PADDED = re.compile(r"[A-Za-z0-9+/_-]{4,}={1,2}\W*")
_NUMBER_LIKE = re.compile(r"v?\d[\d.,:_x-]*[a-z]{0,3}", re.IGNORECASE)
_DATE_LIKE = re.compile(r"\d{4}-\d\d|\d{1,2}[-./]\d{1,2}[-./]\d{2,4}|\d{8}t?|\d\dt\d\d", re.IGNORECASE)
_MODEL_NUMBER = re.compile(r"[^\W\d_]{1,6}-?\d{1,5}[^\W\d_]{0,3}")
_REPEATED = re.compile(r"(.)\1{3,}")
_COUNTED = re.compile(
    r"(?:task|issue|id|pid|pr|port|line|step|call|msg|message|toolu|chatcmpl|item|row|page|ticket|v|call_|req|run|part"
    r"|chapter|session|user|bug|entry|wm|mem|stm)[-_#]?\d+.*"
)


# Compiled on first use: ranges this large take a millisecond each, and a session start in English needs none of them.


@cache
def _unspaced() -> re.Pattern[str]:
    return re.kept("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〆]+")


@cache
def _han() -> re.Pattern[str]:
    return re.kept("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〆]{2,}")


@cache
def _hangul() -> re.Pattern[str]:
    return re.kept("[\uac00-\ud7a3]+")


class Piece(NamedTuple):
    """The words of one whitespace-separated piece, and whether its ends may join a pair with its neighbours."""

    words: tuple[str, ...]
    joins_left: bool
    joins_right: bool


_NO_WORDS = Piece((), joins_left=False, joins_right=False)


def split_pieces(text: str) -> tuple[list[str], list[str]]:
    """The pieces of `text` short enough to hold a word, and its runs of unspaced script."""
    unspaced: list[str] = []
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        if text.encode("utf-8", "replace").translate(None, _SPACED):
            unspaced = _unspaced().findall(text)
        if unspaced:
            text = _unspaced().sub(" ", text)
    pieces = text.split()
    if _may_hold_long(text) and max(map(len, pieces), default=0) > LONGEST_PIECE:
        pieces = _without_long(pieces)
    return pieces, unspaced


def _may_hold_long(text: str) -> bool:
    """Whether so many signs stand in a row without a blank: asked in leaps, because most texts hold blanks enough."""
    at, end, last_blank = 0, len(text), text.rfind
    while end - at > LONGEST_PIECE:
        blank = last_blank(" ", at, at + LONGEST_PIECE + 1)
        if blank < 0:
            return True
        at = blank + 1
    return False


def _without_long(pieces: list[str]) -> list[str]:
    """Drop what is too long for words; wrapped base64 ends in a shorter line that goes with the long ones."""
    kept: list[str] = []
    after_blob = False
    for piece in pieces:
        long = len(piece) > LONGEST_PIECE
        if not long and not (after_blob and piece.isalnum() and not piece.islower()):
            kept.append(piece)
        after_blob = long
    return kept


@lru_cache(maxsize=1 << 15)
def read_piece(piece: str) -> Piece:
    """The candidate words of a piece, lower-cased; none if it is a blob, an id, a hash, a number or a time."""
    if len(piece) >= _BLOB_FROM and any(looks_encoded(run) for run in _BLOB_RUN.findall(piece)):
        return _NO_WORDS
    if piece.endswith("=") and _PADDED.fullmatch(piece):
        return _NO_WORDS
    if "://" in piece:
        return Piece(_address_words(piece), joins_left=False, joins_right=False)
    words = [folded for word in _WORD.findall(piece) if (folded := fold(word))]
    if not words:
        return _NO_WORDS
    return Piece(tuple(words), _is_word_edge(piece, 0), _is_word_edge(piece, -1))


def _address_words(url: str) -> tuple[str, ...]:
    """Of an address only the readable parts of its path: hosts, queries and fragments are not topics."""
    path = url.split("://", 1)[1].split("?", 1)[0].split("#", 1)[0].partition("/")[2]
    return tuple(folded for word in _WORD.findall(path) if (folded := fold(word)))


def _is_word_edge(piece: str, end: int) -> bool:
    """Whether a piece begins or ends with its word, marks of emphasis aside, so that it can be half of a pair."""
    stripped = piece.strip("*_`\"'“”„‘’«»")
    return bool(stripped) and stripped[end].isalnum()


def fold(word: str) -> str:
    """The form of `word` that topics are compared by; empty if it cannot be a topic."""
    lowered = word.lower().replace("’", "'").strip("_.-'+")
    lowered = lowered.removesuffix("'s")
    if not _is_wordlike(word, lowered) or not word_rarity(lowered):
        return ""
    if len(lowered) >= 3 and not lowered.isascii() and "가" <= lowered[-1] <= "힣":
        # the particle goes, behind a name in Latin letters, too ("orval을")
        lowered = (_HANGUL_PARTICLE if _hangul().fullmatch(lowered) else _LATIN_PARTICLE).sub("", lowered) or lowered
    return lowered


def _is_wordlike(word: str, lowered: str) -> bool:
    length = len(lowered)
    if length > LONGEST_WORD or length < 2 or _REPEATED.search(lowered):
        return False
    if length == 2 and lowered.isascii() and not (word.isupper() and word.isalpha()):
        return False
    if lowered.isalpha():
        return length < 8 or not _HEX.fullmatch(lowered)
    return any(c.isalpha() for c in lowered) and not _is_identifier_noise(word, lowered)


def _is_identifier_noise(word: str, lowered: str) -> bool:
    """Whether a word with digits or signs in it is an id, a hash, a time or a number rather than a name."""
    if _COUNTED.fullmatch(lowered) or _DATE_LIKE.match(lowered) or _NUMBER_LIKE.fullmatch(lowered):
        return True
    if _HEX.fullmatch(lowered) and (len(lowered) >= 6 or any(c.isdigit() for c in lowered)):
        return True
    if _MODEL_NUMBER.fullmatch(lowered):
        return False
    digits = sum(c.isdigit() for c in lowered)
    if digits * 2 > len(lowered):
        return True
    if len(word) >= _BLOB_FROM and looks_encoded(word):
        return True
    mixed = digits and any(c.islower() for c in word) and any(c.isupper() for c in word)
    return bool(mixed) and len(word) < 2.5 * len(_HUMP.findall(word))


def looks_encoded(run: str) -> bool:
    """Whether a run of letters and digits is encoded data rather than a name, a path or words in camelCase.

    Names change between capitals, small letters and digits every few characters; encoded data at nearly every one.
    """
    if _SNAKE.fullmatch(run):  # words joined by strokes, perhaps with a version: polymarket_arb_bot_v2
        return False
    humps = len(_HUMP.findall(run))
    digits = any(c.isdigit() for c in run)
    if _REPEATED.search(run) or len(run) < (3.0 if digits else 2.7) * humps:
        return True
    if (digits and _HEX.fullmatch(run.lower())) or len(_CAPITALS.findall(run)) >= 3 - digits:
        return not run.isupper() or digits
    capitals = sum(c.isupper() for c in run)
    shouted = capitals == len(run) and len(run) < 24
    return 2 * capitals > len(run) and not shouted and "_" not in run


def unspaced_words(run: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of a run of Chinese or Japanese: what stands alone as a word, and parts that may be words if they recur."""
    return _short_run(run) if len(run) <= _SHORT_RUN else _read_run(run)


@lru_cache(maxsize=1024)  # between marks and figures runs are short, and many come again; long ones would take memory
def _short_run(run: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return _read_run(run)


def _read_run(run: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    whole = [word for word in _KATAKANA.findall(run) if word not in CJK_STOP]
    parts: list[str] = []
    for han in _han().findall(run):
        for segment in _segments(han):
            if len(segment) <= 4 and segment not in CJK_STOP:
                whole.append(segment)
            parts += _recurring(segment)
    return tuple(whole), tuple(parts)


def _segments(han: str) -> list[str]:
    return [segment for segment in han.translate(_CUTS).split() if len(segment) >= 2]


def _recurring(segment: str) -> list[str]:
    longest = 6 if len(segment) <= 12 else 3
    return [
        part
        for size in range(2, min(longest, len(segment)) + 1)
        for start in range(len(segment) - size + 1)
        if (part := segment[start : start + size]) not in CJK_STOP
    ]


def keywords(text: str) -> tuple[str, ...]:
    """The distinct topic words of a short text (a prompt, a pin), in order: what overlap is measured with."""
    pieces, unspaced = split_pieces(text)
    found: dict[str, None] = {}
    for piece in pieces:
        found.update(dict.fromkeys(read_piece(piece).words))
    for run in unspaced:
        found.update(dict.fromkeys(unspaced_words(run)[0]))
    return tuple(found)


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """The words two texts are compared by: topic words, and of scripts without spaces every pair of signs."""
    words = set(keywords(text))
    if not text.isascii():
        for run in _unspaced().findall(text):
            words.update(run[at : at + 2] for at in range(len(run) - 1))
    return frozenset(words)
