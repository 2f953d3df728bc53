"""Shared fixtures: a store on real files, a clock that moves only when told to."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from jsonlstore.store.store import SessionStore
from tests.home import Home

if TYPE_CHECKING:
    from pathlib import Path

# the short form draws the same examples every time, so that a red run means a change; the long form explores
settings.register_profile(
    "ci",
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("long", parent=settings.get_profile("ci"), max_examples=1000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# workers of pytest-xdist have it: their output would be folded as on a terminal, unlike that of a single process
os.environ.pop("COLUMNS", None)


class FakeClock:
    """A clock under the test's control."""

    def __init__(self, start: str = "2026-02-18T12:00:00+00:00") -> None:
        self.moment = datetime.fromisoformat(start).astimezone(UTC)

    def __call__(self) -> datetime:
        return self.moment

    def advance(self, **delta: float) -> None:
        self.moment += timedelta(**delta)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> SessionStore:
    return SessionStore.open(tmp_path / "state", clock=clock)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "openclaw")
