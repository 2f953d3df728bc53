"""A message made to be slow holds up nobody else: the watcher goes on with the other sessions."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jsonlstore.core.config import Config
from jsonlstore.core.paths import StatePaths
from jsonlstore.store.store import SessionStore
from jsonlstore.watch.catch_up import Timing
from jsonlstore.watch.loop import Watcher
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


def cpu_seconds(pid: int) -> float:
    """What a process has worked so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _seconds_until(state_dir: Path, word: str, pid: int) -> float:
    """How long the watcher works until a word of the other session is in our log; other processes do not count."""
    started = cpu_seconds(pid)
    wait_until(lambda: word.encode() in _log(state_dir, OTHER))
    return cpu_seconds(pid) - started


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


def test_others_go_on_after_each_hostile_message(openclaw: OpenClaw) -> None:
    """Many of them take one slice each: the other session's words are in our log before all of them are read."""
    hostile, other = openclaw.begin(HOSTILE, "antenna"), openclaw.begin(OTHER, "windmill", key="agent:main:other")
    store = SessionStore(StatePaths.of(openclaw.state_dir))
    watcher = Watcher(store, Config(), timing=Timing(slice=0.0, debounce=0.0, rescan=3600.0))
    watcher.rescan()
    while watcher.step():
        pass
    many = [hostile.user((fragment * 100_000)[:100_000]) for fragment in FRAGMENTS]
    openclaw.append(HOSTILE, *many, *hostile.turn("lighthouse"))
    openclaw.append(OTHER, *other.turn("lantern"))
    for session_id in (HOSTILE, OTHER):  # whichever of the two the events name first
        watcher.hints.add(str(openclaw.path(session_id)))
    watcher.step()
    assert b"lantern" in _log(openclaw.state_dir, OTHER)
    assert b"lighthouse" not in _log(openclaw.state_dir, HOSTILE)
    steps = 0
    while b"lighthouse" not in _log(openclaw.state_dir, HOSTILE):
        openclaw.append(OTHER, *other.turn(f"beacon{steps}"))
        watcher.hints.add(str(openclaw.path(OTHER)))
        watcher.step()
        assert f"beacon{steps}".encode() in _log(openclaw.state_dir, OTHER)
        steps += 1
        assert steps < 100
    assert steps >= len(FRAGMENTS) - 1
