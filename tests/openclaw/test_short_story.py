"""The watcher beside a real OpenClaw, one short story per era; the long ones are in `test_watch_real.py`."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.openclaw.beside import SECRET, Beside, assert_no_secret, assert_reading_changes_nothing
from tests.openclaw.lab import OpenClaw, each_version

if TYPE_CHECKING:
    from pathlib import Path

    from tests.openclaw.model import Model


@pytest.mark.parametrize("version", each_version("2026.2.26", "2026.9.6"))
def test_two_turns_with_a_reset_between_them(version: str, tmp_path: Path, model: Model) -> None:
    """Both are kept as they were, the first has ended by the reset and the second is linked to it."""
    openclaw = OpenClaw(version, tmp_path, model.port)
    beside = Beside(openclaw.state_dir)
    try:
        openclaw.start()
        openclaw.say(f"TODO: repair the lighthouse lamp. The key is {SECRET}")
        first = beside.wait_for("lighthouse")
        assert first.end_time is None
        assert any("lighthouse" in task.title for task in first.pending_tasks)

        openclaw.call("sessions.reset", key="agent:main:main", reason="new")
        openclaw.say("now the windmill sails, please")
        second = beside.wait_for("windmill")
        beside.wait_for_end(first.session_id, "new", "reset")
        assert second.end_time is None
        assert second.previous_session_id == first.session_id

        openclaw.stop()
        beside.stop()
        assert len(beside.states()) == 2
        assert_no_secret(openclaw.state_dir)
        assert_reading_changes_nothing(openclaw.state_dir)
    finally:
        openclaw.stop(signal.SIGKILL)
        beside.kill()
