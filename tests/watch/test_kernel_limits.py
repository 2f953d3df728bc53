"""The kernel's own limits, reached for real: events that are lost, watches that are refused."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.watch.observer import Hints, Observer
from tests.watch.conftest import OpenClaw, derived
from tests.watch.test_exactly_once import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator


pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="inotify is Linux's"),
    pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning"),
]

SID = "11111111-aaaa-4aaa-8aaa-111111111111"
QUEUE = Path("/proc/sys/fs/inotify/max_queued_events")
LIMITED = ["unshare", "--user", "--map-root-user", "sh", "-c"]


@pytest.fixture
def short_queue() -> Iterator[None]:
    """A queue of a few events for whoever starts to watch now; the old length is put back in any case."""
    before = QUEUE.read_text()
    try:
        QUEUE.write_text("4")
    except OSError as problem:
        pytest.skip(f"the length of the queue can only be set by root, and not in every container: {problem.strerror}")
    try:
        yield
    finally:
        QUEUE.write_text(before)


def test_a_queue_that_overflows_is_noticed_and_everything_looked_at(tmp_path: Path, short_queue: None) -> None:
    hints = Hints()
    observer = Observer([tmp_path], hints)
    observer.check()
    QUEUE.write_text("16384")  # the queue of the watch that is set stays short
    done = threading.Event()

    def storm() -> None:
        names = [tmp_path / f"{number}.jsonl" for number in range(200)]
        while not done.is_set():
            for name in names:
                name.write_bytes(b"x")
                name.unlink()

    writer = threading.Thread(target=storm)
    writer.start()
    try:
        wait_until(lambda: hints.overflows > 0)
        assert hints.take()[1]
    finally:
        done.set()
        writer.join()
        observer.stop()


def test_where_watches_are_refused_it_polls_says_so_and_misses_nothing(openclaw: OpenClaw, state_dir: Path) -> None:
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    limit = "echo 3 > /proc/sys/user/max_inotify_watches"
    tried = subprocess.run([*LIMITED, limit], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"no limit of one's own can be set here: {tried.stderr.strip()}")
    for number in range(6):
        OpenClaw(state_dir, f"agent{number}")
    talk = openclaw.begin(SID, "antenna")
    command = f'{limit} && exec "$0" -m jsonlstore -q --state-dir "$1" watch'
    watcher = subprocess.Popen([*LIMITED, command, sys.executable, str(state_dir)])
    try:
        wait_until(lambda: "antenna" in topics(state_dir))
        openclaw.append(SID, *talk.turn("windmill"))
        wait_until(lambda: "windmill" in topics(state_dir))
        wait_until(lambda: reported(state_dir).get("mode") == "polling")
        assert "limit" in reported(state_dir)["polling_because"]
    finally:
        watcher.send_signal(signal.SIGTERM)
        assert watcher.wait(30) == 0


def topics(state_dir: Path) -> list[str]:
    found: list[str] = derived(state_dir).get(SID, {}).get("hot_topics", [])
    return found


def reported(state_dir: Path) -> dict[str, Any]:
    path = state_dir / "sessions" / "states" / "watcher.json"
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found
