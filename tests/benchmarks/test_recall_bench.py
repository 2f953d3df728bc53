"""`recall` among 10,000 sessions, each kind of question as a ratio to a bare parse of the index in the same run.

pytest tests/benchmarks/test_recall_bench.py --benchmark-only -s
"""

from __future__ import annotations

import time
from datetime import UTC
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from jsonlstore.recall.question import read_question
from jsonlstore.recall.search import recall
from jsonlstore.store.store import SessionStore
from tests.benchmarks.test_continuity_bench import NOW, percentiles, populate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COUNT = 10_000
QUESTIONS = {
    "a day": "last tuesday",
    "a day and a word": "last tuesday topic3",
    "a rare word": "word777",
    "a word of every session": "control",
    "a word of none": "zebra",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> SessionStore:
    return populate(tmp_path_factory.mktemp("recall"), COUNT)


@pytest.mark.parametrize("kind", QUESTIONS)
def test_recall(benchmark: Any, store: SessionStore, kind: str) -> None:
    question = read_question([QUESTIONS[kind]], NOW, UTC)

    def ask() -> None:
        fresh = SessionStore(store.paths, clock=lambda: NOW)
        found = recall(fresh, question, now=NOW, zone=UTC).found
        assert bool(found) is (kind != "a word of none")

    ask()
    benchmark.pedantic(ask, rounds=3)
    median, _ = percentiles(ask, 3)
    spent, baseline = cpu(ask), cpu(lambda: orjson.loads(_index(store)))
    print(
        f"\nrecall of {kind} among {COUNT:,} sessions: median {median:.0f} ms, CPU {spent:.0f} ms; "
        f"{spent / baseline:.1f}x the CPU of a bare parse of the index ({baseline:.0f} ms)"
    )


def cpu(work: Callable[[], object]) -> float:
    """The least CPU time of five runs, in milliseconds: what is left when the neighbours are quiet."""
    times = []
    for _ in range(5):
        began = time.process_time()
        work()
        times.append((time.process_time() - began) * 1000)
    return min(times)


def _index(store: SessionStore) -> bytes:
    path: Path = store.paths.index
    return path.read_bytes()
