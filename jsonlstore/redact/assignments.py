"""Secrets that a name announces: `password=…`, `"api_key": "…"`, `--token …`, "my password is …".

RE2 finds the name and what joins it to a value; the functions here measure the value and judge it. Every look ahead is
bounded, so the whole is linear in the text.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

import re
from functools import cache
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
from jsonlstore.redact.names import PASSWORD_WORDS, SECRET_WORDS, WEAK_WORDS, Key, classify
from jsonlstore.redact.values import GLANCE, OPEN, SKIP, Value, measure, starts_line, to_line_end

STRONG = rf"(?:{PASSWORD_WORDS}|{SECRET_WORDS})"
_CLOSE = r"""(?:\\*["'`\])]|%22|%5D|&quot;|&#34;|\*\*|__|\\u0022|”|’|»|[ \t]?\([^()\n]{0,40}\)|[ \t]?\[[^\[\]\n]{0,40}\]){0,4}"""
_OP = r"(?:<<<|===?|!==?|:{1,3}=|=>|[:=?+.]=|\?\?=|\|\|=|->|→|<-|：|＝|%3D|%3A|&#61;|\\u003d|[:=]|</[a-z]{1,8}>\s*<(?:td|dd|span|code|div|value|string)>)"
_PAIR = r"""(?:[\s,]|\\+[nrt])*+(?:\\*["'])?val(?:ue)?(?:\\*["'])?|\s*\{[^{}]{0,300}default|:(?:(?:\r?\n|\\+n)[ \t]+(?!default)[a-z]+:[^\n\\]{0,80}){0,6}(?:\r?\n|\\+n)[ \t]+default"""
_TYPED = r"[ \t]+(?:string|str|text|\[\]byte|char\*)(?=[ \t]*[:=])"  # const token string = "…"
_RUST = r"[ \t]*:[ \t]*&?(?:'[a-z]+[ \t]+)?(?:str|String|\[u8\])(?=[ \t]*=)"  # const TOKEN: &'static str = "…"
_PREPOSITION = "for|of|on|in|at|from|für|fuer|vom|von|zum|de|del|da|do|para|pour|por|per"
_FOR = rf"(?:[ \t]+(?:{_PREPOSITION}|to)(?:[ \t]+[^\s:=]{{1,40}}){{1,5}}?)"
_IS = (
    r"(?:is|was|are|equals|will be|to|as|ist|war|lautet|heißt|est|es|era|é|sono|è|jest|är|er|to je|это|c'est|c’est|—|–|-)"
    r"(?:[ \t]+(?:now|(?:set|changed|updated|reset)[ \t]+to|to|as|still|currently|just|simply|actually|literally|:|auf|jetzt))*:?"
)


def _head(strong: str, weak: str) -> re.Pattern[bytes]:
    """A telling name; what joins it to a value is matched right behind it, and the groups of that say how."""
    return re.compile(
        rf"(?i:({strong})((?:[A-Za-z0-9_.]|-(?!>)){{0,300}}+)|({weak})(?:\\*[\"'`\])]|%22){{0,3}}+[ \t]*+({_OP}))".encode()
    )


@cache
def _head_from(byte: int) -> re.Pattern[bytes]:
    """The names that may begin with a byte: to try them all, one after the other, costs more than anything else."""
    words = {level: [name.word for name in rules.names() if name.level == level] for level in _LEVELS}
    words["secret"] += ["cookie", "x-auth"]
    letter = chr(byte).lower()
    if letter.isascii():
        words = {level: [word for word in some if _may_begin(word, letter)] for level, some in words.items()}
    strong = [*words["password"], *words["secret"]]
    return _head("|".join(strong) or "(?!)", "|".join(words["weak"]) or "(?!)")


def _may_begin(word: str, letter: str) -> bool:
    """Whether a word of `names.tsv` may begin with a letter; one that begins with a group is asked for each of them."""
    first = word[3:].partition(")")[0].split("|") if word.startswith("(?:") else [word]
    return any(branch[:1].lower() in (letter, "(", "[") for branch in first)


_LEVELS = ("password", "secret", "weak")
# RE2 finds where to look closer. Every tail is bounded: a name that may still find its joint far away holds up the
# search for all that comes after it. It has no groups, since reading them costs more than matching again, and it asks for
# something joint-like behind the name, since names alone ("token", "pass") are common words. What fills transcripts
# and is never a secret is left out here: ids (`sessionKey: <uuid>`) and counts (`"totalTokens": 1234`).
_RUN = r"[A-Za-z0-9+/_.~$!@#^*-]"
_NO_HEX = r"[G-Zg-z+/_.~$!@#^*-]"
_NOT_UUID = rf"(?:[0-9a-f]{{0,7}}{_NO_HEX}{_RUN}{{8}}|[0-9a-f]{{8}}(?:[0-9A-Za-z+/_.~$!@#^*]{_RUN}{{7}}|-[0-9a-f]{{0,3}}{_NO_HEX}{_RUN}{{3}}))"
_NO_TOKENS = rf"(?:{STRONG.replace('tokens?|', '')}|cookie|x-auth)[\w.-]{{0,40}}|token(?:[a-rt-z0-9_.-][\w.-]{{0,40}}|s[\w.-]{{1,40}})?"
_TOKENS = (
    r"tokens(?:\\*[\"'`\])]){0,4}[ \t]*(?:[:=>%|&?+!<-]|→|：){1,4}[ \t]*(?:[^\s0-9:=>%|&?+!<-]|[0-9]{1,20}[A-Za-z_+/-])"
)
NAME = (
    rf"(?i)(?:{_TOKENS}|(?:{_NO_TOKENS})(?:[\"'`\\:=%&>|*?+!<~,;\t\r\n\x80-\xff]|[\])}}]+(?:[ \t]*[:=]|\s*values|\\*[\"'][ \t]*,)|\([\"'\\]|,?\s+[\"'\\-]*val|,[ \t]*\S{{0,24}}[0-9!@#$%^&*+]|[ \t][\[(]"
    rf"|[ \t]+(?:[:=|<\\\"'`?+!\r\n-]|\.=|{_IS}[ \t]|(?:{_PREPOSITION})[ \t]|[a-z_]{{1,20}}=\\*[\"']|\S{{0,24}}[0-9!@#$%^&*+\x80-\xff]|\{{|(?:string|str|text|\[\]byte|char\*)[ \t]*[:=]))"
    rf"|-(?:{STRONG})[\w-]{{0,40}}[\s\\]"
    rf"""|(?:{WEAK_WORDS})(?:\\*["'`\])]|%22){{0,3}}[ \t]*{_OP}[ \t]*(?:\\*["'`]|%22)?{_NOT_UUID})"""
    r"|PRIVATE KEY|(?:<|003c|&lt;)/?private"
)
_JOINT = re.compile(
    (
        rf"(?i:{_CLOSE}(?:(?:{_PAIR}|{_FOR}|{_TYPED}|{_RUST})?[ \t]*+({_OP}|\|)|(?:{_FOR})?[ \t]++({_IS})[ \t]++|(是|为|為|は|が|는|은|(?:'|’)s[ \t])[ \t]*+"
        rf"""|([ \t]++|\(|[ \t]*+,[ \t]*+|\?[ \t]++)(?:\\*["'`“‘«][^\s"'`]|[^\s"'`]{{0,64}}?[0-9!@#$%^&*+]))"""
        rf"""|(?:\\*["'])?(?:[ \t][^<>\n]{{0,80}})?>(?:<!\[CDATA\[)?([^<]+?)(?:\]\]>)?<\\*/)"""
    ).encode()
)
_EQUALS = re.compile(rb"===?|=>|=")
_JOINT_WINDOW = 640  # `re` may backtrack: within this many bytes, whatever the text
_FLAG = re.compile(rb"""((?:[ \t]|\\++(?:\r?\n|n))++|\\*+["'],(?:[ \t\r\n]|\\++[nrt])*+)""")
_HEADER = re.compile(
    rb"""(?:\\*["'`\]]){0,3}[ \t]*(?:[:=]|(?<=[\"']),|%3A|:=|=>|(?=\\*[\"'](?i:bearer|basic|token)[ \t]))"""
)

_NAME_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$-"
_SPACE_WORDS = re.compile(rb"(?:[ \t]+[a-z0-9]{2,14}(?![A-Za-z0-9:=(]))++")
_DEFAULT = re.compile(r"\$\{\w+:?[-=]([^{}]+)\}?\Z")

# What follows "password is" or "password:" in talk about passwords.
_TALK = frozenset(word.encode() for word in rules.words("talk"))


def full_name(data: bytes, start: int, end: int) -> str:
    """The whole identifier of which `data[start:end]` is the telling part."""
    head = data[max(0, start - 64) : start]
    before = head[len(head.rstrip(_NAME_BYTES)) :]
    if before and head[: len(head) - len(before)].endswith(b"\\") and before[:1] in b"nrt":
        before = before[1:]  # the n of an escaped line break is no part of the name
    return (before + data[start:end]).decode("utf-8", "replace")


def judge_name(data: bytes, at: int) -> tuple[int, list[tuple[int, int]]]:
    """Where to go on, and the spans to hide behind the name at `at`, a match of `NAME`."""
    at += data[at] == ord("-")
    head = _head_from(data[at]).match(data, at)
    if not head:
        return at + 1, []
    if head.start(3) >= 0:
        return head.end(3), _weak(data, head)
    end = head.end()
    word = head.group(1).lower()
    part = head.group(2) or data[at - 1 : at].isalnum()  # of a longer name: AggregationAuthorization
    if word in (b"cookie", b"authorization", b"x-auth") and not (part and word == b"authorization"):
        header = _HEADER.match(data, end, end + 80)
        spans = _header(data, header.end(), cookie=word == b"cookie") if header else []
        if spans or word == b"cookie":
            return end, spans
    return end, _strong(data, at, end)


def _weak(data: bytes, head: re.Match[bytes]) -> list[tuple[int, int]]:
    """The spans to hide behind `some_key = …`, where only the value can tell."""
    full = full_name(data, head.start(3), head.end(3))
    level = classify(full)
    if level is Key.NONE:
        return []
    return _assigned(data, Link(level, head.end(3) - len(full.encode()), head.end(3), head.start(4), head.end(4)))


def _strong(data: bytes, start: int, end: int) -> list[tuple[int, int]]:  # noqa: PLR0911 - one exit per joint
    if data[end : end + 1] == b"=":  # most are joined so, and nothing else is to be found out
        full = full_name(data, start, end)
        level = classify(full.lstrip("-"))
        if level is Key.NONE or _is_chance(data, full, end):
            return []
        op = _EQUALS.match(data, end)
        return _assigned(data, Link(level, end - len(full.encode()), end, end, op.end() if op else end + 1))
    match = _JOINT.match(data, end, end + _JOINT_WINDOW)
    if not match and (label := _LABELLED.match(data, end, end + _LABEL_WINDOW)):
        return _labelled(data, start, end, label)
    flag = None if match and match.start(1) >= 0 else _FLAG.match(data, end, end + _JOINT_WINDOW)
    if not match and not flag:
        return []
    if data[end : end + 1] == b"(" and b"." in data[start:end]:
        return []  # password.encode("latin1")
    full = full_name(data, start, end)
    level = classify(full.lstrip("-"))
    if level is Key.NONE or _is_chance(data, full, end):
        return []
    name_at = end - len(full.encode())
    if flag and full.startswith("-"):
        return _option(data, Link(level, name_at, end, flag.start(), flag.end()))
    if not match:
        return []
    how = match.lastindex or 0
    link = Link(level, name_at, end, match.start(how), match.end(how))
    if how == 1:
        return _assigned(data, link)
    if how == 4:
        return _adjacent(data, link)
    return _element(data, link) if how == 5 else _sentence(data, link, match.end())


# A name that ends its line, and a line below it that is one word and nothing else.
_LABELLED = re.compile(
    rb"""[ \t]*[*_#:-]{0,4}[ \t]*(?:(?:\r?\n|(?:\\++r)?\\++n)[ \t>]*(?:```[a-z]*+|[-=]{3,80}+)?){1,3}[ \t]*\\*["'`]?([^\s"'`\\]{6,256})\\*["'`]?[ \t]*(?:\r?\n|\\++[rn]|\Z|\\*["'])"""
)
_LABEL_WINDOW = 400
_LABEL_HEAD = re.compile(
    rb"(?:\A|\n|\\n)[ \t]*(?:[#*>/;-]{1,4}[ \t]*){0,2}[*_]{0,2}(?:[A-Za-z]{1,16}[ \t]+){0,3}[\w.-]{0,32}\Z"
)


def _labelled(data: bytes, start: int, end: int, label: re.Match[bytes]) -> list[tuple[int, int]]:
    """The span to hide in the line below `## API key`, or below a comment that says `# password`."""
    if not _LABEL_HEAD.search(data[max(0, start - 80) : start]):
        return []
    level = classify(full_name(data, start, end).lstrip("-"))
    text = label[1].decode("utf-8", "replace")
    if level < Key.SECRET or is_placeholder(text) or not tells(text):
        return []
    return [label.span(1)]


def _is_chance(data: bytes, full: str, end: int) -> bool:
    """Base64 that happens to end in a telling word, or a type that is named after a secret (`AWS::IAM::AccessKey`)."""
    before = data[max(0, end - len(full.encode()) - 2) : end - len(full.encode())]
    if before[-1:] == b":" and (before == b"::" or b"arn:aws" in data[max(0, end - 100) : end].rpartition(b" ")[2]):
        return True
    padded = data[end : end + 2] == b"==" and data[end + 2 : end + 3] in (b'"', b"'")
    if padded and len(full) >= 20 and (randomness(full) > 4.8 or _DIGITS.search(full)):
        return True
    if before in (b"+", b"\n+"):
        return False  # a line that a diff adds
    odd = len(full) > 40 or before[-1:] in (b"+", b"/", b"=")
    return (odd and _DIGITS.search(full) is not None) or (
        len(full) > 8 and before[-1:] == b"+" and randomness(full) > 5
    )


class Link(NamedTuple):
    """A name and what joins it to a value."""

    level: Key
    name_at: int
    name_end: int
    op_at: int
    op_end: int


def _assigned(data: bytes, link: Link) -> list[tuple[int, int]]:
    if data.startswith(_HIDDEN, link.op_end):
        return []
    spans = [_judge(data, value, link) for value in measure(data, link.op_end, before=link.name_at)]
    return [span for span in spans if span]


# what stands behind most names in the second look at a text
_HIDDEN = (b"[REDACTED]", b'"[REDACTED]"', b" [REDACTED]", b' "[REDACTED]"', b'\\"[REDACTED]')
# A value that no code, word, version or address looks like; most are, and need no further question.
_GENERATED = re.compile(rb"(?=\D*\d\D*\d\D*\d)(?=[0-9A-Fa-f_-]*[G-Zg-z])(?:[A-Za-z0-9]{2,8}[-_])?[A-Za-z0-9]{16,256}\Z")
_SURE = frozenset((b"=", b":", b":=", b"=>", b"%3D"))


def _judge(data: bytes, value: Value, link: Link) -> tuple[int, int] | None:  # noqa: C901, PLR0911, PLR0912 - a decision list
    level, op = link.level, data[link.op_at : link.op_end]
    run = data[value.start : value.end]
    if level >= Key.SECRET and op in _SURE and value.start - link.name_end < 6 and _GENERATED.match(run):
        return value.start, value.end
    name = data[link.name_at : link.name_end].lower()
    text = run.decode("utf-8", "replace")
    if _is_signature(data, link) or (data[value.end : value.end + 1] == b"}" and _FORMAT_SPEC.match(text)):
        return None
    if is_version(text) or _is_address(text) or _is_of_its_name(data, link, text):
        return None
    if not value.quoted and (_is_expression(text, op) or (level is not Key.PASSWORD and is_type(text))):
        return None
    if (not value.quoted and _GENERIC.search(text)) or _REGEX.search(text):
        return None
    if _BETWEEN.match(text) or (op == b"|" and data[link.op_at - 1 : link.op_at].isalnum()):
        return None  # what stands between two strings; /token|secret/
    if data.startswith(b"...", value.end) and len(text) < 12:
        return None  # sk-ant-...
    if _UNION.match(data, value.end, value.end + 24) or _CHOICE.search(data, max(0, link.name_at - 8), link.name_at):
        return None  # password: Buffer | None;  x ? "API_KEY" : "api-key"
    if link.op_end == value.start and text.isalpha() and text.islower() and _is_namespaced(data, link, value.end):
        return None
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
_CONSTANT = re.compile(r"[A-Z]+(?:_[A-Z]+)+\Z")
_DOTTED_WORDS = re.compile(r"[A-Za-z]+(?:[.:/][A-Za-z]+[0-9]{0,2})+\Z")
_LABEL = re.compile(r"(?i)[a-z'’]+(?: [a-z'’,.()-]+)* (?:(?:[a-z]+ )*(?:token|key|secret|credential)s?\b)")


def _is_address(text: str) -> bool:
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
    if (op == b":" and text.startswith(":")) or (len(text) <= 2 and text.isalpha()):
        return True
    if _CALLED.search(text) or _NOT.match(text) or _TERNARY.match(text) or is_code(text):
        return True
    first, comma, _ = text.partition(",")
    if comma and (is_placeholder(first, bare=True) or _VARIABLE.fullmatch(first)) and randomness(first) < 4.8:
        return True
    inner = _INNER.match(text)
    return inner is not None and (len(inner[1]) <= 2 or is_placeholder(inner[1], bare=True))


_BETWEEN = re.compile(r"[)\]},;:?]+[\w$]+[:=]\Z|[)\]},;:?]+[^\s]*[({=\[]|[a-z-]{2,20}\{[a-z-]+:")
_CALLED = re.compile(r"(?:\A|[,;:=?&|!(])(?:[A-Za-z_$][\w$]*\.)*[A-Za-z_$]+\((?:[\w$.]|\Z|\))")
_TERNARY = re.compile(r"[A-Za-z_$][\w$.]*\?[A-Za-z_$][\w$]*[.+:(]")
_NOT = re.compile(r"![01](?:\W|\Z)|(?:\+\+|--)[A-Za-z_]")
_REGEX = re.compile(r"\[A-Za-z|\[a-z0-9|\A/\^|\(\?[:P<=!]|\[\^[^\]]|\\[wWdDsSB]\b")
_INNER = re.compile(r"([\w.$]*)[)\]}]+[,.;:=(\[{)]")


def _is_of_its_name(data: bytes, link: Link, text: str) -> bool:
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
_NAME_OF_WORDS = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+)+[-_.]?[0-9]{0,4}\Z")  # scram-sha-256
_FORMAT_SPEC = re.compile(r"[<>^+-]?0?\d{0,3}(?:\.\d+)?[a-zA-Z]?\Z")  # f"{token:02x}"
_ARGUMENT = re.compile(r"[a-z]+(?:_[a-z]+)+\Z")
_WORDS_JOINED = re.compile(r"[a-z]+(?:_[a-z]+)+,?\Z")
_GENERIC = re.compile(r"[A-Za-z*]<(?:[\[A-Za-z]|\Z)")  # Secret<str>, 1*<any CHAR>
_DIGITS = re.compile(r"(?:[0-9][^0-9]*){3}")
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


def _judge_colon(  # noqa: PLR0911 - one exit per answer
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
    if first in _TALK or text.startswith(("(", "{", "[", "*", "\\")) or "](" in text or (spaced and is_type(text)):
        return None
    rest = _REST.match(data, value.start, value.start + 240).group()  # type: ignore[union-attr]
    if spaced and (_OPERATED.search(rest) or _is_description(rest, data[name_at : link.name_end])):
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
        more = _SPACE_WORDS.match(data, value.end, value.end + 120) if text.isalpha() and text.islower() else None
        return (value.start, more.end() if more else value.end)
    if not spaced or tells(text):
        return (value.start, value.end)
    return None


_PGP = re.compile(rb"(?i)gpg|pgp")
_REST = re.compile(rb"(?:[^\r\n\"\\]|\\(?![nr\"]))*+")
_OPERATED = re.compile(rb" (?:[!=]==?|&&|\|\||\?\??) |\Atypeof ")


def _is_description(rest: bytes, name: bytes) -> bool:
    """`password: the one you chose`: words that say something; a phrase of words is a secret."""
    return b" " in rest and not _PHRASE.search(name) and is_sentence(rest.decode("utf-8", "replace"))


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


def _sentence(data: bytes, link: Link, at: int) -> list[tuple[int, int]]:  # noqa: PLR0911 - one exit per answer
    """The spans to hide behind "my password is …"."""
    level = link.level
    if level < Key.HINT:
        return []
    joint = data[link.op_at : link.op_end].lower()
    values = measure(data, at, before=link.name_at)[:1]
    if not values:
        return []
    value = values[0]
    text = data[value.start : value.end].decode("utf-8", "replace")
    if is_placeholder(text) or is_type(text) or (len(text) < 12 and data.startswith(b"...", value.end)):
        return []
    chosen = level in (Key.PASSWORD, Key.HINT)
    told = looks_secret(text, chosen=chosen and joint[:2] != b"as") or (level is not Key.HINT and tells(text))
    telling = told and text[:1] not in "{[(<*\\"
    strict = (
        joint.split(b" ")[0] in (b"to", b"as", b"-", b"\xe2\x80\x94", b"\xe2\x80\x93", b"on", b"er", b"es", b"are")
        or not chosen
    )
    if telling or (value.quoted and not strict and b" " not in data[value.start : value.end].strip()):
        return [(value.start, value.end)]
    if strict or level is Key.HINT or (value.quoted and not chosen):
        return []
    if _PHRASE.search(data[link.name_at : link.name_end]):
        words = _SPACE_WORDS.match(data, value.end, value.end + 400)
        return [(value.start, words.end() if words else value.end)] if words and len(words.group().split()) >= 7 else []
    return _plain_words(data, value, text)


_PHRASE = re.compile(rb"(?i)mnemonic|(?:phrase|words|seed)\Z")


def _plain_words(data: bytes, value: Value, text: str) -> list[tuple[int, int]]:
    """ "The password is swordfish." hides it, "the password is too short" does not."""
    if value.quoted:
        return [(value.start, value.end)]
    word = text.rstrip(".,;:!?").lower().encode()
    if word in _TALK or word.endswith((b"ed", b"ing", b"ly", b"able", b"ible")) or not word.isalnum() or len(word) < 4:
        return []
    more = _SPACE_WORDS.match(data, value.end, value.end + 160)
    words = more.group().split() if more else []
    if any(w in _TALK for w in words[:2]) and len(words) < 3:
        return [(value.start, value.end)] if words[0] in (b"and", b"but", b"for", b"on") else []
    if 0 < len(words) < 2 or any(w in _TALK for w in words[:3]):
        return []
    return [(value.start, more.end() if more else value.end)]


def _adjacent(data: bytes, link: Link) -> list[tuple[int, int]]:  # noqa: PLR0911 - one exit per answer
    """The span to hide behind "with password hunter2", `PASSWORD 'x'`."""
    name = data[link.name_at : link.name_end]
    values = measure(data, link.op_end, before=link.name_at)[:1] if link.level >= Key.HINT else []
    if not values or name == b"pwd":
        return []
    told = name.isupper() and len(name) > 6 or (values[0].quoted and b"," in data[link.name_end : link.op_end])
    if link.level is Key.HINT and name.lower() != b"pw" and not told:
        return []  # "credentials 2fa" in a sentence
    text = data[values[0].start : values[0].end].decode("utf-8", "replace")
    if (
        is_placeholder(text)
        or _is_address(text)
        or text[:1] in "*(){}[]\\&<>@#=|:;,.-"
        or "(" in text
        or "##" in text
        or "\\" in text
        or "<" in text
        or ".*" in text
        or _PATH.match(text)
    ):
        return []
    listed = b"," in data[link.name_end : link.op_end]
    if _is_of_its_name(data, link, text) or text.startswith("-") or (listed and _NAME_OF_WORDS.match(text)):
        return []
    if listed:
        # setProperty("API_TOKEN", "…"), but not a list of names
        sure = values[0].quoted and data[link.name_end : link.name_end + 1] in (b"'", b'"', b"\\") and " " not in text
        sure = sure and tells(text)
        if not (sure or looks_random(text) or is_key_hex(text) or link.level is Key.PASSWORD):
            return []
        if sure or link.level is not Key.PASSWORD:
            return [(values[0].start, values[0].end)]
    plain = not listed and " " not in text.strip()
    sql = plain and values[0].quoted and name.isupper() and link.level is Key.PASSWORD
    constant = name.isupper() and b"_" in name  # setenv DB_TOKEN 1234567, ENV API_KEY …
    told = plain and (constant or values[0].quoted) and tells(text)
    if not (sql or told or looks_secret(text, chosen=link.level is not Key.SECRET)):
        return []
    return [(values[0].start, values[0].end)]


def _option(data: bytes, link: Link) -> list[tuple[int, int]]:
    """The span to hide behind `--password …`, `"--token", "…"`."""
    values = measure(data, link.op_end, before=link.name_at)[:1]
    if not values or data[values[0].start : values[0].start + 1] in (b"-", b"|", b"=", b":"):
        return []
    value = values[0]
    text = data[value.start : value.end].decode("utf-8", "replace")
    if is_placeholder(text, bare=not value.quoted) or text.encode().lower().strip(b".,;:") in _TALK or is_foreign(text):
        return []
    if _KEY_ENDS.match(data, value.end, value.end + 8):
        return []  # "flag": "--api-key",  "next": …
    if " " in text.strip() and (link.level is not Key.PASSWORD or is_sentence(text)):
        return []  # .option("--with-secrets", "Keep the tables")
    if link.level is Key.SECRET and text.isalpha() and len(text) < 5:
        return []  # --generate-token sur l'hôte
    short = data[link.name_at : link.name_end].lower().endswith((b"pass", b"pw"))
    if link.level is Key.HINT and not (short or tells(text)):
        return []
    if link.level is Key.WEAK and not looks_random(text):
        return []
    return [(value.start, value.end)]


_PATH = re.compile(r"[a-z]+[0-9]?/[\w.-]+\Z")
_KEY_ENDS = re.compile(rb"(?:\\*[\"'`])?[ \t]*:")


def _element(data: bytes, link: Link) -> list[tuple[int, int]]:
    """The span to hide in `<password>…</password>`."""
    text = data[link.op_at : link.op_end].decode("utf-8", "replace")
    if link.level <= Key.WEAK or is_placeholder(text) or b"<" not in data[max(0, link.name_at - 64) : link.name_at]:
        return []
    if data[link.name_end : link.name_end + 1] in (b"\\", b'"', b"'") and not looks_secret(text, chosen=True):
        return []  # <label for="password">Your password</label>
    plain = " " not in text.strip() or (link.level is Key.PASSWORD and not is_sentence(text))
    return [(link.op_at, link.op_end)] if plain else []


_HEADER_VALUE = re.compile(rb"[^\r\n\"'`\\<>]++")
_SCHEME = re.compile(
    rb"(?i)(?:bearer|basic|digest|token|apikey|api-key|negotiate|ntlm|hawk|oauth|ssws|key|aws4-hmac-sha256|[a-z][a-z0-9_-]{0,30})(?:[ \t]+|%20)(?=[^\s])"
)


def _header(data: bytes, at: int, *, cookie: bool) -> list[tuple[int, int]]:
    """The span to hide in `Authorization: Bearer …` and `Cookie: …`; the scheme stays."""
    pos = SKIP.match(data, at).end()  # type: ignore[union-attr]
    opened = OPEN.match(data, pos)
    start = opened.end() if opened else pos
    scheme = None if cookie else _SCHEME.match(data, start, start + 40)
    begin = scheme.end() if scheme else start
    found = _HEADER_VALUE.match(data, begin, begin + GLANCE)
    if not found:
        return []
    # a longer one is judged by its beginning, and taken whole by whoever asked
    end = begin + (GLANCE if len(found.group()) == GLANCE else len(found.group().rstrip()))
    text = data[begin:end].decode("utf-8", "replace")
    first = text.split(" ")[0]
    if is_placeholder(text, bare=True) or is_placeholder(first, bare=True):
        return []
    if cookie:
        name, equals, value = text.partition("=")
        first = value.split(";")[0]
        odd = len(first) >= 16 or any(c.isdigit() for c in first)
        ok = equals and " " not in name and len(first) > 3 and odd and not is_placeholder(first)
        return [(begin, end)] if ok else []
    if scheme and scheme.group().strip().lower() in (b"bearer", b"basic", b"token", b"digest", b"apikey", b"negotiate"):
        return (
            [(begin, end)]
            if (len(first) >= 6 and (any(c.isdigit() for c in first) or len(first) > 14)) or "=" in first
            else []
        )
    generated = scheme and len(first) >= 20 and any(c.isdigit() for c in first)
    return [(begin, end)] if generated or looks_random(first) or looks_secret(first) else []
