"""Secrets that stand near their name without being assigned to it: in sentences, options and elements."""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from jsonlstore.core import expressions as re
from jsonlstore.redact.colons import PHRASE, SPACE_WORDS, TALK
from jsonlstore.redact.context import is_leading, is_styled
from jsonlstore.redact.judging import Link
from jsonlstore.redact.keys import looks_generated
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
from jsonlstore.redact.positions import is_address, is_no_announcement, stands_beside
from jsonlstore.redact.sources import is_code_text
from jsonlstore.redact.syntax import is_sum
from jsonlstore.redact.things import NAME_OF_WORDS, is_of_its_name
from jsonlstore.redact.values import Value, measure
from jsonlstore.redact.wording import (
    is_foreign,
    is_label,
    is_mostly_foreign,
    is_secrets_word,
    is_sentence,
    unescaped,
)


def said(data: bytes, link: Link, at: int) -> list[tuple[int, int]]:  # noqa: C901, PLR0911, PLR0912 - one exit per answer
    """The spans to hide behind "my password is …"."""
    level = link.level
    if level < Key.HINT:
        return []
    joint = data[link.op_at : link.op_end].lower()
    values = measure(data, at, before=link.name_at, budget=link.budget)[:1]
    if not values:
        return []
    value = values[0]
    judged = value.judged(data, link.budget).decode("utf-8", "replace")
    text = judged.removesuffix("\\&").strip("'\"`") or "-"
    if "<" in text[1:] or "]" in text or (value.quoted and "\n" in text):
        return []
    if joint[:2] in (b"as", b"to") and (_IS_NAME.match(text) or data[link.name_at : link.name_end].lower() == b"pass"):
        return []  # import password as v3_password; pass x to y
    if is_placeholder(text) or is_type(text) or (len(text) < 12 and data.startswith(b"...", value.end)):
        return []
    if not value.quoted and (is_code_text(text) or is_sum(data, value, text)):
        return []  # tokens - first.shape[0]
    if (
        is_mostly_foreign(text)
        or ("\\u" in text and unescaped(text).isalpha())
        or (not value.quoted and _ACRONYM.match(text))
    ):
        return []  # a sentence that goes on; "without password — CYW43 wants none"
    if joint[:2] == b"to" and len(set(text)) == 1:
        return []  # from "0" to "9999"
    if text.isdigit() and _UNIT.match(data, value.end, value.end + 16):
        return []  # expiration defaults to 3600 seconds
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
        if text.encode().lower() in TALK or text.endswith(("ed", "ing")):
            return []  # one mnemonic is that they go in order
        return [(value.start, words.end() if words else value.end)] if words and len(words.group().split()) >= 7 else []
    if not _SPOKEN.search(data[link.name_at : link.name_end]):
        return []  # a sentence of a language file: "wachtwoord is aangepast"
    if is_secrets_word(text) or _SUPPOSED.search(data, max(0, link.name_at - 80), link.name_at):
        return []  # if a password is necessary
    if not value.quoted and _CATALOGUE.search(data, max(0, link.name_at - 400), link.name_at):
        return []
    if not value.quoted and b"," in data[link.name_end : link.op_at]:
        return []  # passwords in a secure fashion, which is difficult
    if not value.quoted and text.isalpha() and _WRAPPED.match(data, value.end, value.end + 40):
        return []  # The password is first / * padded: a comment that goes on
    found = _plain_words(data, value, text)
    # words of another language, of which none are listed: "le mot de passe est trop semblable"
    return found if value.quoted or joint.split(b" ")[0] in _ENGLISH else []


_WRAPPED = re.compile(rb"\r?\n[ \t]*(?:\*|#|//|;|--)[ \t]+[a-z]")
_UNIT = re.compile(rb"[ -](?:(?:milli)?seconds?|minutes?|hours?|days?|bytes|characters?|bits?|times)\b")
_SUPPOSED = re.compile(
    rb"(?i)\b(?:if|when|whether|unless|until|once|because|since)[ \t]+(?:(?:the|a|an|your|no|any|this|its|their)[ \t]+)?(?:[a-z]+[ \t]+)?\Z"
)
_SPOKEN = re.compile(rb"(?i)pass|pwd|pw|pin|psk|kennw|secret|phrase|code|wi-?fi")
_ENGLISH = frozenset((b"is", b"was", b"equals", b"will", b"'s", b"ist", b"lautet"))


def _plain_words(data: bytes, value: Value, text: str) -> list[tuple[int, int]]:
    """ "The password is swordfish." hides it, "the password is too short" does not."""
    if value.quoted:
        return [(value.start, value.end)]
    word = text.rstrip(".,;:!?").lower().encode()
    if (
        word in TALK
        or word.endswith((b"ed", b"ing", b"ly", b"able", b"ible", b"ful", b"less", b"ous"))
        or not word.isalnum()
        or len(word) < 4
    ):
        return []
    more = SPACE_WORDS.match(data, value.end, value.end + 160)
    words = more.group().split() if more else []
    if any(w in TALK for w in words[:2]) and len(words) < 3:
        return [(value.start, value.end)] if words[0] in (b"and", b"but", b"for", b"on") else []
    if 0 < len(words) < 2 or any(w in TALK for w in words[:3]):
        return []
    return [(value.start, more.end() if more else value.end)]


def _paired(data: bytes, link: Link) -> bool:
    """`user bob, pass x7…`: whose password it is stands before it."""
    name = data[link.name_at : link.name_end].lower()
    return name == b"pass" and _ACCOUNT_BEFORE.search(data, max(0, link.name_at - 80), link.name_at) is not None


_ACCOUNT_BEFORE = re.compile(
    rb"(?i)\b(?:user(?:name)?|login|account|mail)[ \t:=]+[^\s,;]{2,40}(?:[ \t]*[,;/]|[ \t])[ \t]*(?:and[ \t]+)?\Z"
)


def adjacent(data: bytes, link: Link) -> list[tuple[int, int]]:  # noqa: C901, PLR0911, PLR0912 - one exit per answer
    """The span to hide behind "with password hunter2", `PASSWORD 'x'`."""
    name = data[link.name_at : link.name_end]
    values = measure(data, link.op_end, before=link.name_at, budget=link.budget)[:1] if link.level >= Key.HINT else []
    if is_no_announcement(data, link):
        return []
    if not values or name.endswith(b"."):
        return []
    listed = b"," in data[link.name_end : link.op_end]
    if name == b"pwd" and not (listed and values[0].quoted):
        return []  # the directory of a shell
    told = (name.isupper() and len(name) > 6) or (values[0].quoted and b"," in data[link.name_end : link.op_end])
    if link.level is Key.HINT and name.lower() != b"pw" and not told and not _paired(data, link):
        return []  # "credentials 2fa" in a sentence
    if listed and (default := _DEFAULT.match(data, values[0].start, values[0].end)):
        values = [Value(default.end(), values[0].end, quoted=False)]  # password,default:x7…
    text = values[0].judged(data, link.budget).decode("utf-8", "replace")
    if values[0].quoted and _QUOTED.match(text):
        text = text.strip("\\\"'")  # 'API_KEY', '\"…\"'
    if text[:1] == "(" and link.level is not Key.HINT and not values[0].quoted and looks_random(text[1:]):
        return [(values[0].start + 1, values[0].end)]  # the secret (x7…)
    if not values[0].quoted and (_ENTITY.search(text) or (name.isupper() and _TERM.match(text))):
        return []  # mot de passe d&eacute;fini; WPA-PSK WPA2PSK
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
        or "[%" in text
        or text.endswith(("*", "-%"))
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
    if listed and (
        (name[-2:].lower() == b"pw" and not values[0].quoted)
        or _SETTING.match(text)
        or is_code(text)
        or _IS_NAME.match(text)
    ):
        return []
    if listed and len(text) > 12 and text.isalpha() and is_wordy(text):
        return []  # (".api_keys", "APIKeysWithRawResponse")
    if listed and not values[0].quoted and ("," in text or ")" in text or (_WORDY.match(text) and is_wordy(text))):
        return []
    if listed and not values[0].quoted and is_placeholder(text, bare=True):
        return []
    if listed and not values[0].quoted and (_NUMBERED_NAME.match(text) or _ENTRY.match(text)):
        return []  # methods=v3password,v3totp
    if not values[0].quoted and (_ACRONYM.match(text) or (listed and _NUMBERED.match(text))):
        return []  # password SOCKS5 credentials; (password, scramble1)
    called = link.level is Key.SECRET and data[link.op_at : link.op_at + 1] == b"("
    if called and (_NUMBERED.match(text) or _MAKES.search(name)):
        return []  # token("comment2")
    if stands_beside(data, values[0], text, link):
        return []
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
    sql = plain and values[0].quoted and link.level is Key.PASSWORD
    sql = sql and (name.isupper() or _ACCOUNT.search(data, max(0, link.name_at - 120), link.name_at) is not None)
    constant = name.isupper() and b"_" in name  # setenv DB_TOKEN 1234567, ENV API_KEY …
    told = plain and (constant or values[0].quoted) and tells(text)
    if not (sql or told or looks_secret(text, chosen=link.level is not Key.SECRET)):
        return []
    return [(values[0].start, values[0].end)]


_DEFAULT = re.compile(rb"default[:=][ \t]*+(?=[^\s,;:=]{4})")
_ACCOUNT = re.compile(rb"(?i)\b(?:create|alter)[ \t]+(?:user|role|login|group)[ \t]+[^\n;]{1,100}\Z")  # of SQL


def option(data: bytes, link: Link) -> list[tuple[int, int]]:  # noqa: C901, PLR0911, PLR0912 - one exit per answer
    """The span to hide behind `--password …`, `"--token", "…"`."""
    values = measure(data, link.op_end, before=link.name_at, budget=link.budget)[:1]
    if _SWITCH.match(data, link.name_at, link.name_end) or data[link.name_at - 1 : link.name_at] in (b"}", b")", b"]"):
        return []  # --disable-security-key
    if data[link.name_at - 1 : link.name_at] == b"\\" and data[link.name_at - 2 : link.name_at - 1].isalnum():
        return []  # key change\-passphrase repo, of a manual page
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
    text = value.judged(data, link.budget).decode("utf-8", "replace")
    if text.isalpha() and not value.quoted and _DESCRIBED.match(data, value.end, value.end + 80):
        return []  # --password source    Where it comes from
    if is_placeholder(text, bare=not value.quoted) or text.encode().lower().strip(b".,;:") in TALK or is_foreign(text):
        return []
    if _KEY_ENDS.match(data, value.end, value.end + 8):
        return []  # "flag": "--api-key",  "next": …
    if not value.quoted and (_SETTING.match(text) or _SET.match(text) or _METAVAR.match(text)):
        return []  # "--password", type=str
    if not value.quoted and text.isalpha() and _CATALOGUE.search(data, max(0, link.name_at - 400), link.name_at):
        return []  # a sentence about an option, in a catalogue of translations
    if " " in text.strip() and (link.level is not Key.PASSWORD or is_sentence(text)):
        return []  # .option("--with-secrets", "Keep the tables")
    if link.level is Key.SECRET and text.isalpha() and (len(text) < 5 or (text.isupper() and not value.quoted)):
        return []  # --generate-token sur l'hôte
    if not value.quoted and (text.rstrip(".,") in _FLAG_WORDS or _FLAGS.match(data, value.end, value.end + 16)):
        return []  # using --auth-token flags
    short = data[link.name_at : link.name_end].lower().endswith((b"pass", b"pw"))
    if link.level is Key.HINT and not (short or tells(text)):
        return []
    if link.level is Key.WEAK and not looks_random(text):
        return []
    return [(value.start, value.end)]


_QUOTED = re.compile(r"""(\\*["'])[^"'\\]+\1\Z""")
_CATALOGUE = re.compile(rb"(?:\A|\n)(?:#~ )?msg(?:id|str)[^\n]*(?:\n\"[^\n]*){0,6}\Z")
_DESCRIBED = re.compile(rb"(?:[ ]{3,}|\t+)[A-Za-z]+ [a-z]")
_FLAGS = re.compile(rb"[ \t]+(?:(?:flag|option|switch|argument)(?:e?s)?|from|the|is|are|of|an?|that|which)\b")
_FLAG_WORDS = frozenset(
    (
        "flag",
        "flags",
        "option",
        "options",
        "argument",
        "arguments",
        "parameter",
        "switch",
        "or",
        "and",
        "0",
        "1",
        "command",
        "commands",
        "switches",
        "instead",
        "replace",
        "replaces",
    )
)
_PATH = re.compile(
    r"[\w./-]+\.html?(?:#[\w-]+)?\Z|[a-z_-]+\.[0-9]\Z|[a-z]+&[a-z]+;[a-z]*\Z|\w{2,20}(?:,\w{2,20}){2,}\Z|[a-z]+[0-9]?/[\w.-]+\Z|[a-z]+-?[0-9]+(?:\.[0-9]+)+\Z"
)
_MAKES = re.compile(
    rb"(?:\A|\.)(?i:create|get|parse|next|add|read|peek|expect|consume|accept|find|export|import|load|save|convert)_?[A-Z]"
)
_WORDY = re.compile(r"[A-Za-z_]\w*\Z")
_SET = re.compile(r"[A-Z_]{2,}=(?:value|VALUE)?\Z")
_METAVAR = re.compile(r"[A-Z]{2,}(?:[-_][A-Z]+)+\Z")  # --export KEY-ID
_ACRONYM = re.compile(r"[A-Z]{3,8}-?[0-9]{1,2}\Z|[A-Z]{3,5}-[0-9]{3,4}\Z")  # XEP-0227
_ENTITY = re.compile(r"&[a-z]{2,8}(?:;|\Z)")
_TERM = re.compile(r"[A-Z]{2,5}[0-9]{1,5}[A-Z]{1,4}\Z")
_ATTRIBUTE = re.compile(r"[a-z]+(?:[-:][a-z0-9]+)*=\Z|xmlns:[a-z0-9]+=")
_STEP = re.compile(r"[0-9]-[a-z]+\Z|[0-9]>|[a-z]+[+/&][a-z]+\Z")
_ENTRY = re.compile(r"[A-Za-z_]\w{2,40}:!?[\w.-]{1,40}\Z")  # a member of an object
_NUMBERED_NAME = re.compile(r"[a-z]{1,12}[0-9][a-z]*\Z")
_NUMBERED = re.compile(r"[a-z]+(?:[0-9]{1,2}|:[0-9]{1,4})\Z")
_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S")
_IS_NAME = re.compile(r"(?i)(?:[a-z0-9]+[._-])*(?:new|old|v[0-9])?(?:password|token|secret)[0-9]?(?:\.[a-z]+)?\Z")
_SWITCH = re.compile(
    rb"--?(?:disabled?|dont|never|hidden|enable|with|without|no|generate|show|print|list|export|import|delete)-"
)
_KEY_ENDS = re.compile(rb"(?:\\*[\"'`])?[ \t]*:")


def element(data: bytes, link: Link) -> list[tuple[int, int]]:
    """The span to hide in `<password>…</password>`."""
    link.budget.weigh(link.op_end - link.op_at)
    text = data[link.op_at : link.op_end].decode("utf-8", "replace")
    if link.level <= Key.WEAK or not _is_tag(data, link):
        return []
    if " " in text and _holds_one(text):
        return [(link.op_at, link.op_end)]
    if is_placeholder(text):
        return []
    if data[link.name_end : link.name_end + 1] in (b"\\", b'"', b"'") and not looks_secret(text, chosen=True):
        return []  # <label for="password">Your password</label>
    if all(is_placeholder(word) or is_label(word) for word in text.split()[:8]):
        return []  # username [password]
    plain = " " not in text.strip() or (link.level is Key.PASSWORD and not is_sentence(text))
    return [(link.op_at, link.op_end)] if plain else []


def _is_tag(data: bytes, link: Link) -> bool:
    """Whether the name is an element's, of data and not of a page's looks."""
    head = data[max(0, link.name_at - 80) : link.name_at]
    if b"<" not in head[-64:] or head.rfind(b"<") < head.rfind(b">"):
        return False  # echo passphrase > file, between two elements
    return not is_styled(data, link.name_at, link.name_end) and not is_leading(data, link.name_at)


def _holds_one(text: str) -> bool:
    """`{vault AQAAABAAA x7…}`: something generated among the words of an element that is named after a secret."""
    return any(looks_generated(word) for word in _BETWEEN.split(text[:_LONGEST_ELEMENT])[:16])


_BETWEEN = re.compile(r"[\s{}\[\]()]+")
_LONGEST_ELEMENT = 2048


def returned(data: bytes, link: Link) -> list[tuple[int, int]]:
    """The span to hide in `func apiToken() string { return "…" }`."""
    values = measure(data, link.op_end, before=link.name_at, budget=link.budget)[:1] if link.level >= Key.HINT else []
    texts = [value.judged(data, link.budget).decode("utf-8", "replace") for value in values]
    return [(value.start, value.end) for value, text in zip(values, texts, strict=True) if looks_generated(text)]
