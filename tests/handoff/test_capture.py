"""From a transcript on disk to the files of a handoff, through the watcher; nothing else of OpenClaw is touched."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.core.config import Config
from jsonlstore.handoff import kept_handoff
from jsonlstore.transcripts.source import BegunHash
from jsonlstore.watch.loop import Watcher
from tests.handoff.place import ID, KEY, OTHER, Place
from tests.home import Home
from tests.openclaw.lab import wait_until
from tests.watch.conftest import IMPATIENT, Database, OpenClaw, Talk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


TRIGGERS = {"capture": "command", "stop": "sigterm", "compaction": "compaction"}


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


@pytest.mark.parametrize(("calls", "size", "heavy"), [(1, 40_000, True), (11, 10, True), (10, 10, False)])
def test_a_tool_heavy_turn_is_captured(place: Place, calls: int, size: int, heavy: bool) -> None:
    """By its results, 32 KB of them, or by more than ten calls."""
    place.tools(calls, size)
    found = place.watch(handoff_every_messages=1000)
    assert (found is not None) == heavy
    if found is not None:
        assert (found.trigger, found.document.mode) == ("tools", "deep")


def test_the_limits_of_a_tool_heavy_turn_can_be_set(place: Place) -> None:
    place.tools(3)
    assert place.watch(handoff_every_messages=1000, handoff_tool_calls=3) is None
    place.tools(4)
    assert place.watch(handoff_every_messages=1000, handoff_tool_calls=3) is not None


@pytest.mark.parametrize("suffix", ["reset", "deleted"])
def test_a_reset_is_captured_though_the_file_is_renamed(place: Place, suffix: str) -> None:
    """The transcript is already renamed when we look; the hash is that of its bytes; not a byte of it changes."""
    place.work(3)
    renamed = place.file.rename(place.sessions / f"{ID}.jsonl.{suffix}.2026-09-21T14-30-00.000Z")
    before = {path: path.read_bytes() for path in place.sessions.iterdir()}
    found = place.watch()
    assert found is not None
    assert found.document.evidence["endedBy"] == {"reset": "reset", "deleted": "delete"}[suffix]
    assert found.document.transcript_hash == hashlib.sha256(renamed.read_bytes()).hexdigest()
    assert found.document.last_message_index == 5
    assert {path: path.read_bytes() for path in place.sessions.iterdir()} == before


@pytest.mark.parametrize("reason", ["new", "reset", "idle", "daily"])
def test_a_reset_record_in_the_database_ends_and_captures(tmp_path: Path, make: Any, reason: str) -> None:
    """Since 2026.9 a session keeps its id: the record is already there, and what follows it is another session's."""
    place = Place(tmp_path)
    (place.sessions / "sessions.json").unlink()
    talk = Talk(ID)
    before = [talk.header, talk.user("Please fix the antenna."), talk.assistant("Next step: measure the antenna.")]
    after = [talk.reset(reason), talk.user("Now the boat."), talk.assistant("Next step: paint the boat.")]
    database = Database(OpenClaw(tmp_path), make)
    database.add(ID, [*before, *after])
    found = place.watch()
    assert found is not None
    assert (found.trigger, found.document.last_message_index) == (reason, 1)
    assert "antenna" in found.document.summary.next_step
    assert "boat" not in json.dumps(found.document.to_dict())
    texts = database.texts(ID)
    assert found.document.transcript_hash == hashlib.sha256(b"\n".join(texts)).hexdigest()


def test_a_rollover_and_a_crash_are_captured(place: Place) -> None:
    """An idle or daily rollover leaves the old file where it is, and the index names another session."""
    place.work(2)
    place.watch()
    assert place.kept() is None
    talk = Talk(OTHER)
    talk.number = 3000
    records = [talk.header, talk.user("Hello again."), talk.assistant("Hello.")]
    (place.sessions / f"{OTHER}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    place.refer(OTHER)
    found = place.watch()
    assert found is not None
    assert found.trigger in ("idle", "daily", "rollover")
    assert "antenna" in found.document.evidence["lastRequest"]["text"]


def test_a_session_that_died_is_captured_when_that_is_found_out(tmp_path: Path) -> None:
    """Every one of them, not only the one that the next session is offered."""
    home = Home(tmp_path)
    for number in range(2):
        key = f"agent:main:telegram:dm:{number}"
        home.store.start(f"s{number}", channel="x", agent_id="main", session_key=key)
        home.store.update(f"s{number}", {"next_step": f"measure part {number}"})
    home.later(hours=2)
    home.manager(stale_after_minutes=60).detect_and_recover_crashed()
    for number in range(2):
        found = kept_handoff(home.store.folded(f"s{number}"))
        assert found is not None
        assert (found.trigger, found.document.evidence["endedBy"]) == ("crash", "crash")


def test_switched_off_nothing_is_written(place: Place) -> None:
    place.work(12)
    assert place.watch(handoff_enabled=False) is None
    assert place.files == []


def test_an_old_session_is_not_captured_by_a_backfill(place: Place) -> None:
    place.work(12)
    place.now = datetime(2026, 11, 1, tzinfo=UTC)
    assert place.watch() is None


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


def test_a_watcher_process_that_is_told_to_stop_captures_what_is_new(place: Place) -> None:
    place.now = datetime.now(UTC)
    stamp = place.now.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    place.work(2)
    place.lines = [{**one, "timestamp": stamp} for one in place.lines]
    place.say()
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(place.path), "-q", "watch"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as watcher:
        try:
            wait_until(lambda: place.store().paths.log(ID).exists(), 60, "the session's log")
            wait_until(lambda: place.store().get(ID).last_request is not None, 60, "its state")
        finally:
            watcher.send_signal(signal.SIGTERM)
            watcher.wait(60)
    found = place.kept()
    assert found is not None
    assert (found.trigger, found.document.last_message_index) == ("sigterm", 3)
    assert (place.folder / "session-state.json").exists()


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


def test_a_command_that_reached_the_model_as_text_marks_the_session(place: Place) -> None:
    """`openclaw agent --message "/handoff"` goes past every plugin: the transcript is where it is heard."""
    place.work(1)
    assert place.watch() is None
    place.say(place.talk.user("/handoff"), place.talk.assistant("I do not know that command."))
    found = place.watch()
    assert found is not None
    assert (found.trigger, found.marked) == ("command", True)
    captured = found.captured_at
    place.now = place.now.replace(minute=5)
    place.say(place.talk.assistant("Anything else?"))
    found = place.watch()
    assert found is not None
    assert found.captured_at == captured, "obeyed once"
    place.talk.number = 3600 + 299  # as late as the clock says
    place.say(place.talk.user("/handoff clear"), place.talk.assistant("Nor that one."))
    found = place.watch()
    assert found is not None
    assert found.cleared_at is not None
    place.file.rename(place.sessions / f"{ID}.jsonl.reset.2026-09-21T14-30-00.000Z")
    found = place.watch()
    assert found is not None
    assert found.cleared_at is not None, "nothing was said since"


def test_a_text_asking_after_the_status_marks_nothing(place: Place) -> None:
    place.work(1)
    place.say(place.talk.user("/handoff status"), place.talk.user("/handoff project radio"))
    assert place.watch() is None


@pytest.mark.parametrize("action", ["capture", "stop", "compaction"])
def test_what_a_command_or_a_stopping_gateway_captures_is_complete(place: Place, action: str) -> None:
    """The number of the last message, those of the notes, and the hash, though nobody follows the transcript."""
    place.work(2)
    place.say(place.talk.user("Decision: we use hamlib, not raw serial. Please build it into the antenna code."))
    place.now = place.now.replace(minute=1)
    home = Home(place.path, place.now)
    document = {"session_id": ID, "session_key": KEY, "agent_id": "main", "action": action, "catch_up": True}
    home.hook("handoff", **document)
    found = place.kept()
    assert found is not None
    assert (found.trigger, found.document.last_message_index) == (TRIGGERS[action], 4)
    assert found.document.transcript_hash == hashlib.sha256(place.file.read_bytes()).hexdigest()


def test_before_a_compaction_at_most_one_capture_a_minute(place: Place) -> None:
    place.work(2)
    home = Home(place.path, place.now)
    document = {"session_id": ID, "session_key": KEY, "agent_id": "main", "catch_up": True}
    home.hook("handoff", **document, action="capture")
    place.work(1)
    home.later(seconds=30)
    assert home.hook("handoff", **document, action="compaction")["text"] == "Captured a moment ago."
    home.later(seconds=40)
    home.hook("handoff", **document, action="compaction")
    found = place.kept()
    assert found is not None
    assert (found.trigger, found.document.last_message_index) == ("compaction", 5)


def test_an_end_that_a_runtime_tells_is_complete(place: Place) -> None:
    place.work(2)
    place.file.rename(place.sessions / f"{ID}.jsonl.reset.2026-09-21T14-30-00.000Z")
    home = Home(place.path, place.now)
    home.hook("session-end", session_id=ID, session_key=KEY, agent_id="main", reason="reset", catch_up=True)
    found = place.kept()
    assert found is not None
    assert (found.document.last_message_index, found.document.evidence["endedBy"]) == (3, "reset")
    assert len(found.document.transcript_hash) == 64


def test_what_is_captured_at_a_start_is_completed_after_the_first_turn(place: Place) -> None:
    """A start has no time to read a transcript; the file for people has its facts a turn later."""
    place.work(2)
    place.watch()
    home = Home(place.path, place.now)
    known = {"session_key": KEY, "agent_id": "main", "channel": "webchat"}
    assert home.hook("session-start", session_id=OTHER, **known, pid=os.getpid())["handoff"]["claimed"] is True
    found = place.kept()
    assert found is not None
    assert found.document.last_message_index == -1
    home.later(seconds=20)
    home.hook("turn-end", session_id=OTHER, **known, catch_up=True)
    found = place.kept()
    assert found is not None
    assert (found.document.last_message_index, found.claimed_by, found.answered) == (3, OTHER, True)
    assert found.document.transcript_hash == hashlib.sha256(place.file.read_bytes()).hexdigest()
    (snapshot,) = (place.folder / "snapshots").iterdir()
    assert json.loads(snapshot.read_text())["lastMessageIndex"] == 3, "so has the snapshot"


@pytest.mark.parametrize("era", ["files", "database"])
def test_the_hash_goes_on_where_it_stopped(
    tmp_path: Path, make: Any, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A watcher that stays hashes only what is new, and gets what a fresh look gets."""
    place = Place(tmp_path)
    talk, database = place.talk, None
    if era == "database":
        (place.sessions / "sessions.json").unlink()
        database = Database(OpenClaw(tmp_path), make)
        database.add(ID, [talk.header])
    hashed: list[int] = []
    go_on = BegunHash.go_on
    monkeypatch.setattr(BegunHash, "go_on", lambda self, pieces, at: go_on(self, note(pieces), at))

    def note(pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            hashed.append(len(piece))
            yield piece

    watcher = Watcher(place.store(), Config(search_enabled=False), timing=IMPATIENT)
    for number in range(3):
        records = [talk.user(f"Please fix part {number}.{at} of the antenna.") for at in range(20)]
        if database is None:
            place.say(*records)
            whole = place.file.read_bytes()
        else:
            database.append(ID, 100 * (number + 1), *records)
            whole = b"\n".join(database.texts(ID))
        hashed.clear()
        watcher.rescan()
        found = place.kept()
        assert found is not None
        assert found.document.transcript_hash == hashlib.sha256(whole).hexdigest()
        assert number == 0 or sum(hashed) < 0.6 * len(whole)
        place.now += timedelta(minutes=2)
