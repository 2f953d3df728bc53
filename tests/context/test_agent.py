"""The agent of docs/transcripts.md: killed at random it goes on, and its context is what pi makes of its file."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jsonlstore.context import TranscriptStore
from jsonlstore.context.migrate import migrate_transcripts
from jsonlstore.core.files import Disk
from tests.context.test_pi_reads_ours import ours
from tests.transcripts.test_pi import theirs

if TYPE_CHECKING:
    from jsonlstore.context import Session

PAGE = Path(__file__).parents[2] / "docs" / "transcripts.md"
SETTINGS = {"maxTokens": 1000, "compaction": {"reserveTokens": 200}}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's own program, as it is printed."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    path = tmp_path_factory.mktemp("agent") / "agent.py"
    path.write_text(found[1])
    return path


def run_with_kills(program: Path, state: Path, kind: str, turns: int, seed: int) -> int:
    """Run it until it is done, killing it at a random answer each time; how often it was killed."""
    chance = random.Random(seed)
    kills = 0
    while True:
        command = [sys.executable, program, state, kind, str(turns)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as agent:
            assert agent.stdout
            assert agent.stderr
            for _ in range(chance.randrange(1, max(2, turns // 4))):
                if not agent.stdout.readline():
                    break
            else:
                agent.kill()
            problem = agent.stderr.read()
        if agent.returncode == 0:
            return kills
        assert agent.returncode < 0, problem
        kills += 1


def check_turns(state: Path, kind: str, turns: int) -> Session:
    """Every question once and in order, each followed by its answer; the window was never overfull."""
    with TranscriptStore.open(state, {"store": kind, **SETTINGS}) as store:
        records = [json.loads(line) for line in store.read()]
        said = [record["message"] for record in records if record["type"] == "message"]
        questions = [message["content"].split()[1] for message in said if message["role"] == "user"]
        assert questions == [str(number) for number in range(1, turns + 1)]
        assert [message["role"] for message in said] == ["user", "assistant"] * turns
        assert [record["parentId"] for record in records[1:]] == [None, *(record["id"] for record in records[1:-1])]
        session = store.load()
        assert session.total_tokens < 1000
        if turns >= 30:
            assert session.messages[0]["role"] == "compactionSummary"
        return session


@pytest.mark.npm
@pytest.mark.parametrize("turns", [40, pytest.param(200, marks=pytest.mark.slow)], ids=["short form", "200 turns"])
def test_the_agent_killed_at_random_resumes_and_sees_what_pi_sees(
    program: Path, pi: Path, tmp_path: Path, kind: str, turns: int
) -> None:
    """No question is lost or asked twice; pi's context of the records is the session's own."""
    assert run_with_kills(program, tmp_path, kind, turns, seed=7) >= 2
    session = check_turns(tmp_path, kind, turns)
    with TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=Disk(sync=False)) as files:
        if kind == "sqlite":
            with TranscriptStore.open(tmp_path, {"store": "sqlite"}) as database:
                assert not migrate_transcripts(database.backend, files.backend).conflicts
        (listed,) = files.list()
        (expected,) = theirs(pi, [{"content": listed.path.read_text()}])
    assert ours(session) == expected


def test_the_agent_runs(program: Path, tmp_path: Path, kind: str) -> None:
    """As printed, without a network, on either backend."""
    done = subprocess.run([sys.executable, program, tmp_path, kind, "5"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"(\[Context: \d+/1k tokens \(\d+%\)\]\n){5}", done.stdout)
    check_turns(tmp_path, kind, 5)
