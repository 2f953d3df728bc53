"""Tokens that nobody named: a vendor's short prefix, a separator and a random tail; base64 of a configuration.

Ids of messages, calls and runs look just so. Their prefixes stand in `data/words.txt`, and what has none of its own is
left alone here: a hash, an id and a key cannot be told apart by their letters.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact import rules
from jsonlstore.redact.looks import is_wordy, randomness
from jsonlstore.redact.public import is_public_point
from jsonlstore.redact.vendors import vendors_run
from jsonlstore.redact.wording import without_terms

if TYPE_CHECKING:
    from collections.abc import Callable

HINT = rules.RUN_HINT
# The same for a look at a whole text: an automaton that counts has each of its states twenty times over. It may name
# more places, which are none of a run.
ENDLESS_HINT = HINT.replace("{0,20}", "*?")
Span = tuple[int, int, str]

BLOB = 512  # bytes of a run that is data, not a token
_GLANCED = 4  # bytes of a run without a prefix cost as much as one of a token
_HINT = re.compile(HINT.encode())
_RUN = re.compile(rb"[A-Za-z0-9_.~+/=%-]*")
_WORD = re.compile(rb"[A-Za-z0-9]*")
_RUN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~+/=%-"
# the first byte of every match of `HINT`
FIRST = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_TOKEN = re.compile(
    rb"((?:[A-Z]?[a-z]{1,13}[a-z0-9]{0,4}|[A-Z][A-Z0-9]{1,13}|[a-z][a-z0-9]{1,6})(?:[-_.~][A-Za-z0-9]{1,8}){0,3}?)[-_.~]([A-Za-z0-9_=.~-]{16,})\Z"
)
# a number that nobody keeps and the half that signs
_NUMBER_AND_KEY = re.compile(rb"[0-9a-f]{32}\.[A-Za-z0-9]{16}\Z")
_FILE = re.compile(rb"\.[A-Za-z][A-Za-z0-9]{0,5}\Z|\.(?:min|d|test|spec)\.")
_VERSION = re.compile(rb"[0-9]+\.[0-9]+|[0-9]{4}-[0-9]{2}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-")
_PARTS = re.compile(rb"[A-Za-z0-9]+")
_HEX = re.compile(rb"[0-9a-fA-F]+\Z")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{40,}={0,2}\Z")
# an id with its kind before it and its version first, as APIs hand them out: wrkspc_01…
_TAGGED_ID = re.compile(rb"_01[0-9A-Za-z]{22}\Z")
# an account, a contract or a transaction, with a sum of its letters at the end; a private key says so before it
_BECH32 = re.compile(rb"\A(?![a-z_]*(?:sec|priv|prv))[a-z]{2,16}(?:_[a-z]{2,8})?1[02-9ac-hj-np-z]{38,100}\Z")
_LEAST_TAIL, _GLANCE = 14, 40
_LEAST_PIECE = 8
_LEAST_RANDOMNESS = 5.0
_WORDS = 4.8
_HASHES = (b"sha1", b"sha256", b"sha384", b"sha512", b"md5")  # 'self' 'sha256-…', whose quotes are a joint
_WORDS_OF_CONSTANT = 3
_DRAWN = re.compile(rb"(?:[mlhvcsqtaz]-?[0-9.]+[,-]?){4,}z?\Z")
_MEMBER, _BETWEEN = re.compile(rb"[A-Z]?[a-z]+(?:[A-Z][a-z]+)*[0-9]{0,2}[A-Z]{0,4}\Z"), re.compile(rb"[._]")
_CAMEL = re.compile(rb"[a-z]*[0-9]{0,4}(?:[A-Z][a-z]*[0-9]{0,4})+\Z")
_BEFORE = b"/@#%&?.-~+:\\$"
_AFTER = b"/@%("


def judge_run(data: bytes, at: int, decoded: Callable[[bytes], bool]) -> tuple[int, Span | None, int, int]:
    """Where the run around `at` ends, it as a span if it is a token or hides a secret, where its word ends, and how
    many bytes were looked at one by one."""
    if not _HINT.match(data, at, at + 32):
        return at + 1, None, at + 1, 0  # another rule's hit
    inside = _WORD.match(data, at, at + 65536).end()  # type: ignore[union-attr]
    head = data[max(0, at - BLOB) : at]
    start = at - (len(head) - len(head.rstrip(_RUN_BYTES)))
    if data[start - 1 : start] == b"\\" and data[start : start + 1] in b"nrt":
        start += 1  # the n of an escaped line break
    end = _RUN.match(data, at, at + 65536).end()  # type: ignore[union-attr]
    run = data[start:end]
    cut = len(run) - len(run.lstrip(b"-._=/~%+"))
    first, last = start + cut, start + len(run.rstrip(b"._-/~%+"))
    token = data[first:last]
    within = len(head) == BLOB and start == at - BLOB  # the run began long before
    if len(token) >= 40 and not within and _BASE64.match(token) and _tells(token, decoded):
        return end, (first, last, "base64"), inside, BLOB // _GLANCED
    if len(token) > BLOB or not _stands_alone(data, first, last):
        return end, None, inside, 0
    weighed = len(token) if _TOKEN.match(token) else len(token) // _GLANCED
    if is_token(token):
        return end, (first, last, "token"), inside, weighed
    key, asked = vendors_run(data, first, last)
    return end, ((*key, "named") if key else None), inside, weighed + asked


def is_token(token: bytes) -> bool:  # noqa: PLR0911 - one exit per answer
    """Whether a run is a prefix, a separator and a random tail."""
    if _NUMBER_AND_KEY.match(token):
        return randomness(token[33:].decode()) >= _LEAST_RANDOMNESS
    found = _TOKEN.match(token)
    if (
        not found
        or found[1].lower().split(b"_")[0].decode() in _IDS
        or found[1].lower().endswith(_HASHES)
        or _FILE.search(token)
        or _TAGGED_ID.search(token)
        or b"=e." in token  # statements run together
        or b"XXXX" in token
        or is_public_point(token)
        or _BECH32.search(token)
        or b"xn--" in token.lower()  # a domain name beyond ASCII
        or _VERSION.search(found[2][:24])
    ):
        return False
    pieces = [piece for piece in _PARTS.findall(found[2]) if len(piece) >= _LEAST_PIECE and not _HEX.match(piece)]
    tail = b"".join(pieces)
    untermed = without_terms(tail.decode()).encode()  # TPM_RSASSAPKCS1v15_SHA1
    if token.isupper() and token.count(b"_") > _WORDS_OF_CONSTANT:
        return False  # FORMAT_R10X6G10_422_UNORM_4PACK16
    if len(set(tail[:_GLANCE])) * 5 < len(tail[:_GLANCE]) * 2:
        return False  # a picture, drawn with letters
    if token.isupper() and b"-" in found[2]:
        return False  # a device, by its maker's number
    if _DRAWN.match(token):
        return False  # the outline of a picture
    if all(map(_MEMBER.match, _BETWEEN.split(found[2]))):
        return False  # netmiko.cisco.cisco_asa.CiscoAsa10SSH
    if len(token) >= 40 and len(set(token)) * 10 > len(token) * 9:
        return False  # an alphabet
    if _CAMEL.match(tail) and (
        randomness(tail.translate(None, b"0123456789").decode()) < _WORDS
        or all(is_wordy(piece.decode()) for piece in pieces)
    ):
        return False  # PBES.PBESv2SHA256AndAES256CBC
    return (
        len(tail) >= _LEAST_TAIL
        and len(untermed) - len(untermed.translate(None, b"0123456789")) >= 2
        and randomness(tail.decode()) >= _LEAST_RANDOMNESS
    )


def _stands_alone(data: bytes, first: int, last: int) -> bool:
    """Not a part of an address or a path."""
    before, after = data[first - 1 : first], data[last : last + 1]
    escaped = data[first - 2 : first - 1] == b"\\"
    if before == after == b"|":
        return False
    line_before = data[max(0, first - 40) : first].rpartition(b"\n")[2]
    around = line_before + data[last : last + 40].partition(b"\n")[0]
    if len(around) - len(around.translate(None, _ODD)) > _MOST_ODD:
        return False  # a table, packed into a string
    if _IDENTIFIED.search(data, max(0, first - 24), first):
        return False
    return (not before or before not in _BEFORE or escaped) and (not after or after not in _AFTER)


_ODD, _MOST_ODD = b"!^%*$|{}~`", 7
# a name that says it is a hash or an id
_IDENTIFIED = re.compile(
    rb"(?i)(?:public_?key|digest|integrity|checksum|hash|etag|sha[0-9]+|(?<![a-z])sha|(?<![a-z])[a-z]{0,24}_?ids?)[\\\"'`]*[ \t]*[:= ][ \t]*[\\\"'`]*\Z"
)


def _tells(token: bytes, decoded: Callable[[bytes], bool]) -> bool:
    """Whether base64 is a readable text with a secret in it."""
    plain = token.rstrip(b"=")[: 1 << 14].translate(_STANDARD)
    try:
        if not base64.b64decode(plain[:_GLIMPSED], validate=True).isascii():
            return False
        text = base64.b64decode(plain[: len(plain) // 4 * 4], validate=True)
        readable = text.decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return (
        readable.isascii()
        and not readable.startswith(_SOURCE_MAP)
        and readable.replace("\n", "").replace("\t", "").replace("\r", "").isprintable()
        and decoded(text)
    )


_GLIMPSED = 32  # what is random shows it in its first bytes
_SOURCE_MAP = ('{"version":3', '{"version": 3')
_STANDARD = bytes.maketrans(b"-_", b"+/")
_IDS = rules.words("ids")
