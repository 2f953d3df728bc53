"""A user's own rules: more shapes, and values to leave alone; each line proves itself or is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from jsonlstore.redact.rules import read_own

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
