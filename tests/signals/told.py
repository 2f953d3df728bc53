"""A story's signals, for the tests that ask what is told of it."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from jsonlstore.signals import Distiller
from jsonlstore.transcripts import parse_entry

Story: Any = runpy.run_path(str(Path(__file__).parents[2] / "fixtures" / "make_stories.py"))["Story"]


def told(story: Any) -> dict[str, Any]:
    """The fields of the state after the story's last line."""
    distiller = Distiller()
    for line in story.lines():
        entry = parse_entry(line.encode())
        assert entry is not None
        distiller.feed(entry)
    return distiller.result().to_fields()


def noted(fields: dict[str, Any], kind: str, sure: float = 0.0) -> list[str]:
    """The notes of a kind that are at least so sure; the preamble shows them from 0.7."""
    return [one["content"] for one in fields["notes"] if one["type"] == kind and one["confidence"] >= sure]
