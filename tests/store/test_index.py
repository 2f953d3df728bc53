"""The index is a cache: mended when read, rebuilt byte for byte."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore.store.index_text import parse_index, serialise
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import FakeClock


@pytest.fixture
def busy(store: SessionStore, clock: FakeClock) -> SessionStore:
    """Sessions in every condition: open, grown, ended, updated after it, continued, recovered, archived, forgotten."""
    for name in ("open", "grown", "ended", "late", "linked", "crashed", "cold", "gone"):
        store.start(name, channel="cli", previous_session_id="root")
        store.update(name, {"hot_topics": [name], "working_memory": [{"content": "CRITICAL x"}]})
        clock.advance(minutes=1)
    for number in range(40):
        store.update("grown", {"next_step": f"{number}" + "x" * 4000})
    store.link("grown", "open")
    store.update("grown", {"next_step": "after the link"})
    for name in ("ended", "late", "linked", "cold", "gone"):
        store.end(name, {"pending_tasks": [{"task_id": "t"}]}, reason="new")
    store.update("late", {"next_step": "afterthought"})
    store.link("linked", "open")
    store.recover("crashed", store.now())
    store.archive("cold")
    store.forget("gone")
    return store


def fresh(store: SessionStore) -> SessionStore:
    return SessionStore.open(store.paths.state_dir)


def test_a_rebuild_gives_the_same_file_byte_for_byte(busy: SessionStore) -> None:
    kept = busy.paths.index.read_bytes()
    assert not busy.index.rebuild()
    busy.paths.index.unlink()
    assert fresh(busy).index.rebuild()
    assert busy.paths.index.read_bytes() == kept


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"schema_version":1}',
        b'{"schema_version":9,"sessions":{}}',
        b'{"schema_version":1,"sessions":{"a":5}}',
        b"\xff\xfe",
    ],
)
def test_an_index_that_is_empty_or_broken_heals_when_read(busy: SessionStore, damage: bytes) -> None:
    kept = busy.paths.index.read_bytes()
    busy.paths.index.write_bytes(damage)
    assert len(list(fresh(busy).entries())) == 7
    assert busy.paths.index.read_bytes() == kept


def test_a_glance_sees_what_a_reading_does(busy: SessionStore) -> None:
    """And heals what it must: a line that is spoiled, a log that is gone, a file that is no index."""
    kept = busy.paths.index.read_bytes()
    assert dict(fresh(busy).index.lazy_entries().items()) == fresh(busy).index.entries()
    for damage in (b"", b"[]", kept.replace(b'"late":{', b'"late":[', 1), kept.replace(b",\n", b",\n,\n", 1)):
        busy.paths.index.write_bytes(damage)
        assert {"late", "cold", "crashed"} <= fresh(busy).index.lazy_entries().keys()
        assert busy.paths.index.read_bytes() == kept
    busy.paths.log("ended").unlink()
    assert "ended" not in fresh(busy).index.lazy_entries()


def test_a_missing_index_heals_when_read(busy: SessionStore) -> None:
    kept = busy.paths.index.read_bytes()
    busy.paths.index.unlink()
    assert {entry.session_id for entry in fresh(busy).entries()} == {
        "open",
        "grown",
        "ended",
        "late",
        "linked",
        "crashed",
        "cold",
    }
    assert busy.paths.index.read_bytes() == kept


def test_an_index_older_than_the_logs_heals_when_read(store: SessionStore) -> None:
    """As after a crash between the log and the index, for every kind of boundary."""
    store.start("a")
    store.start("b")
    old = store.paths.index.read_bytes()
    store.end("a", reason="new")
    store.link("b", "c")
    store.start("c")
    kept = store.paths.index.read_bytes()
    store.paths.index.write_bytes(old)
    entries = {entry.session_id: entry for entry in fresh(store).entries()}
    assert entries["a"].end_reason == "new"
    assert entries["b"].continued_by == "c"
    assert "c" in entries
    assert store.paths.index.read_bytes() == kept


def test_an_update_after_the_end_that_missed_the_index_is_found(store: SessionStore) -> None:
    store.start("a")
    store.end("a")
    old = store.paths.index.read_bytes()
    store.update("a", {"hot_topics": ["late"]})
    store.paths.index.write_bytes(old)
    assert next(fresh(store).entries()).hot_topics == ("late",)


def test_entries_of_logs_that_vanished_go(busy: SessionStore) -> None:
    busy.paths.log("ended").unlink()
    assert "ended" not in {entry.session_id for entry in fresh(busy).entries()}


def test_a_log_that_goes_while_it_is_looked_at_takes_no_other_with_it(busy: SessionStore) -> None:
    """As when another process archives it: listed, and gone before its size is asked for."""
    before = dict(fresh(busy).index.entries())
    (busy.paths.states / "aaa.jsonl").symlink_to(busy.paths.states / "nowhere")
    assert fresh(busy).index._log_sizes().keys() == {"open", "grown", "ended", "late", "linked", "crashed", "gone"}
    assert fresh(busy).index.entries() == before


def test_only_boundaries_change_the_index(store: SessionStore) -> None:
    store.start("a")
    before = store.paths.index.read_bytes()
    for number in range(50):
        store.update("a", {"next_step": "x" * 3000 + str(number)})
    assert store.paths.index.read_bytes() == before
    assert fresh(store).index.entries()
    assert store.paths.index.read_bytes() == before


def test_the_index_holds_what_scoring_needs(busy: SessionStore) -> None:
    raw = json.loads(busy.paths.index.read_text())["sessions"]
    assert raw["late"]["critical"] is True
    assert raw["late"]["pending_task_count"] == 1
    assert raw["linked"]["continued_by"] == "open"
    assert raw["cold"]["archived"] == "2026-02"
    assert "hot_topics" not in raw["cold"], "an archived session leaves a stub"
    assert raw["gone"] == {"forgotten": True, "log_bytes": busy.paths.log("gone").stat().st_size}


ids = st.from_regex(r"[a-z0-9]{1,6}", fullmatch=True)
entries = st.dictionaries(
    ids,
    st.fixed_dictionaries({"log_bytes": st.integers(0, 9), "hot_topics": st.lists(st.text(max_size=4), max_size=3)}),
    max_size=6,
)


@given(entries)
def test_an_index_survives_writing_and_reading(found: dict[str, dict[str, object]]) -> None:
    assert parse_index(serialise(found)) == found
    assert serialise(parse_index(serialise(found)) or {}) == serialise(found)


@given(st.binary(max_size=80))
@settings(max_examples=30)
def test_no_bytes_break_the_reader(data: bytes) -> None:
    assert parse_index(data) is None or isinstance(parse_index(data), dict)


def test_ten_thousand_sessions_cost_one_read_of_the_index_not_of_the_logs(store: SessionStore, tmp_path: Path) -> None:
    """Reading the index opens no log of an ended session."""
    store.start("a")
    store.end("a")
    reader = fresh(store)
    reader.index.entries()
    opened: list[Path] = []
    reader.index._open_log = lambda path: opened.append(path) or store.open_log(path)
    assert len(reader.index.entries()) == 1
    assert opened == []
