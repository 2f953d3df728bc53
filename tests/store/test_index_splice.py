"""Changing a few entries of the index without reading the others."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.store.index import parse, serialise, splice

ids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,6}", fullmatch=True)
entries = st.dictionaries(st.text(max_size=5), st.none() | st.integers(0, 9) | st.text(max_size=8), max_size=4)


@given(st.dictionaries(ids, entries, max_size=8), st.dictionaries(ids, st.none() | entries, max_size=4))
def test_splicing_is_serialising_anew(before: dict[str, Any], changes: dict[str, dict[str, Any] | None]) -> None:
    """A spliced index is byte for byte the one written from scratch."""
    after = {key: value for key, value in {**before, **changes}.items() if value is not None}
    spliced = splice(serialise(before), changes)
    assert spliced == serialise(after)
    assert parse(spliced) == after


@given(st.binary(max_size=60), ids)
def test_only_an_index_is_spliced(data: bytes, session_id: str) -> None:
    """Whatever else lies there is left to a rebuild."""
    assert splice(data, {session_id: {}}) is None
