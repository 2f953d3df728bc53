"""Changing or reading a few entries of the index without reading the others."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from jsonlstore.store.index_text import Lines, parse_index, serialise, splice

ids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,6}", fullmatch=True)
entries = st.dictionaries(st.text(max_size=5), st.none() | st.integers(0, 9) | st.text(max_size=8), max_size=4)


@given(st.dictionaries(ids, entries, max_size=8), st.dictionaries(ids, st.none() | entries, max_size=4))
def test_splicing_is_serialising_anew(before: dict[str, Any], changes: dict[str, dict[str, Any] | None]) -> None:
    """A spliced index is byte for byte the one written from scratch."""
    after = {key: value for key, value in {**before, **changes}.items() if value is not None}
    pieces = splice(serialise(before), changes)
    assert pieces is not None
    assert bool(pieces) == (after != before)
    spliced = b"".join(pieces or [serialise(before)])
    assert spliced == serialise(after)
    assert parse_index(spliced) == after


@given(st.binary(max_size=60), ids)
def test_only_an_index_is_spliced(data: bytes, session_id: str) -> None:
    """Whatever else lies there is left to a rebuild."""
    assert splice(data, {session_id: {}}) is None


@given(st.dictionaries(ids, entries, max_size=8), ids)
def test_line_by_line_an_index_says_the_same(found: dict[str, Any], session_id: str) -> None:
    """One after the other, and each by its name."""
    lines = Lines.of(serialise(found))
    assert lines is not None
    assert dict(lines.items()) == found
    assert list(lines) == sorted(found)
    assert len(lines) == len(found)
    assert {key: lines[key] for key in found} == found
    assert lines.get(session_id) == found.get(session_id)


@given(
    st.dictionaries(ids, entries, min_size=1, max_size=4),
    st.integers(0, 200),
    st.integers(0, 3),
    st.binary(max_size=3) | st.just(b",\n"),
)
@example({"0": {}}, 4, 0, b",\n")
def test_no_damage_is_read_as_something_else(found: dict[str, Any], behind: int, cut: int, noise: bytes) -> None:
    """What is not given up line by line is what would be read of the whole."""
    text = serialise(found)
    at = max(0, len(text) - behind)
    damaged = text[:at] + noise + text[at + cut :]
    lines = Lines.of(damaged)
    if lines is None:
        return
    try:
        read = dict(lines.items())
    except ValueError:
        return
    assert read == parse_index(damaged)


def test_a_name_that_is_no_text_is_not_found() -> None:
    """As file names may be."""
    lines = Lines.of(serialise({"a": {}}))
    assert lines is not None
    assert "caf\udce9" not in lines
