"""The files of `agents/<agentId>/handoff/`: as the specification lays them out, valid, private, bounded."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from jsonlstore.bridges.openclaw import HandoffFiles
from jsonlstore.core.paths import StatePaths
from jsonlstore.handoff import capture, claim, clear, offer
from jsonlstore.redact.rules import shapes
from jsonlstore.store.schema import problems
from jsonlstore.store.store import SessionStore
from tests.handoff.place import ID, KEY, Place, check_files
from tests.redact.report_secrets import load_maker

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def noted(number: int, at: datetime, **more: Any) -> dict[str, Any]:
    when = at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return {"id": f"n{number}", "type": "decision", "content": f"use part {number}", "confidence": 0.9,
            "timestamp": when, **more}  # fmt: skip


def begin(place: Place, session_id: str = ID, **fields: Any) -> SessionStore:
    store = place.store()
    store.start(session_id, agent_id="main", session_key=KEY, active_projects=["radio"], by="watcher")
    store.update(session_id, {"next_step": "measure it", **fields}, by="watcher")
    return store


def hand_over(place: Place, store: SessionStore, session_id: str = ID) -> None:
    assert capture(store, session_id, "command", now=place.now, expires_hours=24)


def test_every_file_written_is_valid_small_private_and_where_it_belongs(place: Place) -> None:
    """From the first capture over an offer to the clearing: after each step every file fits its schema."""
    store = begin(place, notes=[noted(1, place.now), noted(2, place.now - timedelta(days=1))])
    hand_over(place, store)
    assert check_files(place.folder) == [
        "patterns/2026-09-20.jsonl", "patterns/2026-09-21.jsonl", "resume/pending.json", "session-state.json",
        "snapshots/2026-09-21T15-00-00.json",
    ]  # fmt: skip
    state = orjson.loads((place.folder / "session-state.json").read_bytes())
    assert (state["resumeAvailable"], state["resumeOfferedAt"]) == (True, None)
    assert [one["previousSessionId"] for one in pending(place)] == [ID]
    store.start("b", agent_id="main", session_key=KEY)
    claim(store, ID, "b", now=place.now, expires_hours=24)
    offer(store, ID, "b")
    check_files(place.folder)
    state = orjson.loads((place.folder / "session-state.json").read_bytes())
    assert (state["resumeAvailable"], state["claimedBy"]) == (False, "b")
    assert state["resumeOfferedAt"].startswith("2026-09-21T15:00:00")
    assert pending(place) == []
    clear(store, ID)
    assert check_files(place.folder) == [
        "patterns/2026-09-20.jsonl", "patterns/2026-09-21.jsonl", "resume/pending.json",
    ]  # fmt: skip
    for line in store.paths.log(ID).read_bytes().splitlines():
        assert problems("event", orjson.loads(line)) == []


def pending(place: Place) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = orjson.loads((place.folder / "resume/pending.json").read_bytes())["pending"]
    return found


def test_a_document_full_to_the_brim_is_within_eight_kilobytes_on_disk(place: Place) -> None:
    fields = {
        "notes": [noted(number, place.now, content="ш" * 100) for number in range(60)],
        "pending_tasks": [{"task_id": f"t{n}", "title": "ж" * 300} for n in range(20)],
        "last_request": {"text": "щ" * 500, "at": "", "fate": "unanswered"},
        "last_answer": "ы" * 500,
        "files": [{"path": f"src/{'ю' * 100}{n}.py"} for n in range(20)],
        "commits": [{"subject": "я" * 200} for n in range(20)],
    }
    store = begin(place, **fields)
    hand_over(place, store)
    store.start("b" * 60, agent_id="main", session_key=KEY)
    claim(store, ID, "b" * 60, now=place.now, expires_hours=24)
    check_files(place.folder)


def test_each_session_has_one_snapshot_a_minute_and_none_overwrites_another_s(place: Place) -> None:
    stores = {name: begin(place, name) for name in ("a", "b")}
    for second in (0, 0, 20, 40):
        place.now = place.now.replace(second=second)
        for name, store in stores.items():
            hand_over(place, store, name)
    kept = [orjson.loads(path.read_bytes()) for path in (place.folder / "snapshots").iterdir()]
    assert sorted(one["previousSessionId"] for one in kept) == ["a", "b"]
    place.now += timedelta(minutes=2)
    for name, store in stores.items():
        hand_over(place, store, name)
    assert len(list((place.folder / "snapshots").iterdir())) == 4
    HandoffFiles(stores["a"]).rebuild()
    assert len(list((place.folder / "snapshots").iterdir())) == 4, "writing them again adds none"


def test_patterns_are_kept_once_each_for_thirty_days(place: Place) -> None:
    store = begin(place, notes=[noted(1, place.now), noted(2, place.now)])
    hand_over(place, store)
    hand_over(place, store)
    file = place.folder / "patterns/2026-09-21.jsonl"
    lines = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    assert [(one["id"], one["sessionId"], one["project"]) for one in lines] == [
        ("n1", ID, "radio"),
        ("n2", ID, "radio"),
    ]
    place.now += timedelta(days=31)
    store = begin(place, "later", notes=[noted(3, place.now), noted(4, place.now - timedelta(days=40))])
    hand_over(place, store, "later")
    assert [path.name for path in (place.folder / "patterns").iterdir()] == ["2026-10-22.jsonl"]


def test_session_state_shows_the_agent_s_newest_handoff(place: Place) -> None:
    store = begin(place, "a")
    hand_over(place, store, "a")
    place.now += timedelta(hours=1)
    later = begin(place, "b")
    hand_over(place, later, "b")
    hand_over(place, store, "a")
    shown = orjson.loads((place.folder / "session-state.json").read_bytes())
    assert shown["previousSessionId"] == "b"
    assert [one["previousSessionId"] for one in pending(place)] == ["b", "a"]


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


def test_secrets_of_every_kind_in_the_last_fifty_messages_are_in_none_of_the_files(place: Place) -> None:
    """Said by the user, by the agent, in a command that fails and in a result: none is in a file or in our log."""
    made = load_maker().corpus(3, [shape.example for shape in shapes()])
    cases = [case for case in made if case.secret and len(case.secret) > 5]  # a shorter one stands in any time or id
    planted = random.Random(18).sample(cases, 50)
    for number, case in enumerate(planted):
        if number % 3 == 0:
            place.say(place.talk.user(f"We decided to use this for the antenna: {case.text}\nTODO: try {case.text}"))
        elif number % 3 == 1:
            place.say(place.talk.assistant(f"The antenna is blocked: {case.text}\nNext step: send {case.text}"))
        else:
            call = {"type": "toolCall", "id": f"c{number}", "name": "exec", "arguments": {"command": case.text}}
            place.say(place.talk._entry("message", message={"role": "assistant", "content": [call]}))
            content = [{"type": "text", "text": f"error: {case.text}\nexit code 1"}]
            result = {"role": "toolResult", "toolCallId": f"c{number}", "toolName": "exec", "content": content,
                      "isError": True}  # fmt: skip
            place.say(place.talk._entry("message", message=result))
    place.say(place.talk.user("Please go on with the antenna."))
    assert place.watch() is not None
    names = check_files(place.folder)
    assert len(names) >= 3
    ours = [*place.files, *(path for path in place.store().paths.states.iterdir() if path.is_file())]
    told = b"\n".join(path.read_bytes() for path in ours)
    said = (
        told + json.dumps(orjson.loads((place.folder / "session-state.json").read_bytes()), ensure_ascii=False).encode()
    )
    assert [case.secret for case in planted if case.secret and case.secret.encode() in said] == []


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
