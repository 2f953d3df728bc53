"""How tailers fail, one by one: after each mishap our log says what one clean reading of the files would say."""

from __future__ import annotations

import os
import random
import shutil
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.transcripts.runtimes import discover, has_transcript
from jsonlstore.watch.tail import Progress, Tailer
from tests.watch.conftest import Database, OpenClaw, Talk, clean_backfill, derived, line, once, watcher

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SID = "11111111-aaaa-4aaa-8aaa-111111111111"
OTHER = "22222222-aaaa-4aaa-8aaa-222222222222"


def log_of(state_dir: Path, session_id: str = SID) -> bytes:
    path = state_dir / "sessions" / "states" / f"{session_id}.jsonl"
    return path.read_bytes() if path.exists() else b""


def assert_like_clean(state_dir: Path, tmp_path: Path) -> None:
    assert derived(state_dir) == clean_backfill(state_dir, tmp_path)


def test_one_byte_appends_give_nothing_until_the_newline_and_then_one_record(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path
) -> None:
    talk = openclaw.begin(SID, "antenna")
    live = watcher(state_dir)
    live.once()
    before = log_of(state_dir)
    for byte in line(talk.user("Please repair the Zürich relay, it is urgent.")):
        assert log_of(state_dir) == before
        openclaw.write(SID, bytes([byte]))
        live.rescan()
    assert log_of(state_dir).count(b"\n") == before.count(b"\n") + 1
    live.rescan()
    assert log_of(state_dir).count(b"\n") == before.count(b"\n") + 1
    assert_like_clean(state_dir, tmp_path)


ODD_BYTES = [
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\n\n\n",
    b"\0\0\0\n",
    b"\xff\xfe broken\n",
    b'{"type":"mess\n',
    b"[]\n",
    b"null\n",
]


@pytest.mark.parametrize("restart", [False, True], ids=["running", "restarted"])
@pytest.mark.parametrize("odd", ODD_BYTES, ids=repr)
def test_odd_bytes_cost_nothing_but_themselves(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path, odd: bytes, restart: bool
) -> None:
    talk = openclaw.begin(SID, "antenna")
    live = watcher(state_dir)
    live.once()
    openclaw.write(SID, odd)
    live.rescan()
    openclaw.append(SID, *talk.turn("harbour"))
    (watcher(state_dir) if restart else live).once()
    assert "harbour" in derived(state_dir)[SID]["hot_topics"]
    assert_like_clean(state_dir, tmp_path)


def test_a_line_of_ten_megabytes_is_read_and_a_longer_one_than_the_limit_is_passed_over(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path
) -> None:
    talk = openclaw.begin(SID, "antenna")
    openclaw.append(SID, talk.user("look at the lighthouse " + "x" * 10_000_000), *talk.turn("harbour"))
    openclaw.write(SID, b"y" * (33 * 1024 * 1024) + b"\n")
    openclaw.append(SID, *talk.turn("windmill"))
    once(state_dir)
    assert {"harbour", "windmill"} <= set(derived(state_dir)[SID]["hot_topics"])
    assert_like_clean(state_dir, tmp_path)


def test_a_last_line_finished_after_a_restart_counts_once(openclaw: OpenClaw, state_dir: Path, tmp_path: Path) -> None:
    talk = openclaw.begin(SID, "antenna")
    whole = line(talk.user("TODO: paint the lighthouse."))
    openclaw.write(SID, whole[:40])
    once(state_dir)
    assert not any("lighthouse" in task["title"] for task in derived(state_dir)[SID]["pending_tasks"])
    openclaw.write(SID, whole[40:])
    once(state_dir)
    assert sum("lighthouse" in task["title"] for task in derived(state_dir)[SID]["pending_tasks"]) == 1
    assert_like_clean(state_dir, tmp_path)


def test_a_torn_last_line_counts_once_the_file_is_put_aside(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path
) -> None:
    talk = openclaw.begin(SID, "antenna")
    live = watcher(state_dir)
    openclaw.write(SID, line(talk.user("TODO: paint the lighthouse."))[:-1])
    live.once()
    openclaw.rename(SID, "reset.2026-09-21T15-00-00.000Z")
    live.rescan()
    assert any("lighthouse" in task["title"] for task in derived(state_dir)[SID]["pending_tasks"])
    assert_like_clean(state_dir, tmp_path)


def truncate_to_half(openclaw: OpenClaw) -> None:
    path = openclaw.path(SID)
    os.truncate(path, path.stat().st_size // 2)


def truncate_and_regrow(openclaw: OpenClaw) -> None:
    os.truncate(openclaw.path(SID), 0)
    talk = Talk(SID, day=22)
    openclaw.append(
        SID, talk.header, *(record for topic in ("garden", "fence", "barn", "mill") for record in talk.turn(topic))
    )


def rewrite_same_length(openclaw: OpenClaw) -> None:
    path = openclaw.path(SID)
    with path.open("r+b") as file:
        data = file.read().replace(b"antenna", b"orchard")
        file.seek(0)
        file.write(data)


def rewrite_the_middle_and_grow(openclaw: OpenClaw) -> None:
    """Equal in length, so that the end looks as it did, and longer besides, so that it seems to have merely grown."""
    rewrite_same_length(openclaw)
    with openclaw.path(SID).open("ab") as file:
        talk = Talk(SID, day=22)
        file.write(b"".join(map(line, talk.turn("orchid"))))


def rewrite_prefix(openclaw: OpenClaw) -> None:
    path = openclaw.path(SID)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[0] = lines[0].replace(b'"version":3', b'"version":4,"cwd2":"/elsewhere"')
    with path.open("r+b") as file:
        file.write(b"".join(lines))


def replace_from_same_directory(openclaw: OpenClaw) -> None:
    talk = Talk(SID, day=22)
    temp = openclaw.sessions / f"{SID}.jsonl.tmp"
    temp.write_bytes(b"".join(map(line, [talk.header, *talk.turn("orchard")])))
    os.replace(temp, openclaw.path(SID))


def replace_from_elsewhere(openclaw: OpenClaw) -> None:
    talk = Talk(SID, day=22)
    temp = openclaw.state_dir / "elsewhere.jsonl"
    temp.write_bytes(b"".join(map(line, [talk.header, *talk.turn("orchard"), *talk.turn("orchid")])))
    os.replace(temp, openclaw.path(SID))


def delete_and_recreate(openclaw: OpenClaw) -> None:
    path = openclaw.path(SID)
    size = path.stat().st_size
    path.unlink()
    talk = Talk(SID, day=22)
    data = b"".join(map(line, [talk.header, *talk.turn("orchard")]))
    while len(data) < size:
        data += b"".join(map(line, talk.turn("orchard")))
    path.write_bytes(data)  # ext4 gives it the same inode, nearly always


def repair(openclaw: OpenClaw) -> None:
    path = openclaw.path(SID)
    shutil.copy2(path, openclaw.sessions / f"{SID}.jsonl.bak-12-1790000000000")
    lines = path.read_bytes().splitlines(keepends=True)
    temp = openclaw.sessions / f"{SID}.jsonl.12.tmp"
    temp.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    os.replace(temp, path)


MISHAPS = [
    truncate_to_half,
    truncate_and_regrow,
    rewrite_same_length,
    rewrite_the_middle_and_grow,
    rewrite_prefix,
    replace_from_same_directory,
    replace_from_elsewhere,
    delete_and_recreate,
    repair,
]


@pytest.mark.parametrize("stopped", [False, True], ids=["running", "stopped"])
@pytest.mark.parametrize("mishap", MISHAPS, ids=lambda mishap: mishap.__name__)
def test_whatever_happens_to_the_file_our_log_follows(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path, mishap: Callable[[OpenClaw], None], stopped: bool
) -> None:
    talk = openclaw.begin(SID, "antenna", "harbour")
    live = watcher(state_dir)
    live.once()
    mishap(openclaw)
    openclaw.remember()
    if stopped:
        live = watcher(state_dir)
    live.once()
    assert_like_clean(state_dir, tmp_path)
    openclaw.append(SID, *talk.turn("windmill"))
    live.once()
    assert_like_clean(state_dir, tmp_path)


def test_a_file_emptied_by_accident_does_not_empty_our_memory(openclaw: OpenClaw, state_dir: Path) -> None:
    openclaw.begin(SID, "antenna")
    once(state_dir)
    before = derived(state_dir)
    openclaw.write(SID, b"", "wb")
    once(state_dir)
    assert derived(state_dir) == before


def test_two_files_with_the_same_first_line_and_empty_files_do_not_disturb_each_other(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path
) -> None:
    openclaw.begin(SID, "antenna")
    shutil.copy2(openclaw.path(SID), openclaw.sessions / f"{SID}-topic-7.jsonl")
    for number in range(3):
        (openclaw.sessions / f"empty{number}.jsonl").touch()
    openclaw.remember()
    once(state_dir)
    assert list(derived(state_dir)) == [SID]
    assert once(state_dir) == 0
    assert_like_clean(state_dir, tmp_path)


def test_a_deep_new_directory_with_an_immediate_write_is_found(openclaw: OpenClaw, state_dir: Path) -> None:
    live = watcher(state_dir)
    live.once()
    other = OpenClaw(state_dir, "second")
    other.begin(OTHER, "harbour")
    live.rescan()
    openclaw.remember()
    assert OTHER in derived(state_dir)


def test_a_tree_moved_out_ends_nothing_and_moved_in_again_goes_on(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path
) -> None:
    talk = openclaw.begin(SID, "antenna")
    live = watcher(state_dir)
    live.once()
    openclaw.agent_dir.rename(tmp_path / "away")
    for _ in range(3):
        live.rescan()
    assert SessionStore.open(state_dir).get(SID).end_time is None
    (tmp_path / "away").rename(openclaw.agent_dir)
    openclaw.append(SID, *talk.turn("harbour"))
    live.rescan()
    assert "harbour" in derived(state_dir)[SID]["hot_topics"]
    assert_like_clean(state_dir, tmp_path)


def test_linked_agents_loops_and_hard_links_are_kept_once(openclaw: OpenClaw, state_dir: Path, tmp_path: Path) -> None:
    openclaw.begin(SID, "antenna")
    (state_dir / "agents" / "zlink").symlink_to(openclaw.agent_dir)
    (openclaw.sessions / "loop").symlink_to(openclaw.sessions)
    (openclaw.sessions / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    os.link(openclaw.path(SID), openclaw.sessions / "hard.jsonl")
    openclaw.remember()
    once(state_dir)
    assert list(derived(state_dir)) == [SID]
    before = log_of(state_dir)
    once(state_dir)
    assert log_of(state_dir) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_permission_denied_is_a_warning_and_granted_again_is_read(openclaw: OpenClaw, state_dir: Path) -> None:
    talk = openclaw.begin(SID, "antenna")
    live = watcher(state_dir)
    live.once()
    openclaw.append(SID, *talk.turn("harbour"))
    openclaw.path(SID).chmod(0)
    live.rescan()
    assert live.catalogue.warnings
    openclaw.path(SID).chmod(0o600)
    live.rescan()
    openclaw.remember()
    assert "harbour" in derived(state_dir)[SID]["hot_topics"]


def test_without_file_descriptors_it_waits_and_goes_on(openclaw: OpenClaw, state_dir: Path) -> None:
    import resource

    talk = openclaw.begin(SID, "antenna")
    live = watcher(state_dir)
    live.once()
    openclaw.append(SID, *talk.turn("harbour"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        live.rescan()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    live.rescan()
    assert "harbour" in derived(state_dir)[SID]["hot_topics"]


def test_a_kill_between_reading_and_writing_loses_nothing(openclaw: OpenClaw, state_dir: Path, tmp_path: Path) -> None:
    openclaw.begin(SID, "antenna", "harbour")
    catalogue = Catalogue.open(state_dir)
    tailer = Tailer(SessionStore.open(state_dir))
    assert tailer.catch_up(catalogue.sessions[0], seconds=0) in {Progress.MORE, Progress.WRITTEN}
    once(state_dir)
    assert_like_clean(state_dir, tmp_path)


def test_a_database_written_twice_within_one_tick_of_the_clock_is_read_twice(
    openclaw: OpenClaw, database: Database, state_dir: Path
) -> None:
    """Same size, same time, same inode: only the moment of the look tells that it came too early."""
    talk = Talk(SID)
    records = [talk.header, *talk.turn("antenna")]
    database.add(SID, records)
    moment = os.stat(database.path).st_mtime_ns
    catalogue = Catalogue(partial(discover, state_dir), seconds=lambda: moment / 1e9 + 0.001)
    assert catalogue.refresh()
    database.append(SID, len(records), *talk.turn("harbour"))
    os.utime(database.path, ns=(moment, moment))
    openclaw.remember()
    assert catalogue.refresh()
    assert catalogue.sessions[0].copies[-1][1].newest == len(records) + 1
    later = Catalogue(partial(discover, state_dir), seconds=lambda: moment / 1e9 + 60)
    assert later.refresh()
    assert not later.refresh()


ODD_CURSORS: list[Any] = [
    {},
    {"kind": "jsonl"},
    {"kind": "jsonl", "identity": "1:2:3", "position": 10**15, "mark": "x"},
    {"kind": "jsonl", "identity": 7, "position": "far", "mark": 3, "stretch": "many"},
    {"kind": "sqlite", "identity": "1:2", "position": -5, "mark": None},
    {"kind": "future", "identity": "", "position": 0},
]


@pytest.mark.parametrize("cursor", ODD_CURSORS, ids=str)
def test_a_cursor_from_the_future_torn_or_absent_means_reading_again(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path, cursor: dict[str, Any]
) -> None:
    openclaw.begin(SID, "antenna")
    once(state_dir)
    store = SessionStore.open(state_dir)
    store.update(SID, {"hot_topics": ["nonsense"]}, by="watcher", source=cursor, expect_source=store.folded(SID).source)
    once(state_dir)
    assert_like_clean(state_dir, tmp_path)


def test_clock_and_mtime_jumps_change_nothing(openclaw: OpenClaw, state_dir: Path, tmp_path: Path) -> None:
    talk = openclaw.begin(SID, "antenna")
    live = watcher(state_dir)
    live.once()
    for moment in (0, 4_000_000_000, 1_000_000_000):
        openclaw.append(SID, *talk.turn("harbour"))
        os.utime(openclaw.path(SID), (moment, moment))
        openclaw.remember()
        live.rescan()
        assert_like_clean(state_dir, tmp_path)


def test_a_hot_file_does_not_starve_the_rest(openclaw: OpenClaw, state_dir: Path) -> None:
    hot = Talk(SID)
    openclaw.append(SID, hot.header, *(record for n in range(1500) for record in hot.turn(f"antenna{n}")))
    openclaw.begin(OTHER, "harbour", key="agent:main:webchat:dm:u")
    catalogue = Catalogue.open(state_dir)
    tailer = Tailer(SessionStore.open(state_dir))
    outcomes = {one.session_id: tailer.catch_up(one, seconds=0.0) for one in catalogue.sessions}
    assert outcomes == {SID: Progress.MORE, OTHER: Progress.WRITTEN}


def test_reading_in_slices_gives_what_reading_at_once_gives(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path
) -> None:
    talk = Talk(SID)
    openclaw.append(SID, talk.header, *(record for n in range(200) for record in talk.turn(f"antenna{n % 7}")))
    catalogue = Catalogue.open(state_dir)
    tailer = Tailer(SessionStore.open(state_dir))
    while tailer.catch_up(catalogue.sessions[0], seconds=0.0) is Progress.MORE:
        pass
    assert_like_clean(state_dir, tmp_path)


def test_nothing_new_writes_nothing(openclaw: OpenClaw, state_dir: Path) -> None:
    openclaw.begin(SID, "antenna")
    openclaw.begin(OTHER, "harbour", key="agent:main:webchat:dm:u")
    once(state_dir)
    tree = {path: path.stat().st_mtime_ns for path in (state_dir / "sessions").rglob("*.jsonl")}
    assert once(state_dir) == 0
    assert {path: path.stat().st_mtime_ns for path in (state_dir / "sessions").rglob("*.jsonl")} == tree


def test_forgotten_sessions_stay_forgotten(openclaw: OpenClaw, state_dir: Path) -> None:
    talk = openclaw.begin(SID, "antenna")
    live = watcher(state_dir)
    live.once()
    SessionStore.open(state_dir).forget(SID)
    openclaw.append(SID, *talk.turn("harbour"))
    live.rescan()
    once(state_dir)
    assert derived(state_dir) == {}
    assert b"harbour" not in log_of(state_dir)


def test_an_archived_session_comes_back_only_when_something_new_was_said(openclaw: OpenClaw, state_dir: Path) -> None:
    talk = openclaw.begin(SID, "antenna")
    openclaw.begin(OTHER, "harbour", day=22)
    once(state_dir)
    archived = SessionStore.open(state_dir).entry(SID)
    assert archived is not None
    assert archived.archived == "2026-09"
    assert once(state_dir) == 0
    openclaw.append(SID, *talk.turn("windmill"))
    once(state_dir)
    assert "windmill" in derived(state_dir)[SID]["hot_topics"]


def test_sub_agents_cron_and_utility_runs_are_not_kept(openclaw: OpenClaw, state_dir: Path) -> None:
    for number, key in enumerate(("agent:main:subagent:x", "agent:main:cron:y", "temp:slug-generator")):
        openclaw.begin(f"{number}{SID[1:]}", "antenna", key=key)
    once(state_dir)
    assert derived(state_dir) == {}


def test_secrets_of_the_transcript_are_nowhere_in_our_files(openclaw: OpenClaw, state_dir: Path) -> None:
    secret = "ghp_" + "".join(random.Random(3).choices("abcdefghijkmnpqrstuvwxyz23456789", k=36))
    talk = openclaw.begin(SID, "antenna")
    openclaw.append(SID, talk.user(f"TODO: rotate the token {secret}"), talk.assistant(f"I decided to use {secret}."))
    openclaw.rename(SID, "reset.2026-09-21T15-00-00.000Z")
    once(state_dir)
    files = [path for path in (state_dir / "sessions").rglob("*") if path.is_file()]
    assert files
    assert not any(secret.encode() in path.read_bytes() for path in files)


def test_what_two_writers_say_of_one_session_is_kept_apart(openclaw: OpenClaw, state_dir: Path) -> None:
    store = SessionStore.open(state_dir)
    store.start(SID, by="hook", channel="telegram", agent_id="main", hot_topics=["told"])
    openclaw.begin(SID, "antenna")
    once(state_dir)
    state = store.get(SID)
    assert state.hot_topics[0] == "told"
    assert "antenna" in state.hot_topics
    assert state.channel == "telegram"


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_any_story_read_in_any_portions_gives_what_a_clean_backfill_gives(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    tmp_path = tmp_path_factory.mktemp("story")
    openclaw = OpenClaw(tmp_path / "state")
    talks = {SID: openclaw.begin(SID, "antenna"), OTHER: openclaw.begin(OTHER, "orchard", key="agent:main:x:dm:u")}
    live = watcher(openclaw.state_dir)
    steps = st.sampled_from(["turn", "half", "reset", "look", "restart", "bad", "repair"])
    pending: dict[str, bytes] = {}
    for step in data.draw(st.lists(steps, max_size=12)):
        sid = data.draw(st.sampled_from(sorted(talks)))
        if not openclaw.path(sid).exists():
            continue
        if step in ("turn", "half") or sid in pending:
            rest = pending.pop(sid, None) or line(
                talks[sid].user(f"TODO: paint the {data.draw(st.sampled_from(TOPICS))}.")
            )
            if step == "half" and len(rest) > 30:
                pending[sid], rest = rest[30:], rest[:30]
            openclaw.write(sid, rest)
        elif step == "reset":
            openclaw.rename(sid, "reset.2026-09-21T15-00-00.000Z")
        elif step == "bad":
            openclaw.write(sid, b"{not json}\n")
        elif step == "repair" and sid == SID:
            repair(openclaw)
        if step == "look":
            live.rescan()
        elif step == "restart":
            live = watcher(openclaw.state_dir)
    live.once()
    openclaw.remember()
    assert_like_clean(openclaw.state_dir, tmp_path)
    openclaw.assert_untouched()


TOPICS = ["harbour", "windmill", "lighthouse", "Zürich", "灯台"]


def test_a_session_of_compressed_rows_alone_has_a_transcript(database: Database, state_dir: Path) -> None:
    """Else a hook would take a session that is still going on for a crashed one."""
    database.run(
        (
            "INSERT INTO transcript_events (session_id, seq, created_at, event_zstd) VALUES (?, 0, 0, ?)",
            (SID, b"\x28\xb5\x2f\xfd"),
        )
    )
    assert has_transcript(state_dir, "main", SID)
    assert not has_transcript(state_dir, "main", "another")
