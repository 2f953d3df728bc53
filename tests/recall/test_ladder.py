"""The ranking earns its place: far above plain FTS5 on conversations whose answers are known."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.make_conversations import conversations
from fixtures.make_everyday import everyday
from tests.benchmarks.bench_search import LADDER, build, hits, ours, plain_fts5

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("made", [conversations, everyday])
def test_the_ranking_beats_plain_fts5(made: Any, tmp_path: Path) -> None:
    """The right session is first at least 8, and among five at least 3, percentage points more often.

    No part of the ranking costs more than one point: what a part earns on real conversations, it may not lose here.
    """
    plain, counted = Counter[int](), {name: Counter[int]() for name in LADDER}
    for talk in made(3)[3:5] if made is everyday else made(3)[3:]:
        index = build(tmp_path / talk.id, [talk])
        plain.update(hits(plain_fts5([talk]), talk.questions)["all"])
        for name, weights in LADDER.items():
            counted[name].update(hits(ours(index, weights), talk.questions)["all"])
        index.close()
    mine = counted["+ dates"]
    gained = {place: 100 * (mine[place] - plain[place]) / mine[0] for place in (1, 5)}
    assert gained[1] >= 8, gained
    assert gained[5] >= 3, gained
    rungs = [100 * rung[1] / rung[0] for rung in counted.values()]
    assert all(after >= before - 1 for before, after in pairwise(rungs)), rungs
