"""Recall: "what was I working on last Tuesday?", and "when did we fix the tuner?", with the words that answer.

What it promises: the answer depends on the store, the question, `now` and the zone alone; reading changes nothing; a
question nobody can answer gets what lies nearest, and what is not understood is no error.

A question's way: `answers` puts words to the full-text index and times to the states. For words, `query` takes the
question apart, `ranking` scores what `fulltext` (one file, `index_file`, of `documents`) names, by the `terms`, `stems`
and `forms` of words and their `occurrences` in passages; `memory` are the user's own files, `surroundings` the turns
around a passage, `agent` what an agent is told, `relevance` what a restore may ask, `forgetting` how words go.
For times, and where there is no index, `question` finds a time (`when`, with the words of `calendar`) and words, and
`search` narrows the sessions down by the bytes of their logs and reads only those that can be among the best (`match`).
`stats` counts what is kept.
"""

from jsonlstore.recall.calendar import MONTHS, WEEKDAYS
from jsonlstore.recall.question import Question, read_question
from jsonlstore.recall.search import RecallHit, RecallResult, recall
from jsonlstore.recall.when import Interval

__all__ = [
    "MONTHS", "WEEKDAYS", "Interval", "Question", "RecallHit", "RecallResult", "read_question", "recall",
]  # fmt: skip
