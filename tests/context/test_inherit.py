"""A conversation that OpenClaw began goes on in a transcript of ours; not a byte of OpenClaw's changes."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.context import TranscriptStore
from jsonlstore.core.files import Disk
from tests.context.conftest import user

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

OWN = "jsonlstore:main:main"


def hashes(state: Path) -> dict[str, str]:
    """Every file of OpenClaw's, by content, time and mode."""
    return {
        str(path): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns} {path.stat().st_mode}"
        for path in sorted((state / "agents").rglob("*"))
        if path.is_file()
    }


def begin_jsonl(state: Path, make: ModuleType, talk: Any, key: str = "agent:main:main") -> None:
    folder = state / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    (folder / f"{make.LIVE}.jsonl").write_bytes(talk.bytes())
    (folder / "sessions.json").write_bytes(make.index({key: make.LIVE}))


def begin_sqlite(state: Path, make: ModuleType, talk: Any, key: str = "agent:main:main") -> None:
    database = make.create_database(state / "agents" / "main" / "agent" / "openclaw-agent.sqlite", 23)
    make.add_session(database, key, make.LIVE, talk.records)
    database.close()


BEGIN = {"jsonl": begin_jsonl, "sqlite": begin_sqlite}


@pytest.fixture(params=sorted(BEGIN), ids=["2.26", "9.6"])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def opened(state: Path, kind: str, inherit: Any = True, **more: Any) -> TranscriptStore:
    return TranscriptStore.open(state, {"store": kind, "inherit": inherit, **more}, disk=Disk(sync=False))


def test_a_new_session_begins_with_openclaws(tmp_path: Path, make: ModuleType, kind: str, era: str) -> None:
    """User and assistant messages with their ids, each once, under our key; tools and their calls stay behind."""
    talk = make.ordinary(make.LIVE, "the garden")
    BEGIN[era](tmp_path, make, talk)
    before = hashes(tmp_path)
    with opened(tmp_path, kind) as store:
        session = store.load()
        assert session.key == OWN
        assert [(one["role"], one["content"]) for one in session.messages] == [
            ("user", "Please look at the garden."),
            ("assistant", [{"type": "text", "text": "Looking."}]),
            ("assistant", [{"type": "text", "text": "There is nothing wrong with the garden."}]),
        ]
        assert hashes(tmp_path) == before
        assert store.list() == ()  # loading writes nothing
        session.add_message("user", "and the shed?")
        store.save(session)
    with opened(tmp_path, kind) as store:
        assert [message["role"] for message in store.load().messages] == ["user", "assistant", "assistant", "user"]
        records = [json.loads(line) for line in store.read()]
        assert {record["id"] for record in talk.records if record.get("message", {}).get("role") == "user"} <= {
            record["id"] for record in records
        }
        told = [record["data"] for record in records if record.get("customType") == "jsonlstore.inherited"]
        assert told == [{"from": "agent:main:main", "sessionId": make.LIVE, "records": 3}]
        assert len(records) == len({record["id"] for record in records}) == 6
    assert hashes(tmp_path) == before


def test_compaction_and_checkpoint_come_along(tmp_path: Path, make: ModuleType, kind: str, era: str) -> None:
    """What was compacted is a summary, what was kept is kept, and the checkpoint is there to be asked for."""
    talk = make.Talk(make.LIVE).user("forgotten").assistant("gone").user("kept", id="kept")
    talk.add("compaction", summary="They met.", firstKeptEntryId="kept", tokensBefore=900)
    talk.add("checkpoint", checkpoint={"summary": "At work.", "topics": ["work"]}).assistant("later")
    BEGIN[era](tmp_path, make, talk)
    with opened(tmp_path, kind) as store:
        session = store.load()
        assert [one.get("summary") or one["content"] for one in session.messages] == [
            "They met.",
            "kept",
            [{"type": "text", "text": "later"}],
        ]
        checkpoint = session.most_recent_checkpoint()
        assert checkpoint is not None
        assert checkpoint.summary == "At work."


def test_only_the_newest_stretch_is_inherited(tmp_path: Path, make: ModuleType, kind: str, era: str) -> None:
    """What stood before a reset is another conversation."""
    BEGIN[era](tmp_path, make, make.resets(make.LIVE))
    with opened(tmp_path, kind) as store:
        assert store.load().messages[0]["content"] == "third stretch"


def test_both_eras_of_one_session_count_once(tmp_path: Path, make: ModuleType, kind: str) -> None:
    """After an update of OpenClaw the same messages are in both; each comes once."""
    talk = make.ordinary(make.LIVE, "the roof")
    begin_jsonl(tmp_path, make, talk)
    begin_sqlite(tmp_path, make, talk)
    with opened(tmp_path, kind) as store:
        assert len(store.load().messages) == 3


def test_secrets_of_an_inherited_conversation_stay_where_they_are(tmp_path: Path, make: ModuleType, kind: str) -> None:
    """OpenClaw's file may hold them; ours does not."""
    begin_jsonl(tmp_path, make, make.Talk(make.LIVE).user("the password=hunter2hunter2 is new"))
    with opened(tmp_path, kind) as store:
        store.append(None, user("x"))
    kept = b"".join(path.read_bytes() for path in (tmp_path / "jsonlstore").rglob("*") if path.is_file())
    assert b"hunter2" not in kept
    assert b"is new" in kept


@pytest.mark.parametrize(
    ("inherit", "count"),
    [
        (False, 0),
        ({"enabled": False}, 0),
        ({"enabled": True}, 3),
        ({"enabled": True, "source": "agents/main/sessions", "format": "jsonl"}, 3),
        ({"enabled": True, "format": "sqlite"}, 0),
        ({"enabled": True, "source": "elsewhere"}, 0),
    ],
)
def test_inherit_is_a_bool_or_an_object(tmp_path: Path, make: ModuleType, kind: str, inherit: Any, count: int) -> None:
    """As the specification writes it in its two places."""
    begin_jsonl(tmp_path, make, make.ordinary(make.LIVE, "the wall"))
    with opened(tmp_path, kind, inherit) as store:
        assert len(store.load().messages) == count


def test_each_key_inherits_its_counterpart(tmp_path: Path, make: ModuleType, kind: str) -> None:
    """`jsonlstore:main:telegram:1` continues `agent:main:telegram:1` and nobody else's; names are configurable."""
    begin_jsonl(tmp_path, make, make.ordinary(make.LIVE, "the path"), key="agent:main:telegram:1")
    with opened(tmp_path, kind, defaultKey="agent:main:telegram:1", ownKey="goclaw:main:main") as store:
        assert (store.load().key, len(store.load().messages)) == ("goclaw:main:main", 3)
        assert len(store.load("jsonlstore:main:telegram:1").messages) == 3
        assert store.load("jsonlstore:main:telegram:2").messages == ()


def test_what_was_inherited_once_is_not_inherited_again(tmp_path: Path, make: ModuleType, kind: str) -> None:
    """OpenClaw's conversation goes on without ours, and ours without it."""
    talk = make.ordinary(make.LIVE, "the sea")
    begin_jsonl(tmp_path, make, talk)
    with opened(tmp_path, kind) as store:
        store.append(None, user("ours"))
        path = tmp_path / "agents" / "main" / "sessions" / f"{make.LIVE}.jsonl"
        path.write_bytes(talk.user("theirs").bytes())
        assert [one["content"] for one in store.load().messages][-1] == "ours"
        assert len(store.load().messages) == 4


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "message", "timestamp": "never", "message": {"role": "user", "content": "when?"}},
        {"type": "message", "message": {"role": "user", "content": 7}},
        {"type": "compaction"},
        {"type": "compaction", "summary": 5, "firstKeptEntryId": 7, "tokensBefore": "many"},
        {"type": "checkpoint", "checkpoint": "none"},
    ],
)
def test_a_record_that_makes_no_sense_does_not_keep_the_rest_away(
    tmp_path: Path, make: ModuleType, kind: str, bad: dict[str, Any]
) -> None:
    """OpenClaw's file is as it is: what can be read comes along, and the conversation can begin."""
    talk = make.Talk(make.LIVE).user("before")
    fields = {name: value for name, value in bad.items() if name != "type"}
    begin_jsonl(tmp_path, make, talk.add(bad["type"], **fields).user("after"))
    with opened(tmp_path, kind) as store:
        store.append(None, user("ours"))
        said = [message["content"] for message in store.load().messages]
    assert [text for text in said if text != "when?"] == ["before", "after", "ours"]
