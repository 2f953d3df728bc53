"""What stands around a value says that it is code: a member, a slice, a parameter, a string that is one name, a type.

Every look around is bounded.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

import re

from jsonlstore.redact.looks import WORDS_LIMIT, is_wordy, randomness

_AHEAD = 96  # bytes behind a value that may show what it is part of


def goes_on_as_code(text: str, ahead: bytes) -> bool:
    """`token=C,this.pos!=e){…`, `storageKey=pathname,context=ctx;if(…`: statements run together, as minifiers do it."""
    head = _HEAD.match(text)
    if not head or not _is_name(head.group()):
        return False
    rest = text[head.end() :] + ahead[:_AHEAD].decode("utf-8", "replace")
    return _STATEMENT.match(_RUN.match(rest).group()) is not None  # type: ignore[union-attr]


_HEAD = re.compile(r"!?[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*(?:[+-][0-9]{1,3})?|[0-9]{1,3}|![01]|(?=[;,)\]}])")
_RUN = re.compile(r"[^\s\"'`]*(?: [^\s]{1,24})?")
# a statement's end and the next one's beginning
_STATEMENT = re.compile(
    r"[;,)\]}]+(?:(?:return|const|var|let|if|for|else|case|break|function|throw|this|null|void|typeof|switch|while|of|in)\b|(?:get|set|static|async) [a-z]"
    r"|[A-Za-z_$][\w$.]*\([^)]*\)?(?:[{;,.]|\Z)|[A-Za-z_$][\w$.]*(?:[!=]==?|=>|\+=|&&)|[A-Za-z_$][\w$.]*=[\w$.]+[;,](?:[a-z]{2,8}[({ ]|[\w$.]+=[^=]{1,40}[;(]))"
)


def _is_name(text: str) -> bool:
    words = _WORD.findall(text)[:WORDS_LIMIT]
    return all(len(word) <= 2 or (is_wordy(word) and randomness(word) < _WORDLIKE) for word in words)


_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_WORDLIKE = 4.8


def is_symbol(text: str, data: bytes, op_at: int) -> bool:
    """`has_secure_password :recovery_password`, `password :string`: a symbol of Ruby."""
    beside = data[op_at - 1 : op_at + 2]
    return beside[:2] == b" :" and beside[2:].isalpha() and _SYMBOL.match(text) is not None


_SYMBOL = re.compile(r"[a-z]+(?:_[a-z]+)*,?\Z")


def is_member(text: str, name: bytes, op: bytes) -> bool:
    """`pw->pw_name`, `req.auth->user`: a member of what bears the name, as C writes it."""
    return op == b"->" and name[-1:].isalnum() and _MEMBER.match(text) is not None and _is_name(text.partition("(")[0])


_MEMBER = re.compile(r"[a-z_]+(?:[A-Z_][a-z]+)*(?:[,;)(.&\[+-]|->|\Z)")


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
    if quote not in (b'"', b"'", b"`") or not _SPACED_NAME.match(text):
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
    return name.startswith((b"this.", b"self.", b"cls.", b"this->", b"$this->"))


def is_caption(data: bytes, name_at: int) -> bool:
    """`$labels['password'] = …`: a text for people, whatever it is called."""
    return _CAPTIONS.search(data, max(0, name_at - 40), name_at) is not None


_CAPTIONS = re.compile(
    rb"(?i)(?:labels?|messages?|strings?|texts?|i18n|lang|l10n|translations?|titles?|captions?)\[\\*[\"']\Z"
)


def is_attribute(data: bytes, name_at: int) -> bool:
    """`input[type=password]:focus`: the kind of a field."""
    return data[max(0, name_at - 7) : name_at].rstrip(b"\\\"'").endswith(b"type=")


def is_statement(data: bytes, at: int) -> bool:
    """Whether the line above shows that this one is a statement of a program: an indented block begins there."""
    start = data.rfind(b"\n", max(0, at - 200), at)
    above = data[max(0, start - 200) : max(start, 0)].rstrip()
    return start >= 0 and data[start + 1 : start + 5] == b"    " and above.endswith((b":", b"{", b";"))


def is_parameter(data: bytes, at: int, end: int) -> bool:
    """`f(x, token=claims)`: an argument of a call, handed on by its name."""
    if data[end : end + 1] not in (b")", b","):
        return False
    start = data.rfind(b"\n", max(0, at - 80), at)
    if start > 0 and data[start:at].isspace() and data[end : end + 2] == b",\n":
        return data[max(0, start - 80) : start].rstrip().endswith((b"(", b","))
    line = data[max(data.rfind(b"\n", max(0, at - 160), at) + 1, at - 160, 0) : at]
    opened = line.rfind(b"(")
    return (
        opened > 0
        and (line[opened - 1 : opened].isalnum() or line[opened - 1] == ord("_"))
        and line.rfind(b")") < opened
    )
