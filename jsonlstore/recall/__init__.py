"""Recall: "what was I working on last Tuesday?", and "when did we fix the tuner?", with the words that answer.

What it promises: the answer depends on the store, the question, `now` and the zone alone; reading changes nothing; a
question nobody can answer gets what lies nearest, and what is not understood is no error.

A question's way: `answers` puts words to the full-text index and times to the states. For words, `query` takes the
question apart, `ranking` scores what `fulltext` (one file, `index_file`, of `documents`, read by `index_reader`) names,
by the `terms`, `stems` and `forms` of words, their `occurrences` in passages and the `dates` asked for; `memory` are
the user's own files, `surroundings` the turns around a passage, `agent` what an agent is told, `relevance` what a
restore may ask, `forgetting` how words go.
For times, and where there is no index, `question` finds a time (`when`, with the words of `calendar`) and words, and
`search` narrows the sessions down by the bytes of their logs and reads only those that can be among the best (`match`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.recall.agent import AgentQuestion, recall_for_agent
    from jsonlstore.recall.answers import Answers, Search, search_sessions, time_limits
    from jsonlstore.recall.calendar import MONTHS, WEEKDAYS
    from jsonlstore.recall.documents import Document, Turn
    from jsonlstore.recall.forgetting import forget_words
    from jsonlstore.recall.fulltext import SearchIndex
    from jsonlstore.recall.index_file import (
        LAYOUT,
        OutdatedIndex,
        entries_stamp,
        has_fts5,
        is_index_damaged,
        remove_index,
    )
    from jsonlstore.recall.memory import MemoryFiles
    from jsonlstore.recall.question import Question, read_question
    from jsonlstore.recall.relevance import IndexRelevance
    from jsonlstore.recall.search import FoundPassage, RecallHit, RecallResult, recall
    from jsonlstore.recall.when import Interval


__all__ = [
    "LAYOUT",
    "MONTHS",
    "WEEKDAYS",
    "AgentQuestion",
    "Answers",
    "Document",
    "FoundPassage",
    "IndexRelevance",
    "Interval",
    "MemoryFiles",
    "OutdatedIndex",
    "Question",
    "RecallHit",
    "RecallResult",
    "Search",
    "SearchIndex",
    "Turn",
    "entries_stamp",
    "forget_words",
    "has_fts5",
    "is_index_damaged",
    "read_question",
    "recall",
    "recall_for_agent",
    "remove_index",
    "search_sessions",
    "time_limits",
]

__getattr__ = lazy(
    __name__,
    {
        "agent": "AgentQuestion recall_for_agent",
        "answers": "Answers Search search_sessions time_limits",
        "calendar": "MONTHS WEEKDAYS",
        "documents": "Document Turn",
        "forgetting": "forget_words",
        "fulltext": "SearchIndex",
        "index_file": "LAYOUT OutdatedIndex entries_stamp has_fts5 is_index_damaged remove_index",
        "memory": "MemoryFiles",
        "question": "Question read_question",
        "relevance": "IndexRelevance",
        "search": "FoundPassage RecallHit RecallResult recall",
        "when": "Interval",
    },
)
