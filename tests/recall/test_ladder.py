"""The ranking earns its place: far above plain FTS5 on conversations whose answers are known."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from fixtures.make_conversations import conversations
from jsonlstore.recall.ranking import Weights
from tests.benchmarks.bench_search import build, hits, ours, plain_fts5

if TYPE_CHECKING:
    import pytest


def test_the_ranking_beats_plain_fts5(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The right session is first at least 8, and among five at least 3, percentage points more often."""
    folder = Path(tmp_path_factory.mktemp("ladder"))
    plain, mine = Counter[int](), Counter[int]()
    for talk in conversations(seed=3)[3:]:
        index = build(folder / talk.id, [talk])
        plain.update(hits(plain_fts5([talk]), talk.questions)["all"])
        mine.update(hits(ours(index, Weights()), talk.questions)["all"])
        index.close()
    gained = {place: 100 * (mine[place] - plain[place]) / mine[0] for place in (1, 5)}
    assert gained[1] >= 8, gained
    assert gained[5] >= 3, gained
