"""A message made to be slow holds up nobody else: the watcher goes on with the other sessions."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.watch.conftest import OpenClaw
from tests.watch.test_exactly_once import WATCH, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

HOSTILE = "11111111-aaaa-4aaa-8aaa-111111111111"
OTHER = "22222222-aaaa-4aaa-8aaa-222222222222"
MEGABYTE = 1_000_000
LONGEST_DELAY = 0.25
FRAGMENTS = ('x-auth"+"', "password", "=", "?token=", "| user | password |\n", "sk-", "a1z2")


pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the work of a process is read in /proc")


@pytest.fixture
def openclaw(tmp_path: Path) -> OpenClaw:
    return OpenClaw(tmp_path / "openclaw")


@pytest.fixture
def watcher(openclaw: OpenClaw) -> Iterator[subprocess.Popen[bytes]]:
    state_dir = openclaw.state_dir
    with subprocess.Popen([*WATCH, str(state_dir), "watch"]) as process:
        yield process
        process.terminate()


def _log(state_dir: Path, session_id: str) -> bytes:
    return b"".join(
        path.read_bytes() for path in state_dir.rglob(f"*{session_id}*.jsonl") if "agents" not in path.parts
    )


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _seconds_until(state_dir: Path, word: str, pid: int) -> float:
    """How long the watcher works until a word of the other session is in our log; other processes do not count."""
    started = _cpu_seconds(pid)
    wait_until(lambda: word.encode() in _log(state_dir, OTHER))
    return _cpu_seconds(pid) - started


def test_a_hostile_megabyte_does_not_delay_another_session(
    openclaw: OpenClaw, watcher: subprocess.Popen[bytes]
) -> None:
    """Each fragment's megabyte arrives just before the other session's words; the same words alone are the measure."""
    state_dir = openclaw.state_dir
    hostile, other = openclaw.begin(HOSTILE, "antenna"), openclaw.begin(OTHER, "windmill", key="agent:main:other")
    wait_until(lambda: b"windmill" in _log(state_dir, OTHER))
    quiet, delays = [], {}
    for number, fragment in enumerate(FRAGMENTS):
        openclaw.append(OTHER, *other.turn(f"harbour{number}"))
        quiet.append(_seconds_until(state_dir, f"harbour{number}", watcher.pid))
        message = (fragment * (MEGABYTE // len(fragment)))[:MEGABYTE]
        openclaw.append(HOSTILE, hostile.user(message))
        openclaw.append(OTHER, *other.turn(f"lantern{number}"))
        delays[fragment] = _seconds_until(state_dir, f"lantern{number}", watcher.pid)
    usual = sorted(quiet)[len(quiet) // 2]
    assert watcher.poll() is None
    assert {fragment: delay for fragment, delay in delays.items() if delay - usual > LONGEST_DELAY} == {}, usual
