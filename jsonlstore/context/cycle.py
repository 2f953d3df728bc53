"""The cycle of an own transcript's window: what is asked, when a checkpoint is made, and what a compaction keeps.

Rules over the entries of one branch; `Session` applies them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from jsonlstore.context.checkpoint import Checkpoint, extended, trigger_of
from jsonlstore.context.compaction import covers_half, distilled, says_anything
from jsonlstore.context.flush import percent_used
from jsonlstore.context.generator import generated
from jsonlstore.context.summary import summary_text
from jsonlstore.core.errors import UsageError
from jsonlstore.transcripts import Speaker, estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.core.session_settings import CheckpointSettings, SessionSettings
    from jsonlstore.transcripts import Entry

KEPT_SHARE = 4  # of the window, at most a quarter stays as it was said
MOST_KEPT = 20_000


class WindowSummary(NamedTuple):
    """The text of a compaction, and whether a checkpoint spared the work."""

    text: str
    from_checkpoint: bool


class FlushPrompt(NamedTuple):
    """What an agent is asked, and how it is said: `system`, `user` or `marked`."""

    percent: int
    text: str
    inject_as: str


def window_checkpoint(path: Sequence[Entry], earlier: Sequence[Entry], tokens: int) -> Checkpoint:
    """Where a branch stands: the newest checkpoint from before the part that is seen, brought up to date by it."""
    known = [Checkpoint.of(entry) for entry in earlier if entry.type == "checkpoint"]
    made = distilled(path)
    united = extended(known[-1], made) if known else made
    return replace(united, tokens=tokens)


def window_checkpoint_due(settings: CheckpointSettings, path: Sequence[Entry], tokens: int, window: int) -> str | None:
    """Why a checkpoint is due after this turn; None if it is not. Looks at the end of the branch only."""
    spoken = next((entry for entry in reversed(path) if entry.type == "message"), None)
    if spoken is None or spoken.role != "assistant" or spoken.tool_calls:
        return None
    asked, before, compacted = 0, 0, False
    for entry in reversed(path):
        if entry.type == "checkpoint":
            # what it counted before a compaction says nothing of the window now
            before = 0 if compacted else int(percent_used(Checkpoint.of(entry).tokens, window))
            break
        compacted = compacted or entry.type == "compaction"
        asked += entry.speaker is Speaker.USER
    return trigger_of(settings, asked, tokens, window, before)


def summarize_window(
    settings: SessionSettings, path: Sequence[Entry], earlier: Sequence[Entry], tokens: int
) -> WindowSummary:
    """The text a compaction puts in the place of what was said.

    A checkpoint that saw half of the window is taken and extended by what came after it. Else one is made anew, by the
    configured command or from evidence; the last resort is the old checkpoint.
    """
    previous = next((entry for entry in reversed(path) if entry.type == "compaction"), None)
    told = previous.raw.get("summary") if previous else None
    since = path[path.index(previous) + 1 :] if previous else path
    at = max((number for number, entry in enumerate(since) if entry.type == "checkpoint"), default=None)
    recent = Checkpoint.of(since[at]) if at is not None else None
    text = told if isinstance(told, str) else None
    if at is not None and recent and settings.compaction.prefer_checkpoint and covers_half(recent, tokens):
        later = since[at + 1 :]
        made = extended(recent, distilled(later)) if later else recent
        return WindowSummary(summary_text(made, text), True)
    made = generated(window_checkpoint(path, earlier, tokens), settings.checkpoint)
    if says_anything(made):
        return WindowSummary(summary_text(made, text), False)
    old = recent or next((Checkpoint.of(one) for one in reversed(earlier) if one.type == "checkpoint"), None)
    if old is None:
        raise UsageError("there is nothing to summarise", hint="give a summary")
    return WindowSummary(summary_text(old, text), True)


def first_kept(path: Sequence[Entry], window: int) -> str:
    """The record a compaction keeps from: the latest turns that fit a quarter of the window, at least the last one.

    It begins with what a user said, so that no tool result is kept without its call.
    """
    limit = min(MOST_KEPT, window // KEPT_SHARE)
    spoken = [entry for entry in path if entry.type == "message" and entry.id]
    chosen: str | None = None
    size = 0
    for entry in reversed(spoken):
        size += estimate_tokens(entry.text)
        if chosen is not None and size > limit:
            break
        if entry.role == "user":
            chosen = entry.id
    if chosen is None or chosen == spoken[0].id:
        chosen = next((entry.id for entry in reversed(spoken[1:]) if entry.role in ("user", "assistant")), chosen)
    if chosen is None:
        raise UsageError("there is no message to keep", hint="a compaction keeps at least one")
    return chosen
