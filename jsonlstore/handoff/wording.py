"""A handoff in words: the specification's sections for a preamble, and the one line that offers to continue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jsonlstore.handoff.document import Handoff

_SHOWN = 3
_LINE = 160
Quote = Callable[[str, int], str]


def handoff_lines(document: Handoff, quoted: Quote, named: Quote) -> list[str]:
    """The sections, most useful first: whoever is short of room drops them from the end.

    `quoted` and `named` make other people's words safe to stand in a preamble.
    """
    ended = f", by {named(str(document.evidence['endedBy']), 40)}" if document.evidence.get("endedBy") else ""
    lines = [
        "## Previous Session Context",
        f"The previous session ended at {document.updated_at[:10]} {document.updated_at[11:16]} UTC{ended}.",
    ]
    told = document.summary
    if document.project != "general":
        lines += ["### Current Project", named(document.project, 60)]
    progress = [f"- {quoted(item, _LINE)}" for item in told.in_progress[:_SHOWN]]
    request = document.evidence.get("lastRequest")
    if isinstance(request, dict) and request.get("text"):
        fate = f" ({named(str(request['fate']), 20)})" if request.get("fate") else ""
        progress.append(f"- last request: {quoted(str(request['text']), _LINE)}{fate}")
    if progress:
        lines.append("\n".join(["### In Progress", *progress]))
    for heading, items in (("Recent Blockers", told.blockers), ("Recent Decisions", told.decisions)):
        if items:
            lines.append("\n".join([f"### {heading}", *(f"- {quoted(item, _LINE)}" for item in items[:_SHOWN])]))
    if told.next_step:
        lines.append(f"### Suggested Next Step\n{quoted(told.next_step, _LINE)}")
    memories = document.evidence.get("relatedMemories")
    if isinstance(memories, list) and memories:
        files = [f"{named(str(one.get('path')), 80)} ({named(str(one.get('date')), 10)})" for one in memories[:_SHOWN]]
        lines.append(f"### Related Memories\n{', '.join(files)}")
    return lines


def offer_line(document: Handoff, named: Quote) -> str:
    """The line that goes with the first prompt, and with no other."""
    project = f" with {named(document.project, 60)}" if document.project != "general" else ""
    question = f"Would you like to continue where we left off{project}?"
    return f'[Session handoff: unless they already say, ask the user: "{question}"]'
