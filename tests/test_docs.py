"""What README and docs say is what the program does."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

import pytest

from jsonlstore.cli.main import COMMANDS
from jsonlstore.core.config import Config
from jsonlstore.core.model import SessionState
from jsonlstore.restore.score import PENDING_WEIGHT, RECENCY_WEIGHT, TOPIC_WEIGHT
from jsonlstore.signals.patterns import KINDS
from jsonlstore.store.metrics import METRIC_EVENTS
from jsonlstore.store.projection import IndexEntry
from jsonlstore.store.schema import problems

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# what a test cannot do: it would need a network, another program, root, or would not come back
NOT_RUN = (
    r"datasette ",  # serves until it is stopped; tests/bridges/exports asks it one thing
    r"jsonlstore mcp",  # the same; tests/bridges/mcp
    r"(pip|pipx|uv) (tool )?(un)?install ",
    r"(if|elif|else|fi|mkdir|export)\b",  # the README's block for installing: test_install.py
    r"HYPOTHESIS_PROFILE=long pytest",
    r"sudo ",
    r"jsonlstore setup",
    r"jsonlstore openclaw ",
    r"openclaw ",
    r"jsonlstore service (install|uninstall)",
    r"jsonlstore watch$",
    r"(npm|node|systemctl|journalctl|launchctl) ",
    r"([A-Z_]+=\S+ )*(python|pytest) ",
)
# what is right to fail here: there is no service to be asked, and no watcher runs
MAY_FAIL = (r"jsonlstore service status",)


class Command(NamedTuple):
    """One command line of a page, and the output shown below it, if any."""

    line: str
    shown: str | None


def commands(page: Path) -> list[Command]:
    """Every command in a page's shell blocks, in order."""
    found: list[Command] = []
    for language, body in re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        if language in ("sh", "bash", "shell"):
            lines = (line.strip() for line in body.splitlines())
            found += [Command(line, None) for line in lines if line and not line.startswith("#")]
        elif language == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                line, _, shown = part.partition("\n")
                found.append(Command(line, shown.strip() or None))
    return found


def is_run(line: str) -> bool:
    return not any(re.match(pattern, line) for pattern in NOT_RUN)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which `jsonlstore` is this one, and home and temporary files are elsewhere."""
    place = tmp_path_factory.mktemp("docs")
    (place / "bin").mkdir()
    program = place / "bin" / "jsonlstore"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m jsonlstore "$@"\n')
    program.chmod(0o755)
    (place / "tmp").mkdir()
    return {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "HOME": str(place),
        "TMPDIR": str(place / "tmp"),
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "TZ": "UTC",
        "LANG": "C.UTF-8",
    }


def run(line: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", line], env=env, cwd=env["HOME"], capture_output=True, text=True, timeout=120, check=False
    )


def without_times(text: str) -> str:
    """Output with what differs from day to day taken out: dates, clocks, ages, temporary names."""
    text = re.sub(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d \d\d:\d\d(-\d\d:\d\d| - \w+ \S+ \S+)", "DATE", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d\s+UTC", "DATE", text)
    return re.sub(r"\b\d+[dhm] ago|just now", "AGO", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_does_what_the_page_says(page: Path, shell: dict[str, str]) -> None:
    """On the sessions of the demo: each command succeeds, and prints what is shown below it."""
    if not any(is_run(command.line) for command in commands(page)):
        return
    made = run("jsonlstore demo --keep --json", shell)
    env = {**shell, "OPENCLAW_STATE_DIR": json.loads(made.stdout)["state_dir"]}
    for line, shown in commands(page):
        if not is_run(line):
            continue
        done = run(line, env)
        if not any(re.match(pattern, line) for pattern in MAY_FAIL):
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        if shown is not None:
            assert without_times(shown) in without_times(done.stdout), line


def test_the_commands_that_are_not_run_are_the_ones_that_cannot_be() -> None:
    lines = [command.line for page in PAGES for command in commands(page)]
    assert sum(map(is_run, lines)) >= 20
    assert all(line.split()[0] in ("jsonlstore", "echo") for line in lines if is_run(line))


def test_ci_runs_the_readme_s_test_command() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert 'eval "$(grep -m1 "^pip install -e" README.md)"' in script
    command = re.search(r"^pip install -e.*$", README, re.MULTILINE)
    assert command is not None
    for tool in ("ruff check .", "ruff format --check .", "mypy", "pytest"):
        assert tool in command[0]


def test_the_demo_leaves_its_directory_only_if_asked(shell: dict[str, str], tmp_path: Path) -> None:
    env = {**shell, "TMPDIR": str(tmp_path)}
    for line in ("jsonlstore demo", "jsonlstore demo --delete", "jsonlstore demo --json"):
        assert run(line, env).returncode == 0
        assert list(tmp_path.iterdir()) == [], line
    kept = run("jsonlstore demo --keep", env).stdout
    (left,) = tmp_path.iterdir()
    assert f"rm -r {left}" in kept


def test_the_readme_s_library_example_runs(tmp_path: Path) -> None:
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert example is not None
    env = {"OPENCLAW_STATE_DIR": str(tmp_path), "PATH": "", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", example[1]], env=env, capture_output=True, text=True, check=True)
    assert "ham radio" in done.stdout


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_readme_names_every_command(name: str) -> None:
    assert f"`jsonlstore {name}" in README or f"$ jsonlstore {name}" in README


def test_the_readme_can_be_read_in_three_minutes() -> None:
    assert len(README.splitlines()) < 270


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere_and_no_page_speaks_of_one_machine(page: Path) -> None:
    text = page.read_text()
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if "://" not in target and target != "docs/openclaw.md":  # that page comes with the plugin
            assert (page.parent / target).exists(), target
    assert not re.search(r"/(root|tmp|work|Users)/|/home/(?!user\b)", text)


def test_the_settings_table_is_what_the_settings_are() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text()
    rows = {row[0]: row[1:] for row in re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|$", text, re.MULTILINE)}
    assert set(rows) == {item.name for item in fields(Config)}
    for item in fields(Config):
        rules = item.metadata
        default, bounds, help_text = rows[item.name]
        assert default == _written(item.default), item.name
        assert help_text == rules["help"], item.name
        if rules.get("minimum") is not None:
            assert bounds == f"{rules['minimum']} to {rules['maximum']}", item.name
        elif rules.get("choices"):
            assert bounds == ", ".join(rules["choices"]), item.name
        else:
            assert not bounds.strip(), item.name


def _written(default: object) -> str:
    if default is None or default == ():
        return "(none)"
    if isinstance(default, bool):
        return str(default).lower()
    return ", ".join(default) if isinstance(default, tuple) else str(default)


def test_the_formats_page_names_every_key_and_every_metric() -> None:
    page = (ROOT / "docs" / "formats.md").read_text()
    for key in SessionState("s", "t").to_dict():
        assert f"`{key}`" in page, key
    for event, keys in METRIC_EVENTS.items():
        assert f"| `{event}` | {', '.join(f'`{key}`' for key in keys)} |" in page
    for schema in (ROOT / "schemas").glob("*.schema.json"):
        assert schema.name in page, schema.name
    for kind in re.findall(r"session\.\w+|state\.\w+", (ROOT / "schemas" / "event.schema.json").read_text()):
        assert f"`{kind}`" in page, kind


def test_the_formats_page_names_every_key_of_the_index_and_every_file_that_is_made(shell: dict[str, str]) -> None:
    page = (ROOT / "docs" / "formats.md").read_text()
    for key in IndexEntry._fields:
        assert f"`{key}`" in page, key
    root = Path(json.loads(run("jsonlstore demo --keep --json", shell).stdout)["state_dir"])
    env = {**shell, "OPENCLAW_STATE_DIR": str(root)}
    run("jsonlstore watch --once; jsonlstore archive --older-than 1d", env)
    for path in (root / "sessions").rglob("*"):
        if path.is_file():
            name = re.sub(r"session-\d\d", "session-NN", path.name)
            known = (
                f"`{name}`" in page or f"/{name}`" in page or path.stem in ("radio-day-one", "website-day-two", "today")
            )
            assert known, path.name


def test_the_example_mirror_is_one_and_has_every_key() -> None:
    """It is valid, complete, and what another tool would read."""
    page = (ROOT / "docs" / "formats.md").read_text()
    found = re.search(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    mirror = json.loads(found[1])
    assert problems("mirror", mirror) == []
    assert list(mirror) == list(SessionState("s", "t").to_dict())


def test_the_formats_page_names_every_note_type_and_every_field_of_every_part() -> None:
    page = (ROOT / "docs" / "formats.md").read_text()
    types = page[page.index("## Note types") : page.index("## Evidence")]
    listed = re.findall(r"^\| `(\w+)` \|", types, re.MULTILINE)[1:]  # without the heading
    assert sorted(listed) == sorted(KINDS)
    words = set(re.findall(r"\w+", page))
    for name, part in json.loads((ROOT / "schemas" / "state.schema.json").read_text())["$defs"].items():
        for key in part.get("properties", {}):
            assert key in words, f"{name}.{key}"


def test_the_formats_page_names_every_file_the_code_names() -> None:
    """Locks, stamps and reports beside the logs."""
    page = (ROOT / "docs" / "formats.md").read_text()
    named = set()
    for source in (ROOT / "jsonlstore").rglob("*.py"):
        named |= set(re.findall(r'states / "([\w.-]+)"', source.read_text()))
        named |= set(re.findall(r'"([\w-]+\.lock)"', source.read_text()))
    assert len(named) > 5
    for name in named:
        assert f"`{name}`" in page or f"`{name}/`" in page, name


def test_the_installing_page_names_every_key_the_installer_writes() -> None:
    from jsonlstore.bridges.openclaw.plugin_settings import PluginSetup, plan_settings

    page = (ROOT / "docs" / "installing.md").read_text()
    changes, _ = plan_settings(
        {"plugins": {"allow": ["x"]}}, PluginSetup("plugin", "/p", ("jsonlstore",), (2026, 9, 6))
    )
    for change in changes:
        dotted = ".".join(change.path).replace("plugins.entries.jsonlstore", "")
        assert f"`{dotted}`" in page or f"`plugins.entries.jsonlstore{dotted}`" in page, dotted


def test_the_score_is_written_down_as_it_is_computed() -> None:
    """The architecture page has the weights of the code, and they add up to one."""
    formula = f"`{RECENCY_WEIGHT:g} recency + {TOPIC_WEIGHT:g} topic overlap + {PENDING_WEIGHT:g} pending tasks`"
    assert formula in (ROOT / "docs" / "architecture.md").read_text()
    assert pytest.approx(1) == RECENCY_WEIGHT + TOPIC_WEIGHT + PENDING_WEIGHT


def test_the_picture_shows_the_demo_of_today() -> None:
    """If this fails the demo changed: `python tools/demo_picture.py` draws it anew."""
    spec = importlib.util.spec_from_file_location("demo_picture", ROOT / "tools" / "demo_picture.py")
    assert spec is not None
    assert spec.loader is not None
    drawing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(drawing)
    printed = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in drawing.demo_lines()]
    assert drawing.written_on(drawing.PICTURE.read_text()) == printed
