"""Where no literal secret stands, whatever it looks like: a row of numbers, a type, a list of names, what a name is not.

`names` says what a name announces and `looks` what a value looks like; here both are read together with their place.
Every look around is bounded, and every expression is linear in what it is given.
"""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact.context import is_parameter, is_styled
from jsonlstore.redact.keys import looks_generated
from jsonlstore.redact.looks import is_key_hex, is_worded, is_wordy, looks_random, randomness, tells
from jsonlstore.redact.names import Key, classify
from jsonlstore.redact.public import is_public, is_term
from jsonlstore.redact.syntax import is_qualified_type, is_sum, is_syntax
from jsonlstore.redact.things import LOOKUP, NAME_OF_WORDS
from jsonlstore.redact.values import to_line_end
from jsonlstore.redact.wording import NUMBERED_TERM, OWN_NAME, is_secrets_word, is_sentence

if TYPE_CHECKING:
    from jsonlstore.redact.judging import Link
    from jsonlstore.redact.values import Value

_WORDLIKE = 4.8


def is_out_of_place(data: bytes, value: Value, text: str, link: Link) -> bool:
    """Whether the place of an assigned value, or the place of its name, says that it is no literal secret."""
    if _names_another(data, value, link, text) or _ROW.match(text) or _PUBLIC.match(text):
        return True
    if is_public(data, value, text, link) or is_syntax(data, value, text, link):
        return True
    if link.level is Key.WEAK and text.startswith("MII") and b"cert" in data[link.name_at : link.name_end].lower():
        return True  # a certificate, which everybody may see
    if text[:1].isdigit() and _is_one_of_numbers(data, value, text, link):
        return True
    return _is_quoted_name(data, link, text) if value.quoted else _is_elsewhere(data, value, text, link)


def _names_another(data: bytes, value: Value, link: Link, text: str) -> bool:  # noqa: PLR0911 - a decision list
    """Whether a name is a part of something that is no name, or what joins it to the value belongs to another one."""
    name_at, op = link.name_at, data[link.op_at : link.op_end]
    before, name, closed = data[name_at - 1 : name_at], data[name_at : link.name_end], data[link.name_end] in b"\"'"
    if op == b":" and (name in _LEFT_OUT or (name in _TOKENS and _COUNTED.search(data, max(0, name_at - 4), name_at))):
        return True  # HIGH:-eNULL:-PSK:RC4-SHA; 1 token: address
    if (before == b"(" and data[name_at - 2 : name_at - 1] == b"%") or (before == b":" and _in_arn(data, name_at)):
        return True  # %(secret:key)s
    if before == b"/" and value.quoted and closed and (text.isupper() or link.level is not Key.PASSWORD):
        return not looks_random(text)  # "/two-factor/backup-codes": "POST"
    if before == b"@" and op == b":" and not value.quoted and _DESCRIBED.match(data, link.op_end):
        return not looks_random(text)  # @cred: TLSv1 credentials, as a function's parameters are described
    if before == b"(" and name.lower() == b"mnemonic" and not _PHRASE.match(data, link.op_end):
        return True  # (Mnemonic: what it reminds of)
    if op[1:2] == b"=" and op[:1] in b"!=" and _JOINED.search(data, link.name_end, link.op_at):
        return True  # "password" in fields and method != "users.create"
    # echo 'secret' | command; SELECT password FROM users WHERE name = '%u'
    return (op == b"|" and closed) or _WHERE.search(data, link.name_end, link.op_at) is not None


def _in_arn(data: bytes, at: int) -> bool:
    """Whether a name is a part of `arn:aws:execute-api:…`."""
    head = data[max(0, at - 80) : at]
    return b"arn:" in head[len(head.rstrip(_ARN_BYTES)) :]


_ARN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:-"


def is_known_place(text: str) -> bool:
    """What is no secret by its own look: a list of ciphers, a public key, a member of a record."""
    return bool(_ROW.match(text) or _PUBLIC.match(text) or _KEPT.match(text.rstrip("),;")) or _INDEXED.match(text))


_DESCRIBED = re.compile(rb"[ \t]+[^\s=:]+[ \t]+[A-Za-z]")
_LEFT_OUT, _TOKENS = (b"-PSK", b"+PSK", b"!PSK"), (b"token", b"tokens")
_PHRASE = re.compile(rb"[ \t\"']*(?:[a-z]+[ \t]+){11}")
_COUNTED = re.compile(rb"[0-9][ \t]\Z")
_WHERE = re.compile(rb"(?i)[ \t]where[ \t]")
_JOINED = re.compile(rb"[ \t](?:and|or)[ \t]")
# TLS ciphers and what is left out of them; a regular expression
_ROW = re.compile(
    r"[+!-]?\\?[+!-]?[A-Z][A-Z0-9\\-]*(?::[+!\\-]{1,3}[A-Z%][A-Za-z0-9\\-]*)+:?\Z|(?:\\?-|[+!])[A-Z]{2}[A-Z0-9]*(?:\\?-[A-Z0-9]+)+:?\Z|[+!][a-z]?[A-Z]{2,8}\Z"
    r"|\^.*[\])][?*+{]"
)
_PUBLIC = re.compile(r"(?:(?:ssh|ecdsa)-[\w-]{2,24} )?AAAA(?:B3NzaC1|C3NzaC1|E2VjZHNh|GnNrLX)")  # a public key of SSH


# -- numbers

_ENTRY_BEFORE = re.compile(
    rb"(?<![\w.$])([A-Za-z_][\w.$]*+)[\"']?[ \t]*+(?:[:=]{1,2}|=>)[ \t]*+[\"']?([0-9]{1,10}+)[\"']?[ \t]*+[,;]?(?:[ \t]*+(?://|#|/\*|--)[^\n]{0,80}+)?(?:\s|\\++[nrt])*+(?:[a-z]{2,12}+[ \t]++){0,4}+[\"']?\Z"
)
_ENTRY_BEHIND = re.compile(
    rb"[\"']?[ \t]*+[,;]?(?:[ \t]*+(?://|#|/\*|--)[^\n]{0,80}+)?(?:\s|\\++[nrt])*+(?:[a-z]{2,12}+[ \t]++){0,4}+[\"']?([A-Za-z_][\w.$]*+)[\"']?[ \t]*+(?:[:=]{1,2}|=>)[ \t]*[\"']?([0-9]{1,10})\b"
)
_PREFIX = 10  # letters that the names of a list may begin with
_NEAR = 64  # how far apart the numbers of a list may be
_FEW_DIGITS = 4


def _is_one_of_numbers(data: bytes, value: Value, text: str, link: Link) -> bool:
    """`SUBMIT_PASSWORD = 100224` between `SUBMIT_CODE = 100223` and `RESEND_CODE = 100225`: codes that have names."""
    if not text.isdigit() or len(text) > 10:
        return False
    above = _ENTRY_BEFORE.search(data, max(0, link.name_at - 160), link.name_at)
    below = _ENTRY_BEHIND.match(data, value.end, value.end + 240)
    others = [found for found in (above, below) if found and abs(len(found[2]) - len(text)) <= 1]
    if not others or any(classify(found[1].decode()) >= Key.SECRET for found in others[:1]):
        return False
    name = data[link.name_at : link.name_end][:_PREFIX].decode()
    if len(others) > 1 and len(name) == _PREFIX and all(found[1].decode().startswith(name) for found in others):
        return True  # acquireTokenSilent: 62, acquireTokenByPassword: 371
    least = 0 if len(text) < _FEW_DIGITS else 1  # two words of an index may stand in one place
    return any(least <= abs(int(found[2]) - int(text)) <= _NEAR for found in others) and len(others) == (
        2 if above and below else 1
    )


# -- quoted

_LABELLED = re.compile(r"[A-Z]{2,5}-[^\W\d_]{3,20}\Z")  # API-tunnus
_CAPTION = re.compile(r"[A-Z][a-z]{2,20}(?: [a-z]{2,20}){1,3}[.:?!]?\Z")
_CALL_ONLY = re.compile(r"[A-Za-z_][\w.]{2,60}\(\)\Z|[A-Z]{3,12}\([0-9]{1,5}\)\Z")
_INDEXED = re.compile(r"[A-Za-z_]{3,24}\[[0-9]{1,5}\]?\Z")
_ROUTE = re.compile(r"[a-z_]+(?:/[a-z_]+)*#[a-z_]+\Z")  # users/sessions#update
_SIGNS = re.compile(r"\\[a-f][0-9a-f]{3}\Z|(?:\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|[^\w\\])+\Z")
_HUMPS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_DOMAIN = re.compile(r"_?[a-z]{2,20}(?:\.[a-z_]{2,20}){1,4}\.\Z")  # shared.local.
_PAGE = re.compile(r"[a-z][\w-]{2,60}\.(?:html?|css|png|svg|gif|jpe?g)\Z")
_PICTURE = re.compile(
    r"[\w/.-]{1,120}\.(?:png|jpe?g|gif|svg|ico|webp|html?|css|m?js|tsx?|pem|crt|cer|py|md)(?:\?\w{1,12})?\Z"
)


def _is_quoted_name(data: bytes, link: Link, text: str) -> bool:  # noqa: PLR0911 - a decision list
    """A quoted value that is a name, a file, an expression or a label."""
    if _CALL_ONLY.match(text) or _INDEXED.match(text):
        return True
    if text.isalpha() and _is_initialled(data[link.name_at : link.name_end].decode("utf-8", "replace"), text):
        return True
    if _PAGE.match(text):
        return True
    if link.level is Key.PASSWORD:
        return False
    if " " in text and _CAPTION.match(text):
        return True  # "client_secret": "Kunden hemlighet"
    if _LABELLED.match(text) and randomness(text.partition("-")[2]) < _WORDLIKE:
        return True
    return (len(text) < 24 and _SIGNS.match(text) is not None) or bool(
        _PICTURE.match(text) or _DOMAIN.match(text) or _KEY_FILE.match(text) or _ROUTE.match(text)
    )


def _is_initialled(name: str, text: str) -> bool:
    """`_RKPW = "ReplaceKeyPrefixWith"`: a name made of the first letters of what it stands for."""
    letters = name.rpartition(".")[2].strip("_").lower()
    return len(letters) > 2 and letters == "".join(hump[0] for hump in _HUMPS.findall(text)).lower()


# -- not quoted

_KEPT = re.compile(
    r"[a-z]\w{2,40}_(?:type|t)[;,]?\Z"  # objectid_type
    r"|[A-Z]\w{0,40}#[a-z_]+\.[a-z_]+\Z"  # State#state.password
    r"|(?:Get|Set|New|Read|Invoke|ConvertTo|ConvertFrom|Import|Export|Add)-[A-Z][A-Za-z]{2,60}\Z"  # Get-AccessToken
    r"|@{1,2}[a-z_]+(?:\.[a-z_]+[?!]?){1,4}\Z"  # @keys.last
    r"|[a-z_]+(?:file|path|dir|url)=[/.~]"  # passphrase_file=/mnt
    r"|[iu](?:8|16|32|64|128|size)\Z|f(?:32|64)\Z|U?INT(?:8|16|32|64|128)?(?:_T)?\Z"
    r"|[\w$.]{1,40}\?(?:new|void|typeof)\Z"
    r"|[0-9]{0,3}\[[#*0-9]?\Z"  # %{reply:Tunnel-Password:1[#]}
    r"|\.[*+]|[0-9]{0,2}\*\Z"  # token = 1*CHAR, of a grammar
    r"|[\w$]+(?:\.[\w$]+)+\*/"  # options.signature*/, behind a comment
    r"|/[^\s/]{0,40}[{(\[|]"  # a regular expression
    r"|[a-z]+\.[0-9]{1,2}\?[A-Za-z]\w*\Z"  # flags.2?true
    r"|[A-Za-z]\w{2,40},[0-9]{1,4}L?\Z|[0-9]{1,4}(?:[UuNn]|UL|ul)[,;]?\Z"  # OBJ_id_it,12L; 1U; 1n,
    r"|\+[a-z]\w{3,60};?\Z|[abglstvw]:[0-9a-z]{1,3}\Z|xs[d]?:[A-Za-z]+\Z"  # +leadingToken; a:2; xsd:QName
    r"|[a-z]{1,2}=[A-Za-z]{1,3}\}=|[a-z]\}\}[A-Za-z]\w{2,60}[.=]"  # minified: r=Re}=e;let
)
_ADDED = re.compile(r"[A-Za-z_$]+(?:\.[A-Za-z_$]+)*\+\Z")
_SUM = re.compile(r"[A-Za-z_]\w{0,40}[+-][0-9]{1,3}\Z")
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w{0,80}\Z")
_NUMBERED = re.compile(r"[0-9]{1,3}\Z")
_METAVARS = re.compile(r"[A-Z]{2,12}(?:[-_][A-Z]{2,12}){0,3}\Z")
_KEY_FILE = re.compile(
    r"(?:~|\.{1,2})?(?:/|[\w-]{1,40}/|\$\{?\w{1,40}\}?/)(?:[\w.-]{1,60}/){0,8}[\w.-]{1,60}\.(?:key|pem|crt|cer|p12|pfx|jks|json|ya?ml|txt|conf|pub|asc|gpg|env|ini|cfg)\Z"
)
_MODULE_ENTRY = re.compile(r"[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*){2,8}:[A-Za-z_]\w*\Z")


def _is_elsewhere(data: bytes, value: Value, text: str, link: Link) -> bool:  # noqa: C901, PLR0911, PLR0912 - a decision list
    """An unquoted value that names where the secret is, or what kind of thing it is."""
    if _KEPT.match(text):
        return True
    if "$" in text[1:] and _is_column(text):
        return True
    after, op = data[value.end : value.end + 2], data[link.op_at : link.op_end]
    if "/*" in text and text[:1].isalpha():
        return True  # __WEBPACK_IMPORTED_MODULE_0/* .get
    if _ADDED.match(text) and after[:1] in (b'"', b"'", b"`") and all(map(is_wordy, text[:-1].split("."))):
        return True  # scheme+" "+token
    if text == "range" and op == b":=":
        return True
    if after[:1] == b";" and _SUM.match(text) and is_wordy(re.split("[+-]", text)[0]):
        return True  # token = buffer+3;
    if op == b"=" and text.isalpha() and b"." in data[link.name_at : link.name_end] and _is_message(data, value):
        return True
    name = data[link.name_at : link.name_end]
    described = (text.isalpha() and after == b"  ") or (
        text.isupper() and not text.isascii()
    )  # --passwd=file   where it is
    described = described or is_secrets_word(text)
    if op == b"=" and name.startswith(b"--") and (described or (link.level < Key.PASSWORD and _METAVARS.match(text))):
        return True  # --private-key=FILE
    if link.level is not Key.PASSWORD and _NUMBERED.search(text) and _is_of_name(name, text.rstrip("0123456789")):
        return True  # X-Account-Key: account5
    if link.level is Key.SECRET and LOOKUP.search(name.lower()) and NAME_OF_WORDS.match(text) and is_worded(text):
        return True  # sonar.projectKey=org_name-of.project
    if link.level is not Key.PASSWORD and (_KEY_FILE.match(text) or NUMBERED_TERM.fullmatch(text)):
        return True
    if text.isalpha() and not text.islower() and len(name) > 5 and name.lower() in text.lower().encode():
        return True  # backupCodes: decryptedBackupCodes
    if _MODULE_ENTRY.match(text):
        return True  # swift.common.middleware.s3token:filter_factory
    owned = data[link.name_at - 2 : link.name_at] == b"->" and op == b"="
    return owned and _PLAIN_NAME.match(text) is not None and is_wordy(text)


def _is_message(data: bytes, value: Value) -> bool:
    """`ssl.wrong_password=The given password could not be read`: a text for people, as properties hold them."""
    line = data[value.start : to_line_end(data, value.start).end][:320].decode("utf-8", "replace")
    return line.count(" ") > 1 and is_sentence(line)


def _is_of_name(name: bytes, word: str) -> bool:
    plain = name.lower().replace(b"_", b"").replace(b"-", b"").replace(b".", b"").decode("utf-8", "replace")
    return len(word) > 2 and word.replace("_", "").lower() in plain


def _is_column(text: str) -> bool:
    """`info$refresh_token`: a column of a table, as R writes it, that is called like a secret."""
    parts = text.lstrip(".").split("$")
    return (
        len(parts) < 5
        and all(map(_PLAIN_NAME.match, parts))
        and (parts[-1] in ("cred", "creds") or OWN_NAME.match(parts[-1]) is not None)
    )


def is_setting(data: bytes, value: Value, link: Link) -> bool:
    """`TOKEN=camelCaseWord` from one end of the line to the other: a file of settings or a shell, no program."""
    if data[link.op_at : link.op_end] != b"=" or link.name_end != link.op_at or value.start != link.op_end:
        return False
    head = data[max(0, link.name_at - 16) : link.name_at]
    begins = not head or head.endswith((b"\n", b"export ", b"\\n", b"ENV ", b" -e ", b"--env "))
    return begins and to_line_end(data, value.start).end == value.end


def is_login(data: bytes, link: Link) -> bool:
    """Whether a bare `pass` stands behind a user, on the same line or on the one below, as no program writes them."""
    if data[link.name_at : link.name_end].lower() != b"pass" or data[link.op_at : link.op_end] not in (b":", b"="):
        return False
    return _USER_BEFORE.search(data, max(0, link.name_at - 120), link.name_at) is not None


_USER_BEFORE = re.compile(
    rb"(?i)(?<![a-z.])(?:user(?:[ _-]?name)?|log[io]n|account|e-?mail)[ \t]*[:=][ \t]*[^\s,;(){}]{1,64}(?:[ \t]{1,8}|(?:\r?\n|\\n)[ \t]{0,16}(?:[*>-][ \t])?)\Z"
)


# -- beside a name, joined by nothing but a blank, a comma or a bracket


def is_no_announcement(data: bytes, link: Link) -> bool:
    """Whether a name with a blank behind it says nothing of the next word."""
    before = data[max(0, link.name_at - 48) : link.name_at]
    return (
        before.endswith(b"%")  # %token IDENTIFIER
        or is_styled(data, link.name_at, link.name_end)
        or _DECLARED.search(before[-12:]) is not None
        or _HANDED_ON.search(before[-8:]) is not None
        or (data[link.name_at : link.name_end] == b"passwd" and before.rstrip().endswith(b"getent"))
    )


def stands_beside(data: bytes, value: Value, text: str, link: Link) -> bool:  # noqa: PLR0911 - a decision list
    """Whether what stands beside a name is its neighbour in a list, a declaration or a sentence, and no value."""
    name, op = data[link.name_at : link.name_end], data[link.op_at : link.op_end]
    if is_known_place(text) or is_term(text) or (op[:1] == b"(" and _CONSTANT.match(text)):
        return True  # copy_passwd("INFO_21")
    if (
        name.isupper()
        and text.isupper()
        and "_" in text
        and text.split("_", maxsplit=1)[0].encode() == name.split(b"_")[0]
    ):
        return True  # APP_SECRETS APP_KRB5, a list of constants
    if text.isupper() and is_key_hex(text.lower()):
        return _FINGERED.search(data, max(0, link.name_at - 120), link.name_end) is not None
    if value.quoted:
        return b"," in data[link.name_end : link.op_end] and _is_listed(data, value, text, link)
    if (
        _HOST.match(text)
        or OWN_NAME.match(text)
        or _HANDED.match(text)
        or is_qualified_type(data, value, text)
        or is_sum(data, value, text)
    ):
        return True  # -p "password" registry:5000; passwd1 passwd2
    if not _PLAIN_NAME.match(text):
        return False
    # f(data, password, verifier11G); ssh_key ed25519_key;
    declared = link.level is Key.SECRET and data[value.end : value.end + 1] == b";" and b"_" in name
    return declared or is_parameter(data, link.name_at, value.end)


def _is_listed(data: bytes, value: Value, text: str, link: Link) -> bool:
    """`'CryptoKey', 'Curve25519DH', 'DSAKey'`: names in a list of names."""
    before = data[max(0, link.name_at - 8) : link.name_at]
    if not _ITEM_BEFORE.search(before):
        return False
    if before.rstrip(b"\"' \t\n").endswith(b",") and not looks_generated(text):
        return True  # Device("key_here", "secret_here", "device22"): no name is the second
    return _ITEM_BEHIND.match(data, value.end, value.end + 8) is not None and _NAME_IN_LIST.match(text) is not None


# struct token table[2], .TH NAME 8 of a manual page
_DECLARED = re.compile(rb"(?:\A|[\s(])(?:struct|enum|union|class|typedef|interface|extends|implements|\.TH)[ \t]+\Z")
_HANDED_ON = re.compile(rb"[ \t](?:-e|--env)[ \t]+\Z")  # docker run -e API_TOKEN image-2
_CONSTANT = re.compile(r"[A-Z]+(?:_[A-Z0-9]+)+\Z")
_HOST = re.compile(
    r"[a-z][a-z.-]{1,60}:[0-9]{2,5}\Z|(?:[a-z][a-z0-9-]{0,30}\.){2,4}(?:com|org|net|edu|gov|io|de|fr|uk)\Z"
)
_HANDED = re.compile(r"~(?:[a-z_]+:)?[a-z_]+[0-9]?\Z|\$[a-z_]+=\S")  # ~passwd2, $options=0: arguments
_NAME_IN_LIST = re.compile(r"[A-Z][A-Za-z]++(?:[0-9]{1,5}+[A-Za-z]*+)?\Z|[a-z]{1,3}[0-9]{1,2}[a-z]{3,12}\Z")
_ITEM_BEFORE, _ITEM_BEHIND = re.compile(rb"[\"'],\s*[\"']\Z|\[\s*[\"']\Z"), re.compile(rb"[\"'],\s*[\"']|[\"'],?\s*\]")
_FINGERED = re.compile(rb"(?i)gpg|pgp|fingerprint|signature|(?:rsa|dsa|eddsa|ecdsa) key")


# -- addresses

_DIGIT = re.compile(r"[0-9]")


def is_address(text: str) -> bool:
    """Where something is, with no login and no question in it; a run of base64 may begin with two slashes."""
    if text.startswith("//"):
        return not tells(text)
    if _TEMPLATE_ADDRESS.match(text):
        return True  # mongodb://%s, pinot+http://{host}:{port}/query
    if _LOOKED_UP.match(text):
        return True  # hash:/etc/postfix/sasl_passwd
    if not text.lstrip().startswith(("http://", "https://")) or "@" in text[:200]:
        return False
    asked = (part.partition("=")[2] for part in text.partition("?")[2][:400].split("&"))
    return not any(
        looks_random(value) or is_key_hex(value) or (_DIGIT.search(value) and tells(value)) for value in asked
    )


_TEMPLATE_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.]{1,24}://(?:[a-z_]{1,16}@)?(?:[a-z0-9.-]*|%[sd]|\{[a-z_]+\})(?::(?:[0-9]+|%[sd]|\{[a-z_]+\}))?(?:/[\w{}%.-]*)*\Z|(?i:tls|ssl|tcp|udp|unix):[\w.-]{1,80}:[0-9]{2,5}\Z|(?i:server|host|driver|data source|database|endpoint)=[\w.,:/()-]*\Z"
)
_LOOKED_UP = re.compile(r"[a-z]{2,10}:/(?:[a-z][a-z0-9_.-]{0,30}/)+[a-z][a-z0-9_.-]{0,30}\Z")
