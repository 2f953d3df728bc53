"""The handoff document: the specification's `SessionState` for handoffs, built from a session's state. Pure.

It is extractive: every text in it was in the state already. `previousSessionId` is the session it was captured from,
which is the previous one for whoever reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.core.clock import format_time, parse_time
from jsonlstore.core.session_key import agent_of
from jsonlstore.core.values import value_class

if TYPE_CHECKING:
    from jsonlstore.core.model import Note, SessionState
    from jsonlstore.handoff.window import WindowFacts

GENERAL = "general"
WORK, CHAT, DEEP = "work", "chat", "deep"
MOST_BYTES = 8 * 1024
MOST_PATTERNS = 30
_MOST_LISTED = 5
_LINE = 200
_SURE = 0.7  # notes below this are kept as patterns and not said in the summary
_DEEP_CALLS = 20
_UNKNOWN_INDEX = -1


@value_class(frozen=True, slots=True)
class PatternNote:
    """One note of the last messages: a blocker, decision, insight, accomplishment, scope creep or created task."""

    id: str
    type: str
    content: str
    timestamp: str = ""
    confidence: float = 1.0
    source_message_index: int = _UNKNOWN_INDEX
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
            int(_number(raw.get("sourceMessageIndex"), _UNKNOWN_INDEX)),
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
    last_message_index: int = _UNKNOWN_INDEX
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
            int(_number(raw.get("lastMessageIndex"), _UNKNOWN_INDEX)),
            _text(raw.get("transcriptHash")),
            {key: value for key, value in raw.items() if key in _EVIDENCE},
        )


_EVIDENCE = ("lastRequest", "lastAnswer", "failing", "files", "commits", "openQuestions", "endedBy", "relatedMemories")


@value_class(frozen=True, slots=True)
class HandoffOptions:
    """How a document is made: how long it counts, and the project people set, if they did."""

    expires_hours: float = 24
    project: str | None = None
    patterns: bool = True  # a project context may switch them off


def build(
    state: SessionState,
    facts: WindowFacts | None,
    now: datetime,
    options: HandoffOptions | None = None,
    earlier: Handoff | None = None,
    transcript_hash: str = "",
) -> Handoff:
    """The document of a session as it stands.

    Without `facts` of its transcript, those of the `earlier` document count on. Of an earlier document the patterns
    stay that the state still has: what was taken back is not said again.
    """
    chosen = options or HandoffOptions()
    project = chosen.project or next(iter(state.active_projects), GENERAL)
    updated = state.end_time or state.updated_at or state.start_time
    fresh = Handoff(
        agent_id=agent_of(state.agent_id, state.session_key),
        session_key=state.session_key or "",
        session_id=state.session_id,
        created_at=earlier.created_at if earlier else format_time(now),
        updated_at=updated,
        expires_at=expiry(updated, chosen.expires_hours),
        project=project,
        mode=mode_of(state, facts) if facts or not earlier else earlier.mode,
        patterns=_patterns(state.notes, facts, project, earlier) if chosen.patterns else (),
        summary=_summary(state, project),
        last_message_index=facts.last_index if facts else earlier.last_message_index if earlier else _UNKNOWN_INDEX,
        transcript_hash=transcript_hash or (earlier.transcript_hash if earlier else ""),
        evidence=_evidence(state) | _carried(earlier, project),
    )
    return within_limit(fresh)


def expiry(updated_at: str, hours: float) -> str:
    """When a document of a session that was last active then stops being offered."""
    try:
        return format_time(parse_time(updated_at) + timedelta(hours=hours))
    except (ValueError, OverflowError):
        return updated_at


def mode_of(state: SessionState, facts: WindowFacts | None) -> str:
    """`deep`: a tool-heavy turn, or 20 tool calls in the last 50 messages. `work`: any tool call, file, commit, failing
    command or open task. Else `chat`."""
    if facts and (facts.tool_calls >= _DEEP_CALLS or facts.heavy_at >= 0):
        return DEEP
    worked = (facts and facts.tool_calls) or state.files or state.commits or state.failing or state.pending_tasks
    return WORK if worked else CHAT


def merge_handoffs(before: Handoff, after: Handoff, valid: Collection[str] | None = None) -> Handoff:
    """Two captures of one session as one: the later says how things stand, both say what was noted.

    `valid`: the ids of notes that still hold; others are dropped. Documents of two sessions are never mixed.
    """
    if before.session_id != after.session_id:
        return after
    older, newer = (after, before) if after.updated_at < before.updated_at else (before, after)
    notes: dict[str, PatternNote] = {}
    for note in (*older.patterns, *newer.patterns):
        known = notes.get(note.id)
        if known is not None:
            index = max(known.source_message_index, note.source_message_index)
            resolved = True if known.resolved or note.resolved else note.resolved
            note = replace(note, source_message_index=index, resolved=resolved)  # noqa: PLW2901 - the two as one
        if valid is None or note.id in valid:
            notes[note.id] = note
    return within_limit(
        replace(
            newer,
            created_at=min(before.created_at, after.created_at),
            patterns=_kept(notes.values()),
            last_message_index=max(before.last_message_index, after.last_message_index),
            transcript_hash=newer.transcript_hash or older.transcript_hash,
        )
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
                project=_cut(document.project, 60),
                session_key=_cut(document.session_key, 256),
                summary=_shortened(document.summary),
            )
    return document


def size_of(document: Handoff) -> int:
    """The bytes of the document as it is stored."""
    return len(orjson.dumps(document.to_dict(offered_at=document.updated_at)))


def _patterns(
    notes: Sequence[Note], facts: WindowFacts | None, project: str, earlier: Handoff | None
) -> tuple[PatternNote, ...]:
    """The notes of the last 50 messages and those captured before; "general" has none (decision 40)."""
    if project.lower() == GENERAL:
        return ()
    indexes = facts.indexes if facts else {}
    captured = {note.id: note.source_message_index for note in earlier.patterns} if earlier else {}
    found = []
    for note in notes:
        if not about(note, project):
            continue
        index = indexes.get(note.source_entry_id or "", captured.get(note.id, _UNKNOWN_INDEX))
        if facts and index < 0:
            continue
        confidence = round(float(note.confidence), 3)
        found.append(
            PatternNote(note.id, note.type, _cut(note.content, 100), note.timestamp, confidence, index, note.resolved)
        )
    return _kept(found)


def _kept(notes: Collection[PatternNote]) -> tuple[PatternNote, ...]:
    """In the order they were said, the latest of them."""
    ordered = sorted(notes, key=lambda note: (note.timestamp, note.source_message_index, note.id))
    return tuple(ordered[-MOST_PATTERNS:])


def _summary(state: SessionState, project: str) -> HandoffSummary:
    tasks = [task.title for task in state.pending_tasks if task.title.strip()]
    blockers = _noted(state.notes, "blocker", project)
    if state.failing:
        summary = f": {state.failing.summary}" if state.failing.summary else ""
        blockers = [f"{state.failing.command}{summary}", *blockers]
    return HandoffSummary(
        _cut(state.last_topic or "", _LINE),
        _listed([*state.in_progress, *tasks]),
        _listed(blockers),
        _listed(_noted(state.notes, "decision", project)),
        _cut(state.next_step or "", _LINE),
    )


def about(note: Note, project: str) -> bool:
    """Whether a note is the project's or nobody's; "general" is about everything."""
    wanted = project.lower()
    return wanted == GENERAL or str(note.extra.get("project", wanted)).lower() == wanted


def _noted(notes: Sequence[Note], kind: str, project: str) -> list[str]:
    """The sure notes of a kind about this project, surest and latest first."""
    sure = [
        note
        for note in reversed(notes)
        if note.type == kind and not note.resolved and note.confidence >= _SURE and about(note, project)
    ]
    return [note.content for note in sorted(sure, key=lambda note: -note.confidence)]


def _evidence(state: SessionState) -> dict[str, Any]:
    """What tools and the end of the session tell, for which the specification has no field."""
    out: dict[str, Any] = {}
    request = state.last_request
    if request:
        out["lastRequest"] = {"text": _cut(request.text, _LINE), "at": request.at, "fate": request.fate}
        if request.doing:
            out["lastRequest"]["doing"] = _cut(request.doing, _LINE)
    if state.last_answer:
        out["lastAnswer"] = _cut(state.last_answer, _LINE)
    if state.failing:
        failing = state.failing
        out["failing"] = {
            "command": _cut(failing.command, _LINE),
            "at": failing.at,
            "summary": _cut(failing.summary, _LINE),
        }
    if state.files:
        out["files"] = [
            {"path": _cut(one.path, _LINE), "changes": one.changes, "uncommitted": one.uncommitted}
            for one in state.files[:10]
        ]
    if state.commits:
        out["commits"] = [
            {"sha": one.sha, "subject": _cut(one.subject, 100), "at": one.at} for one in state.commits[-_MOST_LISTED:]
        ]
    if state.open_questions:
        out["openQuestions"] = list(_listed(state.open_questions))
    if state.end_reason:
        out["endedBy"] = state.end_reason
    return out


def _carried(earlier: Handoff | None, project: str) -> dict[str, Any]:
    """What only a capture with a look at the workspace finds: it holds while the project is the same."""
    if earlier is None or earlier.project != project or not earlier.evidence.get("relatedMemories"):
        return {}
    return {"relatedMemories": earlier.evidence["relatedMemories"]}


def _shortened(summary: HandoffSummary) -> HandoffSummary:
    def few(items: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_cut(item, 100) for item in items[:3])

    return HandoffSummary(
        _cut(summary.last_topic, 100),
        few(summary.in_progress),
        few(summary.blockers),
        few(summary.decisions),
        _cut(summary.next_step, 100),
    )


def _listed(items: Collection[str]) -> tuple[str, ...]:
    """The first few different ones."""
    found: dict[str, str] = {}
    for item in items:
        if item.strip():
            found.setdefault(item.strip().lower(), _cut(item.strip(), _LINE))
    return tuple(found.values())[:_MOST_LISTED]


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _number(value: Any, default: float) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else default
