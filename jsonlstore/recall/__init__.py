"""Recall: "what was I working on last Tuesday?", answered from the sessions by time and words.

What it promises: the answer depends on the store, the question, `now` and the zone alone; reading changes nothing; a
question nobody can answer gets what lies nearest, and what is not understood is no error.

A question's way: `question` takes it apart into a time (`when`, with the words of `calendar`) and words; `search`
narrows the sessions down by the index and the bytes of their logs, and reads only those that can be among the best
(`match`).
"""

from jsonlstore.recall.calendar import MONTHS, WEEKDAYS
from jsonlstore.recall.question import Question, read_question
from jsonlstore.recall.search import RecallHit, RecallResult, recall
from jsonlstore.recall.when import Interval

__all__ = [
    "MONTHS", "WEEKDAYS", "Interval", "Question", "RecallHit", "RecallResult", "read_question", "recall",
]  # fmt: skip
