"""A backfill whose transcripts are read by several processes writes what one that reads them itself does."""

from __future__ import annotations

import os
import select
import shutil
import signal
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jsonlstore.signals.options import SignalOptions
from jsonlstore.store.bulk import BulkStore
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.watch.backfill import Summary, backfill_sessions
from jsonlstore.watch.follower import FinishedReading, Follower
from jsonlstore.watch.read_ahead import Read, ReadAhead
from jsonlstore.watch.tail import Progress, Tailer
from tests.watch.conftest import OpenClaw, Talk, derived

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.transcripts.session import RecordedSession

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
NOW = datetime(2026, 9, 30, tzinfo=UTC)
TOPICS = ("antenna", "windmill", "harbour", "lantern")


def read(session: RecordedSession) -> FinishedReading:
    return Follower(session.session_id, SignalOptions(), None, facts=False).finish(session)


class Unhurried(ReadAhead):
    """A caller that lets its helpers read all they can before it begins."""

    def __init__(self, sessions: Sequence[RecordedSession], read: Read, helpers: int | None = None) -> None:
        super().__init__(sessions, read, helpers)
        deadline = time.monotonic() + 20
        while self._pids and len(self._done) < len(sessions) and time.monotonic() < deadline:
            self._receive(wait=True)


def backfill(root: Path, helpers: int) -> Summary:
    """A backfill into an empty store at a given moment, so that two can be compared byte by byte."""
    shutil.rmtree(root / "sessions", ignore_errors=True)
    store = BulkStore.of(SessionStore.open(root, clock=lambda: NOW))
    catalogue = Catalogue.open(root)
    return backfill_sessions(Tailer(store), store, catalogue, catalogue.sessions, archive_after=None, helpers=helpers)


def files(root: Path) -> dict[str, bytes]:
    found = (path for path in (root / "sessions").rglob("*") if path.is_file() and path.suffix != ".lock")
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def children() -> set[int]:
    """The processes this one has started and not yet waited for; other tests of a run may have left some."""
    return {int(one) for one in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


@st.composite
def histories(draw: st.DrawFn) -> list[list[str]]:
    """For each session what happens in it, one after another."""
    event = st.sampled_from([*TOPICS, "reset", "broken line", "ended"])
    return draw(st.lists(st.lists(event, max_size=6), min_size=2, max_size=7))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories(), helpers=st.integers(1, 3), unhurried=st.booleans())
def test_the_same_bytes_whoever_reads(tmp_path: Path, history: list[list[str]], helpers: int, unhurried: bool) -> None:
    root = tmp_path / "drawn"
    shutil.rmtree(root, ignore_errors=True)
    openclaw = OpenClaw(root)
    for number, events in enumerate(history):
        talk = Talk(f"session-{number}", day=1 + number)
        openclaw.append(talk.session_id, talk.header)
        for event in events:
            if event == "reset":
                openclaw.append(talk.session_id, talk.reset())
            elif event == "broken line":
                openclaw.write(talk.session_id, b'{"type":"mess\n')
            elif event != "ended":
                openclaw.append(talk.session_id, *talk.turn(event))
        openclaw.refer(f"agent:main:{number}", talk.session_id)
        if "ended" in events:
            openclaw.rename(talk.session_id, f"reset.2026-09-{10 + number}T10-00-00.000Z")
    alone, others = backfill(root, 0), children()
    expected = files(root)
    with pytest.MonkeyPatch.context() as patched:
        if unhurried:
            patched.setattr("jsonlstore.watch.backfill.ReadAhead", Unhurried)
        assert backfill(root, helpers) == alone
    assert files(root) == expected
    assert children() <= others


def test_every_session_is_read_by_somebody_and_given_in_order(openclaw: OpenClaw, state_dir: Path) -> None:
    for number in range(12):
        openclaw.begin(f"s{number}", *TOPICS[: 1 + number % 4], day=1 + number, key=f"agent:main:{number}")
    sessions = Catalogue.open(state_dir).sessions
    ahead = Unhurried(sessions, read, helpers=2)
    given_ = [ahead.take(one) for one in sessions]
    ahead.close()
    for one, found in zip(sessions, given_, strict=True):
        assert found == read(one)


def test_what_a_killed_helper_leaves_the_caller_reads(openclaw: OpenClaw, state_dir: Path) -> None:
    for number in range(8):
        openclaw.begin(f"s{number}", "antenna", day=1 + number, key=f"agent:main:{number}")
    caller, others = os.getpid(), children()

    def killed_at_work(session: RecordedSession) -> FinishedReading:
        if os.getpid() != caller:
            os.kill(os.getpid(), signal.SIGKILL)
        return read(session)

    sessions = Catalogue.open(state_dir).sessions
    ahead = ReadAhead(sessions, killed_at_work, helpers=2)
    helpers = children() - others
    ahead.take(sessions[0])
    for pid in helpers & children():
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # each has taken a session and died of it
    for one in sessions[1:]:
        found = ahead.take(one)
        assert found is None or found == read(one)
    assert len(helpers) == 2
    assert not helpers & children()


def test_a_backfill_whose_helpers_die_is_complete(
    openclaw: OpenClaw, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        openclaw.begin(f"s{number}", "antenna", day=1 + number, key=f"agent:main:{number}")
    backfill(state_dir, 0)
    expected = files(state_dir)
    caller, finish = os.getpid(), Follower.finish

    def killed(self: Follower, session: RecordedSession) -> FinishedReading:
        if os.getpid() != caller:
            os.kill(os.getpid(), signal.SIGKILL)
        return finish(self, session)

    monkeypatch.setattr(Follower, "finish", killed)
    assert backfill(state_dir, 2).written == 8
    assert files(state_dir) == expected


def test_what_cannot_be_read_is_told_by_the_caller(openclaw: OpenClaw, state_dir: Path) -> None:
    for number in range(4):
        openclaw.begin(f"s{number}", "antenna", day=1 + number, key=f"agent:main:{number}")
    store, catalogue = BulkStore.of(SessionStore.open(state_dir)), Catalogue.open(state_dir)
    gone = openclaw.path("s2").read_bytes()
    openclaw.path("s2").unlink()
    openclaw.remember()
    summary = backfill_sessions(Tailer(store), store, catalogue, catalogue.sessions, archive_after=None, helpers=2)
    assert list(summary.failed) == ["s2"]
    assert summary.written == 3
    openclaw.write("s2", gone)


def test_nothing_written_after_the_reading_counts_as_read(openclaw: OpenClaw, state_dir: Path) -> None:
    talk = openclaw.begin("s0", "antenna")
    (session,) = Catalogue.open(state_dir).sessions
    early = read(session)
    openclaw.append("s0", talk.user("Remind me to paint the windmill."))
    tailer = Tailer(SessionStore.open(state_dir))
    (session,) = Catalogue.open(state_dir).sessions
    assert tailer.catch_up(session, done=early) is Progress.WRITTEN
    assert "windmill" in derived(state_dir)["s0"]["last_topic"]


def test_a_session_adopted_is_followed_on(openclaw: OpenClaw, state_dir: Path) -> None:
    """A follower that took over another's reading knows nothing to go on from: it begins again, and nothing is lost."""
    talk = openclaw.begin("s0", "antenna")
    (session,) = Catalogue.open(state_dir).sessions
    tailer = Tailer(SessionStore.open(state_dir))
    assert tailer.catch_up(session, done=read(session)) is Progress.WRITTEN
    openclaw.append("s0", talk.user("Remind me to paint the windmill."))
    (session,) = Catalogue.open(state_dir).sessions
    assert tailer.catch_up(session) is Progress.WRITTEN
    found = derived(state_dir)["s0"]
    assert "windmill" in found["last_topic"]
    assert "antenna" in found["hot_topics"]


def test_helpers_end_with_a_caller_that_is_killed(openclaw: OpenClaw, state_dir: Path) -> None:
    for number in range(3):
        openclaw.begin(f"s{number}", "antenna", day=1 + number, key=f"agent:main:{number}")
    told, tell = os.pipe()
    caller = os.fork()
    if caller == 0:
        try:
            ReadAhead(Catalogue.open(state_dir).sessions, read, helpers=2)
            os.write(tell, b"ready")
            time.sleep(60)
        finally:
            os._exit(1)
    os.close(tell)
    assert os.read(told, 5) == b"ready"
    os.kill(caller, signal.SIGKILL)
    os.waitpid(caller, 0)
    # the helpers have the other end of the pipe, too: it is closed once the last of them is gone
    ready, _, _ = select.select([told], [], [], 20)
    assert ready
    assert os.read(told, 1) == b""
    os.close(told)


def test_a_small_history_is_read_by_one_process(
    openclaw: OpenClaw, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openclaw.begin("s0", "antenna")
    openclaw.begin("s1", "lantern", day=22, key="agent:main:other")

    def fork() -> int:
        raise AssertionError("nobody needs a second process for this")

    monkeypatch.setattr(os, "fork", fork)
    store, catalogue = BulkStore.of(SessionStore.open(state_dir)), Catalogue.open(state_dir)
    assert backfill_sessions(Tailer(store), store, catalogue, catalogue.sessions, archive_after=None).written == 2


def test_no_process_to_be_had_is_no_failure(
    openclaw: OpenClaw, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openclaw.begin("s0", "antenna")
    openclaw.begin("s1", "lantern", day=22, key="agent:main:other")

    def fork() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", fork)
    assert backfill(state_dir, 2).written == 2
