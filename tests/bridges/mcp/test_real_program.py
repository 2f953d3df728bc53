"""A program that people run, from npm, started with `jsonlstore mcp` in its settings: it has our tools at once."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.bridges.mcp.test_mcp import MINE, OTHER, TOOLS, filled
from tests.openclaw.model import Model, text_of
from tests.openclaw.packages import INSTALLER, NotToBeHad, Package

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.home import Home

# an agent for the terminal that takes any model with the chat completions protocol
QWEN = Package("qwen-code", "@qwen-code/qwen-code@0.24.4", "@qwen-code/qwen-code/cli.js")


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    yield made
    made.close()


def said(program: Path, home: Home, model: Model, prompt: str, folder: Path) -> str:
    """What the program prints for one prompt; its home holds nothing but these settings."""
    command = home.command("mcp", "--session-key", MINE, "--now", "2026-11-10T18:00:00Z")
    settings = {
        "mcpServers": {"jsonlstore": {"command": command[0], "args": command[1:], "trust": True}},
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    (folder / ".qwen").mkdir(parents=True)
    (folder / ".qwen" / "settings.json").write_text(json.dumps(settings))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{model.port}/v1",
        "OPENAI_MODEL": "mock-1",
        "NO_PROXY": "*",
    }
    done = subprocess.run(
        ["node", str(program), "-p", prompt, "--yolo"],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def results(model: Model) -> list[str]:
    """What tools told the model, in order."""
    longest: dict[str, Any] = max(model.requests, key=lambda body: len(body["messages"]))
    return [text_of(one.get("content")) for one in longest["messages"] if one.get("role") == "tool"]


def test_a_real_program_has_our_tools_in_its_first_turn(home: Home, model: Model, tmp_path: Path) -> None:
    """The first request to the model names all six; called, they answer from this conversation and no other."""
    try:
        program = INSTALLER.need(QWEN)
    except NotToBeHad as problem:
        pytest.skip(str(problem))
    filled(home)
    names = {name: f"mcp__jsonlstore__{name}" for name in TOOLS}
    prompt = (
        f"where did we stop? [[call:tool_search|{json.dumps({'query': 'select:' + ','.join(names.values())})}]]"
        f"[[call:{names['where']}|{{}}]]"
        f"[[call:{names['show']}|{json.dumps({'session_id': 'mine-1'})}]]"
        f"[[call:{names['recall']}|{json.dumps({'query': 'hamlib'})}]]"
    )
    assert "where did we stop?" in said(program, home, model, prompt, tmp_path / "home")
    first = json.dumps(model.requests[0])
    assert [name for name in names.values() if name not in first] == []
    _, where, show, recall = results(model)
    assert "mine-2" in where
    assert "solder the PTT line" in show
    assert "mine-1" in recall
    assert "other-1" not in json.dumps(model.requests)
    assert OTHER not in json.dumps(model.requests)
