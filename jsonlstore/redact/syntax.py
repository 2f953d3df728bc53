"""What the syntax around a value says: a variable that is handed on, the value of another word, a joint of another phrase.

Every look around a value is bounded, and every expression is linear in what it is given.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact.looks import is_placeholder, is_wordy, looks_random, randomness
from jsonlstore.redact.names import Key, classify

if TYPE_CHECKING:
    from jsonlstore.redact.judging import Link
    from jsonlstore.redact.values import Value

_WORDLIKE = 4.8


def is_syntax(data: bytes, value: Value, text: str, link: Link) -> bool:
    """Whether what stands around an assigned value shows that it is written in a language, and is no literal secret."""
    if _crosses(data, link) or _is_keywords(data, value, text, link):
        return True
    return _is_named_or_choice(data, value, text, link) if value.quoted else _is_identifier(data, value, text, link)


# -- what joins them

_CROSSED = re.compile(rb"[ \t]#[ \t]|[a-z]\.[ \t]+[<A-Z]")
_KEYWORD = re.compile(rb"\([ \t\r\n]*([A-Za-z_]\w*)[ \t]*=[ \t]*\\*[\"']?\Z")
_VALUES = (b"value", b"val", b"data", b"default", b"s", b"text", b"plain", b"plaintext", b"raw")


def _crosses(data: bytes, link: Link) -> bool:
    """`('page_token' in params and  # noqa: E501`: the joint stands in a comment, or in the next sentence."""
    return link.op_at - link.name_end > _SHORT_GAP and _CROSSED.search(data, link.name_end, link.op_at) is not None


_SHORT_GAP = 4


def _is_keywords(data: bytes, value: Value, text: str, link: Link) -> bool:
    """`create_token(subject="user-1")`: an argument with a name of its own, which is no secret's."""
    if b"(" not in data[link.op_at : value.start]:
        return False
    found = _KEYWORD.search(data, max(link.op_at, value.start - 64), value.start)
    if not found or found[1].lower() in _VALUES:
        return False
    return classify(found[1].decode()) is Key.NONE and not looks_random(text)


# -- quoted

_WORD_IN_CAPITALS = re.compile(r"[A-Z]{2,14}[0-9]?\Z")
_SHORT_WORD = 7
_VALUE_BESIDE = re.compile(rb"[\"'][ \t\r\n]+value[ \t]*=")
_PACKED = re.compile(rb"pack\([ \t]*\\*[\"']\Z")
_VALIDATOR = re.compile(r"[a-z_]{2,16}:[0-9]{1,4}(?:,[0-9]{1,4})?\Z")
_NUMBERED_WORD = re.compile(r"[a-z]{3,12}[-_][0-9]\Z")
_ENTRY = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+:[A-Za-z_]\w*\Z")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.]{1,24}://([^/@:\s]{0,40}):([^/@\s]{0,40})@[^@\s]*\Z")
_KEYED = re.compile(rb"(?:password|passwd|token|secret)_?key\Z")
_NAMED_SO = re.compile(r"(?:[a-z]+[-_.])+(?:password|passwd|pass|token|secret|key)\Z")
_USERS = frozenset(("user", "username", "usr", "login"))
_PASSWORDS = frozenset(("pass", "password", "passwd", "pwd", "pw"))


def _is_named_or_choice(data: bytes, value: Value, text: str, link: Link) -> bool:  # noqa: PLR0911 - a decision list
    """A quoted value that names something: what is replaced, a rule for a form, an entry of a module, a choice."""
    if _PACKED.search(data, max(0, value.start - 12), value.start) or _VALUE_BESIDE.match(
        data, value.end, value.end + 80
    ):
        return True  # <filter token="version" value="${version}"/>
    if _VALIDATOR.match(text) and data[value.start - 2 : value.start - 1] in b"[ ,":
        return True  # "password": ["required", "min:8"]
    if _ENTRY.match(text) and all(map(is_wordy, text.replace(":", ".").split("."))):
        return True
    name = data[link.name_at : link.name_end].lower()
    if _KEYED.search(name) and _NAMED_SO.match(text):
        return True  # PASSWORD_KEY = "mail_password"
    address = _ADDRESS.match(text)
    if address:
        return is_placeholder(address[2]) or (address[1].lower() in _USERS and address[2].lower() in _PASSWORDS)
    if link.level is not Key.SECRET or b"secret" in name:
        return False
    if _NUMBERED_WORD.match(text) and randomness(text[:-2]) < _WORDLIKE and b"[" in data[link.op_end : value.start]:
        return True  # token: ["variable-2", null]
    if not _WORD_IN_CAPITALS.match(text) or data[link.op_at : link.op_end] not in (b":", b"=>"):
        return False
    return len(text) < _SHORT_WORD or randomness(text.rstrip("0123456789").lower()) < _WORDLIKE  # "token": "SKIP"


# -- not quoted

# a variable that is named for a secret: signKey521, passwd_md5, user1token
_NAMED = re.compile(
    r"(?:[A-Za-z]{1,12}+[0-9]{0,4}+_)*(?:[A-Za-z]*+[0-9]{1,3}+)?[A-Za-z]++(?:[0-9]{1,3}|_[a-z0-9]{1,8})?\Z"
)
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_TOLD = frozenset(("key", "token", "password", "passwd", "pwd", "pass", "passphrase", "secret", "credential", "creds"))
_BEHIND = (b",", b")", b"}", b"]", b";", b" ")
_TYPE = re.compile(r"[A-Z]{1,3}_[A-Z][A-Za-z]+(?:<[\w, |]{1,60}>?)?[;,]?\Z|&?\*?(?:\[\])?[a-z]\w*\.[A-Z]\w+\Z")
_AFTER_TYPE = re.compile(rb"[ \t]*(?:`|[\r\n;,){]|//|=[ \t])")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+\Z")
_IDENTIFIER = re.compile(r"[a-z_]\w*\Z")
_SUPPOSED = re.compile(rb"(?i)(?:\A|[^a-z])(?:if|when|unless)[ \t]+\Z")
_TITLE = re.compile(r"[A-Z][a-z]+\Z")
_PROSE = re.compile(rb"[ \t]+[A-Za-z0-9]+")


def _is_identifier(data: bytes, value: Value, text: str, link: Link) -> bool:  # noqa: C901, PLR0911 - a decision list
    """A value without quotes that is a variable, a type or the beginning of a sentence."""
    op, name_at = data[link.op_at : link.op_end], link.name_at
    if (op == b"=" and _DEFINED.search(data, max(0, name_at - 16), name_at)) or (
        op == b":" and _DECLARED.search(data, max(0, name_at - 12), name_at)
    ):
        return True  # data Token = Plus, let password: flags
    name = data[name_at : link.name_end].lower()
    if (name == b"key" and data[name_at - 4 : name_at] == b"did:") or (
        name.endswith(b"mnemonic") and _OPERATION.match(text)
    ):
        return True  # did:key:z6…, a public key; ASM mnemonic: ALM
    if op == b"=" and _is_statements(data, value, text, link):
        return True
    if _is_row(data, value, text, link) or is_sum(data, value, text):
        return True
    if op == b"->" and value.start > link.op_end and _HASKELL.match(text):
        return True  # reduce :: Token -> Parser.Int# -> Stack
    if data[name_at : name_at + 1] == b"$" and op == b":" and value.start == link.op_end:
        return True  # "$user:tail", a variable in a string
    if data[name_at - 2 : name_at] == b"${" and text[:1] in _MARKS and is_placeholder(text.lstrip(_MARKS).rstrip("}")):
        return True  # ${DB_PASSWORD:-change-me}
    closed = data[value.end : value.end + 1] in (b"}", b")")
    if closed and data[name_at - 1 : name_at] in (b"'", b'"') and _HANDED.match(text) and link.level is Key.SECRET:
        return True  # {'secret': depth0},contexts:[
    if op == b"|":
        return _CONSTANT.match(text) is not None  # flags: A_TOKEN | B_FLAG1
    if op == b":" and data[name_at - 1 : name_at] == b"~" and _IDENTIFIER.match(text):
        return True  # f ~passwd:word2, an argument of OCaml
    if is_qualified_type(data, value, text) and op != b"=":
        return True
    if _TITLE.match(text) and op == b":" and _PROSE.match(data, value.end, value.end + 24):
        return _SUPPOSED.search(data, max(0, name_at - 12), name_at) is not None
    return is_named_variable(data, value, text, link)


_DEFINED = re.compile(
    rb"(?:\A|[\s;])(?:data|type|newtype|structure|signature|class|struct|enum|union|module|interface|typedef|record)[ \t]+\Z"
)
_DECLARED = re.compile(rb"(?:\A|[\s;])(?:let|val|var|const|mut|pub|readonly)[ \t]+\Z")


def _is_statements(data: bytes, value: Value, text: str, link: Link) -> bool:
    """`char *password = word1;`: no language with a semicolon at the line's end has strings without quotes."""
    spaced = data[link.op_at - 1 : link.op_at] == b" " == data[link.op_end : link.op_end + 1]
    return (
        spaced and _VARIABLE.match(text) is not None and _LINE_ENDS.match(data, value.end, value.end + 12) is not None
    )


_HASKELL = re.compile(r"[A-Z][A-Za-z_]+(?:\.[A-Z][A-Za-z_]+)+#?\Z")
_OPERATION = re.compile(r"[A-Z]{2,6}\Z")
_VARIABLE = re.compile(r"[a-z_]{2,40}[0-9]{0,2}\Z")
_LINE_ENDS = re.compile(rb";[ \t]*(?:\r?\n|\Z|/[/*])")


def _is_row(data: bytes, value: Value, text: str, link: Link) -> bool:
    """`:cvpasswd:1:2000/01/23::`, `name:passwd:uid:gid`: fields of a row, and no end of it."""
    joined = data[link.op_at : link.op_end] == b":" and value.start == link.op_end
    beside = joined and (data[link.name_at - 1 : link.name_at] == b":" or _DATED.match(text) is not None)
    return beside and ":" in text.rstrip(":")


_DATED = re.compile(r"[0-9]{1,2}:[0-9]{4}/[0-9]{2}/[0-9]{2}:")
_SUM = re.compile(
    r"[a-z_]+[0-9]?(?:(?:->|\.)[a-z_]+)*(?:\[[a-z]+)?(?:[+*](?:[a-z_]{1,24}|0x[0-9a-f]{1,8}|[0-9]{1,4})|-(?P<less>[a-z_]{1,24}|0x[0-9a-f]{1,8}|[0-9]{1,4})|,[a-z_]+(?:\+\+|--|=))"
)
_BEHIND_SUM = (";", ")", ",", "]")


def is_sum(data: bytes, value: Value, text: str) -> bool:
    """`cred_end = cred+i;`, `*tokens=rest,tokens++;`: an expression, and what ends it in a program."""
    found = _SUM.match(text)
    if not found or not (found.end() == len(text) or text[found.end()] in ",;)"):
        return False
    behind = text[found.end()] if found.end() < len(text) else data[value.end : value.end + 1].decode("latin-1")
    if found["less"] and len(found["less"]) > 1:
        return behind == ";"  # otter-26 is a password as people choose them, in brackets and in lists, too
    return behind in _BEHIND_SUM


def is_qualified_type(data: bytes, value: Value, text: str) -> bool:
    """`accessToken: Q_StringValue;`, `BindPassword config.StringSource` and what ends a declaration behind it."""
    if not _TYPE.match(text) or not _AFTER_TYPE.match(data, value.end - text.endswith((";", ",")), value.end + 24):
        return False
    return all(is_wordy(part) and randomness(part) < _WORDLIKE for part in _WORD.findall(text))


_WORD = re.compile(r"[A-Za-z_]\w*")


def is_named_variable(data: bytes, value: Value, text: str, link: Link) -> bool:
    """`{privateKey: testKey521}`, `f(token=user1token,`: a name made of words, one of them a word for a secret."""
    bare = text.rstrip(",;")
    after = text[len(bare) : len(bare) + 1].encode() or data[value.end : value.end + 1]
    if after not in _BEHIND or not _NAMED.match(bare) or len(bare) > _LONGEST:
        return False
    if (
        data[link.op_at : link.op_end] == b"="
        and data[link.name_at - 1 : link.name_at] in (b"", b"\n", b"?", b"&", b" ")
        and after in b"; "
    ):
        return False  # a shell's
    parts = [part.lower() for part in _PARTS.findall(bare)]
    told = (
        any(part in _TOLD for part in parts) and len(parts) > 1 and not bare.isalpha() | bare.islower() & bare.isalpha()
    )
    return told and all(part.isdigit() or len(part) < 4 or randomness(part) < _WORDLIKE for part in parts)


_LONGEST = 60
_MARKS = "-=?+"
_HANDED = re.compile(r"[a-z]{2,24}[0-9]\Z")
