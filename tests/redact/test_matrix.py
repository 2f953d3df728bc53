"""What a name announces is hidden however it is written: names, operators, values, containers, decorations, formats.

Each example draws a few thousand texts from a seed that hypothesis chooses; `python -m tests.redact.matrix` shows what
leaks and how it is distributed.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jsonlstore.redact import redact
from tests.redact.matrix import FORMATS, draw, draw_format, leaks

DRAWS = 2_000
MOST_LEAKED = 0.005  # of names x operators x values x containers x decorations
MOST_LEAKED_OF_FORMATS = 0.03
LONGEST_MARK = 10  # characters, `[REDACTED]`

few = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@few
@given(st.integers(0, 2**32))
def test_a_value_behind_its_name_is_hidden_in_all_but_one_of_two_hundred(seed: int) -> None:
    """At least 99.5 % of all combinations."""
    rng = random.Random(seed)
    leaked = [drawn.text for drawn in (draw(rng) for _ in range(DRAWS)) if leaks(drawn)]
    assert len(leaked) <= DRAWS * MOST_LEAKED, leaked


@few
@given(st.integers(0, 2**32))
def test_file_and_chat_formats_leak_three_in_a_hundred_at_most(seed: int) -> None:
    """Every format with values of its own."""
    rng = random.Random(seed)
    drawn = [draw_format(form, rng) for form in FORMATS for _ in range(5)]
    leaked = [one.text for one in drawn if leaks(one)]
    assert len(leaked) <= len(drawn) * MOST_LEAKED_OF_FORMATS, leaked


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_is_unknown(form: str) -> None:
    """A format may leak an odd value, but not half of them."""
    rng = random.Random(5)
    assert sum(leaks(draw_format(form, rng)) for _ in range(20)) <= 10


@few
@given(st.integers(0, 2**32))
def test_a_text_grows_by_ten_characters_a_value_at_most_and_settles(seed: int) -> None:
    """Twice is as good as once, and a mark is no longer than it must be."""
    rng = random.Random(seed)
    for _ in range(400):
        drawn = draw(rng) if rng.random() < 0.5 else draw_format(rng.choice(list(FORMATS)), rng)
        shown, found = redact(drawn.text)
        assert len(shown) <= len(drawn.text) + LONGEST_MARK * len(found)
        assert redact(shown) == (shown, [])
