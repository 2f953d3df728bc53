"""The same kills, from outside: strace strikes the real system calls of a real process."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.faults.runner import Bench, Outcome
from tests.faults.scenarios import SCENARIOS, open_store

if TYPE_CHECKING:
    from pathlib import Path

CALLS = ("write", "fsync", "fdatasync", "rename,renameat,renameat2", "unlink,unlinkat", "ftruncate", "mkdir,mkdirat")
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


def main(name: str, root: str) -> None:
    """What the traced process does: the scenario's steps, each acknowledged on stdout."""
    from pathlib import Path

    store = open_store(Path(root), sync=True)
    for step in BY_NAME[name].steps:
        step(store)
        print("done", flush=True)


def strace() -> str:
    tool = shutil.which("strace")
    if tool is None:
        pytest.skip("strace is not installed")
    if subprocess.run([tool, "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode:
        pytest.skip("tracing is not allowed here")
    return tool


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("update", "fdatasync"),
        *(
            pytest.param(name, calls, marks=pytest.mark.slow)
            for name in ("start", "end", "archive", "unarchive", "forget", "metrics")
            for calls in CALLS
        ),
    ],
)
def test_killed_at_any_system_call(name: str, calls: str, tmp_path: Path) -> None:
    """kill -9 when entering the n-th system call of a kind, n = 1, 2, 3 … until the run passes untouched."""
    tool, bench = strace(), Bench(BY_NAME[name], tmp_path)
    program = "import sys; from tests.faults.test_strace import main; main(*sys.argv[1:])"
    for at in range(1, 200):
        work = bench.fresh("work")
        traced = subprocess.run(
            [
                tool, "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}",
                "-e", f"inject={calls}:signal=KILL:when={at}",
                sys.executable, "-B", "-c", program, name, str(work),
            ],
            capture_output=True, check=False,
        )  # fmt: skip
        done = traced.stdout.count(b"done\n")
        assert traced.returncode in (0, -9, 137), traced.stderr.decode()
        bench.check(work, Outcome(done, traced.returncode != 0, None, None))
        if traced.returncode == 0:
            assert done == len(bench.scenario.steps)
            return
    raise AssertionError("the run never passed")
