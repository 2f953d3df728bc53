"""A handoff in a preamble: the session as its document tells it, and the one line that offers to continue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from jsonlstore.core.model import Note
from jsonlstore.handoff.builder import about

if TYPE_CHECKING:
    from jsonlstore.core.model import SessionState
    from jsonlstore.handoff.document import Handoff

Quote = Callable[[str, int], str]


def as_told(document: Handoff, state: SessionState) -> SessionState:
    """The state of a session as its handoff tells it: without notes about another project, and in the words of the
    external command, if it wrote the summary."""
    if not document.is_summarized:
        return replace(state, notes=tuple(note for note in state.notes if about(note, document.project)))
    told = document.summary
    listed = [("blocker", text) for text in told.blockers] + [("decision", text) for text in told.decisions]
    # the surest and latest note is told first
    notes = tuple(Note(f"summary-{at}", kind, text) for at, (kind, text) in reversed([*enumerate(listed)]))
    return replace(state, notes=notes, next_step=told.next_step or None)


def offer_line(document: Handoff, named: Quote) -> str:
    """The line that goes with the first prompt, and with no other."""
    project = f" with {named(document.project, 60)}" if document.project != "general" else ""
    question = f"Would you like to continue where we left off{project}?"
    return f'[Session handoff: unless they already say, ask the user: "{question}"]'
