"""Killed at any moment, as often as you like, the watcher ends up with what one clean backfill gives."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.store.doctor import Doctor
from jsonlstore.store.store import SessionStore
from tests.watch.conftest import OpenClaw, clean_backfill, derived, once

if TYPE_CHECKING:
    from collections.abc import Callable

WRITER = Path(__file__).parent / "writer.py"
WATCH = [sys.executable, "-m", "jsonlstore", "-q", "--state-dir"]


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def tell(state_dir: Path, kind: str, sessions: int, entries: int, kills: int, make: Any) -> None:
    """Let a writer write and a watcher watch, and kill the watcher again and again."""
    agent = state_dir / "agents" / "main"
    if kind == "sqlite":
        make.create_database(agent / "agent" / "openclaw-agent.sqlite", 23).close()
    chance = random.Random(5)
    pause = {**os.environ, "WRITER_PAUSE": str(kills * 0.9 / (entries * 0.3))}
    command = [sys.executable, str(WRITER), kind, str(agent), str(sessions), str(entries), "11"]
    writer = subprocess.Popen(command, env=pause)
    logs = state_dir / "sessions" / "states"
    try:
        for _ in range(kills):
            watcher = subprocess.Popen([*WATCH, str(state_dir), "watch"])
            before = sum(path.stat().st_size for path in logs.glob("*.jsonl"))

            def wrote(since: int = before) -> bool:
                return writer.poll() is not None or sum(p.stat().st_size for p in logs.glob("*.jsonl")) > since

            wait_until(wrote)
            time.sleep(chance.random() * 0.1)  # the moment of the kill is the random thing under test
            watcher.send_signal(signal.SIGKILL)
            watcher.wait()
        assert writer.wait(timeout=300) == 0
    finally:
        writer.kill()
        writer.wait()


def check(openclaw: OpenClaw, state_dir: Path, tmp_path: Path) -> None:
    openclaw.remember()
    once(state_dir)
    assert derived(state_dir) == clean_backfill(state_dir, tmp_path)
    # a torn last line is mended by the next append or the doctor; all the rest has healed by itself
    ill = {check.name: check.detail for check in Doctor(SessionStore.open(state_dir)).examine() if not check.ok}
    assert set(ill) <= {"log tails"}, ill
    assert once(state_dir) == 0


@pytest.mark.parametrize("kind", ["jsonl", "sqlite"])
def test_a_watcher_killed_again_and_again_counts_everything_once(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path, kind: str, make: Any
) -> None:
    tell(state_dir, kind, sessions=6, entries=240, kills=3, make=make)
    check(openclaw, state_dir, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["jsonl", "sqlite"])
def test_fifty_kills_over_two_thousand_entries_in_twenty_transcripts(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path, kind: str, make: Any
) -> None:
    tell(state_dir, kind, sessions=20, entries=2000, kills=50, make=make)
    check(openclaw, state_dir, tmp_path)
