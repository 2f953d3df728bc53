"""What a kill leaves half done is finished at the next start, without a doctor, and nothing else is touched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import orjson
import pytest

from jsonlstore.store.doctor import Doctor, repair_unfinished

if TYPE_CHECKING:
    from jsonlstore.store.store import SessionStore


@pytest.fixture
def ended(store: SessionStore) -> SessionStore:
    for name in ("one", "two"):
        store.start(name, channel="webchat")
        store.end(name, {"hot_topics": ["antenna"]}, reason="new")
    return store


def healthy(store: SessionStore) -> bool:
    return all(check.ok for check in Doctor(store).examine())


def test_a_store_that_is_whole_is_left_as_it_is(ended: SessionStore) -> None:
    ended.archive("two")
    before = {path: path.stat().st_mtime_ns for path in ended.paths.sessions.rglob("*")}
    assert repair_unfinished(ended) == 0
    assert {path: path.stat().st_mtime_ns for path in ended.paths.sessions.rglob("*")} == before


def test_a_mirror_that_was_never_written_is(ended: SessionStore) -> None:
    ended.paths.mirror("one").unlink()
    assert repair_unfinished(ended) == 1
    assert healthy(ended)


def test_a_mirror_older_than_its_log_is_written_again(ended: SessionStore) -> None:
    old = ended.paths.mirror("one").read_bytes()
    ended.update("one", {"next_step": "paint the windmill"}, by="watcher")
    ended.paths.mirror("one").write_bytes(old)
    log = ended.paths.log("one").stat().st_mtime_ns
    os.utime(ended.paths.mirror("one"), ns=(log - 1, log - 1))
    assert not healthy(ended)
    assert repair_unfinished(ended) == 1
    assert healthy(ended)


def test_a_mirror_of_an_earlier_version_is_as_good_as_ours(ended: SessionStore) -> None:
    """It lacks the fields that came later. An upgrade must not make every old session look damaged."""
    mirror = ended.paths.mirror("one")
    whole = orjson.loads(mirror.read_bytes())
    later = {key for key, value in whole.items() if value in (None, [], {})} - {"continued_by"}
    assert {"commits", "closed", "last_request"} <= later
    mirror.write_bytes(orjson.dumps({key: value for key, value in whole.items() if key not in later}))
    assert healthy(ended)
    for wrong in ({**whole, "next_step": "paint"}, {**whole, "hot_topics": []}, [whole]):
        mirror.write_bytes(orjson.dumps(wrong))
        assert not healthy(ended)


def test_what_a_handoff_adds_to_the_log_leaves_the_mirror_alone(ended: SessionStore) -> None:
    """It is no part of the state; a start that finds the mirror older than the log looks once, and repairs nothing."""
    mirror = ended.paths.mirror("one")
    os.utime(mirror, ns=(1, 1))
    before = mirror.stat()
    assert ended.append_if("one", lambda _: ("handoff.offered", {"session_id": "two"}), by="hook")
    assert (mirror.stat().st_ino, mirror.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert healthy(ended)
    assert repair_unfinished(ended) == 0
    assert mirror.stat().st_ino == before.st_ino
    assert mirror.stat().st_mtime_ns >= ended.paths.log("one").stat().st_mtime_ns


def test_a_move_to_the_archive_that_was_cut_short_is_finished_or_undone(ended: SessionStore) -> None:
    mirror, log = ended.paths.mirror("one").read_bytes(), ended.paths.log("one").read_bytes()
    month = ended.archive("one")
    ended.paths.mirror("one").write_bytes(mirror)  # died before it was removed
    assert repair_unfinished(ended) == 1
    assert healthy(ended)
    ended.paths.archived_log("one", month).unlink()
    ended.paths.log("one").write_bytes(log)  # died before the log was moved
    ended.paths.log("one").chmod(0o600)
    assert repair_unfinished(ended) >= 1
    assert healthy(ended)


def test_an_open_session_has_no_mirror_to_mend(store: SessionStore) -> None:
    store.start("one", channel="webchat")
    assert repair_unfinished(store) == 0
    assert not store.paths.mirror("one").exists()


def test_a_forgotten_session_stays_forgotten(ended: SessionStore) -> None:
    ended.archive("one")
    ended.forget("one")
    ended.forget("two")
    assert repair_unfinished(ended) == 0
    assert healthy(ended)


def test_nothing_to_mend_where_there_is_nothing(store: SessionStore) -> None:
    assert repair_unfinished(store) == 0
    assert not store.paths.sessions.exists()
