"""Many writers at once, threads and processes: nothing acknowledged is lost or torn, and nobody waits for the dead."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock, Timeout

from jsonlstore.core.errors import LockTimeout
from jsonlstore.core.locks import Locks
from jsonlstore.core.paths import StatePaths
from jsonlstore.store.doctor import Doctor
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# spawned, not forked: writers that share nothing but the disk, on every system alike
PROCESSES = multiprocessing.get_context("spawn")
DEADLINE = 300


def write(root: Path, session_id: str, writer: int, updates: int) -> None:
    """One writer: counts up in a field of its own. Returning is the acknowledgement of every update."""
    store = SessionStore.open(root)
    for number in range(1, updates + 1):
        assert store.update(session_id, {f"count_{writer}": number})


def start_only(root: Path, barrier: threading.Barrier, started: object) -> None:
    store = SessionStore.open(root)
    barrier.wait(DEADLINE)
    started.put(store.start("a", channel="cli"))  # type: ignore[attr-defined]  # a multiprocessing queue has no public type


def hold_lock(root: Path, ready: object) -> None:
    store = SessionStore.open(root)
    with store.locks.session("a"), store.locks.index(), store.locks.metrics():
        ready.set()  # type: ignore[attr-defined]  # a multiprocessing event has no public type
        signal.pause()


def in_processes(target: Callable[..., None], arguments: list[tuple[object, ...]]) -> None:
    workers = [PROCESSES.Process(target=target, args=each) for each in arguments]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(DEADLINE)
    assert [worker.exitcode for worker in workers] == [0] * len(workers)


def in_threads(target: Callable[..., None], arguments: list[tuple[object, ...]]) -> None:
    failures: list[BaseException] = []

    def guarded(*given: object) -> None:
        try:
            target(*given)
        except BaseException as problem:  # noqa: BLE001 - handed to the test, which fails with it
            failures.append(problem)

    workers = [threading.Thread(target=guarded, args=each) for each in arguments]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(DEADLINE)
    assert not failures, failures


def check_writers(store: SessionStore, sessions: dict[int, str], updates: int) -> None:
    """Every update of every writer is in its log, in order; no line is torn; the index equals a rebuild."""
    for session_id in set(sessions.values()):
        scan = store.open_log(store.paths.log(session_id)).scan()
        assert scan is not None
        assert not scan.damage
        assert not scan.torn
        assert [placed.event.seq for placed in scan.events] == list(range(1, len(scan.events) + 1))
        for writer in (each for each, its in sessions.items() if its == session_id):
            key = f"count_{writer}"
            given = [e.event.data["fields"] for e in scan.events if e.event.type == "state.updated"]
            assert [fields[key] for fields in given if key in fields] == list(range(1, updates + 1))
            assert store.get(session_id).extra[key] == updates
    store.index.entries()
    assert store.paths.index.read_bytes() == store.index.expected()
    assert all(check.ok for check in Doctor(store).examine())


def writers(root: Path, count: int, updates: int, *, shared: bool, run: Callable[..., None]) -> None:
    sessions = {writer: "shared" if shared else f"own-{writer}" for writer in range(count)}
    store = SessionStore.open(root)
    for session_id in sorted(set(sessions.values())):
        store.start(session_id, channel="cli")
    run(write, [(root, session_id, writer, updates) for writer, session_id in sessions.items()])
    check_writers(SessionStore.open(root), sessions, updates)


@pytest.mark.parametrize("shared", [True, False], ids=["one session", "own sessions"])
def test_processes(shared: bool, tmp_path: Path) -> None:
    """8 processes, 25 updates each: every acknowledged update is there, in its writer's order."""
    writers(tmp_path, 8, 25, shared=shared, run=in_processes)


@pytest.mark.parametrize("shared", [True, False], ids=["one session", "own sessions"])
def test_threads(shared: bool, tmp_path: Path) -> None:
    """The same for 8 threads, each with a store of its own."""
    writers(tmp_path, 8, 25, shared=shared, run=in_threads)


@pytest.mark.slow
@pytest.mark.parametrize("run", [in_processes, in_threads])
@pytest.mark.parametrize("shared", [True, False], ids=["one session", "own sessions"])
def test_the_long_form(shared: bool, run: Callable[..., None], tmp_path: Path) -> None:
    """8 writers, 200 updates each."""
    writers(tmp_path, 8, 200, shared=shared, run=run)


def test_threads_sharing_one_store(tmp_path: Path) -> None:
    """A store may be shared between threads: its caches never show one thread the half of another's change."""
    store = SessionStore.open(tmp_path)
    store.start("shared", channel="cli")

    def count(writer: int) -> None:
        for number in range(1, 26):
            assert store.update("shared", {f"count_{writer}": number})

    in_threads(count, [(writer,) for writer in range(8)])
    check_writers(store, dict.fromkeys(range(8), "shared"), 25)


def test_boundaries_from_many_processes_leave_an_exact_index(tmp_path: Path) -> None:
    """Starts and ends of many sessions at once all reach the index."""
    in_processes(start_and_end, [(tmp_path, writer, 6) for writer in range(4)])
    store = SessionStore.open(tmp_path)
    ended = {entry.session_id for entry in store.recent(1)}
    assert ended == {f"{writer}-{number}" for writer in range(4) for number in range(6)}
    assert store.paths.index.read_bytes() == store.index.expected()
    assert all(check.ok for check in Doctor(store).examine())


def start_and_end(root: Path, writer: int, sessions: int) -> None:
    store = SessionStore.open(root)
    for number in range(sessions):
        store.start(f"{writer}-{number}", channel="cli")
        store.end(f"{writer}-{number}", reason="new")


def test_two_processes_starting_one_session(tmp_path: Path) -> None:
    """Whoever comes first starts it, the other adds nothing."""
    barrier, started = PROCESSES.Barrier(4), PROCESSES.Queue()
    in_processes(start_only, [(tmp_path, barrier, started)] * 4)
    assert sorted(started.get(timeout=DEADLINE) for _ in range(4)) == [False, False, False, True]
    store = SessionStore.open(tmp_path)
    scan = store.open_log(store.paths.log("a")).scan()
    assert scan is not None
    assert [placed.event.type for placed in scan.events] == ["session.started"]


def test_our_lock_and_filelock_keep_each_other_out(tmp_path: Path) -> None:
    """A free lock is taken without filelock, and still is the very lock that filelock takes."""
    locks = Locks(tmp_path, timeout=lambda: 0.0)
    with locks.index(), pytest.raises(Timeout):
        FileLock(tmp_path / "index.lock", timeout=0).acquire()
    with FileLock(tmp_path / "index.lock", timeout=0), pytest.raises(LockTimeout), locks.index():
        raise AssertionError("both hold it")
    with locks.index():
        pass


def test_a_live_holder_makes_others_give_up_and_a_killed_one_blocks_nobody(tmp_path: Path) -> None:
    """While the lock is held a writer gets `LockTimeout`; once the holder is killed it gets the lock."""
    SessionStore.open(tmp_path).start("a", channel="cli")
    ready = PROCESSES.Event()
    holder = PROCESSES.Process(target=hold_lock, args=(tmp_path, ready))
    holder.start()
    try:
        assert ready.wait(DEADLINE)
        hurried = SessionStore(StatePaths.of(tmp_path), lock_timeout=lambda: 0.01)
        with pytest.raises(LockTimeout, match=r"session-\d\d\.lock is held"):
            hurried.update("a", {"next_step": "wait"})
        assert hurried.get("a").next_step is None  # readers want no lock
    finally:
        assert holder.pid is not None
        os.kill(holder.pid, signal.SIGKILL)
        holder.join(DEADLINE)
    assert hurried.update("a", {"next_step": "go on"})
    assert hurried.end("a", reason="new")
