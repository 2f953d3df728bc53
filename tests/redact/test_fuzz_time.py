"""No family of composed text is slow: the fuzzer's short form.

The long one: `python -m tests.redact.fuzz_time --seconds 3600 --seed 1`.
"""

from __future__ import annotations

import random
from itertools import islice

import pytest

from tests.redact.fuzz_time import families, long_text_seconds, slow


@pytest.fixture(scope="module")
def base() -> float:
    return long_text_seconds()


@pytest.mark.parametrize("seed", range(4))
def test_no_family_of_fragments_is_slow(seed: int, base: float) -> None:
    """Processor time, in ratios to the same run's long text; what looks slow counts only if it stays so."""
    found = {family.name: slow(family, base, tries=8) for family in islice(families(random.Random(seed)), 12)}
    assert not {name: reason for name, reason in found.items() if reason}
