"""Both eras at once: every session once, every entry once, and what only one place holds is there."""

from __future__ import annotations

import uuid
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.errors import AmbiguousSessionId, SessionNotFound
from jsonlstore.core.session_key import channel_of, skip_reason
from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.transcripts.openclaw import DATABASE
from jsonlstore.transcripts.records import Entry
from jsonlstore.transcripts.stretches import STRETCH_NAMESPACE, by_stretch, stretch_id

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


def test_the_namespace_of_derived_ids_never_changes() -> None:
    assert stretch_id("08438988-88be-41b0-bc13-789398274488", "c17cba32") == str(
        uuid.uuid5(uuid.UUID("6d1f0c1e-6f0a-5c55-9a55-3d2f4f7b9e10"), "08438988-88be-41b0-bc13-789398274488:c17cba32")
    )
    assert str(STRETCH_NAMESPACE) == "6d1f0c1e-6f0a-5c55-9a55-3d2f4f7b9e10"


def test_resets_in_place_are_sessions_of_their_own(make: ModuleType) -> None:
    pairs = list(by_stretch(make.RESET_IN_PLACE, [Entry(record) for record in make.resets().records]))
    stretches = list(dict.fromkeys(stretch for stretch, _ in pairs))
    assert [stretch.id for stretch in stretches] == [
        make.RESET_IN_PLACE,
        stretch_id(make.RESET_IN_PLACE, "c17cba32"),
        stretch_id(make.RESET_IN_PLACE, "d28dcb43"),
    ]
    assert [stretch.begun_by for stretch in stretches] == [None, "new", "reset"]
    words = {stretch.number: entry.text for stretch, entry in pairs if entry.role == "user"}
    assert words == {0: "Please look at the first stretch.", 1: "second stretch", 2: "third stretch"}


@given(st.lists(st.sampled_from(["reset", "message"]), max_size=20))
def test_stretches_keep_every_entry_in_order(kinds: list[str]) -> None:
    entries = [Entry({"type": kind, "id": str(number)}, number) for number, kind in enumerate(kinds)]
    pairs = list(by_stretch("s", entries))
    assert [entry for _, entry in pairs] == entries
    assert len({stretch.id for stretch, _ in pairs} | {"s"}) == kinds.count("reset") + 1


def test_an_entry_in_file_import_archive_and_database_is_delivered_once(state_dir: Path, make: ModuleType) -> None:
    talk = make.ordinary(make.BOTH, "both eras")
    before = len(talk.records)
    only_file = make.ordinary(make.BOTH, "both eras").user("only in the file", id="only-file").records
    talk.user("only in the database", id="only-database")
    agent = state_dir / "agents" / "both"
    (agent / "sessions").mkdir()
    (agent / "sessions" / f"{make.BOTH}.jsonl").write_bytes(make.lines(only_file))
    with closing(make.create_database(agent / DATABASE, 23)) as database:
        make.add_session(database, "agent:both:main", make.BOTH, talk.records)
    (session,) = (one for one in Catalogue.open(state_dir).sessions if one.agent_id == "both")
    ids = [entry.id for entry in session.read()]
    assert len(session.copies) == 3
    assert sorted(ids) == sorted({record["id"] for record in [*talk.records, *only_file]})
    assert len(ids) == before + 2
    assert session.kinds == ("jsonl", "sqlite")
    assert (session.session_key, session.ending) == ("agent:both:main", None)


def test_records_without_ids_are_delivered_once_too(tmp_path: Path, make: ModuleType) -> None:
    sessions = tmp_path / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    content = make.lines(make.version_1())
    (sessions / f"{make.VERSION_1}.jsonl").write_bytes(content)
    (sessions / f"{make.VERSION_1}.jsonl.bak-1-2").write_bytes(content)
    (session,) = Catalogue.open(tmp_path).sessions
    assert len(list(session.read())) == content.count(b"\n")


def test_sub_agents_cron_and_utility_runs_are_skipped_unless_asked_for(state_dir: Path, make: ModuleType) -> None:
    skipped = {make.SUBAGENT, make.CRON, make.TEMP}
    assert not skipped & {one.session_id for one in Catalogue.open(state_dir).sessions}
    everything = {one.session_id: one.skip for one in Catalogue.open(state_dir, skip=frozenset()).sessions}
    assert {key: everything[key] for key in skipped} == {
        make.SUBAGENT: "subagent",
        make.CRON: "cron",
        make.TEMP: "temp",
    }
    some = {one.session_id for one in Catalogue.open(state_dir, skip={"temp"}).sessions}
    assert some & skipped == {make.SUBAGENT, make.CRON}


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("agent:main:main", None),
        ("agent:main:telegram:dm:1", None),
        ("agent:main:subagent:1", "subagent"),
        ("agent:main:main:subagent:1:subagent:2", "subagent"),
        ("agent:main:cron:1:run:2", "cron"),
        ("temp:slug-generator", "temp"),
        ("agent:main:temp:x", "temp"),
        ("agent:temp:main", None),
        (None, None),
    ],
)
def test_session_keys_say_whose_session_it_is(key: str | None, reason: str | None) -> None:
    assert skip_reason(key) == reason


@pytest.mark.parametrize(
    ("entry", "key", "channel"),
    [
        ({"lastChannel": "webchat", "origin": {"provider": "slack"}}, "agent:main:telegram:dm:1", "webchat"),
        ({"deliveryContext": {"channel": "signal"}, "origin": {"provider": "slack"}}, None, "signal"),
        ({"origin": {"provider": "slack"}}, None, "slack"),
        ({"delivery": {"kind": "external", "channel": "matrix"}}, "agent:main:main", "matrix"),
        ({"delivery": {"kind": "internal"}}, "agent:main:main", "unknown"),
        ({"lastChannel": 3}, "agent:main:telegram:dm:1", "telegram"),
        ({}, "agent:main:main", "unknown"),
        ({}, "agent:main:cron:1", "unknown"),
        ({}, None, "unknown"),
    ],
)
def test_the_channel_comes_from_the_index_then_the_key(entry: dict[str, object], key: str | None, channel: str) -> None:
    assert channel_of(entry, key) == channel  # DECISION 51


def test_a_session_or_stretch_is_found_by_its_prefix(state_dir: Path, make: ModuleType) -> None:
    catalogue = Catalogue.open(state_dir)
    assert catalogue.find("2222")[0].session_id == make.WAS_RESET
    session, stretch = catalogue.find(stretch_id(make.RESET_IN_PLACE, "c17cba32")[:13])
    assert (session.session_id, stretch and stretch.number) == (make.RESET_IN_PLACE, 1)
    with pytest.raises(AmbiguousSessionId):
        catalogue.find("")
    with pytest.raises(SessionNotFound):
        catalogue.find("nobody")


def test_nothing_there_is_no_error(tmp_path: Path) -> None:
    assert Catalogue.open(tmp_path).sessions == []
