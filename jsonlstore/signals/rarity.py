"""How common a topic is among sessions: applied when topics are used, never stored (DECISION 47)."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def session_rarity(sessions: Iterable[Iterable[str]]) -> dict[str, float]:
    """Topic -> inverse document frequency over sessions: 1 if one session only has it, less the more share it."""
    counts: Counter[str] = Counter()
    total = 0
    for topics in sessions:
        counts.update({topic.lower() for topic in topics})
        total += 1
    return {topic: math.log1p(total / count) / math.log1p(total) for topic, count in counts.items()}


def by_rarity(topics: Iterable[str], rarities: Mapping[str, float]) -> list[str]:
    """Topics reordered for use: what few sessions share first, the session's own order where equal.

    A topic of every session ("openclaw") says little about any; its place in its own session still counts.
    """
    listed = list(dict.fromkeys(topics))
    weight = {t: rarities.get(t.lower(), 1.0) * (1.0 - place / (2 * len(listed))) for place, t in enumerate(listed)}
    return sorted(listed, key=lambda topic: -weight[topic])
