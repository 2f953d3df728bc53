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
NEAR = (
    "# {name}\n{value}\n",
    "{name}:\n  - {value}\n",
    "I use {value} with {name}, please",
    'x = "{value}"  # {name}',
    "| service | one |\n|---|---|\n| {name} | {value} |",
    '{{"service": "{name}", "value": "{value}"}}',
    "service,value\n{name},{value}\n",
    "[INFO] the {name} client is ready\n[DEBUG] auth {value}\n",
    "req.Header.Add(\"X-{name}\", '{value}')",
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


@given(vendors, st.sampled_from(NEAR), st.sampled_from((32, 64)), st.integers(0, 10**6))
def test_a_key_is_hidden_near_any_provider(name: str, form: str, size: int, seed: int) -> None:
    """On the line above, in the next cell, in another member, behind a few words, and with the name behind it.

    Not what is as long as the name of a commit: that stands near any name.
    """
    for alphabet, end in (("0123456789abcdef", "7b"), (string.ascii_letters + string.digits, "4k9Q7x2")):
        value = "".join(random.Random(seed).choices(alphabet, k=size - len(end))) + end
        text = form.format(name=name, value=value)
        assert value not in redact_text(text)
        assert prefilter.may_match(text)


@pytest.mark.parametrize("name", ["copper", "monday", "polygon"])
def test_behind_a_word_that_is_a_provider_something_tells_of_a_key(name: str) -> None:
    """`monday` alone is a day."""
    value = HEX * 2
    assert value not in redact_text(f"[INFO] request to the {name} api, using {value}")
    assert value in redact_text(f"on {name} we got {value}")


@given(vendors, st.sampled_from(FORMS[:4]), st.integers(0, 10**6))
def test_a_random_key_is_hidden_too(name: str, form: str, seed: int) -> None:
    value = "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=28)) + "4kQ9"
    assert value not in redact_text(form.format(name, value))


@given(st.sampled_from(sorted(words("vendors-uuid"))), st.sampled_from(FORMS), st.uuids(version=4))
def test_a_uuid_is_hidden_behind_those_who_issue_such_keys(name: str, form: str, value: uuid.UUID) -> None:
    assert str(value) not in redact_text(form.format(name, value))


@pytest.mark.parametrize(
    "before",
    [
        "[DEBUG] auth ",
        "the api key I was given, see ",
        "here is your token, keep it: ",
        'New("quay.example.org", "token", "',
        "set password ENC ",
        "curl with bearer auth: ",
    ],
)
def test_a_word_that_tells_of_a_secret_needs_no_provider(before: str) -> None:
    """A few words or signs may stand between, on the same line."""
    for value in (HEX * 2, "k8Zq2LwX9vR4tY7uB1nM5cQ3sD6f"):
        text = f'so\n{before}{value}" and more'
        assert value not in redact_text(text)
        assert prefilter.may_match(text)


@pytest.mark.parametrize(
    "before",
    [
        "token bucket ",
        "nextToken: ",
        "token hash: ",
        "password\n",
        "Secret Santa list ",
        "commit for auth, sha ",
        "sort key ",
    ],
)
def test_what_says_that_it_is_something_else_is_heard(before: str) -> None:
    assert HEX * 2 in redact_text(f"so\n{before}{HEX * 2} and more")


@given(
    vendors,
    st.sampled_from(
        (
            '{{\n  "name": "{name}/psr7",\n  "dist": {{\n    "reference": "{value}"\n',
            "## {name}\n{value}\n",
            "| {name} | {value} |",
            "{name}:\n  - {value}\n",
            'at = "{value}"  # {name}',
        )
    ),
    st.integers(0, 10**6),
)
def test_a_commit_stays_near_any_provider(name: str, form: str, seed: int) -> None:
    """A package may be called like the provider it is for, and its lock file names the commit."""
    text = form.format(name=name, value="".join(random.Random(seed).choices("0123456789abcdef", k=38)) + "7b")
    assert redact_text(text) == text


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
        f"uses: codecov/codecov-action@{HEX}0c1d2e3f",
        f"FROM grafana/grafana@sha256:{HEX * 4}",
        f"deepgram is at commit\n{HEX}0c1d2e3f\n",
        f'"mailchimp_campaign": "{HEX}{HEX}"',
        "airship: x_display_x68kgrf.c",
        "deepgram fixed it, see GHSA-9x8q-p4wr-2vjm",
        "the parcel from deepgram is 1Z999AA10123456784",
    ],
)
def test_commits_checksums_and_ids_stay(text: str) -> None:
    assert redact_text(text) == text
