"""A question answered: by the full-text index where there is one, by the distilled states where there is none.

Questions for a time alone go to the states, which know when sessions were. Words go to the index; sessions it has not
heard of yet (no watcher ran since they were captured) are looked through as if there were no index.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import format_time, parse_time
from jsonlstore.core.errors import JsonlStoreError, UsageError
from jsonlstore.core.logs import logger
from jsonlstore.core.session_key import agent_of, names_a_peer
from jsonlstore.recall.fulltext import SearchIndex
from jsonlstore.recall.index_file import entries_stamp, has_fts5
from jsonlstore.recall.query import Query, read_query
from jsonlstore.recall.question import Question, read_question
from jsonlstore.recall.ranking import rank
from jsonlstore.recall.scoring import Passage, Ranked
from jsonlstore.recall.search import (
    DEFAULT_LIMIT,
    FoundPassage,
    RecallHit,
    RecallResult,
    dated,
    recall,
    sessions_of_project,
    times_of,
)
from jsonlstore.recall.when import Interval, find_when

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import tzinfo

    from jsonlstore.recall.documents import StoredDocument
    from jsonlstore.restore import Scope
    from jsonlstore.store import SessionStore

log = logger(__name__)

PLACES = ("sessions", "memory", "all")
_SHORT = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_EARLIEST = datetime.fromisoformat("0002-01-01T00:00:00+00:00")
_LATEST = datetime.fromisoformat("9998-01-01T00:00:00+00:00")
_SPARE = 5  # answers the store no longer has are replaced by the next best
_QUOTED = 160


@dataclass(frozen=True, slots=True)
class Search:
    """What to search for, and where."""

    spoken: tuple[str, ...]
    literal: tuple[str, ...] = ()
    within: str = "sessions"
    project: str | None = None
    agent: str | None = None
    speaker: str | None = None
    since: str | None = None
    until: str | None = None
    context: int = 0
    limit: int = DEFAULT_LIMIT


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory file that answers."""

    file: str
    at: str | None
    score: float
    passages: tuple[FoundPassage, ...]

    def to_dict(self) -> dict[str, Any]:
        """The keys of a session's answer, those a file has no value for empty, and `file`."""
        empty: dict[str, Any] = {"hot_topics": [], "active_projects": [], "pending_tasks": [], "agent_id": None}
        return {
            "session_id": None,
            "file": self.file,
            "start_time": self.at,
            "end_time": self.at,
            "score": round(self.score, 4),
            "why": f"memory file {self.file}",
            **empty,
            "passages": [passage.to_dict() for passage in self.passages],
        }


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers, best first; where there are none, what lies nearest; and how they were found."""

    found: tuple[RecallHit | MemoryHit, ...]
    nearest: tuple[RecallHit, ...]
    searched: int
    question: Question
    by_words: bool


def search_sessions(
    store: SessionStore, asked: Search, *, now: datetime, zone: tzinfo | None = None, scope: Scope | None = None
) -> Answers:
    """Answer a question. With a `scope`, nothing beyond it is looked at, let alone shown."""
    question = read_question(asked.spoken, now, zone, literal=asked.literal)
    query = read_query(asked.spoken, now, zone, literal=asked.literal)
    index = _index(store) if query.asks_for_words or asked.within != "sessions" else None
    if index is None:
        return _by_state(store, asked, question, now, zone, scope)
    try:
        return _Asking(store, index, asked, query, question, now, zone, scope).answers()
    finally:
        index.close()


def _index(store: SessionStore) -> SearchIndex | None:
    try:
        return SearchIndex.open_existing(store.paths.search) if has_fts5() else None
    except JsonlStoreError as problem:
        log.warning("%s", problem)
        return None


def _by_state(
    store: SessionStore, asked: Search, question: Question, now: datetime, zone: tzinfo | None, scope: Scope | None
) -> Answers:
    """Without the index: topics, projects, tasks, notes and times."""
    limited = time_limits(asked.since, asked.until, now, zone)
    if limited is not None:
        question = replace(question, when=limited)
    limit = asked.limit if scope is None else 1000
    result: RecallResult = recall(
        store, question, now=now, zone=zone, project=asked.project, agent=asked.agent, limit=limit
    )
    found, nearest = result.found, result.nearest
    if scope is not None:
        found = tuple(one for one in found if scope.allows(one.state))[: asked.limit]
        nearest = ()
    return Answers(found, nearest, result.searched, question, by_words=False)


def time_limits(since: str | None, until: str | None, now: datetime, zone: tzinfo | None = None) -> Interval | None:
    """The interval that `--since` and `--until` leave; None without either. Raises `UsageError` for what is no time."""
    if since is None and until is None:
        return None
    start = _moment(since, now, zone).start if since else _EARLIEST
    end = _moment(until, now, zone).end if until else _LATEST
    said = " ".join([*(["since", since] if since else []), *(["until", until] if until else [])])
    return Interval(start, end, said)


def _moment(text: str, now: datetime, zone: tzinfo | None) -> Interval:
    found = find_when(text.casefold().split(), now, zone, alone=True)
    if found is not None:
        return found.interval
    if short := re.fullmatch(r"(\d{1,6})([mhdw])", text.strip().casefold()):  # 7d: that long ago, to the second
        moment = now - timedelta(**{_SHORT[short[2]]: int(short[1])})
        return Interval(moment, moment, text)
    try:
        moment = parse_time(text)
    except ValueError:
        raise UsageError(f"not a time: {text!r}", hint="such as 2026-02-14, yesterday, last week, 7d") from None
    return Interval(moment, moment + timedelta(seconds=1), text)


class _Asking:
    """One question put to the index and the store."""

    def __init__(
        self, store: SessionStore, index: SearchIndex, asked: Search, query: Query, question: Question, now: datetime,
        zone: tzinfo | None, scope: Scope | None,
    ) -> None:  # fmt: skip
        self._store, self._index, self._asked, self._query = store, index, asked, query
        self._question, self._now, self._zone, self._scope = question, now, zone, scope
        self._limits = time_limits(asked.since, asked.until, now, zone)

    def answers(self) -> Answers:
        among, without = self._among()
        found: list[RecallHit | MemoryHit] = []
        for ranked in rank(
            self._index,
            self._query,
            limit=self._asked.limit + _SPARE,
            among=among,
            without=without,
            speaker=self._asked.speaker,
        ):
            hit = self._memory(ranked) if ranked.document.kind == "memory" else self._session(ranked)
            if hit is not None and len(found) < self._asked.limit:
                found.append(hit)
        found += self._unheard(self._asked.limit - len(found))
        nearest: tuple[RecallHit, ...] = ()
        searched = self._index.size()[0] if among is None else len(among)
        if not found and self._scope is None and self._asked.within != "memory":
            lost = _by_state(self._store, self._asked, self._question, self._now, self._zone, None)
            found, nearest, searched = list(lost.found), lost.nearest, lost.searched
        return Answers(tuple(found), nearest, searched, self._question, by_words=True)

    # -- what may be looked at

    def _among(self) -> tuple[list[int] | None, frozenset[int]]:
        """The documents that may answer, None if all of them may; and those that may not, where these are few."""
        asked = self._asked
        times = [self._limits] if self._limits else list(self._query.times) if self._query.only_then else []
        if not (times or asked.project or asked.agent or self._scope or asked.within == "memory"):
            files = () if asked.within == "all" else self._index.documents("kind = 'memory'")
            return None, frozenset(one.no for one in files)
        named = sessions_of_project(self._store, asked.project) if asked.project else None
        chosen = []
        for one in self._index.documents():
            if one.kind == "memory":
                if asked.within != "sessions" and not asked.project and self._may_see_memory() and _is_then(one, times):
                    chosen.append(one.no)
            elif asked.within != "memory" and self._fits(one, named) and _is_then(one, times):
                chosen.append(one.no)
        return chosen, frozenset()

    def _fits(self, one: StoredDocument, named: set[str] | None) -> bool:
        if named is not None and one.id not in named:
            return False
        if self._asked.agent is not None and agent_of(one.agent_id, one.session_key) != self._asked.agent:
            return False
        return self._scope is None or self._scope.reaches(one.agent_id, one.session_key, one.channel)

    def _may_see_memory(self) -> bool:
        """Memory files are their owner's: nobody who talks to the agent as a named peer is shown them."""
        return self._scope is None or not names_a_peer(self._scope.session_key)

    # -- what is shown

    def _session(self, ranked: Ranked) -> RecallHit | None:
        """The answer with its state; None if the store no longer has the session, or it is out of scope after all."""
        try:
            state = self._store.get(ranked.document.id)
        except JsonlStoreError as problem:
            log.debug("%s was left out: %s", ranked.document.id, problem)
            return None
        if self._scope is not None and not self._scope.allows(state):
            return None
        if state.start_time and parse_time(state.start_time) > self._now + timedelta(minutes=5):
            return None  # with --now in the past, what came later is not there yet
        start, end = times_of(
            {"start_time": state.start_time, "end_time": state.end_time, "updated_at": state.updated_at}, self._now
        )
        passages = tuple(self._found(ranked, passage) for passage in ranked.passages)
        said = tuple(f'{one.speaker} "{_cut(one.text)}"' for one in passages[:1])
        why = "; ".join([dated(start, end, self._now, self._zone), *said, *self._because(ranked)])
        return RecallHit(state, start, end, ranked.share, why, said, passages)

    def _because(self, ranked: Ranked) -> list[str]:
        if not ranked.parts.get("date"):
            return []
        return [f"near {when.said}" for when in self._query.times]

    def _memory(self, ranked: Ranked) -> MemoryHit:
        passages = tuple(self._found(ranked, passage) for passage in ranked.passages)
        return MemoryHit(ranked.document.id, ranked.document.started_at, ranked.share, passages)

    def _found(self, ranked: Ranked, passage: Passage) -> FoundPassage:
        turn = passage.turn
        context: Sequence[dict[str, Any]] = ()
        if self._asked.context and turn.speaker != "state":
            from jsonlstore.recall.surroundings import turns_around

            context = turns_around(self._store, self._index, ranked.document, turn, self._asked.context)
        at = turn.at or ranked.document.last_at
        return FoundPassage(
            turn.entry_id, at, turn.speaker, passage.text, passage.score, passage.matches, tuple(context)
        )

    def _unheard(self, limit: int) -> list[RecallHit]:
        """Answers among sessions the index has not heard of, because nobody has indexed since they were captured."""
        if limit <= 0 or self._asked.within == "memory" or self._asked.speaker or self._query.phrases:
            return []
        if self._index.note("entries") == entries_stamp(self._store):
            return []
        heard = {one.id for one in self._index.documents("kind = 'session'")}
        question = replace(self._question, when=self._limits) if self._limits else replace(self._question, when=None)
        asked = self._asked
        rest = recall(
            self._store, question, now=self._now, zone=self._zone, project=asked.project, agent=asked.agent,
            limit=limit if self._scope is None else 1000, without=heard,
        )  # fmt: skip
        return [one for one in rest.found if self._scope is None or self._scope.allows(one.state)][:limit]


def _is_then(one: StoredDocument, times: Iterable[Interval]) -> bool:
    wanted = list(times)
    if not wanted:
        return True
    start, end = one.started_at or "~", one.last_at or one.started_at or ""
    return any(start < format_time(when.end) and end >= format_time(when.start) for when in wanted)


def _cut(text: str) -> str:
    return text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"
