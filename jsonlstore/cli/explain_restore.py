"""What a session would get, and why: `restore` for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.cli.app import say
from jsonlstore.cli.formatting import heading, say_folded, say_line
from jsonlstore.restore.score import PENDING_WEIGHT, RECENCY_WEIGHT, TOPIC_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.restore.result import Candidate, PinDecision, RestoredSessionContext


def show_restored(context: RestoredSessionContext, *, explain: bool) -> None:
    """The preamble as the agent would read it; with `explain` every factor and every reason."""
    if context.error:
        say(f"warning: {context.error}", err=True, fg="yellow")
    if context.already_restored:
        say_folded("already restored; --again does it once more")
    elif context.preamble is None:
        say_folded("nothing to restore (cold start)")
    else:
        say_folded(context.preamble, indent="  ")
    if explain:
        _candidates(context.candidates)
        _pins(context.pins)


def _candidates(candidates: Sequence[Candidate]) -> None:
    say()
    if not candidates:
        heading("No candidates.")
        return
    heading("Candidates")
    say_folded(f"  score = {RECENCY_WEIGHT} recency + {TOPIC_WEIGHT} topics + {PENDING_WEIGHT} pending", dim=True)
    for one in candidates:
        style = {"fg": "green"} if one.qualified else {}
        verdict = "yes" if one.qualified else "no"
        say_line(f"  {verdict:<3} {one.score:.3f}  {one.session_id}  {_age(one.hours_elapsed)}", **style)
        factors = f"recency {one.recency:.3f}, topics {one.topic_overlap:.3f}, pending {one.pending:.2f}"
        say_folded(f"      {factors}: {one.reason}", indent="      ")


def _age(hours: float) -> str:
    if hours < 48:
        return f"{hours:.1f}h ago"
    return f"{hours / 24:.1f}d ago"


def _pins(pins: Sequence[PinDecision]) -> None:
    if not pins:
        return
    say()
    heading("Pins")
    for pin in pins:
        say_line(f"  {pin.decision}: {pin.label} (from {pin.origin})")
        say_folded(f"      {pin.reason}", indent="      ")
