"""Tests beside a real OpenClaw come last; what they need is installed while the others run.

A test says what it needs by its mark: `@pytest.mark.openclaw("2026.9.6")`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.openclaw.model import Model
from tests.openclaw.packages import INSTALLER, node, openclaw

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("openclaw") is not None)


def pytest_collection_finish(session: pytest.Session) -> None:
    if session.config.option.collectonly:
        return
    marks = [mark for item in session.items for mark in item.iter_markers("openclaw")]
    if marks:
        versions = sorted({version for mark in marks for version in mark.args})
        INSTALLER.begin([node(), *map(openclaw, versions)])


def pytest_sessionfinish() -> None:
    INSTALLER.stop()


@pytest.fixture
def model() -> Iterator[Model]:
    """A model on loopback that says what it is told to."""
    made = Model()
    yield made
    made.close()
