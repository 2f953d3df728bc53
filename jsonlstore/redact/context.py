"""What stands around a value says that it is code: a member, a slice, a parameter, a string that is one name, a type.

Every look around is bounded.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact.looks import WORDS_LIMIT, is_code, is_placeholder, is_wordy, randomness, tells
from jsonlstore.redact.names import Key
from jsonlstore.redact.wording import without_terms

if TYPE_CHECKING:
    from jsonlstore.redact.judging import Link
    from jsonlstore.redact.values import Value

_AHEAD = 96  # bytes behind a value that may show what it is part of


def goes_on_as_code(text: str, ahead: bytes) -> bool:
    """`token=C,this.pos!=e){…`, `storageKey=pathname,context=ctx;if(…`: statements run together, as minifiers do it."""
    head = _HEAD.match(text)
    if not head or not _is_name(head.group()):
        return False
    rest = text[head.end() :] + ahead[:_AHEAD].decode("utf-8", "replace")
    return _STATEMENT.match(_RUN.match(rest).group()) is not None  # type: ignore[union-attr]


_HEAD = re.compile(r"!?[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*(?:[+-][0-9]{1,3})?|[0-9]{1,6}|![01]|(?=[;,)\]}])")
_RUN = re.compile(r"[^\s\"'`]*(?: [^\s]{1,24})?")
# a statement's end and the next one's beginning
_STATEMENT = re.compile(
    r"[;,)\]}]+(?:(?:return|const|var|let|if|for|else|case|break|function|throw|this|null|void|typeof|switch|while|of|in)\b|(?:get|set|static|async) [a-z]"
    r"|[A-Za-z_$][\w$.]*\([^)]*\)?(?:[{;,.]|\Z)|[A-Za-z_$][\w$.]*(?:[!=]==?|=>|\+=|&&)|[A-Za-z_$][\w$.]*=[\w$.]+[;,](?:[a-z]{2,8}[({ ]|[\w$.]+=[^=]{1,40}[;(]))"
)


def _is_name(text: str) -> bool:
    words = _WORD.findall(text)[:WORDS_LIMIT]
    return all(len(word) <= 3 or (is_wordy(word) and randomness(word) < _WORDLIKE) for word in words)


_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_WORDLIKE = 4.8


def is_symbol(text: str, data: bytes, op_at: int) -> bool:
    """`has_secure_password :recovery_password`, `password :string`: a symbol of Ruby."""
    beside = data[op_at - 1 : op_at + 2]
    return beside[:2] == b" :" and beside[2:].isalpha() and _SYMBOL.match(text) is not None


_SYMBOL = re.compile(r"[a-z]+(?:_[a-z]+)*,?\Z")


def is_member(text: str, name: bytes, op: bytes) -> bool:
    """`pw->pw_name`, `req.auth->user`: a member of what bears the name, as C writes it."""
    if op != b"->" or not name[-1:].isalnum():
        return False
    plain = without_terms(text)
    if len(text) >= _LONG_MEMBER and plain.isalpha() and not plain.islower() and randomness(plain) < _WORDLIKE:
        return True  # password->PBKDF2Iterations
    called = _CALLED_IN.match(text)  # ptr+sizeof("x")
    return _MEMBER.match(text) is not None and _is_name(called[1] if called else text.partition("(")[0])


_LONG_MEMBER = 12
_CALLED_IN = re.compile(r"([a-z_]+)[+-](?:[A-Za-z]+\(|0x)")
_MEMBER = re.compile(r"[a-z_]++(?:[A-Z_][a-z]++)*+[0-9]?(?:[,;)(.&\[+-]|->|\Z)")


def is_slice(data: bytes, op_at: int, end: int) -> bool:
    """`rawdata[start:start+20]`: what stands between two brackets and a colon is an index."""
    return (
        data[end : end + 1] == b"]"
        and data[op_at : op_at + 1] == b":"
        and _INDEXED.search(data, max(0, op_at - 40), op_at) is not None
    )


_INDEXED = re.compile(rb"[\w)\]]\[[\w.+-]*\Z")


def is_one_name(data: bytes, name_at: int, text: str, end: int) -> bool:
    """`"token:software:totp"`, `"passwd:shell"`: a string that is nothing but words and colons."""
    quote = data[end : end + 1]
    if quote not in (b'"', b"'", b"`"):
        return False
    if not _SPACED_NAME.match(text) and not (data[name_at - 1 : name_at] == b"/" and text.isalpha() and is_wordy(text)):
        return False
    start = data.rfind(quote, max(0, name_at - 80), name_at)
    return start >= 0 and _NAMES.match(data[start + 1 : name_at]) is not None


_SPACED_NAME = re.compile(r"[a-z]+(?:[:.-][a-z]+)*\Z|v[0-9]{1,2}\Z")
_NAMES = re.compile(rb"[\w:./-]*\Z")


def last_subscript(data: bytes, start: int, end: int) -> bytes | None:
    """`region` in `['token']['region'] =`: what is assigned to is the last of them."""
    found = _SUBSCRIPT.search(data[start:end])
    return found[1] if found else None


_SUBSCRIPT = re.compile(rb"\]\[\\*[\"']([A-Za-z_][\w.-]{0,40})\\*[\"']\][ \t]*\Z")


def is_own(name: bytes) -> bool:
    """Whether a name is a member of an object in code: what is assigned to it without quotes is code, too."""
    return name.startswith((b"this.", b"self.", b"cls.", b"this->", b"$this->")) or b".prototype." in name


def is_caption(data: bytes, name_at: int) -> bool:
    """`$labels['password'] = …`: a text for people, whatever it is called."""
    return _CAPTIONS.search(data, max(0, name_at - 40), name_at) is not None


_CAPTIONS = re.compile(
    rb"(?i)(?:labels?|messages?|strings?|texts?|i18n|lang|l10n|translations?|titles?|captions?)\[\\*[\"']\Z"
)


def is_attribute(data: bytes, name_at: int) -> bool:
    """`input[type=password]:focus`: the kind of a field."""
    return data[max(0, name_at - 7) : name_at].rstrip(b"\\\"'").endswith(b"type=")


def is_styled(data: bytes, name_at: int, name_end: int) -> bool:
    """`<span class="token operator">`: a class among others, which says how something looks."""
    return data[name_end : name_end + 1] == b" " and _STYLED.search(data, max(0, name_at - 16), name_at) is not None


def is_leading(data: bytes, name_at: int) -> bool:
    """`<a href="htpasswd.html" lang="en">`: a part of an address, or of a text about the element."""
    return _LEADING.search(data, max(0, name_at - 160), name_at) is not None


_STYLED = re.compile(rb"class(?:Name)?=\\*[\"']\Z")
_LEADING = re.compile(rb"(?i)[ \t](?:href|src|title|alt|action|rel)=\\*[\"'][^\"'<>=]{0,120}\Z")


def is_statement(data: bytes, at: int) -> bool:
    """Whether the line above shows that this one is a statement of a program: an indented block begins there."""
    start = data.rfind(b"\n", max(0, at - 200), at)
    above = data[max(0, start - 200) : max(start, 0)].rstrip()
    return start >= 0 and data[start + 1 : start + 5] == b"    " and above.endswith((b":", b"{", b";"))


def is_parameter(data: bytes, at: int, end: int) -> bool:
    """`f(x, token=claims)`: an argument of a call, handed on by its name."""
    if data[end : end + 1] == b"\n" and data[end : end + 40].lstrip()[:1] == b")" and b"=" in data[at:end]:
        return data[max(0, at - 2) : at] in (b"  ", b", ")  # the last one of a call that is wrapped
    if data[end : end + 1] not in (b")", b","):
        return False
    start = data.rfind(b"\n", max(0, at - 80), at)
    if start > 0 and data[start:at].isspace() and data[end : end + 3].replace(b"\r", b"")[:2] == b",\n":
        above = data[max(0, start - 80) : start].rpartition(b"\n")[2].split(b" #")[0]
        return above.rstrip().endswith((b"(", b","))
    line = data[max(data.rfind(b"\n", max(0, at - 160), at) + 1, at - 160, 0) : at]
    opened = _unclosed(line)
    return opened > 0 and (line[opened - 1 : opened].isalnum() or line[opened - 1] == ord("_"))


def _unclosed(line: bytes) -> int:
    """Where the bracket stands that is open at the end of a line, or -1."""
    depth = 0
    for at in range(len(line) - 1, -1, -1):
        depth += (line[at] == ord(")")) - (line[at] == ord("("))
        if depth < 0:
            return at
    return -1


def is_code_here(data: bytes, value: Value, text: str, link: Link) -> bool:  # noqa: PLR0911 - one exit per answer
    """Whether an unquoted value is code by what stands around it."""
    name, op = data[link.name_at : link.name_end], data[link.op_at : link.op_end]
    if goes_on_as_code(text, data[value.end : value.end + 96]) or (
        link.name_end == link.op_at and link.op_end == value.start and is_member(text, name, op)
    ):
        return True
    if is_slice(data, link.op_at, value.end) or is_symbol(text, data, link.op_at):
        return True
    if op == b":" and data[link.name_at - 1 : link.name_at] == b":" and _SHORT_NAME.match(text):
        return True  # inet:form:password:md5
    if op == b"::=" and not tells(text):
        return True  # PrivateKey ::= SEQUENCE
    if is_own(name) and op == b"=" and _IDENTIFIER.match(text) and is_wordy(text.strip(";")):
        return True
    if link.level is Key.SECRET and len(text) > 11 and _HUMPED.match(text) and is_wordy(text):
        return True  # authKey=userAuthKeyLocalized
    last = data[value.end : value.end + 1] == b"\n" and text.isalpha()
    word = last or (link.level is Key.SECRET and text.isalpha() and len(text) <= 12 and is_wordy(text))
    return op == b"=" and word and is_parameter(data, link.name_at, value.end)


_HUMPED = re.compile(r"[a-z]+(?:[A-Z]+[a-z]+){2,}[0-9]?,?\Z")
_SHORT_NAME = re.compile(r"[a-z]{2,16}[0-9]?\Z|[a-z]+(?:_[a-z]+)+\Z|[A-Z_]{2,24}\Z|(?i:[a-z_-]+(?::[a-z_-]+)+:?)\Z")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*;?\Z")


def is_expression(text: str, op: bytes) -> bool:
    """`AsmToken::TokenKind`, `{token:e.claim.token}:{}`, `e[e.CloseToken=2]="CloseToken"`: code goes on behind it."""
    text = text[:EXPRESSION]
    if (
        (op == b":" and text.startswith(":"))
        or (len(text) <= 2 and text[:1].isalpha() and text.isalnum())
        or _LITERAL.match(text)
    ):
        return True
    if _CALLED.search(text) or _NOT.match(text) or _TERNARY.match(text) or is_code(text):
        return True
    first, comma, _ = text.partition(",")
    if comma and (is_placeholder(first, bare=True) or VARIABLE.fullmatch(first)) and randomness(first) < 4.8:
        return True
    inner = _INNER.match(text)
    return inner is not None and (len(inner[1]) <= 2 or is_placeholder(inner[1], bare=True))


# null!=(a=b), self.map[x, &callback, {block:{open:, e.First=e.Second=
_LITERAL = re.compile(
    r"(?:null|undefined|void|true|false|typeof)[!=?&|.(]|[A-Za-z]+!\[|[a-z_][\w.]*::<|(?:self|this|cls)\.[\w.]*[\[(]|&[a-z]+(?:[._][A-Za-z]+)+(?:\{|\Z)|&[a-z]\w*\.[A-Z]\w*\{|[a-z]+(?:\.[a-z]+)+:[A-Z][A-Za-z]+\Z|\{[a-z]+:[{\"'\[]"
    r"|[a-z$]{1,8}\.[A-Za-z]+=|[a-z]{1,3}=(?:null|void|this|function\b|new\b|[a-z]\.)|\*+[a-z_]\w*(?:\+\+|--)?\Z|[{\[(]\*{1,2}[a-z]|-[0-9]{1,5}\Z|!\w+:!|![a-z]+(?:[A-Z][a-z]+)+\Z|[A-Z_]{3,}\$[0-9],?\Z|[a-z-]+(?:/[a-z-]+)+\Z|\{0|==|[A-Za-z_]\w*(?:\+\+|--)\Z|[a-z]\w*(?:\.\w+)+[+-][0-9]{1,3}\Z|[A-Z_]{3,}=|[A-Z]\{[a-zA-Z]|[A-Za-z_]\w*(?:::\w+)+[{(<]"
)
EXPRESSION = 160  # characters that show whether it is code
_CALLED = re.compile(r"(?:\A|[,;:=?&|!(*/-])(?:[A-Za-z_$][\w$]*\.)*[A-Za-z_$]+\((?:[\w$.*&]|\Z|\))")
_TERNARY = re.compile(r"[A-Za-z_$][\w$.]*\?[A-Za-z_$][\w$]*[.+:(=]")
_NOT = re.compile(r"![01](?:\W|\Z)|(?:\+\+|--)[A-Za-z_]")
_INNER = re.compile(r"([\w.$]*)[)\]}]+[,.;:=(\[{)]")
VARIABLE = re.compile(
    r"[A-Za-z]+[0-9]?(?:_[A-Za-z0-9]+)*_(?![0-9]{2,}\Z)[A-Za-z0-9]+|[a-z]+(?:[A-Z][a-z0-9]+)+|[a-z]{1,3}"
)


def in_braces(data: bytes, at: int) -> bool:
    """Whether the line above is one of an object in code: configuration has no commas at its ends."""
    head = data[max(0, at - 200) : at].rstrip(b" \t")
    return head.endswith(b"\n") and head.rstrip().endswith((b",", b"{", b"("))


def is_variable(text: str, after: bytes) -> bool:
    """`token: identityTokenFile ? …`, `apiKey: tokenProvider ?? apiKey,`, `refresh: canRefreshCredential,`: code."""
    bare = text.rstrip(",")
    if _MIXED.match(bare) and is_wordy(bare) and (bare != text or after[:1] in (b",", b")", b"}", b";")):
        return True  # OAuth2TokenAuth$inboundSchema,
    if not _CAMEL.match(bare) or not (len(bare) < 9 or randomness(bare) < 4.8):
        return False
    return bare != text or after.lstrip()[:1] in (b",", b")", b"}") or after[:2] == b" ?"


_CAMEL = re.compile(r"[a-z]+(?:[A-Z]+[a-z]+)+\Z")
_MIXED = re.compile(r"(?:[A-Za-z]{3,}+|[A-Za-z]{2,}+[0-9][A-Za-z]++)(?:\$[A-Za-z]*+)?\Z(?<=[a-z])")
