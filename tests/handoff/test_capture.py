"""From a transcript on disk to the files of a handoff, through the watcher; nothing else of OpenClaw is touched."""

from __future__ import annotations

import hashlib
import json
import stat
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from jsonlstore.bridges.openclaw import HandoffFiles
from jsonlstore.core.config import Config
from jsonlstore.core.paths import StatePaths
from jsonlstore.handoff import HandoffRecord, capture, kept_handoff
from jsonlstore.store.schema import problems
from jsonlstore.store.store import SessionStore
from jsonlstore.watch.loop import Watcher
from tests.openclaw.lab import wait_until
from tests.watch.conftest import IMPATIENT, Talk

if TYPE_CHECKING:
    from pathlib import Path

ID = "11111111-2222-4333-8444-555555555555"
SECRET = "ghp_" + "q7v2kd9zt5m1" * 3


class Place:
    """One state directory with one agent, watched."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sessions = path / "agents" / "main" / "sessions"
        self.sessions.mkdir(parents=True)
        self.file = self.sessions / f"{ID}.jsonl"
        self.talk = Talk(ID)
        self.lines = [self.talk.header]
        self.now = datetime(2026, 9, 21, 15, 0, tzinfo=UTC)
        (self.sessions / "sessions.json").write_text(
            json.dumps({"agent:main:main": {"sessionId": ID, "updatedAt": 1, "contextTokens": 64000}})
        )

    def store(self) -> SessionStore:
        store = SessionStore(StatePaths.of(self.path), clock=lambda: self.now)
        store.listeners.append(HandoffFiles(store))
        return store

    def say(self, *records: dict[str, Any]) -> None:
        self.lines += records
        self.file.write_text("".join(json.dumps(one) + "\n" for one in self.lines))

    def watch(self, **settings: Any) -> HandoffRecord | None:
        Watcher(self.store(), Config(search_enabled=False, **settings), timing=IMPATIENT).once()
        return kept_handoff(self.store().folded(ID))

    def work(self, turns: int) -> None:
        for number in range(turns):
            self.say(
                self.talk.user(f"Please fix part {number} of the antenna. The token is {SECRET}"),
                self.talk.assistant(f"Part {number} is fixed. Next step: measure part {number + 1}."),
            )

    @property
    def files(self) -> list[Path]:
        return [path for path in (self.path / "agents/main/handoff").rglob("*") if path.is_file()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_every_twenty_messages_and_at_most_once_a_minute(place: Place) -> None:
    place.work(9)
    assert place.watch() is None
    place.work(1)
    found = place.watch()
    assert found is not None
    assert (found.trigger, found.document.last_message_index) == ("messages", 19)
    place.work(12)
    again = place.watch()
    assert again is not None
    assert again.document.last_message_index == 19, "within the minute"
    place.now = place.now.replace(minute=2)
    place.work(1)
    later = place.watch()
    assert later is not None
    assert later.document.last_message_index == 45


def test_a_tool_heavy_turn_is_captured(place: Place) -> None:
    place.say(place.talk.user("Please read the log of the antenna."))
    result = {
        "role": "toolResult",
        "toolCallId": "c",
        "toolName": "read",
        "content": [{"type": "text", "text": "x" * 40_000}],
    }
    place.say(place.talk._entry("message", message=result))
    found = place.watch()
    assert found is not None
    assert (found.trigger, found.document.mode) == ("tools", "deep")


def test_a_reset_is_captured_with_the_hash_of_the_file(place: Place) -> None:
    """The transcript is already renamed when we look; secrets in it are in none of our files; every file is valid."""
    place.work(3)
    renamed = place.file.rename(place.sessions / f"{ID}.jsonl.reset.2026-09-21T14-30-00.000Z")
    before = {path: path.read_bytes() for path in place.sessions.iterdir()}
    found = place.watch()
    assert found is not None
    assert found.document.evidence["endedBy"] == "reset"
    assert found.document.transcript_hash == hashlib.sha256(renamed.read_bytes()).hexdigest()
    assert {path: path.read_bytes() for path in place.sessions.iterdir()} == before
    names = {str(path.relative_to(place.path / "agents/main/handoff")) for path in place.files}
    assert {"session-state.json", "resume/pending.json"} <= names
    assert any(name.startswith("snapshots/2026-09-21T15-00-00") for name in names)
    for path in place.files:
        assert SECRET not in path.read_text()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        if path.suffix == ".json" and path.parent.name != "resume":
            assert problems("handoff", orjson.loads(path.read_bytes())) == []
    for line in place.store().paths.log(ID).read_bytes().splitlines():
        assert problems("event", orjson.loads(line)) == []
    assert SECRET not in place.store().paths.log(ID).read_text()


def test_switched_off_nothing_is_written(place: Place) -> None:
    place.work(12)
    assert place.watch(handoff_enabled=False) is None
    assert place.files == []


def test_an_old_session_is_not_captured_by_a_backfill(place: Place) -> None:
    place.work(12)
    place.now = datetime(2026, 11, 1, tzinfo=UTC)
    assert place.watch() is None


def test_forget_takes_it_out_of_every_file(place: Place) -> None:
    place.work(12)
    assert place.watch() is not None
    store = place.store()
    store.forget(ID)
    assert [path for path in place.files if ID in path.read_text() or "antenna" in path.read_text()] == []


def test_the_doctor_finds_and_mends_the_files(place: Place) -> None:
    place.work(12)
    place.watch()
    files = HandoffFiles(place.store())
    assert list(files.problems()) == []
    state = place.path / "agents/main/handoff/session-state.json"
    state.write_text("{}")
    state.chmod(0o644)
    assert {why for _, why in files.problems()} == {"others may read it", "not a handoff"}
    files.rebuild()
    assert list(files.problems()) == []
    assert orjson.loads(state.read_bytes())["previousSessionId"] == ID


def test_without_an_agent_directory_there_are_no_files(tmp_path: Path) -> None:
    store = SessionStore(StatePaths.of(tmp_path))
    store.listeners.append(HandoffFiles(store))
    store.start("a", agent_id="ghost")
    store.update("a", {"next_step": "go on"})
    assert capture(store, "a", "command", now=store.clock(), expires_hours=24)
    assert not (tmp_path / "agents").exists()


def test_snapshots_are_bounded(place: Place) -> None:
    place.work(12)
    place.watch()
    for number in range(60):
        place.now = datetime(2026, 9, 21, 16 + number // 60, number % 60, tzinfo=UTC).replace(second=30)
        place.now = place.now.replace(hour=15 + number // 30, minute=2 * (number % 30))
        capture(place.store(), ID, "command", now=place.now, expires_hours=24)
    assert len(list((place.path / "agents/main/handoff/snapshots").iterdir())) == 48


@pytest.mark.parametrize("text", ["/handoff", "/handoff status", "/handoff project radio", "/resume", "/HANDOFF clear"])
def test_a_command_is_not_the_user_s_word(place: Place, text: str) -> None:
    place.work(1)
    place.say(place.talk.user(text))
    place.watch()
    state = place.store().get(ID)
    assert state.last_request is not None
    assert "antenna" in state.last_request.text


def test_a_watcher_that_stops_captures_what_is_new(place: Place) -> None:
    place.work(2)
    watcher = Watcher(place.store(), Config(search_enabled=False), timing=IMPATIENT)
    thread = threading.Thread(target=watcher.run)
    thread.start()
    try:
        wait_until(lambda: place.store().paths.log(ID).exists(), 20, "the session's log")
        wait_until(lambda: place.store().get(ID).last_request is not None, 20, "its state")
        assert kept_handoff(place.store().folded(ID)) is None
    finally:
        watcher.stop()
        thread.join(20)
    found = kept_handoff(place.store().folded(ID))
    assert found is not None
    assert found.trigger == "sigterm"


def test_a_compaction_that_is_near_is_captured_once(place: Place) -> None:
    """OpenClaw compacts at window - reserve - 4,000: of 64,000 tokens at 44,000, and we capture before that."""
    place.say(place.talk.user("Please fix the antenna."))
    answer = place.talk.assistant("Next step: measure it.")
    answer["message"]["usage"] = {"input": 30_000, "output": 10, "totalTokens": 30_000}
    place.say(answer)
    assert place.watch() is None
    for number in range(2):
        place.say(place.talk.user(f"And part {number} of the antenna?"))
        answer = place.talk.assistant(f"Next step: measure part {number}.")
        answer["message"]["usage"] = {"input": 41_000, "output": 10, "totalTokens": 41_000 + number}
        place.say(answer)
        place.now = place.now.replace(minute=5 * (number + 1))
        found = place.watch()
        assert found is not None
        assert (found.trigger, found.document.last_message_index) == ("compaction", 3), "once in a cycle"


@pytest.mark.parametrize("link", ["agents/main/handoff", "agents/main/handoff/snapshots"])
def test_a_link_leads_nowhere(place: Place, link: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing is written where a link in the place of the folder points to."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    path = place.path / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(elsewhere)
    place.work(12)
    assert place.watch() is not None
    assert list(elsewhere.iterdir()) == []
