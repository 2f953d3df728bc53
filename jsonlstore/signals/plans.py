"""A plan that was written to a file and not carried out yet: what a session leaves that ended with planning."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jsonlstore.core import expressions as re
from jsonlstore.signals.sentences import plain_text
from jsonlstore.signals.words import content_words

_REACH = 2  # turns in which nothing but the plan was written
_LONGEST_HEAD = 2_000
# `plans/…md`, `PLAN.md`, `migration-plan.md`
_FILE = re.compile(r"(?:^|/)(?:\.?plans?/[^/]+|(?:[\w.-]*[-_.])?plan(?:[-_.][\w.-]*)?)\.md$", re.IGNORECASE)
_LABEL = re.compile(r"^(?:implementation |the )?plan\b(?: for)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WrittenPlan:
    """A plan by its title; since it was written nothing was changed but plans, and nothing committed."""

    title: str
    turn: int
    at: str
    entry_id: str | None


def is_plan_file(path: str) -> bool:
    return _FILE.search(path.replace("\\", "/")) is not None


def plan_after(known: WrittenPlan | None, text: str, turn: int, at: str, entry_id: str | None) -> WrittenPlan | None:
    """The plan that stands after a plan file was written with `text`, or edited in part, where that is empty."""
    title = plan_title(text)
    if title:
        return WrittenPlan(title, turn, at, entry_id)
    return replace(known, turn=turn) if known else None


def plan_title(plan: str) -> str:
    """The title of a plan: its first line that says something beside "Plan"."""
    for line in plan[:_LONGEST_HEAD].split("\n"):
        title = _LABEL.sub("", plain_text(line)).strip(" :–—-")
        if len(content_words(title)) >= 2:
            return title
    return ""


def is_waiting(plan: WrittenPlan | None, turn: int) -> bool:
    """Whether a plan was written in one of the last turns and nothing was done since."""
    return plan is not None and turn - plan.turn < _REACH
