"""Lines as people paste them: what a console, a program or a provider is told is hidden, its neighbours stay."""

from __future__ import annotations

import pytest

from jsonlstore.redact import prefilter, redact_text
from jsonlstore.redact.rules import MARK

WORD = "Heron4817!"
WORDS = "willow.badger58"
RUN = "Rk7vQ2mXz9LpT4wNc8Yd"
HEX = "4e1b9c07d35fa862"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (f"crypto.createHmac('sha512', '{RUN}')", RUN),
        (f'cipher = AES.new(b"{RUN}", mode)', RUN),
        (f"jwt.sign({{ id: 7 }}, '{RUN}')", RUN),
        (f"header = base64_encode('eve:{WORD}')", WORD),
        (f'new Sequelize("stock", "eve", "{WORD}")', WORD),
        (f'conn.simple_bind_s("uid=eve,dc=example", "{WORD}")', WORD),
        (f'"login": ["eve", "{WORD}"]', WORD),
        (f'os.getenv("MAIL_PASS", "{WORD}")', WORD),
        (f"net user eve {WORD} /add", WORD),
        (f"log in as eve with {WORD}", WORD),
        (f"the password you want is {WORD}", WORD),
        (f"their password changed to {WORD}", WORD),
        (f"secret key below:\n{RUN}\n", RUN),
        (f"<password>${HEX * 2}</password>", HEX),
        (f"ftp> user eve {WORD}", WORD),
        (f"331 Please give the password.\nPASS {WORD}", WORD),
        (f"lftp -u eve,{WORD} files.example.org", WORD),
        (f"user cache on >{WORD} ~app:* +get", WORD),
        (f"10.0.0.1:6379> AUTH eve {WORD}", WORD),
        (f'expect "*?assword:*" {{ send "{WORD}\\r" }}', WORD),
        (f"echo {WORD} | su -c id", WORD),
        (f"[mail.example.org]:587 eve@example.org:{WORD}", WORD),
        (f"ldap://uid=eve,dc=example:{WORD}@dir.example.org", WORD),
        (f"crypto isakmp key {WORD} address 192.0.2.8", WORD),
        (f"the office wlan is Upstairs, key: {WORD}", WORD),
        (f"WLAN-Schlüssel: {WORD}", WORD),
        (f"curl -d 'user=eve&password={WORDS}' h", WORDS),
        (f'export DB_PASSWORD="{WORDS}"', WORDS),
        (f"curl --cookie 'sid={RUN}' h", RUN),
        (f"admin:{WORD} works on the test box", WORD),
        (f"ID PW eve {WORD}", WORD),
        (f"pay_prod_{RUN}", RUN),
        (f"zeta_{HEX * 3}", HEX * 3),
        (f"trello key {HEX * 2}, token {HEX * 4}", HEX * 2),
        (f"mailjet {HEX * 2} / {HEX[::-1] * 2}", HEX * 2),
        (f"shodan init {RUN}aQ3", RUN),
        (f"x = {HEX * 2}.{RUN[:16]}", HEX * 2),
        (f"https://eth.g.alchemy.com/v2/{RUN}{RUN[:12]}", RUN),
        ('api_token = "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"', "aBcDeFgHiJkLmNoPqRsTuVwXyZ"),
    ],
)
def test_what_is_pasted_with_a_secret_in_it(line: str, value: str) -> None:
    """Hidden once and for good, and the pre-filter lets none of them by."""
    hidden = redact_text(line)
    assert value not in hidden
    assert MARK in hidden
    assert redact_text(hidden) == hidden
    assert prefilter.may_match(line)


@pytest.mark.parametrize(
    "line",
    [
        f"commit-{HEX * 2}{HEX[:8]}",
        f"sha256-{HEX * 4}",
        f"layer_{HEX * 4}",
        f"request-id: req_{HEX * 2}",
        f"main-{HEX * 2}.js",
        f"merged {HEX * 2}{HEX[:8]} into main",
        f"md5 of the image is {HEX * 2}",
        "net user experience design",
        "user bob on duty > 3 hours",
        "AUTH failed for three users",
        "admin:readwrite, root:wheel",
        "crypto.createHmac('sha256', secret)",
        "new PDO($dsn, $user, $password)",
        'secret_alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"',
        "token = module.linear12",
        "the wifi key is on the router",
        'os.getenv("LOG_LEVEL_KEY", "warning")',
        "cloudflare error 522 on the front page",
        "[mail.example.org]:587 is up again",
    ],
)
def test_what_only_looks_like_it_stays(line: str) -> None:
    """Hashes and ids, talk about logins, calls with variables."""
    assert redact_text(line) == line


def test_a_header_behind_an_escaped_break_is_one() -> None:
    """The letter of the escape is no part of the header's name, so its scheme need not be a known one."""
    line = f'{{"command": "echo 1\\nAuthorization: Key {RUN}\\nls"}}'
    assert RUN not in redact_text(line)
    assert redact_text(line).endswith('\\nls"}')


@pytest.mark.parametrize("blank", ["", "+", "%20"])
@pytest.mark.parametrize("name", ["password", "api_key", "token"])
def test_json_in_a_form_keeps_its_marks_and_loses_its_value(name: str, blank: str) -> None:
    """A form sends a blank as a plus or in code, and what follows the value is no part of it."""
    text = f"body=%7B%22user%22%3A{blank}%22bob%22%2C{blank}%22{name}%22%3A{blank}%22Zk19ddQp03xx%22%7D"
    assert redact_text(text) == text.replace("Zk19ddQp03xx", MARK)


@pytest.mark.parametrize("name", ["bindpw", "LDAP_BINDPW", "rootpw", "findpw"])
def test_what_ends_in_pw_names_a_password(name: str) -> None:
    """Whatever word stands before it; two letters before it are an abbreviation."""
    assert redact_text(f"{name}: orchard") == f"{name}: {MARK}"
    assert redact_text("FOPW=orchard") == "FOPW=orchard"


@pytest.mark.parametrize("form", ['boundary="part_{}"', "/img/photo_{} ", "files/report_{}"])
def test_a_hexadecimal_number_in_a_boundary_or_a_path_is_no_key(form: str) -> None:
    """Mail programs and servers name what they send so."""
    text = form.format("0a1b2c3d4e5f60718293a4b5c6d7e8f9")
    assert redact_text(text) == text
