"""The library's page is what the docstrings say, explains every argument, and its example runs."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import jsonlstore

ROOT = Path(__file__).parent.parent


def load_tool() -> Any:
    spec = importlib.util.spec_from_file_location("library_page", ROOT / "tools" / "library_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = load_tool()


def test_the_page_is_current() -> None:
    """If this fails a docstring changed: `python tools/library_page.py` writes the page anew."""
    assert TOOL.PAGE.read_text() == TOOL.page()


@pytest.mark.parametrize("name", TOOL.public_names())
def test_every_public_name_every_call_and_every_argument_is_explained(name: str) -> None:
    cls = getattr(jsonlstore, name)
    assert f"## {name}\n" in TOOL.PAGE.read_text()
    assert TOOL.unexplained(cls) == set()
    for label, member in TOOL.members(cls).items():
        inner = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        assert inner.__doc__, f"{name}.{label} has no docstring"


def test_an_argument_without_a_word_would_be_noticed() -> None:
    class Odd(jsonlstore.JsonlStoreError):
        def go(self, whither: str) -> str:
            """Go there."""
            return whither

    Odd.__module__ = "jsonlstore.odd"
    assert "whither" in TOOL.unexplained(Odd)


def test_the_example_runs_as_it_is(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", TOOL.PAGE.read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        env = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": ""}
        done = subprocess.run([sys.executable, "-c", block], env=env, capture_output=True, text=True, check=True)
        assert "CAT control for the FT-991A" in done.stdout
    assert list(tmp_path.iterdir()) == [], "a store in memory leaves nothing in the home"
