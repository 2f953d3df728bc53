"""What people and agents may ask of the plugin, in real OpenClaw: the tool, the command, and how far they reach.

pytest -m "openclaw and slow" tests/openclaw/test_asking.py
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from jsonlstore.store.store import SessionStore
from tests.openclaw.lab import each_version, wait_until
from tests.openclaw.model import said_by_user, text_of
from tests.openclaw.stage import COMMAND, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY, OTHER = "agent:main:main", "agent:main:telegram:dm:42"


@pytest.fixture
def stage(version: str, tmp_path: Path) -> Iterator[Stage]:
    made = Stage(version, "plugin", tmp_path)
    try:
        made.openclaw.start()
        yield made
    finally:
        made.close()


def work(stage: Stage, key: str, task: str) -> str:
    """A session with an open task, ended by a reset; its id."""
    stage.turn(f"TODO: {task}. [[pin:{task[:6]}|the {task} note]]", key)
    stage.wait_for_state(task, task[:6])
    stage.openclaw.call("sessions.reset", key=key, reason="new")
    store = SessionStore.open(stage.state_dir)
    return next(
        entry.session_id
        for entry in store.entries()
        if any(task in one.title for one in store.get(entry.session_id).pending_tasks)
    )


def tool_result(stage: Stage, text: str) -> str:
    """What the tool told the model in the turn with these words."""

    def found() -> list[str]:
        results = []
        for body in stage.model.requests:
            at, said = said_by_user(body["messages"])
            tools = [one for one in body["messages"][at + 1 :] if one.get("role") == "tool"]
            results += [text_of(one.get("content")) for one in tools if text in said]
        return results

    wait_until(found, what="the tool's result")
    return found()[0]


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version("2026.2.26", "2026.7.1", "2026.9.6"))
def test_a_session_is_continued_on_demand_and_only_within_its_conversation(stage: Stage) -> None:
    mine, other = work(stage, KEY, "repair the lamp"), work(stage, OTHER, "water the roses")
    stage.turn("hello again", KEY)
    stage.turn(f"please go on with the lamp [[continue:{mine}]]", KEY)
    told = tool_result(stage, "go on with the lamp")
    assert told.startswith(f"Inherited from session {mine[:8]}")
    assert "repair the lamp" in told
    stage.turn(f"and with the roses [[continue:{other}]]", KEY)
    refused = tool_result(stage, "and with the roses")
    assert refused.startswith("Nothing was continued")
    assert "water" not in refused

    # up to 2026.3 a command is not told in which of the two conversations it was given
    answer = "does not tell which conversation" if stage.version < "2026.4" else "Restored into this session: "
    stage.openclaw.say("/continuity", KEY)
    wait_until(lambda: answer in stage.openclaw.call("chat.history", sessionKey=KEY, limit=20), what=answer)


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version("2026.2.26", "2026.7.1", "2026.9.6"))
def test_an_agent_searches_its_own_conversation_and_no_other(stage: Stage) -> None:
    """`session_recall` in a real turn: the words of an earlier session, dated, and none of the other conversation."""
    mine, other = work(stage, KEY, "repair the harbour lamp"), work(stage, OTHER, "paint the harbour wall")
    subprocess.run([*COMMAND, "--state-dir", str(stage.state_dir), "-q", "backfill"], check=True, timeout=120)
    for query, more in (("harbour", {}), ("paint the wall", {"session_key": OTHER})):
        ask = json.dumps({"query": query, **more})
        stage.turn(f"what was it with {query}? [[call:session_recall|{ask}]]", KEY)
    told = tool_result(stage, "what was it with harbour?")
    assert mine in told
    assert "repair the harbour lamp" in told
    assert len(told.encode()) <= 4096
    for answer in (told, tool_result(stage, "what was it with paint the wall?")):
        assert other not in answer
        # what OpenClaw itself put into the agent's memory files is everybody's who has no peer in the key
        assert "paint the harbour wall" not in answer.partition("- memory file ")[0]
