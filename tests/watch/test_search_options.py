"""Every option of the search, by the command line over real transcripts, as a user meets it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.watch.conftest import OpenClaw

A, B = "aaaaaaaa-1111-4111-8111-111111111111", "bbbbbbbb-2222-4222-8222-222222222222"
FILE = "workspace/memory/notes.md"


class Commands:
    """`jsonlstore` in processes of its own, on one state directory and one file of settings."""

    def __init__(self, state_dir: Path, settings: Path) -> None:
        self._line = [sys.executable, "-m", "jsonlstore", "--state-dir", str(state_dir), "--config", str(settings)]
        self._settings = settings
        self.set()

    def set(self, **search: bool) -> None:
        self._settings.write_text(json.dumps({"search": search}))

    def __call__(self, *words: str) -> str:
        done = subprocess.run(
            [*self._line, *words], capture_output=True, text=True, env={**os.environ, "TZ": "UTC"}, check=False
        )
        assert done.returncode in (0, 1), done.stderr  # 1: a check of `doctor` failed
        return done.stdout

    def found(self, *words: str) -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = json.loads(self("search", *words, "--json", "--now", "2026-10-01T00:00:00Z"))
        return answers

    def ids(self, *words: str) -> list[str]:
        return [one["session_id"] or one["file"] for one in self.found(*words)]

    def check(self) -> dict[str, Any]:
        checks: list[dict[str, Any]] = json.loads(self("doctor", "--json"))["checks"]
        return next(one for one in checks if one["name"] == "search")


@pytest.fixture
def commands(state_dir: Path, tmp_path: Path) -> Commands:
    return Commands(state_dir, tmp_path / "settings.json")


@pytest.fixture
def two_sessions(openclaw: OpenClaw, state_dir: Path, commands: Commands) -> None:
    talk = openclaw.begin(A)
    openclaw.append(
        A,
        talk.user("Good morning, shall we begin?"),
        talk.user("The antenna tuner hums at night."),
        talk.assistant("A loose coil makes transformers rattle."),
        talk.user("Thank you, that was it."),
    )
    talk = openclaw.begin(B, key="agent:main:other")
    openclaw.append(
        B,
        talk.user("I want a tuner for the piano, and an antenna for the roof."),
        talk.assistant("The marten sleeps below the roof."),
    )
    memory = state_dir / FILE
    memory.parent.mkdir(parents=True)
    memory.write_text("The antenna lies in the cellar.\n")
    commands("backfill")


@pytest.mark.usefixtures("two_sessions")
def test_what_narrows_a_search_down(commands: Commands) -> None:
    """Phrases, words behind a minus, speakers and places, each with an answer and without the other's."""
    assert sorted(commands.ids("antenna")) == [A, B]
    assert commands.ids('"antenna tuner"') == [A]
    assert commands.ids("antenna", "-piano") == [A]
    assert commands.ids("antenna", "-hums") == [B]
    assert commands.ids("transformers", "--speaker", "assistant") == [A]
    assert not any(one["passages"] for one in commands.found("transformers", "--speaker", "user"))
    assert commands.ids("antenna", "--in", "memory") == [FILE]
    assert sorted(commands.ids("antenna", "--in", "all")) == [A, B, FILE]
    assert sorted(commands.ids("antenna", "--in", "sessions")) == [A, B]


@pytest.mark.usefixtures("two_sessions")
def test_the_turns_around_a_passage(commands: Commands, openclaw: OpenClaw) -> None:
    """`--context 1` shows one turn before and one after, from the transcript and, once that is gone, from the index."""
    for _ in range(2):
        (passage, *_rest) = commands.found("hums", "--context", "1")[0]["passages"]
        said = [turn["text"] for turn in passage["context"]]
        assert said == [
            "Good morning, shall we begin?",
            "The antenna tuner hums at night.",
            "A loose coil makes transformers rattle.",
        ]
        openclaw.path(A).unlink(missing_ok=True)
        openclaw.remember()


def test_commands_and_their_errors_are_found_where_tools_are_wanted(openclaw: OpenClaw, commands: Commands) -> None:
    """`search.tools: true` adds what was run and what failed; without it neither is found."""
    talk = openclaw.begin(A)
    called = talk.assistant("Let me look.")
    called["message"]["content"].append(
        {"type": "toolCall", "id": "t1", "name": "exec", "arguments": {"command": "grep zeppelin hangar.txt"}}
    )
    failed = talk.user("")
    failed["message"] = {
        "role": "toolResult", "toolCallId": "t1", "toolName": "exec", "isError": True,
        "content": [{"type": "text", "text": "hangar.txt: the gasometer burst"}],
    }  # fmt: skip
    openclaw.append(A, talk.user("Where is the airship?"), called, failed)
    commands("backfill")
    assert not any(one["passages"] for one in commands.found("gasometer", "--speaker", "tool"))
    commands.set(tools=True)
    commands("search", "rebuild")
    for word in ("zeppelin", "gasometer"):
        (hit,) = commands.found(word, "--speaker", "tool")
        assert {one["speaker"] for one in hit["passages"]} == {"tool"}


@pytest.mark.parametrize("kept", [False, True])
def test_what_was_deleted_goes_unless_it_is_kept(openclaw: OpenClaw, commands: Commands, *, kept: bool) -> None:
    """A session deleted in OpenClaw is found afterwards only with `search.keep_deleted: true`."""
    commands.set(keep_deleted=kept)
    talk = openclaw.begin(A)
    openclaw.append(A, talk.user("The xylophonist came late."))
    commands("backfill")
    assert commands.ids("xylophonist") == [A]
    openclaw.rename(A, "deleted.2026-09-22T10-00-00.000Z")
    del openclaw.index["agent:main:main"]
    openclaw.save_index()
    commands("backfill")
    assert [one["session_id"] for one in commands.found("xylophonist") if one["passages"]] == [A] * kept


@pytest.mark.usefixtures("two_sessions")
def test_doctor_names_the_session_that_does_not_add_up(commands: Commands, state_dir: Path) -> None:
    """A checksum that does not fit its blocks fails the check-up by name; a rebuild mends it."""
    path = state_dir / "sessions" / "states" / "search.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("UPDATE documents SET checksum = x'00' WHERE id = ?", (A,))
    db.close()
    check = commands.check()
    assert not check["ok"]
    assert A in check["detail"]
    commands("search", "rebuild")
    assert commands.check()["ok"]


@pytest.mark.usefixtures("two_sessions")
def test_switched_off_the_file_goes(commands: Commands, state_dir: Path) -> None:
    """With `search.enabled: false` the next pass removes the index; switched on again it is made anew."""
    folder = state_dir / "sessions" / "states"
    assert list(folder.glob("search*"))
    commands.set(enabled=False)
    commands("watch", "--once")
    assert not list(folder.glob("search*"))
    commands.set(enabled=True)
    commands("backfill")
    assert commands.ids('"antenna tuner"') == [A]


@pytest.mark.usefixtures("two_sessions")
def test_forgotten_words_leave_the_file_and_its_write_ahead_log(commands: Commands, state_dir: Path) -> None:
    """After `forget` no file of the index holds the words, while a reader had it open; the other session is found."""
    folder = state_dir / "sessions" / "states"
    reader = sqlite3.connect(folder / "search.sqlite")
    reader.execute("SELECT count(*) FROM blocks").fetchone()
    commands("forget", A, "--yes")
    assert not any(b"transform" in path.read_bytes() for path in folder.glob("search*"))
    assert all(not one["passages"] for one in commands.found("transformers"))
    assert commands.ids("piano") == [B]
    reader.close()


def test_another_process_reads_while_the_watcher_writes(
    openclaw: OpenClaw, commands: Commands, state_dir: Path
) -> None:
    """While a watcher takes in one turn after the other, every question is answered, at last with the last turn."""
    talk = openclaw.begin(A)
    openclaw.append(A, talk.user("The lighthouse keeper waves."))
    commands("backfill")
    watcher = subprocess.Popen(
        [sys.executable, "-m", "jsonlstore", "--state-dir", str(state_dir), "watch"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for number in range(5):
            openclaw.append(A, talk.user(f"And then the albatross{number} landed."))
            assert commands.ids("lighthouse") == [A]
        deadline = time.monotonic() + 60
        while not commands.found("albatross4"):
            assert time.monotonic() < deadline, "the last turn was never found"
    finally:
        watcher.terminate()
        watcher.wait(30)
    assert commands.check()["ok"]
