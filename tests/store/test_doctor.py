"""doctor sees what is wrong, changes nothing unless asked, and mends what logs can mend."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from jsonlstore.store.doctor import Check, Doctor
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def well(store: SessionStore) -> SessionStore:
    for name in ("a", "b", "cold", "gone"):
        store.start(name)
        store.update(name, {"hot_topics": [name]})
        store.end(name)
    store.start("open")
    store.archive("cold")
    store.forget("gone")
    store.metrics.emit(
        {
            "event": "session_chain_traversal",
            "start_session_id": "a",
            "requested_depth": 1,
            "sessions_found": 1,
            "oldest_session_age_hours": 1,
        }
    )
    return store


def failing(store: SessionStore, *, fix: bool = False, quarantine: bool = False) -> list[str]:
    doctor = Doctor(SessionStore.open(store.paths.state_dir))
    return [check.name for check in doctor.examine(fix=fix, quarantine=quarantine) if not check.ok]


def snapshot(root: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(path): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in root.rglob("*")
    }


def _old_temp(store: SessionStore) -> None:
    temp = store.paths.states / ".tmp-1-abc"
    temp.touch(0o600)
    os.utime(temp, (0, 0))


def _torn_tail(store: SessionStore) -> None:
    with open(store.paths.log("open"), "ab") as file:
        file.write(b"torn")


FAULTS: dict[str, tuple[Callable[[SessionStore], object], str]] = {
    "an open file": (lambda store: os.chmod(store.paths.log("a"), 0o644), "modes"),
    "an open directory": (lambda store: os.chmod(store.paths.states, 0o755), "modes"),
    "a temporary file": (_old_temp, "temporary files"),
    "a torn tail": (_torn_tail, "log tails"),
    "a missing index": (lambda store: store.paths.index.unlink(), "index"),
    "an empty index": (lambda store: store.paths.index.write_bytes(b""), "index"),
    "a missing mirror": (lambda store: store.paths.mirror("a").unlink(), "mirrors"),
    "an old mirror": (lambda store: store.paths.mirror("a").write_bytes(b"{}"), "mirrors"),
    "a missing archive state": (lambda store: store.paths.archived_state("cold", "2026-02").unlink(), "archive"),
    "a mirror left by archiving": (lambda store: store.paths.mirror("cold").write_bytes(b"{}"), "archive"),
    "an archive state of a hot session": (
        lambda store: store.paths.archived_state("a", "2026-02").write_bytes(b"{}"),
        "archive",
    ),
    "a mirror left by forgetting": (lambda store: store.paths.mirror("gone").write_bytes(b"{}"), "forgotten"),
    "a lost metrics head": (lambda store: store.paths.metrics_head.unlink(), "metrics"),
}


def test_a_healthy_store_is_healthy_and_untouched(well: SessionStore) -> None:
    before = snapshot(well.paths.state_dir)
    assert failing(well) == []
    assert snapshot(well.paths.state_dir) == before


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen_left_alone_and_mended_on_request(well: SessionStore, name: str) -> None:
    state = well.get("a"), well.get("cold")
    break_it, check = FAULTS[name]
    break_it(well)
    os.chmod(well.paths.states, 0o755 if name == "an open directory" else 0o700)
    before = snapshot(well.paths.state_dir)
    assert check in failing(well)
    assert snapshot(well.paths.state_dir) == before, "read-only without --fix"
    assert failing(well, fix=True) == []
    assert failing(well) == []
    assert (well.get("a"), well.get("cold")) == state


def test_a_damaged_line_is_reported_with_its_place_and_never_dropped(well: SessionStore) -> None:
    path = well.paths.log("open")
    with open(path, "ab") as file:
        file.write(b"\x00damaged\n")
    well.update("open", {"hot_topics": ["after"]})
    found = {check.name: check for check in Doctor(well).examine(fix=True)}
    assert not found["logs"].ok
    assert "open.jsonl at byte" in found["logs"].detail
    assert b"\x00damaged\n" in path.read_bytes()


def test_a_damaged_line_goes_into_quarantine_on_request_and_the_doctor_is_content(well: SessionStore) -> None:
    """Byte for byte, in hot and archived logs; every event stays, and so does the state."""
    hurt = [well.paths.log("open"), next(well.paths.archive.rglob("cold.jsonl"))]
    states = well.get("a"), well.get("cold"), well.get("open")
    for path in hurt:
        data = path.read_bytes()
        first = data.index(b"\n") + 1
        path.write_bytes(data[:first] + b"\x00damaged\n\n" + data[first:] + b"{}\n")
    events = {path: [json.loads(line) for line in path.read_bytes().split(b"\n") if b'"seq"' in line] for path in hurt}
    assert "logs" in failing(well, fix=True)
    assert "logs" not in failing(well, fix=True, quarantine=True)
    assert failing(well) == []
    for path in hurt:
        assert [json.loads(line) for line in path.read_bytes().splitlines()] == events[path]
    kept = [path.read_bytes() for path in well.paths.quarantine.iterdir()]
    assert sorted(kept) == sorted([b"\x00damaged\n", b"\n", b"{}\n"] * 2)
    assert (well.get("a"), well.get("cold"), well.get("open")) == states
    well.forget("open")
    assert not any(path.name.startswith("open.") for path in well.paths.quarantine.iterdir())


def test_a_record_that_breaks_the_schema_is_reported(well: SessionStore) -> None:
    path = well.paths.log("open")
    path.write_bytes(path.read_bytes().replace(b'"by":"hook"', b'"by":"stranger"'))
    found = {check.name: check for check in Doctor(SessionStore.open(well.paths.state_dir)).examine()}
    assert "stranger" in found["logs"].detail


def test_an_empty_place_is_healthy(tmp_path: Path) -> None:
    assert failing(SessionStore.open(tmp_path / "none")) == []
    assert not (tmp_path / "none").exists()


def test_a_check_says_what_to_do() -> None:
    assert Check("index", False, "missing", "rebuild").to_dict() == {
        "name": "index", "ok": False, "detail": "missing", "fix": "rebuild",
    }  # fmt: skip
