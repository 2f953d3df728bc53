"""The search ladder: plain FTS5, then each part of our ranking added, on two sets of synthetic conversations.

python -m tests.benchmarks.bench_search [SEED...]

The weights were chosen with real conversations that are not part of this package, and looked at with other seeds of
these sets, which tell the same stories with other details.
"""

from __future__ import annotations

import re
import sqlite3
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate, islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fixtures.make_conversations import conversations
from fixtures.make_everyday import everyday
from jsonlstore.core.clock import format_time
from jsonlstore.recall.documents import Document, Turn
from jsonlstore.recall.fulltext import SearchIndex
from jsonlstore.recall.query import Query, read_query
from jsonlstore.recall.ranking import rank
from jsonlstore.recall.scoring import USUAL, Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fixtures.make_conversations import Conversation, Question

NOW = datetime(2026, 1, 1, tzinfo=UTC)
_OFF = Weights(forms=False, inflected=1, passage=0, beside=0, name=1, listened=1, date=0, relative_date=0)
_PARTS: dict[str, dict[str, Any]] = {
    "BM25 of sessions": {},
    "+ word forms": {"forms": True, "inflected": USUAL.inflected},
    "+ best passage": {"passage": USUAL.passage},
    "+ what is beside": {"beside": USUAL.beside},
    "+ names": {"name": USUAL.name},
    "+ who asks": {"listened": USUAL.listened},
    "+ dates": {"date": USUAL.date, "relative_date": USUAL.relative_date},
}


def _with(weights: Weights, more: dict[str, Any]) -> Weights:
    return replace(weights, **more)


LADDER = dict(zip(_PARTS, islice(accumulate(_PARTS.values(), _with, initial=_OFF), 1, None), strict=True))
SETS: dict[str, Callable[[int], list[Conversation]]] = {"hobbies": conversations, "everyday": everyday}


def plain_fts5(talks: Sequence[Conversation]) -> Callable[[str], list[str]]:
    """What SQLite gives out of the box: porter, bm25, one row per session, any of the words."""
    db = sqlite3.connect(":memory:")
    db.execute(
        "CREATE VIRTUAL TABLE t USING fts5 (id UNINDEXED, body, tokenize='porter unicode61 remove_diacritics 2')"
    )
    for talk in talks:
        for session in talk.sessions:
            db.execute(
                "INSERT INTO t VALUES (?, ?)", (session.id, "\n".join(f"{who}: {text}" for who, text in session.turns))
            )

    def ask(question: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        return [row[0] for row in db.execute("SELECT id FROM t WHERE t MATCH ? ORDER BY rank LIMIT 5", (words,))]

    return ask


def build(path: Path, talks: Sequence[Conversation]) -> SearchIndex:
    """Our index over the same sessions."""
    index = SearchIndex.open(path)
    with index.transaction():
        for talk in talks:
            for session in talk.sessions:
                at = format_time(datetime.fromisoformat(session.at))
                turns = [
                    Turn(str(n), at, "assistant" if who == "assistant" else "user", f"{who}: {text}")
                    for n, (who, text) in enumerate(session.turns)
                ]
                index.append(Document("session", session.id, session.id), turns)
    return index


def ours(index: SearchIndex, weights: Weights) -> Callable[[str], list[str]]:
    def ask(question: str) -> list[str]:
        query: Query = read_query([question], NOW, UTC)
        return [one.document.id for one in rank(index, query, limit=5, weights=weights)]

    return ask


def hits(ask: Callable[[str], list[str]], questions: Sequence[Question]) -> dict[str, Counter[int]]:
    """Per kind of question: how many there are (0), and in how many the first (1) or one of five (5) is right."""
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for question in questions:
        answers = ask(question.text)
        for kind in ("all", question.kind):
            found[kind].update(
                {
                    0: 1,
                    1: bool(set(answers[:1]) & set(question.evidence)),
                    5: bool(set(answers) & set(question.evidence)),
                }
            )
    return found


def ladder(
    made: Callable[[int], list[Conversation]], seeds: Sequence[int], *, together: bool = False
) -> dict[str, dict[str, Counter[int]]]:
    """The hits of every rung; `together` puts all conversations into one store."""
    totals: dict[str, dict[str, Counter[int]]] = {name: defaultdict(Counter) for name in ("plain FTS5", *LADDER)}
    for seed in seeds:
        talks = made(seed)
        for group in [talks] if together else [[talk] for talk in talks]:
            questions = [question for talk in group for question in talk.questions]
            with tempfile.TemporaryDirectory() as folder:
                index = build(Path(folder) / "search.sqlite", group)
                askers = {"plain FTS5": plain_fts5(group)} | {name: ours(index, each) for name, each in LADDER.items()}
                for name, ask in askers.items():
                    for kind, counted in hits(ask, questions).items():
                        totals[name][kind].update(counted)
                index.close()
    return totals


def main() -> None:
    seeds = [int(word) for word in sys.argv[1:]] or [7]
    for (name, made), together in product(SETS.items(), (False, True)):
        print(f"\n{name}, " + ("all in one store" if together else "a store for each conversation"))
        for rung, kinds in ladder(made, seeds, together=together).items():
            told = "  ".join(
                f"{kind} {100 * c[1] / c[0]:.0f}/{100 * c[5] / c[0]:.0f}" for kind, c in kinds.items() if kind != "all"
            )
            every = kinds["all"]
            first, five = (100 * every[n] / every[0] for n in (1, 5))
            print(f"{rung:15} {first:5.1f} / {five:5.1f}   {every[0]} questions; {told}")


if __name__ == "__main__":
    main()
