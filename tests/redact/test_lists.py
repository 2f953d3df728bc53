"""Lists and maps under a plural secret's name: what was typed or generated is hidden, words and numbers stay."""

from __future__ import annotations

import json

import pytest

from jsonlstore.redact import MARK, may_hold_secret, redact_text
from jsonlstore.redact.keys import looks_typed

_TYPED = ("q7Wm4xTz", "nB83kd#Lw2", "4f7kd-92mzq", "0a6Vr2Yp9Lk4")
_LISTS = (
    "03_fixed_passwords:\n  - \"{}\"\n  - '{}'\nport: 8080",
    "HOOK_SECRETS = {{\n    'a': '{}',  # first\n    'b': '{}',\n}}\nx = 1",
    '"apiKeys": ["{}", "{}"], "size": 3',
    "api_keys:\n  alice: {}\n  bob: {}\n",
    "Passwörter:\n* {}\n* {}\n",
    "backup codes:\n{}\n{}\n\nKeep them.",
    "Recovery keys:\n1. `{}`\n2. `{}`\n",
    "passwords => [ one => '{}', two => '{}' ]",
)


@pytest.mark.parametrize("before", ["", "here they are: ", "a line\n"])
@pytest.mark.parametrize("form", _LISTS)
def test_typed_values_of_a_list_are_hidden(form: str, before: str) -> None:
    for one, two in zip(_TYPED, reversed(_TYPED), strict=True):
        text = before + form.format(one, two)
        assert redact_text(text) == before + form.format(MARK, MARK)
        assert may_hold_secret(text)
        escaped = json.dumps(text, ensure_ascii=False)[1:-1]
        assert one not in redact_text(escaped)
        assert two not in redact_text(escaped)


@pytest.mark.parametrize(
    "text",
    [
        "passwords:\n  - name: admin\n  - length: 12\n",
        "secrets:\n  - source: app_config_v2\n    target: /run/app2/x1\n",
        "tokens = ['a1b2', 'utf8', 'plus2minus', 'OAuth2Client']",
        "SECRETS = {\n    'a': os.environ['A1'],\n    'b': load2('b')\n}",
        "api_keys: [primary, secondary]",
        "backup codes:\nThey are printed on page 12 of the manual.\n",
        "passwords = [first2, second2]",
    ],
)
def test_words_names_and_numbers_of_a_list_stay(text: str) -> None:
    assert redact_text(text) == text


def test_a_map_of_secrets_that_begins_a_file_is_read_as_one_below_a_line() -> None:
    for before in ("", "version: 2\n"):
        text = before + "secrets:\n  one: harbour77\n  two:\n    three: q7Wm4xTz\n"
        assert redact_text(text) == text.replace("harbour77", MARK).replace("q7Wm4xTz", MARK)


def test_a_list_ends_where_its_items_end() -> None:
    text = "passwords:\n  - q7Wm4xTz\nThe next line is prose.\n  - d3Kv8bRm"
    assert redact_text(text) == f"passwords:\n  - {MARK}\nThe next line is prose.\n  - d3Kv8bRm"


@pytest.mark.parametrize("value", [*_TYPED, "9c" * 16, "Herbst2031!x", "p@ssw0rd77"])
def test_what_was_typed_or_generated(value: str) -> None:
    assert looks_typed(value)


@pytest.mark.parametrize(
    "value",
    [
        "q7Wm",
        "token1",
        "sha256sum",
        "OAuth2Client",
        "v1.2.3-rc1",
        "src/x1/y2.py",
        "x86_64-linux",
        "us-east-1a",
        "f(x12)",
    ],
)
def test_what_was_not(value: str) -> None:
    assert not looks_typed(value)
