"""An agent's transcripts: what was saved is what is loaded, on either backend, and nothing of it is a secret."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jsonlstore
from jsonlstore.context import TranscriptStore
from jsonlstore.context.jsonl import read_backward, read_forward
from jsonlstore.core.errors import PlaceRefused, RecordRefused, UsageError
from jsonlstore.core.files import Disk
from jsonlstore.store.schema import problems
from jsonlstore.transcripts.context import build_context
from jsonlstore.transcripts.records import parse_entry
from tests.context.conftest import KINDS, assistant, user

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import FakeClock

KEY = "jsonlstore:main:main"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def records(store: TranscriptStore, key: str | None = None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in store.read(key)]


def test_the_door_is_lazy_and_leads_to_the_same_names() -> None:
    """`from jsonlstore import TranscriptStore` and the room's own door give one class."""
    assert jsonlstore.TranscriptStore is TranscriptStore
    with pytest.raises(AttributeError):
        jsonlstore.context.Nothing  # noqa: B018


def test_what_is_saved_is_what_is_loaded(opened: Callable[..., TranscriptStore], clock: FakeClock) -> None:
    """Messages, tokens, model, metadata and checkpoint come back in another process's store."""
    store = opened()
    session = store.load()
    assert (session.is_new, session.key, session.messages) == (True, KEY, ())
    session.add_message("user", "What is in the attic?")
    clock.advance(seconds=2)
    session.add(assistant("Boxes.", used=1200))
    session.add_checkpoint("Looking at the attic.", topics=["attic"], keyDecisions=["keep the boxes"])
    session.metadata["flushActioned"] = True
    store.save(session)
    again = opened().load()
    assert again.messages == session.messages
    assert (again.session_id, again.is_new, again.unsaved) == (session.session_id, False, ())
    assert (again.total_tokens, again.metadata) == (1200, {"flushActioned": True})
    assert again.model == {"provider": "mock", "modelId": "mock-1"}
    checkpoint = again.most_recent_checkpoint()
    assert checkpoint is not None
    assert (checkpoint.summary, checkpoint.tokens, checkpoint.topics) == ("Looking at the attic.", 1200, ("attic",))
    assert checkpoint.key_decisions == ("keep the boxes",)


def test_every_record_has_the_documented_envelope(transcripts: TranscriptStore) -> None:
    """Header version 3 first; ids are `{ms}_{hex}`; each record follows the one before."""
    for text in ("one", "two", "three"):
        transcripts.append(None, user(text))
    header, *rest = records(transcripts)
    assert list(header) == ["type", "version", "id", "timestamp", "cwd", "sessionKey"]
    assert (header["type"], header["version"], header["sessionKey"]) == ("session", 3, KEY)
    assert all(re.fullmatch(r"1771416000000_[0-9a-f]{8}", record["id"]) for record in rest)
    assert all(list(record)[:4] == ["type", "id", "parentId", "timestamp"] for record in rest)
    assert [record["parentId"] for record in rest] == [None, rest[0]["id"], rest[1]["id"]]


def test_every_documented_type_is_kept(transcripts: TranscriptStore) -> None:
    """All record types of the specification, and one nobody knows, come back as they were given."""
    given_records: list[dict[str, Any]] = [
        user("hello", id="u1"),
        {"type": "model_change", "provider": "mock", "modelId": "mock-2"},
        {"type": "thinking_level_change", "thinkingLevel": "high"},
        {"type": "custom", "customType": "mine", "data": {"n": [1, None, "x"]}},
        {"type": "custom_message", "customType": "mine", "content": "seen", "display": True},
        {"type": "label", "targetId": "u1", "label": "start"},
        {"type": "checkpoint", "checkpoint": {"summary": "so far", "tokensAtCheckpoint": 5}},
        {"type": "compaction", "summary": "s", "firstKeptEntryId": "u1", "tokensBefore": 9, "fromCheckpoint": True},
        {"type": "weather_report", "sky": "blue"},
    ]
    for record in given_records:
        transcripts.append(None, record)
    for record, written in zip(given_records, records(transcripts)[1:], strict=True):
        assert record.items() <= written.items()
    session = transcripts.load()
    assert session.model == {"provider": "mock", "modelId": "mock-2"}
    assert session.thinking_level == "high"
    assert session.messages[0]["role"] == "compactionSummary"
    assert transcripts.list()[0].compaction_count == 1


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({}, "with a type"),
        ({"type": "session", "id": "x"}, "header is the store's"),
        ({"type": "message"}, "message.message must be an object"),
        ({"type": "message", "message": {"content": "x"}}, "role must be a text"),
        ({"type": "message", "message": {"role": "user"}}, "content of a user message"),
        ({"type": "compaction", "summary": "x", "firstKeptEntryId": "y", "tokensBefore": True}, "tokensBefore"),
        ({"type": "checkpoint", "checkpoint": {}}, "summary must be a text"),
        (user("x", timestamp="yesterday"), "timestamp must be a time"),
        (user("x", id=7), "must be texts"),
        ({"type": "custom", "customType": "x", "data": {1, 2}}, "must be JSON"),
        ({"type": "custom", "customType": "x", "data": "x" * (33 << 20)}, "longer than any reader"),
    ],
)
def test_a_record_nobody_could_read_back_is_refused(
    transcripts: TranscriptStore, record: dict[str, Any], problem: str
) -> None:
    """pi takes certain fields for granted; what lacks them never reaches the disk."""
    with pytest.raises(RecordRefused, match=problem):
        transcripts.append(None, record)
    assert transcripts.list() == ()


@pytest.mark.parametrize("key", ["", "a\nb", "x" * 600, f"jsonlstore:main:{SECRET}", 7])
def test_a_key_that_cannot_name_a_session_is_refused(transcripts: TranscriptStore, key: Any) -> None:
    """Keys are listed and stored as they are, so one with a secret in it is refused instead of altered."""
    if key == "":
        assert transcripts.load("").key == KEY  # the default
        return
    with pytest.raises(UsageError) as caught:
        transcripts.append(key, user("x"))
    assert SECRET not in str(caught.value)


def test_no_secret_reaches_the_disk(opened: Callable[..., TranscriptStore], tmp_path: Path) -> None:
    """Not from a message, a tool call, a field nobody knows, metadata, or a summary; the words around it stay."""
    store = opened()
    session = store.load()
    session.add_message("user", f"my token is {SECRET}, use it")
    call = {"type": "toolCall", "id": "c", "name": "exec", "arguments": {"command": f"curl -H 'X: {SECRET}'"}}
    session.add(assistant("ok", content=[call]))
    session.add({"type": "novelty", "deep": [{"er": {"password": "correct horse battery"}}]})
    session.add_checkpoint(f"The token is {SECRET}.")
    session.metadata["note"] = SECRET
    store.save(session)
    store.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert SECRET.encode() not in kept
    assert b"correct horse" not in kept
    assert "my token is [REDACTED], use it" in opened().load().messages[0]["content"]
    assert SECRET in session.messages[0]["content"]  # in this process the conversation is as it was


def test_files_are_private(opened: Callable[..., TranscriptStore], tmp_path: Path) -> None:
    """Directories 0700, files 0600, the database's helpers included."""
    os.umask(0o022)
    store = opened()
    store.append(None, user("x"))
    for path in (tmp_path / "state").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_sessions_are_listed_newest_first(transcripts: TranscriptStore, clock: FakeClock) -> None:
    """With what they cost, and each under its own id."""
    for name in ("a", "b"):
        clock.advance(days=365)
        session = transcripts.load(f"jsonlstore:main:{name}")
        session.add(assistant("x", used=500))
        transcripts.save(session)
    listed = transcripts.list()
    assert {one.key for one in listed} == {"jsonlstore:main:a", "jsonlstore:main:b"}
    assert [(one.total_tokens, one.max_tokens) for one in listed] == [(500, 200_000)] * 2
    assert len({one.session_id for one in listed}) == 2


def test_loading_from_another_record_branches_there(transcripts: TranscriptStore) -> None:
    """`leaf` looks from an earlier record, what is added follows it, and the newer branch is the active one."""
    first = transcripts.append(None, user("one"))
    transcripts.append(None, user("two"))
    session = transcripts.load(leaf=first)
    assert [message["content"] for message in session.messages] == ["one"]
    session.add_message("user", "other two")
    transcripts.save(session)
    assert [message["content"] for message in transcripts.load().messages] == ["one", "other two"]


def test_two_processes_beginning_one_session_lose_nothing(opened: Callable[..., TranscriptStore]) -> None:
    """Both loaded it as new; the one that saves second continues the first one's."""
    stores = opened(), opened()
    sessions = [store.load() for store in stores]
    for number, (store, session) in enumerate(zip(stores, sessions, strict=True)):
        session.add_message("user", f"hello {number}")
        session.add_message("user", f"and {number}")
        store.save(session)
    texts = [message["content"] for message in opened().load().messages]
    assert texts == ["hello 0", "and 0", "hello 1", "and 1"]
    assert sum(record["type"] == "session" for record in records(stores[0])) == 1


def test_the_window_decides_when_to_compact(opened: Callable[..., TranscriptStore]) -> None:
    """Used >= window - reserve; after the compaction there is room again."""
    store = opened(maxTokens=10_000, compaction={"reserveTokens": 1000})
    session = store.load()
    session.add_message("user", "long story")
    session.add(assistant("indeed", used=8_999))
    assert not session.should_compact()
    assert session.context_line == "[Context: 9k/10k tokens (90%)]"
    session.add_message("user", "x")
    assert (session.should_compact(), session.tokens.estimated) == (True, 1)
    assert session.estimate("hello world") > session.total_tokens
    session.compact("They told a story.", str(session.leaf))
    assert not session.should_compact()
    assert [message["role"] for message in session.messages] == ["compactionSummary", "user"]


def test_a_message_id_that_another_session_has_is_kept_apart(tmp_path: Path, clock: FakeClock) -> None:
    """In the table it is `key/id`, its children follow it there, and reading gives the plain id back."""
    store = TranscriptStore.open(tmp_path, {"store": "sqlite"}, clock=clock)
    for key in ("k:a", "k:b"):
        store.append(key, user("same", id="m1"))
        store.append(key, user("next", id="m2"))
    store.append("k:b", {"type": "custom", "customType": "x", "id": "m1"})
    with closing(sqlite3.connect(store.backend.path)) as database:
        rows = database.execute("SELECT id, parent_id FROM messages WHERE type != 'session' ORDER BY rowid").fetchall()
        plan = database.execute(
            "EXPLAIN QUERY PLAN SELECT data FROM messages WHERE session_key = 'k' AND (timestamp, rowid) < (5, 6) "
            "ORDER BY timestamp DESC, rowid DESC LIMIT 5"
        ).fetchall()
        mode = database.execute("PRAGMA journal_mode").fetchone()
    assert rows[:4] == [("m1", None), ("m2", "m1"), ("k:b/m1", None), ("k:b/m2", "k:b/m1")]
    assert rows[4][0].startswith("k:b/m1#")
    assert [record["id"] for record in records(store, "k:b")[1:]] == ["m1", "m2", "m1"]
    assert "idx_messages_session" in str(plan)
    assert "TEMP B-TREE" not in str(plan)
    assert mode == ("wal",)
    store.close()


def test_the_order_is_that_of_writing_whatever_the_clock_does(transcripts: TranscriptStore, clock: FakeClock) -> None:
    """A clock that goes back, or a record with a time of its own, changes nothing in the order."""
    for hours in (5, -9, 3, -1):
        clock.advance(hours=hours)
        transcripts.append(None, user(str(hours)))
    transcripts.append(None, user("old", timestamp="1999-01-01T00:00:00.000Z"))
    assert [message["content"] for message in transcripts.load().messages] == ["5", "-9", "3", "-1", "old"]


def test_a_lost_or_damaged_index_is_made_again(tmp_path: Path, clock: FakeClock) -> None:
    """`sessions.json` is a convenience: keys are in the headers; a damaged one is kept aside."""
    settings = {"store": "jsonl"}
    store = TranscriptStore.open(tmp_path, settings, clock=clock)
    store.append("k:a", user("one"))
    store.append("k:b", user("two"))
    index = tmp_path / "jsonlstore" / "sessions" / "sessions.json"
    for damage in (b'{"k:a": {"sess', b"", None):
        index.unlink() if damage is None else index.write_bytes(damage)
        again = TranscriptStore.open(tmp_path, settings, clock=clock)
        assert {one.key for one in again.list()} == {"k:a", "k:b"}
        again.append("k:a", user("three"))
        session = again.load("k:b")
        session.metadata["x"] = 1
        again.save(session)
        assert set(json.loads(index.read_bytes())) == {"k:a", "k:b"}
    assert len(again.load("k:a").messages) == 4
    assert [path.read_bytes() for path in (index.parent / ".quarantine").iterdir()] == [b'{"k:a": {"sess']


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "path",
    [
        "agents/main/sessions",
        "agents/new/x.db",
        "goclaw/sessions.db",
        "link/sessions",
        "sessions",
        "sessions/states",
        ".",
    ],
)
def test_other_programs_places_are_refused(kind: str, path: str, tmp_path: Path) -> None:
    """Below `agents/`, in GoClaw's directory, and where OpenClaw looks for its own; links are followed."""
    (tmp_path / "agents" / "main").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "agents" / "main")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(PlaceRefused) as caught:
        TranscriptStore.open(tmp_path, {"store": kind, "path": path})
    assert caught.value.hint
    assert sorted(tmp_path.rglob("*")) == before


def test_another_programs_database_is_refused_untouched(tmp_path: Path) -> None:
    """A GoClaw database anywhere, or any file that is not a database of ours, is left as it is."""
    for name, make_it in (("goclaw.db", "CREATE TABLE messages (id TEXT)"), ("text.db", None)):
        path = tmp_path / name
        if make_it:
            with closing(sqlite3.connect(path)) as database:
                database.execute(make_it)
        else:
            path.write_text("not a database, and long enough " * 10)
        before = path.read_bytes()
        with pytest.raises(PlaceRefused, match="another program's database"):
            TranscriptStore.open(tmp_path / "state", {"path": str(path)})
        assert path.read_bytes() == before


def test_settings_come_from_openclaw_json(tmp_path: Path) -> None:
    """`plugins.entries.jsonlstore.config.session`, as the specification spells it."""
    block = {"storage": "jsonl", "path": "mine", "maxTokens": 50_000, "defaultKey": "agent:fox:main"}
    document = {"plugins": {"entries": {"jsonlstore": {"config": {"session": block}}}}}
    (tmp_path / "openclaw.json").write_text(json.dumps(document))
    with TranscriptStore.open(tmp_path) as store:
        session = store.load()
        assert (session.key, session.max_tokens) == ("jsonlstore:fox:main", 50_000)
        store.append(None, user("x"))
    assert (tmp_path / "mine" / "sessions.json").exists()


@given(
    st.lists(st.sampled_from([b"", b"x", b"{}", b"long " * 70_000, b"\r", b"y" * 262_143, b"z" * 262_144]), max_size=6),
    st.booleans(),
)
def test_backwards_is_forwards_reversed(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], end: bool
) -> None:
    """Whatever the lengths of the lines and wherever the blocks of a file fall."""
    path = tmp_path_factory.mktemp("lines") / "x.jsonl"
    path.write_bytes(b"\n".join(lines) + (b"\n" if end else b""))
    assert list(read_backward(path)) == list(read_forward(path))[::-1]


KINDS_OF_RECORD = (
    "user", "assistant", "compaction", "reset", "reset-kept", "thinking", "model", "checkpoint", "leaf",
)  # fmt: skip
PARENTS = st.sampled_from(["last", "last", "last", "any", "none"])
GROWN = st.lists(st.tuples(st.sampled_from(KINDS_OF_RECORD), PARENTS, st.integers(0, 100)), max_size=25)


def grow(steps: list[tuple[str, str, int]]) -> list[dict[str, Any]]:
    """A tree of records out of a list of choices."""
    made: list[dict[str, Any]] = []
    for number, (what, parent, pick) in enumerate(steps):
        ids = [record["id"] for record in made]
        some = ids[pick % len(ids)] if ids else "nobody"
        record: dict[str, Any] = {
            "user": user(f"text {number}"),
            "assistant": assistant(f"text {number}"),
            "compaction": {"type": "compaction", "summary": "s", "firstKeptEntryId": some, "tokensBefore": 1},
            "reset": {"type": "reset", "reason": "new"},
            "reset-kept": {"type": "reset", "reason": "new", "firstKeptEntryId": some},
            "thinking": {"type": "thinking_level_change", "thinkingLevel": str(number)},
            "model": {"type": "model_change", "provider": "p", "modelId": str(number)},
            "checkpoint": {"type": "checkpoint", "checkpoint": {"summary": str(number)}},
            "leaf": {"type": "leaf", "targetId": some},
        }[what]
        record["id"] = f"e{number}"
        if parent != "last":
            record["parentId"] = some if parent == "any" and ids else None
        made.append(record)
    return made


@given(steps=GROWN, last=st.none() | st.integers(1, 5))
@pytest.mark.parametrize("kind", KINDS)
def test_reading_backwards_gives_what_reading_everything_gives(
    tmp_path_factory: pytest.TempPathFactory, kind: str, steps: list[tuple[str, str, int]], last: int | None
) -> None:
    """The window's messages, model, thinking level and tokens are those of the whole session (decision 34)."""
    with TranscriptStore.open(tmp_path_factory.mktemp("grown"), {"store": kind}, disk=Disk(sync=False)) as store:
        for record in grow(steps):
            store.append(None, record)
        whole = build_context(entry for line in store.read() if (entry := parse_entry(line)))
        session = store.load(last=last)
        if last is not None:
            assert session.messages == whole.messages[-last:]
            return
        assert session.messages == whole.messages
        assert (session.model, session.thinking_level) == (whole.model, whole.thinking_level)
        checkpoints = [entry.raw["checkpoint"]["summary"] for entry in whole.path if entry.type == "checkpoint"]
        newest = session.most_recent_checkpoint()
        assert (newest.summary if newest else None) == (checkpoints[-1] if checkpoints else None)


def test_what_is_written_is_valid_against_the_schemas_we_ship(tmp_path: Path, clock: FakeClock) -> None:
    """Records of every type, and the index."""
    store = TranscriptStore.open(tmp_path, {"store": "jsonl"}, clock=clock)
    session = store.load()
    session.add_message("user", "hello")
    session.add({"type": "model_change", "provider": "p", "modelId": "m"})
    session.add({"type": "thinking_level_change", "thinkingLevel": "low"})
    session.add({"type": "custom", "customType": "x"})
    session.add_checkpoint("so far", topics=["x"])
    session.compact("so far", session.keep_last(1), from_checkpoint=True)
    session.metadata["flushActioned"] = False
    store.save(session)
    assert [problem for record in records(store) for problem in problems("transcript-record", record)] == []
    index = json.loads((tmp_path / "jsonlstore" / "sessions" / "sessions.json").read_text())
    assert problems("transcript-index", index) == []
    assert problems("transcript-record", {"type": "message", "id": "x", "timestamp": 5}) != []
