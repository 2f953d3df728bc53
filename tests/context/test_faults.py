"""kill -9, power cuts and refused calls at every step of either backend: what was acknowledged stays, whole.

The JSONL backend runs on the fault machine of `tests/faults`; SQLite makes its calls itself, so strace strikes those.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import traceback
import warnings
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.context import TranscriptStore
from jsonlstore.core.errors import JsonlStoreError, WriteFailed
from jsonlstore.core.files import Disk
from tests.context.conftest import user
from tests.faults.machine import SYNCS, WRITES, Fault, Machine
from tests.faults.test_refused import small_disk as small_disk  # noqa: PLC0414 - a fixture
from tests.faults.test_strace import strace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = datetime(2026, 2, 14, 9, 0, tzinfo=UTC)
# what is done, in order: key, and the texts that reach the disk by one call
STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("k:a", ("a1",)),
    ("k:a", ("a2",)),
    ("k:b", ("b1", "b2", "b3")),
    ("k:a", ("a3 " + "long " * 30_000, "a4")),
    ("k:b", ("b4",)),
)
DONE = b"done\n"


def open_store(root: Path, kind: str, *, sync: bool = False) -> TranscriptStore:
    return TranscriptStore.open(root, {"store": kind}, clock=lambda: NOW, disk=Disk(sync=sync))


def perform(store: TranscriptStore, key: str, texts: tuple[str, ...]) -> None:
    """One step: a single append, or a session that is loaded, added to and saved."""
    if len(texts) == 1:
        store.append(key, user(texts[0]))
        return
    session = store.load(key)
    for text in texts:
        session.add_message("user", text)
    session.metadata["step"] = texts[0][:2]
    store.save(session)


def wanted(done: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"k:a": [], "k:b": []}
    for key, texts in STEPS[:done]:
        found[key] += texts
    return found


def check(root: Path, kind: str, done: int, *, strict: bool = False) -> None:
    """Everything acknowledged is there; of the step under way nothing, or some whole records; and work goes on."""
    store = open_store(root, kind)
    low, high = wanted(done), wanted(done if strict else min(done + 1, len(STEPS)))
    full = wanted(len(STEPS))
    for key, everything in full.items():
        records = [json.loads(line) for line in store.read(key) if _is_whole(line)]
        texts = [record["message"]["content"] for record in records if record["type"] == "message"]
        assert texts == everything[: len(texts)]
        assert len(low[key]) <= len(texts) <= len(high[key])
        for text in everything[len(texts) :]:
            store.append(key, user(text))
        header, *rest = [json.loads(line) for line in store.read(key)]  # a torn tail was mended by the append
        assert header["sessionKey"] == key
        assert [record["parentId"] for record in rest] == [None, *(record["id"] for record in rest[:-1])]
        assert [message["content"] for message in store.load(key).messages] == everything
    assert {one.key for one in store.list()} == set(full)
    for path in (root / "jsonlstore").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    store.close()


def _is_whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def broken_run(root: Path, fault: Fault | None, crash_site: Path) -> tuple[int, str | None, int | None, list[str]]:
    """All steps in a forked child on the fault machine: how many were acknowledged, what was refused, calls, trace."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # fork with threads about: the child takes no lock of theirs
        child = os.fork()
    if child == 0:
        _child(root, fault, crash_site, writer)
    os.close(writer)
    with open(reader, "rb") as pipe:
        told = [json.loads(line) for line in pipe.read().splitlines()]
    os.waitpid(child, 0)
    problems = [each["broken"] for each in told if "broken" in each]
    assert not problems, problems[0]
    refused = next((each["refused"] for each in told if "refused" in each), None)
    last = told[-1] if told else {}
    return sum("done" in each for each in told), refused, last.get("calls"), last.get("trace", [])


def _child(root: Path, fault: Fault | None, crash_site: Path, writer: int) -> None:
    write = os.write  # the real one: acknowledgements are not part of the experiment

    def tell(**what: Any) -> None:
        write(writer, json.dumps(what).encode() + b"\n")

    try:
        with Machine(root, fault, crash_site).running() as machine:
            try:
                store = open_store(root, "jsonl", sync=True)
                for step in STEPS:
                    perform(store, *step)
                    tell(done=True)
            except JsonlStoreError as problem:
                tell(refused=type(problem).__name__)
        tell(calls=machine.calls, trace=machine.trace)
    except BaseException:  # noqa: BLE001 - whatever it is, the parent must hear of it and the child must not live on
        tell(broken=traceback.format_exc())
    finally:
        os._exit(0)


def everywhere(home: Path, make_fault: Callable[[int], Fault], stride: int = 1) -> list[tuple[str | None, list[str]]]:
    """Strike at the first call, the next …, until a run passes untouched; what each run before that refused."""
    told = []
    for at in range(1, 2000, stride):
        root, crash_site = home / "work", home / "crash-site"
        for place in (root, crash_site):
            shutil.rmtree(place, ignore_errors=True)
        root.mkdir(parents=True)
        fault = make_fault(at)
        done, refused, calls, trace = broken_run(root, fault, crash_site)
        try:
            check(
                crash_site if crash_site.exists() else root,
                "jsonl",
                done,
                strict=refused is not None and len(STEPS[done][1]) == 1,
            )
        except BaseException as problem:
            problem.add_note(str(fault))
            raise
        if calls is not None and calls < at:
            assert done == len(STEPS)
            return told
        told.append((refused, trace))
    raise AssertionError("the run never passed")


@pytest.mark.parametrize("kind", ["kill", "power", pytest.param("names", marks=pytest.mark.slow)])
def test_files_killed_or_unplugged_at_any_call(kind: str, tmp_path: Path) -> None:
    """A kill or a power cut between any two calls leaves acknowledged records, whole, under their keys."""
    assert len(everywhere(tmp_path, lambda at: Fault(at, kind))) > 20


@pytest.mark.parametrize("kind", ["torn", "nearly"])
def test_files_killed_within_any_write(kind: str, tmp_path: Path) -> None:
    """Half a record, or all but its newline, is mended by the next append."""
    assert len(everywhere(tmp_path, lambda at: Fault(at, kind, only=WRITES))) >= len(STEPS)


@pytest.mark.parametrize(
    ("kind", "error", "only"),
    [
        ("full", errno.ENOSPC, frozenset()),
        ("short", 0, WRITES),
        ("fail", errno.EIO, SYNCS),
        pytest.param("fail", errno.EIO, frozenset(), marks=pytest.mark.slow),
    ],
    ids=["full disk", "short write", "failed sync", "any failure"],
)
def test_files_on_a_disk_that_refuses(kind: str, error: int, only: frozenset[str], tmp_path: Path) -> None:
    """A clear refusal that leaves no trace of the step; when the disk takes bytes again, all goes on."""
    told = everywhere(tmp_path, lambda at: Fault(at, kind, error, only))
    assert {refused for refused, _ in told} <= {"WriteFailed", None}
    assert any(refused for refused, _ in told)


def test_a_refused_save_can_be_repeated(tmp_path: Path) -> None:
    """Whatever call of it failed: the second save writes what is missing, and nothing twice."""
    for at in range(1, 100):
        store = open_store(tmp_path / str(at), "jsonl", sync=True)
        store.append("k:a", user("before"))
        session = store.load("k:a")
        session.add_message("user", "one")
        session.add_message("user", "two")
        session.metadata["x"] = 1
        with Machine(tmp_path / str(at), Fault(at, "fail", errno.EIO)).running() as machine:
            refused = False
            try:
                store.save(session)
            except WriteFailed:
                refused = True
                store.save(session)
        again = open_store(tmp_path / str(at), "jsonl").load("k:a")
        assert [message["content"] for message in again.messages] == ["before", "one", "two"]
        assert again.metadata == {"x": 1}
        if machine.calls < at:
            assert not refused
            return
    raise AssertionError("the run never passed")


def main(kind: str, root: str) -> None:
    """What the traced process does."""
    from pathlib import Path

    # inside the fault: creating the store is a step like any other
    store = open_store(Path(root), kind, sync=True)
    for step in STEPS:
        perform(store, *step)
        os.write(1, DONE)
    store.close()


PROGRAM = "import sys; from tests.context.test_faults import main; main(*sys.argv[1:])"
DATABASE_CALLS = "pwrite64,fdatasync,fsync,ftruncate,unlink"


def traced(tool: str, root: Path, inject: str) -> subprocess.CompletedProcess[bytes]:
    calls = inject.partition(":")[0]
    command = [tool, "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", f"inject={inject}"]
    return subprocess.run(
        [*command, sys.executable, "-B", "-c", PROGRAM, "sqlite", str(root)], capture_output=True, check=False
    )


@pytest.mark.parametrize("stride", [29, pytest.param(1, marks=pytest.mark.slow)], ids=["short form", "every call"])
def test_database_killed_at_any_call(stride: int, tmp_path: Path) -> None:
    """kill -9 when SQLite enters its n-th call that changes the disk, until the run passes untouched."""
    tool = strace()
    for at in range(1, 2000, stride):
        root = tmp_path / str(at)
        done = traced(tool, root, f"{DATABASE_CALLS}:signal=KILL:when={at}")
        assert done.returncode in (0, -signal.SIGKILL, 128 + signal.SIGKILL), done.stderr.decode()
        check(root, "sqlite", done.stdout.count(DONE))
        if done.returncode == 0:
            assert done.stdout.count(DONE) == len(STEPS)
            return
    raise AssertionError("the run never passed")


@pytest.mark.parametrize("stride", [31, pytest.param(1, marks=pytest.mark.slow)], ids=["short form", "every call"])
def test_database_on_a_full_disk(stride: int, tmp_path: Path) -> None:
    """From the n-th write on nothing is taken: a clear refusal, and all that was acknowledged is there."""
    tool = strace()
    for at in range(1, 2000, stride):
        root = tmp_path / str(at)
        done = traced(tool, root, f"pwrite64:error=ENOSPC:when={at}+")
        acknowledged = done.stdout.count(DONE)
        check(root, "sqlite", acknowledged)
        if done.returncode == 0:
            assert acknowledged == len(STEPS)
            return
        assert b"WriteFailed" in done.stderr, done.stderr.decode()
    raise AssertionError("the run never passed")


def test_a_disk_that_is_really_full(small_disk: Path, kind: str) -> None:
    """On a full file system appends are refused, nothing is lost, and they work again once there is room."""
    store = open_store(small_disk, kind, sync=True)
    store.append("k:a", user("first"))
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space left"):
        filler.write_bytes(b"x" * 300_000)
    taken = 0
    refused: WriteFailed | None = None
    while refused is None:
        try:
            store.append("k:a", user(f"{taken} " + "words " * 500))
            taken += 1
        except WriteFailed as problem:
            refused = problem
    assert refused.hint
    assert "free some space" in refused.hint
    with open_store(small_disk, kind) as again:
        kept = again.load("k:a").messages
    assert len(kept) == taken + 1
    filler.unlink()
    store.append("k:a", user("room again"))
    assert store.load("k:a").messages[:-1] == kept
    store.close()
