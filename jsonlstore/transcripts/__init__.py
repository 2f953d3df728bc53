"""Reading the transcripts of agent runtimes, without changing a byte of them.

A `Runtime` (OpenClaw, GoClaw, any that is registered) finds its sources. A `TranscriptSource` is one place on disk: it
lists transcripts, reads entries after a cursor, and answers every question about its format, so that no other module
depends on the kind of source. The `Catalogue` combines all sources: each `RecordedSession` once, its copies merged,
each entry once, split into stretches at every reset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.transcripts.catalogue import Catalogue, find_sessions
    from jsonlstore.transcripts.context import Context, active_path, build_context, context_of
    from jsonlstore.transcripts.json_values import parse_object, read_millis
    from jsonlstore.transcripts.lines import MAX_LINE, open_stream, read_entries
    from jsonlstore.transcripts.readonly import Database, consistently
    from jsonlstore.transcripts.records import Entry, ToolCall, parse_entry
    from jsonlstore.transcripts.runtimes import (
        Discovery,
        Runtime,
        current_stretch,
        discover,
        has_transcript,
        recorded_session,
        register_runtime,
        registered_runtimes,
        unregister_runtime,
        utility_key,
        was_answered,
    )
    from jsonlstore.transcripts.session import CopyMerger, CursorOutdated, RecordedSession, read_copies
    from jsonlstore.transcripts.source import LIVE, BegunHash, Cursor, Ending, Reading, Transcript, TranscriptSource
    from jsonlstore.transcripts.speech import Speaker
    from jsonlstore.transcripts.stretches import Stretch, by_stretch, usable_id
    from jsonlstore.transcripts.tokens import (
        TokenCount,
        TokenMeter,
        context_line,
        count_context,
        count_tokens,
        estimate_tokens,
    )


__all__ = [
    "LIVE",
    "MAX_LINE",
    "BegunHash",
    "Catalogue",
    "Context",
    "CopyMerger",
    "Cursor",
    "CursorOutdated",
    "Database",
    "Discovery",
    "Ending",
    "Entry",
    "Reading",
    "RecordedSession",
    "Runtime",
    "Speaker",
    "Stretch",
    "TokenCount",
    "TokenMeter",
    "ToolCall",
    "Transcript",
    "TranscriptSource",
    "active_path",
    "build_context",
    "by_stretch",
    "consistently",
    "context_line",
    "context_of",
    "count_context",
    "count_tokens",
    "current_stretch",
    "discover",
    "estimate_tokens",
    "find_sessions",
    "has_transcript",
    "open_stream",
    "parse_entry",
    "parse_object",
    "read_copies",
    "read_entries",
    "read_millis",
    "recorded_session",
    "register_runtime",
    "registered_runtimes",
    "unregister_runtime",
    "usable_id",
    "utility_key",
    "was_answered",
]

__getattr__ = lazy(
    __name__,
    {
        "catalogue": "Catalogue find_sessions",
        "context": "Context active_path build_context context_of",
        "lines": "MAX_LINE open_stream read_entries",
        "readonly": "Database consistently",
        "json_values": "parse_object read_millis",
        "records": "Entry ToolCall parse_entry",
        "runtimes": "Discovery Runtime current_stretch discover has_transcript recorded_session "
        "register_runtime registered_runtimes unregister_runtime utility_key was_answered",
        "session": "CopyMerger CursorOutdated RecordedSession read_copies",
        "source": "BegunHash Cursor Ending LIVE Reading Transcript TranscriptSource",
        "speech": "Speaker",
        "stretches": "Stretch by_stretch usable_id",
        "tokens": "TokenCount TokenMeter context_line count_context count_tokens estimate_tokens",
    },
)
