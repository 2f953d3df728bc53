"""How full the context is, told to the model of a real OpenClaw: with the prompt, once, and nowhere else.

pytest -m openclaw tests/openclaw/test_context_line_real.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.transcripts import Catalogue
from tests.openclaw.lab import each_version
from tests.openclaw.model import text_of
from tests.openclaw.stage import Stage

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = ("2026.2.26", "2026.7.1", "2026.9.6")
KEY = "agent:main:telegram:dm:7"
# the mock model reports 120 tokens for every answer; the window is the lab's
LINE = "[Context: 120/64k tokens (0%)]"
MARK = "[Context: "


def requests_of(stage: Stage, words: str) -> list[list[dict[str, Any]]]:
    """The messages of every request of the turn with these words."""
    bodies = [body["messages"] for body in stage.model.requests]
    return [one for one in bodies if any(words in text_of(message.get("content")) for message in one[-3:])]


@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_the_line_is_with_the_prompt_and_not_in_the_history(version: str, tmp_path: Path) -> None:
    """From the second turn on each request has it once, in what the user said last, never in the system prompt."""
    stage = Stage(version, "plugin", tmp_path, {"context_line": True})
    try:
        stage.openclaw.start()
        for number in range(1, 5):
            stage.turn(f"question number {number}", KEY)
        for number in (3, 4):
            (messages, *_) = requests_of(stage, f"question number {number}")
            with_line = [one for one in messages if MARK in text_of(one.get("content"))]
            assert [one["role"] for one in with_line] == ["user"], with_line
            assert f"question number {number}" in text_of(with_line[0]["content"])
            assert text_of(with_line[0]["content"]).count(MARK) == 1
            assert LINE in text_of(with_line[0]["content"])
        (session,) = [one for one in Catalogue.open(stage.state_dir).sessions if one.session_key == KEY]
        stored = [str(entry.raw) for entry in session.read()]
        assert sum("question number" in one and "'user'" in one for one in stored) == 4
        assert not [one for one in stored if MARK in one]
    finally:
        stage.close()


@pytest.mark.parametrize("version", each_version("2026.9.6"))
def test_it_is_off_unless_asked_for(version: str, tmp_path: Path) -> None:
    """No request says how full the context is."""
    stage = Stage(version, "plugin", tmp_path)
    try:
        stage.openclaw.start()
        for number in range(1, 4):
            stage.turn(f"question number {number}", KEY)
        assert not [body for body in stage.model.requests if MARK in str(body["messages"])]
    finally:
        stage.close()
