"""A key that no pattern knows does not reach a state either."""

from __future__ import annotations

import base64
import random
import string

import pytest

from jsonlstore.redact.generated import hide_generated, is_generated
from tests.signals.test_distil import distil, user

_LETTERS = string.ascii_letters + string.digits
_SENTENCES = (
    "TODO: rotate {} before Friday.",
    "We decided to use {} for the new service.",
    "I'm blocked because {} is rejected by the server.",
    "Next step: try zz_{} on staging.",
    "The deploy is done, {} works.",
)


@pytest.mark.parametrize("length", [20, 24, 32, 48, 64])
def test_generated_words_are_told_from_names(length: int) -> None:
    draw = random.Random(length)
    words = ["".join(draw.choices(_LETTERS, k=length)) for _ in range(400)]
    assert sum(map(is_generated, words)) > 360  # short ones may lack a digit by chance


@pytest.mark.parametrize("sentence", _SENTENCES)
def test_an_unknown_key_stays_out_of_every_field(sentence: str) -> None:
    draw = random.Random(7)
    for _ in range(20):
        key = "".join(draw.choices(_LETTERS, k=24)) + "aB1cD2eF3"
        signals = distil(user(sentence.format(key)), user("The radio is next: calibrate the FT-991A."))
        assert key not in repr(signals)


@pytest.mark.parametrize(
    "text",
    [
        "see commit 8f3e2a1b9c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f and 01HQXYZABCDEFGHJKMNPQRSTVW",
        "session 550e8400-e29b-41d4-a716-446655440000 went idle",
        "rename getUserById2FactoryProvider to AbstractHttp2ConnectionFactoryBean",
        "open https://docs.example.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
        "fixtures/Xn9k3ksu9mI4ROnl89Sm995ytbxAk7jq.bin is the sample",
        "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg== is its hash",
        "test_restore_2026_02_14_with_v2_index_and_3_sessions fails",
        "python-3.11.7-linux-x86_64-gnu-release-candidate2 is out",
        f"it printed {base64.b64encode(b'hello, this is only a test').decode().rstrip('=')} twice",
    ],
)
def test_names_hashes_addresses_and_readable_base64_stay(text: str) -> None:
    assert hide_generated(text) == text


def test_hiding_twice_is_hiding_once() -> None:
    once = hide_generated("use NqVwYS81VP7Hb1DX8pPd5khx, and E3pyIgKpaUnArl63XykWZeiNNCiia3an.")
    assert once == "use [REDACTED], and [REDACTED]."
    assert hide_generated(once) == once
