"""Many writers at once on either backend: nothing acknowledged is lost or torn, and every record has its place."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sqlite3
import warnings
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from jsonlstore.context import TranscriptStore
from jsonlstore.core.errors import LockTimeout
from tests.context.conftest import user
from tests.store.test_concurrency import DEADLINE, PROCESSES, in_processes, in_threads

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def write(root: Path, kind: str, key: str, writer: int, count: int) -> None:
    """One writer: returning is the acknowledgement of every record."""
    with TranscriptStore.open(root, {"store": kind}) as store:
        for number in range(count):
            store.append(key, user(f"{writer}-{number}"))


def check(root: Path, kind: str, keys: dict[int, str], count: int) -> None:
    """Every record once, in its writer's order, in one unbroken chain."""
    with TranscriptStore.open(root, {"store": kind}) as store:
        for key in set(keys.values()):
            header, *records = [json.loads(line) for line in store.read(key)]
            assert header["type"] == "session"
            assert [record["parentId"] for record in records] == [None, *(record["id"] for record in records[:-1])]
            texts = [record["message"]["content"] for record in records]
            for writer in (each for each, its in keys.items() if its == key):
                assert [text for text in texts if text.startswith(f"{writer}-")] == [
                    f"{writer}-{number}" for number in range(count)
                ]
            assert len(texts) == count * list(keys.values()).count(key)
        assert {one.key for one in store.list()} == set(keys.values())


def writers(root: Path, kind: str, count: int, *, shared: bool, run: Callable[..., None]) -> None:
    keys = {writer: "k:shared" if shared else f"k:{writer}" for writer in range(8)}
    run(write, [(root, kind, key, writer, count) for writer, key in keys.items()])
    check(root, kind, keys, count)


@pytest.mark.parametrize("shared", [True, False], ids=["one session", "own sessions"])
def test_eight_processes(kind: str, shared: bool, tmp_path: Path) -> None:
    """8 processes that also create the store and the session at the same moment."""
    writers(tmp_path, kind, 15, shared=shared, run=in_processes)


@pytest.mark.parametrize("shared", [True, False], ids=["one session", "own sessions"])
def test_eight_threads(kind: str, shared: bool, tmp_path: Path) -> None:
    """The same for threads with a store each."""
    writers(tmp_path, kind, 15, shared=shared, run=in_threads)


@pytest.mark.slow
@pytest.mark.parametrize("run", [in_processes, in_threads])
@pytest.mark.parametrize("shared", [True, False], ids=["one session", "own sessions"])
def test_the_long_form(kind: str, shared: bool, run: Callable[..., None], tmp_path: Path) -> None:
    """200 records each."""
    writers(tmp_path, kind, 200, shared=shared, run=run)


def test_threads_sharing_one_store(kind: str, tmp_path: Path) -> None:
    """A store may be shared between threads."""
    with TranscriptStore.open(tmp_path, {"store": kind}) as store:

        def append(writer: int) -> None:
            for number in range(15):
                store.append("k:shared", user(f"{writer}-{number}"))

        in_threads(append, [(writer,) for writer in range(8)])
    check(tmp_path, kind, dict.fromkeys(range(8), "k:shared"), 15)


def test_a_store_carried_over_a_fork_is_a_store_of_its_own(kind: str, tmp_path: Path) -> None:
    """SQLite's locks do not survive a fork; parent and child both go on and lose nothing."""
    fork = multiprocessing.get_context("fork")
    with TranscriptStore.open(tmp_path, {"store": kind}) as store:
        store.append("k:a", user("0-0"))
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # fork with threads about: the child takes no lock of theirs
            child = fork.Process(target=lambda: store.append("k:a", user("0-1")))
            child.start()
        child.join(DEADLINE)
        assert child.exitcode == 0
        store.append("k:a", user("0-2"))
    check(tmp_path, kind, {0: "k:a"}, 3)


def hold(path: Path, ready: object) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        ready.set()  # type: ignore[attr-defined]  # a multiprocessing event has no public type
        signal.pause()


def test_a_database_open_in_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader in the way costs nothing; a writer that holds on is a clear refusal; a killed one blocks nobody."""
    monkeypatch.setattr("jsonlstore.context.sqlite._BUSY_SECONDS", 0.05)
    store = TranscriptStore.open(tmp_path, {"store": "sqlite"})
    store.append("k:a", user("one"))
    with closing(sqlite3.connect(store.backend.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM messages").fetchone() == (2,)
        store.append("k:a", user("two"))
        assert reader.execute("SELECT count(*) FROM messages").fetchone() == (2,)
    ready = PROCESSES.Event()
    holder = PROCESSES.Process(target=hold, args=(store.backend.path, ready))
    holder.start()
    try:
        assert ready.wait(DEADLINE)
        with pytest.raises(LockTimeout, match="held by another process"):
            store.append("k:a", user("refused"))
        assert len(store.load("k:a").messages) == 2  # readers wait for nobody
    finally:
        assert holder.pid is not None
        os.kill(holder.pid, signal.SIGKILL)
        holder.join(DEADLINE)
    store.append("k:a", user("three"))
    assert [one["content"] for one in store.load("k:a").messages] == ["one", "two", "three"]
    store.close()
