"""Invented sessions, each with a trap that real ones hold: what must come back, and what must not."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals.distil import Distiller
from jsonlstore.transcripts.records import parse_entry

_MADE = runpy.run_path(str(Path(__file__).parents[2] / "fixtures" / "make_stories.py"))
STORIES = list(_MADE["stories"]())


def told(lines: list[str], stops: tuple[int, ...] = ()) -> dict[str, Any]:
    """The fields a transcript gives; asked for at every stop as well, as somebody who watches does."""
    distiller = Distiller()
    for number, line in enumerate(lines):
        entry = parse_entry(line.encode())
        assert entry is not None
        distiller.feed(entry)
        if number in stops:
            distiller.result()
    return distiller.result().to_fields()


def shown(fields: dict[str, Any], name: str) -> str:
    """A field as text, without its ids and evidence."""
    value = fields.get(name)
    parts = value if isinstance(value, list) else [value]
    bare = [
        {key: part for key, part in item.items() if key not in {"evidence", "id"}} if isinstance(item, dict) else item
        for item in parts
        if item
    ]
    return orjson.dumps(bare).decode().lower()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_what_a_story_tells(story: Any) -> None:
    """Each story gives back what it is about, and nothing of its trap."""
    fields = told(list(story.lines()))
    for name, parts in story.says.items():
        for part in parts:
            assert part.lower() in shown(fields, name), name
    for name, parts in story.silent.items():
        for part in parts:
            assert part.lower() not in shown(fields, name), name
    for name in story.empty:
        assert not fields.get(name), name


@given(st.sampled_from(STORIES), st.lists(st.integers(0, 40), max_size=5))
def test_decision_47_looking_in_between_changes_nothing(story: Any, stops: list[int]) -> None:
    """What is derived is a function of the transcript, not of when it was asked for."""
    lines = list(story.lines())
    assert told(lines, tuple(stops)) == told(lines)


@given(st.lists(st.sampled_from(STORIES), min_size=2, max_size=4), st.lists(st.integers(0, 120), max_size=4))
def test_decision_47_holds_over_long_sessions(parts: list[Any], stops: list[int]) -> None:
    """Stories one after another are one session, read in any portions."""
    lines = [line for number, part in enumerate(parts) for line in list(part.lines())[0 if number == 0 else 1 :]]
    assert told(lines, tuple(stops)) == told(lines)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_every_statement_carries_its_evidence(story: Any) -> None:
    """Tasks, notes, commits and what failed name the entries they come from."""
    fields = told(list(story.lines()))
    statements = [*fields["pending_tasks"], *fields["notes"], *fields["commits"], *fields["closed"]]
    statements += [one for one in (fields["last_request"], fields["failing"]) if one]
    assert all(one["evidence"]["entry_ids"] and one["evidence"]["kind"] for one in statements)
