"""Which names announce a secret, and which values cannot be one."""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501, S105

from __future__ import annotations

import math
import re
from enum import IntEnum
from functools import lru_cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Key(IntEnum):
    """How much a name says about the value behind it."""

    NONE = 0  # nothing
    WEAK = 1  # a key of some kind: only a random-looking value is a secret
    HINT = 2  # `pass`, `tokens`, `credentials`: a value that is no plain word or number
    SECRET = 3  # a token, an API key: any value that is not a reference or a placeholder
    PASSWORD = 4  # what people choose themselves: even a plain word


# Byte-wise expressions for RE2: a quantifier must not follow a letter beyond ASCII.
PASSWORD_WORDS = (
    r"pas{1,3}(?:wrods?|owrds?|wods?|ords?|wr[dt]s?|words|worts?|word)|"  # also as people mistype it
    r"passwds?|passw|pass[ -]words?|passphrases?|passcodes?|pwd|pswd|psswd|psk|"
    r"(?:wi-?fi|wlan|wpa[23]?)[ _-]?(?:key|psk|code)|parool|kennw(?:oe|o|ö)rt(?:er)?|losungswort|"
    r"mots?[ _-]?de[ _-]?passe|mdp|contraseñas?|contrasenas?|senhas?|wachtwoord(?:en)?|hasło|haslo|lösenord|losenord|"
    r"adgangskode|salasana|heslo|jelszó|jelszo|şifre|sifre|parola|lozinka|κωδικός|парол(?:ь|и|я)|Парол(?:ь|и|я)|ПАРОЛЬ|гасло|LÖSENORD|Şifre|ŞİFRE|"
    r"密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|mật khẩu|kata[ _-]sandi|รหัสผ่าน|كلمة المرور|كلمة السر|סיסמה|סיסמא|पासवर्ड|"
    r"mnemonic|(?:seed|recovery|secret|wallet|backup)[ _-]?(?:phrase|words|seed|code)s?"
)
SECRET_WORDS = (
    r"secrets?|tokens?|api[ _.-]?keys?|apikeys?|credentials?|creds?|"
    r"(?:access|secret|private|account|auth|encryption|encrypt|decryption|signing|signature|master|shared|shared[_-]?access|storage|"
    r"service|deploy|licen[sc]e|client|app|application|admin|root|consumer|aes|hmac|rsa|jwt|ssh|gpg|webhook|bot|"
    r"subscription|integration|ingest|write|user|project|org|team|server|security|vault|crypto|cipher|wallet)"
    r"[ _.-]?keys?|"
    r"pass|pw|authorization|authorisation|connection[ _-]?string|conn[ _-]?str|geheimnis|geheim|"
    r"токен|Токен|секрет|密钥|密鑰|令牌|秘钥|トークン|秘密鍵|シークレット|토큰|비밀키|clave|chave"
)
WEAK_WORDS = (
    r"key|auth|pass|cookie|session|sessionid|sess|sid|phpsessid|jsessionid|pat|dsn|otp|totp|mfa|jwt|bearer|sig|signature|salt|seed|"
    r"private|cred|login|webhook|csrf|xsrf|nonce|pw|access"
)

# After the word: these make it a name for something about the secret.
_ABOUT = _words("""hash hashed hasher file files filename path dir url uri endpoint type types name names id ids count counts budget
    limit limits length len size policy policies reset field fields input min max minlength maxlength expiry expires expire
    expiration expired ttl exists required enabled disabled prompt label labels manager provider providers ref refs arn
    version strength usage used usages cost costs price rate rates ratio estimate window per total kind issuer audience
    format pattern patterns regex rule rules validator validation error errors message hint help source sources store
    storage lifetime age rotation created updated at date time env var variable stdin command cmd class model schema
    index idx position pos offset placeholder title description docs doc link page form screen column table str2
    service namespace method mode scope scopes status state check checks checker detector scanner redactor words word
    ary ariat s_total izer ize ized izing ization izers ise iser parser stream streams based less free protected
    fd keyring mgr formatter generator hashing encoder decoder dialog view component props handler controller
    """)
# Before the word: these make it a name for something else.
_OTHER = _words("""max min total num number no has have is isset with without forgot forgotten reset change changed require requires
    required per pad eos bos unk sep cls mask next prev previous page continuation sync cancel cancellation first last
    idempotency dedupe special stop prompt completion input output cached reasoning thinking context budget public primary foreign sort
    partition cache hot short arrow hash composite unique natural candidate validate verify check hide show toggle skip
    ask enter confirm non lex parse peek current_lex syntax missing invalid wrong bad empty expected unexpected""")
_PLAIN_PREFIX_OK = frozenset({"current", "input", "public"})
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\x00-\x7f]+")
_PASSWORD_NAME = re.compile(rf"(?i)(?:{PASSWORD_WORDS})")
_SECRET_NAME = re.compile(rf"(?i)(?:{SECRET_WORDS})")
_WEAK_NAME = re.compile(rf"(?i)(?:{WEAK_WORDS})\Z")


def _last_word(name: str) -> tuple[Key, re.Match[str] | None]:
    """The last telling word of a name: what a name ends in says what it is."""
    for level, pattern in ((Key.PASSWORD, _PASSWORD_NAME), (Key.SECRET, _SECRET_NAME)):
        words = list(pattern.finditer(name))
        if words:
            return level, words[-1]
    return Key.NONE, None


def _weak_level(name: str) -> Key:
    parts = _PART.findall(name[-40:])
    if not parts or (len(parts) > 1 and parts[-2].lower() in _OTHER):
        return Key.NONE
    telling = _WEAK_NAME.match(parts[-1]) or parts[-1].lower().endswith(("key", "auth"))
    return Key.WEAK if telling else Key.NONE


@lru_cache(maxsize=4096)
def classify(name: str) -> Key:  # noqa: PLR0911 - one exit per answer
    """What a name says about the value behind it: `GITHUB_TOKEN` much, `max_tokens` nothing."""
    level, found = _last_word(name)
    if not found:
        return _weak_level(name)
    before = [part.lower() for part in _PART.findall(name[: found.start()][-60:])]
    after = [part.lower() for part in _PART.findall(name[found.end() :][:60])]
    rest = name[found.end() :]
    if any(part in _ABOUT for part in after):
        return Key.NONE
    if before and before[-1] in _OTHER and not (level is Key.PASSWORD and before[-1] in _PLAIN_PREFIX_OK):
        return Key.NONE
    word = found.group().lower()
    if rest[:1].islower() and rest[:1].isascii() and found.group()[-1:].islower():
        return Key.NONE  # "secretary", "tokenize", "passworded": the word goes on
    if word in {"pass", "pw"}:
        return _pass_level(name[: found.start()], found.group(), after)
    if word in _HINTS:
        return Key.HINT
    if after and not all(part.isdigit() or part in _SAME for part in after):
        return Key.SECRET if level is Key.PASSWORD and rest[:1] in "_-." else Key.HINT
    return level


def _pass_level(before: str, word: str, after: list[str]) -> Key:
    """`DB_PASS` and `dbpass` are passwords, `pass` may be one, `compass` and `first_pass` are not."""
    if any(part not in _SAME and not part.isdigit() for part in after):
        return Key.NONE
    parts = _PART.findall(before)
    if before[-1:].isalpha() and (word[:1].islower() or before[-1:].isupper()):
        return Key.PASSWORD if parts[-1].lower() in _ACCOUNTS else Key.NONE
    if not parts:
        return Key.HINT
    return Key.NONE if parts[-1].lower() in _RUNS else Key.PASSWORD


_ACCOUNTS = _words(
    "user db smtp mail root admin ftp my ldap proxy sudo redis pg sql ssh http wifi login imap vpn store key trust src dest"
)
_RUNS = _words("first second third last single multi one two render test tests opt compiler did all will shadow")
_HINTS = _words("tokens geheim clave chave parola creds cred credential credentials geheimnis")
# After the word: these leave it what it is.
_SAME = _words("""key value val string text plain plaintext raw prod production dev development staging stage test testing live old
    new current primary secondary backup main b64 base64 encoded data default admin root user db ro rw read write me
    account access auth json env local id_rsa""")

_WORDS_NOT_SECRET = _words("""null none nil undefined nan true false yes no on off string str bytes byte int integer number float bool boolean
    any object array list dict map optional required varchar text char uuid unknown void never auto default empty blank
    unset missing set hidden masked redacted removed secret password passwd token key apikey todo tbd fixme placeholder
    changeme change_me change-me replaceme replace_me replace-me dummy example n/a na here basic bearer digest negotiate
    self this args params options config settings env environ process os await async new return function lambda
    securestring sensitive secretstr prompt input ask stdin environment variable keychain vault generated random
    """)
_STARS = re.compile(r"[*xX.•·●…_#?\-]+\Z|(?:x|X|0){6,}\Z")
_MASKED = re.compile(r"[^\s]{0,8}(?:…|\.\.\.|\*\*\*+|•••*|\\u2026|xxxx+|XXXX+)[^\s]{0,8}\Z")
_REFERENCE = re.compile(
    r"\$\{[^}]*\}?\Z|\$\$?[A-Za-z_][\w.:]*\Z|\$\(|\$env:|\$\{\{|%[A-Za-z_]\w*%\Z|\{\{|#\{|\{[A-Za-z_][\w.()\[\]'\"!:]*\}?\Z|"
    r"\[[A-Za-z_ -]+\]\Z|<[^<>]{0,60}>?\Z|&lt;|@[A-Za-z_]+\Z|:[a-z_]+\Z|%[sdr]\Z|\?\Z|%\([a-z_]+\)s|`[^`]*`\Z|\*[A-Z_]+\*\Z|__[A-Z0-9_]+__\Z|"
    r"op://|vault:|arn:aws:|secretsmanager:|ssm:|keyring:|env:|file:|projects/[^ ]*/secrets/|(?:~|\.{1,2})?(?:/[a-z_.][a-z0-9_.-]{0,30})+/?\Z|!(?:vault|Ref|Sub|ImportValue|GetAtt|secret|env_var)|ENC\["
)
_YOURS = re.compile(
    r"(?i:(?:[a-z]{2,6}[-_])?(?:your|my|some|insert|enter|put|the|a|an|paste|add|replace|change)[-_ ][a-z0-9_\- ]*"
    r"(?:key|token|secret|password|pass|pw|here|value|id|me|it|credentials?)(?:[-_ ]?(?:here|goes.here))?)\Z|"
    r"(?i:your[-_ ]|<your|example[-_]|dummy[-_]|fake[-_]|placeholder)"
)
_CODE = re.compile(
    r"(?:new |await |async |return |typeof |\(|!|&|\*)*[A-Za-z_$][\w$]*(?:(?:\??\.|->|::)[A-Za-z_$][\w$]*)*"
    r"(?:\([^\"']*\)?|\[[\w\"'\\$.:-]*\]?|\(\\*[\"'].*)+.*\Z"
)
_DOTTED = re.compile(r"[A-Za-z_$][A-Za-z_$0-9]{0,40}(?:(?:\??\.|->|::)[A-Za-z_$][A-Za-z_$0-9]{0,40})+;?\Z")
_OWN_NAME = re.compile(
    r"(?i:(?:(?:user|new|old|db|my|your|the|current|self|raw|plain|input|form|given|hashed|access|auth|api|refresh|bearer|client|"
    r"confirm|repeat|default|admin|root|test|github|session|id|csrf|jwt|app|bot|encoded|decoded|req|request)[-_]?)*"
    r"(?:password|passwd|pwd|pass|passphrase|secret|token|api[-_]?key|key|credentials?|authorization|auth|cookie)s?)\Z"
)
_ENV_NAME = re.compile(
    r"[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:PASSWORD|PASSWD|PASS|PWD|TOKEN|SECRET|KEY|PAT|CREDENTIALS|AUTH)(?:_\d)?\Z"
)
_TYPE = re.compile(
    r"(?:Optional|Option|List|Maybe|Secret|Union|Promise|Array|Vec|Box|Arc|Rc|Annotated|Literal|Mapped|Field|Final)?[\[<]|&?(?:'\w+ )?str\b|(?:Secret)?String\b|SecretStr\b"
)


_SCHEME = re.compile(r"(?i)(?:bearer|basic|token|oauth|apikey)\s+")
_FORMAT = re.compile(r"%(?:\([a-z_]+\))?[sdr]|\{\w*\}")
_NAME_LIKE = re.compile(r"_[A-Za-z]+\Z|[a-z]+(?:[A-Z][a-z]+)*(?:Password|Token|Secret|Key)\Z")
_CONSTANT = re.compile(r"[A-Z]+(?:_[A-Z]+)+\Z")


def _either(*patterns: re.Pattern[str]) -> re.Pattern[str]:
    """One expression for all: a call costs more than a match."""
    return re.compile("|".join(f"(?:{pattern.pattern})" for pattern in patterns))


_STANDS_IN = _either(_STARS, _MASKED, _REFERENCE, _ENV_NAME, _YOURS, _NAME_LIKE)
_CODE_LIKE = _either(_CODE, _DOTTED, _OWN_NAME, _TYPE, _CONSTANT)


def is_placeholder(value: str, *, bare: bool = False) -> bool:
    """Stands for a secret, or for nothing, but is none; `bare` values may also be code."""
    value = value.strip()
    if " " in value:
        value = _SCHEME.sub("", value, count=1)
    if not value or "[REDACTED" in value[:12] or value.lower().strip("<>[](){}.,;:!") in _WORDS_NOT_SECRET:
        return True
    if _STANDS_IN.match(value):
        return True
    if (len(value) < 6 or (len(value) < 40 and ("%" in value or "{" in value))) and not _ALNUM.search(
        _FORMAT.sub("", value)
    ):
        return True
    return bare and _is_code(value.rstrip(";,)"))


def _is_code(value: str) -> bool:
    return value == "" or value.startswith("(") or _CODE_LIKE.match(value) is not None


_ALNUM = re.compile(r"[^\W_]")
_DIGIT = re.compile(r"\d")
_SPACE = re.compile(r"\s")
_LETTER = re.compile(r"[^\W\d_]")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SIGN = re.compile(r"[!@#$%^&*+~]")
_HEXISH = re.compile(r"(?:0x)?[0-9a-f]{6,64}\Z|[0-9A-F]{40}\Z")
_UUID = re.compile(r"(?i:(?:[a-z:_-]*[:_-])?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\Z")
_DIMENSION = re.compile(
    r"(?i:[~<>=+-]*v?[0-9][0-9.,_/:x%-]*(?:[a-z]{1,3}|ms|tokens?|bytes?|chars?|bits?|st|nd|rd|th|min|sec|hours?|days?|times)?(?:/[a-z]+)?)\Z"
)
_TECHNICAL = re.compile(
    r"(?i)(?:sha-?[0-9]+|sha3-?\d*|md5|utf-?8|utf-?16|base(?:16|32|58|64)(?:url)?|oauth-?[12]?(?:\.0)?|[rhep]s(?:256|384|512)|ed25519|x25519|"
    r"rsa-?\d*|aes-?\d*(?:-\w+)*|argon2(?:id|i|d)?|pbkdf2|bcrypt|scrypt|http/?[123](?:\.\d)?|ipv[46]|"
    r"(?:gpt|claude|gemini|llama|mistral|qwen|o1|o3|o4|deepseek|grok|phi|gemma|sonnet|opus|haiku)[-\w.:/]*|rfc-?\d+|cve-[\d-]+|"
    r"iso-?\d+|web3|k8s|s3|ec2|i18n|l10n|a11y|x509|x86_64|arm64|amd64|win32|t5|h264|py3\d*|es20\d\d|[\w-]+\.(?:[a-z]{1,5}|md5|mp[34]))\Z"
)
_NUMBERED = re.compile(r"(?i)[a-z]{1,8}[-#]?\d{1,6}\Z|[a-z]+-?v?\d\Z")
_PATHISH = re.compile(
    r"(?:[a-z]+://|[a-z]+:[a-z]+:|~?/|\.{1,2}/|[A-Za-z]:\\|[\w@.-]+/[\w@.-]+/|@[\w-]+/|#|[\w.-]+@[\w-]+\.)"
)
_IDENTIFIER = re.compile(
    r"[a-z]+(?:_[a-z0-9]+)+\Z|[A-Z]+(?:_[A-Z0-9]+)+\Z|[a-z]+(?:-[a-z]+)*-?\d?\Z|[a-z]+(?:[A-Z][a-z]+)+\d?\Z|(?:[A-Z][a-z]+)+\d?\Z"
)
_NO_SECRET = _either(_DIMENSION, _PATHISH)
_NOT_RANDOM = _either(_UUID, _HEXISH, _PATHISH, _DIMENSION)


def looks_secret(value: str, *, chosen: bool = False) -> bool:
    """In running text, after a telling word: no word, number, name, path or version; `chosen` by a person: `hunter2`."""
    value = value.rstrip(".,;:!?") or value
    if len(value) < 5 or not value.isprintable() or " " in value or is_placeholder(value):
        return False
    if _NO_SECRET.match(value) or (_IDENTIFIER.match(value) and not (chosen and value[-1:].isdigit())):
        return False
    letters = _LETTER.search(value) is not None
    if letters and _DIGIT.search(value):
        return not _TECHNICAL.match(value) and (chosen or not _NUMBERED.match(value))
    if letters and _SIGN.search(value, 1):
        return "=" not in value.rstrip("=") and not value.startswith(("*", "`"))
    return len(value) >= 20 and letters and entropy(value) > 3.8 and "-" not in value and "/" not in value


def looks_random(value: str) -> bool:
    """Long and mixed enough to be generated, and no hash, id, path or sentence."""
    if not 16 <= len(value) <= 4096 or _SPACE.search(value):
        return False
    if _NOT_RANDOM.match(value):
        return False
    if value.lower().startswith(
        ("sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "sha512:", "md5-", "data:", "h1:")
    ):
        return False
    digits = len(_DIGIT.findall(value))
    mixed = digits >= 2 or (digits == 1 and len(value) < 3 * len(_HUMP.findall(value)))
    letters = len(_LETTER.findall(value))
    return mixed and letters >= 4 and entropy(value) >= 3.2 and not _IDENTIFIER.match(value)


def entropy(value: str) -> float:
    """Bits per character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in (value.count(c) for c in set(value)))
