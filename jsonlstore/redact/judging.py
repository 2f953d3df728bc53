"""Whether a value that is assigned to a secret's name is one: code, labels, versions and samples are not.

A list of decisions, the cheap and sure ones first. Every look around the value is bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from jsonlstore.core import expressions as re
from jsonlstore.redact import context, keys
from jsonlstore.redact.colons import behind_colon, is_indented
from jsonlstore.redact.likelihood import GENERATED, likely
from jsonlstore.redact.looks import (
    is_key_hex,
    is_placeholder,
    is_reference,
    is_type,
    is_version,
    looks_random,
    randomness,
    tells,
)
from jsonlstore.redact.names import Key, classify
from jsonlstore.redact.positions import is_address, is_login, is_out_of_place, is_setting
from jsonlstore.redact.public import PUBLIC_MEMBERS
from jsonlstore.redact.sources import is_no_value, unended
from jsonlstore.redact.things import (
    CAMEL_WORDS,
    NAMED_SO,
    OF_SECRETS,
    SAMPLE,
    is_named_thing,
    is_of_its_name,
)
from jsonlstore.redact.values import Value, measure, starts_line
from jsonlstore.redact.wording import OWN_NAME, is_foreign, is_label, is_sentence, unescaped

if TYPE_CHECKING:
    from jsonlstore.redact.budget import Steps

_DEFAULT = re.compile(r"\$\{(?:\w+:|[A-Z_][A-Z0-9_]*)[-=]([^{}]+)\}?\Z")


class Link(NamedTuple):
    """A name and what joins it to a value."""

    level: Key
    name_at: int
    name_end: int
    op_at: int
    op_end: int
    budget: Steps  # who pays for the judgement


def assigned(data: bytes, link: Link) -> list[tuple[int, int]]:
    if data.startswith(HIDDEN, link.op_end):
        return []
    if (
        context.is_attribute(data, link.name_at)
        or (data[link.op_at : link.op_end] == b"|" == data[link.op_end : link.op_end + 1])
        or context.is_styled(data, link.name_at, link.name_end)
    ):
        return []
    inner = context.last_subscript(data, link.name_end, link.op_at) if link.op_at > link.name_end + 4 else None
    if inner and classify(inner.decode("utf-8", "replace")) is Key.NONE:
        return []
    if link.level is Key.HINT and is_login(data, link):
        link = link._replace(level=Key.PASSWORD)
    spans = [judge(data, value, link) for value in measure(data, link.op_end, before=link.name_at, budget=link.budget)]
    return likely(data, [span for span in spans if span], link, "assigned")


# what stands behind most names in the second look at a text
HIDDEN = (b"[REDACTED]", b'"[REDACTED]"', b" [REDACTED]", b' "[REDACTED]"', b'\\"[REDACTED]')
_OPEN = re.compile(rb"0x|[A-Za-z0-9_-]{0,80}EXAMPLE")  # an address perhaps, a sample of AWS
_CHOSEN = re.compile(rb"(?!sha|md5|utf|aes|rsa|base|arg|param|val)[a-z]{2,12}[0-9]{3,8}[a-z!@#%^*]{0,4}\Z")
_SURE = frozenset((b"=", b":", b":=", b"=>", b"%3D"))


def judge(data: bytes, value: Value, link: Link) -> tuple[int, int] | None:  # noqa: C901, PLR0911, PLR0912, PLR0915 - a decision list
    level, op = link.level, data[link.op_at : link.op_end]
    run = value.judged(data, link.budget)
    if (
        level >= Key.SECRET
        and op in _SURE
        and value.start - link.name_end < 6
        and GENERATED.match(run)
        and not _OPEN.match(run)
    ):
        return value.start, value.end
    if level is Key.PASSWORD and op == b"=" and value.start == link.op_end and _CHOSEN.match(run):
        return value.start, value.end
    name = data[link.name_at : link.name_end].lower()
    text = unended(run.decode("utf-8", "replace"))
    if _is_signature(data, link) or (data[value.end : value.end + 1] == b"}" and _FORMAT_SPEC.match(text)):
        return None
    if text.isupper() and len(text) == 40 and _PGP.search(name) and is_key_hex(text.lower()):
        return None  # a fingerprint
    if is_version(text) or is_address(text) or is_of_its_name(data[link.name_at : link.name_end], text):
        return None
    if (
        is_setting(data, value, link)
        and CAMEL_WORDS.match(text)
        and not is_reference(text)
        and not OWN_NAME.match(text)
    ):
        return value.start, value.end
    if is_no_value(data, value, text, link) or is_out_of_place(data, value, text, link):
        return None
    if op == b":" and data[link.name_at : link.name_end] == b"PASS" and _TEST_NAME.match(text):
        return None
    if not value.quoted and (context.is_expression(text, op) or (level is not Key.PASSWORD and is_type(text))):
        return None
    if not value.quoted and context.is_code_here(data, value, text, link):
        return None
    if (not value.quoted and _GENERIC.search(text[: context.EXPRESSION])) or _REGEX.search(text[: context.EXPRESSION]):
        return None
    if _BETWEEN.match(text) or (op == b"|" and data[link.op_at - 1 : link.op_at].isalnum()):
        return None  # what stands between two strings; /token|secret/
    if data.startswith(b"...", value.end) and len(text) < 12:
        return None  # sk-ant-...
    if _UNION.match(data, value.end, value.end + 24) or _CHOICE.search(data, max(0, link.name_at - 8), link.name_at):
        return None
    if (
        op == b":"
        and data[link.op_at - 1 : link.op_at + 2] == b" : "
        and data[link.name_at - 2 : link.name_at] == b"? "
    ):
        return None  # password: Buffer | None;  x ? "API_KEY" : "api-key"
    if link.op_end == value.start and op == b":" and context.is_one_name(data, link.name_at, text, value.end):
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
    if is_placeholder(text, bare=not value.quoted) or (text[:2] in ('"$', "'$") and is_placeholder(text.strip("\"'"))):
        return None
    between = data[link.op_end : value.start]
    keyed = _KEYED.search(data[max(0, value.start - 64) : value.start]) if b"{" in between else None
    if keyed and keyed[1].lower() not in _VALUES:
        hidden = looks_random(text) and keyed[1].lower() not in PUBLIC_MEMBERS
        return (value.start, value.end) if hidden else None  # a key of its own says what it is
    if level is Key.HINT and (b"(" in between or b"[" in between):
        return (
            (value.start, value.end) if looks_random(text) or is_key_hex(text) else None
        )  # credentials.with_project("mine-123")
    if level is Key.HINT:
        count = text.isdigit() and not _CREDENTIAL.search(name)
        text = text.replace("\\\n", "").replace("\n", "")  # wrapped between three quotes
        told = tells(text) or looks_random(text) or (name == b"pw" and _PHRASE_WORDS.match(text) is not None)
        return (value.start, value.end) if told and not count else None
    if level is Key.WEAK:
        return (value.start, value.end) if keys.opens(data, link.name_at, name, text, op) else None
    if b"class=" in between:
        return None  # a span of coloured source code
    if b"(" in between and (OF_SECRETS.match(text) or _OWN_FIELD.match(text) or NAMED_SO.match(text)):
        return None  # fields.get("password1")
    listed = level is Key.SECRET and (b"[" in between or b"(" in between)
    gap = data[link.name_end : link.op_at].strip()
    far = (len(between) > 3 and b"(" in between) or b"{" in between or listed or (b" " in gap and gap[:1].isalpha())
    if op.startswith(b"==") and b"||" in between:
        return None
    compared = op.startswith((b"==", b"!=")) and not (value.quoted and level is Key.PASSWORD and len(text) >= 6)
    loose = compared or op.startswith(b"<") or op in (b"|", b"||", b"??", b"?:", b"or", b"->", b"\xe2\x86\x92") or far
    if loose:
        number = text.isdigit() and compared and not value.quoted and len(text) < 8
        return (
            (value.start, value.end)
            if tells(text)
            and not number
            and not (level is Key.SECRET and (SAMPLE.match(text) or _NUMBERED_WORD.match(text)))
            else None
        )
    if value.quoted:
        if (level is Key.SECRET or op == b"=") and " " in text and data[value.end : value.end + 1] == b"`":
            return None  # the token: `openclaw status --probe`, pass=`expr $pass + 1`
        if level is Key.SECRET and not _ALNUM.search(text):
            return None
        if (
            (level is Key.SECRET and _LABEL.match(text))
            or is_sentence(unescaped(text))
            or is_foreign(text)
            or is_label(text)
        ):
            return None
        if level is Key.SECRET and len(text) > 15 and is_type(text):
            return None  # 'VAULT_SECRET': 'PotentialVaultSecretConnection'
        if len(text) < 3 and text.isdigit():
            return None
        if level is Key.SECRET and b"secret" not in name and _LONG_TITLE.match(text) and randomness(text) < 4.8:
            return None  # "encryption_key": "Encryptiesleutel"
        if text.replace(" ", "").isalpha() and context.is_caption(data, link.name_at):
            return None
        if is_named_thing(data, value, name, text, level):
            return None
        if level is Key.SECRET and (
            ((_CONSTANT.match(text) or _DOTTED_WORDS.match(text)) and randomness(text) < 4.8)
            or _LONG_CONSTANT.match(text)
        ):
            return None  # SILENT_REPLY_TOKEN = "NO_REPLY", storageKey: "app.panel.v1"
        if (
            level is Key.SECRET
            and (name.endswith(b"key") or _LAST.sub(b"", name) in (b"token", b"defaulttoken"))
            and _PLAIN_WORD.match(text)
        ):
            return None  # rootKey: "stock", {regex: /x/, token: "keyword"}
        if text[0] == "`" and (is_placeholder(text.strip("`"), bare=True) or _NAME_OF_CODE.match(text.strip("`"))):
            return None  # ``x509.Certificate``
        return (value.start, value.end) if level is Key.PASSWORD or len(text) >= 4 else None  # accesskey="n"
    if text.isdigit():
        least = 3 if level is Key.PASSWORD else 8 if b"error" in name else 6
        return (value.start, value.end) if len(text) >= least else None
    if is_foreign(text) and (name.isascii() or run.find(name) >= 0):
        return None  # a caption in another language
    spaced = data[link.op_end : link.op_end + 1] in (b" ", b"\t")
    if b":" in op or op in {b"\xef\xbc\x9a", b"%3A"}:
        return behind_colon(data, value, text, link, spaced=spaced)
    if spaced and (
        (context.VARIABLE.fullmatch(text) and randomness(text) < 4.8)
        or NAMED_SO.match(text)
        or (level is Key.SECRET and b"secret" not in name and text.isalpha() and text.istitle())
    ):
        return None
    if text.startswith(("True", "False", "None")) or (
        _ARGUMENT.match(text)
        and (
            data[value.end : value.end + 40].lstrip()[:1] in (b",", b")")
            or data[link.name_at - 2 : link.name_at] == b", "
        )
    ):
        return None  # f(token=token, extra_tokens=True)
    if (
        spaced
        and text.isalpha()
        and (not _is_setting(data, link, value.end) or context.is_statement(data, link.name_at))
    ):
        return None
    if spaced and level is Key.SECRET and text.islower() and is_indented(data, link.name_at) and _VARIABLE.match(text):
        return None  # a variable of a function
    return (value.start, value.end)


_OWN_FIELD = re.compile(r"[a-z_]*password[0-9]\Z")
_NUMBERED_WORD = re.compile(r"[a-z]{4,12}[0-9]\Z")  # token == ("section1", "key1")
_LONG_TITLE = re.compile(r"[A-Z][a-z]{9,24}\Z")
_ALNUM = re.compile(r"[^\W_]")
_NAME_OF_CODE = re.compile(r"[A-Za-z]+(?:[_.][A-Za-z]+)*(?:\(\))?\Z")


# "blank bearer token": words about a secret, as language files and lists of errors hold them
_PHRASE_WORDS = re.compile(r"[a-z]{2,12}(?:-[a-z]{2,12}){1,4}-[0-9]{1,6}\Z")  # wet-lemon-42
_PGP = re.compile(rb"(?i)gpg|pgp")
_CREDENTIAL = re.compile(rb"creds?|credentials?")
_VALUES = frozenset(
    (b"value", b"val", b"token", b"secret", b"password", b"data", b"current", b"default", b"raw", b"plain")
)
_KEYED = re.compile(rb"(\w+)\\*[\"'][ \t\r\n]*(?::|=>)[ \t\r\n]*\\*[\"']\Z")
_LAST = re.compile(rb"\A.*[.>]")
_PLAIN_WORD = re.compile(r"[a-z]{1,12}(?:-[0-9])?\Z")
_CONSTANT = re.compile(r"[A-Z]+(?:_[A-Z]+)+\Z")
_LONG_CONSTANT = re.compile(r"(?:[A-Z]{1,12}_){2,8}[A-Z]{1,12}\Z")
_DOTTED_WORDS = re.compile(r"[@_]?(?=[\w-]*[.:/])[A-Za-z]+(?:[.:/_-][A-Za-z]+[0-9]{0,3})+\Z")
_LABEL = re.compile(r"(?i)[a-z'’]+(?: [a-z'’,.()-]+)* (?:(?:token|key|secret|credential)s?\b)")


_UNION = re.compile(rb"[ \t]\|[ \t](?:None|null|undefined|str|string|bytes|[A-Z][A-Za-z]+)\b")
_CHOICE = re.compile(rb"\?[ \t]*[\"'`]\Z")


_BETWEEN = re.compile(r"%\}|\+[\w$.]{0,24}[);,}]|[)\]},;:?]++(?:[\w$]++[:=]\Z|[^\s]*[({=\[])|[a-z-]{2,20}\{[a-z-]+:")
_REGEX = re.compile(
    r"\(\.[*+]|:\.\*[a-z]|\.\*\??\)|\[\^?(?:A-Z|A-F|a-z|a-f|0-9)|0-9a-zA-Z|a-zA-Z0-9|A-Za-z0-9[^A-Za-z0-9]{0,8}\]|\A/\^|\(\?[:P<=!]|\[\^[^\]]|\\[wWdDsSB]\b"
)


# PASS: TestLogin/0, PASS: tests/test_login.py::test_login: what test runners say of a test
_TEST_NAME = re.compile(r"(?:Test[A-Z_]|test_|tests?/)[\w./:\[\]-]*\Z")


_FORMAT_SPEC = re.compile(r"[<>^+-]?0?\d{0,3}(?:\.\d+)?[a-zA-Z]?\Z")  # f"{token:02x}"
_VARIABLE = re.compile(r"[a-z]+(?:_[a-z]+)*\Z")
_ARGUMENT = re.compile(r"[a-z]+(?:_[a-z]+)+\Z")
_GENERIC = re.compile(r"[A-Za-z0-9*]<(?:[\[A-Za-z{]|\Z)")  # Secret<str>, 1*<any CHAR>
_TYPE_NOTE = re.compile(rb"[^:=]{0,4}\((?:bool|str|int|bytes|Optional|List|optional|string|callable)\b")


def _is_signature(data: bytes, link: Link) -> bool:
    """`def f(token):` and `password (bool): …` in a docstring."""
    gap = data[link.name_end : link.op_at]
    return data[link.op_at : link.op_end] == b":" and (gap.startswith(b")") or bool(_TYPE_NOTE.match(gap)))


def _is_setting(data: bytes, link: Link, end: int) -> bool:
    """`password = swordfish` on a line of its own is a setting, `user, password = split(x)` is code."""
    name = data[link.name_at : link.name_end]
    rest = data[end : end + 80].split(b"\n")[0].strip()
    own = name.startswith((b"self.", b"this.", b"cls.", b"_")) or (b"." in name and rest == b";")
    own = own or rest == b";"
    return not own and starts_line(data, link.name_at) and (not rest or rest.startswith((b"#", b";", b'"', b"\\n")))
