"""A watcher process beside OpenClaw, and what must be true of our store and of OpenClaw's tree afterwards."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from typing import TYPE_CHECKING

from jsonlstore.store.store import SessionStore
from tests.openclaw.lab import OpenClaw, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.core.model import SessionState

# looks like a token to the redactor, and never was one
SECRET = "ghp_" + "b3x7kq9zt2m4" * 3


class Beside:
    """A watcher process on the same state directory, and what our store says."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(state_dir), "watch"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def states(self) -> list[SessionState]:
        """Every session of the user's, oldest first."""
        store = SessionStore.open(self._state_dir)
        return [store.get(entry.session_id) for entry in store.entries()][::-1]

    def about(self, topic: str) -> SessionState | None:
        found = [one for one in self.states() if topic in " ".join((*one.hot_topics, one.last_topic or "")).lower()]
        return found[-1] if found else None

    def wait_for(self, topic: str) -> SessionState:
        wait_until(lambda: self.about(topic), what=f"a state about {topic}")
        found = self.about(topic)
        assert found is not None
        return found

    def wait_for_end(self, session_id: str, *reasons: str) -> SessionState:
        """The session once it has ended for one of these reasons; the runtime may tell the right one a moment later."""
        store = SessionStore.open(self._state_dir)
        wait_until(lambda: store.get(session_id).end_time, what=f"the end of {session_id}")
        wait_until(
            lambda: store.get(session_id).end_reason in reasons,
            30,
            f"an end by {reasons}, and not {store.get(session_id).end_reason},",
        )
        return store.get(session_id)

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def stop(self) -> str:
        self._process.terminate()
        _, said = self._process.communicate(timeout=60)
        assert self._process.returncode == 0, said
        return said


def assert_no_secret(state_dir: Path) -> None:
    files = [path for path in (state_dir / "sessions").rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


def assert_doctor_leaves_us_alone(openclaw: OpenClaw) -> None:
    ours = openclaw.state_dir / "sessions"
    before = {path: path.read_bytes() for path in ours.rglob("*") if path.is_file()}
    openclaw.run("doctor", "--fix", "--non-interactive", "--yes")
    assert {path: path.read_bytes() for path in ours.rglob("*") if path.is_file()} == before


def assert_reading_changes_nothing(state_dir: Path) -> None:
    """With OpenClaw stopped, whatever is written under `agents/` would be ours: nothing is."""
    before = tree(state_dir / "agents")
    for words in (("backfill",), ("watch", "--once"), ("status", "--json")):
        command = [sys.executable, "-m", "jsonlstore", "-q", "--state-dir", str(state_dir), *words]
        subprocess.run(command, check=True, capture_output=True)
    assert tree(state_dir / "agents") == before


def tree(folder: Path) -> dict[str, tuple[str, int]]:
    """Names, hashes and times of everything below `folder`."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            path.lstat().st_mtime_ns,
        )
        for path in folder.rglob("*")
    }
