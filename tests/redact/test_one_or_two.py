"""Whether one automaton finds the places to look at or two do must change nothing but the time it takes."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jsonlstore.redact import finder
from jsonlstore.redact.finder import Steps, steps_for
from tests.redact.matrix import FORMATS, draw, draw_format

few = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def ways() -> tuple[finder._Finder, finder._Finder]:
    """One with the large automaton, one with the two small ones."""
    one, two = finder._Finder(), finder._Finder()
    two.whole = None
    return one, two


def _same(ways: tuple[finder._Finder, finder._Finder], data: bytes, steps: int) -> None:
    one, two = (Steps(steps) for _ in ways)
    first, second = (way.first(data) for way in ways)
    assert first == second
    assert ways[0].spans(data, one) == ways[1].spans(data, two)
    assert one.left == two.left, "the same steps, so that the same is left unread"


@few
@given(st.integers(0, 2**32), st.integers(1, 60))
def test_spans_and_steps_are_the_same(ways: tuple[finder._Finder, finder._Finder], seed: int, many: int) -> None:
    """Drawn secrets in drawn formats, run together into a text of some length."""
    rng = random.Random(seed)
    forms = list(FORMATS)
    drawn = [draw(rng).text if rng.random() < 0.5 else draw_format(rng.choice(forms), rng).text for _ in range(many)]
    data = "\n".join(drawn).encode()
    _same(ways, data, steps_for(data))


@few
@given(st.text(max_size=400), st.integers(1, 200))
def test_a_short_budget_ends_at_the_same_place(
    ways: tuple[finder._Finder, finder._Finder], text: str, steps: int
) -> None:
    """What is beyond the budget must not depend on the way either."""
    _same(ways, (text + ' password="Zk19dd.Qp03xx" https://a:b1c2d3@host/ token=abc ').encode() * 5, steps)
