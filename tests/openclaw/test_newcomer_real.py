"""A newcomer's day: an OpenClaw with history, one command of ours, and the next session knows what was left.

pytest -m openclaw tests/openclaw/test_newcomer_real.py
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.openclaw.lab import OpenClaw, installed, wait_until
from tests.openclaw.model import Model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.openclaw, pytest.mark.slow]


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    yield made
    made.close()


@pytest.mark.parametrize("version", ["2026.2.26", "2026.9.6"])
def test_after_setup_the_next_session_gets_what_the_last_one_left(version: str, tmp_path: Path, model: Model) -> None:
    """History made without us, `setup --yes`, a new session: the open task stands in the model's next request."""
    openclaw = OpenClaw(version, tmp_path, model.port)
    program = os.environ.get("JSONLSTORE_TEST_PROGRAM")  # a freshly installed one, to try the way a user gets it
    command = [program] if program else [sys.executable, "-m", "jsonlstore"]
    command += ["--state-dir", str(openclaw.state_dir)]
    openclaw.start()
    try:
        openclaw.say("TODO: repair the lighthouse lamp before Friday.")
        wait_until(lambda: "lighthouse" in json.dumps(model.requests), what="the first turn")
        wait_until(lambda: _kept(openclaw.state_dir), what="the transcript")
        openclaw.call("sessions.reset", key="agent:main:main", reason="new")
        openclaw.stop()
        named = ["--openclaw", str(installed(version)[1])]
        done = subprocess.run(
            [*command, "setup", "--yes", "--no-service", "--json", *named], capture_output=True, text=True, check=True
        )
        told = json.loads(done.stdout)
        assert any("lighthouse" in task["title"] for task in told["overview"]["tasks"])
        before = len(model.requests)
        openclaw.start()
        openclaw.say("Good morning, what is left to do?")
        wait_until(lambda: "Good morning" in json.dumps(model.requests[before:]), what="the next session's turn")
        asked = json.dumps(model.requests[before:])
        assert "session-continuity" in asked
        assert "lighthouse lamp" in asked
        openclaw.stop()
        restarted = len(model.requests)
        openclaw.start()
        openclaw.say("Good evening, and now?")
        wait_until(lambda: "Good evening" in json.dumps(model.requests[restarted:]), what="the turn after a restart")
        assert "session-continuity" in json.dumps(model.requests[restarted:])
        standing = subprocess.run(
            [*command, "openclaw", "status", "--json", *named], capture_output=True, text=True, check=False
        )
        assert json.loads(standing.stdout)["last_result"] == "preamble", standing.stdout
        assert json.loads(standing.stdout)["loaded"]
    finally:
        openclaw.stop(signal.SIGKILL)


def _kept(state_dir: Path) -> bool:
    """Whether OpenClaw has put the first turn on disk."""
    files = [path for path in (state_dir / "agents").rglob("*") if path.is_file() and ".lock" not in path.name]
    return any(b"lighthouse" in path.read_bytes() for path in files)
