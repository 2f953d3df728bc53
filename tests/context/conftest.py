"""A store of either kind, and talk to put into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.context import TranscriptStore
from jsonlstore.core.files import Disk
from tests.transcripts.conftest import make as make  # noqa: PLC0414 - a fixture
from tests.transcripts.test_pi import pi as pi  # noqa: PLC0414 - a fixture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conftest import FakeClock

KINDS = ("sqlite", "jsonl")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def opened(tmp_path: Path, clock: FakeClock, kind: str) -> Iterator[Callable[..., TranscriptStore]]:
    """Opens the store of one state directory, as often as wanted."""
    made: list[TranscriptStore] = []

    def opened(**settings: Any) -> TranscriptStore:
        store = TranscriptStore.open(
            tmp_path / "state", {"store": kind, **settings}, clock=clock, disk=Disk(sync=False)
        )
        made.append(store)
        return store

    yield opened
    for store in made:
        store.close()


@pytest.fixture
def transcripts(opened: Callable[..., TranscriptStore]) -> TranscriptStore:
    return opened()


def user(text: str, **more: Any) -> dict[str, Any]:
    """A user's message as a record."""
    return {"type": "message", "message": {"role": "user", "content": text}, **more}


def assistant(text: str, used: int = 100, **more: Any) -> dict[str, Any]:
    """An answer as a record, with what it cost."""
    usage = {"input": used - 20, "output": 10, "cacheRead": 6, "cacheWrite": 4}
    blocks = [{"type": "text", "text": text}]
    message = {"role": "assistant", "content": blocks, "provider": "mock", "model": "mock-1", "usage": usage}
    return {"type": "message", "message": {**message, **more}}
