"""What agent runtimes wrote, read without changing a byte of it.

A `Runtime` (OpenClaw, GoClaw, any that is registered) finds its sources. A `TranscriptSource` is one place on disk: it
lists transcripts, reads entries after a cursor, and answers every question about its format, so that nobody else asks
what kind it is. The `Catalogue` brings all sources together: each `Session` once, its copies merged, each entry once,
cut into stretches at every reset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.transcripts.catalogue import Catalogue
    from jsonlstore.transcripts.records import Entry
    from jsonlstore.transcripts.runtimes import Discovery, Runtime, has_transcript, register_runtime, unregister_runtime
    from jsonlstore.transcripts.session import Session
    from jsonlstore.transcripts.source import Cursor, Ending, Reading, Transcript, TranscriptSource
    from jsonlstore.transcripts.stretches import Stretch, by_stretch

__all__ = [
    "Catalogue", "Cursor", "Discovery", "Ending", "Entry", "Reading", "Runtime", "Session", "Stretch", "Transcript",
    "TranscriptSource", "by_stretch", "has_transcript", "register_runtime", "unregister_runtime",
]  # fmt: skip

__getattr__ = lazy(
    __name__,
    {
        "catalogue": "Catalogue",
        "records": "Entry",
        "runtimes": "Discovery Runtime has_transcript register_runtime unregister_runtime",
        "session": "Session",
        "source": "Cursor Ending Reading Transcript TranscriptSource",
        "stretches": "Stretch by_stretch",
    },
)
