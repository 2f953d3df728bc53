"""The store: sessions on disk, in append-only logs from which everything else is derived.

What it promises:

- A change that returned is durable; a change that raised left everything as it was.
- A state is the fold of its log. Index, mirrors and archive follow the log and can be rebuilt from it.
- Every record passes the redactor before it is written, and every record is bounded in size.
- Any number of threads and processes may write; readers take no lock.

A record's path: `sanitise` checks, redacts and caps it (`limits`); `append` adds it to the session's `log` under the
session's lock; `fold` applies it, one of the `layers` per writer; `projection` derives the `index` entry from the fold,
and an ended session gets its mirror (`archive`). `reader` reads without a lock. `store` archives, repairs and forgets
whole sessions, `doctor` decides which; `metrics` is a log of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.store.archive import find_month
    from jsonlstore.store.bulk import BulkStore
    from jsonlstore.store.doctor import Check, Doctor, guarded, repair_unfinished
    from jsonlstore.store.fold import EVENT_FIELDS, SessionFold, fold_events
    from jsonlstore.store.forget import Forgotten
    from jsonlstore.store.index import ProgressCallback, silent
    from jsonlstore.store.index_text import gc_paused, parse_index
    from jsonlstore.store.log import FULL_STATE_TYPES, Event, Scan, SessionLog, Signature
    from jsonlstore.store.metrics import METRIC_EVENTS
    from jsonlstore.store.projection import IndexEntry, RawIndexEntry, project
    from jsonlstore.store.reader import SessionReader
    from jsonlstore.store.sanitise import check_fields, clean, clean_text
    from jsonlstore.store.schema import schema_problems
    from jsonlstore.store.store import SessionStore


__all__ = [
    "EVENT_FIELDS",
    "FULL_STATE_TYPES",
    "METRIC_EVENTS",
    "BulkStore",
    "Check",
    "Doctor",
    "Event",
    "Forgotten",
    "IndexEntry",
    "ProgressCallback",
    "RawIndexEntry",
    "Scan",
    "SessionFold",
    "SessionLog",
    "SessionReader",
    "SessionStore",
    "Signature",
    "check_fields",
    "clean",
    "clean_text",
    "find_month",
    "fold_events",
    "gc_paused",
    "guarded",
    "parse_index",
    "project",
    "repair_unfinished",
    "schema_problems",
    "silent",
]

__getattr__ = lazy(
    __name__,
    {
        "archive": "find_month",
        "bulk": "BulkStore",
        "doctor": "Check Doctor guarded repair_unfinished",
        "fold": "EVENT_FIELDS SessionFold fold_events",
        "forget": "Forgotten",
        "index": "ProgressCallback silent",
        "index_text": "gc_paused parse_index",
        "log": "Event FULL_STATE_TYPES Scan SessionLog Signature",
        "metrics": "METRIC_EVENTS",
        "projection": "IndexEntry RawIndexEntry project",
        "reader": "SessionReader",
        "sanitise": "check_fields clean clean_text",
        "schema": "schema_problems",
        "store": "SessionStore",
    },
)
