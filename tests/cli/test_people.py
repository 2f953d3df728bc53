"""What people see fits their terminal, obeys their colour settings, and cannot be used against them."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
import unicodedata
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore.cli.formatting import ago, cut_to_width, fold_text, lasted, megabytes, plain, width
from jsonlstore.cli.main import main
from jsonlstore.core.clock import format_time
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = Path(__file__).parent / "golden"
TRANSCRIPTS = Path(__file__).parents[2] / "fixtures/transcripts/agents/main"
NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
HOSTILE = "a\x1b[31mred\x1b[0m \x1b]0;title\x07\u202eevil\u2066 \x9b2J line\nbreak\r\t\x00\u2028end"


@pytest.fixture(autouse=True)
def _quiet_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def fill(root: Path) -> None:
    """Three sessions: an ordinary one, one in wide characters with far too much of everything, one still open."""
    moment = datetime(2026, 11, 14, 10, 0, tzinfo=UTC)
    root.mkdir(parents=True, exist_ok=True)
    store = SessionStore.open(root, clock=lambda: moment)
    settings = {
        "restore_budget_ms": 10_000,
        "preamble_max_chars": 700,
    }  # what is shown must not depend on how busy the machine is
    (root / "openclaw.json").write_text(json.dumps({"plugins": {"cortex": {"session_persistence": settings}}}))
    store.start("radio-monday", channel="telegram", agent_id="main")
    moment += timedelta(minutes=95)
    store.end(
        "radio-monday",
        {
            "hot_topics": ["ft991a", "ham radio", "hamlib"],
            "active_projects": ["lbf-ham-radio"],
            "pending_tasks": [{"task_id": "task-017", "title": "CAT control for the FT-991A", "stage": "build"}],
            "working_memory": [{"content": "38400 baud", "label": "serial", "pinnedAt": format_time(moment)}],
            "notes": [{"id": "n1", "type": "decision", "content": "use hamlib, not raw serial", "confidence": 0.8}],
            "next_step": "solder the PTT line",
        },
        reason="new",
    )
    moment += timedelta(days=1)
    store.start("3fca9cad-wide", channel="telegram", agent_id="main", previous_session_id="radio-monday")
    store.link("radio-monday", "3fca9cad-wide")
    moment += timedelta(minutes=20)
    store.end(
        "3fca9cad-wide",
        {
            "hot_topics": ["電波の伝わり方", "自作アンテナ", "👩‍🔧 tools", "e\u0301t\u0301e\u0301"],
            "active_projects": ["とても長い名前のプロジェクト" * 4],
            "pending_tasks": [
                {"task_id": f"task-{n:03d}", "title": ("界" * 5000 if n else HOSTILE), "stage": "verify"}
                for n in range(60)
            ],
            "last_topic": HOSTILE,
            "recent_learnings": ["x" * 9_000],
        },
        reason="idle",
    )
    moment += timedelta(hours=1)
    store.start("open-now", channel="cli", agent_id="main", previous_session_id="3fca9cad-wide")
    store.metrics.emit(*METRICS)


METRICS: list[dict[str, Any]] = [
    *({"event": "session_captured", "session_id": f"s{n}", "channel": "cli", "duration_minutes": 9.0, "pin_count": 0,
       "learning_count": 0, "task_count": 1, "hot_topic_count": 2, "crash_recovered": n == 3} for n in range(12)),
    *({"event": "session_restored", "new_session_id": f"n{n}", "from_session_ids": ["s1"], "pins_inherited": 1,
       "relevance_scores": [0.5], "pending_task_count": 1, "cold_start": n == 0} for n in range(5)),
    *({"event": "pending_task_surfaced", "task_id": f"task-{n % 2}", "title": "solder", "stage": "build",
       "days_pending": 1.5, "source": "s1"} for n in range(4)),
    *({"event": "confidence_decay_applied", "memory_id": f"m{n}", "original_confidence": 0.9,
       "decayed_confidence": 0.45, "hours_elapsed": 30.0, "excluded": n == 0} for n in range(2)),
    {"event": "handoff_captured", "session_id": "s1", "trigger": "end", "mode": "full", "pattern_count": 2, "bytes": 9},
]  # fmt: skip


MARKS = {"0": "</>", "1": "<bold>", "2": "<dim>", "31": "<red>", "32": "<green>", "33": "<yellow>"}
COMMANDS: dict[str, list[str]] = {
    "list": ["list", "--now", format_time(NOW)],
    "show": ["show", "radio", "--now", format_time(NOW)],
    "show-wide": ["show", "3fca", "--now", format_time(NOW)],
    "chain": ["chain", "open", "--now", format_time(NOW)],
    "restore": ["restore", "--channel", "telegram", "--agent", "main", "--prompt", "hamlib on the ft991a", "--explain",
                "--dry-run", "--now", format_time(NOW)],
    "status": ["status", "--now", format_time(NOW)],
    "stats": ["stats", "--now", format_time(NOW)],
    "doctor": ["doctor"],
    "recall": ["recall", "saturday", "hamlib", "--now", format_time(NOW)],
    "config": ["config"],
    "metrics": ["metrics", "--now", format_time(NOW)],
    "metrics-event": ["metrics", "--event", "session_restored", "-n", "2", "--now", format_time(NOW)],
    "transcripts": ["transcripts", "list"],
    "openclaw-status": ["openclaw", "status"],
    "help": ["--help"],
    "recall-nothing": ["recall", "last", "month", "hamlib", "--now", format_time(NOW)],
}  # fmt: skip


def shown(root: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    main(["--state-dir", str(root), *arguments])
    out, err = capsys.readouterr()
    return (out + err).rstrip("\n") + "\n"


@pytest.mark.parametrize("look", ["80", "40", "80-colour"])
@pytest.mark.parametrize("name", COMMANDS)
def test_the_output_is_as_it_was_looked_at_and_liked(
    name: str, look: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """To change one on purpose: JSONLSTORE_GOLDEN=write pytest tests/cli/test_people.py, then read the diff.

    In the golden of a coloured screen `<bold>`, `<dim>`, `<red>` and other names stand for what switches it on, `</>`
    for what switches it off: taken out, the screen is the one without colour.
    """
    root = tmp_path / ".openclaw"
    fill(root)
    if name == "transcripts":
        shutil.copytree(TRANSCRIPTS, root / "agents" / "main")
    monkeypatch.setenv("PATH", "/nowhere")  # no OpenClaw of this machine
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", look[:2])
    if look.endswith("colour"):
        monkeypatch.setenv("FORCE_COLOR", "1")
    text = shown(root, COMMANDS[name], capsys)
    text = re.sub(r"(?<![\d.])\d+ kB", "33 kB", text)
    if look.endswith("colour"):
        text = re.sub(r"\x1b\[(\d+)m", lambda found: MARKS[found[1]], text)
        plain_text = re.sub(r"</?(bold|dim|red|green|yellow)?>", "", text)
        assert plain_text == (GOLDEN / f"{name}-80.txt").read_text()
    golden = GOLDEN / f"{name}-{look}.txt"
    if os.environ.get("JSONLSTORE_GOLDEN") == "write":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


def assert_well_behaved(text: str, columns: int) -> None:
    for line in text.split("\n"):
        assert width(line) <= columns, line
        assert all(unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in line), repr(line)


def test_with_nothing_kept_every_command_says_so_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["list"], ["recall"], ["stats"], ["task", "list"], ["project", "show"], ["restore", "--dry-run"]):
        text = shown(tmp_path, words, capsys)
        assert "there are no sessions yet" in text, words
        assert "jsonlstore backfill" in text, words
    assert "no transcripts found" in shown(tmp_path, ["status"], capsys)
    assert "everything is well" in shown(tmp_path, ["doctor"], capsys)
    assert "cold start" in shown(tmp_path, ["restore", "--dry-run"], capsys)


def test_an_error_comes_with_a_hint_and_without_what_was_smuggled_into_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(tmp_path, ["show", "no\x1b[2Jsuch"], capsys)
    assert "\x1b" not in text
    assert re.search(r"^error: .*\nhint: ", text)


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({}, False),  # captured, as in a pipe
        ({"FORCE_COLOR": "1"}, True),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"NO_COLOR": "", "FORCE_COLOR": "1"}, True),
        ({"CLICOLOR": "0"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_colour_follows_the_environment(
    environment: dict[str, str],
    coloured: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fill(tmp_path)
    for name, value in {"COLUMNS": "80", **environment}.items():
        monkeypatch.setenv(name, value)
    text = shown(tmp_path, ["list"], capsys)
    assert ("\x1b[1m" in text) is coloured
    assert_well_behaved(re.sub(r"\x1b\[\d*m", "", text), 80)


NASTY = st.text(
    st.characters() | st.sampled_from("\x1b[]m;\x07\x9b\u202e\u2066\u200d\ufe0f界👩\u0301\n\r\t\x00"), max_size=60
)
TASK = st.fixed_dictionaries({"task_id": NASTY, "title": NASTY, "stage": NASTY})
FIELDS = st.fixed_dictionaries(
    {
        "hot_topics": st.lists(NASTY, max_size=3),
        "active_projects": st.lists(NASTY, max_size=2),
        "recent_learnings": st.lists(NASTY, max_size=2),
        "in_progress": st.lists(NASTY, max_size=2),
        "next_step": NASTY,
        "last_topic": NASTY,
        "pending_tasks": st.lists(TASK, max_size=3),
        "notes": st.lists(st.fixed_dictionaries({"id": st.just("n"), "type": NASTY, "content": NASTY}), max_size=2),
        "working_memory": st.lists(st.fixed_dictionaries({"content": NASTY, "label": NASTY}), max_size=2),
    }
)  # fmt: skip


@settings(max_examples=25)
@given(FIELDS, NASTY, st.sampled_from([24, 40, 80, 200]))
def test_no_line_is_too_long_and_nothing_reaches_the_terminal_as_a_command(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, Any], channel: str, columns: int
) -> None:
    from click.testing import CliRunner

    root = tmp_path_factory.mktemp("s")
    store = SessionStore.open(root, clock=lambda: NOW - timedelta(hours=1))
    store.start("one", channel=channel)
    store.end("one", _valid(fields), reason="new")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        for arguments in (["list"], ["show", "one"], ["chain", "one"], ["recall"], ["doctor"], ["recall", "zebra"],
                          ["restore", "--dry-run", "--explain", "--channel", "x"]):  # fmt: skip
            runner = CliRunner()
            with runner.isolation() as streams:
                main(["--state-dir", str(root), *arguments])
                output = streams[0].getvalue().decode()
            assert_well_behaved(output.replace(str(root), ""), columns)


def _valid(fields: dict[str, Any]) -> dict[str, Any]:
    """Half characters cannot be stored; everything else can."""
    if isinstance(fields, dict):
        return {key: _valid(value) for key, value in fields.items()}
    if isinstance(fields, list):
        return [_valid(value) for value in fields]  # type: ignore[return-value]
    return fields.encode("utf-8", "replace").decode() if isinstance(fields, str) else fields


@given(NASTY | st.text(), st.integers(0, 50))
def test_a_shortened_text_fits_and_keeps_its_beginning(text: str, limit: int) -> None:
    short = cut_to_width(text, limit)
    assert width(short) <= limit
    if not short.endswith("…"):
        assert limit == 0 or short == plain(text)
    else:
        assert plain(text).startswith(short[:-1])


@given(NASTY | st.text(), st.integers(8, 50))
def test_folding_loses_nothing_but_spaces(text: str, limit: int) -> None:
    lines = fold_text(text, limit, "  ")
    assert all(width(line) <= limit for line in lines)
    kept = "".join(plain(line) for line in text.split("\n"))
    assert "".join(lines).replace(" ", "") == kept.replace(" ", "")


@given(NASTY | st.text())
def test_plain_text_is_plain_already(text: str) -> None:
    assert plain(plain(text)) == plain(text)


def test_relative_times_read_well() -> None:
    def back(**delta: float) -> str:
        return ago(format_time(NOW - timedelta(**delta)), NOW)

    assert [back(seconds=5), back(minutes=5), back(hours=5), back(days=45), back(days=100), back(days=800)] == [
        "just now", "5m ago", "5h ago", "45d ago", "3mo ago", "2y ago",
    ]  # fmt: skip
    assert ago(format_time(NOW + timedelta(hours=1)), NOW) == "in the future"
    assert lasted("2026-01-01T00:00:00Z", "2026-01-03T04:00:00Z") == "2d 4h"
    assert [megabytes(size) for size in (12, 1234, 56_789, 3_400_000)] == ["12 bytes", "1.2 kB", "57 kB", "3.4 MB"]


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"])
@pytest.mark.parametrize("words", [["recall", "today"], ["list"], ["restore", "--dry-run"]])
def test_a_time_with_no_day_before_or_after_it_is_refused(
    words: list[str], moment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Time zones and margins are added to it: at the edge of the calendar there is nothing to add to."""
    assert main(["--state-dir", str(tmp_path), *words, "--now", moment]) == 2
    assert "between the years 2 and 9998" in capsys.readouterr().err
