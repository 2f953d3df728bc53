"""The store: sessions on disk, in append-only logs that everything else is made from.

What it promises:
- A change that returned is on the platter; a change that raised left everything as it was.
- A state is the fold of its log. Index, mirrors and archive follow the log, and can be made from it again.
- Nothing reaches the disk that the redactor has not seen, and nothing grows without bounds.
- Any number of threads and processes may write; readers take no lock.

A record's way: `sanitise` checks, redacts and caps it (`limits`); `store` appends it to the session's `log`
under the session's lock; `fold` takes it in, one layer per writer; `projection` makes the `index` entry of
it, and an ended session gets its mirror (`archive`). `forget` and `doctor` look after what is there;
`metrics` is a log of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.store.archive import find_month
    from jsonlstore.store.bulk import BulkStore
    from jsonlstore.store.doctor import Check, Doctor, repair_unfinished
    from jsonlstore.store.fold import EVENT_FIELDS, SessionFold, fold_events
    from jsonlstore.store.index import Progress, silent
    from jsonlstore.store.index_text import gc_paused, parse_index
    from jsonlstore.store.log import FULL_STATE_TYPES, Scan
    from jsonlstore.store.metrics import METRIC_EVENTS
    from jsonlstore.store.projection import Entry, IndexEntry, project
    from jsonlstore.store.reader import SessionReader
    from jsonlstore.store.sanitise import check_fields, clean, clean_text
    from jsonlstore.store.store import SessionStore

__all__ = [
    "EVENT_FIELDS", "FULL_STATE_TYPES", "METRIC_EVENTS", "BulkStore", "Check", "Doctor", "Entry", "IndexEntry",
    "Progress", "Scan", "SessionFold", "SessionReader", "SessionStore", "check_fields", "clean", "clean_text",
    "find_month", "fold_events", "gc_paused", "parse_index", "project", "repair_unfinished", "silent",
]  # fmt: skip

__getattr__ = lazy(
    __name__,
    {
        "archive": "find_month",
        "bulk": "BulkStore",
        "doctor": "Check Doctor repair_unfinished",
        "fold": "EVENT_FIELDS SessionFold fold_events",
        "index": "Progress silent",
        "index_text": "gc_paused parse_index",
        "log": "FULL_STATE_TYPES Scan",
        "metrics": "METRIC_EVENTS",
        "projection": "Entry IndexEntry project",
        "reader": "SessionReader",
        "sanitise": "check_fields clean clean_text",
        "store": "SessionStore",
    },
)
