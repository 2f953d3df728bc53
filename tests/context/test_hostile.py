"""What a stranger may do to a store: odd values, tampered files, vanished ones; nothing leaks or is lost unseen."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.context import TranscriptStore
from jsonlstore.context.jsonl import JsonlBackend
from jsonlstore.context.migrate import migrate_transcripts
from jsonlstore.context.records import _PLAIN
from jsonlstore.core.errors import ConfigError, PlaceRefused, RecordRefused, Unreadable, UsageError
from jsonlstore.core.files import Disk
from jsonlstore.redact import redact_value
from tests.context.conftest import KINDS, user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FAST = Disk(sync=False)
WORD = "hunter2hunter2"


@dataclass
class Block:
    """A content block as an agent's own code may have it."""

    type: str
    text: str


class Told(Enum):
    """orjson writes an enumeration's value."""

    SECRET = f"password={WORD}"


def everything_in(state: Path) -> bytes:
    return b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file())


def texts(store: TranscriptStore, key: str | None = None) -> list[Any]:
    return [message["content"] for message in store.load(key).messages]


# -- values


@pytest.mark.parametrize(
    "hiding",
    [(f"password={WORD}",), {"deep": [({"er": f"password={WORD}"},)]}, Block("text", f"password={WORD}"), Told.SECRET],
    ids=["tuple", "nested tuple", "dataclass", "enumeration"],
)
def test_what_the_encoder_takes_the_redactor_sees(
    opened: Callable[..., TranscriptStore], tmp_path: Path, hiding: Any
) -> None:
    """A secret in a tuple, a dataclass or an enumeration is hidden as one in a list is, in records and in metadata."""
    store = opened()
    session = store.load()
    session.add_message("user", [hiding])
    session.metadata["note"] = hiding
    store.save(session)
    store.append(None, {"type": "custom", "customType": "x", "data": hiding})
    store.close()
    assert WORD.encode() not in everything_in(tmp_path)
    assert len(opened().load().messages) == 1


@given(st.from_regex(_PLAIN, fullmatch=True))
def test_what_is_not_shown_to_the_redactor_holds_nothing_for_it(text: str) -> None:
    """Ids, times and types of our own shape pass unread; the redactor would leave each of them as it is."""
    for name in ("id", "parentId", "timestamp", "type"):
        assert redact_value({name: text}) == {name: text}


@pytest.mark.parametrize("value", [object(), {(1, 2): 3}, 2**70, float])
def test_metadata_nobody_can_write_is_refused_before_anything_is_written(
    transcripts: TranscriptStore, value: Any
) -> None:
    """A save is all or nothing."""
    session = transcripts.load()
    session.add_message("user", "x")
    session.metadata["bad"] = value
    with pytest.raises(RecordRefused, match="metadata must be JSON"):
        transcripts.save(session)
    assert transcripts.list() == ()
    del session.metadata["bad"]
    transcripts.save(session)
    assert texts(transcripts) == ["x"]


def test_a_refused_record_does_not_stand_in_the_way_of_the_next(transcripts: TranscriptStore) -> None:
    """It is refused where it is added, and the session goes on without it."""
    session = transcripts.load()
    session.add_message("user", "one")
    endless: list[Any] = []
    endless += [endless, endless]
    for bad in ({"type": "message"}, {"type": "custom", "customType": "x", "data": object()}, user(endless)):  # type: ignore[arg-type]  # on purpose
        with pytest.raises(RecordRefused):
            session.add(bad)
    session.add_message("user", "two")
    transcripts.save(session)
    assert texts(transcripts) == ["one", "two"]


def test_half_characters_are_replaced_everywhere(transcripts: TranscriptStore) -> None:
    """No encoder takes a lone surrogate; in a text, a key, an id and metadata it becomes a mark, the rest stays."""
    session = transcripts.load()
    session.add(user("a\ud800b", id="x\udfff"))
    session.add({"type": "custom", "customType": "c", "data": {"k\ud83d": ["v\ud83d"]}})
    session.metadata["note"] = "\ud800"
    transcripts.save(session)
    assert texts(transcripts) == ["a\ufffdb"]
    assert transcripts.load().metadata == {"note": "\ufffd"}


@pytest.mark.parametrize(
    "record_id",
    ["a/b", "a\0b", "a\nb", "x" * 5000, "jsonlstore:main:main/a", "jsonlstore:main:main/#", "#", " ", "\u202e", '"'],
)
def test_any_text_may_be_an_id(transcripts: TranscriptStore, record_id: str) -> None:
    """The next record follows it, and reading gives it back."""
    assert transcripts.append(None, user("one", id=record_id)) == record_id
    transcripts.append(None, user("two"))
    assert texts(transcripts) == ["one", "two"]
    assert transcripts.load(leaf=record_id).leaf == record_id


def test_a_record_without_an_id_does_not_cut_the_conversation(tmp_path: Path, kind: str) -> None:
    """What comes after it follows the last record that has one, on either backend."""
    files = TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST)
    files.append(None, user("one"))
    with files.list()[0].path.open("ab") as file:
        file.write(b'{"type":"custom","customType":"foreign"}\n')
    store = TranscriptStore.open(tmp_path, {"store": kind}, disk=FAST)
    if kind == "sqlite":
        migrate_transcripts(files.backend, store.backend)
    store.append(None, user("two"))
    assert texts(store) == ["one", "two"]
    store.close()


@pytest.mark.parametrize("moment", [2**52, -(2**52), "9999-12-31T23:59:59Z", 1])
def test_a_time_that_no_calendar_has_breaks_nothing(transcripts: TranscriptStore, moment: Any) -> None:
    """It is kept; ids that repeat, listing and what follows work as ever."""
    for text in ("one", "two", "three"):
        transcripts.append(None, user(text, id="same" if text != "three" else "other", timestamp=moment))
    assert len(list(transcripts.read())) == 4
    assert len(transcripts.list()) == 1


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=8))
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_the_clock_does_the_order_is_that_of_writing(
    tmp_path_factory: pytest.TempPathFactory, kind: str, jumps: list[int]
) -> None:
    """Decades back and forth between two appends: every record follows the one before."""
    from jsonlstore.core.clock import from_millis

    now = [1_771_416_000_000]
    place = tmp_path_factory.mktemp("jumps")
    with TranscriptStore.open(place, {"store": kind}, disk=FAST, clock=lambda: from_millis(now[0])) as store:
        for number, jump in enumerate(jumps):
            now[0] = 1_771_416_000_000 + jump
            store.append(None, user(str(number)))
        assert texts(store) == [str(number) for number in range(len(jumps))]
        assert store.list()[0].created_at <= store.list()[0].updated_at


@pytest.mark.parametrize("last", [0, -1])
def test_no_messages_cannot_be_asked_for(transcripts: TranscriptStore, last: int) -> None:
    """A `last` below one is a mistake, and so is keeping none."""
    transcripts.append(None, user("one"))
    with pytest.raises(UsageError, match="last must be at least 1"):
        transcripts.load(last=last)
    with pytest.raises(UsageError, match="no message to keep"):
        transcripts.load().keep_last(last)


def test_a_leaf_that_is_not_there_is_an_error(transcripts: TranscriptStore) -> None:
    """Taken for an empty conversation, it would be answered as if nothing had been said."""
    transcripts.append(None, user("one"))
    with pytest.raises(UsageError, match="no record 'nobody'"):
        transcripts.load(leaf="nobody")


# -- files


def test_a_link_among_the_session_files_is_never_written_through(tmp_path: Path) -> None:
    """It may lead to OpenClaw's transcript. The session is refused, and the others are listed and go on."""
    victim = tmp_path / "agents" / "main" / "sessions" / "x.jsonl"
    victim.parent.mkdir(parents=True)
    victim.write_text('{"type":"session","id":"x"}\n')
    store = TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST)
    store.append("k:good", user("mine"))
    place = tmp_path / "jsonlstore" / "sessions"
    (place / "evil.jsonl").symlink_to(victim)
    index = json.loads((place / "sessions.json").read_text())
    (place / "sessions.json").write_text(json.dumps({**index, "k:evil": {"sessionId": "evil"}}))
    store = TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST)
    with pytest.raises(PlaceRefused, match="no file of ours") as caught:
        store.append("k:evil", user("x"))
    assert caught.value.hint
    assert victim.read_text() == '{"type":"session","id":"x"}\n'
    assert [one.key for one in store.list()] == ["k:good"]
    store.append("k:good", user("more"))
    assert texts(store, "k:good") == ["mine", "more"]


@pytest.mark.parametrize("helper", [".locks", ".quarantine"])
def test_helper_directories_do_not_lead_elsewhere(tmp_path: Path, helper: str) -> None:
    """Lock files and cut tails do not land below `agents/` either."""
    (tmp_path / "agents" / "main").mkdir(parents=True)
    place = tmp_path / "jsonlstore" / "sessions"
    place.mkdir(parents=True)
    (place / helper).symlink_to(tmp_path / "agents" / "main")
    with pytest.raises(PlaceRefused, match="leads elsewhere"):
        TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST)
    assert list((tmp_path / "agents" / "main").iterdir()) == []


@pytest.mark.parametrize(
    "entry",
    [
        {"sessionId": "../../victim"},
        {"sessionId": "x", "sessionFile": "/somewhere/../../victim.jsonl"},
        {"sessionId": "x", "sessionFile": ".."},
        {"sessionId": "x", "sessionFile": "sessions.json"},
        {"sessionId": "a\0b"},
        {"sessionId": ""},
        {"sessionId": "x", "sessionFile": "\ud800.jsonl"},
    ],
)
def test_an_index_that_was_tampered_with_leads_nowhere_else(tmp_path: Path, entry: dict[str, Any]) -> None:
    """Only plain session files in our own directory are read, written or removed."""
    victim = tmp_path / "victim.jsonl"
    victim.write_text('{"type":"x","id":"1"}\n')
    TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST)
    index = tmp_path / "jsonlstore" / "sessions" / "sessions.json"
    index.write_text(json.dumps({"k:a": entry}))
    store = TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST)
    store.append("k:a", user("x"))
    assert texts(store, "k:a") == ["x"]
    store.backend.remove("k:a")
    assert victim.read_text() == '{"type":"x","id":"1"}\n'
    assert json.loads(index.read_text()) == {}


@pytest.mark.parametrize("index", ["{}", '{"k:a": 5}', '{"k:a": {"sessionId": 5}}', '{"k:a": {"sessionId": "gone"}}'])
def test_a_session_the_index_forgot_is_found_by_its_header(tmp_path: Path, index: str) -> None:
    """An old copy of the index, or a damaged entry: the conversation goes on, it does not begin anew beside itself."""
    TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST).append("k:a", user("one"))
    (tmp_path / "jsonlstore" / "sessions" / "sessions.json").write_text(index)
    store = TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST)
    assert texts(store, "k:a") == ["one"]
    store.append("k:a", user("two"))
    assert texts(TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST), "k:a") == ["one", "two"]
    assert len(store.list()) == 1


def test_a_file_that_was_emptied_is_no_session(tmp_path: Path) -> None:
    """What is said next gets a header of its own: pi reads no file without one."""
    store = TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST)
    store.append(None, user("one"))
    store.list()[0].path.write_bytes(b"")
    store.append(None, user("two"))
    assert [json.loads(line)["type"] for line in store.read()] == ["session", "message"]


@pytest.mark.parametrize("half", [b'{"type":"mess', b'{"type":"message"', b"\xff\xfe", b"\0" * 4096, b"}"])
def test_a_half_written_last_line_is_passed_over_and_mended(tmp_path: Path, half: bytes) -> None:
    """Reading does not see it, the next append cuts it into quarantine, and nothing else changes."""
    store = TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST)
    store.append(None, user("one"))
    path = store.list()[0].path
    with path.open("ab") as file:
        file.write(half)
    assert texts(store) == ["one"]
    store.append(None, user("two"))
    assert texts(store) == ["one", "two"]
    assert [one.read_bytes() for one in (path.parent / ".quarantine").iterdir()] == [half]


def test_a_database_that_was_removed_is_not_written_to(tmp_path: Path) -> None:
    """SQLite would go on in the removed file, and what it acknowledged would be gone with it."""
    store = TranscriptStore.open(tmp_path, {"store": "sqlite"}, disk=FAST)
    store.append(None, user("one"))
    shutil.rmtree(tmp_path / "jsonlstore")
    store.append(None, user("two"))
    store.close()
    with TranscriptStore.open(tmp_path, {"store": "sqlite"}, disk=FAST) as again:
        assert texts(again) == ["two"]


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    """It is refused with what to do, and not a byte of it changes."""
    with TranscriptStore.open(tmp_path, {"store": "sqlite"}, disk=FAST) as store:
        store.append(None, user("one"))
        path = store.backend.path
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(Unreadable, match="newer jsonlstore") as caught:
        TranscriptStore.open(tmp_path, {"store": "sqlite"}, disk=FAST)
    assert caught.value.hint
    assert path.read_bytes() == before


def test_closing_twice_and_going_on_works(transcripts: TranscriptStore) -> None:
    """`close` lets go; using the store again opens it again, a reading under way included."""
    transcripts.append(None, user("one"))
    transcripts.append(None, user("two"))
    reading = transcripts.read()
    next(reading)
    transcripts.close()
    transcripts.close()
    assert len(list(reading)) == 2
    transcripts.append(None, user("three"))
    assert texts(transcripts) == ["one", "two", "three"]


# -- places and settings


@pytest.mark.parametrize("path", ["x" * 300, "y/" * 3000])
def test_a_place_the_system_cannot_have_is_refused(tmp_path: Path, kind: str, path: str) -> None:
    """With a reason, whatever the system's own error is."""
    with pytest.raises((PlaceRefused, ConfigError)):
        TranscriptStore.open(tmp_path, {"store": kind, "path": path})


def test_a_file_is_no_directory_of_session_files(tmp_path: Path) -> None:
    """And the other way round."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(PlaceRefused, match="not a directory"):
        TranscriptStore.open(tmp_path, {"store": "jsonl", "path": "file"})
    (tmp_path / "folder").mkdir()
    with pytest.raises(PlaceRefused, match="not a database"):
        TranscriptStore.open(tmp_path, {"store": "sqlite", "path": "folder"})


@pytest.mark.parametrize("settings", [[], 5, {"session": None}, {"session": 5}])
def test_settings_are_an_object_or_a_file(tmp_path: Path, settings: Any) -> None:
    """Anything else is named."""
    with pytest.raises(ConfigError, match="object"):
        TranscriptStore.open(tmp_path, settings)


# -- migrating while somebody writes


def test_what_is_said_during_a_migration_is_carried_by_the_next(tmp_path: Path) -> None:
    """The source may grow meanwhile: nothing is lost, doubled or out of order."""
    files = TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST)
    database = TranscriptStore.open(tmp_path, {"store": "sqlite"}, disk=FAST)
    for number in range(20):
        files.append(f"k:{number % 2}", user(str(number)))

    def meanwhile(done: int, _total: int) -> None:
        files.append("k:0", user(f"during {done}"))

    migrate_transcripts(files.backend, database.backend, progress=meanwhile)
    assert not migrate_transcripts(files.backend, database.backend).conflicts
    for key in ("k:0", "k:1"):
        assert list(database.read(key)) == list(files.read(key))
    database.close()


def test_a_migration_stops_where_the_target_is_written_to(tmp_path: Path) -> None:
    """An agent that goes on in the target, or a second migration: two stories are never mixed."""
    files = TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST)
    database = TranscriptStore.open(tmp_path, {"store": "sqlite"}, disk=FAST)
    session = files.load()
    for number in range(2500):
        session.add_message("user", str(number))
    files.save(session)

    class Slow(JsonlBackend):
        """While its lines are read, somebody talks to the target."""

        def lines(self, key: str) -> Iterator[bytes]:
            for number, line in enumerate(super().lines(key)):
                if number == 1500:
                    database.append(None, user("from elsewhere"))
                yield line

    told = migrate_transcripts(Slow(files.backend.path, disk=FAST), database.backend)
    assert told.conflicts == ["jsonlstore:main:main has another history in the target"]
    kept = texts(database)
    assert kept == [str(number) for number in range(len(kept) - 1)] + ["from elsewhere"]
    database.close()
