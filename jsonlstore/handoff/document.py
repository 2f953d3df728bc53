"""The handoff document: the specification's `SessionState` for handoffs, and its bounds. Pure.

`previousSessionId` is the session it was captured from, which is the previous one for whoever reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import Any

import orjson

from jsonlstore.core.clock import format_time
from jsonlstore.core.hashes import sha256
from jsonlstore.core.values import value_class

GENERAL = "general"
WORK, CHAT, DEEP = "work", "chat", "deep"
MOST_BYTES = 8 * 1024
MOST_LISTED = 5
LONGEST_LINE = 200
UNKNOWN_INDEX = -1


@value_class(frozen=True, slots=True)
class PatternNote:
    """One note of the last messages: a blocker, decision, insight, accomplishment, scope creep or created task."""

    id: str
    type: str
    content: str
    timestamp: str = ""
    confidence: float = 1.0
    source_message_index: int = UNKNOWN_INDEX
    resolved: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "id": self.id,
            "type": self.type,
            "content": self.content,
            "timestamp": self.timestamp,
            "confidence": self.confidence,
            "sourceMessageIndex": self.source_message_index,
        }
        return out if self.resolved is None else {**out, "resolved": self.resolved}

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> PatternNote:
        resolved = raw.get("resolved")
        return cls(
            str(raw.get("id", "")),
            str(raw.get("type", "")),
            str(raw.get("content", "")),
            str(raw.get("timestamp", "")),
            _number(raw.get("confidence"), 1.0),
            int(_number(raw.get("sourceMessageIndex"), UNKNOWN_INDEX)),
            resolved if isinstance(resolved, bool) else None,
        )


@value_class(frozen=True, slots=True)
class HandoffSummary:
    """Where things stood, in a few lines."""

    last_topic: str = ""
    in_progress: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    next_step: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "lastTopic": self.last_topic,
            "inProgress": list(self.in_progress),
            "blockers": list(self.blockers),
            "decisions": list(self.decisions),
            "nextStep": self.next_step,
        }

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> HandoffSummary:
        return cls(
            _text(raw.get("lastTopic")),
            _texts(raw.get("inProgress")),
            _texts(raw.get("blockers")),
            _texts(raw.get("decisions")),
            _text(raw.get("nextStep")),
        )


@value_class(frozen=True, slots=True)
class Handoff:
    """One document. `evidence` is what the specification has no field for, by its JSON key."""

    agent_id: str
    session_key: str
    session_id: str
    created_at: str
    updated_at: str
    expires_at: str
    project: str = GENERAL
    mode: str = CHAT
    patterns: tuple[PatternNote, ...] = ()
    summary: HandoffSummary = HandoffSummary()
    last_message_index: int = UNKNOWN_INDEX
    transcript_hash: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def is_expired(self, now: datetime) -> bool:
        """Whether it is too old to be offered."""
        return format_time(now) >= self.expires_at

    @property
    def says_something(self) -> bool:
        """Whether anybody could continue from it."""
        told = self.summary
        return bool(
            told.in_progress or told.blockers or told.decisions or told.next_step or self.evidence.get("lastRequest")
        )

    @property
    def is_summarized(self) -> bool:
        """Whether the summary is in the words of an external command."""
        return SUMMARIZED_FROM in self.evidence

    def to_dict(self, *, available: bool = True, offered_at: str | None = None) -> dict[str, Any]:
        """The specification's JSON object, and our evidence behind it."""
        return {
            "agentId": self.agent_id,
            "sessionKey": self.session_key,
            "previousSessionId": self.session_id,
            "createdAt": self.created_at,
            "updatedAt": self.updated_at,
            "expiresAt": self.expires_at,
            "project": self.project,
            "mode": self.mode,
            "patterns": [note.to_dict() for note in self.patterns],
            "summary": self.summary.to_dict(),
            "lastMessageIndex": self.last_message_index,
            "transcriptHash": self.transcript_hash,
            "resumeAvailable": available,
            "resumeOfferedAt": offered_at,
            **self.evidence,
        }

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Handoff:
        """Read a document; what is missing or of another type gets its default."""
        patterns = raw.get("patterns")
        summary = raw.get("summary")
        return cls(
            _text(raw.get("agentId")) or "main",
            _text(raw.get("sessionKey")),
            _text(raw.get("previousSessionId")),
            _text(raw.get("createdAt")),
            _text(raw.get("updatedAt")),
            _text(raw.get("expiresAt")),
            _text(raw.get("project")) or GENERAL,
            mode if (mode := raw.get("mode")) in (WORK, CHAT, DEEP) else CHAT,
            tuple(PatternNote.from_dict(one) for one in patterns or () if isinstance(one, Mapping))
            if isinstance(patterns, list)
            else (),
            HandoffSummary.from_dict(summary) if isinstance(summary, Mapping) else HandoffSummary(),
            int(_number(raw.get("lastMessageIndex"), UNKNOWN_INDEX)),
            _text(raw.get("transcriptHash")),
            {key: value for key, value in raw.items() if key in _EVIDENCE},
        )


# what the words of an external command stand for: they hold while the session's own summary is this one
SUMMARIZED_FROM = "summarizedFrom"
_EVIDENCE = (
    SUMMARIZED_FROM,
    "lastRequest",
    "lastAnswer",
    "failing",
    "files",
    "commits",
    "openQuestions",
    "endedBy",
    "relatedMemories",
)


def within_limit(document: Handoff) -> Handoff:
    """The document within 8 KB: the oldest patterns go first, then evidence, then the ends of long lists."""
    while size_of(document) > MOST_BYTES:
        if document.patterns:
            document = replace(document, patterns=document.patterns[max(1, len(document.patterns) // 4) :])
        elif len(document.evidence) > 0:
            longest = max(document.evidence, key=lambda key: len(orjson.dumps(document.evidence[key])))
            document = replace(document, evidence={k: v for k, v in document.evidence.items() if k != longest})
        else:
            return replace(
                document,
                project=cut_to(document.project, 60),
                session_key=cut_to(document.session_key, 256),
                summary=_shortened(document.summary),
            )
    return document


def size_of(document: Handoff) -> int:
    """The bytes of the document as its file has them, once somebody has claimed it."""
    claimed = {"claimedBy": document.session_id, "claimedAt": document.updated_at}
    return len(as_file({**document.to_dict(offered_at=document.updated_at), **claimed}))


def as_file(document: Mapping[str, Any]) -> bytes:
    """A document as people find it in a file."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def bounded_summary(summary: HandoffSummary) -> HandoffSummary:
    """A summary from elsewhere within the bounds of ours."""
    return HandoffSummary(
        cut_to(summary.last_topic, LONGEST_LINE),
        first_few(summary.in_progress),
        first_few(summary.blockers),
        first_few(summary.decisions),
        cut_to(summary.next_step, LONGEST_LINE),
    )


def digest_of(summary: HandoffSummary) -> str:
    """What tells one summary from another."""
    return sha256(orjson.dumps(summary.to_dict())).hexdigest()[:16]


def _shortened(summary: HandoffSummary) -> HandoffSummary:
    def few(items: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(cut_to(item, 100) for item in items[:3])

    return HandoffSummary(
        cut_to(summary.last_topic, 100),
        few(summary.in_progress),
        few(summary.blockers),
        few(summary.decisions),
        cut_to(summary.next_step, 100),
    )


def first_few(items: Collection[str]) -> tuple[str, ...]:
    """The first few different ones."""
    found: dict[str, str] = {}
    for item in items:
        if item.strip():
            found.setdefault(item.strip().lower(), cut_to(item.strip(), LONGEST_LINE))
    return tuple(found.values())[:MOST_LISTED]


def cut_to(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _number(value: Any, default: float) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else default
