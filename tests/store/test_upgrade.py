"""What an upgrade does to a store, as docs/installing.md says: nothing that was kept is changed or lost."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jsonlstore.core.errors import NewerSchema, SessionForgotten
from jsonlstore.store.doctor import Doctor
from jsonlstore.store.store import SessionStore

ROOT = Path(__file__).parent.parent.parent
FIRST = ROOT / "fixtures" / "stores" / "2026-11-16"
LATER = "2026-11-18T12:00:00.000Z"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of a store that the first jsonlstore wrote, with the modes it had."""
    place = tmp_path / "state"
    shutil.copytree(FIRST, place)
    for path in (place / "sessions").rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return place


def run(place: Path, *words: str) -> Any:
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(place), *words, "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)


def kept(place: Path) -> dict[str, bytes]:
    """The logs, archived ones too, and the chain of metrics: what cannot be made anew."""
    return {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.rglob("*.jsonl"))}


def test_every_session_is_read_as_it_was_and_no_log_changes(old: Path) -> None:
    before = kept(old)
    assert {row["session_id"] for row in run(old, "list")} == {"radio-day-one", "website-day-two", "today"}
    radio = run(old, "show", "radio")
    assert radio["active_projects"] == ["lbf-ham-radio"]
    assert len(radio["pending_tasks"]) == 1
    assert run(old, "show", "website")["crash_recovered"] is True
    assert [one["session_id"] for one in run(old, "chain", "today")] == ["radio-day-one", "website-day-two", "today"]
    assert run(old, "metrics", "verify")["ok"] is True
    assert run(old, "recall", "radio", "--now", LATER)
    after = kept(old)
    counted = "sessions/states/metrics.jsonl"  # a look at a chain is counted, behind what was counted before
    assert after.pop(counted).startswith(before.pop(counted))
    assert after == before


def test_what_it_kept_comes_back_in_a_new_session(old: Path) -> None:
    """Except tasks for which old rules kept no evidence: those are told again once their transcript is read anew."""
    given = run(old, "restore", "--dry-run", "--session-key", "agent:main:main", "--agent", "main", "--now", LATER)
    assert "I decided to use hamlib" in given["preamble"]
    assert "solder the PTT line" in given["preamble"]
    assert "CAT control" not in given["preamble"]
    tasks = run(old, "task", "list", "--session-key", "agent:main:main", "--now", LATER)["tasks"]
    assert [one["title"] for one in tasks] == ["finish CAT control for the FT-991A."]


def test_new_records_follow_the_old_ones(old: Path) -> None:
    """A log is only ever added to, and what was forgotten stays forgotten."""
    before = kept(old)
    store = SessionStore.open(old)
    store.update("today", {"next_step": "solder the PTT line"})
    store.end("today", reason="new")
    after = kept(old)
    assert after["sessions/states/today.jsonl"].startswith(before["sessions/states/today.jsonl"])
    assert {name: data for name, data in after.items() if "today" not in name} == {
        name: data for name, data in before.items() if "today" not in name
    }
    with pytest.raises(SessionForgotten):
        store.start("gone")


def test_the_doctor_is_content_once_it_has_renewed_what_can_be_made_anew(old: Path) -> None:
    """Index and mirrors are caches: they are written in today's form, and the logs stay as they are."""
    before = kept(old)
    assert [check for check in Doctor(SessionStore.open(old)).examine(fix=True) if not check.ok] == []
    assert [check for check in Doctor(SessionStore.open(old)).examine() if not check.ok] == []
    assert kept(old) == before
    assert stat.S_IMODE((old / "sessions" / "states").stat().st_mode) == 0o700


def test_an_older_jsonlstore_reads_a_newer_log_and_does_not_write_to_it(old: Path) -> None:
    """The way back: nothing that the newer one kept is lost by going back to the older one."""
    log = old / "sessions/states/today.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"schema_version":1', b'"schema_version":2'))
    before = log.read_bytes()
    store = SessionStore.open(old)
    assert store.get("today").session_id == "today"
    with pytest.raises(NewerSchema):
        store.update("today", {"next_step": "x"})
    assert log.read_bytes() == before
