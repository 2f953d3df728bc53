"""Where a session stood: requests behind slash commands, what later work closed, what is no step at all."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from jsonlstore.signals import Distiller
from jsonlstore.transcripts import parse_entry

Story: Any = runpy.run_path(str(Path(__file__).parents[2] / "fixtures" / "make_stories.py"))["Story"]
TRACE = (
    'Traceback (most recent call last):\n  File "/srv/map/tide.py", line 12, in <module>\n    main()\n'
    '  File "/srv/map/tide.py", line 8, in main\n    print(gauge)\n'
    "NameError: name 'gauge' is not defined"
)


def told(story: Any) -> dict[str, Any]:
    distiller = Distiller()
    for line in story.lines():
        entry = parse_entry(line.encode())
        assert entry is not None
        distiller.feed(entry)
    return distiller.result().to_fields()


def noted(fields: dict[str, Any], kind: str) -> list[str]:
    return [one["content"] for one in fields["notes"] if one["type"] == kind]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("/clear\nDraw the soundings in blue", "Draw the soundings in blue"),
        (f"/clear\n{TRACE}", "NameError: name 'gauge' is not defined"),
        (f"/clear\nThe gauge is broken again\n\n{TRACE}", "The gauge is broken again"),
        ("/ask which soundings are drawn in blue here?", "which soundings are drawn in blue here?"),
        ("/clear", "Paint the mole white"),
        ("/help", "Paint the mole white"),
        ("/undo", "Paint the mole white"),
        ("/chart-review the soundings of the outer harbour", "/chart-review the soundings of the outer harbour"),
    ],
)
def test_a_slash_command_is_never_the_request(said: str, asked: str) -> None:
    """The user's own words after it count, or the request before it; a command given a task in words is one."""
    story = Story("x").user("Paint the mole white").says_("The mole is white.").user(said)
    assert told(story.says_("All right."))["last_request"]["text"] == asked
