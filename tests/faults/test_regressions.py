"""Faults that need a certain order of things, one test each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.store.doctor import Doctor
from tests.faults.runner import assert_index_is_exact, assert_mended
from tests.faults.scenarios import open_store

if TYPE_CHECKING:
    from pathlib import Path


def test_a_start_without_its_newline_then_an_update(tmp_path: Path) -> None:
    """The index read before the newline was added agrees with one rebuilt after."""
    open_store(tmp_path).start("a", channel="cli")
    log = tmp_path / "sessions/states/a.jsonl"
    log.write_bytes(log.read_bytes().removesuffix(b"\n"))
    (tmp_path / "sessions/states/sessions.json").unlink()
    store = open_store(tmp_path)
    assert_index_is_exact(store)
    assert store.update("a", {"next_step": "go on"})
    assert_index_is_exact(store)
    assert_mended(store)


def test_a_mirror_is_not_mended_once_its_session_is_forgotten(tmp_path: Path) -> None:
    """A doctor that saw an old mirror, and mends it after someone else forgot the session, writes nothing."""
    store = open_store(tmp_path)
    store.start("a", channel="cli")
    store.end("a", reason="new")
    store.forget("a")
    assert not store.repair_mirror("a")
    assert not store.paths.mirror("a").exists()


def test_an_old_mirror_is_mended(tmp_path: Path) -> None:
    """A mirror that was lost or changed is written again from the log."""
    store = open_store(tmp_path)
    store.start("a", channel="cli")
    store.end("a", reason="new")
    whole = store.paths.mirror("a").read_bytes()
    store.paths.mirror("a").write_bytes(b"")
    assert [check.name for check in Doctor(store).examine() if not check.ok] == ["mirrors"]
    assert_mended(store)
    assert store.paths.mirror("a").read_bytes() == whole
