"""What agent runtimes wrote, read without changing a byte of it.

A `Runtime` (OpenClaw, GoClaw, any that is registered) finds its sources. A `TranscriptSource` is one place on disk: it
lists transcripts, reads entries after a cursor, and answers every question about its format, so that nobody else asks
what kind it is. The `Catalogue` brings all sources together: each `Session` once, its copies merged, each entry once,
cut into stretches at every reset.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonlstore.transcripts.catalogue import Catalogue, find_sessions
    from jsonlstore.transcripts.context import build_context
    from jsonlstore.transcripts.records import Entry
    from jsonlstore.transcripts.runtimes import (
        Discovery,
        Runtime,
        current_stretch,
        discover,
        has_transcript,
        register_runtime,
        unregister_runtime,
        utility_key,
    )
    from jsonlstore.transcripts.session import Session
    from jsonlstore.transcripts.session_key import channel_of, skip_reason
    from jsonlstore.transcripts.source import Cursor, Ending, Reading, Transcript, TranscriptSource
    from jsonlstore.transcripts.stretches import Stretch, by_stretch, stretch_id
    from jsonlstore.transcripts.tokens import count_tokens

__all__ = [
    "Catalogue",
    "Cursor",
    "Discovery",
    "Ending",
    "Entry",
    "Reading",
    "Runtime",
    "Session",
    "Stretch",
    "Transcript",
    "TranscriptSource",
    "build_context",
    "by_stretch",
    "channel_of",
    "count_tokens",
    "current_stretch",
    "discover",
    "find_sessions",
    "has_transcript",
    "register_runtime",
    "skip_reason",
    "stretch_id",
    "unregister_runtime",
    "utility_key",
]

_HOME = {
    "Catalogue": "catalogue",
    "find_sessions": "catalogue",
    "build_context": "context",
    "Entry": "records",
    "Discovery": "runtimes",
    "Runtime": "runtimes",
    "current_stretch": "runtimes",
    "discover": "runtimes",
    "has_transcript": "runtimes",
    "register_runtime": "runtimes",
    "unregister_runtime": "runtimes",
    "utility_key": "runtimes",
    "Session": "session",
    "channel_of": "session_key",
    "skip_reason": "session_key",
    "Cursor": "source",
    "Ending": "source",
    "Reading": "source",
    "Transcript": "source",
    "TranscriptSource": "source",
    "Stretch": "stretches",
    "by_stretch": "stretches",
    "stretch_id": "stretches",
    "count_tokens": "tokens",
}


def __getattr__(name: str) -> Any:
    # a hook call loads this package and must not pay for what it does not use
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
