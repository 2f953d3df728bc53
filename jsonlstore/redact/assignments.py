"""Secrets that a name announces: `password=…`, `"api_key": "…"`, `--token …`, "my password is …".

RE2 finds the name and what joins it to a value; the functions here measure the value and judge it. Every look ahead is
bounded, so the whole is linear in the text.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact import rules
from jsonlstore.redact.headers import header_value
from jsonlstore.redact.judging import HIDDEN, Link, assigned
from jsonlstore.redact.likelihood import likely
from jsonlstore.redact.looks import is_placeholder, randomness, tells
from jsonlstore.redact.names import PASSWORD_WORDS, SECRET_WORDS, WEAK_END, WEAK_WORDS, Key, classify
from jsonlstore.redact.phrases import TELLS
from jsonlstore.redact.sentences import adjacent, element, option, returned, said
from jsonlstore.redact.sources import is_code_text
from jsonlstore.redact.vendors import OPERATORS, VALUE, vendors_value

if TYPE_CHECKING:
    from jsonlstore.redact.budget import Steps

STRONG = rf"(?:{PASSWORD_WORDS}|{SECRET_WORDS})"
_CLOSE = r"""(?:\\*["'`\])]|%22|%5D|&quot;|&#34;|\*\*|__|\\u0022|”|’|»|[ \t]?\([^()\n]{0,40}\)|[ \t]?\[[^\[\]\n]{0,40}\]){0,4}"""
_OP = r"(?:<<<|===?|!==?|:{1,3}=|=>|[:=?+.]=|\?\?=|\|\|=|->|→|<-|：|＝|%3D|%3A|&#61;|\\u003d|[:=]|</[a-z]{1,8}>\s*<(?:td|dd|span|code|div|value|string)>)"
_PAIR = r"""(?:[\s,]|\\+[nrt])*+(?:\\*["'])?(?:val(?:ue)?|content)(?:\\*["'])?|(?:,[ \t\r\n]*+(?:[a-z_]{2,12}=[^,\n()]{1,40}|\\*["'][^"'\n]{0,60}\\*["'])[ \t\r\n]*+){0,3},[ \t\r\n]*+default|\s*\{[^{}]{0,300}default|:(?:(?:\r?\n|\\+n)[ \t]+(?!default)[a-z]+:[ \t]*[^\s\\][^\n\\]{0,80}){0,6}(?:\r?\n|\\+n)[ \t]+default"""
# process.env.TOKEN || "…", os.environ.get("TOKEN") or "…": what stands in for it
_ELSE = r"""(?:\|\||\?\?|\?:|(?<=[ \t])or)(?=[ \t]*+\\*["'`])"""
_TYPED = r"[ \t]+(?:string|str|text|\[\]byte|char\*)(?=[ \t]*[:=])"  # const token string = "…"
_RUST = r"[ \t]*:[ \t]*&?(?:'[a-z]+[ \t]+)?(?:str|String|\[u8\])(?=[ \t]*=)"  # const TOKEN: &'static str = "…"
# <th class="x">Token</th>  <td class="x">…
_CELL = r"\s*+(</(?:td|th|dt)>\s*+<(?:td|dd)(?:[ \t][^<>\n]{0,120})?>)"
_PREPOSITION = "for|of|on|in|at|from|you|we|I|für|fuer|fürs|fuers|vom|von|zum|de|du|des|del|della|di|da|do|para|pour|por|per|от|для|на|к"
_FOR = rf"(?:[ \t]+(?:instead(?=:)|(?:{_PREPOSITION}|to)(?:[ \t]+[^\s:=\[\](){{}}%]{{1,40}}){{1,5}}?))"
_IS = (
    r"(?:is|was|are|equals|will be|(?:changed|set|updated|reset|rotated) to|to|as|ist|war|lautet|heißt|est|es|era|é|sono|è|jest|är|er|to je|это|c'est|c’est|—|–|-)"
    r"(?:[ \t]+(?:now|(?:set|changed|updated|reset)[ \t]+to|to|as|still|currently|just|simply|actually|literally|:|auf|jetzt))*:?"
)


def _head(strong: str, weak: str) -> re.Pattern[bytes]:
    """A telling name; what joins it to a value is matched right behind it, and the groups of that say how."""
    return re.kept(
        rf"(?i:({strong})((?:[A-Za-z0-9_.]|-(?!>)){{0,300}}+)|({weak})(?:\\*[\"'`\])]|%22){{0,3}}+[ \t]*+({_OP}))".encode()
    )


@cache
def _head_from(byte: int) -> re.Pattern[bytes]:
    """The names that may begin with a byte: to try them all, one after the other, costs more than anything else."""
    return _head_with(chr(byte).lower() if byte < 128 else "")


@cache
def _head_with(letter: str) -> re.Pattern[bytes]:
    """The names that may begin with a letter, all of them for those that are not ASCII."""
    words = {level: [name.word for name in rules.names() if name.level == level] for level in _LEVELS}
    words["secret"] += ["cookie", "x-auth"]
    if letter:
        words = {level: [word for word in some if _may_begin(word, letter)] for level, some in words.items()}
    strong = [*words["password"], *words["secret"]]
    return _head("|".join(strong) or "(?!)", "|".join(words["weak"]) or "(?!)")


@cache
def _weak_form_from(byte: int) -> re.Pattern[bytes] | None:
    """The rarer forms of the weak names that may begin with a byte: `key_1=`, `<salt>`, `setCert("`, `--salt `."""
    return _weak_form_with(chr(byte).lower())


@cache
def _weak_form_with(letter: str) -> re.Pattern[bytes] | None:
    some = [name.word for name in rules.names() if name.level == "weak" and _may_begin(name.word, letter)]
    joint = rf"(?:\\*[\"'`\])]|%22){{0,3}}+[ \t]*+({_OP})|(>|\((?=\\*[\"'])|(?(1)[ \t]++|(?!)))"
    return re.kept(rf"(?i:((?<=-))?()((?:{'|'.join(some)}){WEAK_END})(?:{joint}))".encode()) if some else None


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
    rf"(?i)(?:{_TOKENS}|(?:{_NO_TOKENS})(?:[\"'`\\:=%&>|*?+!<~,;\t\r\n\x80-\xff]|[\])}}]+(?:[ \t]*[:=]|\s*values|\\*[\"'][ \t]*,)|\((?:[\"'\\]|\)[ \t\w*:>-]{{0,24}}[{{:=>][ \t\r\n]*(?:return[ \t]+)?[\"'`])|,?\s+[\"'\\-]*(?:val|content=)|\[\][ \t]*=|,[ \t]*\S{{0,24}}[0-9!@#$%^&*+]|[ \t][\[(]"
    rf"|[ \t]+(?:[:=|<\\\"'`?+!\r\n-]|\.=|{_IS}[ \t]|(?:is|ist|lautet|est|es|below|follows|unten|abajo):[\r\n\\]|(?:{_PREPOSITION})[ \t]|instead:|[a-z_]{{1,20}}=\\*[\"']|\S{{0,24}}[0-9!@#$%^&*+\x80-\xff]|\{{|(?:string|str|text|\[\]byte|char\*)[ \t]*[:=]))"
    rf"|-(?:{STRONG})[\w-]{{0,40}}[\s\\]"
    rf"""|(?:{WEAK_WORDS}){WEAK_END}(?:(?:\\*["'`\])]|%22){{0,3}}[ \t]*{_OP}[ \t]*(?:\\*["'`][ \t]?|%22)?|>|\(\\*["']){_NOT_UUID}|-(?:{WEAK_WORDS}){WEAK_END}[ \t]+{_NOT_UUID})"""
    rf"""|(?:key|api|auth){WEAK_END}(?:\\*["'`\])]|%22){{0,3}}[ \t]*{_OP}[ \t]*(?:\\*["'`][ \t]?|%22)?[0-9a-f]{{8}}-[0-9a-f]{{4}}-"""
    rf"|PRIVATE KEY|private-lines:|(?:<|003c|&lt;)/?private|{VALUE}|{TELLS}"
)
# the first byte of every match of `NAME`
FIRST = (
    frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-<012&") | frozenset(range(128, 256)) | OPERATORS
)
# The same with endless tails: an automaton that counts the letters behind each of many names has a state for each sum
# and never comes to know them all. What tells by itself is looked for apart: it would be found again and again before the end
# of a long word is seen.
ENDLESS_NAME = NAME.removesuffix(f"|{TELLS}").replace("{0,40}", "*").replace("{1,40}", "+")
_JOINT = re.compile(
    (
        rf"(?i:{_CLOSE}(?:(?:{_PAIR}|{_FOR}|{_TYPED}|{_RUST})?[ \t]*+({_ELSE}|{_OP}|\|)|(?:{_FOR})?[ \t]++({_IS})[ \t]++|(是|为|為|は|が|[ \t]?설정은|는|은|(?:'|’)s[ \t])[ \t]*+"
        rf"""|(?:[ \t]++(?:от|для|на|к)[ \t]++[^\s:=]{{2,40}})?([ \t]++|\(|[ \t]*+,[ \t]*+|\?[ \t]++)(?:b?\\*["'`“‘«][^\s"'`]|[^\s"'`]{{0,64}}?[0-9!@#$%^&*+]))"""
        rf"""|(?:\\*["'])?(?:[ \t][^<>\n]{{0,80}})?>(?:<!\[CDATA\[)?([^<]+?)(?:\]\]>)?<\\*/|{_CELL})"""
    ).encode()
)
_EQUALS = re.compile(rb"===?|=>|=")
# func getToken() string { return "…" }
_GETTER = re.compile(rb"\([ \t]*\)[ \t\w*:>-]{0,24}?(?:\{|:|=>?)[ \t\r\n]*(?:return[ \t]+)?(?=[\"'`][^\"'`\n]*[\"'`])")
_JOINT_WINDOW = 640  # `re` may backtrack: within this many bytes, whatever the text
_FLAG = re.compile(rb"""((?:[ \t]|\\++(?:\r?\n|n))++|\\*+["'],(?:[ \t\r\n]|\\++[nrt])*+)""")
_HEADER = re.compile(
    rb"""(?:\\*["'`\]]){0,3}[ \t]*(?:=(?!=)>?|:=?|(?<=[\"']),(?=[ \t\r\n]*[bBuU]?\\*[\"'`])|%3A|(?=\\*[\"'](?i:bearer|basic|token)[ \t]))"""
)
# Bearer ${TOKEN}: a value that is elsewhere, and nothing behind it
_REFERRED = re.compile(
    rb"""[ \t]*(?:\\*["'])?(?i:bearer|basic|token)[ \t]+(?:\$\{[A-Za-z_][\w.]*\}|\$[A-Za-z_]\w*|<[a-z_ -]{1,40}>)(?=[\s"'`\\]|\Z)"""
)

_ESCAPES = (b"\\n", b"\\r", b"\\t")  # their letter is no part of the name behind them
_NAME_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$-"


def full_name(data: bytes, start: int, end: int) -> str:
    """The whole identifier of which `data[start:end]` is the telling part."""
    head = data[max(0, start - 64) : start]
    before = head[len(head.rstrip(_NAME_BYTES)) :]
    if before and head[: len(head) - len(before)].endswith(b"\\") and before[:1] in b"nrt":
        before = before[1:]  # the n of an escaped line break is no part of the name
    return (before + data[start:end]).decode("utf-8", "replace")


def judge_name(data: bytes, at: int, budget: Steps) -> tuple[int, list[tuple[int, int]]]:
    """Where to go on, and the spans to hide behind the name at `at`, a match of `NAME`."""
    if data[at] in OPERATORS:
        return vendors_value(data, at, budget)
    at += data[at] == ord("-")
    head = _head_from(data[at]).match(data, at)
    if not head:
        form = _weak_form_from(data[at])
        head = form.match(data, at) if form else None
    if not head:
        return vendors_value(data, at, budget)
    if head.start(3) >= 0:
        return head.end(3), _weak(data, head, budget)
    end = head.end()
    word = head.group(1).lower()
    begins = not data[at - 1 : at].isalnum() or data[max(0, at - 2) : at] in _ESCAPES
    part = head.group(2) or not begins  # of a longer name: AggregationAuthorization
    own = word == b"cookie" and head.group(2) and classify(full_name(data, at, end)) >= Key.SECRET  # cookie_secret=
    if word in (b"cookie", b"authorization", b"x-auth") and not own and not (part and word == b"authorization"):
        header = _HEADER.match(data, end, end + 80)
        if header and word != b"cookie" and _REFERRED.match(data, header.end(), header.end() + 80):
            return end, []
        spans = header_value(data, header.end(), budget, cookie=word == b"cookie") if header else []
        if spans or word == b"cookie":
            return end, spans
    return end, _strong(data, at, end, budget)


def _weak(data: bytes, head: re.Match[bytes], budget: Steps) -> list[tuple[int, int]]:
    """The spans to hide behind `some_key = …`, where only the value can tell."""
    full = full_name(data, head.start(3), head.end(3))
    level = classify(full.lstrip("-"))
    if level is Key.NONE:
        return []
    op_at, op_end = head.span(4) if head.start(4) >= 0 else head.span(5)
    link = Link(level, head.end(3) - len(full.encode()), head.end(3), op_at, op_end, budget)
    if not data[op_at:op_end].isspace():
        return assigned(data, link)
    return likely(data, option(data, link), link, "option") if full.startswith("-") else []


def _strong(data: bytes, start: int, end: int, budget: Steps) -> list[tuple[int, int]]:  # noqa: C901, PLR0911, PLR0912 - one exit per joint
    if data[end : end + 1] == b"=":  # most are joined so, and nothing else is to be found out
        if data.startswith(HIDDEN, end + 1):
            return []
        full = full_name(data, start, end)
        if _is_chance(data, full, end) or (level := classify(full.lstrip("-"))) is Key.NONE:
            return []
        op = _EQUALS.match(data, end)
        return assigned(data, Link(level, end - len(full.encode()), end, end, op.end() if op else end + 1, budget))
    if data[end : end + 1] == b"(" and (getter := _GETTER.match(data, end, end + 120)):
        full = full_name(data, start, end)
        link = Link(classify(full), end - len(full.encode()), end, end, getter.end(), budget)
        return likely(data, returned(data, link), link, "returned")
    match = _JOINT.match(data, end, end + _JOINT_WINDOW)
    if not match and (label := _LABELLED.match(data, end, end + _LABEL_WINDOW)):
        return _labelled(data, start, end, label, budget)
    flag = None if match and match.start(1) >= 0 else _FLAG.match(data, end, end + _JOINT_WINDOW)
    if not match and not flag:
        return []
    if data[end : end + 1] == b"(" and b"." in data[start:end]:
        return []  # password.encode("latin1")
    full = full_name(data, start, end)
    if _is_chance(data, full, end) or (level := classify(full.lstrip("-"))) is Key.NONE:
        return []
    name_at = end - len(full.encode())
    if flag and full.startswith("-"):
        link = Link(level, name_at, end, flag.start(), flag.end(), budget)
        return likely(data, option(data, link), link, "option")
    if not match:
        return []
    how = match.lastindex or 0
    link = Link(level, name_at, end, match.start(how), match.end(how), budget)
    if how in (1, 6):
        return assigned(data, link)
    if how == 4:
        return likely(data, adjacent(data, link), link, "adjacent")
    if how == 5:
        return likely(data, element(data, link), link, "element")
    return likely(data, said(data, link, match.end()), link, "said")


# A name that ends its line, and a line below it that is one word and nothing else.
_LABELLED = re.compile(
    rb"""(?:[ \t]++(?:for|of|on|to|von|de|du|da|do|para|pour|f\xc3\xbcr)[ \t]++[^\n\\:]{1,40}?)?(?:[ \t]++(?:is|ist|lautet|est|es|below|follows|is below|unten|abajo))?[ \t]*+(?:[*_#:-]{1,4}[ \t]*+)?(?:(?:\r?\n|(?:\\++r)?\\++n)[ \t>]*+(?:```[a-z]*+|[-=]{3,80}+)?){1,3}[ \t]*+\\*+["'`]?+([^\s"'`\\]{6,256}+)(?:\\*+["'`]|\\(?=\r?\n))?[ \t]*+(?:\r?\n|\\++[rn]|\Z|\\*["'])"""
)
_LABEL_WINDOW = 400
_LABEL_HEAD = re.compile(
    rb"(?:\A|\n|\\n)[ \t]*(?:[#*>/;-]{1,4}[ \t]*){0,2}[*_]{0,2}(?:[A-Za-z]{1,16}[ \t]+){0,3}[\w.-]{0,32}\Z"
)


def _labelled(data: bytes, start: int, end: int, label: re.Match[bytes], budget: Steps) -> list[tuple[int, int]]:
    """The span to hide in the line below `## API key`, or below a comment that says `# password`."""
    if not _LABEL_HEAD.search(data[max(0, start - 80) : start]):
        return []
    level = classify(full_name(data, start, end).lstrip("-"))
    budget.weigh(len(label[1]))
    text = label[1].decode("utf-8", "replace")
    if level < Key.SECRET or is_placeholder(text, bare=True) or is_code_text(text) or not tells(text):
        return []
    return [label.span(1)]


def _is_chance(data: bytes, full: str, end: int) -> bool:
    """Base64 that happens to end in a telling word, or a type that is named after a secret (`AWS::IAM::AccessKey`)."""
    start = end - len(full.encode())
    before = data[max(0, start - 2) : start]
    if before[-1:] == b":" and (before == b"::" or b"arn:aws" in data[max(0, end - 100) : end].rpartition(b" ")[2]):
        return True
    if data.startswith(b"==", end):
        behind = data[end + 2 : end + 3]
        if behind in _ENDS and (before[-1:] in (b"+", b"/") or (len(full) > 11 and _DIGIT.search(full))):
            return True  # a hash of a lock file
        if behind in (b'"', b"'") and len(full) >= 20 and (randomness(full) > 4.8 or _DIGITS.search(full)):
            return True
    if before in (b"+", b"\n+"):
        return False  # a line that a diff adds
    odd = len(full) > 40 or before[-1:] in (b"+", b"/", b"=")
    return (odd and _DIGITS.search(full) is not None) or (
        len(full) > 8 and before[-1:] == b"+" and randomness(full) > 5
    )


_ENDS = (b"", b"\n", b"\r", b",", b";", b")")
_DIGIT = re.compile(r"[0-9]")
_DIGITS = re.compile(r"(?:[0-9][^0-9]*){3}")
