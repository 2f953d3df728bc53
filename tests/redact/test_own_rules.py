"""A user's own rules: more shapes, and values to leave alone; each line proves itself or is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from jsonlstore.redact.rules import read_own
from tests.home import Home

if TYPE_CHECKING:
    from pathlib import Path

RULES = "# ours\nacme\tACME-[a-z]{8}\tACME-abcdefgh\tACME-x\nleave\thunter2x\n"


def test_a_rules_file_is_shapes_and_values_to_leave_alone() -> None:
    """Four columns are a shape, two are a value."""
    own = read_own(RULES)
    assert [shape.kind for shape in own.shapes] == ["acme"]
    assert own.leave == {b"hunter2x"}
    assert own.problems == ()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("acme\tACME-[a-z]{8}\tACME-x\tx", "does not find its example"),
        ("acme\tACME\tACME\tACME-x", "finds its counter-example"),
        ("acme\t(a)\\1\taa\tb", "RE2"),
        ("acme\tA(?=B)\tAB\tb", "RE2"),
        ("acme\tACME", "joined by tabs"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number(line: str, why: str) -> None:
    """What RE2 does not take may be slow; what does not find its example is dead."""
    (problem,) = read_own(f"# x\n{line}\n").problems
    assert problem.startswith("line 2: ")
    assert why in problem


def test_the_filter_takes_a_rules_file_and_explains(tmp_path: Path) -> None:
    """--explain names the rule and the line, --stats counts, and neither shows the value."""
    file = tmp_path / "redact.rules"
    file.write_text(RULES)
    text = "one\nACME-qwertyui\npassword=hunter2x\npassword=Zebra77!\n"
    command = [sys.executable, "-m", "jsonlstore", "redact", "--explain", "--stats", "--rules", str(file)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert done.stdout == "one\n[REDACTED]\npassword=hunter2x\npassword=[REDACTED]\n"
    assert "line 2: acme" in done.stderr
    assert "line 4: named" in done.stderr
    assert "Zebra77" not in done.stderr
    assert "qwertyui" not in done.stderr


def test_a_wrong_rules_file_is_a_usage_error(tmp_path: Path) -> None:
    """The filter does not run with half of the rules."""
    file = tmp_path / "redact.rules"
    file.write_text("acme\tACME\n")
    command = [sys.executable, "-m", "jsonlstore", "redact", "--rules", str(file)]
    done = subprocess.run(command, input="x", capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "line 1" in done.stderr


def _set_rules(home: Home, text: str) -> None:
    home.path.mkdir(parents=True, exist_ok=True)
    (home.path / "own.rules").write_text(text)
    settings = {"plugins": {"entries": {"jsonlstore": {"config": {"redact": {"rules": "own.rules"}}}}}}
    (home.path / "openclaw.json").write_text(json.dumps(settings))


def test_the_setting_names_a_rules_file_for_hooks(home: Home) -> None:
    """What only a rule of the user's knows reaches the disk neither raw nor by another way."""
    _set_rules(home, RULES)
    for event, document in (
        ("session-start", {"session_id": "a", "channel": "cli"}),
        (
            "turn-end",
            {"session_id": "a", "hot_topics": ["see ACME-qwertyui there"], "next_step": "ask for ACME-qwertyui"},
        ),
    ):
        subprocess.run(
            home.command("hook", event), input=json.dumps(document).encode(), check=True, capture_output=True
        )
    written = b"".join(file.read_bytes() for file in home.path.rglob("*") if file.is_file())
    assert b"ACME-qwertyui" not in written
    assert b"see [REDACTED] there" in written


def test_a_wrong_rule_in_the_settings_stops_a_command_and_not_a_hook(home: Home) -> None:
    """A session start must not fail because of a rules file."""
    _set_rules(home, "acme\tACME\n")
    done = subprocess.run(home.command("list"), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "redact_rules: line 1" in done.stderr
    document = json.dumps({"session_id": "a", "channel": "cli"})
    started = subprocess.run(
        home.command("hook", "session-start"), input=document, capture_output=True, text=True, check=False
    )
    assert started.returncode == 0
    assert "line 1" in started.stderr


def test_a_rule_that_backtracks_elsewhere_does_not_here(home: Home, tmp_path: Path) -> None:
    """RE2 reads it wherever it is used, in the filter and in a hook that has loaded nothing yet."""
    rules = "boom\t(?:a+)+Z9\taaaZ9\tb\n"
    file = tmp_path / "redact.rules"
    file.write_text(rules)
    text = "a" * 3000 + "!\naaaaZ9\n"
    command = [sys.executable, "-m", "jsonlstore", "redact", "--stats", "--json", "--rules", str(file)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout)["counts"] == {"boom": 1}
    _set_rules(home, rules)
    document = json.dumps({"session_id": "a", "channel": "cli", "last_topic": "a" * 3000 + "!"})
    subprocess.run(home.command("hook", "session-start"), input=document, text=True, check=True, timeout=60)


@pytest.mark.parametrize(
    ("options", "content"),
    [
        (["--rules", "absent"], None),
        (["--rules", "given"], b"\xff\xfe\x00"),
        (["--json"], None),
        (["--unheard-of"], None),
    ],
)
def test_the_filter_refuses_what_it_cannot_use(options: list[str], content: bytes | None, tmp_path: Path) -> None:
    """Nothing of the input is printed then."""
    if content is not None:
        (tmp_path / "given").write_bytes(content)
    command = [sys.executable, "-m", "jsonlstore", "redact", *options]
    done = subprocess.run(command, input="password=Zebra77!", capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert "Zebra77" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
