"""Regular expressions that are compiled with their first use."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.lazyre import pattern


@given(
    st.sampled_from([r"\w+", r"(a)|b", r"^x$"]), st.sampled_from([0, re.IGNORECASE, re.MULTILINE]), st.text("abXx\n ")
)
def test_it_finds_what_the_compiled_one_finds(text: str, flags: int, where: str) -> None:
    ours, theirs = pattern(text, flags), re.compile(text, flags)
    for _ in range(2):
        assert ours.findall(where) == theirs.findall(where)
        assert bool(ours.fullmatch(where)) == bool(theirs.fullmatch(where))
        assert ours.sub("-", where) == theirs.sub("-", where)
    assert (ours.pattern, ours.flags) == (theirs.pattern, theirs.flags)


def test_nothing_is_compiled_before_it_is_used() -> None:
    broken = pattern("(")
    with pytest.raises(re.error):
        broken.search("x")
