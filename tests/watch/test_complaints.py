"""A watcher on a full disk says so once a minute, keeps trying, and carries on when there is room."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from jsonlstore.store.store import SessionStore
from jsonlstore.watch.complaints import OneAMinute
from jsonlstore.watch.service import Systemd
from tests.watch.conftest import OpenClaw, Talk, line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FULL = "cannot write %s: No space left on device"


def record(level: int, message: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord("jsonlstore.watch", level, "", 0, message, arguments, None)


def test_one_error_a_minute_however_many_sessions_wait() -> None:
    """The next one says how many were kept back; a warning never keeps an error back."""
    now = 0.0
    only = OneAMinute(lambda: now)
    assert only.filter(record(logging.WARNING, FULL, "watcher.json"))
    said = []
    for number in range(1710):
        now = number * 0.1
        one = record(logging.ERROR, FULL, f"s{number}.jsonl")
        said += [one.getMessage()] if only.filter(one) else []
    assert len(said) == 3
    assert said[0] == "cannot write s0.jsonl: No space left on device; it is tried again until it works"
    assert "(599 more like it in the last minute)" in said[1]


def test_other_messages_are_never_kept_back() -> None:
    only = OneAMinute(lambda: 0.0)
    for _ in range(3):
        assert only.filter(record(logging.ERROR, "s1 cannot be followed: KeyError()"))
        assert only.filter(record(logging.INFO, FULL, "s1.jsonl"))
    assert only.filter(record(logging.ERROR, FULL, "a"))
    assert only.filter(record(logging.ERROR, "cannot write b: Read-only file system"))
    assert not only.filter(record(logging.WARNING, "not searchable yet: database or disk is full"))


def test_systemd_never_gives_up(tmp_path: Path) -> None:
    text = Systemd(tmp_path).text().decode()
    assert "StartLimitIntervalSec=0\n" in text
    assert "Restart=on-failure\n" in text


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MB."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_watcher_on_a_full_disk_complains_once_and_carries_on_later(small_disk: Path, tmp_path: Path) -> None:
    """Forty sessions wait; when there is room again all of them are kept."""
    openclaw = OpenClaw(small_disk / "state")
    for number in range(40):
        talk = Talk(f"{number:08x}-eeee-4eee-8eee-eeeeeeeeeeee", day=1 + number % 28)
        openclaw.path(talk.session_id).write_bytes(b"".join(map(line, [talk.header, *talk.turn("antenna")])))
    openclaw.refer("agent:main:main", "none")
    store = SessionStore.open(small_disk / "state")
    store.prepare()
    filler, said = small_disk / "filler", tmp_path / "said"
    with pytest.raises(OSError, match="No space left"):
        filler.write_bytes(b"x" * 9_000_000)
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(small_disk / "state"), "watch"]
    with said.open("wb") as stderr, subprocess.Popen(command, stderr=stderr) as watcher:
        try:
            wait_until(lambda: b"No space left" in said.read_bytes())
            time.sleep(3)  # many turns of the loop
            assert watcher.poll() is None
            complaints = [text for text in said.read_text().splitlines() if "ERROR: " in text or "WARNING: " in text]
            assert len([text for text in complaints if "ERROR: " in text]) == 1, complaints
            assert len(complaints) <= 2, complaints
            filler.unlink()
            wait_until(lambda: len(list(SessionStore.open(small_disk / "state").entries())) == 40)
            assert watcher.poll() is None
        finally:
            watcher.send_signal(signal.SIGTERM)
            watcher.wait(30)
