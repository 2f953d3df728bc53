"""The commands, for people and programs, and the external summariser."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.cli.main import main
from jsonlstore.handoff import present_document, related_memories, summarize
from tests.handoff.test_resume import HEADING, KEY, LEFT
from tests.home import Home

if TYPE_CHECKING:
    from pathlib import Path

NOW = ("--now", "2026-11-10T10:40:00Z")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path)
    (tmp_path / "agents" / "main").mkdir(parents=True)
    found.past("aaaa1111", channel="webchat", agent_id="main", session_key=KEY, reason="reset", **LEFT)
    found.later(minutes=5)
    found.store.start("bbbb2222", channel="webchat", agent_id="main", session_key=KEY)
    return found


def ask(home: Home, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["--state-dir", str(home.path), *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_capture_status_list_and_clear(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(home, capsys, "handoff", "list", *NOW) == []
    tried = ask(home, capsys, "handoff", "capture", "aaaa", "--dry-run", *NOW)
    assert tried["captured"] is False
    assert tried["handoff"]["summary"]["nextStep"] == LEFT["next_step"]
    assert ask(home, capsys, "handoff", "list", *NOW) == []
    assert ask(home, capsys, "handoff", "capture", "aaaa", *NOW)["captured"] is True
    assert (home.path / "agents/main/handoff/session-state.json").exists()
    shown = ask(home, capsys, "handoff", "status", *NOW)["handoff"]
    assert (shown["previousSessionId"], shown["resumeAvailable"], shown["trigger"]) == ("aaaa1111", True, "command")
    assert len(ask(home, capsys, "handoff", "list", *NOW)) == 1
    assert ask(home, capsys, "handoff", "clear", "--dry-run", *NOW)["cleared"] is False
    assert ask(home, capsys, "handoff", "clear", *NOW)["cleared"] is True
    assert ask(home, capsys, "handoff", "status", *NOW)["handoff"]["resumeAvailable"] is False
    assert not (home.path / "agents/main/handoff/session-state.json").exists()
    assert ask(home, capsys, "doctor")["checks"][-1]["ok"]


def test_resume_gives_a_session_the_block(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    ask(home, capsys, "handoff", "capture", "aaaa", *NOW)
    seen = ask(home, capsys, "resume", *NOW)
    assert (seen["resumed"], HEADING in seen["preamble"]) == (None, True)
    assert home.store.folded("aaaa1111").handoff.get("claim") is None  # type: ignore[union-attr]
    taken = ask(home, capsys, "resume", "aaaa", "--into", "bbbb", *NOW)
    assert taken["resumed"] == "aaaa1111"
    assert home.store.folded("aaaa1111").handoff["claim"]["session_id"] == "bbbb2222"  # type: ignore[index]
    assert ask(home, capsys, "project", "show", "bbbb")["name"] == "radio"


def test_projects_are_set_shown_and_cleared(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(home, capsys, "project", "show", "aaaa")["inferred"] is True
    assert ask(home, capsys, "project", "set", "boat", "aaaa")["name"] == "boat"
    shown = ask(home, capsys, "project", "show", "aaaa")
    assert (shown["name"], shown["inferred"], shown["active"], shown["handoffEnabled"]) == ("boat", False, True, True)
    assert ask(home, capsys, "project", "clear", "aaaa")["cleared"] is True
    assert ask(home, capsys, "project", "show", "aaaa")["name"] == "radio"


def test_a_chat_command_answers_in_a_line(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    def said(action: str, name: str = "") -> str:
        document = {"session_id": "aaaa1111", "agent_id": "main", "session_key": KEY, "action": action, "name": name}
        done = home.run("hook", "handoff", *NOW, stdin=json.dumps(document))
        return str(json.loads(done.stdout)["text"])

    assert said("status") == "No handoff is kept of this session."
    assert said("capture").startswith("Captured for the next session (project radio")
    assert said("status").startswith("Handoff of ")
    assert said("project", "boat") == "Project: boat."
    assert said("clear") == "The handoff of this session is discarded."


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("import json,sys; json.load(sys.stdin); print(json.dumps({'summary': {'nextStep': 'call ghp_%s'}}))"
         % ("q7v2kd9zt5m1" * 3), "rewritten"),
        ("raise SystemExit(3)", "kept"),
        ("print('no json')", "kept"),
        ("import time; time.sleep(30)", "kept"),
        ("print('{\"summary\": [1]}')", "kept"),
    ],
)  # fmt: skip
def test_an_external_summariser_may_rewrite_and_never_break(home: Home, program: str, expected: str) -> None:
    document = present_document(home.store.folded("aaaa1111"), home.now, 24)
    after = summarize(document, [sys.executable, "-c", program], 2.0)
    if expected == "kept":
        assert after == document
        return
    assert after.summary.next_step.startswith("call ")
    assert "q7v2kd9zt5m1" not in after.summary.next_step
    assert after.summary.decisions == document.summary.decisions


def test_memory_files_about_the_project_are_named(tmp_path: Path) -> None:
    (tmp_path / "2026-11-09-radio.md").write_text("soldering")
    (tmp_path / "notes.md").write_text("The Radio needs a fuse.")
    (tmp_path / "boat.md").write_text("radiology")
    assert {one["path"] for one in related_memories(tmp_path, "radio")} == {
        "memory/2026-11-09-radio.md",
        "memory/notes.md",
    }
    assert related_memories(tmp_path, "general") == []


def test_forget_takes_the_files_along_even_when_switched_off(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    ask(home, capsys, "handoff", "capture", "aaaa", *NOW)
    settings = {"plugins": {"entries": {"jsonlstore": {"config": {"handoff": {"enabled": False}}}}}}
    (home.path / "openclaw.json").write_text(json.dumps(settings))
    ask(home, capsys, "forget", "aaaa", "--yes")
    files = [path for path in (home.path / "agents/main/handoff").rglob("*") if path.is_file()]
    assert [path.name for path in files if "antenna" in path.read_text()] == []
