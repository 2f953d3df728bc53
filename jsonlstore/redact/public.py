"""What stands behind a secret's name and is known to everybody: public keys, addresses, signatures, ids, samples.

The looks of the value decide, or the name does and the looks do not contradict it. Every expression is linear in what
it is given, and every look around a value is bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact.looks import is_wordy, looks_random
from jsonlstore.redact.wording import without_terms

if TYPE_CHECKING:
    from jsonlstore.redact.judging import Link
    from jsonlstore.redact.values import Value

# a point of P-256, as VAPID and JWK write it: it begins with the byte 4
_POINT = re.compile(r"B[A-P][A-Za-z0-9_-]{85}=?\Z")
_POINT_BYTES = re.compile(rb"B[A-P][A-Za-z0-9_-]{85}=?\Z")
_SIGNATURE = re.compile(r"0x[0-9a-fA-F]{128,132}\Z")  # of a transaction: two numbers and what tells them apart
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}\Z")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_HEX = re.compile(r"(?i)(?:0x)?[0-9a-f]{8,64}\Z")
_ONCE = re.compile(rb"(?i)(?:salt|iv)\Z")  # used once, and told to the other side
_REQUEST = re.compile(
    rb"(?:[Cc]lient|[Rr]equest|[Ii]dempotency)(?:Request)?Token\Z"
)  # of a call, against its repetition
# the public members of a JWK, the thumbprints of a certificate, and what only names one
PUBLIC_MEMBERS = frozenset((b"kid", b"x5t", b"x5c", b"x5u", b"kty", b"crv", b"alg", b"use", b"s256", b"thumbprint"))
_CODED = re.compile(
    r"[A-Za-z0-9+/._=:-]{0,60}EXAMPLE[A-Za-z0-9+/._=:-]{0,60}\Z"  # as AWS marks its samples
    r"|(?:[a-z]+[_-])?0{8}(?:-0{4}){3}-0{12}\Z"
    r"|@[A-Z][A-Z0-9_]+@?\Z"
    r"|(?:[0-9A-F]{4} {1,2}){9}[0-9A-F]{4}\Z"  # a fingerprint
    r"|[0-9]{1,10}(?:\.[0-9]{1,10}){5,40}\Z"  # of an object, in a directory
)
_DATE = re.compile(r"\S{0,16}-[0-9]{2}-[0-9]{2}T[0-9]{2}:")
_ACCOUNT = re.compile(r"[0-9]{1,6}:[0-9]{1,6}:[^:]{0,40}:/|\$[A-Z]+:\$[A-Z]+")  # the rest of a line of /etc/passwd
_PROGRAM = re.compile(r"/?(?:[\w-]{1,40}+/){1,10}+[\w-]{1,40}+\.(?:php|py|m?jsx?|tsx?|rb|go|java|s?html?)\Z")
_CLASS = re.compile(r"\\*+(?:[A-Z]\w{1,40}+\\++){1,8}+[A-Z]\w{1,60}+(?:::class)?\Z")
_FILLED_PATH = re.compile(r"/?(?:[A-Za-z][\w.-]{0,30}+/){1,8}+%[sdu]\Z")
_CIPHER = re.compile(r"[A-Z][A-Z0-9]{1,11}+(?:[-_:+!]{1,3}+[A-Z0-9]{1,11}+){1,12}+\Z")
_PSK = re.compile(rb"(?i)psk")
_TERMS = re.compile(r"v[0-9]{1,2}(?:(?:alpha|beta|rc)[0-9]{1,2})?\Z")


def is_public(data: bytes, value: Value, text: str, link: Link) -> bool:  # noqa: PLR0911 - a decision list
    """Whether a value behind a secret's name is one that anybody may see, or stands for none."""
    name = data[link.name_at : link.name_end]
    if text[:2] == "0x" and (_SIGNATURE.match(text) or (_ADDRESS.match(text) and name[-5:].lower() == b"token")):
        return True  # feeToken: '0x20c0…': a contract
    if _CODED.match(text) or _DATE.match(text) or _ACCOUNT.match(text):
        return True
    if len(text) in (87, 88) and _POINT.match(text):
        return True
    if _HEX.match(text) and _ONCE.search(name):
        return True
    if _REQUEST.search(name) and (_UUID.match(text) or not looks_random(text)):
        return True
    if "/" in text or "\\" in text:
        return bool(_PROGRAM.match(text) or _CLASS.match(text) or _FILLED_PATH.match(text))
    if text[:1].isupper() and _PSK.search(name) and _CIPHER.match(text) and _is_made_of_terms(text):
        return True  # TLS_PSK_WITH_AES_128_CCM
    return _TERMS.match(text) is not None or _is_described(data, value, text, link)


_CIPHER_WORD = re.compile(
    r"(?:TLS|WITH|PSK|DHE|ECDHE|ECDH|RSA|AES(?:128|256)?|CCM8?|GCM|CBC|SHA(?:256|384|1)?|CHACHA20|POLY1305|CAMELLIA(?:128|256)?|ARIA(?:128|256)?|NULL|RC4|3DES|EDE|HIGH|LOW|8|128|256|WPA2?|EAP|FT|SAE|NONE|MD5)\Z"
)
_BETWEEN = re.compile(r"[-_:+!]{1,3}")


def _is_made_of_terms(text: str) -> bool:
    return all(_CIPHER_WORD.match(part) for part in _BETWEEN.split(text))


def is_public_point(token: bytes) -> bool:
    """Whether a lone run is a public key of VAPID."""
    return len(token) in (87, 88) and _POINT_BYTES.match(token) is not None


# `:param str passphrase: Extra words`, in a docstring
_PARAMETER = re.compile(rb":(?:param|keyword|kwarg|arg|type|raises?|ivar|cvar|var)[ \t]+(?:[\w.\[\]|, ]{1,40}[ \t])?\Z")


def _is_described(data: bytes, value: Value, text: str, link: Link) -> bool:
    """Whether the name is a parameter in a docstring: what follows says what it is for."""
    if data[link.op_at : link.op_end] != b":" or value.quoted:
        return False
    return _PARAMETER.search(data, max(0, link.name_at - 64), link.name_at) is not None and not looks_random(text)


def is_term(text: str) -> bool:
    """`s3api`, `v1beta1`, `x509`: what has a figure in it and is a word all the same."""
    plain = without_terms(text).strip("_-")
    return plain != text and (not plain or plain.isalpha()) and is_wordy(plain)
