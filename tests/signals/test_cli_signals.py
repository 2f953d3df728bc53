"""`jsonlstore signals ID|FILE`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from jsonlstore.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

SESSION = "0a0b0c0d-1111-4222-8333-444455556666"


def lines(*texts: str) -> str:
    records = [
        {
            "type": "session",
            "version": 3,
            "id": SESSION,
            "timestamp": "2026-01-01T00:00:00.000Z",
            "cwd": "/home/u/Projects/tuner",
        }
    ]
    for number, text in enumerate(texts):
        message = {"role": "user", "content": text}
        records.append(
            {
                "type": "message",
                "id": f"e{number}",
                "parentId": None,
                "timestamp": "2026-01-01T00:01:00.000Z",
                "message": message,
            }
        )  # type: ignore[dict-item]
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    (folder / f"{SESSION}.jsonl").write_text(
        lines("We decided to use a roller inductor. token=hunter2hunter2", "The roller inductor sparks.")
    )
    return tmp_path


def test_a_session_is_found_by_a_prefix_of_its_id(state_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--state-dir", str(state_dir), "signals", SESSION[:8], "--json", "--explain"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["session_id"] == SESSION
    assert "roller inductor" in shown["hot_topics"]
    assert shown["sources"]["hot_topics"]["roller inductor"] == "e0"
    assert shown["notes"][0]["source_entry_id"] == "e0"
    assert "hunter2" not in json.dumps(shown)


def test_a_file_anywhere_will_do_and_people_get_plain_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text(lines("We decided to use a roller inductor."))
    assert main(["signals", str(path), "--explain"]) == 0
    out = capsys.readouterr().out
    assert "decision 0.70: We decided to use a roller inductor.  <- e0" in out
    assert SESSION in out


def test_of_a_file_with_resets_the_latest_stretch_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "old.jsonl"
    reset = (
        json.dumps(
            {"type": "reset", "id": "r1", "parentId": None, "timestamp": "2026-01-02T00:00:00.000Z", "reason": "new"}
        )
        + "\n"
    )
    later = lines("We decided to use a balun.").split("\n", 1)[1]
    path.write_text(lines("We decided to use a roller inductor.") + reset + later)
    assert main(["signals", str(path), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [note["content"] for note in shown["notes"]] == ["We decided to use a balun."]
    assert shown["session_id"] != SESSION


def test_an_unknown_id_is_an_error_with_an_envelope(state_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--state-dir", str(state_dir), "signals", "ffff", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "session_not_found"


def test_an_empty_file_has_no_signals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    assert main(["signals", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hot_topics"] == []


def test_help_ends_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["signals", "--help"]) == 0
    assert "Example:" in capsys.readouterr().out


def test_plain_texts_are_explained_by_their_grounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The next step is nothing but text: what it rests on stands behind it."""
    path = tmp_path / "old.jsonl"
    path.write_text(lines("Wind the roller inductor with silver wire"))
    assert main(["signals", str(path), "--explain"]) == 0
    assert "Wind the roller inductor with silver wire  [request unanswered 0.85: e0]" in capsys.readouterr().out


def test_show_explains_what_is_stored(state_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`show --explain` names entries where a transcript told it, and says so where somebody else did."""
    sessions = state_dir / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True, exist_ok=True)
    (sessions / f"{SESSION}.jsonl").write_text(lines("Wind the roller inductor with silver wire"))
    assert main(["--state-dir", str(state_dir), "backfill"]) == 0
    capsys.readouterr()
    assert main(["--state-dir", str(state_dir), "show", SESSION, "--explain"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "next step: Wind the roller inductor with silver wire [request unanswered 0.85: e0]" in out
    assert main(["--state-dir", str(state_dir), "show", SESSION]) == 0
    assert "[request unanswered" not in capsys.readouterr().out
