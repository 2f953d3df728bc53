"""The commands, for people and programs, and the external summariser."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.cli.main import main
from jsonlstore.handoff import kept_handoff, present_document, related_memories, summarize
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
    main(["--state-dir", str(home.path), "handoff", "status", *NOW])
    assert capsys.readouterr().out == "aaaa1111: cleared\n", "what was thrown away is not shown"
    assert ask(home, capsys, "handoff", "clear", *NOW)["cleared"] is False
    assert main(["--state-dir", str(home.path), "resume", *NOW]) != 0
    capsys.readouterr()
    assert ask(home, capsys, "doctor")["checks"][-1]["ok"]


def test_alone_it_captures_the_newest_session_as_in_a_chat(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    home.store.update("bbbb2222", {"next_step": "paint the mast"})
    assert ask(home, capsys, "handoff", "--dry-run", *NOW)["captured"] is False
    assert ask(home, capsys, "handoff", *NOW) == ask(home, capsys, "handoff", "capture", *NOW)
    assert kept_handoff(home.store.folded("bbbb2222")) is not None
    assert main(["--state-dir", str(home.path), "handoff", "--help"]) == 0
    assert "capture" in capsys.readouterr().out


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
    assert said("status") == "No handoff is kept of this session."
    assert said("clear") == "No handoff is kept of this session."


def test_the_status_says_what_the_session_continues(home: Home) -> None:
    given = home.hook("session-start", session_id="bbbb2222", agent_id="main", session_key=KEY, channel="webchat")
    assert given["handoff"]["claimed"] is True
    home.later(seconds=10)
    done = home.hook("handoff", session_id="bbbb2222", agent_id="main", session_key=KEY, action="status")
    assert done["text"] == "No handoff is kept of this session. It continues aaaa1111."


def test_in_a_chat_the_beginning_of_an_id_of_that_conversation_is_enough(home: Home) -> None:
    home.past("aaaa9999", channel="telegram", agent_id="main", session_key="agent:main:telegram:dm:9", **LEFT)
    ask = {"agent_id": "main", "session_key": KEY, "channel": "webchat", "session_id": "bbbb2222"}
    assert home.hook("session-start", **ask, resume="aaaa")["handoff"]["session_id"] == "aaaa1111"
    assert "another conversation" in home.hook("session-start", **ask, resume="aaaa9999")["error"]
    assert "no such session" in home.hook("session-start", **ask, resume="aaaa99")["error"]


SUMMARY = {"lastTopic": "the mast", "inProgress": ["raise the mast"], "blockers": ["the crane is late"],
           "decisions": ["oak, not ash", "paint it white"], "nextStep": "call the crane " + "x" * 400}  # fmt: skip


def summarizing(home: Home, program: str | None = None) -> None:
    """Settings with a summariser that counts its calls."""
    told = json.dumps({"summary": SUMMARY})
    script = home.path / "summarise.py"
    script.write_text(program or f"import sys; sys.stdin.read(); open({str(home.path / 'calls')!r}, 'a').write('x')\n"
                      f"print({told!r})")  # fmt: skip
    entry = {"config": {"handoff": {"summarizer": [sys.executable, str(script)], "summarizer_seconds": 20}}}
    (home.path / "openclaw.json").write_text(json.dumps({"plugins": {"entries": {"jsonlstore": entry}}}))


def test_the_words_of_the_summariser_are_what_the_next_session_is_told(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the capture to the block, and in the file after the claim; asked once, because nothing has changed since."""
    summarizing(home)
    captured = ask(home, capsys, "handoff", "capture", "aaaa", *NOW)["handoff"]
    assert captured["summary"]["decisions"] == SUMMARY["decisions"]
    assert len(captured["summary"]["nextStep"]) == 200
    ask(home, capsys, "handoff", "capture", "aaaa", *NOW)
    given = home.hook("session-start", session_id="cccc", agent_id="main", session_key=KEY, channel="webchat")
    for line in ('IN PROGRESS: "raise the mast"', 'BLOCKERS: "the crane is late"', 'NEXT STEP: "call the crane xxx',
                 'DECISIONS: "oak, not ash"; "paint it white"'):  # fmt: skip
        assert f"\n{line}" in given["block"]
    shown = json.loads((home.path / "agents/main/handoff/session-state.json").read_text())
    assert shown["summary"]["decisions"] == SUMMARY["decisions"]
    assert shown["claimedBy"] == "cccc"
    assert (home.path / "calls").read_text() == "x"


def test_a_summary_that_was_overtaken_is_not_told(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """A later session closed what it speaks of: then the session's own, present summary counts."""
    summarizing(home)
    ask(home, capsys, "handoff", "capture", "aaaa", *NOW)
    home.store.update("bbbb2222", {"closed": [{"title": "measure the standing wave"}]}, by="watcher")
    home.store.end("bbbb2222", reason="new")
    home.later(minutes=1)
    given = home.hook("session-start", session_id="cccc", agent_id="main", session_key=KEY, channel="webchat")
    assert "## Previous Session Context" in given["block"]
    assert "crane" not in given["block"]
    assert "standing wave" not in given["block"]


def test_in_a_chat_nobody_waits_for_the_summariser(home: Home) -> None:
    """The answer is there at once; what the summariser says is kept when it has said it."""
    summarizing(home)
    home.hook("handoff", session_id="aaaa1111", agent_id="main", session_key=KEY, action="capture")
    found = kept_handoff(home.store.folded("aaaa1111"))
    assert found is not None
    assert found.document.summary.decisions == tuple(SUMMARY["decisions"])


def test_archiving_takes_the_files_along_and_an_export_of_events_has_it(
    home: Home, capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    ask(home, capsys, "handoff", "capture", "aaaa", *NOW)
    folder = tmp_path_factory.mktemp("export")
    ask(home, capsys, "export", "jsonl", str(folder), "--events")
    rows = [json.loads(line) for path in folder.rglob("*.jsonl") for line in path.read_text().splitlines()]
    assert [row["type"] for row in rows if row["type"].startswith("handoff.")] == ["handoff.captured"]
    ask(home, capsys, "archive", "--older-than", "0d")
    files = [path for path in (home.path / "agents/main/handoff").rglob("*") if path.is_file()]
    assert [path.name for path in files if "antenna" in path.read_text()] == []
    assert ask(home, capsys, "handoff", "status", "aaaa", *NOW)["handoff"]["previousSessionId"] == "aaaa1111"


def test_the_overview_counts_what_waits(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--state-dir", str(home.path), "status", "--json", *NOW])
    assert json.loads(capsys.readouterr().out)["handoff"]["waiting"] == 0
    ask(home, capsys, "handoff", "capture", "aaaa", *NOW)
    main(["--state-dir", str(home.path), "status", "--json", *NOW])
    assert json.loads(capsys.readouterr().out)["handoff"]["waiting"] == 1
    kinds = [record["event"] for record in home.metrics()]
    assert kinds.count("handoff_captured") == 1
    home.hook("session-start", session_id="cccc", agent_id="main", session_key=KEY, channel="webchat")
    kinds = [record["event"] for record in home.metrics()]
    assert (kinds.count("handoff_offered"), kinds.count("handoff_claimed")) == (1, 1)


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


def test_what_the_summariser_is_given_is_redacted(home: Home) -> None:
    secret = "ghp_" + "q7v2kd9zt5m1" * 3
    document = present_document(home.store.folded("aaaa1111"), home.now, 24)
    leaky = replace(document, summary=replace(document.summary, next_step=f"log in with {secret}"))
    given = home.path / "given"
    program = f"import sys; open({str(given)!r}, 'w').write(sys.stdin.read())"
    assert summarize(leaky, [sys.executable, "-c", program], 20) == leaky, "it said nothing"
    assert "log in with" in given.read_text()
    assert secret not in given.read_text()


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
