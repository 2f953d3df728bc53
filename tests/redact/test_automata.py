"""One large automaton or several small ones: which of them reads a text changes its speed and nothing else."""

from __future__ import annotations

import random
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore.redact import automata, finder, scan
from jsonlstore.redact.budget import Steps, steps_for
from jsonlstore.redact.finder import find_spans, first_hit
from jsonlstore.redact.triggers import SHAPES, begun, own_trigger, triggers
from tests.benchmarks.test_redact_bench import exchange
from tests.redact.fuzz_time import FRAGMENTS, families
from tests.redact.matrix import FORMATS, draw, draw_format


def _found(data: bytes, *, apart: bool, most: int = 10**9) -> tuple[int, list[tuple[int, int, str]], int]:
    """Where the first hit is, what is found, and the steps left: what is unread must not depend on the way either."""
    steps = Steps(most)
    one = finder._finder()
    kept = one.whole
    try:
        if apart:
            one.whole = None
        elif kept is None:
            one.whole = finder._Finder().whole
        return first_hit(data), sorted(set(find_spans(data, steps))), steps.left
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
        monkeypatch.setattr(scan, "_MANY_HITS", 1 << 30)
        expected = _found(data, apart=False)
        monkeypatch.setattr(scan, "_MANY_HITS", 37)
        assert _found(data, apart=False) == expected


@pytest.mark.parametrize("slow", [0.0, 1e18])
def test_the_large_automaton_stays_unless_it_is_the_slower_one(slow: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all is slow, the way that takes less time is taken; nothing that is found depends on it."""
    monkeypatch.setattr(automata, "_SLOW", slow)
    monkeypatch.setattr(automata, "_WATCHED", 5_000)
    one = finder._Finder()
    texts = ["\n".join(exchange(4_000, seed=seed)).encode() for seed in range(200)]
    assert [one.first(text) for text in texts] == [one._first(text) for text in texts]
    if not slow:
        assert one.whole is not None


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.integers(1, 60))
def test_both_ways_find_the_same_in_drawn_secrets(seed: int, many: int) -> None:
    """Secrets in drawn formats, run together into a text of some length."""
    rng = random.Random(seed)
    forms = list(FORMATS)
    drawn = [draw(rng).text if rng.random() < 0.5 else draw_format(rng.choice(forms), rng).text for _ in range(many)]
    data = "\n".join(drawn).encode()
    assert _found(data, apart=True, most=steps_for(data)) == _found(data, apart=False, most=steps_for(data))


@settings(max_examples=30)
@given(st.text(max_size=400), st.integers(1, 200))
def test_a_short_budget_ends_at_the_same_place(text: str, most: int) -> None:
    """What is beyond the budget must not depend on the way either."""
    data = (text + ' password="Zk19dd.Qp03xx" https://a:b1c2d3@host/ token=abc ').encode() * 5
    assert _found(data, apart=True, most=most) == _found(data, apart=False, most=most)


@given(st.data())
def test_a_trigger_is_asked_for_wherever_it_begins(data: st.DataObject) -> None:
    """One fast look stands for the triggers that may begin with a byte, and none of them goes unseen."""
    index = data.draw(st.integers(0, len(SHAPES) - 1))
    text = data.draw(st.from_regex(own_trigger(index)).filter(bool).map(lambda drawn: drawn.replace(b"\v", b"\t")))
    found = own_trigger(index).search(text)
    if found and found.end() > found.start():
        begins, some = triggers(text[found.start()])
        assert index in some
        assert index in begun(text[found.start()], text[found.start() + 1 : found.start() + 2])
        assert begins(text, found.start(), len(text))[0][0] == found.start()
