"""What stands in for a secret: masks, samples, references and texts that a program fills in."""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from jsonlstore.core import expressions as re
from jsonlstore.redact.wording import OWN_NAME

_STARS = r"[*xX.•·●…_#?\-]+\Z|(?:x|X|0){6,}\Z|(?P<same>[A-Za-z])(?P=same){3,}\Z|(?:%[0-9A-F]{2})+\Z"
_MASKED = r"[^\s]{0,48}(?:\.\.\.|…)\Z|[^\s]{0,8}(?:…|\.\.\.|\*\*\*+|•••*|\\u2026|xxxx+|XXXX+)[^\s]{0,8}\Z"
_REFERENCE = (
    r"\$\{[^}]*\}?\Z|(?!\$[A-Za-z]?[0-9a-f]{24,128}\Z)\\?\$\$?[A-Za-z_][\w.:]*(?:\Z|[/\\\s+]|->|[{\[])|\$\$?\.[A-Za-z_]|\\\$\(|\{\$[:A-Za-z]|\$\{\w+:?-?\{\{|\$\{\w+:[0-9]|\\[a-z]+\Z|\$[0-9@*#]\Z|\{\}|@[A-Za-z][A-Za-z0-9_-]+@(?:\Z|[/.])|@[a-z]*\{|(?:%[A-Z]?[0-9]{0,2}|\$[0-9])+\Z|x\$\{?[A-Za-z_]\w*\}?\Z|\$\^[A-Z]\Z|%[A-Z]{3,}[^A-Za-z]|%\{|['\"] ?[.+^&] ?[$\w]|\$\(|\$env:|\$\{\{|%[A-Za-z_]\w*%\Z|\{\{|#\{|\{[A-Za-z_][\w.()\[\]'\"!:-]*\}?\Z|"
    r"(?:self|this|cls|args|opts|options|params|config|cfg|req|ctx|props|state|window|module|exports)\.[\w.$#]+\Z|\[[A-Za-z0-9_ =-]{1,40}\]\Z|\[%[^\n]{1,120}%\]\Z|%(?:[0-9]{1,2}\$)?[a-z]\Z|<[^<>]{0,60}>?\Z|&lt;|@[A-Za-z_]+\Z|:[a-z_]+\Z|(?:%[-+0-9.*]{0,6}[a-zA-Z])+\Z|[a-z_]+_\$\{?[a-z_]+\}?\Z|\w{1,40}##\w|\?\Z|%\([A-Za-z_:.-]+\)s|`[^`]*`\Z|\*[A-Z_]+\*\Z|__[A-Z0-9_]+__\Z|%[sdr]\W|![01]\Z|%24%7B|\$[A-Za-z_]\w*[\])}]+\Z|\.\$[a-z]\w*(?:->\w+)*\.?\Z|"
    r"[a-z]{2,5}_\Z|%[0-9]\Z|[A-Z]\w{1,30}(?:::[A-Z]\w{1,30})+\Z|os\.environ|process\.env\b|&#|![01](?:\W|\Z)|op://|vault:|arn:aws:|secretsmanager:|ssm:|keyring:|env:|file:|fd:[0-9]\Z|projects/[^ ]*/secrets/|(?:/[A-Za-z_.][a-z_.-]{0,30}){2,}/?\Z|(?:~|\.{1,2})?(?:/[a-z_.][a-z0-9_.-]{0,30})+/?(?::r[ow])?\Z|!(?:vault|Ref|Sub|ImportValue|GetAtt|secret|env_var)|ENC(?:RYPTED)?[\[(]|\\[&$@%][A-Za-z_]|&[A-Z][A-Za-z]+(?:-[A-Za-z0-9]+)+\Z|(?:application|text|image|audio|video|font|model|message)/[\w.+-]+\Z"
)
_YOURS = (
    r"(?i:(?:[a-z]{2,6}[-_])?(?:your|my|some|insert|enter|put|the|a|an|paste|add|replace|change|specify|choose|provide|define)[-_ ][a-z0-9_\- ]*"
    r"(?:key|token|secret|password|pass|pw|here|value|id|me|it|credentials?)(?:[-_ ]?(?:here|goes.here))?)\Z|"
    r"(?i:(?:[a-z]+[-_ ])+(?:goes[-_ ])?here)\Z|[Yy]our[A-Z][A-Za-z0-9]*={0,2}\Z|(?i:your[a-z]*(?:key|token|secret|password|here|id)[a-z]*)\Z|(?i:your[-_ ]|<your|example[-_]|dummy[-_]|fake[-_]|placeholder)|"
    # words and what they stand for: "gateway-token", GEMINI_KEY_HERE
    r"(?:[A-Z]?[a-z]{2,12}[0-9]{0,2}[a-z]{0,4}[-_]){1,3}(?:api[-_]|priv[-_])?(?:token|secret|key|credential|pat)s?(?:[-_]?[0-9])?\Z|(?i:[a-z-]*(?:placeholder|changeme|not[-_]a[-_]))|(?:[A-Z]{2,12}_){1,4}(?:HERE|GOES_HERE|VALUE)\Z"
)
_ENV_NAME = r"[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:[A-Z]{0,8}PASS|PASSWORD|PASSWD|PASS|PWD|TOKEN|SECRET|KEY|PAT|CREDENTIALS|AUTH)(?:_\d)?\Z"
_NAME_LIKE = (
    r"(?:/(?:usr|opt|etc|home|var|tmp|root|srv|mnt|Users|lib|run|dev|s?bin|Library|Volumes)|[A-Z]:[\\/]{1,2}[A-Za-z][\w.-]*)[\\/][\w./\\+@~-]*\Z|U\+[0-9A-F]{4,6}\Z|:?memory:@?\Z|[sif][@%]\Z|0x(?:_[A-Za-z_]+|[A-Za-z]+(?:_[A-Za-z]+)+)\Z|[\w.+-]+@(?:[\w-]+\.)*example\.(?:com|org|net)\Z"
    r"|:?(?:py:)?(?:class|func|meth|mod|data|obj|attr|ref|exc|const|term|doc|envvar|option|samp|file|command):(?:`[^`]{1,80}`)?\Z|py:[a-z]+\Z|"
    r"\{[A-Za-z_]\w*\(|YOUR/|!\{|\$\{\w+\}@|\$-?0x[0-9a-fA-F]+\Z|[a-z_]{2,20}/[\w.-]+\.(?:la|a|o|so|c|h|cc|cpp|py|js|ts|go|rs|java|md|sh|inc|php|rb)\Z|\\[(\[{]|"
    r"(?i:your[a-z]*)@[\w.-]+\Z|[a-z]+(?:[-:][a-z]+)*=\\?[\"']|@[A-Z]\w{2,60}\(|__WEBPACK_\w|[\w-]{2,40}/[\w.-]{2,60}#[\w.^~-]+\Z|[\w-]{2,40}\.\*\Z|"
    r"(?=[a-z_]*(?:secret|credential|password|token|auth)(?:_|\Z))[a-z]+(?:_[a-z]+){3,}\Z|\\f[A-Z(\[]|(?i:pass(?:word|wd)?|token)[_-]?(?:field|input|box|label)s?\Z|"
    r"[A-Za-z_][\w-]{1,60}\.(?:pem|key|crt|cer|csr|p12|pfx|jks|asc|gpg|pub|der|keystore)\Z|!(?:[A-Z]+!)+\Z|\?[a-z]+\?\Z|(?:[a-z_][a-z0-9_.-]{0,40}/){2,8}[A-Za-z0-9_-]{1,60}\.[a-z]{1,5}\Z|"
    r"(?i:(?:password|passphrase|token|secret|api[_-]?key|key|credentials?)(?:[/|](?:password|passphrase|token|secret|api[_-]?key|key|credentials?|env|file|none))+)\Z|"
    r"\{![rsa]\}?|(?:rgb|hsl)a?\([0-9., %]+\)\Z|env/[A-Z0-9_]+\Z|(?!\$[a-z]?[0-9a-f]{24,128}\Z)\$[a-z][\w-]*[,;]?\Z|[\w-]{2,12}\.\.\Z|\"(?:null|none)|[A-Z_]{3,40}\*\*\Z|[a-z]+:%[a-z]|[\w.-]+\.md#[\w-]+\Z|(?i:encrypted[-_]password\Z|the(?:api)?(?:key|token|password|secret)\w*\Z)|[a-z]+_client_(?:id|secret)\Z|(?i:pass(?:word|wd)?@[a-z]+(?::[a-z]+)?)\Z|%%\w+%%\Z|#/[\w/-]+\Z|\.{1,2}[a-z_]+(?:\.[a-z_]+)*\Z|.{0,64}?(?:abcdefghijklmnopqrstuvwxyz|ABCDEFGHIJKLMNOPQRSTUVWXYZ)|(?i:(?:user(?:name)?|login|name|id):(?:password|passwd|pass|pwd|secret|token))\Z|[A-Z]+-[A-Z]{0,8}PASS\Z|[\w:./-]{0,60}<[A-Za-z_ -]{1,40}>?\Z|"
    r"_[A-Za-z_]+\Z|[a-z]+(?:[A-Z][a-z]+)*Type\Z|%5B[A-Za-z_ -]{3,24}%5D\Z|(?:list|dict|array|set|tuple|map)[\[(<]|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*(?:Password|Token|Secret|Key|Credential)s?(?:_[a-z0-9]+)?\Z|(?i:[a-z_-]*example[a-z_-]*)\Z|\S{0,16}\.\.\.\Z|\D*\.\.\.\Z|qq?[{(]|[A-Za-z]+[A-Z][a-z]+\$\w*,?\Z|[A-Za-z_-]*(?:X{3,}|x{3,})\Z|\[CDATA|(?:\\u[0-9a-fA-F]{4})+\Z|:[a-z]+:\Z|[A-Z]{3,}(?:\.[A-Z]{3,})+\Z|[A-Z][A-Za-z]{0,20}(?:-[A-Z][a-z]{2,20})+\Z|__[A-Za-z]+\$?\Z|[A-Za-z0-9+/~]{6,40}EXAMPLE(?:KEY)?\Z|\$[A-Z][A-Z0-9_]+\$\Z|[@%]\$\{?[A-Za-z_]|\$::\w+[\])]*\Z|(?:SHA256|SHA1|MD5|SHA512):[\w+/:=-]+\Z|"
    r"\{%-?[ ]|<<-?[ ]?\.[A-Za-z]|\{(?:\.[A-Za-z]\w{0,40}){1,8}\}\Z|#[A-Z]{2,20}(?:_[A-Z]{2,20}){1,4}#\Z"
)

STANDS_IN = re.compile("|".join(f"(?:{part})" for part in (_STARS, _MASKED, _REFERENCE, _ENV_NAME, _YOURS, _NAME_LIKE)))


def is_filled(value: str) -> bool:
    """`$user:$password`, `pass:${WORD}`, `%q:%q`: variables, and between them signs and the words of their kinds."""
    rest, count = _VARIABLES.subn(" ", value)
    if not count or (count < 2 and _TYPED_SIGNS.search(rest)):
        return False  # $uper!
    return all(OWN_NAME.match(word) or (len(word) < 4 and word.isalpha()) for word in _WORDS.findall(rest)[:16])


_VARIABLES = re.compile(
    r"(?<![\w$%])(?:\$\{[A-Za-z_]\w*\}?|\$[A-Za-z_]++(?![0-9])(?:->\w+|\[\w+\])*|%[a-z]+(?:_[a-z]+)+|%[-0-9.]{0,4}(?:ll?|z|hh?)?[sdquvfxic](?![A-Za-z0-9])|#\{[\w.@ ]{1,40}\})"
)
_TYPED_SIGNS, _WORDS = re.compile(r"[!@#&*?$]"), re.compile(r"[^\W_]+")
