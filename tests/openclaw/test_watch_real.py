"""The watcher beside a real OpenClaw of either era: right states, right ends, linked, clean of secrets.

pytest -m openclaw tests/openclaw
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.openclaw.beside import SECRET, Beside, assert_doctor_leaves_us_alone, assert_no_secret
from tests.openclaw.lab import OpenClaw, each_version

if TYPE_CHECKING:
    from pathlib import Path

    from tests.openclaw.model import Model

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("version", each_version("2026.2.26", "2026.7.1", "2026.8.1", "2026.9.6"))
def test_a_day_with_openclaw(version: str, tmp_path: Path, model: Model) -> None:
    """Turns, a tool call, a reset, a second conversation, its deletion, kill -9 in mid-turn, a restart."""
    openclaw = OpenClaw(version, tmp_path, model.port)
    openclaw.start()
    beside = Beside(openclaw.state_dir)
    try:
        openclaw.say(f"TODO: repair the lighthouse lamp. The key is {SECRET}")
        first = beside.wait_for("lighthouse")
        assert first.end_time is None
        assert any("lighthouse" in task.title for task in first.pending_tasks)
        openclaw.say("look at the harbour crane [[exec:echo harbour-crane-works]]")
        assert beside.wait_for("harbour").session_id == first.session_id

        openclaw.call("sessions.reset", key="agent:main:main", reason="new")
        openclaw.say("now the windmill sails, please")
        second = beside.wait_for("windmill")
        beside.wait_for_end(first.session_id, "new", "reset")
        assert second.session_id != first.session_id
        assert second.previous_session_id == first.session_id

        openclaw.say("the vineyard invoice of the other chat", "agent:main:telegram:dm:42")
        other = beside.wait_for("vineyard")
        assert other.session_id not in {first.session_id, second.session_id}
        openclaw.call("sessions.delete", key="agent:main:telegram:dm:42", deleteTranscript=True)
        beside.wait_for_end(other.session_id, "delete")

        openclaw.say("a slow question about the orchard [[slow:30]]")
        openclaw.stop(signal.SIGKILL)
        beside.kill()
        beside = Beside(openclaw.state_dir)
        openclaw.start()
        openclaw.say("after the crash: the beehive frames")
        assert beside.wait_for("beehive").session_id == second.session_id
        openclaw.stop()
        beside.stop()
        assert_no_secret(openclaw.state_dir)
        assert_doctor_leaves_us_alone(openclaw)
    finally:
        openclaw.stop(signal.SIGKILL)
        beside.kill()


@pytest.mark.openclaw("2026.2.26")
def test_an_idle_rollover_that_fires_no_hook_and_renames_nothing(tmp_path: Path, model: Model) -> None:
    """2026.2: the old file just stays, unreferenced."""
    openclaw = OpenClaw("2026.2.26", tmp_path, model.port, session={"reset": {"mode": "idle", "idleMinutes": 1}})
    openclaw.start()
    beside = Beside(openclaw.state_dir)
    try:
        openclaw.say("about the lighthouse lamp")
        first = beside.wait_for("lighthouse")
        import time

        time.sleep(65)  # OpenClaw's shortest idle timeout is a minute
        openclaw.say("about the harbour crane")
        second = beside.wait_for("harbour")
        assert second.session_id != first.session_id
        beside.wait_for_end(first.session_id, "idle", "daily")
        assert second.previous_session_id == first.session_id
    finally:
        openclaw.stop(signal.SIGKILL)
        beside.kill()


@pytest.mark.openclaw("2026.2.26", "2026.9.6")
def test_an_import_from_one_era_to_the_other_under_the_watcher(tmp_path: Path, model: Model) -> None:
    old = OpenClaw("2026.2.26", tmp_path, model.port)
    old.start()
    beside = Beside(old.state_dir)
    new: OpenClaw | None = None
    try:
        old.say("TODO: repair the lighthouse lamp")
        first = beside.wait_for("lighthouse")
        old.stop()
        tasks = first.pending_tasks
        new = OpenClaw("2026.9.6", tmp_path, model.port)
        new.run("doctor", "--fix", "--non-interactive", "--yes", seconds=400)
        assert (new.state_dir / "agents/main/agent/openclaw-agent.sqlite").exists()
        new.start()
        new.say("and now the harbour crane")
        later = beside.wait_for("harbour")
        assert later.session_id == first.session_id
        assert later.end_time is None
        assert [task.task_id for task in later.pending_tasks] == [task.task_id for task in tasks]
        assert len({one.session_id for one in beside.states()}) == len(beside.states()) == 1
    finally:
        old.stop(signal.SIGKILL)
        if new is not None:
            new.stop(signal.SIGKILL)
        beside.kill()
