"""What was I working on last Tuesday? Sessions by time and words, best first.

The index narrows the time down. Words are first looked for in the bytes of the logs, unparsed; then sessions are read
in the order of the best score they could have, until no unread one could still be among the best.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from jsonlstore.core.clock import format_time, parse_time
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import read_tail
from jsonlstore.core.logs import logger
from jsonlstore.core.session_key import agent_of
from jsonlstore.recall.match import Prefilter, Term, normalise, squeeze, terms_of, words_of
from jsonlstore.recall.question import Question

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from jsonlstore.core.model import SessionState
    from jsonlstore.recall.when import Interval
    from jsonlstore.store import SessionStore

log = logger(__name__)

DEFAULT_LIMIT = 10
NEAREST = 3
WORDS_WEIGHT, FIT_WEIGHT, RECENCY_WEIGHT = 0.75, 0.15, 0.10
_HALF_LIFE_DAYS = 30
_CLOCK_SLACK = timedelta(minutes=5)
_TAIL_BYTES = 256 * 1024  # more than lies between two full states, so that the last one is always in it
_READ_AT_MOST = 400
_BELOW_TOPICS = 0.96
_WHY_AT_MOST = 3
_SHOWN = 48


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """Words that answer, as they were said (without secrets); `context` are the turns around them, if asked for."""

    entry_id: str | None
    at: str | None
    speaker: str
    text: str
    score: float
    matches: tuple[str, ...] = ()
    context: tuple[Mapping[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The documented keys of one passage."""
        known = {
            "entry_id": self.entry_id,
            "at": self.at,
            "speaker": self.speaker,
            "text": self.text,
            "score": round(self.score, 4),
            "matches": list(self.matches),
        }
        return known | ({"context": [dict(turn) for turn in self.context]} if self.context else {})


@dataclass(frozen=True, slots=True)
class RecallHit:
    """A session that answers, how well (0 to 1), and why it does."""

    state: SessionState
    start: datetime
    end: datetime
    score: float
    why: str
    matches: tuple[str, ...]
    passages: tuple[FoundPassage, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The documented keys of one answer."""
        state = self.state
        return {
            "session_id": state.session_id,
            "start_time": state.start_time,
            "end_time": state.end_time,
            "score": round(self.score, 4),
            "why": self.why,
            "hot_topics": list(state.hot_topics),
            "active_projects": list(state.active_projects),
            "pending_tasks": [task.to_dict() for task in state.pending_tasks],
            "agent_id": state.agent_id,
            "passages": [passage.to_dict() for passage in self.passages],
        }


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The answers, best first; where there are none, what lies nearest; and how many sessions were looked at."""

    found: tuple[RecallHit, ...]
    nearest: tuple[RecallHit, ...]
    searched: int


class _Candidate(NamedTuple):
    session_id: str
    entry: Mapping[str, Any]
    hits: Mapping[int, float] = {}  # term -> the best a match of it can be worth


class _Match(NamedTuple):
    value: float
    said: str


def recall(
    store: SessionStore,
    question: Question,
    *,
    now: datetime,
    zone: tzinfo | None = None,
    project: str | None = None,
    agent: str | None = None,
    limit: int = DEFAULT_LIMIT,
    without: AbstractSet[str] = frozenset(),
) -> RecallResult:
    """The sessions that answer a question; `zone` (None: the system's) is the one `why` speaks in."""
    pool = [one for one in _pool(store, now, project, agent) if one.session_id not in without]
    inside = [one for one in pool if question.when is None or _may_overlap(one.entry, question.when)]
    found = _Search(store, question, now, zone).best(inside, limit)
    nearest: list[RecallHit] = []
    if not found:
        nearest = _nearest(store, question, pool, now, zone)
    return RecallResult(tuple(found), tuple(nearest), len(inside))


def _pool(store: SessionStore, now: datetime, project: str | None, agent: str | None) -> Iterator[_Candidate]:
    """Every session there was by `now`, of that agent and project."""
    latest = format_time(now + _CLOCK_SLACK)
    kept = [
        _Candidate(session_id, entry)
        for session_id, entry in store.index.entries().items()
        if not entry.get("forgotten") and (entry.get("start_time") or "") <= latest
    ]
    if agent is not None:
        kept = [one for one in kept if agent_of(one.entry.get("agent_id"), one.entry.get("session_key")) == agent]
    return iter(kept if project is None else _of_project(kept, normalise(project)))


def _of_project(kept: list[_Candidate], wanted: str) -> list[_Candidate]:
    """Sessions of the project of that name; where no project has it, of those whose name holds it."""
    named = [(one, [normalise(name) for name in one.entry.get("active_projects") or ()]) for one in kept]
    exact = [one for one, names in named if wanted in names]
    return exact or [one for one, names in named if any(wanted in name for name in names)]


def sessions_of_project(store: SessionStore, project: str) -> set[str]:
    """The ids of a project's sessions."""
    kept = [_Candidate(session_id, entry) for session_id, entry in store.index.entries().items()]
    return {one.session_id for one in _of_project(kept, normalise(project))}


def _may_overlap(entry: Mapping[str, Any], when: Interval) -> bool:
    """By the index, whose times are text that sorts; a session without an end may have lasted until now."""
    start, end = entry.get("start_time") or "", entry.get("end_time") or "~"
    return start < format_time(when.end) and end >= format_time(when.start)


def _nearest(
    store: SessionStore, question: Question, pool: list[_Candidate], now: datetime, zone: tzinfo | None
) -> list[RecallHit]:
    """The same words at another time; failing that, the sessions closest to the time asked for, or the latest."""
    if question.when is not None and question.words:
        elsewhere = _Search(store, Question(None, question.words), now, zone).best(pool, NEAREST)
        if elsewhere:
            return elsewhere
    search = _Search(store, Question(), now, zone)
    when = question.when
    if when is None:
        return search.best(pool, NEAREST)
    closest = heapq.nsmallest(NEAREST, pool, key=lambda one: _gap(one.entry, when, now))
    return sorted(search.best(closest, NEAREST), key=lambda one: one.start)


def _gap(entry: Mapping[str, Any], when: Interval, now: datetime) -> timedelta:
    start, end = times_of(entry, now)
    return max(start - when.end, when.start - end, timedelta())


def times_of(entry: Mapping[str, Any], now: datetime) -> tuple[datetime, datetime]:
    """When a session began and ended; one that has not ended, when it was last heard of."""
    try:
        start = parse_time(entry.get("start_time") or "")
        last = entry.get("end_time") or entry.get("updated_at")
        return start, max(start, parse_time(last)) if last else start
    except ValueError:
        return now, now


class _Search:
    """One question put to a store."""

    def __init__(self, store: SessionStore, question: Question, now: datetime, zone: tzinfo | None) -> None:
        self._store = store
        self._when = question.when
        self._terms = terms_of(question.words)
        self._now = now
        self._zone = zone
        self._weights: list[float] = []

    def best(self, candidates: list[_Candidate], limit: int) -> list[RecallHit]:
        """The best answers among the candidates; reads no session that could not be one of them.

        Where hundreds promise the same (a word of every session), only the latest of those are read.
        """
        if self._terms:
            candidates = self._sift(candidates)
        # an open session's last sign of life is in its log alone: until read, it may fit perfectly
        bounds = sorted(((self._bound(one), one) for one in candidates), key=lambda item: _latest(*item), reverse=True)
        best: list[tuple[float, str, RecallHit]] = []
        for number, (bound, one) in enumerate(bounds):
            if len(best) == limit and (bound < best[0][0] or number >= _READ_AT_MOST):
                break
            answer = self._answer(one)
            if answer is None:
                continue
            ranked = (answer.score, answer.state.start_time + one.session_id, answer)
            if len(best) < limit:
                heapq.heappush(best, ranked)
            elif ranked[:2] > best[0][:2]:
                heapq.heapreplace(best, ranked)
        return [answer for _, _, answer in sorted(best, key=lambda item: item[:2], reverse=True)]

    def _sift(self, candidates: list[_Candidate]) -> list[_Candidate]:
        """Those whose log, or id, may hold one of the words; what few of them hold weighs more."""
        sieve = Prefilter(self._terms)
        counts: Counter[int] = Counter()
        out = []
        for one in candidates:
            hits = sieve.hits(one.session_id.encode() + b" " + self._bytes_of(one))
            if hits:
                counts.update(hits.keys())
                out.append(one._replace(hits=self._worth(one.entry, hits)))
        total = max(1, len(candidates))
        self._weights = [
            math.log1p(total / max(1, counts[number])) / math.log1p(total) for number in range(len(self._terms))
        ]
        return out

    def _worth(self, entry: Mapping[str, Any], hits: Mapping[int, float]) -> Mapping[int, float]:
        """What hits can be worth: the index knows the topics and projects, and nothing else counts as much."""
        if entry.get("archived"):
            return hits  # its topics are in the archive alone
        text = squeeze(" ".join([*(entry.get("hot_topics") or ()), *(entry.get("active_projects") or ())]))
        return {
            number: quality * (1.0 if any(key in text for key in self._terms[number].keys) else _BELOW_TOPICS)
            for number, quality in hits.items()
        }

    def _bytes_of(self, one: _Candidate) -> bytes:
        month = one.entry.get("archived")
        folder = f"{self._store.paths.archive}/{month}" if month else self._store.paths.states
        try:
            return read_tail(f"{folder}/{one.session_id}.jsonl", _TAIL_BYTES)
        except JsonlStoreError as problem:
            log.warning("session %s was not searched: %s", one.session_id, problem)
            return b""

    def _bound(self, one: _Candidate) -> float:
        """The best score a session could have, by what the index and its bytes say."""
        start, end = times_of(one.entry, self._now)
        if one.entry.get("end_time") is None:
            end = max(end, self._now)
            fit = 1.0
        else:
            fit = self._fit(start, end)
        worth = sum(self._weights[number] * quality for number, quality in one.hits.items())
        words = worth / sum(self._weights) if self._terms else 0.0
        return self._blend(words, fit, self._recency(end), 1.0)

    def _blend(self, words: float, fit: float, recency: float, substance: float) -> float:
        if self._terms:
            if self._when is None:
                return words * (WORDS_WEIGHT + FIT_WEIGHT) + RECENCY_WEIGHT * recency
            return WORDS_WEIGHT * words + FIT_WEIGHT * fit + RECENCY_WEIGHT * recency
        if self._when is None:
            return 0.95 * recency + 0.05 * substance
        return 0.6 * fit + 0.3 * substance + RECENCY_WEIGHT * recency

    def _fit(self, start: datetime, end: datetime) -> float:
        """How much of the session lies in the time asked for, and of that time in the session."""
        if self._when is None:
            return 1.0
        shared = (min(end, self._when.end) - max(start, self._when.start)).total_seconds()
        length = (end - start).total_seconds()
        if length <= 0:
            return 1.0
        shortest = min(length, (self._when.end - self._when.start).total_seconds()) or 1.0
        return max(0.0, min(1.0, 0.5 * shared / shortest + 0.5 * shared / length))

    def _recency(self, end: datetime) -> float:
        days = max(0.0, (self._now - end).total_seconds() / 86400)
        return float(0.5 ** (days / _HALF_LIFE_DAYS))

    def _answer(self, one: _Candidate) -> RecallHit | None:
        try:
            state = self._store.get(one.session_id)
        except JsonlStoreError as problem:
            log.info("session %s was left out: %s", one.session_id, problem)
            return None
        start, end = times_of({"start_time": state.start_time, "end_time": state.end_time,
                             "updated_at": state.updated_at}, self._now)  # fmt: skip
        if self._when is not None and not self._when.overlaps(start, end):
            return None
        looked = [_look(term, state) for term in self._terms]
        if self._terms and not any(looked):
            return None
        values = [matches[0].value if matches else 0.0 for matches in looked]
        words = sum(w * value for w, value in zip(self._weights, values, strict=True)) / (sum(self._weights) or 1.0)
        score = self._blend(words, self._fit(start, end), self._recency(end), _substance(state))
        # the best place of every word first, then where else they are
        ranked = (match.said for nth in zip_longest(*looked) for match in nth if match is not None)
        said = tuple(dict.fromkeys(ranked))[:_WHY_AT_MOST]
        spoken = "; ".join([dated(start, end, self._now, self._zone), *said])
        return RecallHit(state, start, end, min(1.0, score), spoken, said)


def dated(start: datetime, end: datetime, now: datetime, zone: tzinfo | None) -> str:
    """`tuesday 14:02-15:30` within a week, dated beyond; both days where there are two."""
    here, there, today = (moment.astimezone(zone) for moment in (start, end, now))
    near = timedelta() <= today.date() - here.date() < timedelta(days=7)
    day = f"{here:%A}".lower() if near else f"{here:%a %Y-%m-%d}".lower()
    if here.date() == there.date():
        return f"{day} {here:%H:%M}-{there:%H:%M}"
    return f"{day} {here:%H:%M} to {f'{there:%a %Y-%m-%d}'.lower()} {there:%H:%M}"


def _latest(bound: float, one: _Candidate) -> tuple[float, str]:
    return bound, one.entry.get("start_time") or ""


def _substance(state: SessionState) -> float:
    """Whether a session left anything behind: topics, a project, work to do."""
    left = (state.hot_topics, state.active_projects, state.pending_tasks or state.notes or state.next_step)
    return sum(map(bool, left)) / len(left)


def _look(term: Term, state: SessionState) -> list[_Match]:
    """Where in a session a term is found, best first; one place of each kind."""
    best: dict[str, _Match] = {}
    for name, weight, shown, text in _fields(state):
        if name in best and weight <= best[name].value:
            continue
        folded = normalise(text)
        value = weight * term.quality(folded, words_of(folded))
        if value > (best[name].value if name in best else 0.0):
            best[name] = _Match(value, f"{name} '{_cut(shown)}'")
    return sorted(best.values(), key=lambda match: -match.value)


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else flat[: _SHOWN - 1] + "…"


def _fields(state: SessionState) -> Iterator[tuple[str, float, str, str]]:
    """What words are looked for in: a name, how much a match there counts, what to show of it, and the text."""
    yield from (("topic", 1.0, text, text) for text in state.hot_topics)
    yield from (("project", 1.0, text, text) for text in state.active_projects)
    for task in state.pending_tasks:
        yield "task", _BELOW_TOPICS, task.task_id, task.task_id
        yield "task", 0.95, task.title, f"{task.title} {task.stage}"
    single: Iterable[tuple[str, str | None]] = (("last topic", state.last_topic), ("next step", state.next_step))
    yield from ((name, 0.9, text, text) for name, text in single if text)
    yield from (("in progress", 0.9, text, text) for text in state.in_progress)
    for pin in state.working_memory:
        yield "pin", 0.9, pin.label or pin.content, f"{pin.label or ''} {pin.content}"
    yield from ((note.type, 0.85, note.content, f"{note.type} {note.content}") for note in state.notes)
    yield from (("learning", 0.7, text, text) for text in state.recent_learnings)
    yield "session", 0.9, state.session_id, state.session_id
    about = (("channel", state.channel), ("agent", state.agent_id), ("ended by", state.end_reason))
    yield from ((name, 0.4, text, text) for name, text in about if text)
