"""Session handoff with real OpenClaw, seen in the model's request and on disk; the default run plays one reset.

pytest -m slow tests/openclaw/test_handoff_real.py      every story in every version (about ten minutes)
"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from jsonlstore.handoff import kept_handoff
from jsonlstore.store.store import SessionStore
from tests.handoff.place import check_files
from tests.openclaw.boundaries import IDLE, VERSIONS
from tests.openclaw.lab import each_version, wait_until
from tests.openclaw.model import said_by_user, text_of
from tests.openclaw.stage import SECRET, Sent, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = "agent:main:main"
HEAD = "## Previous Session Context"
OFFER = "[Session handoff: "


class Story:
    """One conversation with the plugin in the gateway."""

    def __init__(self, version: str, home: Path, settings: dict[str, Any] | None = None, **ours: Any) -> None:
        self.stage = Stage(version, "plugin", home, ours, **(settings or {}))
        self.folder = self.stage.state_dir / "agents" / "main" / "handoff"

    def work(self, word: str, key: str = KEY) -> None:
        # once only: since 2026.9 OpenClaw hides a secret it has seen, and the request could not be told by its words
        token = f" The token is {SECRET}" if word == "antenna" else ""
        self.stage.turn(f"TODO: repair the {word} mast.{token} [[pin:{word}|by the shelf]]", key)
        self.stage.turn(f"Now measure the {word} wire", key)
        self.stage.wait_for_state(f"repair the {word} mast", word)

    def reset(self, key: str = KEY) -> None:
        self.stage.openclaw.call("sessions.reset", key=key, reason="new")

    def command(self, text: str, done: Any) -> None:
        self.stage.openclaw.say(text, KEY)
        wait_until(done, 60, text)

    def documents(self) -> list[dict[str, Any]]:
        paths = [self.folder / "session-state.json", *(self.folder / "snapshots").glob("*.json")]
        return [orjson.loads(path.read_bytes()) for path in paths if path.exists()]

    def contents(self) -> dict[str, bytes]:
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in files}

    def has_document_of(self, word: str) -> bool:
        return any(word in json.dumps(one) for one in self.documents())

    def events(self) -> list[dict[str, Any]]:
        found = []
        for path in SessionStore.open(self.stage.state_dir).paths.states.glob("*.jsonl"):
            if path.name != "metrics.jsonl":
                found += [orjson.loads(line) for line in path.read_bytes().splitlines() if line]
        return found

    def marked_keys(self) -> set[str]:
        """The conversations that somebody handed over with a command."""
        found = [one["data"] for one in self.events() if one["data"].get("trigger") == "command"]
        return {one["handoff"]["sessionKey"] for one in found}

    def check_files(self) -> None:
        """Every file is valid, private and without the secret, and has every field of the specification."""
        check_files(self.folder)
        for document in self.documents():
            assert document["lastMessageIndex"] >= 0
            assert len(document["transcriptHash"]) == 64
        for path in self.folder.rglob("*"):
            assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path


@pytest.fixture
def stories() -> Iterator[list[Story]]:
    running: list[Story] = []
    yield running
    for one in running:
        one.stage.close()


def begin(stories: list[Story], version: str, home: Path, **ours: Any) -> Story:
    story = Story(version, home, **ours)
    stories.append(story)
    story.stage.openclaw.start()
    return story


def check_reset(story: Story) -> None:
    """Work, reset: the file is there, the next request has it, the offer goes with the first prompt only."""
    story.work("antenna")
    story.reset()
    on_disk: dict[str, bool] = {}
    story.stage.model.looks.append(
        lambda body: on_disk.setdefault(said_by_user(body["messages"])[1], story.has_document_of("antenna"))
    )
    first = story.stage.turn("hello again", KEY)
    story.stage.model.looks.clear()
    seen = next(there for said, there in on_disk.items() if "hello again" in said)
    assert seen, "the file is there before the next session's first request"
    assert first.inside.count("<session-continuity") == 1
    assert HEAD in first.inside
    assert "repair the antenna mast" in first.inside
    assert OFFER in first.outside
    second = story.stage.turn("and then?", KEY)
    assert second.inside == first.inside
    assert OFFER not in said_in(story, "and then?"), "in no later prompt, and in no stored one that is sent again"
    wait_until(lambda: all(one["transcriptHash"] for one in story.documents()), 60, "what the transcript shows")
    story.check_files()


def said_in(story: Story, words: str) -> str:
    """What the user says in a request; the mock model answers by echo."""
    for body in story.stage.model.requests:
        if words in (said := said_by(body)):
            return said
    raise AssertionError(words)


def said_by(body: dict[str, Any]) -> str:
    return "\n".join(text_of(one.get("content")) for one in body["messages"] if one.get("role") == "user")


@pytest.mark.parametrize("version", each_version("2026.9.6"))
def test_a_reset_hands_over(version: str, tmp_path: Path, stories: list[Story]) -> None:
    check_reset(begin(stories, version, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_the_manual_tests_of_the_specification(version: str, tmp_path: Path, stories: list[Story]) -> None:
    """Reset, clear, two chats at once, SIGTERM, and OpenClaw's own tools beside the folder."""
    story = begin(stories, version, tmp_path)
    check_reset(story)
    # clear
    story.work("harbour")
    story.command("/handoff", lambda: "command" in [one["data"].get("trigger") for one in story.events()])
    story.command("/handoff clear", lambda: any(one["type"] == "handoff.cleared" for one in story.events()))
    story.reset()
    assert HEAD not in story.stage.turn("hello after clear", KEY).inside
    # two chats at once: each has its own
    for number in (4711, 4712):
        story.work(f"boat{number}", f"agent:main:telegram:dm:{number}")
    for number in (4711, 4712):
        story.reset(f"agent:main:telegram:dm:{number}")
    for number, other in ((4711, 4712), (4712, 4711)):
        sent = story.stage.turn(f"chat {number} goes on", f"agent:main:telegram:dm:{number}")
        assert HEAD in sent.inside
        assert f"boat{number}" in sent.inside
        assert f"boat{other}" not in sent.inside
    # the gateway is stopped, and OpenClaw's own tools meet the folder
    story.work("windmill")
    story.stage.openclaw.stop(signal.SIGTERM)
    wait_until(lambda: story.has_document_of("windmill"), 30, "the last capture")
    wait_until(lambda: all(one["transcriptHash"] for one in story.documents()), 60, "what the transcripts show")
    # what was begun when the gateway stopped goes on without it
    wait_until(lambda: not story.stage.openclaw.left_running("jsonlstore"), 60, "the end of our own processes")
    before = story.contents()
    tools = [("doctor", "--fix", "--non-interactive", "--yes"), ("agents", "list"), ("sessions", "cleanup")]
    if version >= "2026.9":  # 2026.2 has no such command
        tools.append(("backup", "create"))
    for tool in tools:
        story.stage.openclaw.run(*tool, seconds=400)
        assert story.contents() == before, tool
    story.check_files()


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_25_hours_later_there_is_nothing(version: str, tmp_path: Path, stories: list[Story]) -> None:
    """The plugin's calls live in the future: the session's lines are there, the handoff and its question are not."""
    future, program = tmp_path / "future", tmp_path / "later.py"
    program.write_text(
        f"import os, sys\nwords = sys.argv[1:]\nif os.path.exists({str(future)!r}) and 'hook' in words:\n"
        f"    words += ['--now', open({str(future)!r}).read()]\n"
        f"os.execv(sys.executable, [sys.executable, '-m', 'jsonlstore', *words])\n"
    )
    story = begin(stories, version, tmp_path / "home", command=[sys.executable, str(program)])
    story.work("antenna")
    story.reset()
    if version >= "2026.4":  # there the end is told; before, it is found out when the next session starts
        wait_until(lambda: story.has_document_of("antenna"), 60, "the end")
    future.write_text((datetime.now(UTC) + timedelta(hours=25)).isoformat())
    sent = story.stage.turn("hello a day later", KEY)
    assert HEAD not in sent.inside
    assert OFFER not in sent.outside
    assert "repair the antenna mast" in sent.inside, "what is older than a handoff is remembered as ever"


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_a_marked_session_is_found_under_a_new_key(version: str, tmp_path: Path, stories: list[Story]) -> None:
    """As the terminal's `/new` opens one since 2026.7; the mark is a message that reached the model as text."""
    story = begin(stories, version, tmp_path)
    story.work("antenna")
    assert HEAD not in story.stage.turn("hello from a terminal", "agent:main:tui-1").inside, "nobody handed over"
    story.stage.openclaw.run("agent", "--agent", "main", "--message", "/handoff")
    # the model got the word as the user's, in a line of its own; 2026.9 sends a message about the runtime after it
    lines = {line for body in story.stage.model.requests for line in said_by(body).splitlines()}
    assert any(re.fullmatch(r"(\[[^]]*\] )?/handoff", line) for line in lines)
    story.stage.turn("and go on", KEY)  # where no watcher runs, a turn's end is when the transcript is read
    wait_until(story.marked_keys, 60, "the mark")
    assert story.marked_keys() == {KEY}
    sent = story.stage.turn("hello from another terminal", "agent:main:tui-2")
    assert HEAD in sent.inside
    assert "repair the antenna mast" in sent.inside
    assert HEAD not in story.stage.turn("hello from a chat", "agent:main:telegram:dm:99").inside


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_resume_although_it_was_skipped(version: str, tmp_path: Path, stories: list[Story]) -> None:
    """`restore_on` leaves resets out; `/resume` brings the handoff in all the same, at once since 2026.7."""
    story = begin(stories, version, tmp_path, restore_on=["crash", "restart"])
    story.work("antenna")
    story.reset()
    assert HEAD not in story.stage.turn("hello again", KEY).inside
    since = len(story.stage.model.requests)
    story.command("/resume", lambda: any(one["type"] == "handoff.claimed" for one in story.events()))
    if version < "2026.4":
        story.stage.openclaw.say("go on then", KEY)
    wait_until(lambda: any(HEAD in Sent.of(one).inside for one in story.stage.model.requests[since:]), 60, "the block")


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_killed_in_mid_turn_then_reset(version: str, tmp_path: Path, stories: list[Story]) -> None:
    """kill -9 loses nothing: the request that was cut off is part of what the next session is told."""
    story = begin(stories, version, tmp_path)
    story.work("antenna")
    story.stage.openclaw.say("a slow question [[slow:30]]", KEY)
    story.stage.wait_for_request(lambda said: "a slow question" in said)
    story.stage.openclaw.stop(signal.SIGKILL)
    story.stage.openclaw.start()
    story.reset()
    sent = story.stage.turn("hello after the crash", KEY)
    assert HEAD in sent.inside
    assert "repair the antenna mast" in sent.inside
    kept = [kept_handoff(SessionStore.open(story.stage.state_dir).folded(one.session_id))
            for one in SessionStore.open(story.stage.state_dir).entries()]  # fmt: skip
    assert any(one and one.claimed_by for one in kept)


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_an_idle_rollover_hands_over(version: str, tmp_path: Path, stories: list[Story]) -> None:
    story = begin(stories, version, tmp_path, settings=IDLE)
    story.work("antenna")
    time.sleep(65)  # OpenClaw's shortest idle timeout is a minute
    sent = story.stage.turn("hello after a while", KEY)
    assert HEAD in sent.inside
    assert "repair the antenna mast" in sent.inside


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_a_compaction_before_the_reset_loses_nothing(version: str, tmp_path: Path, stories: list[Story]) -> None:
    story = begin(stories, version, tmp_path)
    story.work("antenna")
    story.stage.compact(KEY)
    story.stage.turn("go on after the compaction", KEY)
    story.reset()
    sent = story.stage.turn("hello again", KEY)
    assert HEAD in sent.inside
    assert "repair the antenna mast" in sent.inside
