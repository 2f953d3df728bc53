"""NFR-004: whatever the disk does, a session starts in time. Faults come through the environment, not through mocks."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from jsonlstore.core.errors import OverBudget
from jsonlstore.restore.deadline import Budget
from tests.home import Home, task

if TYPE_CHECKING:
    from pathlib import Path

NOW = ("--now", "2026-11-10T12:00:00Z")
STDIN = '{"session_id":"new","channel":"cli"}'


def with_past(home: Home, budget_ms: int = 400) -> None:
    home.past("a", hot_topics=["radio"], pending_tasks=[task(1)], working_memory=[{"content": "c", "label": "p"}])
    config = {"plugins": {"entries": {"jsonlstore": {"config": {"restore_budget_ms": budget_ms}}}}}
    (home.path / "openclaw.json").write_text(json.dumps(config))


def cold(done: subprocess.CompletedProcess[str]) -> str:
    """The answer is a cold start that says why, on stdout and in the log."""
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["preamble"] is None
    assert answer["inherited_pins"] == []
    assert "cold start" in done.stderr
    error: str = answer["error"]
    return error


def test_a_corrupt_index_is_healed_and_the_context_restored(home: Home) -> None:
    with_past(home, 5000)
    home.store.paths.index.write_bytes(b'{"schema_version": 1, "sessions": {"a": {"end_ti')
    answer = home.hook("session-start", session_id="new", channel="cli")
    assert answer["session_ids"] == ["a"]
    assert "error" not in answer
    assert "new" in json.loads(home.store.paths.index.read_bytes())["sessions"]


@pytest.mark.parametrize("value", [5, "~not a time", "2026-11-10T11:00:00", {"x": 1}])
def test_an_index_with_nonsense_in_it_is_rebuilt_and_the_context_restored(home: Home, value: object) -> None:
    with_past(home, 5000)
    index = json.loads(home.store.paths.index.read_bytes())
    index["sessions"]["a"]["end_time"] = value
    home.store.paths.index.write_text(json.dumps(index))
    context = home.manager(restore_budget_ms=10_000).on_session_start("new", "cli")
    assert context.session_ids == ("a",)
    assert context.error is None
    assert home.store.paths.index.read_bytes() == home.store.index.expected()


def test_a_broken_pin_file_is_set_aside_and_the_context_restored(home: Home) -> None:
    with_past(home, 5000)
    home.pin_file.parent.mkdir(parents=True)
    home.pin_file.write_bytes(b'{"items": [{"content": "torn')
    answer = home.hook("session-start", session_id="new", channel="cli")
    assert answer["session_ids"] == ["a"]
    assert [pin["content"] for pin in home.pinned()] == ["c"]
    assert home.pin_file.with_name("working_memory.json.corrupt-0").read_bytes() == b'{"items": [{"content": "torn'


def test_a_pin_file_that_cannot_be_read_costs_the_pins_and_nothing_else(home: Home) -> None:
    home.past("a", hot_topics=["radio"], working_memory=[{"content": "c", "label": "p"}])
    home.pin_file.mkdir(parents=True)
    answer = home.hook("session-start", session_id="b", channel="cli")
    assert "HOT TOPICS: radio" in answer["preamble"]
    assert "WORKING MEMORY" not in answer["preamble"]
    assert (answer["inherited_pins"], answer["session_ids"]) == ([], ["a"])
    assert "working_memory.json" in answer["error"]


def test_a_state_dir_that_is_no_directory_is_a_cold_start(home: Home) -> None:
    home.path.mkdir()
    (home.path / "sessions").write_text("in the way")
    assert cold(home.run("hook", "session-start", *NOW, stdin=STDIN))
    done = home.run("hook", "session-end", *NOW, stdin='{"session_id":"new"}')
    assert json.loads(done.stdout)["captured"] is False
    assert json.loads(done.stdout)["error"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_state_dir_is_a_cold_start(home: Home) -> None:
    with_past(home)
    home.store.paths.states.chmod(0)
    try:
        assert cold(home.run("hook", "session-start", *NOW, stdin=STDIN))
    finally:
        home.store.paths.states.chmod(0o700)


def test_a_full_disk_is_a_cold_start_and_leaves_the_past_whole(home: Home) -> None:
    with_past(home, 5000)
    before = home.store.get("a")

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        home.command("hook", "session-start", *NOW), input=STDIN, capture_output=True, text=True, timeout=60,
        check=False, preexec_fn=no_room, env=env,
    )  # fmt: skip
    assert cold(done)
    assert home.store.get("a") == before
    assert not home.pin_file.exists()
    assert home.hook("session-start", session_id="new", channel="cli")["session_ids"] == ["a"]


def in_time(home: Home, budget_ms: int) -> str:
    """Answered by the deadline although something hangs for ten seconds: the process would not be back otherwise."""
    began = time.monotonic()
    done = home.run("hook", "session-start", *NOW, stdin=STDIN)
    assert time.monotonic() - began < 8, "it waited for the hanging disk"
    answer = json.loads(done.stdout)
    assert answer["elapsed_ms"] >= budget_ms
    return cold(done)


def hold_open(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)  # whoever opens it to read hangs until somebody writes


def test_a_hanging_index_is_a_cold_start_in_time(home: Home) -> None:
    with_past(home)
    hold_open(home.store.paths.index)
    assert "not done after" in in_time(home, 400)
    assert not home.store.paths.log("new").exists()


def test_a_hanging_session_log_is_a_cold_start_in_time(home: Home) -> None:
    with_past(home)
    hold_open(home.store.paths.log("a"))
    in_time(home, 400)


def test_a_hanging_pin_file_is_a_cold_start_in_time(home: Home) -> None:
    with_past(home)
    home.pin_file.parent.mkdir(parents=True)
    hold_open(home.pin_file)
    in_time(home, 400)
    assert not home.store.paths.log("new").exists(), "no side effect after the deadline"


def test_hanging_settings_are_a_cold_start_in_time(home: Home) -> None:
    with_past(home)
    hold_open(home.path / "openclaw.json")
    in_time(home, 1500)


@pytest.mark.parametrize("name", ["index.lock", "session", "pins.lock", "metrics.lock"])
def test_a_lock_held_by_another_process_never_holds_up_a_start(home: Home, name: str) -> None:
    import zlib

    with_past(home, 2000)
    stripe = f"session-{zlib.crc32(b'new') % 64:02d}.lock"
    lock = home.store.paths.states / (stripe if name == "session" else name)
    began = time.monotonic()
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = home.run("hook", "session-start", *NOW, stdin=STDIN)
    assert time.monotonic() - began < 8
    answer = json.loads(done.stdout)
    if name in ("session", "pins.lock"):
        assert cold(done)
    else:
        assert "error" in answer or answer["session_ids"] == ["a"]
    after = home.hook("session-start", session_id="new", channel="cli", again=True)
    assert after["session_ids"] == ["a"], "once the lock is free, everything works"
    assert len(home.pinned()) == 1


def test_the_library_keeps_the_budget_too_and_nothing_happens_later(home: Home) -> None:
    with_past(home)
    home.pin_file.parent.mkdir(parents=True)
    hold_open(home.pin_file)
    context = home.manager(restore_budget_ms=100).on_session_start("new", "cli")
    assert context.cold
    assert "not done after" in (context.error or "")
    writer = os.open(home.pin_file, os.O_WRONLY)  # the worker waits at the other end
    home.pin_file.unlink()
    os.close(writer)  # it goes on, and the gate must stop it
    for thread in threading.enumerate():
        if thread.name == "jsonlstore-restore":
            thread.join(10)
            assert not thread.is_alive()
    assert not home.store.paths.log("new").exists()
    assert not home.pin_file.exists()


def test_the_gate_lets_nothing_pass_once_the_caller_has_gone() -> None:
    budget = Budget(60)
    budget.enter("first")
    budget.close()
    assert budget.left() == 0
    with pytest.raises(OverBudget):
        budget.enter("second")


def test_a_budget_hands_results_and_errors_through() -> None:
    assert Budget(60).run(lambda: 7) == 7
    with pytest.raises(KeyError):
        Budget(60).run(lambda: {}["x"])
    with pytest.raises(OverBudget):
        Budget(0).run(threading.Event().wait)


def test_killed_between_two_side_effects_the_next_start_completes(home: Home) -> None:
    """SIGKILL at every step: reopened, the store is whole and the restore is not lost."""
    killer = (
        "import os, sys\n"
        "from jsonlstore.restore import deadline as budget\n"
        "steps = []\n"
        "enter = budget.Budget.enter\n"
        "def counting(self, step):\n"
        "    enter(self, step)\n"
        "    steps.append(step)\n"
        "    if len(steps) == int(sys.argv[2]): os.kill(os.getpid(), 9)\n"
        "budget.Budget.enter = counting\n"
        "from datetime import datetime, UTC\n"
        "from jsonlstore import SessionStore, SessionPersistenceManager, Config\n"
        "store = SessionStore.open(sys.argv[1], clock=lambda: datetime(2026, 11, 10, 12, tzinfo=UTC))\n"
        "SessionPersistenceManager(store, Config(restore_budget_ms=10000)).on_session_start('new', 'cli')\n"
    )
    with_past(home, 10000)
    for step in range(1, 12):
        done = subprocess.run([sys.executable, "-c", killer, str(home.path), str(step)], check=False, timeout=60)
        if done.returncode == 0:
            break
        assert done.returncode == -9
    else:
        pytest.fail("the restore never finished")
    assert step > 1, "at least one kill happened"
    home.later(hours=2)
    context = home.manager().on_session_start("new", "cli", again=True)
    assert context.session_ids == ("a",)
    assert [pin["content"] for pin in home.pinned()] == ["c"]
    assert home.store.folded("a").continued == ["new"]
    assert home.store.metrics.verify().ok
