"""Behind a provider's name alone what a machine made up is hidden; commits, checksums and ids stay."""

from __future__ import annotations

import random
import string
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.redact import prefilter, redact_value
from jsonlstore.redact.rules import MARK, words
from jsonlstore.redact.text import redact_text

if TYPE_CHECKING:
    import uuid

HEX = "3a9d0c7e51b8f264"
FORMS = (
    "{} = {}",
    '"{}": "{}"',
    "{}.token={}",
    "{}: '{}'",
    "const {}Key = `{}`",
    'new {}("{}")',
    "my {} key is {}",
    "here is the {} one: {}",
    "export {}_API={}",
)
vendors = st.sampled_from(sorted(words("vendors"))).map(lambda name: name.replace("_", "."))


@given(vendors, st.sampled_from(FORMS), st.sampled_from((32, 40, 64)), st.integers(0, 10**6))
def test_a_hexadecimal_key_is_hidden_behind_any_provider(name: str, form: str, size: int, seed: int) -> None:
    """Assigned, listed, called with or said; in small letters and in capitals."""
    value = "".join(random.Random(seed).choices("0123456789abcdef", k=size - 2)) + "7b"
    for shown in (name, name.upper(), name.title()):
        text = form.format(shown, value)
        hidden = redact_text(text)
        assert value not in hidden
        assert redact_text(hidden) == hidden
        assert prefilter.may_match(text)


@given(vendors, st.sampled_from(FORMS[:4]), st.integers(0, 10**6))
def test_a_random_key_is_hidden_too(name: str, form: str, seed: int) -> None:
    value = "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=28)) + "4kQ9"
    assert value not in redact_text(form.format(name, value))


@given(st.sampled_from(sorted(words("vendors-uuid"))), st.sampled_from(FORMS), st.uuids(version=4))
def test_a_uuid_is_hidden_behind_those_who_issue_such_keys(name: str, form: str, value: uuid.UUID) -> None:
    assert str(value) not in redact_text(form.format(name, value))


def test_a_key_of_json_is_a_name_as_well() -> None:
    assert redact_value({"deepgram": HEX * 2}) == {"deepgram": MARK}
    assert redact_value({"deepgram_request_id": HEX * 2}) == {"deepgram_request_id": HEX * 2}


@pytest.mark.parametrize(
    "text",
    [
        f"commit {HEX}0c1d2e3f",
        f"deepgram-sdk: {HEX}{HEX}",
        f"datadog_trace_id={HEX}{HEX}",
        f'"mixpanel_distinct_id": "{HEX}{HEX}"',
        f"sendgrid_sha256: {HEX * 4}",
        f"checksum: {HEX * 2}",
        f"md5 = {HEX * 2}",
        f"SPEC CHECKSUMS:\n  Alamofire: {HEX}0c1d2e3f\n  Mixpanel: {HEX}1d2e3f0c\n  Stripe: {HEX}2e3f0c1d\n",
        f"see github: {HEX}0c1d2e3f",
        "datadog: 2f1c0e9a-7b6d-4c5e-8f90-1a2b3c4d5e6f",
        f"https://api.deepgram.com/v1/{HEX}{HEX}",
        f"the heroku app = {HEX}",
        "twilio: https://www.twilio.com/docs/usage/api",
        "openai = OpenAIClientWithRawResponse",
        f"sentry release is {HEX}0c1d2e3f",
        f"deepgram uploaded it and the result is {HEX * 2}",
        f"posthog: {'0' * 32}",
    ],
)
def test_commits_checksums_and_ids_stay(text: str) -> None:
    assert redact_text(text) == text
