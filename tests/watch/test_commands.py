"""`watch --once`, `backfill` and `status` keep to the contract."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.cli.main import main
from jsonlstore.store.store import SessionStore
from tests.watch.conftest import Database, OpenClaw, Talk, derived, line

if TYPE_CHECKING:
    from pathlib import Path

SID = "11111111-aaaa-4aaa-8aaa-111111111111"
OTHER = "22222222-aaaa-4aaa-8aaa-222222222222"


class Command:
    """`jsonlstore` on one state directory."""

    def __init__(self, state_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._state_dir = state_dir
        self._capsys = capsys

    def __call__(self, *words: str, expect: int = 0) -> Any:
        self._capsys.readouterr()
        assert main(["--state-dir", str(self._state_dir), *words, "--json"]) == expect
        return json.loads(self._capsys.readouterr().out)


@pytest.fixture
def run(state_dir: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(state_dir, capsys)


def test_backfill_twice_changes_nothing_the_second_time(openclaw: OpenClaw, state_dir: Path, run: Command) -> None:
    openclaw.begin(SID, "antenna")
    openclaw.begin(OTHER, "harbour", day=22)
    first = run("backfill")
    assert (first["transcripts"], first["written"], first["archived"]) == (2, 2, 1)
    tree = {path: path.read_bytes() for path in (state_dir / "sessions").rglob("*") if path.is_file()}
    second = run("backfill")
    assert (second["written"], second["unchanged"]) == (0, 2)
    assert {path: path.read_bytes() for path in (state_dir / "sessions").rglob("*") if path.is_file()} == tree


def test_a_dry_run_says_what_it_would_read_and_writes_nothing(
    openclaw: OpenClaw, state_dir: Path, run: Command
) -> None:
    openclaw.begin(SID, "antenna")
    assert run("backfill", "--dry-run")["behind"] == [SID]
    assert run("watch", "--once", "--dry-run")["behind"] == [SID]
    assert not (state_dir / "sessions").exists()


def test_history_is_linked_oldest_first_whatever_order_the_files_have(
    openclaw: OpenClaw, state_dir: Path, run: Command
) -> None:
    ids = [f"{n:08x}-eeee-4eee-8eee-eeeeeeeeeeee" for n in (7, 3, 9, 1)]
    for day, sid in enumerate(ids, 10):
        openclaw.begin(sid, "antenna", day=day)
        openclaw.rename(sid, f"reset.2026-09-{day}T20-00-00.000Z")
    for at, path in enumerate(sorted(openclaw.sessions.glob("*.reset.*"))):
        os.utime(path, (1_790_000_000 - at, 1_790_000_000 - at))
    openclaw.remember()
    run("backfill")
    store = SessionStore.open(state_dir)
    assert [store.get(sid).previous_session_id for sid in ids] == [None, *ids[:-1]]
    assert [one.session_id for one in store.chain(ids[-1], 9)] == ids


def test_an_interrupted_backfill_goes_on_where_it_was(
    openclaw: OpenClaw, state_dir: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [f"{n:08x}-eeee-4eee-8eee-eeeeeeeeeeee" for n in range(6)]
    for day, sid in enumerate(ids, 10):
        openclaw.begin(sid, "antenna", day=day, key=f"agent:main:web:dm:{day}")
    started: list[str] = []
    start = SessionStore.start

    def interrupted(self: SessionStore, session_id: str, **fields: Any) -> bool:
        if len(started) == 3:
            raise KeyboardInterrupt
        started.append(session_id)
        return start(self, session_id, **fields)

    monkeypatch.setattr(SessionStore, "start", interrupted)
    assert main(["--state-dir", str(state_dir), "backfill"]) == 130
    monkeypatch.undo()
    assert run("backfill")["written"] == 3
    assert sorted(derived(state_dir)) == ids


def test_a_transcript_elsewhere_can_be_named(openclaw: OpenClaw, state_dir: Path, tmp_path: Path, run: Command) -> None:
    elsewhere = OpenClaw(tmp_path / "old-machine", "helper")
    elsewhere.begin(SID, "antenna")
    run("backfill", str(tmp_path / "old-machine"))
    assert SessionStore.open(state_dir).get(SID).agent_id == "helper"
    talk = Talk(OTHER)
    (tmp_path / "one").mkdir()
    single = tmp_path / "one" / "talk.jsonl"
    single.write_bytes(b"".join(map(line, [talk.header, *talk.turn("harbour")])))
    run("backfill", str(single))
    assert "harbour" in SessionStore.open(state_dir).get(OTHER).hot_topics
    assert run("backfill", str(tmp_path / "nowhere"), expect=1)["error"]["code"] == "source_unreadable"


def test_status_has_the_keys_of_the_contract(openclaw: OpenClaw, database: Database, run: Command) -> None:
    openclaw.begin(SID, "antenna")
    talk = Talk(OTHER)
    database.add(OTHER, [talk.header, *talk.turn("harbour")], key="agent:main:x:dm:u")
    document = run("status")
    assert set(document) == {"state_dir", "sources", "store", "watcher", "bridges", "warnings"}
    rows = {row["kind"]: row for row in document["sources"]}
    assert rows["jsonl"]["lag_bytes"] == openclaw.path(SID).stat().st_size
    assert rows["sqlite"]["lag_events"] == 3
    assert set(rows["jsonl"]) == {"agent_id", "kind", "path", "transcripts", "newest_event_at", "lag_bytes"}
    assert set(document["store"]) == {"sessions", "active", "crashed", "bytes", "index_ok"}
    assert {"running", "pid", "last_event_at", "last_scan_at", "overflows"} <= set(document["watcher"])
    assert set(document["bridges"]) == {"brain_db", "openclaw_plugin"}
    assert "no watcher" in document["warnings"][0]
    assert not run("status", "--expect-watcher", expect=1)["watcher"]["running"]
    run("watch", "--once")
    document = run("status")
    assert [row.get("lag_bytes", row.get("lag_events")) for row in document["sources"]] == [0, 0]
    assert (document["store"]["sessions"], document["store"]["active"]) == (2, 2)


def test_a_header_alone_or_an_empty_file_is_not_lag(openclaw: OpenClaw, run: Command) -> None:
    openclaw.append(SID, Talk(SID).header)
    (openclaw.sessions / "empty.jsonl").touch()
    openclaw.remember()
    run("watch", "--once")
    assert run("status")["sources"][0]["lag_bytes"] == 0


@pytest.mark.parametrize("damage", ["schema", "garbage", "unknown era"])
def test_what_cannot_be_read_is_a_warning_and_fails(
    openclaw: OpenClaw, database: Database, run: Command, damage: str
) -> None:
    if damage == "schema":
        database.run(("DROP TABLE transcript_events", ()))
    elif damage == "garbage":
        database.path.write_bytes(b"not a database at all" * 500)
    else:
        database.path.rename(database.path.with_name("openclaw-agent-v2.db"))
    openclaw.remember()
    document = run("status", expect=1)
    assert any("openclaw-agent" in warning for warning in document["warnings"])


def test_a_thousand_sessions_are_looked_at_quickly_the_second_time(openclaw: OpenClaw, run: Command) -> None:
    """The second look costs a small part of the first: nothing is read again."""
    for number in range(300):
        talk = Talk(f"{number:08x}-eeee-4eee-8eee-eeeeeeeeeeee", day=1 + number % 28)
        openclaw.path(talk.session_id).write_bytes(b"".join(map(line, [talk.header, *talk.turn("antenna")])))
    openclaw.refer("agent:main:main", "none")
    started = time.perf_counter()
    assert run("backfill")["written"] == 300
    first, started = time.perf_counter() - started, time.perf_counter()
    assert run("backfill")["written"] == 0
    assert time.perf_counter() - started < first / 3


def test_status_says_how_brain_db_stands(tmp_path: Path) -> None:
    """NFR-003 and issue 7: a brain.db that cannot be used is a warning in `status`, and no reason to fail."""
    state = tmp_path / "state"
    brain = state / "workspace" / "memory" / "brain.db"
    brain.parent.mkdir(parents=True)
    brain.write_bytes(b"this is not a database, whatever its name says" * 100)
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(state), "status", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert document["bridges"]["brain_db"]["enabled"] is True
    assert document["bridges"]["brain_db"]["warning"] in document["warnings"]
    brain.unlink()
    without = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert without["bridges"]["brain_db"] is None
