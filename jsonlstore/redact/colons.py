"""Whether a value behind a colon is a secret: of settings, or of code, where a colon says what type something has.

Every look around the value is bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact import context, rules
from jsonlstore.redact.looks import is_key_hex, is_type, looks_secret, randomness, tells
from jsonlstore.redact.names import Key
from jsonlstore.redact.things import NAMED_SO, WORDS_JOINED
from jsonlstore.redact.values import Value, starts_line, to_line_end
from jsonlstore.redact.wording import is_foreign, is_label, is_secrets_word, is_sentence

if TYPE_CHECKING:
    from jsonlstore.redact.judging import Link

SPACE_WORDS = re.compile(rb"(?:[ \t]+[a-z0-9]{2,14}(?![A-Za-z0-9:=(]))++")
# What follows "password is" or "password:" in talk about passwords.
TALK = frozenset(word.encode() for word in rules.words("talk"))
PHRASE = re.compile(rb"(?i)mnemonic|(?:phrase|(?<!pass)words|seed)\Z")
_TITLE = re.compile(r"[A-Z][a-z]{3,24}\Z")


def is_indented(data: bytes, at: int) -> bool:
    return data[max(0, at - 4) : at] == b"    " or data[at - 1 : at] == b"\t"


def behind_colon(  # noqa: C901, PLR0911, PLR0912 - one exit per answer
    data: bytes, value: Value, text: str, link: Link, *, spaced: bool
) -> tuple[int, int] | None:
    level, name_at = link.level, link.name_at
    if b"\n" in data[link.op_end : value.start] and not (tells(text) or is_key_hex(text)):
        return None
    first = data[value.start : value.end].strip(b".,;:!?").lower()
    if level is Key.SECRET and spaced and first.endswith((b"ed", b"ing")) and first.isalpha() and text.islower():
        return None  # gitPrivateKey: imported
    if is_foreign(text) and data[name_at : link.name_end].isascii():
        return None  # a description in another language
    if (
        first in TALK
        or is_secrets_word(text)
        or _ACCOUNT.match(text)
        or text.startswith(("(", "{", "[", "*", "\\"))
        or "](" in text
        or (spaced and is_type(text))
    ):
        return None
    rest = _REST.match(data, value.start, value.start + 240).group()  # type: ignore[union-attr]
    described = _is_description(rest, data[name_at : link.name_end]) and (not tells(text) or _ACRONYM.match(text))
    if spaced and text[:1].isupper() and text.isalpha() and is_label(rest[:_CAPTION].decode("utf-8", "replace")):
        return None  # lost_password: Izgubljena lozinka
    if (spaced and _OPERATED.search(rest)) or (described and data[value.start - 1 : value.start] in (b" ", b"\t")):
        return None  # password: typeof x === "string";  :param password: the one you chose
    around = data[name_at - 1 : name_at] if name_at else b""
    around = around if around in (b"'", b'"', b"`") else b""
    closed = data[value.end : value.end + 2] == b"})" or (
        text.isalpha() and text.islower() and data[value.end : value.end + 1] in (b"}", b")", b"]", b",", b";")
    )
    if (around or data[link.name_end : link.name_end + 1] in (b'"', b"'")) and (
        WORDS_JOINED.match(text) or NAMED_SO.match(text.rstrip(",")) or _BARE_WORD.match(text) or closed
    ):
        return None  # "password": validate_password, is code: JSON has no bare words
    if spaced and context.is_variable(text, data[value.end : value.end + 40]):
        return None
    if spaced and level is Key.SECRET and not tells(text.rstrip(",;")) and text[-1:] in ",;":
        return None  # privateKey: pkcs8,
    if spaced and _TYPE_ENDS.match(text + data[value.end : value.end + 1].decode("latin1")):
        return None  # privateKey: Buffer;
    own = starts_line(data, name_at) and (
        not is_indented(data, name_at) or b"secret" in data[name_at : link.op_at].lower()
    )
    if spaced and level is Key.SECRET and not own and _TITLE.match(text) and randomness(text) < 4.8:
        return None  # token: Tensor
    if spaced and level is Key.SECRET and _WORD.match(text) and context.in_braces(data, name_at):
        return None  # { kind: "refresh",  secret: refresh }
    begins = bool(around) or starts_line(data, name_at)
    if begins and spaced and b"\n" not in data[link.op_end : value.start]:
        line = to_line_end(data, value.start, around)
        rest = data[value.start : line.end]
        if level is Key.PASSWORD or rest.count(b" ") == 0 or looks_secret(text):
            hash_at = rest.find(b" #")
            return (value.start, value.start + hash_at if hash_at > 0 else line.end)
    if level is Key.PASSWORD:
        more = SPACE_WORDS.match(data, value.end, value.end + 120) if text.isalpha() and text.islower() else None
        return (value.start, more.end() if more else value.end)
    if not spaced or tells(text):
        return (value.start, value.end)
    return None


_ACCOUNT = re.compile(r"[0-9]+:[0-9]+:[^:]*:/")  # the rest of a line of /etc/passwd
_CAPTION = 80
_REST = re.compile(rb"(?:[^\r\n\"\\]|\\(?![nr\"]))*+")
_OPERATED = re.compile(rb" (?:[!=]==?|&&|\|\||\?\??) |\Atypeof ")


def _is_description(rest: bytes, name: bytes) -> bool:
    """`password: the one you chose`: words that say something; a phrase of words is a secret."""
    if b" " not in rest:
        return False
    text = rest.decode("utf-8", "replace")
    return is_sentence(text) and (not PHRASE.search(name) or _PUNCTUATED.search(text) is not None)


_ACRONYM = re.compile(r"[A-Z]{2,8}[a-z]?[0-9]{0,2}\Z")  # SNMPv3 privacy password
_PUNCTUATED = re.compile(r"[a-z][.,;:)]|\([a-z]")
_WORD = re.compile(r"[A-Za-z_$]+,?\Z")
_BARE_WORD = re.compile(r"[a-z_]+[})\],;]+\Z|[a-z]+[0-9]?(?:_[a-z]+)+\Z|[Ff][0-9A-Fa-f]{3},?\Z")


_TYPE_ENDS = re.compile(r"[a-z]{3,12};\Z|(?:[A-Z][A-Za-z]{2,40}|[A-Z][a-z]{3,20}[0-9][a-z]|[A-Z][0-9]?)(?:\[\])?[;,]\Z")
