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
    from jsonlstore.transcripts.catalogue import Catalogue as Catalogue
    from jsonlstore.transcripts.records import Entry as Entry
    from jsonlstore.transcripts.runtimes import Discovery as Discovery
    from jsonlstore.transcripts.runtimes import Runtime as Runtime
    from jsonlstore.transcripts.runtimes import has_transcript as has_transcript
    from jsonlstore.transcripts.runtimes import register_runtime as register_runtime
    from jsonlstore.transcripts.runtimes import unregister_runtime as unregister_runtime
    from jsonlstore.transcripts.session import Session as Session
    from jsonlstore.transcripts.source import Cursor as Cursor
    from jsonlstore.transcripts.source import Ending as Ending
    from jsonlstore.transcripts.source import Reading as Reading
    from jsonlstore.transcripts.source import Transcript as Transcript
    from jsonlstore.transcripts.source import TranscriptSource as TranscriptSource
    from jsonlstore.transcripts.stretches import Stretch as Stretch
    from jsonlstore.transcripts.stretches import by_stretch as by_stretch

_HOMES = {
    "catalogue": "Catalogue",
    "records": "Entry",
    "runtimes": "Discovery Runtime has_transcript register_runtime unregister_runtime",
    "session": "Session",
    "source": "Cursor Ending Reading Transcript TranscriptSource",
    "stretches": "Stretch by_stretch",
}


def __getattr__(name: str) -> Any:
    # a hook call loads this package and must not pay for what it does not use
    for module, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
