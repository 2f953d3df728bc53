"""Blockers, decisions, insights, accomplishments, scope creep and created tasks, told from what was said.

Everything works on clauses of sentences of prose. Where a clause would tell two things, what comes first in
`_PRECEDENCE` wins: a bug that was fixed is an accomplishment (DECISION 43).
"""

# ruff: noqa: E501 - word lists and phrases are data

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from jsonlstore.signals import pattern_rules as rules
from jsonlstore.signals.pattern_matcher import matching, may_tell, without_neutral
from jsonlstore.signals.sentences import prose_lines, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = (rules.BLOCKER, rules.DECISION, rules.INSIGHT, rules.DONE, rules.SCOPE, rules.TASK)
STRONG = 0.8

_PRECEDENCE = {kind: place for place, kind in enumerate(
    (rules.TASK, rules.SCOPE, rules.DONE, rules.INSIGHT, rules.DECISION, rules.BLOCKER)
)}  # fmt: skip
_GREETING = re.compile(
    r"(?:(?:hey|hi|hello|yo|what's up|good (?:morning|evening)|nice|cool|awesome|great|thanks|thank you|thx|lol|haha|ok|okay"
    r"|oh|so|well|fine|hallo|moin|danke|super|sure|right|yeah|yes|yep|no|nope|hmm+|ugh|alright|anyway|btw|perfect|wow)\b"
    r"(?: (?:there|all|everyone|guys|man|so much|again|great))?[\s,.!:;–-]*)+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"\s*(?:;|\s[–—-]{1,2}\s|(?:,\s*|\s)(?=(?:but|however|although|though|yet|except|aber|jedoch|allerdings)\b)"
    r"|,\s*(?=(?:turns out|it turns out|turned out|stellt sich|apparently|so (?:let's|we|i)|and now|then|now|and (?:we|i|the|it|then))\b))\s*",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"`[^`\n]{1,200}`|\"[^\"\n]{1,120}\"|“[^”\n]{1,120}”|„[^“”\n]{1,120}[“”]|«[^»\n]{1,120}»|(?<!\w)'[^'\n]{1,60}'(?!\w)"
)
_QUOTE = re.compile("[`\"“„«']")
_ASKS = re.compile(
    r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|shall|what|who|where|when|how|which|any|why"
    r"|ist|sind|hat|haben|kann|kannst|wie|was|wo|wer|wann|gibt|läuft|geht|funktioniert)\b",
    re.IGNORECASE,
)  # fmt: skip
# a question tells nothing but a wish, a proposal, or, asked with "why", that something is wrong
_ASKED_ANYWAY = {rules.SCOPE, rules.TASK}
_WHY_WRONG = re.compile(r"\b(?:why|warum|wieso|how come)\b", re.IGNORECASE)
_PROPOSAL = re.compile(r"\bhow about we\b|\bwhat if we (?:use|go|just)\b|\blet's\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Detected:
    """One thing that was said."""

    kind: str
    confidence: float
    sentence: str
    clause: str = ""


def detect(text: str) -> list[Detected]:
    """What a message tells, at most one thing per clause, in the order said."""
    found: list[Detected] = []
    for sentence in told_sentences(text):
        for detected in detect_in_sentence(sentence):
            if not any(other.kind == detected.kind and other.sentence == detected.sentence for other in found):
                found.append(detected)
    return found


def told_sentences(text: str) -> Iterator[str]:
    """The sentences of a message in which some rule might hold."""
    if not may_tell(text):
        return
    several = "\n" in text
    for line in prose_lines(text):
        if not several or may_tell(line):
            yield from sentences(line)


@lru_cache(maxsize=128)  # whoever reads a message for patterns reads it for tasks next
def detect_in_sentence(sentence: str) -> tuple[Detected, ...]:
    """What one sentence tells, clause by clause."""
    if not may_tell(sentence) or is_casual(sentence):
        return ()
    plain = sentence.replace("’", "'")
    if _QUOTE.search(plain):
        plain = _QUOTED.sub("…", plain)
    greeting = _GREETING.match(plain)
    plain = plain[greeting.end() if greeting else 0 :]
    found: list[Detected] = []
    for clause in _CLAUSE.split(plain):
        best = _best(clause.strip(), asks=plain.rstrip(" )*_").endswith(("?", "？")))
        if best:
            found.append(Detected(best.kind, best.confidence, sentence, clause))
    return tuple(found)


def _best(clause: str, *, asks: bool) -> rules.Rule | None:
    if len(clause) < 3:
        return None
    told = _told(clause)
    if asks or (_ASKS.match(clause) and clause.endswith("?")):
        told = [rule for rule in told if _holds_in_question(rule, clause)]
    if not told:
        return None
    return min(told, key=lambda rule: (_PRECEDENCE[rule.kind], -rule.confidence))


def _told(clause: str) -> list[rules.Rule]:
    """The rules that hold for a clause once its neutral phrases are out."""
    told = matching(clause)
    if not told:
        return []
    rest = without_neutral(clause)
    if rest == clause:
        return told
    return [rule for rule in told if rule.kind in _ASKED_ANYWAY] + matching(rest)


def _holds_in_question(rule: rules.Rule, clause: str) -> bool:
    if rule.kind in _ASKED_ANYWAY:
        return True
    if rule.kind == rules.DECISION:
        return bool(_PROPOSAL.search(clause))
    return rule.kind == rules.BLOCKER and bool(_WHY_WRONG.search(clause))


def is_casual(sentence: str) -> bool:
    """Whether a sentence is a greeting or thanks and nothing else."""
    greeting = _GREETING.match(sentence)
    return greeting is not None and greeting.end() == len(sentence)


# The handoff document's own patterns, with word boundaries, in its order: the first that matches names the message.
_DOCUMENT: tuple[tuple[str, str], ...] = (
    (
        rules.BLOCKER,
        r"\b(?:broke|bugs?|errors?|fail(?:s|ed|ing|ure)?|crash(?:es|ed)?|not working|can't|cannot|unable to|stuck on|blocking|preventing|issues?|problems?)\b",
    ),
    (
        rules.DECISION,
        r"\b(?:let's\s+(?:use|do|go with)|we should|decided to|going to\s+(?:use|implement)|chosen|selected|how about we)\b",
    ),
    (
        rules.INSIGHT,
        r"\b(?:i (?:learned|realized|discovered|figured out)|turns out|makes sense|now i understand|the reason|explains why|because of)\b",
    ),
    (
        rules.DONE,
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


def says_done(sentence: str) -> bool:
    """Whether a sentence says that something is finished."""
    return any(detected.kind == rules.DONE for detected in detect_in_sentence(sentence))
