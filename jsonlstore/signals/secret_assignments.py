"""Secrets that a name announces: `password=…`, `"api_key": "…"`, `--token …`, "my password is …".

RE2 finds the name and what joins it to a value; the functions here measure the value and judge it. Every look ahead is
bounded, so the whole is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from jsonlstore.signals.secret_words import (
    PASSWORD_WORDS,
    SECRET_WORDS,
    WEAK_WORDS,
    Key,
    classify,
    is_placeholder,
    looks_random,
    looks_secret,
)

LONGEST = 1 << 16  # bytes of one value that are looked at
_STRONG = rf"(?:{PASSWORD_WORDS}|{SECRET_WORDS})"
_CLOSE = r"""(?:\\*["'`\])]|%22|%5D|&quot;|&#34;|\*\*|__|\\u0022|”|’|»|[ \t]?\([^()\n]{0,40}\)){0,4}"""
_OP = r"(?:===?|!==?|:=|=>|[:=?+]=|->|→|<-|：|＝|%3D|%3A|&#61;|\\u003d|[:=])"
_PAIR = r"""(?:[\s,]|\\+[nrt])*(?:\\*["'])?value(?:\\*["'])?"""
_FOR = r"(?:[ \t]+(?:for|of|on|in|at|from|für|fuer|vom|von|zum|de|del|da|do|para|pour|por|per)(?:[ \t]+[^\s:=]{1,40}){1,5}?)"
_IS = (
    r"(?:is|was|are|equals|=|will be|to|as|ist|war|lautet|heißt|est|es|era|é|sono|è|jest|är|er|to je|это|—|–|-)"
    r"(?:[ \t]+(?:now|set|changed|updated|reset|to|as|still|currently|just|simply|actually|literally|:|auf|jetzt))*:?"
)
ASSIGNMENT = rf"(?i)({_STRONG})([\w.-]*){_CLOSE}(?:{_PAIR}|{_FOR})?[ \t]*({_OP}|\|)"
WEAK_ASSIGNMENT = (
    rf"(?i)({WEAK_WORDS})()(?:\\*[\"'`\])]|%22){{0,3}}[ \t]*({_OP})[ \t]*(?:\\*[\"'`])?[A-Za-z0-9+/_=.~%:$!@#^*-]{{16}}"
)
SENTENCE = rf"(?i)({_STRONG})(){_CLOSE}{_FOR}?[ \t]+({_IS})[ \t]+|({_STRONG})()(是|为|為|は|が|는|은|:)[ \t]*"
ADJACENT = rf"""(?i)({_STRONG})(){_CLOSE}([ \t]+)(?:\\*["'`“‘«][^\s"'`]|[^\s"'`]*[0-9!@#$%^&*+][^\s]*)"""
FLAG = rf"""(?i)-({_STRONG}|pass|auth|pw|key|cookie)([\w-]*)((?:[ \t]|\\+(?:\r?\n|\\*n))+|\\*["'],(?:[ \t\r\n]|\\+[nrt])*)"""
ELEMENT = rf"(?i)({_STRONG}|pass|pw)([\w.-]*)(?:[ \t][^<>\n]{{0,80}})?>(?:<!\[CDATA\[)?([^<]+?)(?:\]\]>)?(?:</|<\\+/)"
HEADER = r"""(?i)(?:authorization|x-auth|set-cookie|cookie)(?:\\*["'`\]]){0,3}[ \t]*(?:[:=,]|%3A|:=|=>)"""

_NAME_BEFORE = re.compile(rb"[A-Za-z0-9_.$-]*\Z")
_SKIP = re.compile(rb"(?:[ \t]|\*\*|%20|\\+\r?\n|\\{2,}n)*+")
_NEWLINE = re.compile(rb"(?:\r?\n|\\+r?\\*n)(?:[ \t]|\\+t)*+")
_BLOCK = re.compile(rb"[|>][+-]?[0-9]?[ \t]*(?:\r?\n|\\+n)[ \t]+")
_OPEN = re.compile(rb"(?:[bBrRfFuUN@$]{0,2})(\\*)([\"'`])|(%22|&quot;|&#34;|%27|\\u0022|\xe2\x80\x9c|\xe2\x80\x98|\xc2\xab|\xe3\x80\x8c)")
_CLOSERS = {b"\xe2\x80\x9c": b"\xe2\x80\x9d", b"\xe2\x80\x98": b"\xe2\x80\x99", b"\xc2\xab": b"\xc2\xbb", b"\xe3\x80\x8c": b"\xe3\x80\x8d"}
_MORE = re.compile(rb"(?:[ \t]*[+.][ \t]*|[ \t]*\\+\r?\n[ \t]*|[ \t]*[+.]?\r?\n[ \t]*[+.]?[ \t]*|[ \t]*\+[ \t]*\\+n[ \t]*)?(\\*)([\"'])")
_BARE = re.compile(rb"(?:[^\s\"'`<\\\xe3]|\\+(?![\\\"'`nrt\s])|\\+(?=[^\"'`\\nrt\s])|\\+\r?\n[ \t]*|<(?!/)|\xe3(?!\x80[\x81\x82\x8d]))++")
_CUT = re.compile(rb"[;,&|][ \t]*(?:[\w.-]+[ \t]*[=:]|\Z)|(?:%26)[\w.-]+(?:=|%3D)|&amp;|[;,]\Z|\xef\xbc\x8c|\|\|?|&&|;(?=[A-Za-z ])")
_TAIL = re.compile(rb"[)\]},;.:>]+\Z|\\+\Z")
_LINE = re.compile(rb"(?:[^\r\n\"\\]|\\(?![nr\"\\]))++")
_SPACE_WORDS = re.compile(rb"(?:[ \t]+[a-z]{2,12}(?![A-Za-z0-9:=(]))++")
_LIST = re.compile(rb"[\[({][ \t\r\n]*(?=\\*[\"'])")
_CALL = re.compile(rb"[A-Za-z_$][\w$.:>-]*[ \t]*\(")
_TYPED = re.compile(rb"[A-Za-z_][\w.\[\]<>| ?*&]*[ \t]*=[ \t]*(?=\\*[\"'])")

# What follows "password is" or "password:" in talk about passwords.
_TALK = frozenset(
    b"""a an the this that these those it its is are was were be been being not no never always only also just still yet
    already must should shall can could may might will would do does did has have had to too so as at by for from in into
    of off on or and but if when where which who how what why than then there here with without within your my our their
    his her any each every all both same different new old own other another wrong incorrect right invalid valid
    missing required optional empty blank short long weak strong strength safe unsafe secure insecure expired stale
    stored saved hashed salted encrypted plain plaintext sent passed given set unset reset changed rotated leaked exposed
    hidden visible masked redacted generated random unique used unused reused needed allowed accepted rejected denied
    case fine good bad ok okay done gone down up out over under between about after before below above least minimum
    maximum between read loaded taken kept part protected based hardcoded committed logged printed shown displayed typed
    entered known unknown available unavailable nothing something none null undefined field flag option options argument
    parameter value values string prompt prompts page form file manager policy hash hashes authentication auth login
    forgotten really very quite now currently please see use using enter type add check make sure get got need needs
    nicht kein keine falsch ist sind wird wurde muss zu der die das ein eine incorrecto incorrecta correcta debe no se
    incorrect faux pas doit un une le la""".split()
)


@dataclass(frozen=True, slots=True)
class Value:
    """Where a value lies, and whether it was quoted."""

    start: int
    end: int
    quoted: bool


def full_name(data: bytes, start: int, end: int) -> str:
    """The whole identifier of which `data[start:end]` is the telling part."""
    head = data[max(0, start - 64) : start]
    found = _NAME_BEFORE.search(head)
    before = found.group() if found else b""
    if before and head[: len(head) - len(before)].endswith(b"\\") and before[:1] in b"nrt":
        before = before[1:]  # the n of an escaped line break is no part of the name
    return (before + data[start:end]).decode("utf-8", "replace")


def measure(data: bytes, at: int, *, before: int) -> list[Value]:
    """The value or values that begin at `at`; `before` is where their name began."""
    pos = _SKIP.match(data, at).end()  # type: ignore[union-attr]
    block = _BLOCK.match(data, pos)
    if block:
        return _one(_to_line_end(data, block.end()))
    line = _NEWLINE.match(data, pos)
    if line:
        pos = line.end()
        end = _BARE.match(data, pos)
        after = data[end.end() : end.end() + 1] if end else b""
        return [Value(pos, end.end(), quoted=False)] if end and after in (b"", b"\n", b"\r", b'"', b"\\") else []
    typed = _TYPED.match(data, pos, pos + 60)
    if typed:
        pos = typed.end()
    opened = _OPEN.match(data, pos)
    if opened:
        return _quoted(data, opened, before)
    several = _LIST.match(data, pos) or _CALL.match(data, pos, pos + 80)
    if several:
        return _inside(data, several.end())
    return _one(_bare(data, pos, before))


def _one(value: Value | None) -> list[Value]:
    return [value] if value and value.end > value.start else []


def _quoted(data: bytes, opened: re.Match[bytes], before: int) -> list[Value]:
    start = opened.end()
    if opened.group(3):
        mark = _CLOSERS.get(opened.group(3), opened.group(3))
        end = data.find(mark, start, start + LONGEST)
        return _one(Value(start, end, quoted=True)) if end > start else []
    depth, quote = len(opened.group(1)), opened.group(2)
    if _is_inside(data, before, quote) and data[before - 1 : before] != quote and opened.end() - opened.start() == depth + 1:
        # `"…password="` ends here; only another quote right behind it could still open one
        if data[start : start + 1] in (b"", b",", b")", b" ", b"\n", b";", b"]", b"}", b"+", b"\\"):
            return []
    if data[before - 1 : before] == quote and data.find(quote, before, opened.start()) < 0:
        return []
    triple = quote * 3
    if data.startswith(triple, opened.end() - 1):
        end = data.find(triple, start + 2, start + LONGEST)
        return _one(Value(start + 2, end if end >= 0 else min(len(data), start + LONGEST), quoted=True))
    end = _closing(data, start, depth, quote)
    if end < 0:
        return _one(_to_line_end(data, start)) if data[start : start + 1].strip(b" ,;)]}:\n\r") else []
    end = _joined(data, end, depth)
    return _one(Value(start, end, quoted=True))


def _closing(data: bytes, start: int, depth: int, quote: bytes) -> int:
    """The end of what a quote behind `depth` backslashes opened, or -1; a deeper quote is part of the text."""
    limit, at, step = min(len(data), start + LONGEST), start, 2 * (depth + 1)
    while (at := data.find(quote, at, limit)) >= 0:
        run = at - len(data[max(start, at - 256) : at].rstrip(b"\\")) - max(start, at - 256)
        if run >= depth and (run - depth) % step == 0:
            return at - depth
        if run < depth:
            return at - run  # the text around us ends first
        at += 1
    return -1


def _joined(data: bytes, end: int, depth: int) -> int:
    """Past `"a" + "b"`, `"a"'b'` and a string continued on the next line."""
    for _ in range(64):
        after = end + depth + 1
        more = _MORE.match(data, after, after + 200)
        if not more or len(more.group(1)) != depth:
            return end
        closed = _closing(data, more.end(), depth, more.group(2))
        if closed < 0 or b"\n" in data[more.end() : closed]:
            return end
        end = closed
    return end


def _inside(data: bytes, at: int) -> list[Value]:
    """The strings of a list or a call, up to its end or the end of the line."""
    values: list[Value] = []
    for _ in range(64):
        skipped = re.compile(rb"[^\"'\n\])};]*+").match(data, at, at + 200)
        at = skipped.end() if skipped else at
        opened = re.compile(rb"(\\*)([\"'])").match(data, max(at - 0, at))
        if not opened:
            break
        end = _closing(data, opened.end(), len(opened.group(1)), opened.group(2))
        if end < 0:
            break
        values.append(Value(opened.end(), end, quoted=True))
        at = end + len(opened.group())
    return [value for value in values if value.end > value.start]


def _bare(data: bytes, pos: int, before: int) -> Value | None:
    found = _BARE.match(data, pos, pos + LONGEST)
    if not found:
        return None
    end = found.end()
    run = data[pos:end]
    cut = _CUT.search(run)
    if cut:
        run = run[: cut.start()]
    elif data[end : end + 1] in (b"'", b'"') and run and not _is_inside(data, before, data[end : end + 1]):
        closed = _closing(data, end + 1, 0, data[end : end + 1])
        if 0 <= closed < end + 200 and b"\n" not in data[end:closed]:
            rest = _BARE.match(data, closed + 1, closed + 400)
            return Value(pos, rest.end() if rest else closed + 1, quoted=False)
    tail = _TAIL.search(run)
    if tail and tail.start() > 0:
        run = run[: tail.start()]
    return Value(pos, pos + len(run), quoted=False)


def _to_line_end(data: bytes, pos: int) -> Value:
    found = _LINE.match(data, pos, pos + LONGEST)
    end = found.end() if found else pos
    run = data[pos:end].rstrip()
    if run.endswith((b"'", b"`")) and run.count(run[-1:]) % 2:
        run = run[:-1]
    return Value(pos, pos + len(run), quoted=False)


def _is_inside(data: bytes, at: int, quote: bytes) -> bool:
    """Whether a string opened earlier on this line is still open at `at`."""
    start = max(data.rfind(b"\n", 0, at) + 1, at - 400)
    return data.count(quote, start, at) % 2 == 1


def _starts_line(data: bytes, at: int) -> bool:
    head = data[max(0, at - 80) : at]
    head = head[max(head.rfind(b"\n") + 1, head.rfind(b"\\n") + 2 if b"\\n" in head else 0) :]
    return not head.strip(b" \t-*_.>#|\"'{$") or head.split()[-1:] == [b"export"]


def judge_assignment(data: bytes, match: re.Match[bytes]) -> list[tuple[int, int]]:
    """The spans to hide behind `name = …`, `name: …`."""
    start, op = match.start(1), match.group(3)
    name = full_name(data, start, match.end(2))
    level = classify(name)
    if level is Key.NONE:
        return []
    at = match.end(3)
    hidden = []
    for value in measure(data, at, before=start - (len(name.encode()) - (match.end(2) - start))):
        span = _judge(data, value, level, op, match)
        if span:
            hidden.append(span)
    return hidden


def _judge(data: bytes, value: Value, level: Key, op: bytes, match: re.Match[bytes]) -> tuple[int, int] | None:
    text = data[value.start : value.end].decode("utf-8", "replace")
    if is_placeholder(text, bare=not value.quoted):
        return None
    if level is Key.WEAK:
        return (value.start, value.end) if looks_random(text) else None
    far = value.start - match.end(3) > 3 and b"(" in data[match.end(3) : value.start]
    loose = op in (b"|", b"->", b"\xe2\x86\x92") or op.startswith((b"==", b"!=")) and not value.quoted or far
    if loose:
        return (value.start, value.end) if looks_secret(text, chosen=True) else None
    if value.quoted:
        return (value.start, value.end)
    if text.isdigit():
        return (value.start, value.end) if level is Key.PASSWORD and len(text) >= 3 or len(text) >= 10 else None
    spaced = data[match.end(3) : match.end(3) + 1] in (b" ", b"\t")
    if b":" in op or op == b"\xef\xbc\x9a" or op == b"%3A":
        return _judge_colon(data, value, text, level, match, spaced=spaced)
    if spaced and re.fullmatch(r"[A-Za-z]+(?:_[A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+|[a-z]{1,3}", text):
        return None  # another variable
    return (value.start, value.end)


def _judge_colon(
    data: bytes, value: Value, text: str, level: Key, match: re.Match[bytes], *, spaced: bool
) -> tuple[int, int] | None:
    first = data[value.start : value.end].strip(b".,;:!?").lower()
    if first in _TALK or text.startswith(("(", "{", "[")):
        return None
    line = _to_line_end(data, value.start)
    begins = _starts_line(data, match.start(1) - (len(full_name(data, match.start(1), match.end(1)).encode()) - (match.end(1) - match.start(1))))
    if begins and spaced and b"\n" not in data[match.end(3) : value.start]:
        rest = data[value.start : line.end]
        if level is Key.PASSWORD or rest.count(b" ") == 0 or looks_secret(text) or rest.count(b" ") >= 2 and b"." not in rest:
            hash_at = rest.find(b" #")
            return (value.start, value.start + hash_at if hash_at > 0 else line.end)
    if level is Key.PASSWORD:
        more = _SPACE_WORDS.match(data, value.end, value.end + 120) if text.isalpha() and text.islower() else None
        return (value.start, more.end() if more else value.end)
    if not spaced or looks_secret(text, chosen=True):
        return (value.start, value.end)
    return None


def judge_sentence(data: bytes, match: re.Match[bytes]) -> list[tuple[int, int]]:
    """The spans to hide behind "my password is …"."""
    group = 1 if match.group(1) else 4
    level = classify(full_name(data, match.start(group), match.end(group)))
    if level in (Key.NONE, Key.WEAK):
        return []
    joint = match.group(group + 2).lower()
    values = measure(data, match.end(), before=match.start(group))[:1]
    if not values:
        return []
    value = values[0]
    text = data[value.start : value.end].decode("utf-8", "replace")
    if is_placeholder(text):
        return []
    chosen = level is Key.PASSWORD
    telling = looks_secret(text, chosen=chosen)
    strict = joint.split(b" ")[0] in (b"to", b"as", b"-", b"\xe2\x80\x94", b"\xe2\x80\x93", b"on", b"er", b"es", b"are") or not chosen
    if telling or (value.quoted and not strict and b" " not in data[value.start : value.end].strip()):
        return [(value.start, value.end)]
    if strict or value.quoted and not chosen:
        return []
    return _plain_words(data, value, text)


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


def judge_adjacent(data: bytes, match: re.Match[bytes]) -> list[tuple[int, int]]:
    """The span to hide behind "with password hunter2", `PASSWORD 'x'`."""
    level = classify(full_name(data, match.start(1), match.end(1)))
    if level in (Key.NONE, Key.WEAK):
        return []
    values = measure(data, match.end(3), before=match.start(1))[:1]
    if not values:
        return []
    text = data[values[0].start : values[0].end].decode("utf-8", "replace")
    sql = values[0].quoted and match.group(1).isupper() and level is Key.PASSWORD and " " not in text.strip()
    if is_placeholder(text) or not (sql or looks_secret(text, chosen=level is Key.PASSWORD)):
        return []
    return [(values[0].start, values[0].end)]


def judge_flag(data: bytes, match: re.Match[bytes]) -> list[tuple[int, int]]:
    """The span to hide behind `--password …`, `"--token", "…"`."""
    name = full_name(data, match.start(1), match.end(2))
    level = classify(name)
    short = re.fullmatch(r"(?i)-*(?:[\w-]*-)?(?:pass|auth|pw)", name)
    if level is Key.NONE and not short:
        return []
    values = measure(data, match.end(3), before=match.start(1))[:1]
    if not values or data[values[0].start : values[0].start + 1] in (b"-", b"|", b"=", b":"):
        return []
    value = values[0]
    text = data[value.start : value.end].decode("utf-8", "replace")
    if is_placeholder(text, bare=not value.quoted) or text.encode().lower().strip(b".,;:") in _TALK:
        return []
    if level is Key.WEAK and not short:
        return [(value.start, value.end)] if looks_random(text) or looks_secret(text) and "=" not in text else []
    return [(value.start, value.end)]


def judge_element(data: bytes, match: re.Match[bytes]) -> list[tuple[int, int]]:
    """The span to hide in `<password>…</password>`."""
    level = classify(full_name(data, match.start(1), match.end(2)))
    text = match.group(3).decode("utf-8", "replace")
    if level in (Key.NONE, Key.WEAK) and match.group(1).lower() not in (b"pass", b"pw") or is_placeholder(text):
        return []
    if data[max(0, match.start(1) - 64) : match.start(1)].rfind(b"<") < 0:
        return []
    return [match.span(3)] if level is not Key.SECRET or " " not in text.strip() else []


_SCHEME = re.compile(rb"(?i)(?:bearer|basic|digest|token|apikey|api-key|negotiate|ntlm|hawk|oauth|ssws|key|aws4-hmac-sha256|[a-z]+)(?:[ \t]+|%20)(?=[^\s])")


def judge_header(data: bytes, match: re.Match[bytes]) -> list[tuple[int, int]]:
    """The span to hide in `Authorization: Bearer …` and `Cookie: …`; the scheme stays."""
    pos = _SKIP.match(data, match.end()).end()  # type: ignore[union-attr]
    opened = _OPEN.match(data, pos)
    start = opened.end() if opened else pos
    cookie = b"ookie" in match.group() or b"OOKIE" in match.group()
    scheme = None if cookie else _SCHEME.match(data, start, start + 40)
    begin = scheme.end() if scheme else start
    found = re.compile(rb"[^\r\n\"'`\\<>]++").match(data, begin, begin + LONGEST)
    if not found:
        return []
    end = begin + len(found.group().rstrip())
    text = data[begin:end].decode("utf-8", "replace")
    first = text.split(" ")[0]
    if is_placeholder(text, bare=True) or is_placeholder(first, bare=True):
        return []
    if cookie:
        name, equals, value = text.partition("=")
        ok = equals and " " not in name and len(value) > 3 and not is_placeholder(value.split(";")[0])
        return [(begin, end)] if ok else []
    if scheme and scheme.group().strip().lower() in (b"bearer", b"basic", b"token", b"digest", b"apikey", b"negotiate"):
        return [(begin, end)] if len(first) >= 6 and (any(c.isdigit() for c in first) or len(first) > 14) or "=" in first else []
    return [(begin, end)] if looks_random(first) or looks_secret(first) else []
