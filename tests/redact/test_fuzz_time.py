"""No family of composed text is slow: a minute of the fuzzer, in four parts that may run side by side.

The long one: `python -m tests.redact.fuzz_time --seconds 3600 --seed 1`.
"""

from __future__ import annotations

import random

import pytest

from tests.redact.fuzz_time import Family, search, slow

CPU_SECONDS = 15


@pytest.mark.parametrize("seed", range(4))
def test_no_family_of_fragments_is_slow(seed: int) -> None:
    """Processor time, in ratios to the same moment's long text; what looks slow counts only if it stays so."""
    tried, failed = search(random.Random(seed), CPU_SECONDS)
    assert tried > 10
    assert failed == []


def test_the_fuzzer_knows_a_slow_family(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that cannot fail shows nothing: time that grows with the square is told, and so is a high price."""
    prices = {"square": lambda n: (n / 1e6) ** 2, "dear": lambda n: n / 1e6, "cheap": lambda n: n / 1e8}
    for name, price in prices.items():
        monkeypatch.setattr("tests.redact.fuzz_time.seconds", lambda text, price=price: price(len(text)))
        monkeypatch.setattr("tests.redact.fuzz_time.long_text_seconds", lambda _tries=3: 0.01)
        found = slow(Family(name, lambda n: "x" * n), 0.01)
        assert (found or "").partition(" ")[0] == {"square": "ratio", "dear": "100x", "cheap": ""}[name]
