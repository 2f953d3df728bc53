"""What README and docs say is what the program does."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from jsonlstore.cli.main import COMMANDS
from jsonlstore.config import Config
from jsonlstore.model import SessionState
from jsonlstore.store.metrics import EVENTS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_ci_runs_the_readme_s_test_command() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert 'eval "$(grep -m1 "^pip install -e" README.md)"' in script
    command = re.search(r"^pip install -e.*$", README, re.MULTILINE)
    assert command is not None
    for tool in ("ruff check .", "ruff format --check .", "mypy", "pytest"):
        assert tool in command[0]


def test_the_demo_prints_what_the_readme_shows() -> None:
    done = subprocess.run([sys.executable, "-m", "jsonlstore", "demo"], capture_output=True, text=True, check=True)
    shown = re.search(r"\$ jsonlstore demo\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    dates = re.compile(r"LAST SESSION: \S+ \S+ UTC")
    assert dates.sub("LAST SESSION", shown[1].strip()) in dates.sub("LAST SESSION", done.stdout)


def test_the_readme_s_library_example_runs(tmp_path: Path) -> None:
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert example is not None
    env = {"OPENCLAW_STATE_DIR": str(tmp_path), "PATH": "", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", example[1]], env=env, capture_output=True, text=True, check=True)
    assert "ham radio" in done.stdout


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_readme_names_every_command(name: str) -> None:
    assert f"`jsonlstore {name}" in README or f"$ jsonlstore {name}" in README


def test_the_settings_table_is_complete() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", (ROOT / "docs" / "configuration.md").read_text(), re.MULTILINE))
    assert set(rows) == {item.name for item in fields(Config)}


def test_the_formats_page_names_every_key_and_every_metric() -> None:
    page = (ROOT / "docs" / "formats.md").read_text()
    for key in SessionState("s", "t").to_dict():
        assert f"`{key}`" in page, key
    for event in EVENTS:
        assert f"`{event}`" in page


def test_the_installing_page_names_every_key_the_installer_writes() -> None:
    from jsonlstore.bridges.openclaw.wiring import Wanted, plan

    page = (ROOT / "docs" / "installing.md").read_text()
    planned = plan({"plugins": {"allow": ["x"]}}, Wanted("plugin", "/p", ("jsonlstore",), (2026, 9, 6)))
    for change in planned.changes:
        dotted = ".".join(change.path).replace("plugins.entries.jsonlstore", "")
        assert f"`{dotted}`" in page or f"`plugins.entries.jsonlstore{dotted}`" in page, dotted
