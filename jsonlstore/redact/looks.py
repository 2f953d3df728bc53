"""Which values may be a secret: no placeholder, type, reference or piece of code, no path, version, hash or plain word."""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

import math
from functools import lru_cache

from jsonlstore.core import expressions as re
from jsonlstore.redact import rules
from jsonlstore.redact.stand_ins import STANDS_IN, is_filled
from jsonlstore.redact.wording import OWN_NAME, is_foreign, is_mostly_foreign, without_terms

_WORDS_NOT_SECRET = rules.words("not-secret")
_CODE = (
    r"(?:new |await |async |return |typeof |\(|!|&|\*|[a-z]:)*[A-Za-z_$][\w$]*(?:(?:\??\.|->|::)[A-Za-z_$][\w$]*)*"
    r"(?:\([^\"']*\)?|\[[\w\"'\\$.:-]*\]?|\(\\*[\"'].*)+.*\Z"
)
_DOTTED = r"[A-Za-z_$][A-Za-z_$0-9]{0,80}(?:(?:\??\.|->|::)[A-Za-z_$][A-Za-z_$0-9]{0,80})+;?\Z"
_TYPE = r"typing\.[A-Z]|(?:Optional|Option|List|Maybe|Secret|Union|Promise|Array|Vec|Box|Arc|Rc|Annotated|Literal|Mapped|Field|Final)?[\[<]|&?(?:'\w+ )?str\b|(?:Secret)?String\b|SecretStr\b"


_SCHEME = re.compile(r"(?i)(?:bearer|basic|token|oauth|apikey|aws4-hmac-sha256)(?:\s+|%20)")
_FORMAT = re.compile(r"%(?:\([a-z_]+\))?[sdr]|\{\w*\}")
_CONSTANT = r"[A-Z]+(?:_[A-Z]+)+\Z|[a-z]*(?:[A-Z][a-z]+)*(?:[Pp]assword|[Tt]oken|[Ss]ecret|[Cc]redential)s?(?:[A-Z][a-z]+)+[0-9]?\Z"


# opts.token!, response?.accessToken: a member that is named for a secret
_MEMBER = re.compile(
    r"(?:[A-Za-z_$][\w$]{0,40}+[!?]?\.){1,5}(?![0-9])[\w$]{0,40}(?i:key|token|secret|password|passwd|pwd|credential|auth)s?!?[,;)}]*\Z"
)


def _either(*patterns: str) -> re.Pattern[str]:
    """One expression for all: a call costs more than a match, and compiling the parts as much as the whole."""
    return re.kept("|".join(f"(?:{pattern})" for pattern in patterns))


_PLAIN_CODE = _either(OWN_NAME.pattern, _TYPE, _CONSTANT)
_SHAPED_CODE = _either(_CODE, _DOTTED)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_CAMEL = re.compile(
    r"(?:[A-Z][A-Za-z]*[A-Z][a-z]+|[A-Z][A-Za-z]*+[0-9]{1,5}+(?:[A-Z][a-z]++)++)(?:[0-9]?|[A-Z]{2,4})\Z"
)
_VERSION = re.compile(
    r"v[0-9]{1,3}-v[0-9]{1,3}\Z|[0-9]{1,4}-(?:byte|bit|char|character|digit|letter|word)s?\Z|[0-9]{0,6}\.[0-9]{1,20}f?[,;]?\Z|[0-9]{1,10}[iuf](?:8|16|32|64|128|size)\Z|[~^<>= v]*[0-9]{1,4}(?:\.[0-9x*]{1,5}){1,3}(?:[-+.][A-Za-z0-9.-]*)?\Z|#[0-9A-Fa-f]{3}(?:[0-9A-Fa-f]{3})?\Z|-?0x[0-9A-Fa-f]{1,16}\Z|[0-9]\*[A-Za-z]|[\w.\[\]-]{2,30}[<>=~!]=v?[0-9]"
)
_CAMEL_NAME = re.compile(r"[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)+[0-9]{0,4}\Z")
_ONLY_HEX = re.compile(r"(?=.*[0-9])(?=.*[a-f])[0-9a-f]+\Z")


def is_placeholder(value: str, *, bare: bool = False) -> bool:
    """Stands for a secret, or for nothing, but is none; `bare` values may also be code."""
    value = value.strip().rstrip("'")
    if len(value) > _LONGEST:
        return False
    if " " in value or "%20" in value[:12]:
        value = _SCHEME.sub("", value, count=1)
    if not value or "REDACTED" in value[:12] or value.lower().strip("<>[](){}.,;:!*/?\\") in _WORDS_NOT_SECRET:
        return True
    if value.endswith("==") and value.rstrip("=").lower() in _WORDS_NOT_SECRET:
        return True  # in place of base64
    if STANDS_IN.match(value) or _is_template(value) or ("." in value and _MEMBER.match(value)):
        return True
    if (len(value) < 6 or (len(value) < 40 and ("%" in value or "{" in value))) and not _ALNUM.search(
        _FORMAT.sub("", value)
    ):
        return True
    return bare and _is_code(value.rstrip(";,)"))


def _is_template(value: str) -> bool:
    """`MATRIX_${id}_PASSWORD`, `{base}?{query}`: what is filled in later, and nothing telling around it."""
    if "$" in value or "%" in value:
        return is_filled(value) or _is_template_of_marks(value)
    return _is_template_of_marks(value)


def _is_template_of_marks(value: str) -> bool:
    if ("{" not in value and "<" not in value and "%(" not in value) or (rest := _FILLED.sub(" ", value)) == value:
        return False
    pieces = (piece for part in rest.split() for piece in _PIECE.split(part)[:16])
    return not any(looks_secret(piece, chosen=True) and not _NUMBERED_WORDS.match(piece) for piece in pieces)


_NUMBERED_WORDS = re.compile(r"[a-z]{3,12}[0-9]?(?:[_-][a-z]{3,12}[0-9]?)+\Z")  # goog4_request
_PIECE = re.compile(r"[/.:?&=]")
_FILLED = re.compile(r"\{\}|%\(\w{1,40}\)s|[$#]?\{\{?\$?[A-Za-z_][\w.$()\[\]'\"!:&,#%+*/| -]*\}?\}|<[A-Za-z_ -]{1,40}>")


def is_code(value: str) -> bool:
    """An unquoted run of code: `!!e.auth.token??t`, `n.privateKey}}return{id:n.id`."""
    if not _CODE_SIGN.search(value):
        return False
    words = _WORD.findall(value)[:WORDS_LIMIT]
    return bool(words) and all(len(word) < 4 or is_wordy(word) for word in words)


WORDS_LIMIT = 8
_CODE_SIGN = re.compile(
    r"\?\?|&&|\|\||=>|\A!!|\}\}[a-z]|\}\)|\)\)|\);|\};|->|\?\.|\)\.|\A[A-Za-z]+\$\{[A-Za-z]+\Z|\}[a-z]{4,}|[\w\])]\.[A-Za-z_$]\w*[?(\[}]"
)


def is_reference(value: str) -> bool:
    """Stands for a value that is elsewhere, or was masked."""
    return not value or "[REDACTED" in value[:12] or STANDS_IN.match(value) is not None


def _is_code(value: str) -> bool:
    if value == "" or value.startswith("("):
        return True
    if _PLAIN_CODE.match(value):
        return True
    if _TWO_WORDS.match(value):
        return False  # river.stone42, as people choose
    # `config.password` and `get("x")` are made of words; `ab8Q.zz19pp` is not, whatever stands between its halves
    return _SHAPED_CODE.match(value) is not None and all(map(is_wordy, _WORD.findall(value[:200])[:4]))


_TWO_WORDS = re.compile(
    r"[a-z]{4,12}\.(?!sha|md|base|utf|u?int|float|bfloat|complex|aes|rsa|hmac|ed|curve)[a-z]{4,12}[0-9]{2,4}[!#$%]?\Z"
)


def is_wordy(part: str) -> bool:
    """Whether an identifier is made of words, perhaps with a number behind them."""
    if len(part) > _LONGEST_NAME:
        return False
    if _DIGIT.search(part):
        part = without_terms(part)
    bare = part.rstrip("0123456789").strip("_$")
    letters = _DIGIT.sub("", bare)
    if _TECHNICAL.match(part):
        return True
    if len(bare) - len(letters) <= 5 and len(letters) >= 12 and _CAMEL_NAME.match(letters):
        return randomness(letters) < _LEAST_RANDOM  # rememberX509Credential
    if any(c.isdigit() for c in bare) or len(part) - len(bare) > 3:
        return part.lower() in ("base64", "b64decode", "i18n", "utf8", "os2", "k8s") or "64" in part
    return len(bare) < 8 or all(
        len(each) < 8 or randomness(each) < 5 or _is_humped(each) for each in _PIECES.split(bare)
    )


def _is_humped(letters: str) -> bool:
    """`EnvAPIKey`: words and abbreviations, where chance changes the case at every other letter."""
    humps = _HUMPS.findall(letters)
    words = 1 < len(humps) <= len(letters) // _LEAST_HUMP and letters.isalpha()
    return words and all(len(hump) < 4 or randomness(hump.lower()) < _LEAST_RANDOM for hump in humps)


_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LEAST_HUMP = 3  # letters of a word, on average


_LONGEST_NAME = 120  # of an identifier or a type; a longer word would take long to judge, and nobody writes it
_PIECES = re.compile(r"[_$]+")


def is_version(value: str) -> bool:
    """`^7.0.4`, `>=1.2`, and `#f8f8f2`: what lock files and style sheets have behind any name."""
    return len(value) < 40 and _VERSION.match(value) is not None


def is_type(value: str) -> bool:
    """`PKCS7PrivateKeyTypes`: words run together, each with a capital, and none of them by chance."""
    bare = value.rstrip(",;)|&?*")
    if len(bare) > _LONGEST_NAME:
        return False
    plain = _DIGIT.sub("", bare)
    if len(bare) - len(plain) > _FEW_DIGITS:
        bare = without_terms(bare)  # AeadAes256CbcKey
        plain = _DIGIT.sub("", bare)
    few = len(bare) - len(plain) <= 2 and len(plain) >= 12  # RESTPostOAuth2AccessTokenResult
    versioned = _VERSIONED.match(bare)  # TokenV3
    return bool(_CAMEL.match(bare) or versioned or (few and _CAMEL.match(plain))) and randomness(plain) < 4.6


_FEW_DIGITS = 2
_VERSIONED = re.compile(r"(?:[A-Z][a-z]+)+V[0-9]\Z|(?:[A-Z][a-z]{2,}){2,}[A-Z][0-9]{1,3}\Z|[A-Z][a-z]{2,}[A-Z]{2,5}\Z")


def is_key_hex(value: str) -> bool:
    """A long hexadecimal number, as keys are where a name says so."""
    return len(value) in (24, 32, 40, 48, 56, 64, 96, 128) and _ONLY_HEX.match(value) is not None


_LONGEST = 400  # characters of a placeholder
_NOT_RUN = re.compile(r"[\s()\[\]{}<>,;\"'\\|]")  # of code, a list or an expression
_ALNUM = re.compile(r"[^\W_]")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_FOUR_LETTERS = re.compile(r"(?:[^\W\d_][\W\d_]*){4}")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_JOINED = re.compile(r"[-/.:]")
_SIGN = re.compile(r"[!@#$%^&*+~]")
_HEXISH = r"(?:0x)?[0-9a-f]{6,64}\Z|[0-9A-F]{40}\Z"
_UUID = r"(?i:(?:[a-z:_-]*[:_-])?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\Z"
_DIMENSION = r"(?i:0x[0-9a-f]{1,16}u?l{0,2}\Z|[~<>=+-]*v?[0-9][0-9.,_/:x%-]*(?:[a-z]{1,3}|ms|-?(?:tokens?|bytes?|chars?|characters?|digits?|bits?)|st|nd|rd|th|min|sec|hours?|days?|times)?(?:/[a-z]+)?)\Z"
_TECHNICAL = re.compile(
    r"(?i)(?:[0-9]{4}_[a-z_]+|wpa[23]?(?:-[a-z]+)*|sha-?[0-9]+|sha3-?\d*|md5|pkcs[#-]?[0-9]+(?:-[a-z]+)?|asn\.?1|x\.?509|secp[0-9]{3}[rk]1|prime256v1|(?:ed|x)(?:25519|448)|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]{5,15}(?:Z|[+-][0-9:]{4,6})?)?|utf-?8|utf-?16|base(?:16|32|58|64)(?:url)?(?:-[a-z]+)?|oauth-?[12]?(?:\.0)?|[rhep]s(?:256|384|512)|a(?:128|192|256)(?:cbc-hs\d{3}|gcm(?:kw)?|kw|ctr)|hmac[-_]\d{3}|ed25519|x25519|"
    r"rsa-?\d*|aes-?\d*(?:-\w+)*|argon2(?:id|i|d)?|pbkdf2|bcrypt|scrypt|http/?[123](?:\.\d)?|html[345]|rot13|ipv[46]|"
    r"(?:gpt|claude|gemini|llama|mistral|qwen|o1|o3|o4|deepseek|grok|phi|gemma|sonnet|opus|haiku)[-\w.:/]*|rfc-?\d+|cve-[\d-]+|"
    r"iso-?\d+|web3|k8s|(?:big)?u?int\d\w*|float\d\w*|s3|ec2|i18n|l10n|a11y|x509|x86_64|arm64|amd64|win32|t5|h264|py3\d*|es20\d\d|[\w-]+\.(?:[a-z]{1,5}|md5|mp[34])|[\w-]+(?:\.[\w-]+){1,4}\.(?:key|pem|crt|cer|csr|p12|pfx|jks|json|ya?ml|toml|txt|ini|conf|cfg|env|[a-z]{2}))\Z"
)
_NUMBERED = re.compile(r"(?i)[a-z]{1,8}[-#]?\d{1,6}\Z|[a-z]+-?v?\d\Z")
_PATHISH = r"(?:[a-z]+://|[a-z]+:[a-z]+:|~?/|\.{1,2}/|[A-Za-z]:\\|[\w@.-]+/[\w@.-]+/|@[\w-]+/|#|[\w.-]+@[\w-]+\.)"
_IDENTIFIER = re.compile(
    r"[a-z]+(?:_[a-z0-9]+)+\Z|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z|[a-z]+(?:-[a-z]+)*-?\d?\Z|[a-z]+(?:[A-Z][a-z]+)+\d?\Z|(?:[A-Z][a-z]+)+\d?\Z"
)
_KIND_AND_NUMBER = re.compile(r"(?:[a-z]+_){1,2}(?=(?:[a-z]*[0-9]){4})[a-z0-9]{16,}\Z")  # live_3f9c…
_NO_SECRET = _either(_DIMENSION, _PATHISH, r"[a-z]{2,20}:v[0-9]{1,2}\Z")
_NOT_RANDOM = _either(_UUID, _HEXISH, _PATHISH, _DIMENSION)


def looks_secret(value: str, *, chosen: bool = False) -> bool:
    """In running text, after a telling word: no word, number, name, path or version; `chosen` by a person: `hunter2`."""
    value = value.rstrip(".,;:!?")
    value = value.removesuffix("**") or value  # the end of bold print
    if len(value) < 5 or not value.isprintable() or " " in value or is_foreign(value) or is_placeholder(value):
        return False
    if _NO_SECRET.match(value) or (
        _IDENTIFIER.match(value) and not (chosen and value[-1:].isdigit()) and not _KIND_AND_NUMBER.match(value)
    ):
        return False
    letters = _LETTER.search(value) is not None
    if letters and _DIGIT.search(value):
        return not _TECHNICAL.match(value) and (chosen or not _NUMBERED.match(value))
    if letters and _SIGN.search(value, 1):
        return "=" not in value.rstrip("=") and not value.startswith(("*", "`"))
    return (
        len(value) >= 20
        and letters
        and entropy(value) > 3.8
        and not _JOINED.search(value)
        and randomness(value) >= _LEAST_RANDOM
    )


def tells(value: str) -> bool:
    """Behind a secret's name, where something less than an assignment joins them: no word, path, name or small number."""
    value = value[:_MOST_TOLD]
    if value.isdigit():
        return len(value) >= _LEAST_NUMBER
    if is_worded(value) or is_mostly_foreign(value):
        return False
    return looks_secret(value, chosen=True) or _is_base64(value)


def _is_base64(value: str) -> bool:
    """`m/bLPO2bwiOx/4gyBKoG==`: slashes between letters of both cases and digits, as no path has them."""
    if len(value) < 16 or not _BASE64.match(value):
        return False
    return bool(_DIGIT.search(value)) and value != value.lower() != value.upper() and randomness(value) >= _LEAST_RANDOM


_LEAST_NUMBER = 6  # digits
_MOST_TOLD = 1024
_LEAST_RANDOM = 4.8
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,512}={0,2}\Z")


# Of 250,000 long names in real sources 130 reach this, nearly all pieces of base64; of random runs of 16 letters and
# digits 98 in 100 are told with it.
_CHANCE, _LEAST_LETTERS, _LEAST_ENTROPY = 5.3, 11, 3.2


def _is_chance(letters: str) -> bool:
    """Whether letters of both cases follow each other as they do in no word of any language."""
    mixed = not letters.islower() and not letters.isupper()
    long = len(letters) >= _LEAST_LETTERS and letters.isalpha() and letters.isascii()
    return mixed and long and entropy(letters) >= _LEAST_ENTROPY and randomness(letters) >= _CHANCE


_TERMS_DIGITS = 16  # more digits than terms such as `sha512` explain


def looks_random(value: str) -> bool:  # noqa: PLR0911 - one exit per answer
    """Long and mixed enough to be generated, and no hash, id, path or sentence."""
    if not 16 <= len(value) <= 4096 or _NOT_RUN.search(value) or "://" in value:
        return False
    value = value[:256]
    if _NOT_RANDOM.match(value):
        return False
    if value.lower().startswith(
        (
            "aaaab3nzac1",
            "aaaac3nzac1",
            "aaaae2vjzhnh",
            "sha1-",
            "sha256-",
            "sha384-",
            "sha512-",
            "sha256:",
            "sha512:",
            "md5-",
            "data:",
            "pin-sha256:",
            "h1:",
        )
    ):
        return False
    letters = _DIGIT.sub("", value)
    digits = len(value) - len(letters)
    if digits == 0 or (digits <= 4 and _CAMEL_NAME.match(letters)):
        return _is_chance(letters)
    if _DATED.match(value) and is_type(value.rstrip("0123456789")):
        return False  # CloudTrailWrite20150319
    if is_worded(value):
        return False
    if digits <= 4 and _ACRONYMS.match(letters) and randomness(letters) < _LEAST_RANDOM:
        return False  # heightOfGeoidAboveWGS84Units
    if _STAMPED.match(value):
        return False
    if digits <= _TERMS_DIGITS:
        digits = len(_DIGIT.findall(without_terms(value)))
    mixed = digits >= 2 or (digits == 1 and len(value) < 3 * len(_HUMP.findall(value))) or _is_chance(letters)
    return (
        mixed
        and _FOUR_LETTERS.search(value) is not None
        and entropy(value) >= 3.2
        and not _IDENTIFIER.match(value.strip("_"))
    )


_DATED = re.compile(r"[A-Za-z]+[0-9]{8}\Z")
_ACRONYMS = re.compile(r"[A-Za-z][a-z]+(?:[A-Z]{1,4}[a-z]+)+\Z")
_STAMPED = re.compile(r"[A-Za-z]*[0-9]?_?0\.[0-9]{8,}\Z|20[0-9]{6}T[0-9]{4,6}")  # an id that begins with the time


def is_worded(value: str) -> bool:
    """`minimax-portal/music-2.6`, `command-a-plus-05-2026`: words and small numbers, whatever joins them."""
    parts = _BETWEEN_WORDS.split(value)
    if len(parts) < 3 or max(map(len, parts)) > _LONGEST_WORD:
        return False
    if _DIGIT.search(value):
        parts = _BETWEEN_WORDS.split(without_terms(value))
    if len(parts) < 3:
        return False
    odd = sum(not (_SMALL.match(part) or _is_numbered_word(part)) for part in parts if part)
    return odd == 0 or (odd == 1 and len(parts) > 4 and value.islower() and max(map(len, parts)) < 10)


def _is_numbered_word(part: str) -> bool:
    letters = part.rstrip("0123456789")
    plain = len(part) < 32 and len(part) - len(letters) < 3 and letters.isalpha()
    return plain and (randomness(letters) < _LEAST_RANDOM or _is_humped(letters))


_LONGEST_WORD = 48
_SMALL = re.compile(
    r"v[0-9]{1,2}(?:alpha|beta|rc)[0-9]{1,2}\Z|[A-Z]?[a-z]{1,5}[0-9]{0,2}\Z|k8s\Z|i18n\Z|[0-9]{1,4}[a-z]{0,2}\Z|[0-9]{5,8}\Z|[A-Za-z]{1,3}\Z|[ug]uid\Z|[a-z]{1,6}[0-9]{1,5}\Z"
)
_BETWEEN_WORDS = re.compile(r"[-_./:+@]")


_MOST_STEPS = 256


def entropy(value: str) -> float:
    """Bits per character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in (value.count(c) for c in set(value)))


@lru_cache(maxsize=1024)  # one judgement asks several times, and a hostile run repeats its words
def randomness(value: str) -> float:
    """How much its characters surprise, in bits a step: words and identifiers 3 to 4.5, what chance made 5 to 7."""
    steps = len(value[:_MOST_STEPS]) - 1
    if steps < 1:
        return 0.0
    if len(_SURPRISES) > _MOST_PAIRS:
        _SURPRISES.clear()
    return sum([_SURPRISES[value[at : at + 2]] for at in range(steps)], 0.0) / steps


class _Surprises(dict[str, float]):
    """What two letters cost that follow each other, worked out when they are first met."""

    def __missing__(self, pair: str) -> float:
        a, b = pair[0], pair[1]
        known = rules.bigrams().get((a.lower(), b.lower()))
        if known is None:
            cost = 3.3 if a.isdigit() and b.isdigit() else 6.0  # a figure beside a letter
        else:
            cost = 5.5 if a.islower() and b.isupper() else float(known)  # where a word in camelCase may begin
        self[pair] = cost
        return cost


_SURPRISES = _Surprises()
_MOST_PAIRS = 4096  # letters and figures make 3,844
