"""FR-012, DECISIONS 19, 20, 54: the dead are found and closed as of their last activity; the living are left alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jsonlstore.clock import format_time
from jsonlstore.continuity.crash import is_dead, owner_of, process_started
from tests.continuity.conftest import Home, task

VICTIM = """
import json, sys, time
from datetime import datetime, UTC
from jsonlstore.clock import parse_time
from jsonlstore import SessionStore, SessionPersistenceManager
import os
moment = parse_time(sys.argv[2])
store = SessionStore.open(sys.argv[1], clock=lambda: moment)
manager = SessionPersistenceManager(store)
manager.on_session_start(sys.argv[3], "cli", pid=os.getpid())
manager.update_session_state(
    working_memory=[{"content": "half way through the plug", "label": "soldering"}],
    pending_tasks=[{"task_id": "task-017", "title": "Solder", "stage": "build"}],
    hot_topics=["soldering"],
)
print("ready", flush=True)
sys.stdin.read()
"""


def running(home: Home, session_id: str) -> subprocess.Popen[str]:
    """A process in mid-session."""
    process = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(home.path), format_time(home.now), session_id],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_issue_must_show_sigkill_in_mid_session(home: Home) -> None:
    victim, survivor = running(home, "victim"), running(home, "survivor")
    try:
        died_at = format_time(home.now)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        home.later(hours=3)
        context = home.manager().on_session_start("next", "cli")
        state = home.store.get("victim")
        assert state.crash_recovered
        assert state.end_time == died_at
        assert state.end_reason == "crash"
        assert context.session_ids == ("victim",)
        assert [pin.content for pin in context.inherited_pins] == ["half way through the plug"]
        assert "[task-017]" in (context.preamble or "")
        assert home.store.get("survivor").end_time is None
        assert [one["crash_recovered"] for one in home.metrics("session_captured")] == [True]
        assert home.store.get("next").previous_session_id == "victim"
    finally:
        for process in (victim, survivor):
            process.kill()
            process.communicate()


def test_decision_19_a_zombie_is_dead_and_a_living_owner_is_not() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = owner_of(child.pid)
    assert not is_dead(owner)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert is_dead(owner), "killed, not yet waited for"
    child.communicate()
    assert is_dead(owner)


def test_decision_19_a_reused_process_id_is_another_process() -> None:
    owner = owner_of(os.getpid())
    assert not is_dead(owner)
    assert is_dead({**owner, "started": "0:1"})
    assert process_started(os.getpid()) == owner["started"]


@pytest.mark.parametrize("owner", [{}, {"pid": "12"}, {"pid": True}, {"pid": -1}, {"pid": 2**30, "namespace": "other"}])
def test_decision_19_what_cannot_be_told_counts_as_alive(owner: dict[str, object]) -> None:
    assert not is_dead(owner)


def test_decision_19_without_owner_and_transcript_silence_decides(home: Home) -> None:
    home.store.start("quiet", channel="cli")
    home.later(minutes=30)
    home.store.update("quiet", {"hot_topics": ["t"]})
    last = format_time(home.now)
    home.later(minutes=119)
    assert home.manager().detect_and_recover_crashed() == []
    home.later(minutes=2)
    found = home.manager().detect_and_recover_crashed(dry_run=True)
    assert [(one.session_id, one.end_time) for one in found] == [("quiet", last)]
    assert home.store.get("quiet").end_time is None
    assert home.manager().detect_and_recover_crashed("quiet") == []
    assert home.manager().detect_and_recover_crashed()
    assert home.store.get("quiet").crash_recovered
    assert home.manager().detect_and_recover_crashed() == []


def test_decision_54_a_session_with_a_transcript_ends_by_what_its_runtime_shows(home: Home) -> None:
    home.store.start("watched", by="watcher", source={"kind": "jsonl", "position": 1})
    home.store.start("filed", channel="cli", owner={"pid": 2**22 + 5})
    home.store.start("bare", channel="cli", owner={"pid": 2**22 + 5})
    folder = home.path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    (folder / "filed.jsonl").write_text("{}\n")
    home.later(days=2)
    assert [one.session_id for one in home.manager().detect_and_recover_crashed()] == ["bare"]


def test_decision_19_an_end_is_never_later_than_now(home: Home) -> None:
    home.store.start("ahead", channel="cli", owner={"pid": 2**22 + 5})
    home.store.update("ahead", {"updated_at": "2027-01-01T00:00:00Z"})
    home.manager().detect_and_recover_crashed()
    assert home.store.get("ahead").end_time == format_time(home.now)


def test_decision_20_a_session_taken_for_dead_that_speaks_again_is_alive(home: Home) -> None:
    home.store.start("sleeper", channel="cli")
    home.later(hours=5)
    home.manager().detect_and_recover_crashed()
    home.manager().update_session_state(session_id="sleeper", pending_tasks=[task(1)])
    state = home.store.get("sleeper")
    assert state.end_time is None
    assert not state.crash_recovered


def test_a_new_owner_takes_a_session_over(home: Home) -> None:
    home.manager().on_session_start("a", "cli", pid=2**22 + 5)
    home.manager().on_session_start("a", "cli", pid=os.getpid(), again=True)
    assert home.manager().detect_and_recover_crashed() == []


def test_the_recover_command_says_what_it_did(home: Home) -> None:
    home.store.start("dead", channel="cli", owner={"pid": 2**22 + 5})
    shown = json.loads(home.run("recover", "--dry-run", "--json").stdout)
    assert [one["session_id"] for one in shown["recovered"]] == ["dead"]
    assert home.store.get("dead").end_time is None
    assert "1 crashed session(s) recovered" in home.run("recover").stdout
    assert Path(home.store.paths.mirror("dead")).exists()
