"""Forgetting a session of our own removes its transcript too: no word of it is left in a file of ours."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from jsonlstore.context import TranscriptStore
from jsonlstore.context.forgetting import forget_transcripts
from jsonlstore.context.migrate import migrate_transcripts
from jsonlstore.core.errors import LockTimeout
from jsonlstore.core.files import Disk
from jsonlstore.core.session_settings import SessionSettings
from tests.context.conftest import assistant, user

if TYPE_CHECKING:
    from pathlib import Path

    from tests.home import Home

FAST = Disk(sync=False)
GONE, KEPT = "jsonlstore:fox:main", "jsonlstore:owl:main"
WORD = b"carburettor"


def two_sessions(state: Path, kind: str) -> dict[str, str]:
    """Two sessions written in turns, so that they share the database's pages; their ids by key."""
    with TranscriptStore.open(state, {"store": kind}, disk=FAST) as store:
        sessions = {GONE: store.load(GONE), KEPT: store.load(KEPT)}
        for number in range(40):
            for key, word in ((GONE, WORD.decode()), (KEPT, "greenhouse")):
                sessions[key].add_message("user", f"Please mend the {word} of bench {number}. " + f"{word} " * number)
                sessions[key].add(assistant(f"The {word} {number} is mended."))
                sessions[key].metadata["note"] = f"{word} {number}"
                store.save(sessions[key])
        return {key: session.session_id for key, session in sessions.items()}


def lines(state: Path, kind: str, key: str) -> list[bytes]:
    with TranscriptStore.open(state, {"store": kind}, disk=FAST) as store:
        return list(store.read(key))


def holding_the_word(home: Home) -> list[str]:
    return [name for name, data in home.files().items() if WORD in data.lower()]


def test_forget_removes_the_transcript_and_nothing_else(home: Home, kind: str) -> None:
    """Not a byte stays; the other session is as it was, and the watcher reads on where it stood."""
    home.path.mkdir(parents=True)
    ids = two_sessions(home.path, kind)
    home.run("watch", "--once")
    assert holding_the_word(home)
    kept = lines(home.path, kind, KEPT)
    state = home.run("show", ids[KEPT], "--json").stdout
    home.run("forget", ids[GONE], "--yes")
    assert holding_the_word(home) == []
    assert lines(home.path, kind, KEPT) == kept
    assert lines(home.path, kind, GONE) == []
    home.run("watch", "--once")
    assert [one["session_id"] for one in json.loads(home.run("list", "--json").stdout)] == [ids[KEPT]]
    assert home.run("show", ids[KEPT], "--json").stdout == state


def test_a_dry_run_removes_nothing(home: Home, kind: str) -> None:
    """`forget --dry-run` changes no file."""
    home.path.mkdir(parents=True)
    ids = two_sessions(home.path, kind)
    home.run("watch", "--once")
    before = home.files()
    home.run("forget", ids[GONE], "--dry-run")
    assert home.files() == before


def test_after_a_migration_it_goes_from_both_backends(home: Home) -> None:
    """A session that two places hold is removed from both."""
    home.path.mkdir(parents=True)
    ids = two_sessions(home.path, "jsonl")
    with (
        TranscriptStore.open(home.path, {"store": "jsonl"}, disk=FAST) as files,
        TranscriptStore.open(home.path, {"store": "sqlite"}, disk=FAST) as database,
    ):
        migrate_transcripts(files.backend, database.backend)
    assert len(holding_the_word(home)) > 2
    assert forget_transcripts(home.path, SessionSettings(), ids[GONE]) == [
        str(home.path / "jsonlstore" / "sessions.db"),
        str(home.path / "jsonlstore" / "sessions" / f"{ids[GONE]}.jsonl"),
    ]
    assert holding_the_word(home) == []


def test_torn_tails_and_damaged_indexes_go_too(home: Home) -> None:
    """What the JSONL backend cut off or put aside holds words as well."""
    home.path.mkdir(parents=True)
    ids = two_sessions(home.path, "jsonl")
    place = home.path / "jsonlstore" / "sessions"
    with (place / f"{ids[GONE]}.jsonl").open("ab") as file:
        file.write(b'{"type":"message","text":"carburettor')
    with TranscriptStore.open(home.path, {"store": "jsonl"}, disk=FAST) as store:
        store.append(GONE, user("and on"))
        index = place / "sessions.json"
        index.write_bytes(index.read_bytes()[:-3])
        session = store.load(KEPT)
        session.metadata["note"] = "another"
        store.save(session)
    assert {name.split("/")[2] for name in holding_the_word(home)} == {".quarantine", f"{ids[GONE]}.jsonl"}
    forget_transcripts(home.path, SessionSettings(), ids[GONE])
    assert holding_the_word(home) == []


def test_an_agent_that_still_holds_the_session_begins_a_new_one(home: Home, kind: str) -> None:
    """What it adds afterwards is kept under a new id, without what was forgotten."""
    home.path.mkdir(parents=True)
    ids = two_sessions(home.path, kind)
    with TranscriptStore.open(home.path, {"store": kind}, disk=FAST) as store:
        session = store.load(GONE)
        forget_transcripts(home.path, SessionSettings(), ids[GONE])
        session.add_message("user", "Now the greenhouse.")
        session.metadata.clear()
        store.save(session)
        (again,) = [one for one in store.list() if one.key == GONE]
        assert again.session_id != ids[GONE]
        assert [message["content"] for message in store.load(GONE).messages] == ["Now the greenhouse."]
    assert holding_the_word(home) == []


def test_a_reader_in_the_way_is_told_and_the_next_try_finishes(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """While somebody reads the old state of the database its bytes cannot go: said, and done the next time."""
    monkeypatch.setattr("jsonlstore.context.sqlite._BUSY_SECONDS", 0.05)
    home.path.mkdir(parents=True)
    ids = two_sessions(home.path, "sqlite")
    home.run("watch", "--once")
    path = home.path / "jsonlstore" / "sessions.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM messages").fetchone()
        with pytest.raises(LockTimeout, match="still in it") as caught:
            forget_transcripts(home.path, SessionSettings(), ids[GONE])
        assert caught.value.hint
    assert lines(home.path, "sqlite", GONE) == []
    home.run("forget", ids[GONE], "--yes")
    assert holding_the_word(home) == []


def test_a_place_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """Most machines have no transcripts of ours, and forgetting leaves it at that."""
    assert forget_transcripts(tmp_path, SessionSettings(), "3fca9cad-0000-4000-8000-000000000000") == []
    assert list(tmp_path.iterdir()) == []
