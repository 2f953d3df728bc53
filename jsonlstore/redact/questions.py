"""A question for a secret, and the secret in the answer: name and value stand in two messages.

A wrong guess costs one word of a short message, a missed one a password: whoever was just asked for one and answers
with little else says it.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from jsonlstore.core import expressions as re
from jsonlstore.core.regex import compiled, searcher
from jsonlstore.redact import rules
from jsonlstore.redact.looks import is_placeholder, is_reference, looks_secret
from jsonlstore.redact.names import PASSWORD_WORDS, SECRET_WORDS

if TYPE_CHECKING:
    from jsonlstore.core.regex import Search

_TAIL = 240  # characters at the end of a message in which it may ask
_LONGEST, _FEW, _SOME, _PHRASE = 400, 6, 24, 16  # characters; words of an answer that may be told
_LEAST_WORD, _LEAST_PIN = 4, 4
_CLOSING = " \t\r\n*_`\"')»”"
_ENDS = "?？:：;؟"
_SENTENCE = re.compile(r"[.!?。！？؟][\s*_]+|\n")
_VERBS = re.compile(
    r"(?i)\b(?:give|send|provide|enter|paste|share|type|tell|need|what|which|gib|geben|schick\w*|sende|nenn\w*|teil\w*|brauch\w*|benötig\w*|wie|welche\w*"
    r"|dame|dime|env[ií]a\w*|p[aá]sa\w*|escrib\w*|introduc\w*|necesito|cu[aá]l|qu[eé]|donne\w*|envoie\w*|entre[zr]|saisi\w*|fourni\w*|besoin|quel\w*"
    r"|envie|digite|informe|preciso|qual|me d[êe]|dammi|inserisci|invia\w*|fornisc\w*|quale|vul|geef|welk\w*|podaj|jakie)\b"
    r"|\b(?:введи|дай|пришл|укажи|скажи|нужен|какой|каков|введ[іи]|надішл|вкажи|потріб|який)|请|請|输入|輸入|提供|给我|告诉|告訴|什么|是多少|教えて|入力|ください|何|알려|입력|주세요|뭐|무엇"
)
_COUNTED = re.compile(
    r"(?i)\b(?:how many|how much|count|limit|wie viele|cu[aá]nt|combien|quant[oa]s|сколько|скільки)\b"
)
_NEXT_WORD = re.compile(r"[ _-]+(\w+)")
_OF_IT = re.compile(r"(?i)\b(?:for|from|do|mean|about|used|called|named|stored|kept)\W*\Z")  # what is the token for?
_PHRASES = re.compile(r"(?i)phrase|mnemonic|seed")
_TIME = re.compile(r"[0-9]{1,2}:[0-9]{2}\Z|[0-9]+(?:-[a-z]+|[a-z]{1,3})\Z")  # 10:30, a 6-digit code, 48h
_EDGES = "\"'`“”‘’«»()<>,;*"
_ODD = re.compile(r"\d|[!@#$%^&*+=~](?=\S)|[a-z][A-Z]")
_ELSEWHERE = re.compile(r"[/~$<{]|\.{1,2}/|\w+://|[A-Z]+(?:_[A-Z]+)+\Z")  # a path, a variable, an address


class Asked(NamedTuple):
    """What the last message asked for."""

    outright: bool  # what it is, and not only something about it
    phrase: bool  # of several words


def asked_for(message: str) -> Asked | None:
    """What secret a message asks for with its end, if any."""
    tail = message[-_TAIL:].rstrip(_CLOSING)
    if not tail:
        return None
    data = tail.encode("utf-8", "replace")
    # every message is asked: what few of them hold comes first
    if _names()(data, 0)[0][0] < 0:
        return None
    may_order = not tail.isascii() or _verbs()(data, 0)[0][0] >= 0
    if tail[-1] not in _ENDS and not may_order:
        return None
    sentence = _SENTENCE.split(tail[:-1])[-1] + tail[-1]
    data = sentence.encode("utf-8", "replace")
    ((start, end),) = _names()(data, 0)
    if start < 0 or _COUNTED.search(sentence) or _is_about(data[end:].decode()):
        return None
    outright = (tail[-1] in ":：" or (may_order and _VERBS.search(sentence))) and not _OF_IT.search(sentence)
    return Asked(bool(outright), _PHRASES.search(sentence) is not None) if outright or tail[-1] in _ENDS else None


def _is_about(behind: str) -> bool:
    """Whether a secret's name goes on as something else: which secret manager, the password reset."""
    noun = _NEXT_WORD.match(behind)
    return noun is not None and noun[1].lower() in rules.words("about")


def told_in(answer: str, asked: Asked) -> list[tuple[int, int]]:
    """Where the answer to such a question tells the secret."""
    words = [found.span() for found in re.finditer(r"\S+", answer[: _LONGEST + 1])]
    if not words or len(answer.strip()) > _LONGEST or "\n\n" in answer.strip():
        return []
    first = _trimmed(answer, *words[0])
    if asked.phrase and asked.outright and 1 < len(words) <= _PHRASE and _is_no_talk(answer[first[0] : first[1]]):
        return [(words[0][0], _trimmed(answer, *words[-1])[1])]
    spans = [_trimmed(answer, *word) for word in words]
    if len(words) <= _SOME:
        told = [span for span in spans if _is_told(answer[span[0] : span[1]], len(words) if asked.outright else _SOME)]
        if told:
            return told
    alone = len(words) == 1 and asked.outright and first[1] - first[0] >= _LEAST_WORD
    word = answer[first[0] : first[1]]
    return [first] if alone and _is_no_talk(word) and not _is_elsewhere(word) else []


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A word without the quotes and marks around it; a dot or an exclamation mark at its end may belong to it."""
    while start < end and text[start] in _EDGES:
        start += 1
    while start < end and text[end - 1] in _EDGES:
        end -= 1
    return start, end - (end - start > 1 and text[end - 1] in ".。")


def _is_told(word: str, words: int) -> bool:
    if len(word) < _LEAST_PIN or _is_elsewhere(word) or word.lower() in _talk() or _TIME.match(word):
        return False
    if word.isdigit():
        return words <= _LEAST_PIN
    odd = words <= _FEW and _ODD.search(word.rstrip(".,:;!?")) is not None
    return odd or looks_secret(word, chosen=True)


def _is_elsewhere(word: str) -> bool:
    """Whether a word says where a secret is."""
    return is_placeholder(word, bare=True) or is_reference(word) or _ELSEWHERE.match(word) is not None


def _is_no_talk(word: str) -> bool:
    return word.rstrip(".,:;!?").lower() not in _talk()


@cache
def _talk() -> frozenset[str]:
    return rules.words("talk") | rules.words("answers")


@cache
def _names() -> Search:
    return searcher(compiled(rf"(?i)(?:{PASSWORD_WORDS}|{SECRET_WORDS}|\bpin\b)", text=True, groups=False))


@cache
def _verbs() -> Search:
    """The verbs in ASCII text, where RE2 knows as well as Python what a word is, and takes a hundredth of the time."""
    return searcher(compiled(_VERBS.pattern, text=True, groups=False))
