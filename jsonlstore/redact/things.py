"""Quoted values that are names themselves: of an item in a store, a module, a choice, a grammar's class, a sample."""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact.looks import is_worded, is_wordy, randomness, tells
from jsonlstore.redact.names import Key

if TYPE_CHECKING:
    from jsonlstore.redact.values import Value

NAME_OF_WORDS = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+)+[-_.]?[0-9]{0,4}\Z")  # scram-sha-256
CAMEL_WORDS = re.compile(r"[a-z]+(?:[A-Z]+[a-z]+)+\Z")


def is_named_thing(data: bytes, value: Value, name: bytes, text: str, level: Key) -> bool:  # noqa: C901, PLR0911, PLR0912 - a decision list
    """A quoted value that is a name itself: of an item in a store, a thing in a list, a choice, a grammar's class."""
    if name.endswith(b"mnemonic") and " " not in text and not tells(text):
        return True  # .mnemonic = "ENVELOPE", of an operation
    if _CHOICES.match(text):
        return True  # api|token|key|secret
    named = NAME_OF_WORDS.match(text) or CAMEL_WORDS.match(text)
    if level is Key.SECRET and LOOKUP.search(name) and named and randomness(text) < 4.8:
        return True  # storageKey: "registry.page_size"
    if _MODULE.match(text) and all(map(is_wordy, text.replace(":", ".").split("."))):
        return True  # "pwd": "core.magics.osm:Magics"
    told = level is Key.SECRET and b"secret" not in name
    if (
        told
        and len(text) > 4
        and not _is_set(data, value, name, text)
        and _ONE_NAME.match(text.rstrip(":"))
        and is_wordy(text.strip("?:"))
    ):
        return True  # token: "pluralCase", "COUNT"
    if told and " " in text.strip() and not any(c.isdigit() for c in text):
        return True  # TOKEN_DATA: "template data / text"
    if told and text.isdigit() and len(text) < _LEAST_DIGITS:
        return True  # WithoutAccessToken = "92912"
    if name.endswith(b"authorization") and text.isalpha() and text.islower() and len(text) < _LEAST_DIGITS + 3:
        return True  # {"Authorization": "allow"}
    if told and _SCOPES.match(text) and is_worded(text.strip("*").replace(" ", ".")):
        return True  # "markup.heading.2.markdown", "*uri*"
    if _CALLS.match(text):
        return True  # `url('./icon.png')`
    if (
        told
        and _FEW_WORDS.match(text)
        and all(randomness(part) < 4.6 for part in _BETWEEN_WORDS.split(text) if len(part) > 3)
    ):
        return True  # "no-check", "if_available"
    if level is Key.SECRET and (SAMPLE.match(text) or _GRAMMAR.match(text) or OF_SECRETS.match(text.rstrip(":"))):
        return True
    if level is Key.SECRET and len(text) > _TABLE and len(_NOT_BASE64.findall(text)) * 5 > len(text):
        return True  # a parser's table, packed into a string
    if _PAIRS.match(text) and not any(tells(pair.partition("=")[2]) for pair in text.split(";")):
        return True  # AccountName=xxxx;AccountKey=xxxx
    return _is_listed(data, value) and NAME_OF_WORDS.match(text) is not None and randomness(text) < 4.8


def _is_set(data: bytes, value: Value, name: bytes, text: str) -> bool:
    """`token="camelCaseWord"`: what is assigned to a token and nothing else is one, where grammars have `token: "…"`."""
    op = data[max(0, value.start - 4) : value.start - 1].rstrip()
    return op.endswith(b"=") and not text.isupper() and _TOKEN_NAME.match(name) is not None


_TOKEN_NAME = re.compile(rb"(?:[a-z0-9]+[-_.])*(?:token|api[-_]?key|access[-_]?key)\Z")


def _is_listed(data: bytes, value: Value) -> bool:
    """Whether a string is one of a list: `['date-functions', 'function_password']`."""
    before, after = data[value.start - 2 : value.start - 1], data[value.end + 1 : value.end + 2]
    low = max(0, value.start - 80)
    return (
        before in (b"[", b" ")
        and after in (b",", b"]")
        and data.rfind(b"[", low, value.start) > data.rfind(b"]", low, value.start)
    )


LOOKUP = re.compile(
    rb"(?:storage|root|user|project|org|team|server|service|app|application|client|subscription|security|account|integration|write|ingest|bot)[ _.-]?keys?\Z"
)
_CHOICES = re.compile(r"[A-Za-z_-]{2,20}(?:\|[A-Za-z_-]{2,20}){2,40}\Z|[A-Z][A-Za-z]+\[[A-Z]\w*\]\Z")
SAMPLE = re.compile(
    r"(?i)(\w)\1{2,}\Z|(?:api|auth|access|test|my|some|the)?[-_]?(?:key|token|secret)[-_]?(?:string|[0-9]{1,3})\Z"
)
_CALLS = re.compile(r"[a-z]+\(\\?['\"./]")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[a-z_]\w*){2,}(?:[:.][A-Z]\w*)?\Z")
_ONE_NAME = re.compile(r"\??[a-z]+(?:[A-Z][a-z]+)+\Z|\??(?:[A-Z][a-z]+){2,}\Z|[A-Z]{4,10}\Z")
_FEW_WORDS = re.compile(r"\.?[a-z]{2,12}(?:[-_][a-z]{2,12}){1,2}\Z")
OF_SECRETS = re.compile(
    r"(?:[a-z]+[-_.])*(?:password|passwd|token|secret|credential)s?(?:[-_.][a-z]+)*\Z|(?:[a-z]+_)+(?:api_?|p)?key\Z"
)  # set-password
_GRAMMAR = re.compile(r"[a-z]+(?:[.-](?:[a-z]+|\$S?[0-9]))+\Z|[a-z]+(?:[.-][a-z]+)*\.\$?(?:[0-9]|[a-z]{2,6})\Z")
_LEAST_DIGITS = 6
_SCOPES = re.compile(r"\*?[a-z]+[0-9]{0,2}(?:[. -][a-z0-9]+)*\.[a-z0-9]+(?: [a-z.-]+)*\*?\Z|\*[a-z]+\*\Z")
_TABLE, _NOT_BASE64 = 200, re.compile(r"[^A-Za-z0-9+/=._%-]")
_PAIRS = re.compile(r"[A-Za-z ]{2,40}=[^;=]{0,200}={0,2}(?:;[A-Za-z ]{2,40}=[^;=]{0,200}={0,2})+;?\Z")


_BETWEEN_WORDS, _BETWEEN_PARTS = re.compile(r"[-_.]"), re.compile(r"[./:]")


def is_of_its_name(name: bytes, text: str) -> bool:  # noqa: PLR0911 - one exit per answer
    """`SSL_TXT_PSK "PSK"`, `token_key = "token"`, `api.AccessKey = raw.AccessKey`: a name for a name."""
    if len(text) > 5 and _JOINED_WORDS.match(text) and _plain(text) in _plain(name.decode("utf-8", "replace")):
        return True  # SCOPE_DEVICE_TOKEN = "device-token"
    if len(text) > 3 and text.rstrip("!?,;)}").encode() == name:
        return True
    if len(name) > 8 and b"_" in name and name.decode("utf-8", "replace") in text:
        return True  # _set_key:  L$_set_key_begin:
    if text.isupper() and text.isalpha() and name.endswith(text.encode()):
        return True
    head = _STATEMENT_END.match(text)
    if head and name.endswith(head[1].encode()):
        return True  # exports.AccessKey=AccessKey;function
    last = _BETWEEN_PARTS.split(text)[-1].encode().lower()
    if len(last) > (7 if _REFERENCE.match(text) else 8) and name.lower().endswith(last):
        return True
    if (
        len(last) > 8
        and ("." in text or "/" in text)
        and _plain(name.decode("utf-8", "replace")).endswith(_plain(last.decode()))
    ):
        return True  # RegistrationToken = "org.example.registration_token"
    if (
        text.isalpha()
        and _NAMED_AFTER.search(text)
        and _plain(text[:-4])[:6] in _plain(name.decode("utf-8", "replace"))
    ):
        return True  # tlsSecret: "tlsSecretName"
    if text.isalpha() and _plain(text) in _plain(name.decode("utf-8", "replace")):
        return True  # "mistral-api-key": "mistral"
    return len(text) > 8 and WORDS_JOINED.match(text) is not None and text.encode() in name


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(".", "")


_JOINED_WORDS = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)+\Z")
WORDS_JOINED = re.compile(r"[a-z]+(?:_[a-z]+)+,?\Z")
NAMED_SO = re.compile(r"[a-z]+[0-9]{0,4}(?:_[a-z0-9]{1,8})*_(?:pass|passwd|password|key|token|secret)\Z")  # srx2_pass
_NAMED_AFTER = re.compile(r"(?:Secret|Token|Key|Credentials?|Password)(?:Name|Ref|Id)\Z")
_STATEMENT_END = re.compile(r"([A-Za-z_$][\w$]{5,80})[;,](?:[a-z]+\b|\Z)")
_REFERENCE = re.compile(r"[a-z_]{1,30}\.[A-Za-z_]+\Z")  # u.password
