"""What source code, style sheets and language files have behind a secret's name: expressions, selectors, captions.

Every look around a value is bounded, and every expression is linear in what it is given.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact.looks import WORDS_LIMIT, is_type, is_worded, is_wordy, randomness
from jsonlstore.redact.names import Key

if TYPE_CHECKING:
    from jsonlstore.redact.judging import Link
    from jsonlstore.redact.values import Value

_SEEN = 160  # characters of a value that show whether it is code
_WORDLIKE = 4.8
_WORD = re.compile(r"[A-Za-z_$][\w$]*")


def is_no_value(data: bytes, value: Value, text: str, link: Link) -> bool:  # noqa: C901, PLR0911 - a decision list
    """Whether what stands behind a secret's name is a part of a program, a selector or a text that people read."""
    name_at, level, op = link.name_at, link.level, data[link.op_at : link.op_end]
    if data[max(0, name_at - 5) : name_at] == b"/etc/":
        return True
    between = data[link.name_end : link.op_at]
    if b"al" in between and _PAIRED.search(between):
        # {name: `use the Secret`, value: "private"}, {key: "_token", value: restValue}
        said = data[name_at - 1 : name_at] in (b" ", b"/") and data[name_at - 2 : name_at - 1].isalpha()
        if said or (
            not value.quoted and (_CAMEL.match(text) or (text.isalpha() and data[value.end : value.end + 1] == b","))
        ):
            return True
    if op == b"|" and value.quoted:
        return True  # "accessToken" | "clientConfig", a type
    if value.quoted and "\n" in text and not _WORD.search(text[:_LONG]) and len(text) < _SEEN:
        return True  # only signs
    if value.quoted and "\n" in text and _OUTSIDE.search(_LITERALS.sub("", text[:_LONG])) and "-----" not in text[:80]:
        return True  # what stands between two strings
    if value.quoted and _ENTRY.match(text) and text.count(".") and _CAMEL_END.search(text):
        return True  # local = "package.module:LocalClass"
    if value.quoted:
        if _is_prefix(data, value, text) or _is_filled_in(data, value, text):
            return True
        if _MEMBERSHIP.match(data, value.end, value.end + 16):
            return True  # active_password="PasswordLastUsed" in user
        if op == b":" and is_type(text) and _DEFINED.search(data, max(0, name_at - 200), name_at):
            return True  # def f(self, password: 'CheckedPassword')
        return _is_flag(text) or _is_streamed(text, level) or is_caption_among(data, value, text, name_at, level)
    return _is_code(data, value, text, link)


def _is_code(data: bytes, value: Value, text: str, link: Link) -> bool:
    """Whether what has no quotes is a part of a program or a style sheet."""
    op, between = data[link.op_at : link.op_end], data[link.name_end : link.op_at]
    if _goes_on(data, value, text):
        return True
    if op == b":" and data[value.start - 1 : value.start] == b":":
        at = link.name_at
        if _is_selector(data, value, text) or _is_urn(data, at) or _is_entry(data, value, text, at):
            return True
    if text.isalnum() and not between:
        return False  # most are, and nothing below has only letters
    if is_code_text(text) or _is_constant(data, value, text, link.level, op):
        return True
    if _SUBSCRIPT.search(between) and op == b"=" and _IDENTIFIER.match(text) and all(map(is_wordy, text.split("."))):
        return True  # args["private_key"] = rsa_key
    return _ENTRY.match(text) is not None and (text.count(".") > 1 or is_worded(text.replace(":", ".")))


_SUBSCRIPT = re.compile(rb"\A[\"']\][ \t]?\Z")
_MEMBERSHIP = re.compile(rb"""["'][ \t]+(?:not[ \t]+)?in[ \t]""")
_DEFINED = re.compile(rb"\bdef \w+\([^\n)]*\Z")
# the break between two literals that are one text, and a break that ends one in the middle of a program
_LITERALS = re.compile(r"""["'][ \t+.\\]*\r?\n[ \t+.]*[bruf]{0,2}["']""")
_OUTSIDE = re.compile(r"""["'][^"'\n]{0,80}\n""")
_LONG = 2048
_CAMEL_END = re.compile(r":[A-Z][a-z0-9]+[A-Z]\w*\Z")
_PAIRED = re.compile(rb"(?i)val(?:ue)?\\*[\"']?\Z")
_CAMEL = re.compile(r"[a-z]+(?:[A-Z][a-z]+)+\Z")

# -- expressions

_SIGNS = re.compile(r"[()\[\]{}]|->|::|&&|\|\||\*\*|[!=]=|\?\.|[;,]\Z|\A[\w$]+(?:\.[\w$]+)+[;,=:]")
_NUMBER = re.compile(r"[0-9]{4}")
_LITERAL = re.compile(
    r"/(?:[^/\s]|\\/){2,80}/[gimsuy]{1,4}[,;)]*\Z|[!&*][A-Za-z_$][\w$.]*[,;)]*\Z|[a-z_]{2,24}!\(|\{[0-9]{1,2}\Z|[0-9.]+\*{1,2}[A-Za-z_]|/-----BEGIN|_[0-9]{1,2},?\Z"
)
_SURE = re.compile(
    r"/\*|!{1,2}[A-Za-z_$][\w$]*[?!]?\.|[a-z]+(?:[A-Z][a-z]+)+!,\Z|\+[a-z]\w*\.\w+\+?\Z|\?s\)|(?:this|self)\.#?\w+[(\[]|[A-Za-z_$][\w$.]{2,60}\([0-9]{0,8}\)?;?\Z|[a-z_]\w*(?:\.\w+)+\[['\"]\w+['\"]\]"
)
# token$1, credentials$2: what a bundler calls a second one
_RENAMED = re.compile(r"[A-Za-z_]+\$[0-9]{1,2}[,;)}]*\Z")


def is_code_text(text: str) -> bool:
    """`shell.keys["a"]`, `!header.alg`, `2.0**self.bits`, `format!(`: signs of code, and words around them."""
    text = text[:_SEEN]
    if _SURE.match(text):
        return True
    if _LITERAL.match(text) or _RENAMED.match(text):
        words = _WORD.findall(text)[:WORDS_LIMIT]
        return all(len(word) < 4 or _is_word(word.partition("$")[0]) for word in words)
    if not _SIGNS.search(text) or _NUMBER.search(text):
        return False
    words = _WORD.findall(text)[:WORDS_LIMIT]
    return max(map(len, words), default=0) > 4 and all(len(word) < 3 or _is_word(word) for word in words)


def _is_word(word: str) -> bool:
    return is_wordy(word) and randomness(word) < _WORDLIKE


# a word and its method on the next line, a choice, a class
_MEMBER_BELOW = re.compile(rb"(?:\r?\n|\\+n)[ \t]*(?:\.[a-z]\w*\(|\([^)\n])")
_CHOSEN = re.compile(rb"[ \t]\?[ \t][\w\"'`$({\[]")
_CLASS = re.compile(rb"[ \t]*(?:extends\b|\{|[A-Z_]\w* (?:extends|\{))")


def _goes_on(data: bytes, value: Value, text: str) -> bool:
    """`password: yup` above `.string()`, `key = has_key ? A : B`, `AccessKey=class extends Base`."""
    after = data[value.end : value.end + 64]
    if text in ("class", "function") and (_CLASS.match(after) or after[:1] in (b"(", b" ")):
        return True
    if not _MEMBER_BELOW.match(after) and not _CHOSEN.match(after):
        return False
    return _IDENTIFIER.match(text) is not None and all(map(is_wordy, text.split(".")))


_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*\Z")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+){1,8}(?:\.[a-z_]\w*)?\Z")


def _is_constant(data: bytes, value: Value, text: str, level: Key, op: bytes) -> bool:
    """`token=TEST_DATA_BASE64,`, `credentials == PAIRING_GUID2`: a name in capitals, in a program."""
    if not _CONSTANT.match(text):
        return False
    after = data[value.end : value.end + 1]
    within = after in (b",", b")", b"]", b"}", b";") or op[-2:] == b"==" or "." in text
    letters = "".join(c for c in text if c.isalpha())
    plain = randomness(letters) < _WORDLIKE or (within and text.count("_") > _MANY)
    return (within or level is not Key.PASSWORD) and text.count("_") > (not within) and plain


_MANY = 4  # words that no generated value has


# -- names that are joined by colons

_PSEUDO = frozenset(
    b"focus hover active visited disabled enabled checked invalid valid required optional before after placeholder not focus-within focus-visible"
    b" first-child last-child nth-child first last empty read-only autofill default root host target lang dir".split()
)


def _is_selector(data: bytes, value: Value, text: str) -> bool:
    """`input.ui_input_password:focus,` of a style sheet."""
    word = re.match(r"[a-z-]*", text)
    known = word is not None and word[0].encode() in _PSEUDO
    return known and data[value.end : value.end + 1] in (
        b"",
        b",",
        b"{",
        b" ",
        b"(",
        b")",
        b"\n",
        b">",
        b"+",
        b"~",
        b".",
        b":",
    )


def _is_urn(data: bytes, name_at: int) -> bool:
    """A name inside of `urn:oasis:names:…:Password:Type`."""
    head = data[max(0, name_at - 160) : name_at]
    return b"urn:" in head[len(head.rstrip(_URN_BYTES)) :]


_URN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:._-"


def _is_entry(data: bytes, value: Value, text: str, name_at: int) -> bool:
    """`paste.filter_factory = package.auth_token:filter_factory`: a module and what it offers."""
    name = data[name_at : value.start - 1]
    return (
        name.count(b".") > 0 and _MODULE.match(name) is not None and _MEMBER.match(text) is not None and is_wordy(text)
    )


_MODULE = re.compile(rb"[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)+\Z")
_MEMBER = re.compile(r"[A-Za-z_]+\Z")
_ENTRY = re.compile(r"[a-z_]+[0-9]?(?:\.[a-z_]+[0-9]?)+:[A-Za-z_][A-Za-z0-9_]*\Z")


# -- quoted values that are no secret

_JOINS_VARIABLE = re.compile(rb"\\*[\"'`][ \t]*(?:\+|\.|<<|~)[ \t]*[A-Za-z_$(]")
_FORMATS = re.compile(rb"\\*[\"'`][ \t]*%[ \t]*[A-Za-z_(]|\\*[\"'`]\.format\(")
_FORMAT = re.compile(r"%(?:\(\w+\))?[0-9.]*[sdrxiu]|\{[\w.!:]*\}")
_PREFIX = re.compile(
    r"(?:[A-Z][A-Z0-9-]{1,14} )?[A-Za-z][A-Za-z0-9_-]{1,14}[ =:]{1,2}\Z|[A-Z]{2,6}[0-9]?\Z|[A-Za-z]{2,12}[_-]{1,2}\Z"
)


def _is_prefix(data: bytes, value: Value, text: str) -> bool:
    """`'key=' + apiKey`, `"OAuth " + token`: the secret is what a variable adds."""
    return _PREFIX.match(text) is not None and _JOINS_VARIABLE.match(data, value.end, value.end + 32) is not None


def _is_filled_in(data: bytes, value: Value, text: str) -> bool:
    """`'user:%s:admin' % owner`: a format, and words around what is filled in."""
    if not _FORMATS.match(data, value.end, value.end + 32) or not _FORMAT.search(text[:_SEEN]):
        return False
    return all(len(word) < 4 or _is_word(word) for word in _WORD.findall(_FORMAT.sub(" ", text[:_SEEN])))


_FLAG = re.compile(r"--?[a-z]{2,}(?:-[a-z]+)*=?\Z|-[A-Za-z]\Z|-[A-Z]{2,12}\Z")
_ESCAPES = (r"\x00", r"\0", r"\n", r"\r", r"\t")
_PIECE = re.compile(r"[ \t]?(?:[^\W\d_]{1,24}(?:['’-][^\W\d_]{1,12})?|[A-Z]{2,10})[.,;:!?)]{0,3}(?:[ \t]|\\[nrt])*\Z")


def _is_flag(text: str) -> bool:
    """`"passphrase": "--passphrase-fd"`: an option of a command, which has words."""
    return text[:1] == "-" and _FLAG.match(text) is not None and _is_word(text.strip("-=").replace("-", ""))


def _is_streamed(text: str, level: Key) -> bool:
    """`{"token": "assistant "}`: a word and the blank beside it, as models hand out what they say piece by piece."""
    if level is not Key.SECRET or text == text.strip() == _without_escapes(text):
        return False
    return _PIECE.match(text) is not None


def unended(text: str) -> str:
    """A literal without the zero or the line break that ends it (`SMBKey\\x00`) and without Markdown's escapes."""
    return _without_escapes(text.replace("\\_", "_")) if "\\" in text else text


def _without_escapes(text: str) -> str:
    while text.endswith(_ESCAPES):
        text = text[: text.rindex("\\")]
    return text


# -- language files

# a quoted text that begins like a sentence, and goes on with another word
_PHRASE = re.compile(
    rb"""(?::|=>?|,|\()[ \t]*\\*["'`](?:[A-Z]|[\xc3-\xf4][\x80-\xbf])[^"`/@=<> \n]{0,40} [^"`@=<>\n]"""
)
_BREAK = re.compile(rb"\r?\n|\\+n")
_CAPTION = re.compile(r"(?:[^\W\d_a-z]|[A-Z])[^\W\d_]*(?::[^\W\d_]{1,4})?(?:[ '’/-][^\W\d_]+){0,5}[.:…!?]?\Z")
_PHRASE_KEY = re.compile(rb"""["'`][A-Z][A-Za-z]* (?:[A-Za-z]+ )*\Z""")
_LINE = 320  # bytes of a line that are looked at


def is_caption_among(data: bytes, value: Value, text: str, name_at: int, level: Key) -> bool:
    """`backupCode: 'Rezervni kod'` between two lines that hold phrases: a language file, whatever the language.

    One word behind a password's name is a password unless the lines on both sides are texts for people.
    """
    if len(text) > 80 or not _CAPTION.match(text):
        return False
    if _PHRASE_KEY.search(data, max(0, name_at - 80), name_at):
        return True  # "Reset my password": "Kennwort vergessen"
    before = _phrase_above(data, name_at)
    several = " " in text
    if level is Key.PASSWORD and not several:
        return before and _phrase_below(data, value.end)
    return before or _phrase_below(data, value.end)


def _phrase_above(data: bytes, at: int) -> bool:
    lines = _BREAK.split(data[max(0, at - _LINE) : at])[:-1]
    telling = [line for line in lines if line.strip(_BRACKETS)]
    return bool(telling) and _PHRASE.search(telling[-1]) is not None


def _phrase_below(data: bytes, at: int) -> bool:
    lines = _BREAK.split(data[at : at + _LINE], maxsplit=4)[1:]
    telling = [line for line in lines if line.strip(_BRACKETS)]
    return bool(telling) and _PHRASE.search(telling[0]) is not None


_BRACKETS = b' \t\r,{}[]()"\\'
