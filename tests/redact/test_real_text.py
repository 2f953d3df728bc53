"""What real source, documentation and configuration say around secrets' names, and must come out as it went in."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jsonlstore.redact import redact_text

CODE = (
    "bool isNot(AsmToken::TokenKind K) const;",
    "return{settings:n,password:i,pendingToken:o}",
    "this.showToken=!1,this.showPassword=!0",
    'e[e.OpenBraceToken=1]="OpenBraceToken",e[e.CloseBraceToken=2]="CloseBraceToken"',
    "typeof t.token==`string`?{token:e.claim.token}:{}",
    "  apiKey: tokenProvider ?? apiKey,\n",
    "  identity_token: identityTokenFile ? { path } : undefined,\n",
    "  const { token: token2, createdAt } = result\n",
    "export type RESTPostOAuth2RefreshTokenResult = RESTPostOAuth2AccessTokenResult;",
    "function decrypt<KeyType extends t.CryptoKey | Uint8Array = t.CryptoKey | Uint8Array>()",
    'const TMP_DB_CONNECTION_STRING = "db.connection_string";',
    'const SCOPE_DEVICE_TOKEN = "device-token";',
)
SAMPLES = (
    'apiKey: "GEMINI_KEY_HERE"',
    'remote: { token: "gateway-token" }',
    "PWD: '/Users/maciej'",
    "- Release GPG key: 9554F04D7259F04124DE6B476D5A82AC7E37093B",
    "Signature: 8a477f597d28d172789f06886806bc55",
    "- Check the token: `openclaw channels status --probe`",
    'BlankBearerToken: "blank bearer token"',
    "**Option B: create the secret separately**",
    "XN--CLCHC0EA0B2G2A9GCD",
    "a Workspace ID (for example, `wrkspc_014b7Qm2XyT9kLwZ3sRuVa5d`)",
    'node app.js | pino-http-send -u "http://localhost:8080/logs"',
)
AROUND = (
    "if isinstance(private_key, ed25519.Ed25519PrivateKey):",
    "this.token=C,this.pos!=e){if(this.pos=e",
    "raw[start_of_token:start_of_token+20]",
    "    if self._credential:\n        self._credential.__exit__(*args)\n",
    "return pw->pw_name;",
    "has_secure_password :recovery_password, validations: false",
    "input[type=password]:focus { color: red }",
    "ER_INCORRECT_CURRENT_PASSWORD = 3891",
    "CAAEpW,KAAM,YAAaqW",
    "RSAPrivateKey ::= SEQUENCE",
    "data['token']['region_name'] = \"North\"",
    "    | ec.EllipticCurvePrivateKey\n    | mlkem.MLKEM768PrivateKey\n",
    "xpass=`expr $xpass + 1`",
    "hostname:port:username:password:base_dn:flags",
    "const char* password, char* challenge",
)
LABELS = (
    '"password": "Mot de passe"',
    '"password": "Slapta\\u017eodis"',
    "$labels['password'] = 'Contrasigno';",
    '"access_token": "[%key:common::data::access_token%]"',
    '"encryption_key": "Encryptiesleutel"',
    'TOKEN_DATA: "template data / text"',
    "La password è stata modificata correttamente.",
    "your database passwords will be cryptographically hashed and sent to this service",
)
THINGS = (
    'storageKey: "registry.page_size"',
    '{token: "keyword.$0", next: "@imports"}',
    '"pwd": "core.magics.osm:Magics"',
    're.compile("api|token|key|secret|password")',
    'REQUEST_TYPE_ACCESS_TOKEN = "auth-request-type/at"',
    '"secrets": "List[V1ObjectReference]"',
    'connection_string = "AccountName=xxxx;AccountKey=xxxx;Suffix=core.example.net"',
    '"private_key": "-----BEGIN PRIVATE KEY-----\\n<key bytes>\\n-----END PRIVATE KEY-----\\n"',
)


# what a program or a person fills in, or leaves open
FILLED = (
    "login = '\"^quote conn login^\"', passwd = '\"^quote conn passwd^\"',",
    'Use the default password: "$user:$password"',
    "NEWPWD=%new_password /usr/bin/sudo run",
    'KEYPASS="-pass pass:${KEY_PASS}"',
    '"ignoring credentials: %q:%q\\n", c.Name',
    "API_KEY%22%3A%22%24%7Binput%3AapiKey%7D%22%2C%22X",
    'private_key="0xYOUR_PRIVATE_KEY"',
    '"CLIENT_SECRET": "REPLACE"',
    "- PASSWORD=${LAMP_PASSWORD:-change-me}",
    "PASSWORD=yyyyyy",
    "connection_string = 'mysql+driver://YOUR_USER:YOUR_PASSWORD@localhost/db'",
    '"--console-password", "password/token"',
    "MQTT_LOGIN=\nMQTT_PASSWORD=\nMQTT_SERVER=\n",
)
# variables, types and arguments, whatever figures they have
WRITTEN = (
    '\tBindPassword config.StringSource `json:"bindPassword"`',
    "    encryption_key: typing.Optional[_kit_keys_f3072c1d.IKey] = None,",
    "\tsigner := signer{privateKey: edSampleKey521}",
    "  Db.add ~login ~passwd:passwd_md5 ~name",
    "    webhookSecret: Z_TextValue;",
    "\tx, err := curve25519.X25519(privateKey, curve25519.Basepoint)",
    'type:"password",wide:!0,label:"P"',
    "contexts:{'secret': depth0},more:[depth0],types:[",
    'token2 = issuer.create_token(subject="user-2", roles=["x"])',
    "('page_token' in params and  # noqa: E501",
    "\tconfig.APIKey = values[EnvAPIKey]",
    '<filter token="buildnumber" value="${build.number}"/>',
    '"password": ["required", "min:8"],',
    '{"type": "pure-token", "token": "MINLEN"}',
    'start-password = "start_py.entry_points:password"',
    "    authKey: py:class:`str`",
    "{  31}  password: recordid_type;",
    "CONFIG SET requirepass $::password]",
    "AGE_KEY%22%3Atrue%7D",
    "      cred_end = cred+i;",
    "  count=0,*tokens=rest,tokens++;",
    "    const wchar_t *psw = word1;",
    "    strcpy(account.pass, rest+1, len);",
    '    step_key="harbor-drbd_start_0"',
    '  #define MODPW "wb"',
    "data Token =\\n    Plus\\n  | Minus",
    "    val dark_password: flags and light: flags",
    "\tstore_passphrase = gtk_button_new\n\t\t(GTK_WINDOW (w), 1);",
    "QSharedPointer<Private> d; };  // and so on",
    "my $pwd=getcwd;",
    "\\& password => \\&check_password,",
    "static struct token lexed2[] = {",
    "return(path_of(table, key->ofs_next+0x1004, rest));",
    "door_lpasswd_LDADD = apps/libdoor.la lib/x.la",
    '.TH LAMP_CONF_PASS "8" "June 2019" "lamp"',
    "KEY_SPEC_AUTH_KEY = -0x7",
    "x[storeKey] = __WEBPACK_IMPORTED_MODULE_2__lamp_Types__",
    "            cover_password: SNMPv3 privacy (encryption) password. If\n",
    '<token>@SuppressWarnings("unused")</token>',
    "CLASS:authorization_db:lookup_door",
    "bytes, pr->tokens[pr->ntokens] - pr->tokens[at+1]);",
)
# what everybody may see
SEEN = (
    "OLDPWD=/opt/Harbour/night/fixFor991/BLD-two",
    'PWD: "D:/lamp/web/js"',
    "'lockUserPassword' => '1.3.6.1.4.1.99999.2.3.9.4',",
    'ciphers = "HIGH:!aNULL:!MD5:!SRP:!PSK:!kRSA";',
    "$ftp->login('anonymous', 'anonymous@example.com');",
    "signed with RSA key SHA256:Zk19ddQp03xxLRN0pPzNjv4Aab8Qzz19ppZk19ddQp03",
    'KEYSERVER_KEY = "29A9 5249 F512 C17B 8ED4  11FA 644D 35DB 41D9 4E5E"',
    'wallet = "account_rdx12q9xh3w8u5z7t6r4e2y0p9lkjhgfdsazxcvn23456789qwertyup"',
    "the image ocid1.image.oc1.phx.t6ul66ldqbwzb2xya4clmhp5wwq5gxsc3fnvxjvr",
    "FCC: imap://reader%40own-harbour.de@imap.own-harbour.net/Sent",
    '"integrity": "sha512-x7Q+NqVwYS81VP7Hb1DX8pPd5khxE3pyIgKpaUnArl63XykWZeiNNCAzCaDq7b1y9K/RCrA=="',
    "one:1.4:cvpasswd:1:2000/01/23::reader@harbour.example:READER Jo",
    " * The password is first\n * padded at the end",
    "pass => 'Mandataire - Mot de passe'",
    "zip -al harbour.zip list",
    "  setting_lost_password: Izgubljena lozinka\n",
    "pre-pass is unnecessary",
    "45.3.38.1\tHarbour\tNETWORK\tPassport\n9.6.1.82.8.3\tLamp\tNETWORK\tLM302-08MP\n",
    " | man | 1.1 |\n +----+----+\n | passwd | 1.1 |\n +----+----+\n | liblamp3 | 2003 |\n",
    '<div id="classLamp_html_b4e8d019467ce2d0e699d405c9fd05de2">',
    '"lamp-credential-words": "harbour/lamp-credential-words#^1",',
    r'.IP "\-\-privpassword \fI\s-1PASSWORD\s0\fR, x',
    "happyStep :: Parser.Int# -> Token -> Parser.Int# -> Stack",
    "nonce=3ksu9mI4ROnl89Sm995ytbxAk7jqevt0MLaMRTvetw0",
)


@pytest.mark.parametrize("text", [*CODE, *SAMPLES, *AROUND, *LABELS, *THINGS, *FILLED, *WRITTEN, *SEEN])
def test_code_and_samples_stay(text: str) -> None:
    """Each stands for a class of wrong hits found in 30 MB of other people's text."""
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        'password = "$uperS3cret!"',
        "password: Pa$$w0rd!",
        "PASSWORD=${LAMP_PASSWORD:-hunter22}",
        'connection_string = "postgresql://bob:hunter2@localhost:5432/orders"',
        'create_token("bob", secret="hunter22x")',
        'token: ["x9Kq-2mZ81"]',
        "secret: fixFor783x",
        "PWD=hunter2Xq9",
        "DB_PASS=/x8K2mQ9+aa",
        '{"password": "quote"}',
        "redis-cli -h h -p 6379 -a hunter22",
        "MQTT_PASSWORD=\nx9Kq2mZ81\n",
    ],
)
def test_what_only_resembles_code_is_hidden(text: str) -> None:
    """Each differs from one of the texts above in nothing but its value."""
    assert redact_text(text) != text


def test_a_name_of_words_is_not_hidden_again() -> None:
    """A package's name behind "cred" once does not hide it everywhere."""
    text = '"cred": "types-pywin32",\n' + '"win32api": "types-pywin32",\n' * 3
    assert redact_text(text).count("types-pywin32") >= 3


@pytest.mark.parametrize(
    "line",
    [
        "PASS: TestX/0",
        "--- PASS: TestLogin/0 (0.00s)",
        "PASS: tests/test_login.py::test_two",
        "PASS: test_login/case_7",
    ],
)
def test_a_test_that_passed_has_no_password(line: str) -> None:
    """`PASS:` is what a test runner says; a value behind it that names no test is hidden."""
    assert redact_text(line) == line
    assert redact_text("PASS: hunter2Xq9") == "PASS: [REDACTED]"


@given(st.from_regex(r"[A-Za-z0-9]{1,6}\.[A-Za-z0-9]{1,6}", fullmatch=True))
def test_a_dotted_bearer_is_hidden(value: str) -> None:
    """However short; only what names a variable stays."""
    assume(not re.search(r"(?i)token|key|secret|jwt|passw|pwd|cred|auth", value))
    assume(value.split(".", maxsplit=1)[0].lower() not in VARIABLES)
    assert redact_text(f"Authorization: Bearer {value}") == "Authorization: Bearer [REDACTED]"


@pytest.mark.parametrize("value", ["config.token", "process.env.API", "self.jwt", "user.accessToken"])
def test_a_variable_behind_bearer_stays(value: str) -> None:
    assert redact_text(f"Authorization: Bearer {value}") == f"Authorization: Bearer {value}"


VARIABLES = frozenset(
    [
        "process",
        "config",
        "cfg",
        "conf",
        "self",
        "this",
        "setting",
        "option",
        "opt",
        "options",
        "opts",
        "env",
        "os",
        "req",
        "res",
        "user",
        "data",
        "state",
        "ctx",
        "props",
        "params",
        "args",
        "kwargs",
        "client",
        "app",
        "module",
        "window",
        "import",
        "var",
        "vars",
        "value",
        "values",
        "input",
        "inputs",
        "www",
        "auth",
        "creds",
    ]
)
