"""A handoff document made from a session's state. Pure, and extractive: every text in it was in the state already."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import format_time, parse_time
from jsonlstore.core.session_key import agent_of
from jsonlstore.core.values import value_class
from jsonlstore.handoff.document import (
    CHAT,
    DEEP,
    GENERAL,
    LONGEST_LINE,
    MOST_LISTED,
    SUMMARIZED_FROM,
    UNKNOWN_INDEX,
    WORK,
    Handoff,
    HandoffSummary,
    PatternNote,
    cut_to,
    digest_of,
    first_few,
    within_limit,
)

if TYPE_CHECKING:
    from jsonlstore.core.model import Note, SessionState
    from jsonlstore.handoff.window import WindowFacts

MOST_PATTERNS = 30
_SURE = 0.7  # notes below this are kept as patterns and not said in the summary
_DEEP_CALLS = 20


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
    summary, rewritten = _summary(state, project), {}
    if earlier and earlier.is_summarized and earlier.evidence[SUMMARIZED_FROM] == digest_of(summary):
        summary, rewritten = earlier.summary, {SUMMARIZED_FROM: digest_of(summary)}
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
        summary=summary,
        last_message_index=facts.last_index if facts else earlier.last_message_index if earlier else UNKNOWN_INDEX,
        transcript_hash=transcript_hash or (earlier.transcript_hash if earlier else ""),
        evidence=_evidence(state) | _carried(earlier, project) | rewritten,
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
        index = indexes.get(note.source_entry_id or "", captured.get(note.id, UNKNOWN_INDEX))
        if facts and index < 0:
            continue
        confidence = round(float(note.confidence), 3)
        found.append(
            PatternNote(note.id, note.type, cut_to(note.content, 100), note.timestamp, confidence, index, note.resolved)
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
        cut_to(state.last_topic or "", LONGEST_LINE),
        first_few([*state.in_progress, *tasks]),
        first_few(blockers),
        first_few(_noted(state.notes, "decision", project)),
        cut_to(state.next_step or "", LONGEST_LINE),
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
        out["lastRequest"] = {"text": cut_to(request.text, LONGEST_LINE), "at": request.at, "fate": request.fate}
        if request.doing:
            out["lastRequest"]["doing"] = cut_to(request.doing, LONGEST_LINE)
    if state.last_answer:
        out["lastAnswer"] = cut_to(state.last_answer, LONGEST_LINE)
    if state.failing:
        failing = state.failing
        out["failing"] = {
            "command": cut_to(failing.command, LONGEST_LINE),
            "at": failing.at,
            "summary": cut_to(failing.summary, LONGEST_LINE),
        }
    if state.files:
        out["files"] = [
            {"path": cut_to(one.path, LONGEST_LINE), "changes": one.changes, "uncommitted": one.uncommitted}
            for one in state.files[:10]
        ]
    if state.commits:
        out["commits"] = [
            {"sha": one.sha, "subject": cut_to(one.subject, 100), "at": one.at} for one in state.commits[-MOST_LISTED:]
        ]
    if state.open_questions:
        out["openQuestions"] = list(first_few(state.open_questions))
    if state.end_reason:
        out["endedBy"] = state.end_reason
    return out


def _carried(earlier: Handoff | None, project: str) -> dict[str, Any]:
    """What only a capture with a look at the workspace finds: it holds while the project is the same."""
    if earlier is None or earlier.project != project or not earlier.evidence.get("relatedMemories"):
        return {}
    return {"relatedMemories": earlier.evidence["relatedMemories"]}
