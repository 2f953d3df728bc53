"""What the next model request holds after every way a session can end: the table of docs/openclaw.md.

python -m tests.openclaw.boundaries                         everything (about half an hour)
python -m tests.openclaw.boundaries --version 2026.9.6 --mode plugin --boundary reset
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.openclaw.lab import wait_until
from tests.openclaw.stage import GREETING, MODES, SECRET, Sent, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VERSIONS = ("2026.2.26", "2026.7.1", "2026.9.6")
# tokens of the mock model's 64,000: OpenClaw flushes its memory from 40,000 (2026.9: 44,000) on, and compacts later
NEARLY_FULL, FULL = {"2026.2.26": 42_000, "2026.7.1": 42_000, "2026.9.6": 46_000}, 50_000
FILLER = "The pump in the harbour runs at night, and the tide table says when. " * 60
IDLE = {"session": {"reset": {"mode": "idle", "idleMinutes": 1}}}


def little_kept(state_dir: Path) -> dict[str, Any]:
    """Settings with which a compaction has something to summarise in a short story."""
    defaults = {
        "model": {"primary": "mock/mock-1"},
        "workspace": str(state_dir / "workspace"),
        "heartbeat": {"every": "0m"},
        "compaction": {"keepRecentTokens": 1_000},
    }
    return {"agents": {"defaults": defaults}}


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation, with words nobody else uses."""

    key: str
    task: str
    pin: str
    aside: str

    @classmethod
    def of(cls, name: str) -> Chat:
        key = "agent:main:main" if name == "new" else f"agent:main:telegram:dm:{sum(map(ord, name))}"
        word = name.replace("-", "")
        return cls(key, f"repair the {word}lamp", f"{word}pin", f"ring the {word}bell twice and sell the boat")


@dataclass(frozen=True, slots=True)
class Row:
    """What one boundary led to. `by` says how task and pin got into the request: in a preamble, or by history."""

    version: str
    boundary: str
    mode: str
    by: str
    task: bool
    pin: bool
    replayed: bool
    foreign: bool
    turns: str
    compacted: str
    stored: bool
    utility: str
    seen: str
    secret: bool
    wait_ms: int | None

    @property
    def good(self) -> bool:
        kept = self.turns in ("same", "none") and self.compacted in ("same", "-")
        kept = kept and self.seen != "NO"
        bad = self.replayed or self.foreign or self.stored or self.secret or self.utility == "LEAKED"
        return self.task and self.pin and kept and not bad

    def cells(self) -> list[str]:
        def yes(value: bool) -> str:
            return "yes" if value else "no"

        wait = "-" if self.wait_ms is None else str(self.wait_ms)
        return [self.version, self.boundary, self.mode, self.by, yes(self.task), yes(self.pin), yes(self.replayed),
                yes(self.foreign), self.turns, self.compacted, yes(self.stored), self.utility, self.seen,
                yes(self.secret), wait]  # fmt: skip


HEADINGS = ("version", "boundary", "mode", "by", "task in next request", "pin in next request",
            "replayed outside the block", "another chat's words", "block in turns 2 to 5", "after a compaction",
            "block in the stored history", "block in utility runs", "delivery seen", "secret in our files",
            "first turn waited, ms")  # fmt: skip


class Story:
    """Conversations on one stage, each brought to its boundary and over it."""

    def __init__(self, stage: Stage, names: tuple[str, ...]) -> None:
        self.stage = stage
        self.chats = {name: Chat.of(name) for name in names}

    def work(self, name: str) -> Chat:
        """A day's work: a task is left open, something is pinned, something is said that must not come back."""
        chat = self.chats[name]
        self.stage.turn(
            f"TODO: {chat.task}. The token is {SECRET} [[pin:{chat.pin}|by the {chat.pin} shelf]]", chat.key
        )
        self.stage.turn(f"Now {chat.aside}", chat.key)
        self.stage.wait_for_state(chat.task, chat.pin)
        return chat

    def next_turns(self, name: str, label: str, *, goes_on: bool = False, first: Sent | None = None) -> Row:
        """The first turn after a boundary, four after it, one after a compaction, and what they held."""
        stage, chat = self.stage, self.chats[name]
        before = None if first else stage.heartbeat().get("last_fired_at")
        asked = first or stage.turn(f"{label}: what is next?", chat.key)
        if asked.blocks:
            wait_until(lambda: stage.heartbeat().get("last_fired_at") != before, 20, "the bridge's report")
        wait = stage.heartbeat().get("last_wait_ms")
        later = [stage.turn(f"{label}: and then? ({number})", chat.key) for number in range(2, 6)]
        compacted = None if goes_on or not stage.compacts_when_asked else self._after_compaction(chat, label)
        others = [one for other, one in self.chats.items() if other != name]
        where = asked.outside if goes_on else asked.inside
        leaked = [one for one in stage.utility_runs() if one.blocks]
        return Row(
            stage.version,
            label,
            stage.mode,
            "history" if goes_on else "preamble",
            chat.task in where,
            chat.pin in where if goes_on else "1 pins inherited" in where,
            replayed=asked.blocks > 0 if goes_on else asked.blocks != 1 or is_replayed(chat.aside, asked),
            foreign=any(one.task in asked.outside + asked.inside for one in others),
            turns=compared(asked, *later),
            compacted="-" if compacted is None else compared(asked, compacted),
            stored=stage.is_stored("<session-continuity"),
            utility="LEAKED" if leaked else f"none of {len(stage.utility_runs())}",
            seen=self._is_seen(goes_on=goes_on),
            secret=bool(stage.files_with_secret()),
            wait_ms=None if goes_on else wait,
        )

    def _is_seen(self, *, goes_on: bool) -> str:
        """Whether the plugin itself knows that its block arrived; the hook is not shown what the model is sent."""
        if goes_on or self.stage.mode == "watcher":
            return "-"
        return "yes" if (self.stage.heartbeat().get("delivery") or {}).get("seen_at") else "NO"

    def full_window(self, name: str, label: str) -> Row:
        """A turn that all but fills the window, then one more: what OpenClaw does in between gets no block."""
        stage, chat = self.stage, self.chats[name]
        first = stage.turn(f"{label}: hello", chat.key)
        since, before = len(stage.model.requests), stage.compactions()
        stage.turn(f"{label}: a long story. {FILLER}[[usage:{NEARLY_FULL[stage.version]}]]", chat.key)
        if not stage.compacts_when_asked:
            stage.turn(f"{label}: more of it. {FILLER}[[usage:{FULL}]]", chat.key)
        row = self.next_turns(name, label, first=first)
        if not stage.compacts_when_asked:
            row = replace(row, compacted=row.turns if stage.compactions() > before else "NONE")
        runs = stage.runtime_runs(since, lambda said: label in said)
        return replace(row, utility="LEAKED" if any(one.blocks for one in runs) else f"none of {len(runs)}")

    def _after_compaction(self, chat: Chat, label: str) -> Sent:
        self.stage.compact(chat.key)
        return self.stage.turn(f"{label}: after the compaction", chat.key)

    def reset(self, name: str, label: str) -> Row:
        self.stage.openclaw.call("sessions.reset", key=self.chats[name].key, reason="new")
        return self.next_turns(name, label)


def is_replayed(words: str, asked: Sent) -> bool:
    """Whether the user's words came back as anything but the quoted last request; the mock model answers by echo."""
    told = [
        line
        for line in asked.inside.splitlines()
        if not line.startswith(("LAST REQUEST", "LAST ANSWER", "- last request: "))
    ]
    return words in asked.outside or words in "\n".join(told)


def compared(first: Sent, *others: Sent) -> str:
    """Whether the block of later turns is, byte for byte, that of the first."""
    blocks = {one.inside for one in others}
    if blocks == {first.inside}:
        return "same" if first.blocks else "none"
    return "missing" if "" in blocks else "CHANGED"


def new(story: Story) -> Iterator[Row]:
    """`/new` typed into the chat: 2026.2 greets, and the greeting is the next request.

    Later versions let only administrators type it; `sessions.reset` is the same boundary there.
    """
    chat, since = story.work("new"), len(story.stage.model.requests)
    story.stage.openclaw.say("/new", chat.key)
    greeted = story.stage.wait_for_request(lambda said: GREETING in said, since)
    yield story.next_turns("new", "/new", first=greeted)


def flush(story: Story) -> Iterator[Row]:
    """The window fills up: OpenClaw has its memory written down in a run of its own, and compacts by itself."""
    chat = story.work("flush")
    story.stage.openclaw.call("sessions.reset", key=chat.key, reason="new")
    yield story.full_window("flush", "memory flush after a reset")


def reset(story: Story) -> Iterator[Row]:
    story.work("reset")
    yield story.reset("reset", "sessions.reset")


def delete(story: Story) -> Iterator[Row]:
    chat = story.work("delete")
    story.stage.openclaw.call("sessions.delete", key=chat.key, deleteTranscript=True)
    yield story.next_turns("delete", "delete")


def compaction(story: Story) -> Iterator[Row]:
    chat = story.work("compaction")
    story.stage.openclaw.call("sessions.compact", key=chat.key)
    story.stage.turn("compaction: go on", chat.key)
    yield story.reset("compaction", "compaction, then reset")


def restart(story: Story) -> Iterator[Row]:
    story.work("restart")
    story.stage.openclaw.stop()
    story.stage.openclaw.start()
    yield story.next_turns("restart", "gateway restart", goes_on=True)
    yield story.reset("restart", "gateway restart, then reset")


def kill(story: Story) -> Iterator[Row]:
    chat, since = story.work("kill"), len(story.stage.model.requests)
    story.stage.openclaw.say("kill: a slow question [[slow:30]]", chat.key)
    story.stage.wait_for_request(lambda said: "a slow question" in said, since)
    story.stage.openclaw.stop(signal.SIGKILL)
    story.stage.openclaw.start()
    yield story.next_turns("kill", "kill -9 in mid-turn", goes_on=True)
    yield story.reset("kill", "kill -9 in mid-turn, then reset")


def idle(story: Story) -> Iterator[Row]:
    story.work("idle")
    time.sleep(65)  # OpenClaw's shortest idle timeout is a minute
    yield story.next_turns("idle", "idle rollover")


def migration(story: Story) -> Iterator[Row]:
    story.work("migration")
    story.stage.upgrade("2026.9.6")
    story.stage.openclaw.start()
    yield story.next_turns("migration", "era migration", goes_on=True)
    yield story.reset("migration", "era migration, then reset")


# one gateway serves a whole group: every boundary has a conversation of its own
GROUPS: dict[str, list[tuple[Any, tuple[Callable[[Story], Iterator[Row]], ...]]]] = {
    "2026.2.26": [
        ({}, (new, reset, delete, compaction, restart, kill, migration)),
        (IDLE, (idle,)),
        (little_kept, (flush,)),
    ],
    "2026.7.1": [({}, (reset, delete, compaction, restart, kill)), (little_kept, (flush,))],
    "2026.9.6": [({}, (reset, delete, compaction, restart, kill)), (little_kept, (flush,))],
}


def play(version: str, mode: str, home: Path, wanted: str | None = None) -> Iterator[Row]:
    """Every boundary of one version in one mode, or only the wanted one."""
    for number, (settings, group) in enumerate(GROUPS[version]):
        chosen = [one for one in group if wanted in (None, one.__name__)]
        if not chosen:
            continue
        place = home / f"{version}-{mode}-{number}"
        stage = Stage(version, mode, place, **(settings(place / ".openclaw") if callable(settings) else settings))
        try:
            stage.openclaw.start()
            story = Story(stage, tuple(one.__name__ for one in chosen))
            for boundary in chosen:
                yield from boundary(story)
        finally:
            stage.close()


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--version", action="append", choices=list(GROUPS))
    words.add_argument("--mode", action="append", choices=MODES)
    words.add_argument("--boundary")
    words.add_argument("--home", type=Path, help="keep the homes here")
    given = words.parse_args()
    home = given.home or Path(tempfile.mkdtemp(prefix="boundaries-"))
    print("| " + " | ".join(HEADINGS) + " |\n|" + "---|" * len(HEADINGS), flush=True)
    bad = 0
    for version in given.version or VERSIONS:
        for mode in given.mode or MODES:
            try:
                for row in play(version, mode, home, given.boundary):
                    bad += not row.good
                    print("| " + " | ".join(row.cells()) + " |" + ("" if row.good else " <-- not good"), flush=True)
            except AssertionError as problem:
                bad += 1
                print(f"| {version} | stopped | {mode} | {str(problem)[:300]} |", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
