"""A forget that is killed or refused at any step: the other session is whole, and asking again leaves no word."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING

import pytest

from jsonlstore.context import TranscriptStore
from jsonlstore.context.forgetting import forget_transcripts
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import Disk
from jsonlstore.core.session_settings import SessionSettings
from tests.context.test_faults import DATABASE_CALLS, DONE
from tests.context.test_forget import GONE, KEPT, WORD, lines, two_sessions
from tests.faults.machine import Fault, Machine
from tests.faults.test_strace import strace

if TYPE_CHECKING:
    from pathlib import Path

FAST = Disk(sync=False)


def begin(state: Path, kind: str) -> str:
    """A store with two sessions, one of them to be forgotten; that one's id.

    What a killed writer left of the index and of the session's file holds words of it, too.
    """
    session_id = two_sessions(state, kind)[GONE]
    if kind == "jsonl":
        place = state / "jsonlstore" / "sessions"
        (place / ".locks" / ".tmp-sessions.json-0a0b0c0d").write_bytes(b'{"metadata": "carburettor')
        (place / ".locks" / f".tmp-{session_id}.jsonl-0a0b0c0d").write_bytes(b"carburettor")
        with (place / f"{session_id}.jsonl").open("ab") as file:
            file.write(b'{"type":"message","text":"carburettor')
        with TranscriptStore.open(state, {"store": kind}, disk=FAST) as store:
            store.append(GONE, {"type": "custom", "customType": "x"})  # cuts the torn tail into quarantine
    return session_id


def words_in(state: Path) -> list[str]:
    return [str(path) for path in state.rglob("*") if path.is_file() and WORD in path.read_bytes().lower()]


def check(state: Path, kind: str, before: list[bytes], session_id: str, *, done: bool) -> None:
    """Whatever happened, the other session is as it was, and asking again finishes it."""
    if done:
        assert words_in(state) == []
    assert lines(state, kind, KEPT) == before
    forget_transcripts(state, SessionSettings(), session_id)
    assert words_in(state) == []
    assert lines(state, kind, KEPT) == before
    with TranscriptStore.open(state, {"store": kind}, disk=FAST) as store:
        assert [one.key for one in store.list()] == [KEPT]
    if kind == "jsonl":
        assert GONE not in (state / "jsonlstore" / "sessions" / "sessions.json").read_text()


def attempt(root: Path, session_id: str, fault: Fault, crash_site: Path) -> tuple[bool, bool]:
    """Forget in a forked child on the fault machine: whether it was acknowledged, and whether the fault was reached."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads about: the child takes none of theirs
        child = os.fork()
    if child == 0:
        write = os.write
        told = b""
        try:
            with Machine(root, fault, crash_site).running() as machine:
                try:
                    forget_transcripts(root, SessionSettings(), session_id)
                    told = b"done"
                except JsonlStoreError:
                    told = b"refused"
            write(writer, told + (b" untouched" if machine.calls < fault.at else b""))
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told.startswith(b"done"), b"untouched" in told


@pytest.mark.parametrize(("kind_of_fault", "error"), [("kill", 0), ("power", 0), ("fail", errno.EIO)])
def test_files_forgotten_through_any_fault(tmp_path: Path, kind_of_fault: str, error: int) -> None:
    """kill -9, a power cut or a refusal at each call that changes the disk."""
    made = tmp_path / "made"
    session_id = begin(made, "jsonl")
    before = lines(made, "jsonl", KEPT)
    for at in range(1, 200):
        root, crash_site = tmp_path / "work", tmp_path / "crash-site"
        for place in (root, crash_site):
            shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(made, root)
        done, untouched = attempt(root, session_id, Fault(at, kind_of_fault, error), crash_site)
        state = crash_site if crash_site.exists() else root
        try:
            check(state, "jsonl", before, session_id, done=done)
        except BaseException as problem:
            problem.add_note(f"{kind_of_fault} at call {at}")
            raise
        if untouched:
            assert done
            assert at > 10
            return
    raise AssertionError("the run never passed")


PROGRAM = """
import os, sys
from pathlib import Path
from jsonlstore.context.forgetting import forget_transcripts
from jsonlstore.core.session_settings import SessionSettings
forget_transcripts(Path(sys.argv[1]), SessionSettings(), sys.argv[2])
os.write(1, b"done\\n")
"""


@pytest.mark.parametrize("stride", [9, pytest.param(1, marks=pytest.mark.slow)], ids=["short form", "every call"])
def test_database_forgotten_through_any_kill(tmp_path: Path, stride: int) -> None:
    """kill -9 when SQLite, or we, enter the n-th call that changes the disk, until the run passes untouched."""
    tool = strace()
    made = tmp_path / "made"
    session_id = begin(made, "sqlite")
    before = lines(made, "sqlite", KEPT)
    for at in range(1, 2000, stride):
        root = tmp_path / str(at)
        shutil.copytree(made, root)
        inject = f"{DATABASE_CALLS},write,rename:signal=KILL:when={at}"
        command = [tool, "-f", "-qq", "-o", "/dev/null", "-e", f"trace={DATABASE_CALLS},write,rename"]
        program = [sys.executable, "-B", "-c", PROGRAM, str(root), session_id]
        done = subprocess.run([*command, "-e", f"inject={inject}", *program], capture_output=True, check=False)
        assert done.returncode in (0, -signal.SIGKILL, 128 + signal.SIGKILL), done.stderr.decode()
        check(root, "sqlite", before, session_id, done=DONE in done.stdout)
        shutil.rmtree(root)
        if done.returncode == 0:
            assert at > 10
            return
    raise AssertionError("the run never passed")
