"""Handoff: where exactly a conversation stood, in one small document that the next session picks up.

What it promises:
- A document says only what the session's state supports; it is bounded, redacted and expires.
- The session's log is the truth: `handoff.captured`, `handoff.offered`, `handoff.claimed` and `handoff.cleared`.
- However many sessions ask at once, one claims a handoff; the others learn which one did.

`window` keeps the little that is needed of the last 50 messages, `document` is the document with its bounds, `builder`
makes it from a state, `records` captures, claims, offers and clears under the session's lock, `wording` prepares it for
a preamble, `summarizer` lets an external command rewrite the summary, `memories` names memory files about the project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.handoff.builder import HandoffOptions, build, mode_of
    from jsonlstore.handoff.document import Handoff, PatternNote, as_file
    from jsonlstore.handoff.memories import related_memories
    from jsonlstore.handoff.records import (
        COMMAND,
        Claim,
        HandoffRecord,
        ProjectContext,
        capture,
        claim,
        claim_in_force,
        clear,
        cleared_at,
        confirm,
        kept_handoff,
        offer,
        present_document,
        set_project,
    )
    from jsonlstore.handoff.summarizer import summarize
    from jsonlstore.handoff.window import MessageWindow, WindowFacts
    from jsonlstore.handoff.wording import as_told, offer_line


__all__ = [
    "COMMAND",
    "Claim",
    "Handoff",
    "HandoffOptions",
    "HandoffRecord",
    "MessageWindow",
    "PatternNote",
    "ProjectContext",
    "WindowFacts",
    "as_file",
    "as_told",
    "build",
    "capture",
    "claim",
    "claim_in_force",
    "clear",
    "cleared_at",
    "confirm",
    "kept_handoff",
    "mode_of",
    "offer",
    "offer_line",
    "present_document",
    "related_memories",
    "set_project",
    "summarize",
]

__getattr__ = lazy(
    __name__,
    {
        "builder": "HandoffOptions build mode_of",
        "document": "Handoff PatternNote as_file",
        "memories": "related_memories",
        "records": "COMMAND Claim HandoffRecord ProjectContext capture claim clear cleared_at confirm kept_handoff "
        "offer present_document set_project claim_in_force",
        "summarizer": "summarize",
        "window": "MessageWindow WindowFacts",
        "wording": "as_told offer_line",
    },
)
