"""The watcher sees our own sessions like any other runtime's: captured, counted, searched, without touching them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from jsonlstore.context import TranscriptStore
from jsonlstore.context.migrate import migrate_transcripts
from jsonlstore.core.files import Disk
from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.transcripts.runtimes import has_transcript
from tests.context.conftest import assistant, user

if TYPE_CHECKING:
    from pathlib import Path

    from tests.home import Home

FAST = Disk(sync=False)


def talk(state: Path, kind: str, key: str = "jsonlstore:fox:telegram:7", turns: int = 3) -> str:
    with TranscriptStore.open(state, {"store": kind}, disk=FAST) as store:
        session = store.load(key)
        for number in range(turns):
            session.add_message("user", f"Please mend the greenhouse roof in greenhouse-app, pane {number}.")
            session.add(assistant(f"Greenhouse pane {number} is mended.", used=1000 + number))
        store.save(session)
        return session.session_id


def listing(home: Home) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(home.run("list", "--json").stdout)
    return found


def test_a_session_is_captured_restored_and_found(home: Home, kind: str) -> None:
    """`watch --once` makes a state of it; `list`, `show`, `recall` and `status` know it."""
    home.path.mkdir(parents=True)
    session_id = talk(home.path, kind)
    before = home.files()
    home.run("watch", "--once")
    assert {name: data for name, data in home.files().items() if name in before} == before
    (listed,) = listing(home)
    assert (listed["session_id"], listed["agent_id"]) == (session_id, "fox")
    state = json.loads(home.run("show", session_id, "--json").stdout)
    assert state["session_key"] == "jsonlstore:fox:telegram:7"
    assert "greenhouse" in state["hot_topics"]
    assert json.loads(home.run("recall", "greenhouse", "--json").stdout)[0]["session_id"] == session_id
    status = json.loads(home.run("status", "--json", check=False).stdout)
    assert [source["kind"] for source in status["sources"]] == [kind]
    assert [source["transcripts"] for source in status["sources"]] == [1]


def test_new_records_are_read_on_and_nothing_twice(home: Home, kind: str) -> None:
    """After more was said, the second look has it all."""
    home.path.mkdir(parents=True)
    session_id = talk(home.path, kind)
    home.run("watch", "--once")
    first = json.loads(home.run("show", session_id, "--json").stdout)
    home.run("watch", "--once")
    assert json.loads(home.run("show", session_id, "--json").stdout) == first
    with TranscriptStore.open(home.path, {"store": kind}) as store:
        for _ in range(3):
            store.append("jsonlstore:fox:telegram:7", user("Now the carburettor of the carburettor-bench wants oil."))
    home.run("watch", "--once")
    assert "carburettor-bench" in json.loads(home.run("show", session_id, "--json").stdout)["hot_topics"]


def test_both_backends_after_a_migration_are_one_session(tmp_path: Path) -> None:
    """Each entry once, though both hold it."""
    session_id = talk(tmp_path, "jsonl")
    with (
        TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST) as files,
        TranscriptStore.open(tmp_path, {"store": "sqlite"}, disk=FAST) as database,
    ):
        migrate_transcripts(files.backend, database.backend)
    (session,) = Catalogue.open(tmp_path).sessions
    assert (session.session_id, session.kinds) == (session_id, ("jsonl", "sqlite"))
    entries = list(session.read())
    assert len(entries) == 7
    assert has_transcript(tmp_path, "fox", session_id)
    assert not has_transcript(tmp_path, "fox", "somebody-else")


def test_a_reading_goes_on_after_its_cursor(tmp_path: Path, kind: str) -> None:
    """The cursor of one reading begins the next; a database that is another file begins again."""
    talk(tmp_path, kind)
    (session,) = Catalogue.open(tmp_path).sessions
    source, transcript = session.copies[0]
    reading = source.read(transcript)
    assert len(list(reading)) == 7
    assert not source.has_new(transcript, reading.cursor)
    assert source.lag(transcript, reading.cursor) == 0
    talk(tmp_path, kind, turns=1)
    talk(tmp_path, kind, key="jsonlstore:fox:other")
    (transcript,) = [one for one in source.transcripts() if one.session_id == session.session_id]
    assert source.has_new(transcript, reading.cursor)
    assert source.lag(transcript, reading.cursor) == (
        2 if kind == "sqlite" else transcript.size - reading.cursor.position
    )
    rest = source.read(transcript, reading.cursor)
    assert len(list(rest)) == 2
    assert not rest.restarted
    size, records = source.measure(transcript)
    assert records == 9
    assert size > 1000


def test_a_place_of_the_users_own_is_watched_too(tmp_path: Path, kind: str) -> None:
    """`session.path` in openclaw.json counts for the watcher as well."""
    place = "own/files" if kind == "jsonl" else "own/talk.db"
    block = {"plugins": {"entries": {"jsonlstore": {"config": {"session": {"store": kind, "path": place}}}}}}
    (tmp_path / "openclaw.json").write_text(json.dumps(block))
    with TranscriptStore.open(tmp_path, disk=FAST) as store:
        store.append(None, user("x"))
    (session,) = Catalogue.open(tmp_path).sessions
    assert session.session_key == "jsonlstore:main:main"
    assert session.agent_id == "main"


@pytest.mark.parametrize("key", ["jsonlstore:main:subagent:1", "jsonlstore:main:cron:1"])
def test_runs_that_are_nobodys_conversation_are_left_out(tmp_path: Path, kind: str, key: str) -> None:
    """As everywhere (decision 50)."""
    talk(tmp_path, kind, key=key)
    assert Catalogue.open(tmp_path).sessions == []


def test_tokens_are_told_of_every_session(home: Home, kind: str) -> None:
    """In the state, in `list`, `show` and `status`: what the last answer reported, and what came after."""
    home.path.mkdir(parents=True)
    session_id = talk(home.path, kind)
    home.run("watch", "--once")
    wanted = {"used": 1002, "window": 200_000, "estimated": False}
    assert json.loads(home.run("show", session_id, "--json").stdout)["tokens"] == wanted
    assert listing(home)[0]["tokens"] == wanted
    assert "1,002 of 200,000 (1%) tokens" in home.run("show", session_id).stdout
    told = json.loads(home.run("status", "--json", check=False).stdout)["context"]
    assert told == [{"session_id": session_id, "session_key": "jsonlstore:fox:telegram:7", **wanted}]
    with TranscriptStore.open(home.path, {"store": kind}) as store:
        store.append("jsonlstore:fox:telegram:7", user("x" * 40))
    home.run("watch", "--once")
    assert listing(home)[0]["tokens"] == {**wanted, "used": 1012, "estimated": True}
    with TranscriptStore.open(home.path, {"store": kind}) as store:
        session = store.load("jsonlstore:fox:telegram:7")
        session.compact("So far.", session.keep_last(1))
        store.save(session)
    home.run("watch", "--once")
    assert listing(home)[0]["tokens"] is None  # until the next answer nobody knows


def test_what_a_reset_closed_comes_back(home: Home, kind: str) -> None:
    """The old conversation ends for the model and for the watcher, and the next session of the key is told of it."""
    home.path.mkdir(parents=True)
    session_id = talk(home.path, kind)
    with TranscriptStore.open(home.path, {"store": kind}) as store:
        session = store.load("jsonlstore:fox:telegram:7")
        session.reset()
        session.add_message("user", "Good morning.")
        store.save(session)
        assert [message["content"] for message in store.load("jsonlstore:fox:telegram:7").messages] == ["Good morning."]
    home.run("watch", "--once")
    old, new = sorted(listing(home), key=lambda row: row["session_id"] != session_id)
    assert (old["end_reason"], new["end_time"], new["previous_session_id"]) == ("new", None, session_id)
    answer = home.run(
        "restore", "--session-key", "jsonlstore:fox:telegram:7", "--channel", "telegram", "--prompt",
        "the greenhouse roof", "--dry-run", "--json",
    )  # fmt: skip
    assert session_id in json.loads(answer.stdout)["session_ids"]
