"""Secrets that stand near their name without being assigned to it: in sentences, options, elements and headers."""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

import re

from jsonlstore.redact.judging import PHRASE, SPACE_WORDS, TALK, Link, is_address
from jsonlstore.redact.looks import (
    is_code,
    is_key_hex,
    is_placeholder,
    is_type,
    is_worded,
    is_wordy,
    looks_random,
    looks_secret,
    tells,
)
from jsonlstore.redact.names import Key
from jsonlstore.redact.sources import is_code_text
from jsonlstore.redact.things import NAME_OF_WORDS, is_of_its_name
from jsonlstore.redact.values import GLANCE, OPEN, SKIP, Value, measure
from jsonlstore.redact.wording import is_foreign, is_label, is_mostly_foreign, is_sentence


def said(data: bytes, link: Link, at: int) -> list[tuple[int, int]]:  # noqa: C901, PLR0911 - one exit per answer
    """The spans to hide behind "my password is …"."""
    level = link.level
    if level < Key.HINT:
        return []
    joint = data[link.op_at : link.op_end].lower()
    values = measure(data, at, before=link.name_at)[:1]
    if not values:
        return []
    value = values[0]
    text = value.judged(data).decode("utf-8", "replace").strip("'\"`") or "-"
    if "<" in text[1:] or "]" in text or (value.quoted and "\n" in text):
        return []
    if joint[:2] in (b"as", b"to") and (_IS_NAME.match(text) or data[link.name_at : link.name_end].lower() == b"pass"):
        return []  # import password as v3_password; pass x to y
    if is_placeholder(text) or is_type(text) or (len(text) < 12 and data.startswith(b"...", value.end)):
        return []
    if not value.quoted and is_code_text(text):
        return []  # tokens - first.shape[0]
    if is_mostly_foreign(text) or (not value.quoted and _ACRONYM.match(text)):
        return []  # a sentence that goes on; "without password — CYW43 wants none"
    chosen = level in (Key.PASSWORD, Key.HINT)
    told = looks_secret(text, chosen=chosen and joint[:2] not in (b"as", b"to")) or (
        level is not Key.HINT and tells(text)
    )
    telling = told and text[:1] not in "{[(<*\\"
    strict = (
        joint.split(b" ")[0] in (b"to", b"as", b"-", b"\xe2\x80\x94", b"\xe2\x80\x93", b"on", b"er", b"es", b"are")
        or not chosen
    )
    if telling or (
        value.quoted
        and not strict
        and (level is not Key.HINT or tells(text))
        and b" " not in data[value.start : value.end].strip()
    ):
        return [(value.start, value.end)]
    if strict or level is Key.HINT or (value.quoted and not chosen):
        return []
    if PHRASE.search(data[link.name_at : link.name_end]):
        words = SPACE_WORDS.match(data, value.end, value.end + 400)
        if text.encode().lower() in TALK:
            return []  # one mnemonic is that they go in order
        return [(value.start, words.end() if words else value.end)] if words and len(words.group().split()) >= 7 else []
    if not _SPOKEN.search(data[link.name_at : link.name_end]):
        return []  # a sentence of a language file: "wachtwoord is aangepast"
    found = _plain_words(data, value, text)
    # words of another language, of which none are listed: "le mot de passe est trop semblable"
    return found if value.quoted or joint.split(b" ")[0] in _ENGLISH else []


_SPOKEN = re.compile(rb"(?i)pass|pwd|pw|pin|psk|kennw|secret|phrase|code|wi-?fi")
_ENGLISH = frozenset((b"is", b"was", b"equals", b"will", b"'s", b"ist", b"lautet"))


def _plain_words(data: bytes, value: Value, text: str) -> list[tuple[int, int]]:
    """ "The password is swordfish." hides it, "the password is too short" does not."""
    if value.quoted:
        return [(value.start, value.end)]
    word = text.rstrip(".,;:!?").lower().encode()
    if word in TALK or word.endswith((b"ed", b"ing", b"ly", b"able", b"ible")) or not word.isalnum() or len(word) < 4:
        return []
    more = SPACE_WORDS.match(data, value.end, value.end + 160)
    words = more.group().split() if more else []
    if any(w in TALK for w in words[:2]) and len(words) < 3:
        return [(value.start, value.end)] if words[0] in (b"and", b"but", b"for", b"on") else []
    if 0 < len(words) < 2 or any(w in TALK for w in words[:3]):
        return []
    return [(value.start, more.end() if more else value.end)]


def adjacent(data: bytes, link: Link) -> list[tuple[int, int]]:  # noqa: C901, PLR0911, PLR0912 - one exit per answer
    """The span to hide behind "with password hunter2", `PASSWORD 'x'`."""
    name = data[link.name_at : link.name_end]
    values = measure(data, link.op_end, before=link.name_at)[:1] if link.level >= Key.HINT else []
    if not values or name == b"pwd" or name.endswith(b"."):
        return []
    told = (name.isupper() and len(name) > 6) or (values[0].quoted and b"," in data[link.name_end : link.op_end])
    if link.level is Key.HINT and name.lower() != b"pw" and not told:
        return []  # "credentials 2fa" in a sentence
    text = values[0].judged(data).decode("utf-8", "replace")
    if (
        is_placeholder(text)
        or is_address(text)
        or text[:1] in "*(){}[]\\&<>@#=|:;,.-"
        or "(" in text
        or "##" in text
        or "\\" in text
        or "<" in text
        or "{" in text
        or "%s" in text
        or "%0A" in text
        or text.endswith("*")
        or ".*" in text
        or _PATH.match(text)
    ):
        return []
    if _KEY_ENDS.match(data, value_end := values[0].end, value_end + 8) or (
        not values[0].quoted and _SETTING.match(text)
    ):
        return []  # `Invalid Password`,"login.label": …; crc-16 width=16
    if is_worded(text) or _ATTRIBUTE.match(text) or _STEP.match(text):
        return []  # for secret `m.backup.v1`
    listed = b"," in data[link.name_end : link.op_end]
    if listed and (name[-2:].lower() == b"pw" or _SETTING.match(text) or is_code(text) or _IS_NAME.match(text)):
        return []
    if listed and len(text) > 12 and text.isalpha() and is_wordy(text):
        return []  # (".api_keys", "APIKeysWithRawResponse")
    if listed and not values[0].quoted and ("," in text or (_WORDY.match(text) and is_wordy(text))):
        return []
    if listed and not values[0].quoted and is_placeholder(text, bare=True):
        return []
    if listed and not values[0].quoted and _NUMBERED_NAME.match(text):
        return []  # methods=v3password,v3totp
    if not values[0].quoted and (_ACRONYM.match(text) or (listed and _NUMBERED.match(text))):
        return []  # password SOCKS5 credentials; (password, scramble1)
    called = link.level is Key.SECRET and data[link.op_at : link.op_at + 1] == b"("
    if called and (_NUMBERED.match(text) or _MAKES.search(name)):
        return []  # token("comment2")
    if is_label(text):
        return []  # AAEpW,KAAM; f(password, timeout=-1); ["password1", "password2"]
    if is_of_its_name(name, text) or text.startswith("-") or (listed and NAME_OF_WORDS.match(text)):
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


def option(data: bytes, link: Link) -> list[tuple[int, int]]:  # noqa: C901, PLR0911, PLR0912 - one exit per answer
    """The span to hide behind `--password …`, `"--token", "…"`."""
    values = measure(data, link.op_end, before=link.name_at)[:1]
    if _SWITCH.match(data, link.name_at, link.name_end):
        return []  # --disable-security-key
    if not values or data[values[0].start : values[0].start + 1] in (b"-", b"|", b"=", b":"):
        return []
    value = values[0]
    if not value.quoted and b"," in data[link.op_at : link.op_end]:
        return []  # ["--secret", secret_href]
    if data[link.op_at : link.op_end].startswith(b"  ") and not tells(
        data[value.start : value.end].decode("utf-8", "replace")
    ):
        return []  # --secrets  Include API keys in output
    if b"<" in data[link.op_end : value.start] or b"=" in data[link.op_end : value.start]:
        return []  # --password <value>  what it is for
    text = value.judged(data).decode("utf-8", "replace")
    if is_placeholder(text, bare=not value.quoted) or text.encode().lower().strip(b".,;:") in TALK or is_foreign(text):
        return []
    if _KEY_ENDS.match(data, value.end, value.end + 8):
        return []  # "flag": "--api-key",  "next": …
    if not value.quoted and (_SETTING.match(text) or _SET.match(text) or _METAVAR.match(text)):
        return []  # "--password", type=str
    if " " in text.strip() and (link.level is not Key.PASSWORD or is_sentence(text)):
        return []  # .option("--with-secrets", "Keep the tables")
    if link.level is Key.SECRET and text.isalpha() and len(text) < 5:
        return []  # --generate-token sur l'hôte
    if not value.quoted and link.level is Key.SECRET and text.rstrip(".,") in _FLAG_WORDS:
        return []  # using --auth-token flags
    short = data[link.name_at : link.name_end].lower().endswith((b"pass", b"pw"))
    if link.level is Key.HINT and not (short or tells(text)):
        return []
    if link.level is Key.WEAK and not looks_random(text):
        return []
    return [(value.start, value.end)]


_FLAG_WORDS = frozenset(
    ("flag", "flags", "option", "options", "argument", "arguments", "parameter", "switch", "or", "and", "0", "1")
)
_PATH = re.compile(
    r"[a-z_-]+\.[0-9]\Z|[a-z]+&[a-z]+;[a-z]*\Z|\w{2,20}(?:,\w{2,20}){2,}\Z|[a-z]+[0-9]?/[\w.-]+\Z|[a-z]+-?[0-9]+(?:\.[0-9]+)+\Z"
)
_MAKES = re.compile(rb"(?:\A|\.)(?i:create|get|parse|next|add|read|peek|expect|consume|accept|find)_?[A-Z]")
_WORDY = re.compile(r"[A-Za-z_]\w*\Z")
_SET = re.compile(r"[A-Z_]{2,}=(?:value|VALUE)?\Z")
_METAVAR = re.compile(r"[A-Z]{2,}(?:[-_][A-Z]+)+\Z")  # --export KEY-ID
_ACRONYM = re.compile(r"[A-Z]{3,8}-?[0-9]{1,2}\Z")
_ATTRIBUTE = re.compile(r"[a-z]+(?:-[a-z0-9]+)*=\Z")
_STEP = re.compile(r"[0-9]-[a-z]+\Z|[0-9]>|[a-z]+[+/&][a-z]+\Z")
_NUMBERED_NAME = re.compile(r"[a-z]{1,12}[0-9][a-z]*\Z")
_NUMBERED = re.compile(r"[a-z]+[0-9]{1,2}\Z")
_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S")
_IS_NAME = re.compile(r"(?i)(?:[a-z0-9]+[._-])*(?:new|old|v[0-9])?(?:password|token|secret)[0-9]?(?:\.[a-z]+)?\Z")
_SWITCH = re.compile(rb"--?(?:disabled?|hidden|enable|with|without|no|generate|show|print|list|export|import|delete)-")
_KEY_ENDS = re.compile(rb"(?:\\*[\"'`])?[ \t]*:")


def element(data: bytes, link: Link) -> list[tuple[int, int]]:
    """The span to hide in `<password>…</password>`."""
    text = data[link.op_at : link.op_end].decode("utf-8", "replace")
    if link.level <= Key.WEAK or is_placeholder(text) or b"<" not in data[max(0, link.name_at - 64) : link.name_at]:
        return []
    if data[link.name_end : link.name_end + 1] in (b"\\", b'"', b"'") and not looks_secret(text, chosen=True):
        return []  # <label for="password">Your password</label>
    plain = " " not in text.strip() or (link.level is Key.PASSWORD and not is_sentence(text))
    return [(link.op_at, link.op_end)] if plain else []


_COOKIE_NAME = re.compile(r"[\w.%!$*+~^|-]{1,120}\Z")
_HEADER_VALUE = re.compile(rb"[^\r\n\"'`\\<>]++")
_SCHEME = re.compile(
    rb"(?i)(?:bearer|basic|digest|token|apikey|api-key|negotiate|ntlm|hawk|oauth|ssws|key|aws4-hmac-sha256|[a-z][a-z0-9_-]{0,30})(?:[ \t]+|%20)(?=[^\s])"
)

_KNOWN_SCHEMES = frozenset((b"bearer", b"basic", b"token", b"digest", b"apikey", b"negotiate"))
_DOTTED = re.compile(r"[\w-]+(?:\.[\w-]+){1,3}\Z")
# config.token, process.env.X, this.auth.jwt
_REFERENCE = re.compile(
    r"(?i)\A(?:process|config|cfg|conf|self|this|settings?|options?|opts?|env|os|req|request|res|response|user|session|auth|data|state|ctx|context"
    r"|props|params|args|kwargs|credentials?|creds|client|app|module|window|import|secrets?|vars?|values?|inputs?|example|www)\."
    r"|(?:token|key|secret|jwt|passw|pwd|cred|auth)"
)


def header_value(data: bytes, at: int, *, cookie: bool) -> list[tuple[int, int]]:  # noqa: PLR0911 - one exit per answer
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
    if is_address(text) or "](" in text or (not opened and is_code_text(first)):
        return []  # authorization: "https://…/authorize?scope=email"; [Authorization: Policy](…)
    known = scheme is not None and scheme.group().strip().lower() in _KNOWN_SCHEMES
    if known and opened is None and _DOTTED.match(first) and not _REFERENCE.search(first):
        return [(begin, end)]  # Bearer a.b: behind a scheme only what names a variable is one
    labelled = first[-1:] == "=" and first[:-1].isalpha() and first.islower()  # Digest username="…"
    if labelled or is_placeholder(text, bare=True) or is_placeholder(first, bare=True):
        return []
    if cookie:
        name, equals, value = text.partition("=")
        first = value.split(";")[0]
        odd = len(first) >= 16 or any(c.isdigit() for c in first)
        ok = equals and _COOKIE_NAME.match(name) and len(first) > 3 and odd and not is_placeholder(first)
        return [(begin, end)] if ok else []
    if known:
        return (
            [(begin, end)]
            if (len(first) >= 6 and (any(c.isdigit() for c in first) or len(first) > 14)) or "=" in first
            else []
        )
    generated = scheme and len(first) >= 20 and any(c.isdigit() for c in first)
    return [(begin, end)] if generated or looks_random(first) or looks_secret(first) else []
