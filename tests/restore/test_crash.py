"""FR-012, decisionS 19, 20, 54: the dead are found and closed as of their last activity; the living are left alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jsonlstore.core.clock import format_time
from jsonlstore.restore import crash
from jsonlstore.restore.crash import is_dead, owner_of, process_started
from tests.home import Home, task

VICTIM = """
import json, sys, time
from datetime import datetime, UTC
from jsonlstore.core.clock import parse_time
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
    assert "1 crashed session recovered" in home.run("recover").stdout
    assert Path(home.store.paths.mirror("dead")).exists()


STAND_IN = """#!/bin/sh
[ "$1 $2 $3 $4 $5" = "-o stat= -o lstart= -p" ] || exit 64
cat "$(dirname "$0")/$6" 2>/dev/null
"""


@pytest.fixture
def ps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without /proc, whose `ps` shows for each process what lies in a file of that name."""
    tool = tmp_path / "bin" / "ps"
    tool.parent.mkdir()
    tool.write_text(STAND_IN)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=os.pathsep)
    monkeypatch.setattr(crash, "_PROC", str(tmp_path / "no-proc"))
    return tool.parent


def test_decision_19_without_proc_ps_tells_one_process_from_a_later_one(ps: Path) -> None:
    me = os.getpid()
    (ps / str(me)).write_text("S+   Mon Nov  9 10:00:00 2026    \n")
    owner = owner_of(me)
    assert owner["started"] == "Mon Nov 9 10:00:00 2026"
    assert not is_dead(owner)
    (ps / str(me)).write_text("S    Mon Nov  9 10:00:01 2026\n")
    assert is_dead(owner)
    (ps / str(me)).write_text("Z    Mon Nov  9 10:00:00 2026\n")
    assert is_dead(owner)


def test_decision_19_without_proc_and_without_an_answer_of_ps_a_process_counts_as_alive(ps: Path) -> None:
    me = os.getpid()
    assert process_started(me) is None
    assert "started" not in owner_of(me)
    assert not is_dead({"pid": me, "started": "Mon Nov 9 10:00:00 2026"})
    (ps / "ps").unlink()
    assert process_started(me) is None or shutil.which("ps")


KEY = "agent:main:telegram:direct:77"


def with_transcript(home: Home, *session_ids: str) -> None:
    folder = home.path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    for session_id in session_ids:
        (folder / f"{session_id}.jsonl").write_text("{}\n")


def test_decision_54_a_runtime_that_starts_another_session_of_a_key_has_left_the_one_before(home: Home) -> None:
    """Where only hooks are used, nothing else ever says that a session with a transcript has ended."""
    with_transcript(home, "a", "b")
    home.hook("session-start", session_id="a", channel="telegram", session_key=KEY)
    home.hook("turn-end", session_id="a", session_key=KEY, hot_topics=["radio"], pending_tasks=[task(1)])
    last = format_time(home.now)
    home.later(hours=30)
    warm = home.hook("session-start", session_id="b", channel="telegram", session_key=KEY)
    assert warm["session_ids"] == ["a"]
    left = home.store.get("a")
    assert (left.end_time, left.end_reason, left.crash_recovered, left.continued_by) == (last, "rollover", False, "b")
    assert home.store.get("b").previous_session_id == "a"
    assert [one["session_id"] for one in home.metrics("session_captured")] == ["a"]


def test_decision_54_the_boundary_the_runtime_names_is_how_the_session_before_ended(home: Home) -> None:
    home.manager().on_session_start("a", "telegram", session_key=KEY)
    home.later(minutes=5)
    home.manager().on_session_start("b", "telegram", session_key=KEY, reason="daily")
    assert home.store.get("a").end_reason == "daily"


def test_decision_19_54_whoever_lives_or_is_watched_or_talks_elsewhere_is_not_left_behind(home: Home) -> None:
    store, other = home.store, "agent:main:telegram:direct:78"
    store.start("living", channel="telegram", session_key=KEY, owner=owner_of(os.getpid()))
    store.start("watched", channel="telegram", session_key=KEY, source={"kind": "jsonl", "position": 1})
    store.start("elsewhere", channel="telegram", session_key=other)
    store.start("of-another", channel="telegram", session_key=KEY, agent_id="work")
    store.start("keyless", channel="telegram")
    home.later(minutes=5)
    home.manager().on_session_start("new", "telegram", session_key=KEY)
    home.manager().on_session_start("no-key", "telegram")
    assert all(entry.end_time is None for entry in home.store.entries())


def test_decision_54_a_session_left_behind_that_speaks_again_is_alive(home: Home) -> None:
    home.manager().on_session_start("a", "telegram", session_key=KEY)
    home.later(minutes=5)
    home.manager().on_session_start("b", "telegram", session_key=KEY)
    assert home.store.get("a").end_time
    home.manager().update_session_state(session_id="a", session_key=KEY, hot_topics=["radio"])
    assert home.store.get("a").end_time is None


def test_decision_54_an_end_that_is_told_wins_over_one_that_was_inferred(home: Home) -> None:
    home.manager().on_session_start("a", "telegram", session_key=KEY)
    home.later(minutes=5)
    home.manager().on_session_start("b", "telegram", session_key=KEY)
    home.later(minutes=5)
    home.manager().on_session_end("a", reason="idle")
    assert (home.store.get("a").end_reason, home.store.get("a").end_time) == ("idle", format_time(home.now))


def test_thousands_left_behind_do_not_hold_up_a_start(home: Home) -> None:
    for number in range(25):
        home.store.start(f"old-{number:02d}", channel="telegram", session_key=KEY)
        home.later(minutes=1)
    still_open = []
    for number in range(3):
        home.manager().on_session_start(f"new-{number}", "telegram", session_key=KEY)
        home.later(minutes=1)
        still_open.append(sum(entry.end_time is None for entry in home.store.entries()))
    assert still_open == [16, 7, 1]
