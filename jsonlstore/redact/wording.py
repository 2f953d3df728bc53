"""Words for people: sentences, labels and captions, in whatever language a form or a language file has them."""

# An expression is easier to read whole than in pieces.

from __future__ import annotations

from functools import cache, lru_cache

from jsonlstore.core import expressions as re
from jsonlstore.redact import rules

_LONGEST = 400  # characters of a label or a sentence
_PROSE = rules.words("talk")
_DIGIT = re.compile(r"\d")
# the names that a secret is called by where a word stands for it
OWN_NAME = re.compile(
    r"(?i:(?:(?:user|new|old|db|my|your|the|current|self|raw|plain|input|form|given|hashed|access|auth|api|refresh|bearer|client|proxy|www|x|"
    r"confirm|repeat|default|admin|root|test|github|session|id|csrf|jwt|app|bot|encoded|decoded|req|request)[-_]?)*"
    r"(?:password|passwd|pswd|passw|pwd|pass|passphrase|secret|token|api[-_]?key|key|credentials?|authorization|auth|cookie|jwt)s?[-_]?[0-9]{0,2})\Z"
)


def is_sentence(value: str) -> bool:
    """A label or a sentence, as language files have them behind any name: `Enter your API token`."""
    words = value.split()
    if len(words) < 2 or len(value) > _LONGEST:
        return False
    if not value.isascii() and (not _DIGIT.search(value) or _uncased().search(value)):
        return True
    if (
        len(words) > 2
        and value[:1].isupper()
        and (_HOLE.search(value) or sum(_PLAIN.match(word) is not None for word in words) > 3)
    ):
        return True
    plain = [word.strip(".,;:!?()'\"").lower() for word in words]
    return bool(_PUNCTUATED.search(value)) or any(word in _PROSE or OWN_NAME.match(word) for word in plain)


_HOLE = re.compile(r"%[0-9s]|\{\{?\w*\}")
_PLAIN = re.compile(r"[^\W\d_A-Z]{2,}[.,:;]?\Z")


def is_label(value: str) -> bool:
    """`Mot de passe`, `Slapta\\u017eodis`: the word for a password or a key, in whatever language a form has it."""
    value = unescaped(value[:_LONGEST])
    foreign = sum(not c.isascii() for c in value[:80]) * 2 > min(len(value), 80)
    if not value.isascii() and (foreign or _LETTERS.match(value)):
        return True  # letters no password is typed with, and neither digit nor sign
    if " " in value and not _DIGIT.search(value) and _is_caption(value):
        return True
    parts = value.lower().split("-")
    if len(parts) > 1 and all(map(str.isalpha, parts)) and any(part in _LABELS and len(part) > 3 for part in parts):
        return True
    return is_secrets_word(value)


def is_secrets_word(value: str) -> bool:
    """The word for a password or a key, and nothing else."""
    return all(word in _LABELS for word in value.lower().rstrip(" :?*").split())


def unescaped(value: str) -> str:
    """The value with its `\\u0142` as the letters they stand for."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value) if "\\" in value else value


def _is_caption(value: str) -> bool:
    """Words, the first with a capital and the others without, or one of them a word for a secret."""
    words = [word.strip(".,:;!?()\"'-–").lower() for word in value.split()]
    if not all(_WORDS.match(word) for word in words if word):
        return False
    capital = value[:1].isupper() and len(words) > 2 and value.split()[1][:1].islower()
    return capital or any(part in _LABELS and len(part) > 3 for word in words for part in word.split("-"))


_WORDS = re.compile(r"[^\W\d_]+(?:['’/-][^\W\d_]+)*\Z")
_LABELS = rules.words("labels")
_ESCAPED = re.compile(r"\\{1,4}u([0-9a-fA-F]{4})")
_LETTERS = re.compile(r"[^\W\d_]+(?:[ '’-][^\W\d_]+)*[:?*]?\Z")


def is_foreign(value: str) -> bool:
    """Words of another script and nothing else: a label, in languages that have no blanks between words."""
    return not value.isascii() and _ASCII_ALNUM.search(value) is None


def is_mostly_foreign(value: str) -> bool:
    """Words of another script with a figure or a name in between: パスワードは8文字以上."""
    if value.isascii() or (_DIGIT.search(value) and not _uncased().search(value)):
        return False
    if not _DIGIT.search(value) and _SCRIPTS.search(value):
        return True  # pool_passwdファイルに設定する
    return sum(not c.isascii() for c in value[:80]) * 2 > min(len(value), 80)


@cache  # ranges this large take milliseconds to compile, and most sessions hold none of them
def _uncased() -> re.Pattern[str]:
    return re.kept("[\u0e00-\ud7ff\uf900-\ufaff]")  # scripts that nobody makes up a password in


_SCRIPTS = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]{3}")
_ASCII_ALNUM = re.compile(r"[A-Za-z0-9]")
_PUNCTUATED = re.compile(r"[a-z]{2}[.:;!?,…)](?:\s|\Z)|[a-z]\.\.\.")


# what has a figure in it and is a word all the same: Ed25519PrivateKey, passwordSha1, img2bpe
NUMBERED_TERM = re.compile(
    r"(?i:sha[-_]?(?:512|384|256|224|[123])|md[245]|(?:ed|x|curve)(?:25519|448)|x?salsa20|x?chacha20|poly1305|blake[23][bs]?|keccak256|secp\d{3}[rk]1|mlkem\d{3,4}|ieee\d{3,5}x?|base(?:64|32|58|16)|b64|"
    r"utf_?(?:8|16|32)|oauth[12]|ipv[46]|http[23]|u2f|2fa|pkcs[_#]?\d{1,2}|x509|asn1|aes_?(?:128|192|256)|hmac_?\d{3}|rsa_?\d{4}|pb2|win32|k8s|i18n|ec2|p(?:256|384|521)"
    r"|s3|3des|pbkdf[12]|(?:http|dns|tls-alpn)-0[12]|v[0-9]{1,2}(?:_[0-9])?(?![0-9a-z]))|(?<=[a-z])[24](?=[a-z]{2})|(?<=_)[0-9]{1,2}(?=_)|(?<=[a-z]{2})[0-9]{1,2}(?=_[a-z]{2}|[A-Z][a-z]{2})|(?<=[a-z])V[0-9]{1,2}(?:(?:alpha|beta)[0-9])?(?=[A-Z]|\Z)|(?<![a-z])[a-z]2[a-z](?![a-z])"
)


@lru_cache(maxsize=1024)  # one judgement asks several times, and the expression has many ways
def without_terms(value: str) -> str:
    """A value without terms that hold a number, such as `sha256` and `utf8`."""
    return NUMBERED_TERM.sub("", value)
