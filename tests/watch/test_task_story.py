"""The story of three tasks over three sessions, from what OpenClaw writes to what the next session is told.

Session 1 leaves three tasks. Session 2 is told of them and closes them, each in its own way. Session 3 is told of none,
and the next step is not one of them either.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.watch.conftest import OpenClaw, Talk, watcher

if TYPE_CHECKING:
    from pathlib import Path

KEY, OTHER = "agent:main:telegram:dm:1", "agent:main:telegram:dm:2"
TASKS = ("wire the relay for valve 2", "order the seals", "paint the box")
WAYS = ("watcher", "hooks", "both")


class Story:
    """One conversation of an OpenClaw, followed by the watcher, by hooks, or by both."""

    def __init__(self, openclaw: OpenClaw, way: str, key: str = KEY) -> None:
        self.openclaw, self.way, self.key = openclaw, way, key
        self.hour, self.session_id, self.talk = 0, "", Talk("")

    def hook(self, event: str, **document: Any) -> dict[str, Any]:
        words = [sys.executable, "-m", "jsonlstore", "--state-dir", str(self.openclaw.state_dir), "hook", event]
        given = {"session_id": self.session_id, "session_key": self.key, "agent_id": "main", "channel": "telegram"}
        done = subprocess.run(
            [*words, "--now", self.now], input=json.dumps({**given, **document}), capture_output=True, text=True,
            timeout=60, check=True,
        )  # fmt: skip
        answer: dict[str, Any] = json.loads(done.stdout)
        assert "error" not in answer, answer
        return answer

    @property
    def now(self) -> str:
        return f"2026-09-{21 + self.hour:02}T20:00:00Z"

    def begin(self, name: str) -> str:
        """A session starts; what it is told."""
        self.session_id = f"{name * 8}-aaaa-4aaa-8aaa-{name * 12}"
        self.talk = Talk(self.session_id, day=21 + self.hour)
        told = self.hook("session-start")["block"] or ""
        self.openclaw.append(self.session_id, self.talk.header)
        self.openclaw.refer(self.key, self.session_id, "telegram")
        return told

    def say(self, asked: str, answered: str = "Noted.") -> None:
        self.openclaw.append(self.session_id, self.talk.user(asked), self.talk.assistant(answered))
        self._look()
        if self.way != "watcher":
            self.hook("turn-end", catch_up=True)

    def end(self) -> None:
        self.openclaw.rename(self.session_id, f"reset.2026-09-{21 + self.hour:02}T19-00-00.000Z")
        self.openclaw.index.pop(self.key)
        self.openclaw.save_index()
        self._look()
        if self.way != "watcher":
            self.hook("session-end", reason="new", catch_up=True)
        self.hour += 1

    def _look(self) -> None:
        if self.way != "hooks":
            watcher(self.openclaw.state_dir, archive_after_days=3650).once()

    def block(self) -> str:
        """What the running session is told now."""
        return self.hook("session-start")["block"] or ""

    def cli(self, *words: str) -> Any:
        command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(self.openclaw.state_dir), *words]
        done = subprocess.run(
            [*command, "--now", self.now, "--json"], capture_output=True, text=True, timeout=60, check=True
        )
        return json.loads(done.stdout)


def shown(block: str) -> set[str]:
    """The tasks a block calls open, or the next step; what was last said may be quoted as what was said."""
    told = [line for line in block.splitlines() if line.startswith(("- [", '- "', '"', "NEXT STEP"))]
    return {title for title in TASKS if any(title in line for line in told)}


def three_left_open(story: Story) -> None:
    assert shown(story.begin("1")) == set()
    story.say("".join(f"TODO: {title}.\n" for title in TASKS), "I keep all three for later. Next step: paint the box.")
    story.end()


def close_by_words(story: Story) -> None:
    story.say("I wired the relay for valve 2 today", "Good, noted.")
    story.say("Here is where we are:\n- [x] order the seals\n", "Great.")
    story.say("Done: paint the box", "Well done.")


def close_by_tool(story: Story) -> None:
    for number in range(3):
        changed = story.hook("session-task", action="done", tasks=["1"], by="agent")
        assert len(changed["tasks"]) == 2 - number


def close_in_chat(story: Story) -> None:
    assert story.hook("session-task", action="done", tasks=["1", "2", "3"], by="chat")["tasks"] == []


def close_on_the_command_line(story: Story) -> None:
    story.cli("task", "done", "1", "paint the box")
    story.cli("task", "drop", "1")
    assert story.cli("task", "list")["tasks"] == []


CLOSERS = (close_by_words, close_by_tool, close_in_chat, close_on_the_command_line)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("close", CLOSERS)
def test_what_was_closed_does_not_come_back(openclaw: OpenClaw, way: str, close: Any) -> None:
    story = Story(openclaw, way)
    three_left_open(story)
    assert shown(story.begin("2")) == set(TASKS)
    story.say("Good morning", "Good morning.")
    assert shown(story.block()) == set(TASKS), "our own block in view closes nothing"
    close(story)
    assert shown(story.block()) == set(), "the block in view lets go at once"
    story.end()
    assert shown(story.begin("3")) == set()


@pytest.mark.parametrize("way", WAYS)
def test_opened_again_closed_again(openclaw: OpenClaw, way: str) -> None:
    story = Story(openclaw, way)
    three_left_open(story)
    story.begin("2")
    close_by_words(story)
    story.end()
    story.begin("3")
    story.say("TODO: paint the box, it was not really done.", "I will remember.")
    story.end()
    assert shown(story.begin("4")) == {"paint the box"}
    story.say("Hello", "Hello.")
    story.hook("session-task", action="done", tasks=["paint"], by="agent")
    story.end()
    assert shown(story.begin("5")) == set()
    story.say("Hello", "Hello.")
    story.cli("task", "reopen", "paint the box")
    story.end()
    assert shown(story.begin("6")) == {"paint the box"}


@pytest.mark.parametrize("close", CLOSERS)
def test_closing_in_one_chat_changes_no_other(openclaw: OpenClaw, state_dir: Path, close: Any) -> None:
    """Two people and a group with the same three tasks."""
    keys = (KEY, OTHER, "agent:main:telegram:group:-100")
    stories = [Story(openclaw, "both", key) for key in keys]
    for story, name in zip(stories, "123", strict=True):
        assert shown(story.begin(name)) == set()
        story.say("".join(f"TODO: {title}.\n" for title in TASKS), "Kept.")
        story.end()
    first = stories[1]
    for story, name in zip((stories[0], stories[2], first), "456", strict=True):
        assert shown(story.begin(name)) == set(TASKS)
        story.say("Hello", "Hello.")
    close(first)
    assert [shown(story.block()) for story in stories] == [set(TASKS), set(), set(TASKS)]
    for story in stories:
        story.end()
    told = [shown(story.begin(name)) for story, name in zip(stories, "789", strict=True)]
    assert told == [set(TASKS), set(), set(TASKS)]
