"""The watcher as a process: prompt, alone, polite to signals, and honest about what it cannot see."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.cli.main import main
from jsonlstore.core.config import Config
from jsonlstore.store.store import SessionStore
from jsonlstore.watch.instance import WatcherRunning, read_report, running, single_instance
from jsonlstore.watch.loop import Watcher
from jsonlstore.watch.maintenance import keep_alive_seconds, notify
from jsonlstore.watch.observer import Hints, Observer, file_system_of
from tests.watch.conftest import IMPATIENT, OpenClaw, derived
from tests.watch.test_exactly_once import WATCH, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# the event library warns when a directory made and a directory scanned meet; as an error that would kill its thread
pytestmark = pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning")

SID = "11111111-aaaa-4aaa-8aaa-111111111111"
OTHER = "22222222-aaaa-4aaa-8aaa-222222222222"


class Running:
    """A watcher in a thread of its own, with the pace of the tests."""

    def __init__(self, state_dir: Path, **config: Any) -> None:
        self.watcher = Watcher(SessionStore.open(state_dir), Config(**config), timing=IMPATIENT)
        self.thread = threading.Thread(target=self.watcher.run)

    def __enter__(self) -> Watcher:
        self.thread.start()
        return self.watcher

    def __exit__(self, *_: object) -> None:
        self.watcher.stop()
        self.thread.join(20)
        assert not self.thread.is_alive()


def knows(state_dir: Path, session_id: str, topic: str) -> bool:
    return topic in derived(state_dir).get(session_id, {}).get("hot_topics", ())


def test_what_is_written_while_it_runs_is_kept_and_so_are_new_agents(openclaw: OpenClaw, state_dir: Path) -> None:
    talk = openclaw.begin(SID, "antenna")
    with Running(state_dir) as live:
        wait_until(lambda: knows(state_dir, SID, "antenna"))
        openclaw.append(SID, *talk.turn("harbour"))
        wait_until(lambda: knows(state_dir, SID, "harbour"))
        other = OpenClaw(state_dir, "second")
        other.begin(OTHER, "windmill")
        wait_until(lambda: knows(state_dir, OTHER, "windmill"))
        assert live.observer.mode == "events"
    openclaw.remember()


def test_it_starts_before_openclaw_was_ever_run(openclaw: OpenClaw, state_dir: Path, tmp_path: Path) -> None:
    empty = tmp_path / "fresh"
    with Running(empty):
        later = OpenClaw(empty)
        later.begin(SID, "antenna")
        wait_until(lambda: knows(empty, SID, "antenna"))


def test_a_burst_beyond_the_queue_is_a_look_at_everything(openclaw: OpenClaw, state_dir: Path) -> None:
    talk = openclaw.begin(SID, "antenna")
    live = Watcher(SessionStore.open(state_dir), Config(), timing=IMPATIENT)
    live.once()
    openclaw.append(SID, *talk.turn("harbour"))
    live.hints.lost(overflow=True)
    live.step()
    assert knows(state_dir, SID, "harbour")
    assert live.hints.overflows == 1


def test_the_library_s_word_of_an_overflow_is_heard_once(tmp_path: Path) -> None:
    import logging

    hints = Hints()
    observer = Observer([tmp_path], hints)
    observer.check()
    try:
        logging.getLogger("watchdog.observers.inotify_c").warning(
            "Inotify queue overflowed; filesystem events were lost"
        )
        logging.getLogger("watchdog.observers.inotify").warning("Inotify queue overflowed; reconciling below x")
        assert hints.overflows == 1
        assert hints.take()[1]
    finally:
        observer.stop()


def test_a_dead_observer_is_replaced_and_everything_looked_at(tmp_path: Path) -> None:
    hints = Hints()
    observer = Observer([tmp_path], hints)
    observer.check()
    try:
        inner = observer._observer
        assert inner is not None
        for emitter in list(inner.emitters):
            emitter.stop()
            emitter.join(5)
        observer.check()
        assert observer.restarts == 1
        assert hints.take()[1]
        (tmp_path / "x.jsonl").touch()
        assert hints.bell.wait(5)
    finally:
        observer.stop()


def test_a_watched_directory_that_was_replaced_is_watched_anew(tmp_path: Path) -> None:
    root = tmp_path / "agents"
    root.mkdir()
    hints = Hints()
    observer = Observer([root], hints)
    observer.check()
    try:
        root.rename(tmp_path / "gone")
        root.mkdir()
        observer.check()
        hints.take()
        (root / "x.jsonl").touch()
        assert hints.bell.wait(5)
    finally:
        observer.stop()


def test_the_watch_limit_means_polling_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from watchdog.observers import Observer as SystemObserver

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(SystemObserver, "schedule", refuse)
    observer = Observer([tmp_path], Hints())
    observer.check()
    assert observer.mode == "polling"
    assert "watch limit" in (observer.problem or "")


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "fuse.sshfs", "virtiofs"])
def test_a_file_system_that_does_not_tell_is_polled(openclaw: OpenClaw, state_dir: Path, kind: str) -> None:
    talk = openclaw.begin(SID, "antenna")
    started = Running(state_dir)
    started.watcher.observer = Observer([state_dir / "agents"], started.watcher.hints, file_system=lambda _: kind)
    with started as live:
        wait_until(lambda: knows(state_dir, SID, "antenna"))
        openclaw.append(SID, *talk.turn("harbour"))
        wait_until(lambda: knows(state_dir, SID, "harbour"))
        assert live.observer.mode == "polling"
        wait_until(
            lambda: (
                (report := read_report(SessionStore.open(state_dir).paths)) is not None
                and kind in str(report.polling_because)
            )
        )


def test_events_that_never_come_are_noticed(openclaw: OpenClaw, state_dir: Path) -> None:
    talk = openclaw.begin(SID, "antenna")
    live = Watcher(SessionStore.open(state_dir), Config(), timing=IMPATIENT)
    live.once()
    live._observing = True
    live.observer.check()
    live.observer._observer.unschedule_all()  # type: ignore[union-attr]
    for _ in range(IMPATIENT.missed_before_polling):
        openclaw.append(SID, *talk.turn("harbour"))
        live.rescan()
    assert live.observer.mode == "polling"
    live.observer.stop()


def test_the_file_system_of_a_path_is_known_on_linux(tmp_path: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux tells")
    assert file_system_of(tmp_path)


@pytest.fixture
def process(openclaw: OpenClaw, state_dir: Path) -> Iterator[subprocess.Popen[str]]:
    openclaw.begin(SID, "antenna")
    child = subprocess.Popen([*WATCH[:3], "--state-dir", str(state_dir), "watch"], text=True, stderr=subprocess.PIPE)
    wait_until(lambda: knows(state_dir, SID, "antenna"))
    yield child
    child.kill()
    child.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_polite_signal_ends_it_with_zero_and_a_word(process: subprocess.Popen[str], number: signal.Signals) -> None:
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "caught up" in said
    assert f"{SID} started" in said


# signals come in whatever it is doing, also in the middle of waiting for the bell, or of ringing it
ALARMED = """
import signal
from pathlib import Path
from jsonlstore.core.config import Config
from jsonlstore.store.store import SessionStore
from jsonlstore.watch.loop import Watcher

watcher = Watcher(SessionStore.in_memory(), Config())
rung = 0
def ring(_number, _frame):
    global rung
    rung += 1
    watcher.reload()
    watcher.stop()
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
while rung < 20_000:
    watcher.hints.bell.wait(0.0005)
    watcher.hints.take()
signal.setitimer(signal.ITIMER_REAL, 0)
"""


def test_a_signal_at_any_moment_stops_nothing_for_good() -> None:
    done = subprocess.run([sys.executable, "-c", ALARMED], timeout=120, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]


def test_switched_off_by_its_settings_it_stops(openclaw: OpenClaw, state_dir: Path) -> None:
    openclaw.begin(SID, "antenna")
    settings = [Config(enabled=False)]
    made = Watcher(SessionStore.open(state_dir), Config(), timing=IMPATIENT, reload=settings.pop)
    thread = threading.Thread(target=made.run)
    thread.start()
    wait_until(lambda: knows(state_dir, SID, "antenna"))
    made.reload()
    thread.join(20)
    assert not thread.is_alive()


def test_there_is_one_watcher_and_the_second_says_who(
    process: subprocess.Popen[str], state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = SessionStore.open(state_dir).paths
    assert running(paths) == process.pid
    assert main(["--state-dir", str(state_dir), "watch"]) == 1
    assert str(process.pid) in capsys.readouterr().err
    with pytest.raises(WatcherRunning), single_instance(paths):
        pass
    process.kill()
    process.wait()
    assert running(paths) is None
    with single_instance(paths):
        assert running(paths) == os.getpid()


# looks whether a watcher runs, as `status` and every hook do, over and over
LOOKER = """
import sys
from jsonlstore.store.store import SessionStore
from jsonlstore.watch.instance import running
paths = SessionStore.open(sys.argv[1]).paths
print(flush=True)
while True:
    running(paths)
"""


def test_looking_whether_a_watcher_runs_does_not_keep_one_from_starting(state_dir: Path) -> None:
    paths = SessionStore.open(state_dir).paths
    with single_instance(paths):
        pass
    command = [sys.executable, "-c", LOOKER, str(state_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as looker:
        try:
            assert looker.stdout
            assert looker.stdout.readline()
            for _ in range(2000):
                with single_instance(paths):
                    pass
        finally:
            looker.kill()


def test_a_full_disk_does_not_keep_a_watcher_from_starting(state_dir: Path) -> None:
    """It waits for room like one that runs; only its number may be missing meanwhile."""
    import resource

    paths = SessionStore.open(state_dir).paths
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for _ in range(2):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
        try:
            with single_instance(paths):
                assert running(paths) == 0
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        with single_instance(paths):
            assert running(paths) == os.getpid()


def test_status_sees_the_watcher_and_what_it_said(
    process: subprocess.Popen[str], state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = SessionStore.open(state_dir).paths
    wait_until(lambda: read_report(paths) is not None)
    assert main(["--state-dir", str(state_dir), "status", "--json", "--expect-watcher"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["watcher"]["running"]
    assert document["watcher"]["pid"] == process.pid
    assert document["watcher"]["last_scan_at"]
    assert document["warnings"] == []


def test_a_hangup_reads_the_settings_again(openclaw: OpenClaw, state_dir: Path) -> None:
    openclaw.begin(SID, "antenna", key="agent:main:subagent:x")
    watcher = Watcher(
        SessionStore.open(state_dir), Config(), timing=IMPATIENT, reload=lambda: Config(capture_subagents=True)
    )
    watcher.once()
    assert derived(state_dir) == {}
    watcher.reload()
    watcher.step()
    assert knows(state_dir, SID, "antenna")


def test_a_hangup_reaches_a_running_watcher(
    process: subprocess.Popen[str], openclaw: OpenClaw, state_dir: Path
) -> None:
    """What the settings say now holds from now on, also how much is explained."""
    openclaw.begin(OTHER, "windmill", key="agent:main:subagent:x")
    settings = {"capture_subagents": True, "debug": True}
    (state_dir / "openclaw.json").write_text(json.dumps({"plugins": {"entries": {"jsonlstore": {"config": settings}}}}))
    process.send_signal(signal.SIGHUP)
    wait_until(lambda: knows(state_dir, OTHER, "windmill"))
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "settings read again" in said
    before, after = said.split("settings read again")
    assert "not in our log yet" not in before
    assert f"{OTHER}: not in our log yet" in after


def test_systemd_is_told_of_readiness_and_life(openclaw: OpenClaw, state_dir: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as inbox:
        inbox.bind(str(tmp_path / "notify"))
        inbox.settimeout(20)
        env = {**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}
        child = subprocess.Popen([*WATCH, str(state_dir), "watch"], env=env)
        try:
            heard = ""
            while not ("READY=1" in heard and "WATCHDOG=1" in heard):
                heard += inbox.recv(4096).decode() + "\n"
            child.terminate()
            while "STOPPING=1" not in heard:
                heard += inbox.recv(4096).decode() + "\n"
            assert child.wait(20) == 0
        finally:
            child.kill()
            child.wait()


def test_without_systemd_nobody_is_told() -> None:
    assert not notify("READY=1", {})
    assert not notify("READY=1", {"NOTIFY_SOCKET": "/nonexistent/socket"})
    assert keep_alive_seconds({}) is None
    assert keep_alive_seconds({"WATCHDOG_USEC": "30000000"}) == 15
    assert keep_alive_seconds({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}) is None


def test_old_sessions_are_archived_once_a_day(openclaw: OpenClaw, state_dir: Path) -> None:
    openclaw.begin(SID, "antenna")
    openclaw.begin(OTHER, "harbour", day=22)
    Watcher(SessionStore.open(state_dir), Config(), timing=IMPATIENT).once()
    entries = {entry.session_id: entry.archived for entry in SessionStore.open(state_dir).entries()}
    assert entries == {SID: "2026-09", OTHER: None}


def test_the_next_look_is_never_far_away(openclaw: OpenClaw, state_dir: Path) -> None:
    """However long the first pass took: rescans are the truth, and must go on."""
    import time

    openclaw.begin(SID, *(f"antenna{n}" for n in range(300)))
    live = Watcher(SessionStore.open(state_dir), Config())
    live.once()
    assert live._scan_at - time.monotonic() <= 15


def test_one_session_that_cannot_be_kept_does_not_stop_the_others(openclaw: OpenClaw, state_dir: Path) -> None:
    """A log from a newer version is left alone, said once, and shown in `status`."""
    states = state_dir / "sessions" / "states"
    states.mkdir(parents=True)
    data = {"session_id": SID, "schema_version": 99, "fields": {"start_time": "2026-09-21T14:00:00.000Z"}}
    event = {"seq": 1, "at": "2026-09-21T14:00:00.000Z", "type": "session.started", "by": "hook", "data": data}
    (states / f"{SID}.jsonl").write_text(json.dumps(event) + "\n")
    openclaw.begin(SID, "antenna")
    openclaw.begin(OTHER, "harbour", key="agent:main:web:dm:u")
    live = Watcher(SessionStore.open(state_dir), Config(), timing=IMPATIENT)
    live.once()
    assert knows(state_dir, OTHER, "harbour")
    assert not knows(state_dir, SID, "antenna")
    before = (states / f"{SID}.jsonl").read_bytes()
    live.rescan()
    assert (states / f"{SID}.jsonl").read_bytes() == before
    assert "newer" in str(live.problems)


def test_a_disk_that_refuses_loses_nothing(openclaw: OpenClaw, state_dir: Path) -> None:
    import resource

    talk = openclaw.begin(SID, "antenna")
    live = Watcher(SessionStore.open(state_dir), Config(), timing=IMPATIENT)
    live.once()
    openclaw.append(SID, *talk.turn("harbour"))
    log = state_dir / "sessions" / "states" / f"{SID}.jsonl"
    before, limits = log.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
    try:
        live.rescan()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert live.problems
    assert log.read_bytes() == before
    live.rescan()
    assert knows(state_dir, SID, "harbour")
    assert not live.problems


def test_an_end_that_could_not_be_kept_is_kept_later(openclaw: OpenClaw, state_dir: Path) -> None:
    """The disk is full while a transcript grows, and still is when it goes; there will be nothing to read any more."""
    import resource

    talk = openclaw.begin(SID, "antenna")
    openclaw.begin(OTHER, "harbour", key="agent:main:webchat:dm:u")
    live = Watcher(SessionStore.open(state_dir), Config(), timing=IMPATIENT)
    live.once()
    openclaw.append(SID, *talk.turn("windmill"))
    log = state_dir / "sessions" / "states" / f"{SID}.jsonl"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + 10, limits[1]))
    try:
        live.rescan()
        openclaw.path(SID).unlink()
        openclaw.remember()
        for _ in range(3):
            live.rescan()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert live.problems
    live.rescan()
    assert SessionStore.open(state_dir).get(SID).end_reason == "vanished"
    assert not live.problems
    assert live.problems == []
