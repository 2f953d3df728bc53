"""The handoff document's own detection, as an option: one kind per message, the first list that matches."""

# ruff: noqa: E501 - word lists and phrases are data

from __future__ import annotations

from dataclasses import dataclass

from jsonlstore.core import expressions as re
from jsonlstore.signals.language import small_kinds
from jsonlstore.signals.sentences import prose_lines, sentences

SCOPE, DONE, DECISION, INSIGHT, BLOCKER, TASK = (
    "scope_creep", "accomplishment", "decision", "insight", "blocker", "task_created",
)  # fmt: skip
KINDS = (BLOCKER, DECISION, INSIGHT, DONE, SCOPE, TASK)


@dataclass(frozen=True, slots=True)
class Detected:
    """One thing that was said."""

    kind: str
    confidence: float
    sentence: str


def is_casual(sentence: str) -> bool:
    """Whether a sentence is a greeting, thanks or agreement and nothing else."""
    return bool(small_kinds(sentence))


# The handoff document's own patterns, with word boundaries, in its order: the first that matches names the message.
_DOCUMENT: tuple[tuple[str, str], ...] = (
    (
        BLOCKER,
        r"\b(?:broke|bugs?|errors?|fail(?:s|ed|ing|ure)?|crash(?:es|ed)?|not working|can't|cannot|unable to|stuck on|blocking|preventing|issues?|problems?)\b",
    ),
    (
        DECISION,
        r"\b(?:let's\s+(?:use|do|go with)|we should|decided to|going to\s+(?:use|implement)|chosen|selected|how about we)\b",
    ),
    (
        INSIGHT,
        r"\b(?:i (?:learned|realized|discovered|figured out)|turns out|makes sense|now i understand|the reason|explains why|because of)\b",
    ),
    (
        DONE,
        r"\b(?:fixed|built|created|implemented|completed|got\b.*\bworking|working now|solved|done|finished|successfully|verified|confirmed)\b",
    ),
)


def detect_first_match(text: str) -> list[Detected]:
    """The handoff document's detection: one kind per message, the first list that matches, confidence 0.8."""
    said = [sentence for line in prose_lines(text) for sentence in sentences(line)]
    for kind, pattern in _DOCUMENT:
        for sentence in said:
            if re.search(pattern, sentence.replace("’", "'"), re.IGNORECASE):
                return [Detected(kind, 0.8, sentence)]
    return []


_WORK = re.compile(
    r"\b(?:build|buil[dt]|creat|implement|fix|bug|error|task|project|code|deploy|test|refactor)\w*", re.IGNORECASE
)
GENERAL = "general"


def should_capture(text: str, project: str | None, *, active: bool = True) -> bool:
    """The handoff document's filter for pattern notes: a named, active project, work words, and not just small talk."""
    if not active or not project or project.lower() == GENERAL:
        return False
    return not is_casual(text) and bool(_WORK.search(text))
