"""Agents renamed, moved and copied: a session belongs to the agent it lies with, and nothing is dropped in silence."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.cli.main import main
from jsonlstore.core.config import Config
from jsonlstore.store.store import SessionStore
from jsonlstore.watch.loop import Watcher
from tests.watch.conftest import IMPATIENT, OpenClaw, Talk, derived, line, once, watcher

if TYPE_CHECKING:
    from pathlib import Path

SID = "11111111-aaaa-4aaa-8aaa-111111111111"
OTHER = "22222222-aaaa-4aaa-8aaa-222222222222"

Status = Callable[[int], dict[str, Any]]


@pytest.fixture
def status(state_dir: Path, capsys: pytest.CaptureFixture[str]) -> Status:
    """What `status` prints, once its exit code was the expected one."""

    def ask(expect: int) -> dict[str, Any]:
        capsys.readouterr()
        assert main(["--state-dir", str(state_dir), "status", "--json"]) == expect
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        return document

    return ask


def test_two_backups_with_different_sessions_under_one_id_do_not_take_turns(
    state_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither agent ever had a directory among ours: that it has none does not show that it left."""
    places = []
    for agent, topic in (("one", "antenna"), ("two", "harbour")):
        folder = tmp_path / "backup" / agent / "sessions"
        folder.mkdir(parents=True)
        talk = Talk(SID)
        (folder / f"{SID}.jsonl").write_bytes(b"".join(map(line, [talk.header, *talk.turn(topic)])))
        places.append(str(folder.parent))

    def backfill(place: str) -> dict[str, Any]:
        capsys.readouterr()
        main(["--state-dir", str(state_dir), "backfill", place, "--json"])
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        return document

    assert backfill(places[0])["written"] == 1
    for place in (places[1], *places, *places):
        assert backfill(place)["written"] == 0
    state = SessionStore.open(state_dir).get(SID)
    assert state.agent_id == "one"
    assert "antenna" in state.hot_topics


def test_an_agent_that_was_renamed_takes_its_sessions_along(
    openclaw: OpenClaw, state_dir: Path, status: Status
) -> None:
    talk = openclaw.begin(SID, "antenna")
    openclaw.begin(OTHER, "harbour", day=20, key="agent:main:webchat:dm:u")
    openclaw.rename(OTHER, "reset.2026-09-20T15-00-00.000Z")
    live = watcher(state_dir)
    live.once()
    openclaw.agent_dir.rename(state_dir / "agents" / "work")
    openclaw.sessions = state_dir / "agents" / "work" / "sessions"
    openclaw.append(SID, *talk.turn("windmill"))
    assert status(1)["sources"][0]["lag_bytes"] > 0
    for _ in range(3):
        live.rescan()
    store = SessionStore.open(state_dir)
    state = store.get(SID)
    assert (state.agent_id, state.end_time) == ("work", None)
    assert "windmill" in state.hot_topics
    assert (store.get(OTHER).agent_id, store.get(OTHER).end_reason) == ("work", "reset")
    assert once(state_dir) == 0
    assert status(0)["sources"][0]["lag_bytes"] == 0


def test_a_transcript_moved_to_another_agent_is_that_one_s(openclaw: OpenClaw, state_dir: Path) -> None:
    talk = openclaw.begin(SID, "antenna")
    openclaw.begin(OTHER, "harbour", key="agent:main:webchat:dm:u")
    live = watcher(state_dir)
    live.once()
    there = OpenClaw(state_dir, "work")
    openclaw.path(SID).rename(there.path(SID))
    there.append(SID, *talk.turn("windmill"))
    there.refer("agent:work:main", SID)
    openclaw.remember()
    for _ in range(4):
        live.rescan()
    state = SessionStore.open(state_dir).get(SID)
    assert (state.agent_id, state.session_key, state.end_time) == ("work", "agent:work:main", None)
    assert "windmill" in state.hot_topics


def test_two_agents_with_one_session_id_are_no_secret_a_mere_copy_is_no_trouble(
    openclaw: OpenClaw, state_dir: Path, status: Status
) -> None:
    talk = openclaw.begin(SID, "antenna")
    once(state_dir)
    shutil.copytree(openclaw.agent_dir, state_dir / "agents" / "work")
    openclaw.remember()
    assert once(state_dir) == 0
    status(0)
    copy = state_dir / "agents" / "work" / "sessions" / f"{SID}.jsonl"
    copy.write_bytes(copy.read_bytes() + b"".join(map(line, talk.turn("windmill"))))
    openclaw.remember()
    assert once(state_dir) == 0
    assert any("work" in warning and SID in warning for warning in status(1)["warnings"])
    assert SessionStore.open(state_dir).get(SID).agent_id == "main"


def test_a_new_file_from_the_future_does_not_wait_for_it(openclaw: OpenClaw, state_dir: Path) -> None:
    """What nobody names yet gets a moment to be named in, not until its own time has come."""
    openclaw.begin(SID, "antenna")
    live = Watcher(SessionStore.open(state_dir), Config(), timing=replace(IMPATIENT, grace=10.0))
    live.once()
    talk = Talk(OTHER)
    openclaw.append(OTHER, talk.header, *talk.turn("harbour"))
    os.utime(openclaw.path(OTHER), (4_000_000_000, 4_000_000_000))
    openclaw.remember()
    live.rescan()
    assert "harbour" in derived(state_dir)[OTHER]["hot_topics"]
