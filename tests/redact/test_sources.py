"""What programs, style sheets and language files have behind secrets' names, and what stays hidden all the same.

One invented example for each class of values that were hidden wrongly in other people's text.
"""

from __future__ import annotations

import pytest

from jsonlstore.redact import redact_text

EXPRESSIONS = (
    "        signing_key = !header.algorithm\n",
    "    pw = 2.0**self.scale_bits\n",
    "let authorization = format!(",
    '        res_secret = s.derived_secrets["resumption"]\n',
    "            token: renamed$1\n",
    "const { token: token$2 } = await refresh()",
    "exports.AccessKey=AccessKey;function Other(){}",
    "  password: yup\n    .string()\n    .min(8)\n",
    "char *encryption_key = has_key ? FIRST_NAME : SECOND_NAME;",
    "    token=FIRST_ENCODED_DATA,\n",
    "    repo.password = opts.token!;\n",
    '    args["private_key"] = rsa_key\n',
    'argv.extend(["--secret", secret_ref])',
    "    left = all_tokens - first.shape[0]\n",
)
NAMES = (
    "input.field_password:focus,textarea:focus{color:red}",
    "urn:example:names:classes:Password:RestrictedLength",
    "paste.filter_factory = package.middleware.auth_token:filter_factory\n",
    'secret_type = "AWS::SecretsManager::Secret"',
    'tlsSecret: "tlsSecretName"',
    '"token": "#/definitions/Authenticator"',
    "const ACCESS_KEY_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'",
)
TEXTS = (
    "a: 'Kode ini salah',\n  backupCode: 'Kode cadangan',\n  b: 'Masukkan kode itu',\n",
    'formFieldLabel__backupCode: "Rezervni kod"',
    '"Reset my password": "Neues Kennwort"',
    'data: {"token": "assistant "}\n\ndata: {"token": "workers. "}\n',
    "パスワードは8文字以上でなければいけません",
    '"passphrase": "--passphrase-fd"',
    "headers.Authorization = 'key=' + currentKey;",
    "'X-Auth-Token': 'user:%s:admin' % owner,",
    'authorization: "https://id.example.org/authorize?scope=login:info+login:email"',
    "using --auth-token flags",
)
HASHES = (
    'integrity sha512-q1+pyPw==\n\nclean-regexp@^1.0.0:\n  version "1.0.0"\n',
    "GPG_KEYS=DFFA3DCF326E302C4787673A01C4E7FAAAB2461C",
    "rbd_secret_uuid=3306a5c4-8378-4b3c-aa1f-7b48d3a26172",
    "A" * 200 + "/EAAAoBUAACMUAACJEgAAixQAAE0VAADUEQAAzxQAABAYAADJFgAA3BYAAMERAADgFwAAuxQAAHQU",
)


@pytest.mark.parametrize("text", [*EXPRESSIONS, *NAMES, *TEXTS, *HASHES])
def test_no_secret_stays(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "line",
    [
        "secret: {}",
        "client_secret: {}",
        "secret = {}",
        '"secret": "{}"',
        "token: {}",
        '"token": "{}"',
        '"api_key": "{}"',
        "password: {}",
        "PASSWORD={}",
    ],
)
@pytest.mark.parametrize("value", ["Sommer", "Hunter", "Abcd"])
def test_a_capitalised_word_behind_a_secrets_name_is_hidden(line: str, value: str) -> None:
    assert value not in redact_text(line.format(value))


@pytest.mark.parametrize("line", ["password={}", "PASSWORD={}", "password: {}"])
def test_three_digits_are_a_password(line: str) -> None:
    assert redact_text(line.format("739")) == line.format("[REDACTED]")


@pytest.mark.parametrize(
    "name", ["salt", "cert", "api", "my_pepper", "x-key_1", "dbsalt_prod", "certValue", "app.auth"]
)
@pytest.mark.parametrize("form", ['{} = "{}"', "{}={}", "{}: {}", '"{}": "{}"', "<{}>{}</x>", "set_{}('{}')"])
def test_a_random_value_behind_a_weak_name_is_hidden_and_a_word_is_not(name: str, form: str) -> None:
    value = "Qz7Lm2Xp9Rt4Vb8Nc3Wd"
    assert value not in redact_text(form.format(name, value))
    assert redact_text(form.format(name, "ordinary")) == form.format(name, "ordinary")
