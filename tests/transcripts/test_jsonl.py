"""JSONL files of every kind are found, told apart and read; damage costs only the damaged line."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore.core.errors import SourceUnreadable
from jsonlstore.transcripts.lines import read_entries
from jsonlstore.transcripts.openclaw.files import parse_name
from jsonlstore.transcripts.openclaw.jsonl import JsonlSource, open_file
from jsonlstore.transcripts.records import parse_entry
from jsonlstore.transcripts.source import Cursor, Reading, Transcript

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


def live(path: Path, session_id: str = "s") -> Transcript:
    return Transcript("main", "jsonl", path, session_id)


@pytest.fixture
def source(tmp_path: Path) -> JsonlSource:
    (tmp_path / "main" / "sessions").mkdir(parents=True)
    return JsonlSource(tmp_path / "main")


def test_the_committed_fixtures_are_what_the_script_makes(make: ModuleType) -> None:
    for name, content in make.files().items():
        assert (make.HERE / name).read_bytes() == content, name


def test_every_file_is_what_its_name_index_and_header_say(state_dir: Path, make: ModuleType) -> None:
    found = {(one.session_id, one.state): one for one in JsonlSource(state_dir / "agents" / "main").transcripts()}
    described = {
        (key[0][:4], key[1]): (one.session_key, one.channel, one.ending and one.ending.reason, one.skip)
        for key, one in found.items()
    }
    assert described == {
        ("1111", "live"): ("agent:main:main", "webchat", None, None),
        ("1111", "backup"): ("agent:main:main", "webchat", None, None),
        ("2222", "reset"): (None, "unknown", "reset", None),
        ("3333", "deleted"): (None, "unknown", "deleted", None),
        ("4444", "live"): (None, "unknown", "unreferenced", None),
        ("5555", "live"): ("agent:main:telegram:group:-100:topic:7", "webchat", None, None),
        ("6666", "live"): (f"agent:main:subagent:{make.SUBAGENT}", "webchat", None, "subagent"),
        ("7777", "live"): (f"agent:main:cron:{make.CRON}", "webchat", None, "cron"),
        ("8888", "live"): ("temp:slug-generator", "webchat", None, "temp"),
        ("9999", "live"): ("agent:main:damaged", "webchat", None, None),
        ("cccc", "live"): (None, "unknown", "unreferenced", None),
        ("head", "live"): (None, "unknown", "unreferenced", None),
        ("empt", "live"): (None, "unknown", "unreferenced", None),
    }
    ending = found[make.WAS_RESET, "reset"].ending
    assert ending
    assert ending.at == "2026-09-21T14:00:00.000Z"


def test_looking_again_sees_every_change(source: JsonlSource, make: ModuleType) -> None:
    path = source.path / f"{make.LIVE}.jsonl"
    path.write_bytes(make.ordinary(make.LIVE, "x").bytes())
    assert source.transcripts() == source.transcripts()
    assert source.transcripts()[0].session_key is None
    (source.path / "sessions.json").write_bytes(make.index({"agent:main:main": make.LIVE}))
    assert source.transcripts()[0].session_key == "agent:main:main"
    _append(path, make.dump(make.Talk("s").user("more").records[-1]))
    assert source.transcripts()[0].size == path.stat().st_size
    path.rename(f"{path}.reset.2026-01-01T00-00-00.000Z")
    assert [one.state for one in source.transcripts()] == ["reset"]
    (source.path / "sessions.json").write_bytes(b"")
    assert [source.transcripts() and len(source.warnings) for _ in range(2)] == [1, 1]


@pytest.mark.parametrize("agent", ["blank", "corrupt"])
def test_an_unusable_index_is_a_warning_and_hides_nothing(state_dir: Path, agent: str) -> None:
    source = JsonlSource(state_dir / "agents" / agent)
    assert all(one.ending is None for one in source.transcripts())
    assert any("sessions.json" in warning for warning in source.warnings)


def test_an_index_of_42_megabytes_is_read(source: JsonlSource, make: ModuleType) -> None:
    document = json.loads(make.index({"agent:main:main": make.LIVE}))
    document["agent:main:main"]["skillsSnapshot"] = {"prompt": "x" * 42_000_000}
    (source.path / "sessions.json").write_text(json.dumps(document))
    (source.path / f"{make.LIVE}.jsonl").write_bytes(make.ordinary(make.LIVE, "x").bytes())
    (one,) = source.transcripts()
    assert (one.session_key, one.channel, source.warnings) == ("agent:main:main", "webchat", ())


@pytest.mark.parametrize(
    "name",
    [
        "a.jsonl.lock",
        "a.trajectory.jsonl",
        "a.trajectory-path.json",
        "sessions.json",
        "a.jsonl.tmp",
        "a.jsonl.123.tmp",
        ".jsonl",
    ],
)
def test_what_is_not_a_transcript_is_left_alone(name: str) -> None:
    assert parse_name(name) is None


def test_damage_costs_only_the_damaged_lines(state_dir: Path, make: ModuleType) -> None:
    source = JsonlSource(state_dir / "agents" / "main")
    (one,) = (one for one in source.transcripts() if one.session_id == make.DAMAGED)
    reading = source.read(one)
    whole = make.ordinary(make.DAMAGED, "the damage").records
    assert [entry.id for entry in reading] == [record["id"] for record in whole]
    assert reading.bad_count == 6
    data = one.path.read_bytes()
    assert data[reading.bad[1].position :].startswith(b'{"type":"message","id":"half"')


@settings(max_examples=150)
@given(data=st.data())
def test_bytes_added_or_cut_anywhere_lose_no_whole_line_elsewhere(make: ModuleType, data: st.DataObject) -> None:
    whole = [make.dump(record) for record in make.ordinary("s", "damage").records]
    content = b"".join(whole)
    at = data.draw(st.integers(0, len(content)))
    cut = data.draw(st.integers(0, 200))
    junk = data.draw(
        st.binary(max_size=60) | st.sampled_from([b"\n", b"\r\n", b"\0" * 9, b'{"type":"', b'"parentId":'])
    )
    damaged = content[:at] + junk + content[at + cut :]
    got = _ids(damaged)
    position = 0
    expected = []
    for line, record in zip(whole, make.ordinary("s", "damage").records, strict=True):
        begin, position = position, position + len(line)
        # a line after the damage is whole if the damage left its beginning at the beginning of a line
        if position <= at or (begin >= at + cut and damaged[: len(damaged) - len(content) + begin].endswith(b"\n")):
            expected.append(record["id"])
    assert [one for one in got if one in expected] == expected


def _ids(content: bytes) -> list[str | None]:
    import io

    return [entry.id for entry in read_entries(io.BytesIO(content), Reading(), final=True)]


@given(st.lists(st.binary(max_size=30), max_size=20), st.integers(8, 64))
def test_any_bytes_with_any_line_limit_are_accounted_for(pieces: list[bytes], limit: int) -> None:
    import io

    content = b"\n".join(pieces)
    reading = Reading()
    positions = [entry.position for entry in read_entries(io.BytesIO(content), reading, final=True, max_line=limit)]
    assert reading.position == len(content)
    assert positions == sorted(positions)
    assert sum(bad.length for bad in reading.bad) <= len(content)


@pytest.mark.parametrize("followed", [True, False])
def test_a_record_glued_to_a_long_torn_one_is_found(make: ModuleType, followed: bool) -> None:
    import io

    talk = make.Talk("s").result("long output " * 2000).user("glued", id="glued").user("after", id="after")
    whole = [make.dump(record) for record in talk.records]
    # the glued record is long as well, so that head and tail of the line both look whole
    answer = make.dump(make.Talk("s").result("more output " * 2000).records[-1])
    content = (
        whole[0] + whole[1][:20_000] + whole[2] + answer.replace(b'"ss0001"', b'"s"') + (whole[3] if followed else b"")
    )
    reading = Reading()
    ids = [entry.id for entry in read_entries(io.BytesIO(content), reading, final=True)]
    assert "glued" in ids
    assert ("after" in ids) == followed
    assert reading.bad_count == 1


def test_a_line_above_the_limit_is_skipped_and_counted(source: JsonlSource, make: ModuleType) -> None:
    path = source.path / "s.jsonl"
    talk = make.Talk("s").user("before").result("x" * 50_000).user("after")
    path.write_bytes(talk.bytes())
    reading = JsonlSource(source.path.parent, max_line=10_000).read(live(path))
    assert [entry.text for entry in reading if entry.role == "user"] == ["before", "after"]
    assert [bad.reason for bad in reading.bad] == ["too long"]


def test_a_line_is_delivered_once_and_only_when_its_newline_is_there(source: JsonlSource, make: ModuleType) -> None:
    path = source.path / "s.jsonl"
    content = make.Talk("s").user("äöü").assistant("ok").bytes()
    cursor, got = None, []
    for size in range(len(content) + 1):
        path.write_bytes(content[:size]) if size == 0 else _append(path, content[size - 1 : size])
        reading = source.read(live(path), cursor)
        got += [entry.type for entry in reading]
        assert not reading.restarted
        cursor = reading.cursor
        assert len(got) == content[:size].count(b"\n")
    assert got == ["session", "message", "message"]


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_a_cursor_survives_json_and_a_rename(source: JsonlSource, make: ModuleType) -> None:
    path = source.path / "s.jsonl"
    path.write_bytes(make.Talk("s").user("one").bytes())
    reading = source.read(live(path))
    assert len(list(reading)) == 2
    assert reading.cursor
    cursor = Cursor.from_json(json.loads(json.dumps(reading.cursor.to_json())))
    assert cursor == reading.cursor
    renamed = path.rename(f"{path}.reset.2026-01-01T00-00-00.000Z")
    assert not source.has_new(live(renamed), cursor)
    assert list(source.read(live(renamed), cursor)) == []


@pytest.mark.parametrize(
    "value", [None, 1, "x", {}, {"kind": "x"}, {"kind": "jsonl", "identity": "a", "position": "9"}]
)
def test_a_torn_cursor_is_none(value: object) -> None:
    assert Cursor.from_json(value) is None


@pytest.mark.parametrize("how", ["truncated", "shorter", "regrown", "replaced", "same size", "prefix"])
def test_a_rewritten_file_is_seen_and_read_from_the_start(source: JsonlSource, make: ModuleType, how: str) -> None:
    path = source.path / "s.jsonl"
    before = make.Talk("s").user("one").assistant("two").bytes()
    path.write_bytes(before)
    reading = source.read(live(path))
    list(reading)
    after = {
        "truncated": b"",
        "shorter": make.Talk("s").user("one").bytes(),
        "regrown": make.Talk("s").user("ONE").assistant("TWO").user("three").bytes(),
        "replaced": before,
        "same size": before.replace(b"two", b"2wo"),
        "prefix": make.Talk("t").user("one").assistant("two").bytes(),
    }[how]
    if how == "replaced":
        path.with_suffix(".new").write_bytes(after)
        os.replace(path.with_suffix(".new"), path)
    else:
        path.write_bytes(after)
        os.utime(path, ns=(1, 1))
    assert source.has_new(live(path), reading.cursor)
    again = source.read(live(path), reading.cursor)
    assert len(list(again)) == after.count(b"\n")
    assert again.restarted


def test_a_zstd_archive_is_read_and_a_cut_one_as_far_as_it_goes(source: JsonlSource, make: ModuleType) -> None:
    name = f"{make.WAS_DELETED}.jsonl.deleted.2026-09-21T14-00-00.000Z.{'ab' * 16}.zst"
    talk = make.ordinary(make.WAS_DELETED, "archive")
    (source.path / name).write_bytes(make.compress(talk.bytes()))
    (one,) = source.transcripts()
    assert (one.session_id, one.state) == (make.WAS_DELETED, "deleted")
    assert len(list(source.read(one))) == len(talk.records)
    one.path.write_bytes(one.path.read_bytes()[:-20])
    reading = source.read(one)
    list(reading)
    assert reading.bad_count == 1


def test_a_file_that_cannot_be_read_is_an_error_or_a_warning_never_silence(source: JsonlSource) -> None:
    with pytest.raises(SourceUnreadable):
        list(source.read(live(source.path / "gone.jsonl")))
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    path = source.path / "s.jsonl"
    path.write_bytes(b"{}\n")
    path.chmod(0)
    assert source.transcripts() == []
    assert source.warnings


def test_a_renamed_file_is_read_as_the_session_it_was(source: JsonlSource, make: ModuleType) -> None:
    archive = source.path / f"{make.LIVE}.jsonl.reset.2026-01-11T00-00-00.000Z"
    archive.write_bytes(make.ordinary(make.LIVE, "11").bytes())
    reader, one = open_file(archive)  # DECISION 41
    assert (one.session_id, one.state, len(list(reader.read(one)))) == (make.LIVE, "reset", 8)


def test_parse_entry_and_reader_agree(make: ModuleType) -> None:
    for line in make.tree().bytes().splitlines(keepends=True):
        assert parse_entry(line)
