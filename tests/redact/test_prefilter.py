"""Whatever the pre-filter waves through, the redactor leaves alone."""

from __future__ import annotations

import itertools
import random
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore.redact import prefilter, redact_value, sanitised
from jsonlstore.redact.rules import names, shapes
from jsonlstore.redact.text import redact_text
from tests.redact.report_secrets import load_maker

make = load_maker()

# every rule: texts of its own expression, its example filled in, and its words with a value behind them
_FROM_SHAPES = st.sampled_from(shapes()).flatmap(lambda shape: st.from_regex(re.compile(shape.shape)))
_EXAMPLES = st.builds(
    lambda template, seed: make.slots(template, random.Random(seed))[0],
    st.sampled_from([rule.example for rule in (*shapes(), *names())] + make.named_templates()),
    st.integers(0, 10**6),
)
_VALUES = st.sampled_from(["hunter2x", "Xk29dk2kd92kDq92kd92", "660487", "swordfish", "correct horse", '"a b"', "é1"])
_NAMED = st.builds(
    lambda name, tail, joint, value: name + tail + joint + value,
    st.sampled_from(names()).flatmap(lambda name: st.from_regex(re.compile(f"(?i:{name.word})"), fullmatch=True)),
    st.sampled_from(["", "_2", "Value", "s"]),
    st.sampled_from(["=", ": ", " is ", " ", ' = "', "\t", "（", "：", ", ", " -> ", "</b>", '": "', " for it is "]),
    _VALUES,
)
_GLUE = st.sampled_from(
    ['" + "', "' '", '""', "` + `", '").append("', '" . f"', "\\\n", '"\n  "', "&quot; + &quot;", "'", '\\" + \\"']
)
_AROUND = st.text(max_size=8) | st.sampled_from(["", " ", "so: ", "\n", '"', "\\n", "x,", "| ", "x", "9", "\\n", "%20"])


@st.composite
def _texts(draw: st.DrawFn) -> str:
    text = draw(_FROM_SHAPES | _EXAMPLES | _NAMED)
    if draw(st.booleans()) and len(text) > 2:
        cuts = sorted({0, len(text), *draw(st.sets(st.integers(1, len(text) - 1), max_size=3))})
        text = draw(_GLUE).join(text[first:last] for first, last in itertools.pairwise(cuts))
    return draw(_AROUND) + text + draw(_AROUND)


@settings(max_examples=1000, deadline=None)
@given(_texts())
def test_what_is_waved_through_is_left_alone(text: str) -> None:
    """No is certain for a text made of any rule, cut and glued in any way."""
    if not prefilter.may_match(text):
        assert redact_text(text) == re.sub("[\ud800-\udfff]", "\ufffd", text)


@settings(max_examples=400, deadline=None)
@given(
    st.dictionaries(
        _NAMED | st.sampled_from(["channel", "note", "api_key", "sessionKey", "pw"]), _texts() | _VALUES, max_size=2
    )
)
def test_no_is_certain_for_json_values_too(value: dict[str, str]) -> None:
    """Keys are names, also where a weak one ends in a telling word."""
    if not prefilter.may_match(value):
        assert redact_value(value) == value


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=60))
def test_no_is_certain_for_any_text(text: str) -> None:
    """Also for what no rule was thought of."""
    if not prefilter.may_match(text):
        assert redact_text(text) == re.sub("[\ud800-\udfff]", "\ufffd", text)


@pytest.mark.parametrize(
    "value",
    [
        "telegram",
        "working_memory_scan",
        "session_restored",
        "task-004-session-persistence",
        "agent:main:telegram:direct:123456789",
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        "2026-11-16T00:00:00.123Z",
        "Fix the meter readings, then open the pull request and ask for a review",
        "lbf-ham-radio/src/cat.py reads \u201cS-meter\u201d levels (see #42)",
        {"channel": "telegram", "agent_id": "main", "previous_session_id": "0f8fad5b-d9cb-469f-a165-70867728950e"},
        {"pid": 4711, "started": "2026-11-16T00:00:00Z", "scores": [0.5], "why": None},
    ],
)
def test_what_a_session_start_carries_needs_no_rules(value: object) -> None:
    """A pre-filter that always says yes would be no pre-filter."""
    assert not prefilter.may_match(value)


def test_a_plain_value_loads_neither_re2_nor_the_rules() -> None:
    """The cold hook pays for the redactor only where something may be hidden."""
    code = (
        "import sys; from jsonlstore.redact import sanitised\n"
        "assert sanitised({'channel': 'telegram'}) == {'channel': 'telegram'}\n"
        "assert 're2' not in sys.modules and 'jsonlstore.redact.text' not in sys.modules\n"
        "assert sanitised('password=hunter2x') == 'password=[REDACTED]'\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_sanitised_hides_what_the_redactor_hides() -> None:
    """One door, whatever is loaded."""
    assert sanitised("login: bob / hunter2x") == "login: bob / [REDACTED]"
    assert sanitised(["the PIN for the card is 660487", 3]) == ["the PIN for the card is [REDACTED]", 3]
