"""The synthetic transcripts, and the script that makes them."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

FIXTURES = Path(__file__).parents[2] / "fixtures"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_transcripts", FIXTURES / "make_transcripts.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def make() -> ModuleType:
    """The generator script of the fixtures."""
    return _load()


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    """A private copy of the synthetic state directory."""
    shutil.copytree(FIXTURES / "transcripts", tmp_path / "state")
    return tmp_path / "state"
