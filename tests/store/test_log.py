"""A session log keeps every acknowledged record, whatever happened to its tail or its middle."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.errors import WriteFailed
from jsonlstore.core.files import Disk
from jsonlstore.store import log as log_module
from jsonlstore.store.log import Event, SessionLog, parse_event, scan_bytes

if TYPE_CHECKING:
    from pathlib import Path


def line(seq: int, **data: object) -> bytes:
    return Event(seq, "2026-02-18T12:00:00.000Z", "state.updated", "hook", data).to_line()


@pytest.fixture
def log(tmp_path: Path) -> SessionLog:
    return SessionLog(tmp_path / "s.jsonl", tmp_path / "quarantine", Disk())


def seqs(log: SessionLog) -> list[int]:
    scan = log.scan()
    return [placed.event.seq for placed in scan.events] if scan else []


def test_what_is_appended_is_replayed_in_order(log: SessionLog) -> None:
    for seq in (1, 2, 3):
        log.append(line(seq))
    assert seqs(log) == [1, 2, 3]
    assert os.stat(log.path).st_mode & 0o777 == 0o600


def test_a_missing_or_empty_log_holds_nothing(log: SessionLog) -> None:
    assert log.scan() is None
    assert log.scan_recent() is None
    log.path.touch()
    assert log.scan() is None
    assert log.scan_recent() is None


def test_a_torn_tail_is_cut_into_quarantine_by_the_next_append(log: SessionLog, tmp_path: Path) -> None:
    log.append(line(1))
    torn = line(2)[:-9]
    with open(log.path, "ab") as file:
        file.write(torn)
    assert seqs(log) == [1]
    log.append(line(2, again=True))
    assert seqs(log) == [1, 2]
    kept = list((tmp_path / "quarantine").iterdir())
    assert [path.read_bytes() for path in kept] == [torn]
    assert kept[0].stat().st_mode & 0o777 == 0o600


def test_a_record_that_lacks_only_its_newline_is_finished_not_cut(log: SessionLog, tmp_path: Path) -> None:
    log.append(line(1))
    with open(log.path, "ab") as file:
        file.write(line(2).rstrip(b"\n"))
    assert seqs(log) == [1, 2]
    log.append(line(3))
    assert seqs(log) == [1, 2, 3]
    assert not (tmp_path / "quarantine").exists()


def test_two_tails_torn_at_the_same_place_are_both_kept(log: SessionLog, tmp_path: Path) -> None:
    log.append(line(1))
    for tail in (b'{"first', b'{"second'):
        with open(log.path, "ab") as file:
            file.write(tail)
        assert log.repair()
    assert sorted(path.read_bytes() for path in (tmp_path / "quarantine").iterdir()) == [b'{"first', b'{"second']
    assert not log.repair()


def test_zeros_after_a_power_cut_are_cut_off(log: SessionLog) -> None:
    log.append(line(1))
    with open(log.path, "ab") as file:
        file.write(b"\0" * 5000)
    log.append(line(2))
    assert seqs(log) == [1, 2]


def test_a_corrupt_line_in_the_middle_is_skipped_counted_and_kept(log: SessionLog) -> None:
    log.append(line(1))
    with open(log.path, "ab") as file:
        file.write(b"not json at all\n")
    log.append(line(2))
    scan = log.scan()
    assert scan is not None
    assert [placed.event.seq for placed in scan.events] == [1, 2]
    assert [(hurt.offset, hurt.length) for hurt in scan.damage] == [(len(line(1)), len(b"not json at all"))]
    assert b"not json at all\n" in log.path.read_bytes()


@pytest.mark.parametrize("gap", [10, 200_000, 1_500_000])
def test_the_last_full_state_is_found_from_the_end_however_far_back(log: SessionLog, gap: int) -> None:
    full = Event(2, "2026-02-18T12:00:00.000Z", "state.snapshot", "hook", {"state": {}, "layers": {}}).to_line()
    decoy = line(3, text='"type":"state.snapshot"', type="session.ended", pad="x" * gap)
    log.append(line(1) + full + decoy + line(4, inner={"type": "state.snapshot"}))
    recent = log.scan_recent()
    assert recent is not None
    assert [placed.event.seq for placed in recent.events] == [2, 3, 4]
    assert recent.events[-1].end == log.path.stat().st_size


def test_without_a_full_state_everything_is_replayed(log: SessionLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "_TAIL_BYTES", 64)
    log.append(b"".join(line(seq, pad="x" * 50) for seq in range(1, 40)))
    recent = log.scan_recent()
    assert recent is not None
    assert [placed.event.seq for placed in recent.events] == list(range(1, 40))


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    log = SessionLog(tmp_path / "absent" / "s.jsonl", tmp_path / "q", Disk())
    with pytest.raises(WriteFailed, match="cannot write"):
        log.append(line(1))


good_lines = st.lists(st.integers(1, 9).map(line), max_size=5)


@given(good_lines, st.binary(max_size=40), st.data())
def test_damage_anywhere_never_raises_and_never_hides_a_whole_line_after_it(
    lines: list[bytes], junk: bytes, data: st.DataObject
) -> None:
    """Junk inserted between two lines costs at most what it touches."""
    cut = data.draw(st.integers(0, len(lines)))
    scan = scan_bytes(b"".join(lines[:cut]) + junk + b"\n" + b"".join(lines[cut:]), 0)
    found = [placed.event.seq for placed in scan.events]
    expected = [event.seq for event in map(parse_event, lines) if event]
    kept = [seq for seq in found if seq in expected]
    assert kept[:cut] == expected[:cut]
    assert found[len(found) - (len(lines) - cut) :] == expected[cut:]


@given(st.binary(max_size=200))
def test_arbitrary_bytes_never_raise(data: bytes) -> None:
    parse_event(data)
    scan = scan_bytes(data, 0)
    assert scan.size == len(data)


@given(st.integers(0, 2**60), st.text(max_size=20), st.dictionaries(st.text(max_size=5), st.integers(), max_size=3))
def test_an_event_survives_writing_and_reading_with_fields_we_do_not_know(
    seq: int, kind: str, unknown: dict[str, int]
) -> None:
    extra = {key: value for key, value in unknown.items() if key not in ("seq", "at", "type", "by", "data")}
    event = Event(seq, "2026-02-18T12:00:00.000Z", kind, "hook", {"deep": {"unknown": [1]}}, extra)
    try:
        line_bytes = event.to_line()
    except TypeError:  # orjson has no 128-bit integers
        return
    assert parse_event(line_bytes.rstrip(b"\n")) == event
