"""Handoff: where exactly a conversation stood, in one small document that the next session picks up.

What it promises:
- A document says only what the session's state supports; it is bounded, redacted and expires.
- The session's log is the truth: `handoff.captured`, `handoff.offered`, `handoff.claimed` and `handoff.cleared`.
- However many sessions ask at once, one claims a handoff; the others learn which one did.

`window` keeps the little that is needed of the last 50 messages, `document` builds, merges and bounds the document,
`records` captures, claims, offers and clears under the session's lock, `wording` prepares it for a preamble,
`summarizer` lets an external command rewrite the summary, `memories` names memory files about the project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.handoff.document import Handoff, HandoffOptions, PatternNote, build, merge_handoffs, mode_of
    from jsonlstore.handoff.memories import related_memories
    from jsonlstore.handoff.records import (
        Claim,
        HandoffRecord,
        ProjectContext,
        capture,
        claim,
        clear,
        confirm,
        kept_handoff,
        offer,
        present_document,
        set_project,
        standing_claim,
    )
    from jsonlstore.handoff.summarizer import summarize
    from jsonlstore.handoff.window import MessageWindow, WindowFacts
    from jsonlstore.handoff.wording import as_told, offer_line


__all__ = [
    "Claim",
    "Handoff",
    "HandoffOptions",
    "HandoffRecord",
    "MessageWindow",
    "PatternNote",
    "ProjectContext",
    "WindowFacts",
    "as_told",
    "build",
    "capture",
    "claim",
    "clear",
    "confirm",
    "kept_handoff",
    "merge_handoffs",
    "mode_of",
    "offer",
    "offer_line",
    "present_document",
    "related_memories",
    "set_project",
    "standing_claim",
    "summarize",
]

__getattr__ = lazy(
    __name__,
    {
        "document": "Handoff HandoffOptions PatternNote build merge_handoffs mode_of",
        "memories": "related_memories",
        "records": "Claim HandoffRecord ProjectContext capture claim clear confirm kept_handoff "
        "offer present_document set_project standing_claim",
        "summarizer": "summarize",
        "window": "MessageWindow WindowFacts",
        "wording": "as_told offer_line",
    },
)
