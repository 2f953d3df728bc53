"""The next model request after a boundary, with real OpenClaw. The default run plays one boundary per era.

pytest -m "openclaw" tests/openclaw/test_boundaries.py      every boundary in every mode (about half an hour)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.openclaw.boundaries import VERSIONS, play
from tests.openclaw.lab import each_version
from tests.openclaw.stage import MODES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.openclaw.boundaries import Row


def bad(rows: list[Row]) -> str:
    return "\n".join(" | ".join(row.cells()) for row in rows if not row.good)


@pytest.mark.parametrize("version", each_version("2026.2.26", "2026.9.6"))
def test_a_reset_brings_task_and_pin_into_every_later_request(version: str, tmp_path: Path) -> None:
    """With the plugin alone."""
    rows = list(play(version, "plugin", tmp_path, "reset"))
    assert len(rows) == 1
    assert not bad(rows), bad(rows)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_every_boundary(version: str, mode: str, tmp_path: Path) -> None:
    rows = list(play(version, mode, tmp_path))
    assert len(rows) >= 7
    assert not bad(rows), bad(rows)
