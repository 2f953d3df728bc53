"""One large automaton or several small ones: which of them reads a text changes its speed and nothing else."""

from __future__ import annotations

import random
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore.redact import finder
from jsonlstore.redact.finder import Steps, find_spans
from tests.benchmarks.test_redact_bench import exchange
from tests.redact.fuzz_time import FRAGMENTS, families


def _found(data: bytes, *, apart: bool) -> tuple[list[tuple[int, int, str]], int]:
    """What is found, and the steps it takes: where a text becomes unread must not depend on the way either."""
    steps = Steps(10**9)
    one = finder._finder()
    kept = one.whole
    try:
        if apart:
            one.whole = None
        elif kept is None:
            one.whole = finder._Finder().whole
        return sorted(set(find_spans(data, steps))), steps.left
    finally:
        one.whole = kept


@settings(max_examples=150)
@given(st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=12)), max_size=40))
def test_both_ways_find_the_same(parts: list[str]) -> None:
    """Whatever stands where."""
    data = "".join(parts).encode("utf-8", "replace")
    assert _found(data, apart=True) == _found(data, apart=False)


@pytest.mark.parametrize("seed", range(3))
def test_both_ways_find_the_same_where_the_way_changes_in_the_middle(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text with many hits is begun with one automaton and ended with the others."""
    texts = [family.make(20_000) for family in islice(families(random.Random(seed)), 12)]
    texts.append("\n".join(exchange(20_000, seed=seed, dense=1.0)))
    for text in texts:
        data = text.encode()
        monkeypatch.setattr(finder, "_MANY_HITS", 1 << 60)
        expected = _found(data, apart=False)
        monkeypatch.setattr(finder, "_MANY_HITS", 37)
        assert _found(data, apart=False) == expected
