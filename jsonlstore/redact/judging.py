"""Whether a value that is assigned to a secret's name is one: code, labels, versions and samples are not.

A list of decisions, the cheap and sure ones first. Every look around the value is bounded.
"""

# An expression is easier to read whole than in pieces.

from __future__ import annotations

import re
from typing import NamedTuple

from jsonlstore.redact import rules
from jsonlstore.redact.looks import (
    is_code,
    is_foreign,
    is_key_hex,
    is_placeholder,
    is_sentence,
    is_type,
    is_version,
    looks_random,
    looks_secret,
    randomness,
    tells,
)
from jsonlstore.redact.names import Key
from jsonlstore.redact.values import Value, measure, starts_line, to_line_end

SPACE_WORDS = re.compile(rb"(?:[ \t]+[a-z0-9]{2,14}(?![A-Za-z0-9:=(]))++")
_DEFAULT = re.compile(r"\$\{\w+:?[-=]([^{}]+)\}?\Z")
# What follows "password is" or "password:" in talk about passwords.
TALK = frozenset(word.encode() for word in rules.words("talk"))
PHRASE = re.compile(rb"(?i)mnemonic|(?:phrase|words|seed)\Z")


class Link(NamedTuple):
    """A name and what joins it to a value."""

    level: Key
    name_at: int
    name_end: int
    op_at: int
    op_end: int


def assigned(data: bytes, link: Link) -> list[tuple[int, int]]:
    if data.startswith(_HIDDEN, link.op_end):
        return []
    spans = [_judge(data, value, link) for value in measure(data, link.op_end, before=link.name_at)]
    return [span for span in spans if span]


# what stands behind most names in the second look at a text
_HIDDEN = (b"[REDACTED]", b'"[REDACTED]"', b" [REDACTED]", b' "[REDACTED]"', b'\\"[REDACTED]')
# A value that no code, word, version or address looks like; most are, and need no further question.
_GENERATED = re.compile(rb"(?=\D*\d\D*\d\D*\d)(?=[0-9A-Fa-f_-]*[G-Zg-z])(?:[A-Za-z0-9]{2,8}[-_])?[A-Za-z0-9]{16,256}\Z")
_JUDGED = 2048
_SURE = frozenset((b"=", b":", b":=", b"=>", b"%3D"))


def _judge(data: bytes, value: Value, link: Link) -> tuple[int, int] | None:  # noqa: C901, PLR0911, PLR0912 - a decision list
    level, op = link.level, data[link.op_at : link.op_end]
    run = data[value.start : min(value.end, value.start + _JUDGED)]  # a longer one is judged by its beginning
    if level >= Key.SECRET and op in _SURE and value.start - link.name_end < 6 and _GENERATED.match(run):
        return value.start, value.end
    name = data[link.name_at : link.name_end].lower()
    text = run.decode("utf-8", "replace")
    if _is_signature(data, link) or (data[value.end : value.end + 1] == b"}" and _FORMAT_SPEC.match(text)):
        return None
    if is_version(text) or is_address(text) or is_of_its_name(data, link, text):
        return None
    if not value.quoted and (_is_expression(text, op) or (level is not Key.PASSWORD and is_type(text))):
        return None
    if (not value.quoted and _GENERIC.search(text[:_EXPRESSION])) or _REGEX.search(text[:_EXPRESSION]):
        return None
    if _BETWEEN.match(text) or (op == b"|" and data[link.op_at - 1 : link.op_at].isalnum()):
        return None  # what stands between two strings; /token|secret/
    if data.startswith(b"...", value.end) and len(text) < 12:
        return None  # sk-ant-...
    if _UNION.match(data, value.end, value.end + 24) or _CHOICE.search(data, max(0, link.name_at - 8), link.name_at):
        return None  # password: Buffer | None;  x ? "API_KEY" : "api-key"
    if link.op_end == value.start and text.isalpha() and text.islower() and _is_namespaced(data, link, value.end):
        return None
    if (
        op == b"="
        and not value.quoted
        and data[link.name_at - 2 : link.name_at] == b", "
        and data[link.op_at - 1] == 32
    ):
        return None  # user, password = pair
    default = _DEFAULT.match(text)
    if default and not is_placeholder(default.group(1)):
        start = value.start + len(text[: default.start(1)].encode())
        return start, start + len(default.group(1).encode())
    if is_placeholder(text, bare=not value.quoted):
        return None
    if level is Key.HINT:
        count = text.isdigit() and not _CREDENTIAL.search(name)
        return (value.start, value.end) if (tells(text) or looks_random(text)) and not count else None
    if level is Key.WEAK:
        named = len(name) > 4  # `key` alone names anything, `facebook.key` a key
        hexed = named and is_key_hex(text) and not name.endswith(b"signature")
        return (value.start, value.end) if looks_random(text) or hexed else None
    between = data[link.op_end : value.start]
    if b"class=" in between:
        return None  # a span of coloured source code
    listed = level is Key.SECRET and (b"[" in between or b"(" in between)
    gap = data[link.name_end : link.op_at].strip()
    far = (len(between) > 3 and b"(" in between) or b"{" in between or listed or (b" " in gap and gap[:1].isalpha())
    compared = op.startswith((b"==", b"!=")) and not (value.quoted and level is Key.PASSWORD and len(text) >= 6)
    loose = compared or op.startswith(b"<") or op in (b"|", b"->", b"\xe2\x86\x92") or far
    if loose:
        number = text.isdigit() and compared and not value.quoted and len(text) < 8
        return (value.start, value.end) if tells(text) and not number else None
    if value.quoted:
        if level is Key.SECRET and " " in text and data[value.end : value.end + 1] == b"`":
            return None  # the token: `openclaw status --probe`, a command
        if (level is Key.SECRET and _LABEL.match(text)) or is_sentence(text) or is_foreign(text):
            return None
        if level is Key.SECRET and (_CONSTANT.match(text) or _DOTTED_WORDS.match(text)) and randomness(text) < 4.8:
            return None  # SILENT_REPLY_TOKEN = "NO_REPLY", storageKey: "app.panel.v1"
        if level is Key.SECRET and (name.endswith(b"key") or name == b"token") and _PLAIN_WORD.match(text):
            return None  # rootKey: "stock", {regex: /x/, token: "keyword"}
        if text[0] == "`" and is_placeholder(text.strip("`"), bare=True):
            return None  # ``x509.Certificate``
        return (value.start, value.end) if level is Key.PASSWORD or len(text) >= 4 else None  # accesskey="n"
    if text.isdigit():
        return (value.start, value.end) if len(text) >= (3 if level is Key.PASSWORD else 6) else None
    spaced = data[link.op_end : link.op_end + 1] in (b" ", b"\t")
    if b":" in op or op in {b"\xef\xbc\x9a", b"%3A"}:
        return _judge_colon(data, value, text, link, spaced=spaced)
    if spaced and (
        (_VARIABLE.fullmatch(text) and randomness(text) < 4.8)
        or (level is Key.SECRET and text.isalpha() and text.istitle())
    ):
        return None
    if text.startswith(("True", "False", "None")) or (
        _ARGUMENT.match(text) and data[value.end : value.end + 1] in b",)"
    ):
        return None  # f(token=token, extra_tokens=True)
    if spaced and text.isalpha() and not _is_setting(data, link, value.end):
        return None
    if spaced and level is Key.SECRET and text.isalpha() and text.islower() and _is_indented(data, link.name_at):
        return None  # a variable of a function
    return (value.start, value.end)


# "blank bearer token": words about a secret, as language files and lists of errors hold them
_CREDENTIAL = re.compile(rb"creds?|credentials?")
_PLAIN_WORD = re.compile(r"[a-z]{1,12}(?:-[0-9])?\Z")
_CONSTANT = re.compile(r"[A-Z]+(?:_[A-Z]+)+\Z")
_DOTTED_WORDS = re.compile(r"[A-Za-z]+(?:[.:/][A-Za-z]+[0-9]{0,2})+\Z")
_LABEL = re.compile(r"(?i)[a-z'’]+(?: [a-z'’,.()-]+)* (?:(?:[a-z]+ )*(?:token|key|secret|credential)s?\b)")


def is_address(text: str) -> bool:
    """Where something is, with no login and no question in it; a run of base64 may begin with two slashes."""
    if text.startswith("//"):
        return not tells(text)
    return text.startswith(("http://", "https://")) and "@" not in text and "?" not in text


_UNION = re.compile(rb"[ \t]\|[ \t](?:None|null|undefined|str|string|bytes|[A-Z][A-Za-z]+)\b")
_CHOICE = re.compile(rb"\?[ \t]*[\"'`]\Z")


def _is_namespaced(data: bytes, link: Link, end: int) -> bool:
    """`"passwd:shell"`: a string that is nothing but two names."""
    quote = data[link.name_at - 1 : link.name_at]
    return quote in (b'"', b"'") and data[link.op_at : link.op_end] == b":" and data[end : end + 1] == quote


def _is_expression(text: str, op: bytes) -> bool:
    """`AsmToken::TokenKind`, `{token:e.claim.token}:{}`, `e[e.CloseToken=2]="CloseToken"`: code goes on behind it."""
    text = text[:_EXPRESSION]
    if (op == b":" and text.startswith(":")) or (len(text) <= 2 and text.isalpha()):
        return True
    if _CALLED.search(text) or _NOT.match(text) or _TERNARY.match(text) or is_code(text):
        return True
    first, comma, _ = text.partition(",")
    if comma and (is_placeholder(first, bare=True) or _VARIABLE.fullmatch(first)) and randomness(first) < 4.8:
        return True
    inner = _INNER.match(text)
    return inner is not None and (len(inner[1]) <= 2 or is_placeholder(inner[1], bare=True))


_EXPRESSION = 160  # characters that show whether it is code
_BETWEEN = re.compile(r"[)\]},;:?]+[\w$]+[:=]\Z|[)\]},;:?]+[^\s]*[({=\[]|[a-z-]{2,20}\{[a-z-]+:")
_CALLED = re.compile(r"(?:\A|[,;:=?&|!(])(?:[A-Za-z_$][\w$]*\.)*[A-Za-z_$]+\((?:[\w$.]|\Z|\))")
_TERNARY = re.compile(r"[A-Za-z_$][\w$.]*\?[A-Za-z_$][\w$]*[.+:(]")
_NOT = re.compile(r"![01](?:\W|\Z)|(?:\+\+|--)[A-Za-z_]")
_REGEX = re.compile(r"\[A-Za-z|\[a-z0-9|\A/\^|\(\?[:P<=!]|\[\^[^\]]|\\[wWdDsSB]\b")
_INNER = re.compile(r"([\w.$]*)[)\]}]+[,.;:=(\[{)]")


def is_of_its_name(data: bytes, link: Link, text: str) -> bool:
    """`SSL_TXT_PSK "PSK"`, `token_key = "token"`, `api.AccessKey = raw.AccessKey`: a name for a name."""
    name = data[link.name_at : link.name_end]
    if len(text) > 5 and _JOINED_WORDS.match(text) and _plain(text) in _plain(name.decode("utf-8", "replace")):
        return True  # SCOPE_DEVICE_TOKEN = "device-token"
    if text.isupper() and text.isalpha() and name.endswith(text.encode()):
        return True
    last = re.split(r"[./]", text)[-1].encode().lower()
    if len(last) > 8 and name.lower().endswith(last):
        return True
    if text.isalpha() and _plain(text) in _plain(name.decode("utf-8", "replace")):
        return True  # "mistral-api-key": "mistral"
    return len(text) > 8 and _WORDS_JOINED.match(text) is not None and text.encode() in name


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(".", "")


_JOINED_WORDS = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)+\Z")
NAME_OF_WORDS = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+)+[-_.]?[0-9]{0,4}\Z")  # scram-sha-256
_FORMAT_SPEC = re.compile(r"[<>^+-]?0?\d{0,3}(?:\.\d+)?[a-zA-Z]?\Z")  # f"{token:02x}"
_ARGUMENT = re.compile(r"[a-z]+(?:_[a-z]+)+\Z")
_WORDS_JOINED = re.compile(r"[a-z]+(?:_[a-z]+)+,?\Z")
_GENERIC = re.compile(r"[A-Za-z*]<(?:[\[A-Za-z]|\Z)")  # Secret<str>, 1*<any CHAR>
_VARIABLE = re.compile(r"[A-Za-z]+(?:_[A-Za-z0-9]+)*_(?![0-9]{2,}\Z)[A-Za-z0-9]+|[a-z]+(?:[A-Z][a-z0-9]+)+|[a-z]{1,3}")
_TYPE_NOTE = re.compile(rb"[^:=]{0,4}\((?:bool|str|int|bytes|Optional|List|optional|string|callable)\b")


def _is_signature(data: bytes, link: Link) -> bool:
    """`def f(token):` and `password (bool): …` in a docstring."""
    gap = data[link.name_end : link.op_at]
    return data[link.op_at : link.op_end] == b":" and (gap.startswith(b")") or bool(_TYPE_NOTE.match(gap)))


def _is_indented(data: bytes, at: int) -> bool:
    return data[max(0, at - 4) : at] == b"    "


def _is_setting(data: bytes, link: Link, end: int) -> bool:
    """`password = swordfish` on a line of its own is a setting, `user, password = split(x)` is code."""
    name = data[link.name_at : link.name_end]
    rest = data[end : end + 80].split(b"\n")[0].strip()
    own = name.startswith((b"self.", b"this.", b"cls.", b"_")) or (b"." in name and rest == b";")
    return not own and starts_line(data, link.name_at) and (not rest or rest.startswith((b"#", b";", b'"', b"\\n")))


def _judge_colon(  # noqa: C901, PLR0911 - one exit per answer
    data: bytes, value: Value, text: str, link: Link, *, spaced: bool
) -> tuple[int, int] | None:
    level, name_at = link.level, link.name_at
    if b"\n" in data[link.op_end : value.start] and not (tells(text) or is_key_hex(text)):
        return None
    if text.isupper() and is_key_hex(text.lower()) and _PGP.search(data[max(0, name_at - 4) : link.name_end]):
        return None  # a fingerprint
    first = data[value.start : value.end].strip(b".,;:!?").lower()
    if is_foreign(text) and data[name_at : link.name_end].isascii():
        return None  # a description in another language
    if first in TALK or text.startswith(("(", "{", "[", "*", "\\")) or "](" in text or (spaced and is_type(text)):
        return None
    rest = _REST.match(data, value.start, value.start + 240).group()  # type: ignore[union-attr]
    described = _is_description(rest, data[name_at : link.name_end]) and not tells(text)
    if spaced and (_OPERATED.search(rest) or described):
        return None  # password: typeof x === "string";  :param password: the one you chose
    around = data[name_at - 1 : name_at] if name_at else b""
    around = around if around in (b"'", b'"', b"`") else b""
    if around and (_WORDS_JOINED.match(text) or _BARE_WORD.match(text)):
        return None  # "password": validate_password, is code: JSON has no bare words
    if spaced and _is_variable(text, data[value.end : value.end + 4]):
        return None
    if spaced and level is Key.SECRET and _WORD.match(text) and _in_braces(data, name_at):
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


_PGP = re.compile(rb"(?i)gpg|pgp")
_REST = re.compile(rb"(?:[^\r\n\"\\]|\\(?![nr\"]))*+")
_OPERATED = re.compile(rb" (?:[!=]==?|&&|\|\||\?\??) |\Atypeof ")


def _is_description(rest: bytes, name: bytes) -> bool:
    """`password: the one you chose`: words that say something; a phrase of words is a secret."""
    return b" " in rest and not PHRASE.search(name) and is_sentence(rest.decode("utf-8", "replace"))


_WORD = re.compile(r"[A-Za-z_$]+,?\Z")
_BARE_WORD = re.compile(r"[a-z_]+[})\],;]+\Z")


def _in_braces(data: bytes, at: int) -> bool:
    """Whether the line above is one of an object in code: configuration has no commas at its ends."""
    head = data[max(0, at - 200) : at].rstrip(b" \t")
    return head.endswith(b"\n") and head.rstrip().endswith((b",", b"{", b"("))


def _is_variable(text: str, after: bytes) -> bool:
    """`token: identityTokenFile ? …`, `apiKey: tokenProvider ?? apiKey,`, `refresh: canRefreshCredential,`: code."""
    bare = text.rstrip(",")
    if not _CAMEL_WORDS.match(bare) or randomness(bare) >= 4.8:
        return False
    return bare != text or after.lstrip()[:1] in (b",", b")", b"}") or after[:2] == b" ?"


_CAMEL_WORDS = re.compile(r"[a-z]+(?:[A-Z]+[a-z]+)+\Z")
