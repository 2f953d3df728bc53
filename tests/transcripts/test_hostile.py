"""Whatever lies under `agents/`: nothing raises, everything readable is delivered, everything else is said."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.cli.main import main
from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.core.paths import check_session_id
from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.transcripts.context import build_context
from jsonlstore.transcripts.openclaw import DATABASE
from jsonlstore.transcripts.openclaw.sqlite import SqliteSource
from jsonlstore.transcripts.readonly import opened_readonly
from jsonlstore.transcripts.source import Ending
from jsonlstore.transcripts.stretches import usable_id
from jsonlstore.transcripts.tokens import count_tokens

if TYPE_CHECKING:
    from types import ModuleType

ROWS = 400


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    folder = tmp_path / "agents" / "main"
    (folder / "sessions").mkdir(parents=True)
    return folder


def build(make: ModuleType, agent: Path, *changes: str) -> Path:
    """A database of two sessions, `s` of many pages, then changed by SQL."""
    with closing(make.create_database(agent / DATABASE, 23)) as database:
        make.add_session(database, "agent:main:main", "s", make.Talk("s", 4).records)
        for number in range(1, ROWS):
            event = make.dump(make.Talk("s").user("word " * 60, id=f"m{number}").records[-1])[:-1]
            make.add_event(database, "s", number, event, packed=False)
        make.add_session(database, "agent:main:other", "t", make.ordinary("t", "x").records)
        for change in changes:
            database.execute(change)
    return agent / DATABASE


def counts(agent: Path) -> dict[str, tuple[int, int]]:
    """Entries and bad records of every session, read through the catalogue; the command line must manage as well."""
    found = {}
    state_dir = agent.parent.parent
    for session in Catalogue.open(state_dir, skip=frozenset()).sessions:
        reading = session.read()
        entries = list(reading)
        build_context(entries)
        count_tokens(entries)
        found[session.session_id] = (len(entries), reading.bad_count)
        for command in ("show", "context"):
            assert main(["--state-dir", str(state_dir), "transcripts", command, session.session_id, "--json"]) == 0
    assert main(["--state-dir", str(state_dir), "transcripts", "list", "--json"]) == 0
    return found


def warnings(agent: Path) -> list[str]:
    catalogue = Catalogue.open(agent.parent.parent)
    return catalogue.warnings


@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE session_windows",
        "DROP TABLE session_nodes",
        "DROP TABLE transcript_rewrite_watermarks",
        "DROP TABLE session_transcript_archives",
        "ALTER TABLE transcript_rewrite_watermarks RENAME COLUMN generation TO newer",
        "ALTER TABLE session_transcript_archives DROP COLUMN created_at",
        "ALTER TABLE session_windows RENAME COLUMN session_key TO newer",
        "ALTER TABLE transcript_events DROP COLUMN event_zstd",
        "UPDATE session_windows SET channel = 5, reason = 7, ended_at = 'x'",
        "UPDATE session_nodes SET entry_json = '['",
        "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES ('s', 'x', '{}', 'y')",
    ],
)
def test_a_schema_that_lacks_what_we_can_do_without_hides_no_session(
    make: ModuleType, agent: Path, change: str
) -> None:
    build(make, agent, change)
    assert counts(agent) == {"s": (ROWS, 0), "t": (8, 0)}
    assert all(session.ending is None for session in Catalogue.open(agent.parent.parent).sessions)


def smash(path: Path, mark: bytes, number: int) -> None:
    """Overwrite the n-th table leaf page that holds `mark`, as a bad disk does."""
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    leaves = [at for at in range(0, len(data), size) if data[at] == 0x0D and mark in data[at : at + size]]
    at = leaves[number]
    data[at : at + size] = b"\xa5" * size
    path.write_bytes(data)


def test_a_damaged_page_costs_only_its_rows(make: ModuleType, agent: Path) -> None:
    smash(build(make, agent), b"word word", 3)
    found = counts(agent)
    assert found["t"] == (8, 0)
    good, bad = found["s"]
    assert good + bad == ROWS
    assert 0 < bad < 30


def test_a_damaged_side_table_hides_no_session_and_ends_none(make: ModuleType, agent: Path) -> None:
    path = build(make, agent)
    smash(path, b'"lastChannel"', 0)
    assert counts(agent) == {"s": (ROWS, 0), "t": (8, 0)}
    assert all(session.ending is None for session in Catalogue.open(agent.parent.parent).sessions)
    assert any("session_nodes" in warning for warning in warnings(agent))


def test_a_database_that_is_a_directory_is_a_warning(agent: Path) -> None:
    (agent / DATABASE).mkdir(parents=True)
    assert "openclaw-agent.sqlite" in warnings(agent)[0]


@pytest.mark.parametrize("memory", [b"", b"\0" * 32768, b"\xa5" * 32768], ids=["empty", "zeros", "junk"])
def test_shared_memory_a_power_cut_left_is_not_waited_for(make: ModuleType, agent: Path, memory: bytes) -> None:
    path = build(make, agent)
    Path(f"{path}-wal").write_bytes(b"\xa5" * 5000)
    Path(f"{path}-shm").write_bytes(memory)
    with opened_readonly(path) as database:
        assert database.situation == "copy"
    assert len(list(SqliteSource(agent).transcripts())) == 2
    assert Path(f"{path}-shm").read_bytes() == memory


@pytest.mark.parametrize("native", ["../../etc/passwd", "a/b", "a\0b", "sessions", "x" * 500, ".hidden", "half \udcff"])
def test_an_id_that_may_not_be_a_file_name_becomes_one_that_may(make: ModuleType, agent: Path, native: str) -> None:
    derived = usable_id(native)
    assert check_session_id(derived) == derived == usable_id(native) != native
    assert usable_id("plain-id") == "plain-id"
    if native.isprintable():
        (agent / "sessions" / "file.jsonl").write_bytes(make.ordinary(native, "x").bytes())
        with closing(make.create_database(agent / DATABASE, 23)) as database:
            make.add_session(database, "agent:main:main", native, make.ordinary(native, "x").records)
        assert counts(agent) == {derived: (8, 0)}
        (session,) = Catalogue.open(agent.parent.parent).sessions
        assert session.session_key == "agent:main:main"


def test_a_name_that_is_not_text_is_read_and_listed(make: ModuleType, agent: Path) -> None:
    name = os.fsencode(agent / "sessions") + b"/\xff\xfe.jsonl"
    with open(name, "wb") as file:
        file.write(make.lines(make.ordinary("s", "x").records[1:]))
    assert list(counts(agent).values()) == [(7, 0)]


def test_what_one_copy_says_twice_is_delivered_twice_and_copies_add_nothing(make: ModuleType, agent: Path) -> None:
    talk = make.Talk("s").user("one", id="a").user("two", id="a").user("three", id="b")
    (agent / "sessions" / "s.jsonl").write_bytes(talk.bytes())
    (agent / "sessions" / "s.jsonl.bak-1-2").write_bytes(make.lines(talk.records[:2]))
    (session,) = Catalogue.open(agent.parent.parent).sessions
    assert [entry.text for entry in session.read()] == ["", "one", "two", "three"]


def test_an_unreadable_copy_is_told_and_does_not_hide_the_others(make: ModuleType, agent: Path) -> None:
    (agent / "sessions" / "s.jsonl").write_bytes(make.ordinary("s", "x").bytes())
    (agent / "sessions" / "s.jsonl.bak-1-2").write_bytes(make.ordinary("s", "x").bytes())
    (session,) = Catalogue.open(agent.parent.parent).sessions
    (agent / "sessions" / "s.jsonl.bak-1-2").unlink()
    reading = session.read()
    assert len(list(reading)) == 8
    assert ["bak-1-2" in problem for problem in reading.problems] == [True]
    assert reading.cursor is None
    (agent / "sessions" / "s.jsonl").unlink()
    with pytest.raises(SourceUnreadable):
        list(session.read())


@pytest.mark.parametrize("deep", [300, 900, 1010, 5000])
def test_deep_nesting_without_ids_is_merged_and_printed_or_refused(make: ModuleType, agent: Path, deep: int) -> None:
    record = b'{"type":"custom_message","content":"x","deep":' + b"[" * deep + b"]" * deep + b"}\n"
    (agent / "sessions" / "s.jsonl").write_bytes(make.ordinary("s", "x").bytes() + record)
    (agent / "sessions" / "s.jsonl.bak-1-2").write_bytes(make.ordinary("s", "x").bytes())
    ((good, bad),) = counts(agent).values()
    assert good + bad == 9


@pytest.mark.parametrize("number", ["1e400", "-1e308", "9" * 400, "NaN", "true", '"99999-01-01"', "[]"])
def test_times_and_counts_that_are_none_break_neither_context_nor_tokens(
    make: ModuleType, agent: Path, number: str
) -> None:
    usage = f'"usage":{{"input":{number},"output":7}}'
    lines = [
        f'{{"type":"custom_message","id":"a","parentId":null,"timestamp":{number},"content":"x"}}',
        f'{{"type":"compaction","id":"b","parentId":"a","timestamp":{number},"summary":"s","firstKeptEntryId":"a"}}',
        f'{{"type":"message","id":"c","parentId":"b","message":{{"role":"assistant","timestamp":{number},{usage}}}}}',
    ]
    header = make.dump(make.Talk("s").records[0])
    (agent / "sessions" / "s.jsonl").write_bytes(header + "\n".join([*lines, ""]).encode())
    assert counts(agent) == {"s": (4, 0)}


def test_whole_frames_before_damage_in_an_archive_are_read(make: ModuleType, agent: Path) -> None:
    packed = make.compress(make.ordinary("s", "x").bytes())
    name = f"s.jsonl.deleted.2026-09-21T14-00-00.000Z.{'ab' * 16}.zst"
    (agent / "sessions" / name).write_bytes(packed + b"junk after it")
    assert counts(agent) == {"s": (8, 1)}


def test_an_index_that_names_nobody_leaves_every_file_unreferenced(make: ModuleType, agent: Path) -> None:
    (agent / "sessions" / "sessions.json").write_bytes(b"{}")
    (agent / "sessions" / "s.jsonl").write_bytes(make.ordinary("s", "x").bytes())
    (session,) = Catalogue.open(agent.parent.parent).sessions
    assert session.ending == Ending("unreferenced")


def test_an_index_only_node_can_read_is_read(make: ModuleType, agent: Path) -> None:
    index = b'{"agent:main:main": {"sessionId": "s", "label": "\\ud83d"}}'
    (agent / "sessions" / "sessions.json").write_bytes(index)
    (agent / "sessions" / "s.jsonl").write_bytes(make.ordinary("s", "x").bytes())
    assert warnings(agent) == []
    assert Catalogue.open(agent.parent.parent).sessions[0].session_key == "agent:main:main"


@pytest.mark.parametrize("broken", [False, True])
def test_a_session_only_an_import_archive_holds_has_ended_unless_we_are_blind(
    make: ModuleType, agent: Path, broken: bool
) -> None:
    (agent / "session-sqlite-import-archive").mkdir()
    name = f"agent_main_main.{make.BOTH}.jsonl.imported-1790000100000"
    (agent / "session-sqlite-import-archive" / name).write_bytes(make.ordinary(make.BOTH, "x").bytes())
    if broken:
        (agent / "agent").mkdir()
        (agent / DATABASE).write_bytes(b"no database" * 500)
    (session,) = Catalogue.open(agent.parent.parent).sessions
    assert session.ending == (None if broken else Ending("unreferenced"))


def test_another_name_for_an_agent_is_not_another_agent(make: ModuleType, agent: Path) -> None:
    (agent / "sessions" / "s.jsonl").write_bytes(make.ordinary("s", "x").bytes())
    for name, target in (("alias", agent), ("loop", agent.parent), ("self", Path("self"))):
        (agent.parent / name).symlink_to(target)
    assert [session.agent_id for session in Catalogue.open(agent.parent.parent).sessions] == ["main"]


@pytest.mark.parametrize("what", ["agents", "agents/main/sessions"])
def test_a_file_where_a_directory_belongs_is_a_warning(tmp_path: Path, what: str) -> None:
    (tmp_path / what).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / what).write_bytes(b"")
    catalogue = Catalogue.open(tmp_path)
    assert catalogue.sessions == []
    assert "cannot list" in " ".join(catalogue.warnings)


def test_long_wrapping_is_taken_off_whole(make: ModuleType, agent: Path) -> None:
    text = "\n" * 200_000 + "System: connected\n" * 50_000 + "the words"
    (agent / "sessions" / "s.jsonl").write_bytes(make.Talk("s").user(text).bytes())
    (session,) = Catalogue.open(agent.parent.parent).sessions
    assert [entry.text for entry in session.read()] == ["", "the words"]


def test_list_and_show_give_every_stretch_with_its_end(
    make: ModuleType, agent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(make.create_database(agent / DATABASE, 23)) as database:
        make.add_session(database, "agent:main:main", make.RESET_IN_PLACE, make.resets().records)
    assert main(["--state-dir", str(agent.parent.parent), "transcripts", "list", "--json"]) == 0
    row: dict[str, Any] = json.loads(capsys.readouterr().out)["transcripts"][0]
    ends = [(part["begun_by"], part["records"], part["end_reason"]) for part in row["stretches"]]
    assert ends == [(None, 8, "new"), ("new", 3, "reset"), ("reset", 3, None)]
    assert row["stretches"][0]["session_id"] == make.RESET_IN_PLACE
    assert row["stretches"][0]["end_time"] == row["stretches"][1]["started_at"] == make.iso(8)
    assert main(["--state-dir", str(agent.parent.parent), "transcripts", "list"]) == 0
    assert row["stretches"][2]["session_id"] in capsys.readouterr().out


def test_a_deleted_session_keeps_its_key(make: ModuleType, agent: Path) -> None:
    path = build(make, agent)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        blob = make.ordinary(make.WAS_DELETED, "archive").bytes()
        row = (make.WAS_DELETED, "g1", "agent:main:telegram:dm:4", "deleted", "identity", blob, "name", make.START)
        database.execute("INSERT INTO session_transcript_archives VALUES (?,?,?,?,?,?,?,?)", row)
    found = {one.session_id: one for one in SqliteSource(agent).transcripts()}[make.WAS_DELETED]
    assert (found.session_key, found.channel) == ("agent:main:telegram:dm:4", "telegram")
