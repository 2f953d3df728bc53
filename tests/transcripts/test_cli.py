"""`jsonlstore transcripts` says what is there, per agent and era."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.cli.main import main
from jsonlstore.transcripts.stretches import stretch_id

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


def run(state_dir: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["--state-dir", str(state_dir), "transcripts", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_list_counts_and_says_why_each_ended(
    state_dir: Path, make: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(state_dir, capsys, "list", "--json")
    document: dict[str, Any] = json.loads(out)
    rows = {row["session_id"]: row for row in document["transcripts"]}
    assert code == 0
    assert (rows[make.WAS_RESET]["end_reason"], rows[make.WAS_RESET]["records"]) == ("reset", 8)
    assert rows[make.LIVE]["end_reason"] is None
    assert rows[make.BOTH]["agent_id"] == "both"
    assert make.SUBAGENT not in rows
    assert len(document["warnings"]) == 2
    code, out, err = run(state_dir, capsys, "list", "--all", "--agent", "main")
    assert make.SUBAGENT in out
    assert "warning" in err


def test_show_tells_who_said_what(state_dir: Path, make: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(state_dir, capsys, "show", "9999")
    assert (code, "Please look at the damage." in out, "bad lines" in err) == (0, True, True)
    stretch = stretch_id(make.RESET_IN_PLACE, "c17cba32")
    _, out, _ = run(state_dir, capsys, "show", stretch, "--json")
    entries = json.loads(out)["entries"]
    assert [entry["speaker"] for entry in entries] == ["none", "user", "assistant"]
    assert {entry["stretch"] for entry in entries} == {stretch}


def test_context_is_what_the_model_would_see(state_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(state_dir, capsys, "context", "4444", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["messages"][0]["role"] == "compactionSummary"
    assert document["tokens"]["used"] > 0
    _, out, _ = run(state_dir, capsys, "context", "4444", "--window", "200000")
    assert "[Context: " in out


def test_an_unknown_id_is_an_error_with_a_hint(state_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(state_dir, capsys, "show", "nobody", "--json")
    assert (code, json.loads(out)["error"]["code"]) == (1, "session_not_found")
    assert "hint:" in err


@pytest.mark.parametrize("command", [[], ["list"], ["show"], ["context"]])
def test_help_ends_with_an_example(state_dir: Path, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    _, out, _ = run(state_dir, capsys, *command, "--help")
    assert "Example:\n    jsonlstore transcripts" in out
