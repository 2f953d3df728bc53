"""Whose key it is tells what stands behind it; secrets among other words, in getters, cells and elements."""

# ruff: noqa: E501

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.redact import prefilter
from jsonlstore.redact.text import redact_text

UUID = "7c41e2d9-90ab-4f6e-8d13-b25e0c97a1f4"
HEX = "9c3e07a1d5b84f62"
GENERATED = {
    "uuid": UUID,
    "hexadecimal": HEX + "e81f",
    "md5": HEX * 2,
    "short": "k7Zq2mXw9t",
    "lower": "q8w2zkx7v1m4jt9rb3hd",
    "with a kind": f"live_{HEX}a5d",
}


@pytest.mark.parametrize("value", GENERATED.values(), ids=GENERATED)
@pytest.mark.parametrize(
    "text",
    [
        'acmecloud_key = "{}"',
        "ACMECLOUD_KEY={}",
        'acmecloudKey := " {} "',
        '"acmecloud-api": "{}"',
        "acmecloud key: {}",
        "POST to the API of acmecloud\n  DEBUG with Key={} in the header",
        "<secret>{{acmecloud AQAAABAAA {}}}</secret>",
        "<apiToken>v2 {}</apiToken>",
        'func getAcmeToken() string {{ return "{}" }}',
        'def api_token() -> str:\n    return "{}"',
        '<td class="k">Token\n  </td>\n  <td class="v">{}</td>',
    ],
)
def test_what_a_machine_made_up_is_hidden_near_a_name(text: str, value: str) -> None:
    """Short ones, UUIDs and hexadecimal numbers too, where a name says whose key it is."""
    hidden = redact_text(text.format(value))
    assert value not in hidden
    assert redact_text(hidden) == hidden


@pytest.mark.parametrize(
    "text",
    [
        f'"row_key": "{UUID}"',
        f"cacheKey={HEX * 2}",
        f'"eventKey": "{UUID}"',
        f"partition key: {HEX}e81f",
        f"sessionKey: {UUID}",
        f'{{"key": "{UUID}"}}',
        f"the key: {HEX}e81f",
        f"key={HEX * 2} was evicted",
        "ckey = get_test_key('ecdsa-sha2-nistp256')",
        '<secret>{{ .Values.token }} {{ include "chart.name" . }}</secret>',
        "<token>the word that follows the operator</token>",
        'def get_token_name() -> str:\n    return "X-Acme-Token"',
        'func tokenType() string { return "bearer" }',
        "the secret (see chapter 12) is kept elsewhere",
        "a password 8 characters long",
        "username/password combination must be told",
        'token_types = [\n    "bearer",\n    "basic",\n]',
        '<td class="k">Token</td>\n<td class="v">what the server sends</td>',
    ],
)
def test_keys_of_things_and_words_stay(text: str) -> None:
    """A row, a cache and an event have keys that open nothing; nor does every word near a name tell."""
    assert redact_text(text) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("enable secret 5 $1$k7Zq$q8w2zkx7v1m4jt9rb3hd2c", "$1$k7Zq$q8w2zkx7v1m4jt9rb3hd2c"),
        ("username bob privilege 15 password 7 04580215A0C2E", "04580215A0C2E"),
        ("snmp-server community n0rth5ide RW 99", "n0rth5ide"),
        ("Unseal Key 3: " + "k7Zq2mXw9tA+" * 3 + "k7Zq2mX=", "k7Zq2mXw9tA+k7Zq2mXw9tA"),
        ("telnet(bob/k7#Zq2mX)", "k7#Zq2mX"),
        ("our secret (q8w2zkx7v1m4jt9r) opens it", "q8w2zkx7v1m4jt9r"),
        ("buildConfigField 'String', 'API_KEY', '\\\"" + HEX * 2 + "\\\"'", HEX * 2),
        ("Activation key : QZVWK-XMTRB-PHJDF-LWQNC-GKZRT", "QZVWK-XMTRB-PHJDF-LWQNC-GKZRT"),
        ("org+deployer:" + "K7ZQ2MXW9T4VB8RD" * 3, "K7ZQ2MXW9T4VB8RD" * 3),
        ('tokens = [\n    "k7Zq2mXw",\n    "' + HEX * 2 + 'a1b2c3d4",\n]', HEX * 2 + "a1b2c3d4"),
        ('refresh_tokens = """\\\nk7Zq2mXw9tA/k7Zq2mXw\\\nq8w2zkx7v1m4jt9r\\\n"""', "q8w2zkx7v1m4jt9r"),
        ("id/bob pw/k7Zq2mXw", "k7Zq2mXw"),
        ("user(pw): bob(k7Zq2mXw!)", "k7Zq2mXw!"),
        ("비번 : k7Zq2mXw", "k7Zq2mXw"),
        ("토큰 설정은 k7Zq2mXw9tA", "k7Zq2mXw9tA"),
        ('curl_easy_setopt(h, CURLOPT_PROXYUSERPWD, "bob:k7Zq2mXw");', "k7Zq2mXw"),
        ('{"kty": "oct", "k": "k7Zq2mXw9tAq8w2zkx7v1m4jt9r"}', "k7Zq2mXw9tAq8w2zkx7v1m4jt9r"),
        ('connect(getenv("PGPASSWORD", b"k7Zq2mXw"))', "k7Zq2mXw"),
    ],
)
def test_forms_of_devices_and_licences_are_known(text: str, secret: str) -> None:
    """What a router's configuration, a licence and a robot's account look like."""
    assert secret not in redact_text(text)


@given(
    st.sampled_from(["acmecloud_key", "ZorpApiKey", "blip-key", "wibbleAuth"]),
    st.sampled_from([" = ", "=", ": ", ":", " := "]),
    st.sampled_from(['"', "'", ""]),
    st.integers(16, 48),
    st.randoms(use_true_random=False),
)
def test_the_pre_filter_and_the_redactor_agree_on_any_such_key(
    name: str, operator: str, quote: str, length: int, rng: random.Random
) -> None:
    """What is hidden behind a key of somebody is never waved through, and stays hidden the second time."""
    value = "".join(rng.choice(string.ascii_letters + string.digits) for _ in range(length))
    text = f"{name}{operator}{quote}{value}{quote}"
    hidden = redact_text(text)
    assert hidden == text or prefilter.may_match(text)
    assert redact_text(hidden) == hidden


def test_a_column_of_a_page_is_read_like_any_other() -> None:
    """Below a head that names a secret; a row of another length ends the table, words stay."""
    head = '<tr>\n<th class="c">#</th>\n<th>host</th><th class="c">\n <p>Password\n</p></th></tr>'
    rows = (
        "<tr><td>1</td><td>a.example</td>\n<td>\n <code>{}</code>\n</td></tr><tr><td>2</td><td>b</td><td>{}</td></tr>"
    )
    text = f"<table>{head}{rows}</table>"
    hidden = redact_text(text.format("k7Zq2mXw", "k7#Zq2m"))
    assert hidden == text.format("[REDACTED]", "[REDACTED]")
    assert redact_text(text.format("none", "see the wiki")) == text.format("none", "see the wiki")
    short = f"<table>{head}<tr><td>k7Zq2mXw</td></tr></table>"
    assert redact_text(short) == short


@pytest.mark.parametrize(
    "name",
    ["cookie_secret", "COOKIE_SECRET", "cookiePassword", "cookie-token", "session_cookie_secret", "reset_token",
     "resetToken", "password_reset_token", "invite_token", "privkey", "pepper"],
)  # fmt: skip
@pytest.mark.parametrize("form", ["{}={}", "{}: {}", '"{}": "{}"', "x {} = '{}'"])
def test_what_a_secret_is_for_does_not_hide_that_it_is_one(name: str, form: str) -> None:
    rng = random.Random(f"{name}{form}")
    for _ in range(20):
        value = "".join(rng.choices(string.ascii_letters + string.digits, k=24)) + "7"
        assert value not in redact_text(form.format(name, value))


@pytest.mark.parametrize(
    "text",
    ["resetPassword: resetPasswordHandler", "reset_password = true", "resetToken: string;", "reset_token varchar(255)",
     'reset_password: "Reset your password"', "password_reset_type=mail", "cookies=enabled", "pepper: one teaspoon",
     "change_password: Bob", "invite_token: required"],
)  # fmt: skip
def test_what_is_done_about_a_secret_is_none(text: str) -> None:
    assert redact_text(text) == text


STAND_INS = (
    "process.env.API_KEY || '{}'", 'process.env.TOKEN ?? "{}"', "getenv(\"API_KEY\") ?: '{}'", 'os.environ.get("API_KEY") or "{}"',
    "ENV['API_KEY'] || '{}'", "parser.add_argument('--token', default='{}')", 'parser.add_argument("--password", type=str, help="of bob", default="{}")',
    "@click.option('--api-key', default='{}')", 'var Token = []byte("{}")', 'char pass[] = "{}";', '<meta name="api-key" content="{}">',
    "Your API token is:\n\n{}", "Das Passwort lautet:\n{}", "The token is:\n\n```\n{}\n```",
)  # fmt: skip


@pytest.mark.parametrize("form", STAND_INS)
def test_what_stands_in_for_a_secret_is_one(form: str) -> None:
    rng = random.Random(form)
    for _ in range(20):
        value = "".join(rng.choices(string.ascii_letters + string.digits, k=24)) + "7"
        assert value not in redact_text(form.format(value))


@pytest.mark.parametrize(
    "text",
    ["password || ''", 'password || "password"', 'token || "none"', "const p = props.password || 'Password'", '"token" || "secret"',
     'parser.add_argument("--password", default=None)', "parser.add_argument('--token-file', default='~/.token')",
     "The password is:\n\nplease see below", 'x ? token : "abc" || "def"'],
)  # fmt: skip
def test_what_stands_in_for_none_stays(text: str) -> None:
    assert redact_text(text) == text
