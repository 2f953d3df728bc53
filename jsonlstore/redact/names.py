"""Which names announce a secret: `GITHUB_TOKEN` does, `max_tokens` does not.

The words stand in `data/names.tsv`, what turns their meaning in `data/words.txt`.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from jsonlstore.core import expressions as re
from jsonlstore.redact import rules


class Key(IntEnum):
    """How much a name says about the value behind it."""

    NONE = 0  # nothing
    WEAK = 1  # a key of some kind: only a random-looking value is a secret
    HINT = 2  # `pass`, `tokens`, `credentials`: a value that is no plain word or number
    SECRET = 3  # a token, an API key: any value that is not a reference or a placeholder
    PASSWORD = 4  # what people choose themselves: even a plain word


def _expression(level: str) -> str:
    return "|".join(name.word for name in rules.names() if name.level == level)


PASSWORD_WORDS = _expression("password")
SECRET_WORDS = _expression("secret")
WEAK_WORDS = _expression("weak")
# what may follow a weak word and leave it one: key_1, saltValue, cert_prod
WEAK_END = r"(?:[_-]?(?:[0-9]{1,2}|value|prod|dev|test))?"
_ABOUT, _OTHER, _OWN = rules.words("about"), rules.words("other"), rules.words("own")
_CREDS = ("cred", "creds")
_PROTOCOLS = frozenset(("eap", "tls", "dhe", "ecdhe", "rsa", "ft"))
_SOURCE = re.compile(r"\.(?:c|h|cc|cpp|py|js|ts|go|rb|php|java|sh|rs|pl|md)\Z")
_ERRORS = frozenset(("er", "err", "error", "errno"))
_WRONG = frozenset(("invalid", "missing", "wrong", "unexpected", "failed", "unsupported", "incorrect"))
_PASSES, _PROGRAMS = rules.words("passes"), rules.words("programs")
_TEXTS = rules.words("texts")
_ACCOUNTS, _RUNS, _HINTS, _SAME = (
    rules.words("accounts"),
    rules.words("runs"),
    rules.words("hints"),
    rules.words("same"),
)
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\x00-\x7f]+")
_PASSWORD_NAME = re.compile(rf"(?i)(?:{PASSWORD_WORDS})")
_SECRET_NAME = re.compile(rf"(?i)(?:{SECRET_WORDS})")
_WEAK_NAME = re.compile(rf"(?i)(?:{WEAK_WORDS})\Z")


_WEAK_ENDS = frozenset(("value", "prod", "dev", "test"))
_WEAK_TAILS = ("key", "auth", "salt", "cert")  # dbsalt


def _last_word(name: str) -> tuple[Key, re.Match[str] | None]:
    """The last telling word of a name: what a name ends in says what it is."""
    for level, pattern, lower in _WORDS:
        # `re` takes five times as long where letters of both cases may stand
        places = [one.start() for one in (lower.finditer(name.lower()) if name.isascii() else pattern.finditer(name))]
        if places:
            return level, pattern.match(name, places[-1])
    return Key.NONE, None


_WORDS = (
    (Key.PASSWORD, _PASSWORD_NAME, re.compile(PASSWORD_WORDS)),
    (Key.SECRET, _SECRET_NAME, re.compile(SECRET_WORDS)),
)


def _weak_level(name: str) -> Key:
    parts = _PART.findall(name[-40:])
    while len(parts) > 1 and (parts[-1].isdigit() or parts[-1].lower() in _WEAK_ENDS):
        parts.pop()
    if not parts or (len(parts) > 1 and parts[-2].lower() in _OTHER):
        return Key.NONE
    if parts[-1].lower().startswith(("pub", "host")):
        return Key.NONE  # pubkey, hostkey
    telling = _WEAK_NAME.match(parts[-1]) or parts[-1].lower().endswith(_WEAK_TAILS)
    return Key.WEAK if telling else Key.NONE


_ASKED_FOR = ("update", "reset", "change", "invite", "invitation")  # what is done about a secret, or a secret of that
_PROOFS = ("token", "secret", "code")  # password_reset_token
_LONGEST_NAME = 160  # what a name ends in says what it is


@lru_cache(maxsize=4096)
def classify(name: str) -> Key:  # noqa: C901, PLR0911, PLR0912 - one exit per answer
    """What a name says about the value behind it: `GITHUB_TOKEN` much, `max_tokens` nothing."""
    name = name[-_LONGEST_NAME:]
    if _SOURCE.search(name):
        return Key.NONE  # password.c, which is a file
    if name[:8] == "exports.":
        name = name[8:]
    level, found = _last_word(name)
    if not found:
        return _weak_level(name)
    before = [part.lower() for part in _PART.findall(name[: found.start()][-60:])]
    end = found.end()
    if name[end - 1 : end] == "S" and name[end - 2 : end - 1].islower():
        end -= 1  # credentialScope: the next word begins there
    rest = name[end:]
    after = [part.lower() for part in _PART.findall(rest[:60])]
    if any(part in _ABOUT for part in after):
        return Key.HINT if after[-1] in _PROOFS and after[-2:-1] and after[-2] in _ASKED_FOR else Key.NONE
    if before and name.isupper() and before[0] in _ERRORS:
        return Key.NONE  # ER_INCORRECT_PASSWORD = 3891
    if before and (before[0] in _WRONG or (level is Key.SECRET and "public" in before)):
        return Key.NONE  # publicKeyToken, InvalidClientSecret
    if before and before[-1] in _ASKED_FOR:
        return Key.HINT  # update_password=on_create, password_reset_token=
    if before and before[-1] in _OTHER and not (level is Key.PASSWORD and before[-1] in _OWN):
        return Key.NONE
    if any(part in _TEXTS for part in before):
        return Key.HINT  # formFieldLabel__backupCode
    word = name[found.start() : end].lower()
    if word == "password" and before[-1:] == ["1"] and not name[: found.start() - 1][-1:].isalpha():
        return Key.NONE  # 1password, a program
    if before and word == "passwd" and before[-1] in _PROGRAMS:
        return Key.HINT  # ocpasswd: fix a leak
    if len(word) < 5 and found.group() not in (word, word.upper(), word.title()):
        return Key.NONE  # a piece of base64
    if word in _CREDS and found.group().isupper() and rest[:1].isupper():
        return Key.NONE  # CREDITS
    joined = name[: found.start()][-1:].isalpha()
    if word == "pw" and (rest[:1].isalpha() and rest[:1].isupper() and found.group().isupper()):
        return Key.NONE  # TWO_PWR_16
    if word == "pwd" and before and before[-1] == "eap":
        return Key.NONE  # EAP-pwd, a protocol
    if word in ("mdp", "psw") and (joined or rest[:1].isalpha()):
        return Key.NONE  # cmdp, LPSW
    if word == "psk" and name[: found.start()][-1:] == "-" and len(before) == 0:
        return Key.NONE  # !aNULL:-PSK:RC4-SHA
    if word == "psk" and before and (before[-1] in _PROTOCOLS or (joined and before[-1] not in _ACCOUNTS)):
        return Key.NONE  # EAP-PSK, GPSK_1
    if rest[:1].islower() and rest[:1].isascii() and found.group()[-1:].islower():
        return Key.NONE  # "secretary", "tokenize", "passworded": the word goes on
    if rest[:1].isupper() and found.group().isupper() and after and after[0] not in _SAME:
        return Key.HINT  # KEYBYTES
    if word in {"pass", "pw"}:
        return _pass_level(name[: found.start()], found.group(), after)
    if word in _HINTS:
        return Key.HINT
    if after and not all(part.isdigit() or part in _SAME for part in after):
        return Key.SECRET if level is Key.PASSWORD and rest[:1] in "_-." else Key.HINT
    return level


def _pass_level(before: str, word: str, after: list[str]) -> Key:  # noqa: PLR0911 - one exit per answer
    """`DB_PASS` and `dbpass` are passwords, `pass` may be one, `compass` and `first_pass` are not."""
    if word.lower() == "pw" and any(c.isdigit() for c in before):
        return Key.NONE  # a piece of a table
    if before[-2:].lower() == "by":
        return Key.NONE  # gcbypass
    if word == "PASS" and before[-1:] == ".":
        return Key.HINT  # Status.PASS, of an enumeration
    parts = _PART.findall(before)
    account = bool(parts) and parts[-1].lower() in _ACCOUNTS
    if any(part not in _SAME and not part.isdigit() for part in after):
        return Key.SECRET if account else Key.NONE
    if before[-1:].isalpha() and (word[:1].islower() or before[-1:].isupper()):
        # `MYSQLPASS` and `mailpass` are passwords, `compass` is not
        if not account and word == "PW" and len(parts[-1]) < 4:
            return Key.HINT  # FOPW; BINDPW and bindpw are passwords
        return Key.PASSWORD if account or f"{parts[-1]}{word}".lower() not in _PASSES else Key.NONE
    if not parts:
        return Key.HINT
    return Key.NONE if word.lower() == "pass" and parts[-1].lower() in _RUNS else Key.PASSWORD
