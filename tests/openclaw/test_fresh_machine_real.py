"""A fresh machine, README only: from a clone to the block in the model's request, each step timed.

pytest -m openclaw tests/openclaw/test_fresh_machine_real.py -s
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.openclaw.lab import OpenClaw, installed, wait_until
from tests.openclaw.model import Model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.openclaw, pytest.mark.slow]

ROOT = Path(__file__).parent.parent.parent
VERSION = "2026.9.6"
TOOLS = ("bash", "sh", "mkdir", "ln", "git", "env", "cat", "id", "uname")


class Machine:
    """A clean home on a machine with a system Python that refuses `pip install`, and OpenClaw on its PATH."""

    def __init__(self, home: Path) -> None:
        self.home, programs = home, home / "programs"
        programs.mkdir()
        node, entry = installed(VERSION)
        for name in TOOLS:
            (programs / name).symlink_to(str(shutil.which(name)))
        for name, target in (("python3", "/usr/bin/python3"), ("node", node), ("openclaw", entry)):
            (programs / name).symlink_to(target)
        self._env = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
        for settings in (Path.home() / ".config/pip/pip.conf", Path.home() / ".pip/pip.conf"):
            if settings.exists():  # where packages come from is the machine's, not the home's
                self._env["PIP_CONFIG_FILE"] = str(settings)
        self._env |= {"HOME": str(home), "PATH": f"{home}/.local/bin:{programs}", "LANG": "C.UTF-8", "TERM": "xterm"}
        self.steps: list[tuple[str, float]] = []

    def step(self, name: str, work: Callable[[], object]) -> None:
        """Do one step of the story and note how long it took."""
        started = time.monotonic()
        work()
        self.steps.append((name, time.monotonic() - started))

    def type(self, line: str, answers: str = "", where: str = ".") -> str:
        """One line at a terminal, with what is answered when it asks."""
        ours, theirs = os.openpty()
        try:
            with subprocess.Popen(
                ["bash", "-c", line], env=self._env, cwd=self.home / where, stdin=theirs, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            ) as process:  # fmt: skip
                os.write(ours, answers.encode())
                said = process.communicate(timeout=600)[0].decode()
        finally:
            os.close(ours)
            os.close(theirs)
        assert process.returncode == 0, said
        return said


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    yield made
    made.close()


def readme_blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(
    not any(Path("/usr/lib").glob("python3*/EXTERNALLY-MANAGED")), reason="no externally managed system Python"
)
def test_from_clone_to_the_block_in_the_model_s_request(tmp_path: Path, model: Model) -> None:
    """The gateway runs all the while, as it does at a user's; nothing is typed that README does not say."""
    machine = Machine(tmp_path)
    openclaw = OpenClaw(VERSION, tmp_path, model.port)
    install, first_two, *_ = readme_blocks()
    openclaw.start()
    try:
        openclaw.say("TODO: repair the lighthouse lamp before Friday.")
        wait_until(lambda: "lighthouse" in json.dumps(model.requests), what="the first turn")
        wait_until(lambda: _kept(openclaw.state_dir), what="the transcript")

        refused = subprocess.run(
            ["/usr/bin/python3", "-m", "pip", "install", str(ROOT)], capture_output=True, check=False
        )
        assert refused.returncode != 0, "this Python is not externally managed after all"
        machine.step("`git clone`", lambda: machine.type(f"git clone -q file://{ROOT} jsonlstore"))
        machine.step("the block that installs", lambda: machine.type(install, where="jsonlstore"))
        demo, setup = first_two.splitlines()
        assert (demo, setup) == ("jsonlstore demo", "jsonlstore setup")
        said: list[str] = []
        machine.step(f"`{demo}`", lambda: said.append(machine.type(demo)))
        assert "SESSION CONTINUITY" in said[-1]
        machine.step(f"`{setup}`, yes to every question", lambda: said.append(machine.type(setup, "y\n" * 4)))
        assert "lighthouse lamp" in said[-1]
        assert "Done. Now begin a new session" in " ".join(said[-1].split()), said[-1]

        def loaded() -> bool:
            told = json.loads(machine.type("jsonlstore openclaw status --json || true"))
            return bool(told["loaded"]) and told["openclaw_version"] == VERSION

        machine.step("the running gateway takes the plugin up", lambda: wait_until(loaded, what="the plugin's load"))
        before = len(model.requests)

        def ask() -> None:
            openclaw.call("sessions.reset", key="agent:main:main", reason="new")
            openclaw.say("Good morning, what is left to do?")
            wait_until(lambda: "Good morning" in json.dumps(model.requests[before:]), what="the next session's turn")

        machine.step("`/new`, a question, the model's request", ask)
        asked = json.dumps(model.requests[before:])
        assert "session-continuity" in asked
        assert "lighthouse lamp" in asked
        standing = machine.type("jsonlstore openclaw status")
        assert f"OpenClaw {VERSION} (as the running gateway reports)" in standing
        assert "last seen in what the model was sent" in standing
    finally:
        openclaw.stop(signal.SIGKILL)
    print("\n| step | seconds |\n|---|---|")
    for name, seconds in machine.steps:
        print(f"| {name} | {seconds:.1f} |")
    print(f"| together | {sum(seconds for _, seconds in machine.steps):.1f} |")


def _kept(state_dir: Path) -> bool:
    """Whether OpenClaw has put the first turn on disk."""
    files = [path for path in (state_dir / "agents").rglob("*") if path.is_file() and ".lock" not in path.name]
    return any(b"lighthouse" in path.read_bytes() for path in files)
