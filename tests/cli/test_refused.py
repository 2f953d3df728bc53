"""Whatever may not be read or written: a sentence and a hint, never a traceback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Callable

# root may read everything: the command runs without root's privileges, as a user whose files became another's
AS_USER = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"] if os.geteuid() == 0 else []
COMMANDS = (
    ["status"], ["doctor"], ["doctor", "--fix"], ["openclaw", "status"], ["list"], ["show", "s-1"], ["metrics"],
    ["recall", "radio"], ["stats"], ["watch", "--once"], ["backfill"], ["restore", "--dry-run"], ["setup", "--dry-run"],
    ["task", "list"], ["pin", "add", "x"], ["handoff", "list"], ["chain", "s-1"],
    ["search", "rebuild"], ["export", "brain-db", "--dry-run"], ["config"], ["forget", "s-1", "--yes"],
)  # fmt: skip


def forbid(path: Path) -> None:
    path.chmod(0o000)


def forbid_files(path: Path) -> None:
    for file in path.rglob("*.jsonl"):
        file.chmod(0o000)


def forbid_writing(path: Path) -> None:
    for each in (*path.rglob("*"), path):
        each.chmod(0o500 if each.is_dir() else 0o400)


PLACES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "the states": ("sessions/states", forbid),
    "every log": ("sessions/states", forbid_files),
    "the sessions": ("sessions", forbid),
    "writing": ("sessions", forbid_writing),
    "the transcripts": ("agents/main/sessions", forbid),
    "the settings": ("openclaw.json", forbid),
    "everything": (".", forbid),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "home" / ".openclaw"
    store = SessionStore.open(place)
    for number in range(3):
        store.start(f"s-{number}", channel="cli")
        store.update(f"s-{number}", {"hot_topics": ["radio"]})
        if number:
            store.end(f"s-{number}", reason="new")
    agent = place / "agents" / "main" / "sessions"
    agent.mkdir(parents=True)
    (agent / "sessions.json").write_text("{}")
    (place / "openclaw.json").write_text("{}")
    return place


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*AS_USER, sys.executable, "-m", "jsonlstore", "--state-dir", str(root), *words]
    env = {**os.environ, "HOME": str(root.parent), "NO_COLOR": "1"}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(bool(AS_USER) and not shutil.which("setpriv"), reason="root needs setpriv to be refused anything")
@pytest.mark.parametrize("name", PLACES)
def test_what_is_refused_is_said_in_a_sentence(name: str, root: Path) -> None:
    """Every command ends with 0, 1 or 2 and names what it may not touch; none with a traceback."""
    place, refuse = PLACES[name]
    refuse(root / place)
    try:
        for words in COMMANDS:
            done = run(root, *words)
            assert "Traceback" not in done.stderr, (words, done.stderr)
            assert done.returncode in (0, 1, 2), words
            if done.returncode and not done.stdout:
                assert "error: " in done.stderr or "warning: " in done.stderr, (words, done.stderr)
                assert str(root) in done.stderr, (words, done.stderr)
    finally:
        for path in (root, *(root / one for one in ("sessions", "sessions/states", "agents/main/sessions"))):
            path.chmod(0o700)


@pytest.mark.skipif(bool(AS_USER) and not shutil.which("setpriv"), reason="root needs setpriv to be refused anything")
def test_an_unreadable_store_fails_status_and_doctor_with_a_hint(root: Path) -> None:
    forbid_files(root / "sessions/states")
    status = run(root, "status")
    assert status.returncode == 1
    assert "cannot read" in status.stderr
    assert "hint: `ls -ld` shows who owns it" in status.stderr
    checks = {one["name"]: one for one in json.loads(run(root, "doctor", "--json").stdout)["checks"]}
    assert checks["modes"]["ok"], "what can be examined is"
    assert "could not be examined" in checks["logs"]["detail"]
    assert "chown" in checks["logs"]["fix"]
    forbid(root / "sessions/states")
    try:
        assert run(root, "openclaw", "status").returncode == 0
    finally:
        (root / "sessions/states").chmod(0o700)


@pytest.mark.skipif(bool(AS_USER) and not shutil.which("setpriv"), reason="root needs setpriv to be refused anything")
def test_a_store_that_may_not_be_written_fails_status(root: Path) -> None:
    forbid_writing(root / "sessions")
    try:
        status = run(root, "status")
    finally:
        for path in (root / "sessions", root / "sessions/states"):
            path.chmod(0o700)
    assert status.returncode == 1
    assert "cannot be written to" in " ".join(status.stdout.split())


@pytest.mark.skipif(bool(AS_USER) and not shutil.which("setpriv"), reason="root needs setpriv to be refused anything")
def test_transcripts_that_cannot_be_read_are_not_said_to_be_missing(root: Path) -> None:
    """Neither "there is none" nor "up to date" is said of a directory that nobody could look into."""
    folder = root / "agents/main/sessions"
    forbid(folder)
    try:
        where, signals, status = (run(root, *words) for words in (["where"], ["signals", "s-7"], ["status"]))
    finally:
        folder.chmod(0o700)
    assert (where.returncode, signals.returncode, status.returncode) == (1, 1, 1)
    assert "no transcript can be read" in where.stderr
    assert "among those that can be read" in signals.stderr
    assert str(folder) in where.stderr
    assert str(folder) in signals.stderr
    assert "up to date" not in status.stdout
    assert "not all of it can be read" in status.stdout


@pytest.mark.skipif(bool(AS_USER) and not shutil.which("setpriv"), reason="root needs setpriv to be refused anything")
@pytest.mark.parametrize(("place", "words"), [("openclaw.json", ["list"]), ("sessions", ["search", "rebuild"])])
def test_a_hint_does_not_send_people_back_to_what_just_failed(place: str, words: list[str], root: Path) -> None:
    (forbid_writing if place == "sessions" else forbid)(root / place)
    try:
        done = run(root, *words)
    finally:
        for path in (root / "sessions", root / "sessions/states"):
            path.chmod(0o700)
    assert done.returncode in (1, 2)
    assert "hint: `ls -ld` shows who owns it" in done.stderr
    assert f"`jsonlstore {' '.join(words)}`" not in done.stderr
