"""The value a distilled session is: what one stretch of a transcript tells, safe to be stored."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from jsonlstore.core.model import PART_LISTS, SINGLE_PARTS, STRING_LISTS, Part
from jsonlstore.redact import hide_generated, hide_generated_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonlstore.core.model import (
        Closed,
        Commit,
        ConfidenceUpdate,
        EarlierRequest,
        Failing,
        FileInWork,
        Ground,
        LastRequest,
        Note,
        PendingTask,
        Reference,
        SOPInteraction,
        Tokens,
        WorkingMemoryPin,
    )
    from jsonlstore.redact import Redactor

# what the end of a session tells replaces what was thought before, even by nothing
_REPLACED = ("last_topic", "next_step", "last_request", "last_answer", "failing")
# names and ids are no sentences: a generated-looking part of theirs is what makes them findable
_NAMES = frozenset({"hot_topics", "active_projects", "recent_learnings"})


@dataclass(frozen=True, slots=True)
class Signals:
    """What one stretch of a transcript tells; field names are those of `SessionState`."""

    hot_topics: tuple[str, ...] = ()
    active_projects: tuple[str, ...] = ()
    pending_tasks: tuple[PendingTask, ...] = ()
    recent_learnings: tuple[str, ...] = ()
    confidence_updates: tuple[ConfidenceUpdate, ...] = ()
    sop_interactions: tuple[SOPInteraction, ...] = ()
    working_memory: tuple[WorkingMemoryPin, ...] = ()
    notes: tuple[Note, ...] = ()
    last_topic: str | None = None
    in_progress: tuple[str, ...] = ()
    next_step: str | None = None
    last_request: LastRequest | None = None
    earlier_requests: tuple[EarlierRequest, ...] = ()
    last_answer: str | None = None
    open_questions: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    files: tuple[FileInWork, ...] = ()
    failing: Failing | None = None
    closed: tuple[Closed, ...] = ()
    references: tuple[Reference, ...] = ()
    grounds: tuple[Ground, ...] = ()
    tokens: Tokens | None = None
    start_time: str | None = None
    end_time: str | None = None

    def to_fields(self) -> dict[str, Any]:
        """The JSON fields of a SessionState update. What is not known is left out, but empty lists and what the end of
        a session tells are not: they replace what was thought before."""
        out: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, tuple):
                out[item.name] = [part.to_dict() if isinstance(part, Part) else part for part in value]
            elif isinstance(value, Part):
                out[item.name] = value.to_dict()
            elif value is not None or item.name in _REPLACED:
                out[item.name] = value
        return out

    def redacted(self, redactor: Redactor) -> Signals:
        """The same with every text redacted; a listed text that was nothing but a secret is left out."""
        safe: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name in STRING_LISTS:
                said = value if item.name in _NAMES else map(hide_generated, value)
                safe[item.name] = _redacted(said, redactor)
            elif item.name in PART_LISTS:
                safe[item.name] = tuple(_redacted_part(part, redactor) for part in value)
            elif item.name in SINGLE_PARTS and value is not None and item.name != "tokens":
                safe[item.name] = _redacted_part(value, redactor)
            elif isinstance(value, str) and not item.name.endswith("_time"):
                safe[item.name] = hide_generated(redactor.text(value))
        return replace(self, **safe)


def _redacted(texts: Iterable[str], redactor: Redactor) -> tuple[str, ...]:
    safe = ((text, redactor.text(text)) for text in texts)
    return tuple(dict.fromkeys(shown for text, shown in safe if shown == text or "[REDACTED" not in shown[:12]))


def _redacted_part(part: Part, redactor: Redactor) -> Part:
    told = part.to_dict()
    safe = hide_generated_in(redactor.value(told))
    return part if safe == told else type(part).from_dict(safe)
