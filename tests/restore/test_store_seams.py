"""What continuity asks of the store: a deadline for locks, one index write for many changes, a lock for the pins."""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING

import pytest

from jsonlstore.core.errors import LockTimeout
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from tests.home import Home


def test_a_store_within_a_deadline_never_waits_past_it(home: Home) -> None:
    home.store.start("a", channel="cli")
    hurried = home.store.within(lambda: 0.0)
    with open(home.store.paths.states / "index.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(LockTimeout), hurried.locks.index():
            pytest.fail("the lock was taken twice")
    with hurried.locks.index():
        assert hurried.get("a").channel == "cli"


def test_a_store_within_a_deadline_tells_the_same_listeners() -> None:
    store = SessionStore.in_memory()
    heard: list[str] = []
    store.listeners.append(lambda session_id, _folded: heard.append(session_id))
    store.within(lambda: 5.0).start("a", channel="cli")
    assert heard == ["a"]
    assert store.get("a").session_id == "a"


def test_changes_put_together_are_one_write_of_the_same_index(home: Home) -> None:
    store = home.store
    store.start("a", channel="cli")
    before = store.paths.index.read_bytes()
    with store.index.batch():
        store.start("b", channel="cli")
        store.end("a", reason="new")
        assert store.paths.index.read_bytes() == before
    assert store.paths.index.read_bytes() == store.index.expected()


def test_a_failed_block_leaves_the_index_to_be_mended(home: Home) -> None:
    store = home.store
    store.start("a", channel="cli")

    def fail() -> None:
        with store.index.batch():
            store.start("b", channel="cli")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert "b" not in json.loads(store.paths.index.read_bytes())["sessions"]
    assert {entry.session_id for entry in home.store.entries()} == {"a", "b"}
    assert store.paths.index.read_bytes() == store.index.expected()


def test_forgetting_does_not_wait_for_the_end_of_a_block(home: Home) -> None:
    store = home.store
    store.start("a", channel="cli", hot_topics=["private"])
    with store.index.batch():
        store.end("a")
        store.forget("a")
        assert b"private" not in store.paths.index.read_bytes()
    assert b"private" not in store.paths.index.read_bytes()
    assert store.paths.index.read_bytes() == store.index.expected()


def test_what_another_process_does_in_the_middle_of_a_block_counts(home: Home) -> None:
    """It was forgotten, continued, filed away: the older word of it, kept until the block ends, is not written."""
    store, other = home.store, SessionStore(home.store.paths, clock=lambda: home.now)
    for name in ("gone", "back", "cold", "same"):
        store.start(name, channel="cli", hot_topics=["private"])
    with store.index.batch() as told:
        for name in ("gone", "back", "cold", "same"):
            store.end(name, reason="new")
        other.forget("gone")
        other.resume("back")
        other.archive("cold")
    lines = json.loads(store.paths.index.read_bytes())["sessions"]
    assert "hot_topics" not in lines["gone"]
    assert lines["back"]["end_time"] is None
    assert lines["cold"]["archived"]
    assert lines["same"]["end_reason"] == "new"
    assert told == lines
    assert store.paths.index.read_bytes() == store.index.expected()


def test_mirrors_written_together_share_one_sync_of_their_directory(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        home.past(name)
    store = SessionStore(home.store.paths, clock=lambda: home.now)
    synced: list[int] = []
    really = os.fsync

    def fsync(fd: int) -> None:
        synced.append(os.fstat(fd).st_ino)
        really(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    with store.index.batch():
        for name in ("a", "b", "c"):
            store.link(name, "next")
    assert synced.count(store.paths.sessions.stat().st_ino) == 1
    assert all(json.loads(store.paths.mirror(name).read_bytes())["continued_by"] == "next" for name in ("a", "b", "c"))


def test_an_open_session_can_be_handed_to_a_new_owner(home: Home) -> None:
    store = home.store
    store.start("a", channel="cli", owner={"pid": 1})
    assert not store.resume("a")
    assert not store.resume("a", owner={"pid": 1})
    assert store.resume("a", owner={"pid": 2})
    assert home.store.folded("a").owner == {"pid": 2}
    assert home.store.entry("a").owner == {"pid": 2}  # type: ignore[union-attr]


def test_the_pin_lock_lies_among_our_files_and_is_taken_alone(home: Home) -> None:
    store = home.store
    store.prepare()
    with store.locks.pins():
        assert (store.paths.states / "pins.lock").exists()
    with store.locks.index(), pytest.raises(AssertionError), store.locks.pins():
        pytest.fail("the pin file's lock was taken under another")


def test_a_session_start_looks_closely_at_a_bounded_number_of_suspects(home: Home) -> None:
    for number in range(60):
        home.store.start(f"dead{number:02d}", channel="cli", owner={"pid": 2**22 + 5})
    home.later(hours=1)
    home.manager(restore_budget_ms=10_000).on_session_start("new", "cli")
    assert sum(entry.end_time is not None for entry in home.store.entries()) == 50
    assert len(home.manager().detect_and_recover_crashed("new")) == 10


def test_nobody_taking_the_answer_is_no_failure(home: Home) -> None:
    import subprocess

    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        home.command("hook", "session-start"),
        input=b'{"session_id":"a"}',
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_what_is_not_of_a_state_is_not_stored_with_it(home: Home) -> None:
    home.hook("turn-end", session_id="a", reason="turn", prompt="hello", cwd="/x", pid=1, again=True, hot_topics=["t"])
    state = home.store.get("a").to_dict()
    assert not {"reason", "prompt", "cwd", "pid", "again"} & set(state)
