"""Where a value stands says what it cannot be: a type, a parameter, a number of a list, a word of a catalogue."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jsonlstore.redact import redact_text

NUMBERS = (
    "ERR_LOCKED = 4117\nERR_STALE_PASSWORD = 4118\nERR_QUOTA = 4119\n",
    "readonly STALE_LOGIN_PASSWORD: '730211';\nreadonly GONE: '730213';\n",
    "pub const OPTION_PASSWORD: u32 = 31u32;",
    "pub const NO_OP: EXPR_TOKEN = 7i32;",
    '{"scan_pass": 0.48217364172363}',
    "openAccount: 62,\nopenAccountByPassword: 371,\nopenAccountByCode: 671,\n",
    "    // lengthOfPassword: 2-byte\n",
    " (1 token: size=1 2 3)",
    "{LINE:.5,TOKEN:.5,WORD:1}",
    "password_pbkdf2_rounds = 310000",
    "The token expires: its validity defaults to 86400 seconds.",
)
CODE = (
    'headers.Authorization=o.kind+" "+v}return',
    "rotateSecret(session, password, newPassword, checker12C, done) {",
    "b32token=b32token,",
    'if "password" in given and kind != "users.rename":',
    "@signing_key ||= @keyring.first.dup do |key|",
    "token <- reply$access_token",
    "password = Opts#mail_opts.password,",
    "for _, newPassword := range candidates {",
    'if test "x$passwd_row" = "x$wanted2_row"; then',
    "%token kw_Number\n%token kw_IA7Text\n",
    "    ssh_key ed448_key;\n",
    "    cb->auth_password_function = ask_password_cb;\n",
    "const char *b64Token = start+3;",
    "pub paren_token: Token![paren],",
    "let token = input.parse::<Word>()?;",
    "r['wrap_key']=key_base64",
    'case"WRAPPED PRIVATE KEY":n=function f(a){',
    "this.depthPass=7681}get mode(){return",
    "x = load(\n    path=path, password=keypass\n)\n",
    "password: passwordHash\n",
    "store.password = rig2_pass\n",
    'dialog.find("Password:.*field")',
    "var token = /h{1,4}|q{1,3}|zz/g",
    "secret = secret.encode('utf-16be')",
    "Interpolate('sqlite:///at-%(secret:main_db)s-file')",
    "$token = Get-StsAccessToken @args",
    "if (given->password->PBKDF2Repetitions < 900)",
    "status(await f(b'key', (0, None), client_key=pkey,\n",
    "switch(token = *next++) {",
    'TOKEN_ROOM:"tinyRoom",OPEN_TIMEOUT:3e5,Open',
    "value=made(key=api_key,\n value=outcome,\n",
    'password = @{type = "str"}',
    ".process_tokens = base_##name##_process_tokens,",
)
NAMES = (
    "s5token = proxy.common.layers.s5api.s5token:make_filter",
    "'StreamCipher', 'CryptoKey', 'Curve448XH', 'Curve25519XH',",
    'const _MTPW = "MoveTablePrefixWith";',
    "X-Mailbox-Account-Key: account7",
    '"symbolId": "src/words/token:Splitter"',
    'assert as_token("RED[300]") == "red[300]"',
    '"ssh_private_key": "ssh_pkey"',
    'connectionString: "postgres://app@localhost/app"',
    'connection_string="TLS:build.example.org:9989"',
    "private_key=conf/server.key",
    '"/two-step/make-backup-codes": "POST",',
    'put "/disk/:sealed_token" => "blobs/disk#update"',
    'old_key: "icons/1f5dd.png?v3"',
    '#define HOST_SSH_KEY "AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAAAx"',
    '"signing_certificate": "MIIDqjCCApKgAwIBAgIGAY2cRRgzMA1HCSqHSIb4ERFCDxVBNJKTNSwxQ"',
    "+CHACHA20-POLY1305:-RSA:-PSK:-DHE-RSA:-AES-256-CCM",
    "gpg: using RSA key 9C0D51E27B3A44F6A1B2C3D4E5F60718293A4B5C",
    "style-src 'self' 'sha256-o5vzgmmVEMEg5chNjjRP0EuW0ucHnGIHVdbm9d1SHQR='; script",
    "Device('key_here', '10.0.0.x', 'secret_key_here', 'lamp22')",
    '-p "testpassword" registry:5000',
    "path=M0 0h-48v32h-32v-32h-48v32h-32v-32v-32v-32h32v32h48v-32h32v32h48v-32h32v32v32z",
    '"arn:aws:execute-api:eu-west-3:4821:abcde/prod/GET/v1/orders"',
)
TEXTS = (
    "The server asks for the password if a password is mandated for this login.",
    "Store passwords in a salted fashion, which is tricky\nto explain.",
    "The new password is successful and replaces the old one.",
    'msgstr "Die Option --one-time-password oder --user fehlt"\n',
    'raise Wrong("--registry-password requires --registry-user.")',
    "the old one, but --password suffers from the same",
    "  --dont-expire-password Turns expiry off",
    "the default name. (Mnemonic: brother to it.)",
    "<auth-user-pass>\n  username\n  [password]\n</auth-user-pass>",
    '"api_secret": "Kunden hemlighet"',
    "gunzip -c x.sql.gz | mysql -uroot -p shop",
    "The --ftp-password command switches were renamed.",
    "   -c, --passwd=file          where the passwords are\n",
    " * @cred: TLSv1 settings from tls_alloc()\n",
    ":param password: Use with auth='LDAP' or auth='CUSTOM'",
    "# kept token: `load_token()` may ask the server",
    "* **password-auth:** Added a method of its own\n",
    "htpasswd: plug a leak\n",
    "tls.wrong_password=The given password could not be read\n",
    '{"Screen Access Password": "GUI:n tunnus"}',
    '<span class="token operator">=&gt;</span> <span class="token number">1.0</span>',
    '<a href="../fr/htpasswd.html" title="x">&nbsp;fr&nbsp;</a>',
    "typedef struct {\n    /* <private> */\n    int parent;\n} Device;\n",
    "SELECT password FROM users WHERE name = '%u@%r'",
    "UPDATE users SET password=%Q WHERE id=%Q",
)


@pytest.mark.parametrize("text", [*NUMBERS, *CODE, *NAMES, *TEXTS])
def test_no_literal_secret_stands_there(text: str) -> None:
    """Each stands for a class of places that hold no secret, in code, markup, settings or prose."""
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "port = 5432\npassword = 1234\nretries = 7\n",
        "PASSWORD_1=1234\nPASSWORD_2=1235\n",
        '<span class="password">hunter2x9</span>',
        'connectionString: "postgres://bob:Zk19ddx@localhost/app"',
        "--password=HUNTER",
        "when asked, the password is swordfish.",
        "**password:** hunter2",
        "app.password=swordfish",
        "update_password=hunter2x9",
        "PASSWORD=prod1_pass",
        'connect(user="x",\n  password="hunter"\n)',
        "unzip -P hunter2x9 a.zip",
        'setProperty("API_TOKEN", "abcd1234x")',
        'ds.setPassword("Ukhxcxc1168%");',
        'Environment="TOKEN=Hnwnnpw517+"\n',
        "**authtoken1**:xP5t0X71Y6KTvBzq0lEhWX-7; next = 1",
        "mysql --user bob --password hunter2 shop",
        '<img src="https://ci.example.org/badge.svg?token=RXZ95LE2XL">',
    ],
)
def test_beside_them_values_are_hidden(text: str) -> None:
    """What looks alike but holds a value."""
    assert "[REDACTED]" in redact_text(text)


@given(st.from_regex(r"[a-z]{3,8}(?:[A-Z][a-z]{2,8}){2,3}", fullmatch=True), st.sampled_from(("token", "API_TOKEN")))
def test_a_setting_is_hidden_and_a_variable_stays(value: str, name: str) -> None:
    """A camelCase word is a value in a line of settings or in quotes, and a variable in a program."""
    assume(len(set(value.lower())) > 3)
    assert redact_text(f"{name}={value}\n") == f"{name}=[REDACTED]\n"
    assert redact_text(f"export {name}={value}\n") == f"export {name}=[REDACTED]\n"
    assert redact_text(f'{name}="{value}"') == f'{name}="[REDACTED]"'
    assert redact_text(f"    {name} = {value};\n") == f"    {name} = {value};\n"


@pytest.mark.parametrize("form", ["(password {})", "(password: {})", "password={}, and", "[password={}]"])
def test_a_word_and_a_number_are_no_difference_in_brackets(form: str) -> None:
    """A password as people choose them is not an expression because a bracket or comma ends it."""
    assert "otter-26" not in redact_text(form.format("otter-26"))
    assert redact_text("token_len = end-1)") == "token_len = end-1)"
