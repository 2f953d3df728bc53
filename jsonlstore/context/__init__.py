"""Transcripts of our own, for agents that have none: kept durably, read back as the model would see them.

An agent opens a `TranscriptStore`, loads its `Session`, appends records and asks how full the window is. Two backends
stand behind one interface: a SQLite database, and JSONL files in OpenClaw's own format, which OpenClaw and pi read too.
A record is checked and linked (`records`), stripped of secrets, and handed to a backend (`sqlite`, `jsonl`); reading
goes backwards from the newest record and stops where the model stops seeing (`session`). Histories are taken over from
OpenClaw (`inherit`), carried from one backend to the other (`migrate`) and removed without a trace (`forgetting`). The
watcher reads them as it reads any other runtime's: see `transcripts.own`. How the window is kept from running over is
`flush` (asking in time), `checkpoint` (where it stands, from evidence) and `summary` (a compaction's text without a
model); `compaction` makes it of another runtime's transcript, `cycle` of our own, `generator` lets a command word it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.context.checkpoint import Checkpoint, checkpoint_due, extended, make_checkpoint
    from jsonlstore.context.compaction import CompactionSummary, distilled, newest_checkpoint, summarize_session
    from jsonlstore.context.cycle import FlushPrompt
    from jsonlstore.context.flush import FlushCycle, flush_text, percent_used
    from jsonlstore.context.flush_log import offer_flush, settle_flush
    from jsonlstore.context.forgetting import forget_transcripts
    from jsonlstore.context.generator import GeneratorRun, answer_in, generated, generator_prompt, reworded
    from jsonlstore.context.migrate import migrate_transcripts, open_pair
    from jsonlstore.context.session import Session
    from jsonlstore.context.store import SessionInfo, TranscriptStore
    from jsonlstore.context.summary import summary_text


__all__ = [
    "Checkpoint",
    "CompactionSummary",
    "FlushCycle",
    "FlushPrompt",
    "GeneratorRun",
    "Session",
    "SessionInfo",
    "TranscriptStore",
    "answer_in",
    "checkpoint_due",
    "distilled",
    "extended",
    "flush_text",
    "forget_transcripts",
    "generated",
    "generator_prompt",
    "make_checkpoint",
    "migrate_transcripts",
    "newest_checkpoint",
    "offer_flush",
    "open_pair",
    "percent_used",
    "reworded",
    "settle_flush",
    "summarize_session",
    "summary_text",
]

__getattr__ = lazy(
    __name__,
    {
        "checkpoint": "Checkpoint checkpoint_due extended make_checkpoint",
        "compaction": "CompactionSummary distilled newest_checkpoint summarize_session",
        "cycle": "FlushPrompt",
        "flush": "FlushCycle flush_text percent_used",
        "flush_log": "offer_flush settle_flush",
        "forgetting": "forget_transcripts",
        "generator": "GeneratorRun answer_in generated generator_prompt reworded",
        "migrate": "migrate_transcripts open_pair",
        "session": "Session",
        "summary": "summary_text",
        "store": "SessionInfo TranscriptStore",
    },
)
