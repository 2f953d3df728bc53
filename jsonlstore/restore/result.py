"""What goes into a restore, and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from jsonlstore.core.model import SessionState, WorkingMemoryPin
from jsonlstore.restore.wrapper import wrap

if TYPE_CHECKING:
    from jsonlstore.restore.explain import LeftOut

# Values here are named tuples: making a dataclass takes four times as long, and every session start would pay for it.


class MemorySource(Protocol):
    """Where the confidence of memories is looked up, read-only."""

    def confidences(self, ids: Sequence[str]) -> Mapping[str, float]:
        """The confidence of each memory that is known there."""


class RelevanceSource(Protocol):
    """Whoever can say how well the words of sessions fit a prompt."""

    def __call__(self, prompt: str, session_ids: Sequence[str]) -> Mapping[str, float]:
        """Session id -> 0 to 1, for those that fit at all."""


class RestoreRequest(NamedTuple):
    """A session that starts, and what is known of it."""

    session_id: str
    channel: str = "unknown"
    agent_id: str | None = None
    session_key: str | None = None
    cwd: str | None = None
    prompt: str | None = None
    pid: int | None = None
    reason: str | None = None
    clean: bool = False
    again: bool = False
    explain: bool = False
    resume: str | None = None  # a handoff that was asked for: a session id, or "newest"
    under_way: bool = False  # it was answered before: what it was given then is told again, and nothing new is


class InheritedMemory(NamedTuple):
    """A memory of an earlier session with its confidence as of now; the original is untouched."""

    memory_id: str
    original_confidence: float
    confidence: float
    hours_elapsed: float
    excluded: bool

    def to_dict(self) -> dict[str, Any]:
        rounded = {"confidence": round(self.confidence, 6), "hours_elapsed": round(self.hours_elapsed, 3)}
        return self._asdict() | rounded


class Candidate(NamedTuple):
    """A prior session that was considered, every factor of its score, and why it was taken or not."""

    session_id: str
    hours_elapsed: float
    recency: float
    topic_overlap: float
    pending: float
    score: float
    qualified: bool
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return {name: round(value, 6) if type(value) is float else value for name, value in self._asdict().items()}


class PinDecision(NamedTuple):
    """What became of one candidate pin, and why."""

    label: str
    origin: str
    decision: str  # "added", "skipped" or "already there"
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return {"label": self.label, "from": self.origin, "decision": self.decision, "reason": self.reason}


class RestoredSessionContext(NamedTuple):
    """What a starting session gets. Without a preamble it is a cold start, which is silent.

    Arguments:
        session_id: the session that starts
        preamble: the text for the model, without its wrapper; None for a cold start
        inherited_pins: the pins that came back
        session_ids: the prior sessions that contributed, best first
        relevance_scores: the score of each of them
        pending_task_count: how many open tasks the preamble tells
        memories: the memories that came back, each with its decayed confidence
        already_restored: whether this session was restored into before
        elapsed_ms: how long it took
        error: why nothing could be restored, if something went wrong
        block: what the session was given when it began, without its wrapper
        hot_topics: the topics that came back
        active_projects: the projects that came back
        candidates: every prior session that was considered, its factors, and why it was taken or not
        pins: what became of every candidate pin, and why
        left_out: every other session, and why it does not come back; only when it was asked to explain
        sessions: the states of the sessions that contributed, each with its `relevance_score` and `inherited_at`
        handoff: what was handed over, or who took it
        explain: with candidates and pins
        states: the sessions it came from
        scores: the score of each of them
        at: when they were inherited
    """

    session_id: str
    preamble: str | None = None
    inherited_pins: tuple[WorkingMemoryPin, ...] = ()
    session_ids: tuple[str, ...] = ()
    relevance_scores: tuple[float, ...] = ()
    pending_task_count: int = 0
    memories: tuple[InheritedMemory, ...] = ()
    already_restored: bool = False
    elapsed_ms: int = 0
    error: str | None = None
    block: str | None = None  # what the session was given when it began, without its wrapper
    hot_topics: tuple[str, ...] = ()
    active_projects: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    pins: tuple[PinDecision, ...] = ()
    left_out: tuple[LeftOut, ...] = ()  # for the operator alone: it names other conversations
    sessions: tuple[SessionState, ...] = ()  # that contributed, each with its `relevance_score` and `inherited_at`
    handoff: Mapping[str, Any] | None = None  # what was handed over, or by whom it was taken

    def with_sessions(self, states: Sequence[SessionState], scores: Sequence[float], at: str) -> RestoredSessionContext:
        """The same with the sessions it came from: what they scored, and when they were inherited; never stored."""
        marked = tuple(
            replace(state, relevance_score=round(score, 6), inherited_at=at)
            for state, score in zip(states, scores, strict=True)
        )
        return self._replace(
            sessions=marked, session_ids=tuple(one.session_id for one in marked), relevance_scores=tuple(scores)
        )

    @property
    def cold(self) -> bool:
        """Nothing came back."""
        return not self.session_ids and not self.inherited_pins

    @property
    def wrapped_preamble(self) -> str | None:
        """The preamble inside its wrapper, as it goes into a prompt."""
        return None if self.preamble is None else wrap(self.preamble)

    def to_dict(self, *, explain: bool = False) -> dict[str, Any]:
        """The document `hook session-start` prints."""
        out: dict[str, Any] = {
            "session_id": self.session_id or None,
            "preamble": self.wrapped_preamble,
            "inherited_pins": [pin.to_dict() for pin in self.inherited_pins],
            "session_ids": list(self.session_ids),
            "relevance_scores": [round(score, 6) for score in self.relevance_scores],
            "block": None if self.block is None else wrap(self.block),
            "pending_task_count": self.pending_task_count,
            "memories": [memory.to_dict() for memory in self.memories],
            "already_restored": self.already_restored,
            "elapsed_ms": self.elapsed_ms,
            "sessions": [
                {"session_id": one.session_id, "relevance_score": one.relevance_score, "inherited_at": one.inherited_at}
                for one in self.sessions
            ],
        }
        if self.handoff is not None:
            out["handoff"] = dict(self.handoff)
        if explain:
            out["candidates"] = [candidate.to_dict() for candidate in self.candidates]
            out["pins"] = [pin.to_dict() for pin in self.pins]
        if self.error is not None:
            out["error"] = self.error
        return out
