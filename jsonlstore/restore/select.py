"""Which prior sessions come back: in scope, inside the lookback, at or above the threshold, the best of them.

There may be ten thousand in the index: each is looked at as the plain entry it is there, and only the few that come
back are read from their logs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from heapq import nlargest
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

from jsonlstore.core.config import Config
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger
from jsonlstore.core.model import SessionState, WorkingMemoryPin, strip_provenance
from jsonlstore.restore.result import Candidate
from jsonlstore.restore.score import Factors, factors, is_spoken, lowered, pending_weight, qualifies
from jsonlstore.restore.tasks import Pipeline

Entries = Mapping[str, Mapping[str, Any]]
log = logger("jsonlstore.session")

# a topic shared by most of many sessions says nothing about any of them (decision 47)
_COMMON_FROM_SESSIONS = 10
_COMMON_SHARE = 0.8
_COMMON_SAMPLE = 300
MOST_LOGS_READ = 12
_WORTH_RESTORING = (
    "working_memory", "pending_tasks", "hot_topics", "active_projects", "recent_learnings", "notes", "next_step",
    "last_request", "commits",
)  # fmt: skip
_LONGEST_PROMPT = 20_000
_NO_SUPPORT: Mapping[str, float] = MappingProxyType({})


class Prior(NamedTuple):
    """A prior session, scored. Priors compare by score, then by end."""

    score: float
    end_time: str
    session_id: str
    hours: float
    factors: Factors
    tasks: int


class Contributor(NamedTuple):
    """A prior session that comes back, with its state."""

    prior: Prior
    state: SessionState


class Selection(NamedTuple):
    """Who comes back, and what became of everybody else that was looked at."""

    contributors: tuple[Contributor, ...]
    candidates: tuple[Candidate, ...]


def current_keywords(
    pins: Iterable[WorkingMemoryPin], cwd: str | None, prompt: str | None, project_roots: Iterable[str] = ()
) -> frozenset[str]:
    """The words the starting session is about: those of its pins, its project and its first prompt (decision 7)."""
    texts = [f"{strip_provenance(pin.label or '')} {pin.content}" for pin in pins]
    if prompt:
        texts.append(prompt[:_LONGEST_PROMPT])
    found: set[str] = set()
    if any(text.strip() for text in texts):
        from jsonlstore.signals import keywords

        for text in texts:
            found.update(word.lower() for word in keywords(text))
    if cwd:
        from jsonlstore.signals import project_of

        project = project_of(cwd, project_roots)
        if project:
            found.add(project.lower())
    return frozenset(found)


def score_priors(
    entries: Entries, keywords: frozenset[str], now: datetime, worth: Callable[[float, int], bool] | None = None
) -> list[Prior]:
    """Every ended session with the parts of its score, in no order.

    With `worth` only those that can be among the best `MOST_LOGS_READ` it wants by score and open tasks, and those with
    a critical pin.
    """
    common = common_topics([entry.get("hot_topics") or () for entry in islice(entries.values(), _COMMON_SAMPLE)])
    words = keywords - common
    said = mentioned_topics(entries, words)
    spoken = lowered(said)
    scored = []
    for session_id, entry in (entries if worth is None else _contenders(entries, said)).items():
        end_time: str = entry["end_time"]
        hours = (now - datetime.fromisoformat(end_time)).total_seconds() / 3600
        tasks = entry.get("pending_task_count") or 0
        topics = {topic.lower() for topic in entry.get("hot_topics") or ()} - common
        parts = factors(topics, tasks, words, hours, spoken)
        score = parts.score
        if worth is None or worth(score, tasks) or entry.get("critical"):
            scored.append(Prior(score, end_time, session_id, hours, parts, tasks))
    return scored


def _contenders(entries: Entries, said: frozenset[str]) -> Entries:
    """The sessions that may be among the best: of those with no topic in common, and as many open tasks as each other,
    only the latest, because nothing but their age tells them apart."""
    found: dict[str, Mapping[str, Any]] = {}
    alike: dict[int, list[str]] = {}  # as one text each: thousands of tuples would call for the garbage collector
    for session_id, entry in entries.items():
        if entry.get("critical") or not said.isdisjoint(entry.get("hot_topics") or ()):
            found[session_id] = entry
        else:
            alike.setdefault(entry.get("pending_task_count") or 0, []).append(f"{entry['end_time']} {session_id}")
    for group in alike.values():
        for latest in nlargest(MOST_LOGS_READ, group):
            session_id = latest.partition(" ")[2]
            found[session_id] = entries[session_id]
    return found


def mentioned_topics(entries: Entries, words: frozenset[str]) -> frozenset[str]:
    """The topics, as the sessions write them, that were spoken of: one of the words, or made of several ("ham radio")
    that all are. Thousands of sessions share fewer topics: each is looked at once."""
    if not words:
        return frozenset()
    known: set[str] = set().union(*(entry.get("hot_topics") or () for entry in entries.values()))
    return frozenset(topic for topic in known if is_spoken(topic.lower(), words))


def common_topics(sessions: Sequence[Iterable[str]]) -> frozenset[str]:
    """The topics nearly every one of many sessions shares."""
    if len(sessions) < _COMMON_FROM_SESSIONS:
        return frozenset()
    counts: dict[str, int] = {}
    for topics in sessions:
        for topic in lowered(topics):
            counts[topic] = counts.get(topic, 0) + 1
    return frozenset(topic for topic, count in counts.items() if count > _COMMON_SHARE * len(sessions))


def select(
    priors: Sequence[Prior],
    config: Config,
    load: Callable[[str], SessionState],
    pipeline: Pipeline,
    *,
    explain: bool = False,
    support: Mapping[str, float] = _NO_SUPPORT,
) -> Selection:
    """The best qualifying sessions that have anything to give, at most `max_sessions_scored` of them.

    Among scores that are as good as equal, those come first whose words have more `support` from the first prompt.

    With `explain` every prior session becomes a candidate with its reason, else only those that were read.
    """
    contributors: list[Contributor] = []
    candidates: list[Candidate] = []
    reads = 0
    worth = can_qualify(config)
    promising = (prior for prior in priors if worth(prior.score, prior.tasks))

    def order(prior: Prior) -> tuple[float, float, Prior]:
        helped = support.get(prior.session_id, 0.0)
        return (tie_level(prior.score) if support else prior.score), helped, prior

    ordered = sorted(priors, key=order, reverse=True) if explain else nlargest(MOST_LOGS_READ, promising, key=order)
    for prior in ordered:
        wins = qualifies(prior.score, config.relevance_threshold)
        if not worth(prior.score, prior.tasks):
            candidates.append(_candidate(prior, False, f"score below the threshold {config.relevance_threshold:g}"))
        elif len(contributors) >= config.max_sessions_scored or reads >= MOST_LOGS_READ:
            why = f"{config.max_sessions_scored} better sessions already contribute"
            candidates.append(_candidate(prior, wins, why))
        else:
            reads += 1
            state, why = _consider(prior, wins, config, load, pipeline)
            helped = support.get(prior.session_id)
            why += f"; its words fit the prompt ({helped:.2f}), which breaks ties" if helped else ""
            candidates.append(_candidate(prior, state is not None, why))
            if state is not None:
                contributors.append(Contributor(prior, state))
    return Selection(tuple(contributors), tuple(candidates))


def tie_level(score: float) -> float:
    """Scores of the same level are as good as equal: minutes of age tell them apart, and nothing else."""
    return round(score, 2)


def can_qualify(config: Config) -> Callable[[float, int], bool]:
    """Whether a score, or open tasks alone (decision 5), may bring a session back."""
    override = config.pending_task_override
    return lambda score, tasks: qualifies(score, config.relevance_threshold) or 0 < override <= tasks


def _consider(
    prior: Prior, wins: bool, config: Config, load: Callable[[str], SessionState], pipeline: Pipeline
) -> tuple[SessionState | None, str]:
    """The session's state if it comes back, and why or why not."""
    try:
        state = load(prior.session_id)
    except JsonlStoreError as problem:
        log.warning("session %s left out: %s", prior.session_id, problem)
        return None, f"unreadable: {problem.message}"
    why = "score at or above the threshold"
    told = len(state.pending_tasks)
    if told < prior.tasks:
        closed = f"{prior.tasks - told} of {prior.tasks} tasks closed or stale since"
        score = prior.factors._replace(pending=pending_weight(told)).score
        if not can_qualify(config)(score, told):
            return None, f"{closed}, score below the threshold {config.relevance_threshold:g}"
        wins, why = qualifies(score, config.relevance_threshold), f"{why}; {closed}"
    if not wins:
        still_open = len(pipeline.still_open(state.pending_tasks))
        why = f"{still_open} open tasks (pending_task_override {config.pending_task_override}"
        if still_open < config.pending_task_override:
            return None, why + " not reached), score below the threshold"
        why += ")"
    return (state, why) if any(getattr(state, name) for name in _WORTH_RESTORING) else (None, "nothing to bring back")


def _candidate(prior: Prior, qualified: bool, reason: str) -> Candidate:
    return Candidate(prior.session_id, prior.hours, *prior.factors[:3], prior.score, qualified, reason)


def previous_session(ended: Entries, channel: str) -> str | None:
    """The most recently ended session of the same conversation, same channel preferred (decision 17)."""
    ranks = ((entry.get("channel") == channel, entry["end_time"], other) for other, entry in ended.items())
    best = max(ranks, default=None)
    return best[2] if best else None
