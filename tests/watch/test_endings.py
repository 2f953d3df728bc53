"""Every way a session ends on disk is seen, named, and leaves the final state behind for the next one."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.clock import format_time, parse_time
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts.openclaw.endings import reason_of, rollover_reason
from jsonlstore.transcripts.stretches import stretch_id
from tests.watch.conftest import Database, OpenClaw, Talk, clean_backfill, derived, line, once, stamp, watcher

if TYPE_CHECKING:
    from pathlib import Path

A = "aaaaaaaa-1111-4111-8111-111111111111"
B = "bbbbbbbb-2222-4222-8222-222222222222"


def state(state_dir: Path, session_id: str) -> Any:
    return SessionStore.open(state_dir).get(session_id)


@pytest.mark.parametrize(
    ("suffix", "reason"),
    [("reset.2026-09-21T15-00-00.000Z", "reset"), ("deleted.2026-09-21T15-00-00.000Z", "delete")],
)
@pytest.mark.parametrize("running", [True, False], ids=["running", "stopped"])
def test_a_renamed_transcript_ended_with_its_last_entry(
    openclaw: OpenClaw, state_dir: Path, suffix: str, reason: str, running: bool
) -> None:
    talk = openclaw.begin(A, "antenna")
    live = watcher(state_dir)
    live.once()
    assert state(state_dir, A).end_time is None
    openclaw.rename(A, suffix)
    openclaw.begin(B, "harbour", day=22)
    (live if running else watcher(state_dir)).once()
    ended = state(state_dir, A)
    assert (ended.end_reason, ended.end_time) == (reason, stamp(talk.number))
    assert state(state_dir, B).previous_session_id == A
    assert ended.channel == "webchat"
    assert ended.session_key == "agent:main:main"


@pytest.mark.parametrize("running", [True, False], ids=["running", "stopped"])
def test_a_transcript_whose_end_was_cut_off_ended_with_the_entry_left(
    openclaw: OpenClaw, state_dir: Path, running: bool
) -> None:
    """DECISION 47: what a backfill of the same file would say, however much more was there once."""
    openclaw.begin(A, "antenna", "harbour")
    live = watcher(state_dir)
    live.once()
    lines = openclaw.path(A).read_bytes().splitlines(keepends=True)
    openclaw.write(A, b"".join(lines[:-2]), "wb")
    live.rescan()
    openclaw.rename(A, "reset.2026-09-21T15-00-00.000Z")
    openclaw.begin(B, "harbour", day=22)
    (live if running else watcher(state_dir)).once()
    assert state(state_dir, A).end_time == json.loads(lines[-3])["timestamp"]


def test_a_session_nobody_refers_to_any_more_rolled_over(openclaw: OpenClaw, state_dir: Path) -> None:
    """2026.2: idle and daily rollovers leave the old file where it is."""
    openclaw.begin(A, "antenna")
    live = watcher(state_dir)
    live.once()
    openclaw.begin(B, "harbour", day=23)
    live.rescan()
    assert state(state_dir, A).end_reason == "daily"
    assert state(state_dir, B).previous_session_id == A
    assert state(state_dir, B).end_time is None


@pytest.mark.parametrize(
    ("suffix", "reason"),
    [("reset.2026-09-21T15-00-00.000Z", "reset"), ("deleted.2026-09-21T15-00-00.000Z", "delete")],
)
@pytest.mark.parametrize("running", [True, False], ids=["running", "stopped"])
def test_a_reason_that_is_told_later_corrects_one_that_was_inferred(
    openclaw: OpenClaw, state_dir: Path, suffix: str, reason: str, running: bool
) -> None:
    """2026.2 drops the key from its index first and renames the file a moment later."""
    talk = openclaw.begin(A, "antenna")
    live = watcher(state_dir)
    live.once()
    live.rescan()
    openclaw.index.clear()
    openclaw.save_index()
    live.rescan()
    assert state(state_dir, A).end_reason in {"idle", "daily"}
    openclaw.rename(A, suffix)
    live = live if running else watcher(state_dir)
    live.rescan()
    assert (state(state_dir, A).end_reason, state(state_dir, A).end_time) == (reason, stamp(talk.number))
    assert live.rescan() == once(state_dir) == 0


def test_a_reason_that_was_told_is_never_replaced_by_an_inferred_one(openclaw: OpenClaw, state_dir: Path) -> None:
    openclaw.begin(A, "antenna")
    live = watcher(state_dir)
    live.once()
    archive = openclaw.rename(A, "reset.2026-09-21T15-00-00.000Z")
    live.rescan()
    assert state(state_dir, A).end_reason == "reset"
    imported = openclaw.agent_dir / "session-sqlite-import-archive"
    imported.mkdir()
    archive.rename(imported / f"agent_main_main.{A}.jsonl.imported-1794786801719")
    openclaw.remember()
    live.rescan()
    once(state_dir)
    assert state(state_dir, A).end_reason == "reset"


def test_a_transcript_that_is_gone_without_an_archive_has_vanished(openclaw: OpenClaw, state_dir: Path) -> None:
    talk = openclaw.begin(A, "antenna")
    live = watcher(state_dir)
    live.once()
    data = openclaw.path(A).read_bytes()
    openclaw.path(A).unlink()
    openclaw.remember()
    live.rescan()
    assert state(state_dir, A).end_time is None
    live.rescan()
    assert (state(state_dir, A).end_reason, state(state_dir, A).end_time) == ("vanished", stamp(talk.number))
    openclaw.write(A, data)
    live.rescan()
    assert state(state_dir, A).end_time is None


def test_decision_68_what_old_logs_call_forgotten_is_read_as_vanished(openclaw: OpenClaw, state_dir: Path) -> None:
    """A transcript that is back takes such an end back, as it does one that was recorded today."""
    openclaw.begin(A, "antenna")
    once(state_dir)
    SessionStore.open(state_dir).end(A, reason="forgotten", by="watcher")
    assert state(state_dir, A).end_reason == "forgotten"
    once(state_dir)
    assert state(state_dir, A).end_time is None


def test_an_archive_that_turns_up_late_says_what_became_of_a_lost_transcript(
    openclaw: OpenClaw, state_dir: Path
) -> None:
    openclaw.begin(A, "antenna")
    live = watcher(state_dir)
    live.once()
    data = openclaw.path(A).read_bytes()
    openclaw.path(A).unlink()
    openclaw.remember()
    live.rescan()
    live.rescan()
    assert state(state_dir, A).end_reason == "vanished"
    (openclaw.sessions / f"{A}.jsonl.deleted.2026-09-21T15-00-00.000Z").write_bytes(data)
    openclaw.remember()
    live.rescan()
    assert state(state_dir, A).end_reason == "delete"


@pytest.mark.parametrize("restarted", [False, True], ids=["running", "restarted"])
@pytest.mark.parametrize("era", ["jsonl", "sqlite"])
def test_a_transcript_that_was_away_and_is_back_as_it_was_goes_on(
    openclaw: OpenClaw, database: Database, state_dir: Path, tmp_path: Path, era: str, restarted: bool
) -> None:
    """A restored backup, a disk mounted again: nothing new was said, and it is somebody's current session."""
    if era == "jsonl":
        openclaw.begin(A, "antenna")
        path = openclaw.path(A)
    else:
        talk = Talk(A)
        database.add(A, [talk.header, *talk.turn("antenna")])
        path = database.path
    live = watcher(state_dir)
    live.once()
    shutil.move(path, tmp_path / "away")
    openclaw.remember()
    for _ in range(3):
        live.rescan()
    assert state(state_dir, A).end_reason == "vanished"
    shutil.move(tmp_path / "away", path)
    openclaw.remember()
    if restarted:
        live = watcher(state_dir)
    live.rescan()
    assert (state(state_dir, A).end_time, state(state_dir, A).end_reason) == (None, None)
    assert live.rescan() == 0


def test_a_session_that_is_taken_up_again_is_open_before_anything_is_said(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path
) -> None:
    openclaw.begin(A, "antenna")
    live = watcher(state_dir)
    live.once()
    openclaw.begin(B, "harbour", day=22)
    live.rescan()
    assert state(state_dir, A).end_time
    index = openclaw.sessions / "sessions.json"
    for content in (b"", b"{", None):  # nothing that can be read says nothing
        index.write_bytes(content) if content is not None else index.unlink()
        live.rescan()
        assert state(state_dir, A).end_time
    openclaw.refer("agent:main:main", A)
    live.rescan()
    assert state(state_dir, A).end_time is None
    assert state(state_dir, B).end_time
    assert derived(state_dir) == clean_backfill(state_dir, tmp_path)


@pytest.mark.parametrize(
    ("status", "ended_at", "reason"),
    [("done", 1, "shutdown"), ("killed", 1, "crash"), ("failed", 1, "crash"), ("timeout", 1, "crash"),
     ("running", None, None), (None, None, None)],
)  # fmt: skip
def test_a_window_left_without_a_successor_says_how_its_runtime_stopped(
    openclaw: OpenClaw,
    database: Database,
    state_dir: Path,
    status: str | None,
    ended_at: int | None,
    reason: str | None,
) -> None:
    """While it is somebody's current one it is open, whatever its last run came to."""
    old, other = Talk(A), Talk(B, day=22)
    database.add(A, [old.header, *old.turn("antenna")], key="agent:main:telegram:dm:1")
    database.add(B, [other.header, *other.turn("harbour")])
    database.run(
        ("UPDATE session_windows SET status = ?, ended_at = ? WHERE session_id = ?", (status, ended_at, A)),
    )
    live = watcher(state_dir)
    live.once()
    assert state(state_dir, A).end_time is None
    database.run(("DELETE FROM session_nodes WHERE current_session_id = ?", (A,)))
    live.rescan()
    ended = state(state_dir, A)
    assert ended.end_time == stamp(old.number)
    assert ended.end_reason == reason or (reason is None and ended.end_reason in {"idle", "daily"})


def test_an_unreadable_index_ends_and_wakes_nothing(openclaw: OpenClaw, state_dir: Path) -> None:
    openclaw.begin(A, "antenna")
    openclaw.begin(B, "harbour", day=22)
    live = watcher(state_dir)
    live.once()
    (openclaw.sessions / "sessions.json").write_bytes(b"")
    openclaw.remember()
    for _ in range(3):
        live.rescan()
    assert state(state_dir, A).end_time is not None
    assert state(state_dir, B).end_time is None


def test_a_session_that_wakes_up_again_is_continued_not_doubled(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path
) -> None:
    talk = openclaw.begin(A, "antenna")
    openclaw.begin(B, "harbour", day=22)
    live = watcher(state_dir)
    live.once()
    assert state(state_dir, A).end_time
    openclaw.append(A, *talk.turn("windmill"))
    openclaw.refer("agent:main:main", A)
    live.rescan()
    assert state(state_dir, A).end_time is None
    assert "windmill" in state(state_dir, A).hot_topics
    assert {entry.session_id for entry in SessionStore.open(state_dir).entries()} == {A, B}
    assert derived(state_dir) == clean_backfill(state_dir, tmp_path)


def test_each_stretch_between_resets_is_a_session_of_its_own(
    openclaw: OpenClaw, database: Database, state_dir: Path, tmp_path: Path
) -> None:
    """2026.9: `/new` keeps the id and appends a reset record."""
    talk = Talk(A, version=4)
    first = [talk.header, *talk.turn("antenna")]
    database.add(A, first)
    live = watcher(state_dir)
    live.once()
    assert state(state_dir, A).end_time is None
    reset = talk.reset("new")
    database.append(A, len(first), reset, *talk.turn("harbour"))
    live.rescan()
    second = stretch_id(A, reset["id"])
    assert (state(state_dir, A).end_reason, state(state_dir, A).end_time) == ("new", first[-1]["timestamp"])
    assert state(state_dir, second).previous_session_id == A
    assert state(state_dir, second).end_time is None
    assert SessionStore.open(state_dir).stretches(A) == [second]
    again = talk.reset("reset")
    database.append(A, len(first) + 3, again, *talk.turn("windmill"))
    watcher(state_dir).once()
    third = stretch_id(A, again["id"])
    assert state(state_dir, second).end_reason == "reset"
    assert state(state_dir, third).previous_session_id == second
    assert derived(state_dir) == clean_backfill(state_dir, tmp_path)
    assert once(state_dir) == 0


@pytest.mark.parametrize("restarted", [False, True], ids=["running", "restarted"])
def test_a_reset_that_is_taken_back_leaves_the_stretch_before_open(
    openclaw: OpenClaw, database: Database, state_dir: Path, tmp_path: Path, restarted: bool
) -> None:
    """A rewrite of the rows to before the reset: what came after it is gone, and remembered as such."""
    talk = Talk(A)
    first = [talk.header, *talk.turn("antenna")]
    reset = talk.reset()
    database.add(A, [*first, reset, *talk.turn("harbour")])
    live = watcher(state_dir)
    live.once()
    later = stretch_id(A, reset["id"])
    assert state(state_dir, A).end_time
    assert state(state_dir, later).end_time is None
    database.run(
        ("DELETE FROM transcript_events WHERE seq >= ?", (len(first),)),
        ("UPDATE transcript_rewrite_watermarks SET generation = 'second'", ()),
    )
    for _ in range(2):
        if restarted:
            live = watcher(state_dir)
        live.rescan()
    assert state(state_dir, A).end_time is None
    assert state(state_dir, later).end_reason == "vanished"
    assert {A: derived(state_dir)[A]} == clean_backfill(state_dir, tmp_path)


def test_an_older_copy_that_cannot_be_read_for_a_moment_takes_back_no_reset(
    openclaw: OpenClaw, state_dir: Path
) -> None:
    talk = openclaw.begin(A, "antenna")
    openclaw.append(A, talk.reset(), *talk.turn("harbour"))
    backup = openclaw.path(A).with_name(f"{A}.jsonl.bak-1-2")
    openclaw.path(A).rename(backup)
    openclaw.append(A, talk.header, *talk.turn("windmill"))
    live = watcher(state_dir)
    live.once()
    entries = SessionStore.open(state_dir).index.entries()
    current = [session_id for session_id, entry in entries.items() if entry["end_time"] is None]
    assert (len(entries), len(current)) == (2, 1)
    aside = backup.rename(backup.with_suffix(".aside"))
    backup.symlink_to(backup)  # a loop: there, and not to be read
    openclaw.append(A, *talk.turn("meadow"))
    watcher(state_dir).rescan()
    backup.unlink()
    aside.rename(backup)
    openclaw.remember()
    assert state(state_dir, current[0]).end_time is None


@pytest.mark.parametrize("survives", ["session.started", "state.updated"])
def test_dying_between_two_stretches_loses_neither(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path, survives: str
) -> None:
    """The first stretch was written, the second was not, and nothing is ever added to the transcript."""
    talk = Talk(A, version=4)
    openclaw.append(A, talk.header, *talk.turn("antenna"))
    openclaw.refer("agent:main:main", A)
    if survives == "state.updated":
        once(state_dir)
    reset = talk.reset("new")
    openclaw.append(A, reset, *talk.turn("harbour"))
    once(state_dir)
    states = state_dir / "sessions" / "states"
    (states / f"{stretch_id(A, reset['id'])}.jsonl").unlink()
    archive = state_dir / "sessions" / "archive"
    log = next(iter([*states.glob(f"{A}.jsonl"), *archive.rglob(f"{A}.jsonl")]))
    kept = [each for each in log.read_bytes().splitlines(keepends=True) if b'"session.ended"' not in each]
    log.unlink()
    (states / f"{A}.jsonl").write_bytes(b"".join(kept))
    assert survives.encode() in kept[-1]
    once(state_dir)
    assert derived(state_dir) == clean_backfill(state_dir, tmp_path)


@pytest.mark.parametrize(
    ("reason", "expected"), [("rollover", {"daily", "idle"}), ("reset", {"reset"}), ("recovery", {"crash"})]
)
def test_a_window_that_was_succeeded_ended_for_the_reason_the_next_one_gives(
    openclaw: OpenClaw, database: Database, state_dir: Path, reason: str, expected: set[str]
) -> None:
    old, new = Talk(A), Talk(B, day=23)
    database.add(A, [old.header, *old.turn("antenna")])
    live = watcher(state_dir)
    live.once()
    database.add(B, [new.header, *new.turn("harbour")], previous=A, reason=reason)
    live.rescan()
    assert state(state_dir, A).end_reason in expected
    assert state(state_dir, B).previous_session_id == A


def test_rows_that_are_gone_and_left_as_an_archive_were_deleted(
    openclaw: OpenClaw, database: Database, state_dir: Path, make: Any, tmp_path: Path
) -> None:
    """2026.9: deletion drops the rows and leaves `<id>.jsonl.deleted.<time>.<generation>.zst`."""
    from jsonlstore.transcripts.lines import zstd_module

    talk = Talk(A, version=4)
    records = [talk.header, *talk.turn("antenna")]
    database.add(A, records)
    live = watcher(state_dir)
    live.once()
    before = derived(state_dir)[A] | {"end_time": stamp(talk.number)}
    archive = openclaw.sessions / f"{A}.jsonl.deleted.2026-09-21T15-00-00.000Z.9bcf2a76e19e4e88.zst"
    archive.write_bytes(zstd_module().compress(b"".join(map(line, records))))
    database.run(
        ("DELETE FROM transcript_events", ()), ("DELETE FROM session_nodes", ()), ("DELETE FROM session_windows", ())
    )
    live.rescan()
    live.rescan()
    assert state(state_dir, A).end_reason == "delete"
    assert derived(state_dir)[A] == before
    assert derived(state_dir) == clean_backfill(state_dir, tmp_path)


@pytest.mark.parametrize("running", [True, False], ids=["running", "stopped"])
def test_a_migration_under_the_watcher_loses_and_doubles_nothing(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path, make: Any, running: bool
) -> None:
    talk = openclaw.begin(A, "antenna")
    openclaw.begin(B, "harbour", key="agent:main:webchat:dm:u")
    openclaw.rename(B, "reset.2026-09-21T15-00-00.000Z")
    live = watcher(state_dir)
    live.once()
    before = derived(state_dir)
    archive = openclaw.agent_dir / "session-sqlite-import-archive"
    archive.mkdir()
    records = [json.loads(each) for each in openclaw.path(A).read_bytes().splitlines()]
    openclaw.path(A).rename(archive / f"agent_main_main.{A}.jsonl.imported-1794786801719")
    (openclaw.sessions / "sessions.json").rename(archive / "legacy-store.sessions.json.imported-1794786801765")
    openclaw.remember()
    if running:
        live.rescan()  # in the middle of it
    database = Database(openclaw, make)
    database.add(A, records)
    live = live if running else watcher(state_dir)
    live.once()
    assert derived(state_dir) == before
    assert state(state_dir, A).session_key == "agent:main:main"
    database.append(A, len(records), *talk.turn("windmill"))
    live.once()
    assert "windmill" in state(state_dir, A).hot_topics
    assert state(state_dir, A).end_time is None
    assert derived(state_dir) == clean_backfill(state_dir, tmp_path)


def test_what_is_pinned_at_a_live_end_belongs_to_the_session_and_stays(openclaw: OpenClaw, state_dir: Path) -> None:
    pins = state_dir / "workspace" / "memory" / "working_memory.json"
    pins.parent.mkdir(parents=True)
    pins.write_text(json.dumps({"items": [{"content": "freq 14.074", "pinnedAt": stamp(1), "label": "radio"}]}))
    talk = openclaw.begin(A, "antenna")
    live = watcher(state_dir)
    live.once()
    live.rescan()
    openclaw.rename(A, "reset.2026-09-21T15-00-00.000Z")
    live.rescan()
    assert [pin.label for pin in state(state_dir, A).working_memory] == ["radio"]
    pins.write_text('{"items": []}')
    with (openclaw.sessions / f"{A}.jsonl.reset.2026-09-21T15-00-00.000Z").open("ab") as file:
        file.write(line(talk.user("one more thing about the lighthouse")))
    openclaw.remember()
    once(state_dir)
    assert [pin.label for pin in state(state_dir, A).working_memory] == ["radio"]


def test_a_backfill_of_old_history_does_not_take_today_s_pins(openclaw: OpenClaw, state_dir: Path) -> None:
    pins = state_dir / "workspace" / "memory" / "working_memory.json"
    pins.parent.mkdir(parents=True)
    pins.write_text(json.dumps({"items": [{"content": "freq 14.074", "pinnedAt": stamp(1)}]}))
    openclaw.begin(A, "antenna")
    path = openclaw.rename(A, "reset.2026-09-21T15-00-00.000Z")
    import os

    os.utime(path, (1_790_000_000, 1_790_000_000))
    openclaw.remember()
    once(state_dir)
    assert state(state_dir, A).working_memory == ()


def test_links_prefer_the_same_conversation_then_the_channel(openclaw: OpenClaw, state_dir: Path) -> None:
    ids = [f"{n}ccccccc-3333-4333-8333-333333333333" for n in range(4)]
    live = watcher(state_dir)
    for number, (sid, key, channel) in enumerate(
        zip(
            ids,
            ["agent:main:tg:dm:u", "agent:main:web:dm:v", "agent:main:tg:dm:w", "agent:main:tg:dm:u"],
            ["telegram", "webchat", "telegram", "telegram"],
            strict=True,
        )
    ):
        talk = Talk(sid, day=10 + number)
        openclaw.append(sid, talk.header, *talk.turn("antenna"))
        openclaw.refer(key, sid, channel)
        live.once()
        if number < 3:
            openclaw.rename(sid, f"reset.2026-09-{10 + number}T15-00-00.000Z")
            del openclaw.index[key]
            openclaw.save_index()
            live.once()
    previous = [state(state_dir, sid).previous_session_id for sid in ids]
    assert previous == [None, ids[0], ids[0], ids[0]]


ZONES = st.integers(-12, 14).map(lambda hours: timezone(timedelta(hours=hours)))
TIMES = st.datetimes(
    min_value=parse_time("2020-01-01T00:00:00Z").replace(tzinfo=None),
    max_value=parse_time("2030-01-01T00:00:00Z").replace(tzinfo=None),
    timezones=st.just(UTC),
)


@given(TIMES, st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=5)), ZONES)
def test_a_rollover_over_four_o_clock_is_daily_any_other_is_idle(before: Any, gap: timedelta, zone: timezone) -> None:
    reason = rollover_reason(format_time(before), format_time(before + gap), zone)
    start = parse_time(format_time(before)).astimezone(zone)
    end = parse_time(format_time(before + gap)).astimezone(zone)
    crossed, moment = False, start.replace(hour=4, minute=0, second=0, microsecond=0)
    while moment <= end:
        crossed = crossed or moment > start
        moment += timedelta(days=1)
    assert reason == ("daily" if crossed else "idle")


@given(st.text())
def test_any_reason_has_a_word(reason: str) -> None:
    assert 0 < len(reason_of(reason)) <= 40
