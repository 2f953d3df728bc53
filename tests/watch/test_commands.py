"""`watch --once`, `backfill` and `status` keep to the contract."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.cli.main import main
from jsonlstore.core.clock import format_time, parse_time
from jsonlstore.store.bulk import BulkStore
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.watch.backfill import backfill_sessions
from jsonlstore.watch.instance import single_instance
from jsonlstore.watch.tail import Tailer
from tests.conftest import FakeClock
from tests.watch.conftest import Database, OpenClaw, Talk, derived, line, stamp

if TYPE_CHECKING:
    from pathlib import Path

SID = "11111111-aaaa-4aaa-8aaa-111111111111"
THIRD = "33333333-aaaa-4aaa-8aaa-333333333333"
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


def test_a_long_history_is_filed_away_portion_by_portion(openclaw: OpenClaw, state_dir: Path, run: Command) -> None:
    """More than one portion of it, and what had ended long before without a transcript."""
    store = SessionStore.open(state_dir, clock=FakeClock("2026-01-02T03:04:05+00:00"))
    store.start("alone")
    store.end("alone", reason="new")
    ids = [f"{n:08x}-eeee-4eee-8eee-eeeeeeeeeeee" for n in range(230)]
    for at, sid in enumerate(ids):
        openclaw.begin(sid, "antenna", day=1 + at // 12)
        openclaw.rename(sid, f"reset.2026-09-{1 + at // 12:02}T{10 + at % 12}-00-00.000Z")
    assert run("backfill")["archived"] == 231
    store = SessionStore.open(state_dir)
    assert {one.session_id for one in store.entries() if one.archived} == {"alone", *ids}
    assert not store.index.rebuild()


@pytest.mark.parametrize("deed", ["resume", "forget", "end"])
def test_what_others_do_during_a_backfill_is_not_undone(openclaw: OpenClaw, state_dir: Path, deed: str) -> None:
    """A session that is continued, forgotten or ended anew in mid-course is not filed away as what it was before."""
    ids = [f"{n:08x}-eeee-4eee-8eee-eeeeeeeeeeee" for n in range(4)]
    for day, sid in enumerate(ids, 10):
        openclaw.begin(sid, "antenna", day=day)
        openclaw.rename(sid, f"reset.2026-09-{day}T20-00-00.000Z")
    clock = FakeClock("2027-01-02T03:04:05+00:00")
    other, calls = SessionStore.open(state_dir, clock=clock), 0

    def meanwhile(_done: int, _total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:  # after two of four
            if deed == "forget":
                other.forget(ids[0])
                return
            other.resume(ids[0])
            if deed == "end":
                other.end(ids[0], reason="new")

    archive_after, catalogue = timedelta(days=30), Catalogue.open(state_dir)
    bulk = BulkStore.of(SessionStore.open(state_dir, clock=clock), archive_after)
    told = backfill_sessions(
        Tailer(bulk), bulk, catalogue, catalogue.sessions, archive_after=archive_after, progress=meanwhile
    )
    assert (told.written, told.archived, told.failed) == (4, 3, {})
    entry = json.loads(other.paths.index.read_bytes())["sessions"][ids[0]]
    assert not entry.get("archived")
    assert bool(entry.get("forgotten")) == (deed == "forget")
    assert ("hot_topics" in entry) == (deed != "forget")
    assert not other.index.rebuild()


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


def test_a_single_file_brings_its_other_copies_its_conversation_and_its_end(
    openclaw: OpenClaw, tmp_path: Path, state_dir: Path, run: Command
) -> None:
    elsewhere = OpenClaw(tmp_path / "old-machine", "helper")
    talk = elsewhere.begin(SID, "antenna", key="agent:helper:telegram:dm:1")
    kept = elsewhere.path(SID).read_bytes()
    (elsewhere.sessions / f"{SID}.jsonl.bak-1-2").write_bytes(kept)
    elsewhere.append(SID, *talk.turn("harbour"))
    run("backfill", str(elsewhere.sessions / f"{SID}.jsonl.bak-1-2"))
    state = SessionStore.open(state_dir).get(SID)
    assert (state.agent_id, state.session_key) == ("helper", "agent:helper:telegram:dm:1")
    assert "harbour" in state.hot_topics
    alone = tmp_path / "downloads" / f"{OTHER}.jsonl.reset.2026-09-21T15-00-00.000Z"
    alone.parent.mkdir()
    other = Talk(OTHER)
    alone.write_bytes(b"".join(map(line, [other.header, *other.turn("crane")])))
    run("backfill", str(alone))
    state = SessionStore.open(state_dir).get(OTHER)
    assert (state.agent_id, state.end_reason) == ("main", "reset")


def test_a_database_or_an_agent_s_directory_can_be_named_wherever_it_lies(
    openclaw: OpenClaw, database: Database, tmp_path: Path, state_dir: Path, run: Command
) -> None:
    talk = Talk(OTHER)
    database.add(OTHER, [talk.header, *talk.turn("harbour")])
    elsewhere = tmp_path / "backup" / "main"
    shutil.copytree(openclaw.agent_dir, elsewhere)
    for at, path in enumerate((elsewhere, elsewhere / "agent/openclaw-agent.sqlite", database.path)):
        other = tmp_path / f"new-{at}"
        assert main(["--state-dir", str(other), "backfill", str(path)]) == 0
        assert SessionStore.open(other).get(OTHER).agent_id == "main"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("talk.txt", b"hello\nworld\n"),
        ("noise.jsonl", bytes(range(256)) * 20),
        ("nothing.jsonl", b"\0" * 5000),
        ("database.sqlite", b"SQLite format 3\0" + bytes(4080)),
        ("one.trajectory.jsonl", b'{"type":"session","id":"x"}\n'),
        ("one.jsonl.lock", b'{"pid":1}\n'),
        ("sessions.json", b"{}"),
    ],
)
def test_a_file_that_is_no_transcript_is_not_taken_for_one(
    name: str, content: bytes, tmp_path: Path, run: Command
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert run("backfill", str(path), expect=1)["error"]["code"] == "source_unreadable"


def test_what_could_not_be_read_fails_whoever_wanted_to_read_it(
    openclaw: OpenClaw, state_dir: Path, run: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    openclaw.begin(SID, "antenna")
    assert run("watch", "--once")["warnings"] == []
    (openclaw.agent_dir / "agent").mkdir()
    (openclaw.agent_dir / "agent" / "openclaw-agent.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    openclaw.remember()
    assert "openclaw-agent.sqlite" in run("watch", "--once", expect=1)["warnings"][0]
    assert "openclaw-agent.sqlite" in run("backfill", expect=1)["warnings"][0]
    assert main(["--state-dir", str(state_dir), "watch", "--once"]) == 1
    assert "warning: cannot read" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("place", ["agents", "agents/main", "agents/main/sessions", "agents/main/agent"])
def test_a_directory_nobody_may_look_into_fails_every_look(
    openclaw: OpenClaw, database: Database, state_dir: Path, run: Command, place: str
) -> None:
    openclaw.begin(SID, "antenna")
    run("watch", "--once")
    (state_dir / place).chmod(0)
    try:
        for words in (["status"], ["watch", "--once"], ["backfill"], ["backfill", str(state_dir)]):
            warnings = run(*words, expect=1)["warnings"]
            assert any(place in warning for warning in warnings), words
            assert len(set(warnings)) == len(warnings)
    finally:
        (state_dir / place).chmod(0o700)
    run("status")
    assert SessionStore.open(state_dir).get(SID).end_time is None


def test_an_agent_on_a_disk_that_is_not_mounted_fails_every_look(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path, run: Command
) -> None:
    openclaw.begin(SID, "antenna")
    run("watch", "--once")
    (state_dir / "agents" / "work").symlink_to(tmp_path / "not" / "mounted")
    openclaw.remember()
    for words in (["status"], ["watch", "--once"], ["backfill"]):
        assert any("agents/work" in warning for warning in run(*words, expect=1)["warnings"]), words


def test_a_backup_inside_the_state_directory_can_be_named(openclaw: OpenClaw, state_dir: Path, run: Command) -> None:
    """The nearest agent's directory counts, not the first one above that has `agents` in it."""
    openclaw.begin(SID, "antenna")
    backup = state_dir / "backups" / "main"
    (state_dir / "backups").mkdir()
    openclaw.agent_dir.rename(backup)
    openclaw.agent_dir.mkdir()
    openclaw.remember()
    assert run("backfill", str(backup))["written"] == 1
    empty = state_dir / "backups" / "empty"
    empty.mkdir()
    assert run("backfill", str(empty), expect=1)["error"]["code"] == "source_unreadable"


def test_what_could_not_be_kept_fails_a_single_look(openclaw: OpenClaw, state_dir: Path, run: Command) -> None:
    import resource

    talk = openclaw.begin(SID, "antenna")
    run("watch", "--once")
    openclaw.append(SID, *talk.turn("harbour"))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (state_dir / "sessions" / "states" / f"{SID}.jsonl").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, limits[1]))
    try:
        assert "cannot write" in run("watch", "--once", expect=1)["warnings"][0]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert run("watch", "--once") == {"written": 1, "sources": 1, "warnings": []}


def test_transcripts_in_a_form_nobody_knows_yet_are_not_silence(
    openclaw: OpenClaw, database: Database, run: Command
) -> None:
    """Lines that are no records, rows packed in a new way: there is something, and it cannot be read."""
    talk = openclaw.begin(SID, "antenna")
    database.add(OTHER, [talk.header, *talk.turn("harbour")], key="agent:main:x:dm:u")
    run("watch", "--once")
    run("status")
    openclaw.write(THIRD, b"\x93\x01 packed\n" * 20)
    assert any(f"{THIRD}.jsonl" in warning for warning in run("status", expect=1)["warnings"])
    openclaw.path(THIRD).unlink()
    openclaw.write(THIRD, b'{"type":"mess')  # only just being written
    run("status")
    database.run(
        ("ALTER TABLE transcript_events RENAME TO before", ()),
        ("CREATE TABLE transcript_events AS SELECT *, NULL AS event_new FROM before", ()),
        ("DROP TABLE before", ()),
        ("UPDATE transcript_events SET event_new = event_json, event_json = NULL WHERE seq = 2", ()),
    )
    assert any("1 of the events" in warning for warning in run("status", expect=1)["warnings"])


def test_status_has_the_keys_of_the_contract(openclaw: OpenClaw, database: Database, run: Command) -> None:
    openclaw.begin(SID, "antenna")
    talk = Talk(OTHER)
    database.add(OTHER, [talk.header, *talk.turn("harbour")], key="agent:main:x:dm:u")
    document = run("status", expect=1)  # the talk is of September, and nobody has read it
    assert set(document) == {
        "state_dir",
        "sources",
        "store",
        "search",
        "pipeline",
        "handoff",
        "context",
        "watcher",
        "bridges",
        "warnings",
    }
    rows = {row["kind"]: row for row in document["sources"]}
    assert rows["jsonl"]["lag_bytes"] == openclaw.path(SID).stat().st_size
    assert rows["sqlite"]["lag_events"] == 3
    assert set(rows["jsonl"]) == {"agent_id", "kind", "path", "transcripts", "newest_event_at", "lag_bytes"}
    assert set(document["store"]) == {"sessions", "active", "crashed", "bytes", "index_ok"}
    assert {"running", "pid", "last_event_at", "last_scan_at", "overflows"} <= set(document["watcher"])
    assert set(document["bridges"]) == {"brain_db", "openclaw_plugin"}
    assert document["state_dir"] == str(openclaw.state_dir)
    assert "2 transcripts have been unread for more than 10 minutes" in document["warnings"][0]
    assert "no watcher" in document["warnings"][1]
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


def test_a_running_watcher_that_is_behind_fails_the_status(openclaw: OpenClaw, state_dir: Path, run: Command) -> None:
    path = openclaw.path(SID)
    openclaw.begin(SID, "antenna")
    with single_instance(SessionStore.open(state_dir).paths):
        assert run("status")["warnings"] == []
        an_hour_ago = time.time() - 3600
        os.utime(path, (an_hour_ago, an_hour_ago))
        openclaw.remember()
        document = run("status", expect=1)
    assert document["sources"][0]["lag_bytes"] == path.stat().st_size
    assert "behind" in document["warnings"][0]


@pytest.mark.parametrize("era", ["jsonl", "sqlite"])
def test_without_a_watcher_status_fails_once_something_waits_too_long(
    openclaw: OpenClaw, database: Database, state_dir: Path, run: Command, era: str
) -> None:
    """Counted from the first entry nobody has read, however busy the session is; the setting says how long."""
    talk = Talk(SID)
    first = [talk.header, *talk.turn("antenna")]
    if era == "jsonl":
        openclaw.append(SID, *first)
        openclaw.refer("agent:main:main", SID)
    else:
        database.add(SID, first)
    last = talk.number

    def status(minutes: float, expect: int) -> list[str]:
        now = format_time(parse_time(stamp(last + 1)) + timedelta(minutes=minutes))
        return [one for one in run("status", "--now", now, expect=expect)["warnings"] if "unread" in one]

    status(11, 1)  # not read at all
    run("watch", "--once")
    assert status(600, 0) == []
    more = talk.turn("mast")
    if era == "jsonl":
        openclaw.append(SID, *more)
    else:
        database.append(SID, len(first), *more)
    assert status(9, 0) == []
    (said,) = status(11, 1)
    assert said.startswith("1 transcript has been unread for more than 10 minutes (the oldest since 2026-09-21T")
    settings = {"plugins": {"entries": {"jsonlstore": {"config": {"status": {"max_lag_minutes": 60}}}}}}
    (state_dir / "openclaw.json").write_text(json.dumps(settings))
    assert status(11, 0) == []
    status(61, 1)


@pytest.mark.parametrize("era", ["jsonl", "sqlite"])
def test_what_was_forgotten_is_not_behind(openclaw: OpenClaw, database: Database, run: Command, era: str) -> None:
    """Not for `status`, nor for a dry run; what comes after it in the same transcript is."""
    talk = Talk(SID)
    records = [talk.header, *talk.turn("antenna"), talk.reset(), *talk.turn("mast")]
    if era == "jsonl":
        openclaw.append(SID, *records)
        openclaw.refer("agent:main:main", SID)
    else:
        database.add(SID, records)
    run("watch", "--once")
    for row in run("list"):
        run("forget", row["session_id"], "--yes")
    document = run("status")
    assert [row.get("lag_bytes", row.get("lag_events")) for row in document["sources"] if row["transcripts"]] == [0]
    assert run("watch", "--once", "--dry-run")["behind"] == []
    assert run("backfill", "--dry-run")["behind"] == []


def test_a_full_disk_fails_the_status(tmp_path: Path) -> None:
    """Before anything is lost: the watcher could not write another record."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    try:
        SessionStore.open(place / "state").start("a", channel="cli")
        command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(place / "state"), "status"]
        nearly = subprocess.run(command, capture_output=True, text=True, check=False)
        assert nearly.returncode == 0
        assert "warning: the disk is nearly full: " in nearly.stdout
        with pytest.raises(OSError, match="No space left"):
            (place / "filler").write_bytes(b"x" * 9_000_000)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "warning: the disk is full: " in done.stdout
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_an_era_without_a_reader_is_not_silence(openclaw: OpenClaw, run: Command) -> None:
    (openclaw.agent_dir / "agent").mkdir()
    (openclaw.agent_dir / "agent" / "openclaw-agent-v3.sqlite").write_bytes(b"something new")
    openclaw.remember()
    assert any("no reader for" in warning for warning in run("status", expect=1)["warnings"])


@pytest.mark.parametrize(
    ("option", "expected"),
    [((), ["started", "ended: reset"]), (("-q",), [])],
)
def test_one_line_is_logged_per_boundary_and_none_if_asked_to_be_quiet(
    openclaw: OpenClaw, state_dir: Path, option: tuple[str, ...], expected: list[str]
) -> None:
    openclaw.begin(SID, "antenna")
    openclaw.rename(SID, f"reset.{stamp(9).replace(':', '-')}")
    command = [sys.executable, "-m", "jsonlstore", *option, "--state-dir", str(state_dir), "watch", "--once"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout == ""
    lines = [each for each in said.stderr.splitlines() if SID in each]
    assert len(lines) == len(expected)
    assert all(any(word in each for each in lines) for word in expected)


def test_a_watcher_says_what_it_watches_and_each_line_has_time_and_project(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path
) -> None:
    talk = openclaw.begin(SID, "antenna")
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(state_dir), "watch"]
    said = tmp_path / "said"
    with said.open("wb") as stderr, subprocess.Popen(command, stderr=stderr) as watcher:
        try:
            deadline = time.monotonic() + 30
            while "watching" not in said.read_text() and time.monotonic() < deadline:
                time.sleep(0.05)
            openclaw.append(SID, *talk.turn("mast"))
            openclaw.rename(SID, f"reset.{stamp(9).replace(':', '-')}")
            while "ended" not in said.read_text() and time.monotonic() < deadline:
                time.sleep(0.05)
        finally:
            watcher.terminate()
    lines = said.read_text().splitlines()
    when = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  "
    assert any(
        re.fullmatch(rf"{when}watching \S+ by (events|looking.*): 1 transcript of main", each) for each in lines
    ), lines
    for what in ("started", "ended: reset"):
        assert any(re.fullmatch(rf"{when}{SID} {what} \(main, webchat, w\)", each) for each in lines), lines
    assert lines[-1].startswith("caught up: ")


def test_debugging_explains_what_is_done_and_what_is_left(openclaw: OpenClaw, state_dir: Path) -> None:
    def decided(session_id: str) -> list[str]:
        command = [sys.executable, "-m", "jsonlstore", "--debug", "--state-dir", str(state_dir), "watch", "--once"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        start = f"DEBUG: {session_id}: "
        return [each.removeprefix(start) for each in said.splitlines() if each.startswith(start)]

    openclaw.begin(SID, "antenna")
    openclaw.begin(OTHER, "windmill", key="agent:main:subagent:x")
    assert decided(SID) == ["not in our log yet", "1 stretches, the last one still open"]
    assert decided(SID) == ["everything in it is in our log", "has not ended"]
    assert decided(OTHER) == ["left out as subagent"]
    openclaw.append(SID, *Talk(SID).turn("harbour"))
    assert "there is more in it than in our log" in decided(SID)
    openclaw.rename(SID, f"reset.{stamp(9).replace(':', '-')}")
    decided(SID)
    assert decided(SID)[-1] == "that it ended (reset) is no news"
    SessionStore.open(state_dir).forget(SID)
    assert decided(SID) == ["left out, it was forgotten"]


def test_sub_agents_that_are_wanted_are_missed_too(openclaw: OpenClaw, state_dir: Path, run: Command) -> None:
    """By a dry run and by `status`, which leave them out otherwise."""
    openclaw.begin(SID, "antenna", key="agent:main:subagent:x")
    assert run("watch", "--once", "--dry-run")["behind"] == []
    assert run("status")["sources"][0]["transcripts"] == 0
    settings = {"jsonlstore": {"config": {"capture_subagents": True}}}
    (state_dir / "openclaw.json").write_text(json.dumps({"plugins": {"entries": settings}}))
    assert run("watch", "--once", "--dry-run")["behind"] == [SID]
    assert run("backfill", "--dry-run")["behind"] == [SID]
    assert run("status", expect=1)["sources"][0]["transcripts"] == 1


def test_on_a_terminal_a_bar_shows_speed_and_the_time_left(openclaw: OpenClaw, state_dir: Path) -> None:
    openclaw.begin(SID, "antenna")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(state_dir), "backfill"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, text=True, check=True)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert "MB/s" in shown
    assert "s left" in shown
    assert "1 written" in done.stdout


def test_a_backfill_makes_the_logs_durable_before_the_index_tells_of_them(openclaw: OpenClaw, state_dir: Path) -> None:
    tool = shutil.which("strace")
    if tool is None:
        pytest.skip("strace is not installed")
    openclaw.begin(SID, "antenna")
    openclaw.begin(OTHER, "harbour", day=22)
    calls = state_dir / "calls"
    watched = "trace=write,pwrite64,syncfs,fdatasync,fsync,rename,renameat,renameat2,openat"
    command = [tool, "-f", "-y", "-qq", "-e", watched, "-o", str(calls), sys.executable, "-m", "jsonlstore"]
    done = subprocess.run(
        [*command, "--state-dir", str(state_dir), "backfill"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"strace does not work here: {done.stderr[-200:]}")
    lines = calls.read_text(errors="replace").splitlines()
    written = [at for at, each in enumerate(lines) if "write(" in each and f"{SID}.jsonl" in each]
    synced = [at for at, each in enumerate(lines) if "syncfs(" in each]
    told = [at for at, each in enumerate(lines) if "rename" in each and "/states/sessions.json" in each]
    assert written
    assert told
    assert any(written[0] < at < told[0] for at in synced)
    assert synced[-1] > told[-1]


def test_again_distils_anew_and_keeps_what_hooks_and_operators_said(
    openclaw: OpenClaw, state_dir: Path, run: Command
) -> None:
    """What older rules told is replaced; the other layers stay, and a second time changes nothing."""
    openclaw.begin(SID, "antenna")
    run("backfill")
    store = SessionStore.open(state_dir)
    told = store.folded(SID)
    older = {
        "next_step": "keeps the lights on",
        "pending_tasks": [{"task_id": "text-old", "title": "old", "flagged_incomplete": True}],
    }
    store.update(SID, older, by="watcher", source={**(told.source or {}), "rules": 1}, expect_source=told.source)
    store.update(SID, {"last_topic": "what the hook said"}, by="hook")
    assert run("backfill")["written"] == 0
    assert run("show", SID)["next_step"] == "keeps the lights on"
    assert run("backfill", "--again", "--dry-run")["behind"] == [SID]
    assert run("backfill", "--again")["written"] == 1
    renewed = run("show", SID)
    assert renewed["next_step"] != "keeps the lights on"
    assert "text-old" not in [task["task_id"] for task in renewed["pending_tasks"]]
    assert renewed["last_topic"] == "what the hook said"
    assert run("backfill", "--again")["written"] == 0


@pytest.mark.parametrize("words", [("backfill",), ("backfill", "--again"), ("watch", "--once")])
def test_disabled_means_that_history_is_not_read_either(
    openclaw: OpenClaw, state_dir: Path, words: tuple[str, ...]
) -> None:
    openclaw.begin(SID, "antenna")
    config = {"plugins": {"entries": {"jsonlstore": {"config": {"enabled": False}}}}}
    (state_dir / "openclaw.json").write_text(json.dumps(config))
    before = sorted(state_dir.rglob("*"))
    assert main(["--state-dir", str(state_dir), *words]) == 0
    assert sorted(state_dir.rglob("*")) == before


@pytest.mark.parametrize(
    ("content", "state", "warned"),
    [(None, "missing", False), ('{"active_tasks": []}', "ok", False), ("{", "corrupt", True), ("[]", "corrupt", True)],
)
def test_status_says_how_the_pipeline_state_is(
    state_dir: Path, capsys: pytest.CaptureFixture[str], content: str | None, state: str, warned: bool
) -> None:
    path = state_dir / "workspace" / "pipeline" / "state.json"
    if content is not None:
        path.parent.mkdir(parents=True)
        path.write_text(content)
    main(["--state-dir", str(state_dir), "status", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["pipeline"]["state"] == state
    assert any("pipeline" in one for one in document["warnings"]) is warned
    main(["--state-dir", str(state_dir), "status"])
    assert ("pipeline" in capsys.readouterr().out) is (state != "ok")


def test_a_watchers_capture_is_counted_once_and_history_is_not(
    openclaw: OpenClaw, state_dir: Path, run: Command
) -> None:
    openclaw.begin(OTHER, "harbour", day=20)
    openclaw.rename(OTHER, "reset.2026-09-20T15-00-00.000Z")
    run("backfill")
    openclaw.begin(SID, "antenna")
    run("watch", "--once")
    openclaw.rename(SID, "reset.2026-09-21T15-00-00.000Z")
    for _ in range(2):
        run("watch", "--once")
    counted = SessionStore.open(state_dir).metrics.read("session_captured")
    assert [(one["session_id"], one["crash_recovered"]) for one in counted] == [(SID, False)]
