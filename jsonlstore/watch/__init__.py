"""Following transcripts and capturing them into our logs.

The `Watcher` (`loop`) gets file events from the `observer` and rescans everything every few seconds. For each session
that changed, `catch_up` calls the `Tailer` (`tail`), which has a `follower` read on and distil, and the `writer` append
what changed. Only `cursors` knows how far each transcript was read. `backfill` does the same for all history at once,
`instance` keeps watchers single, `maintenance` does the periodic chores, `status` reports how far behind we are,
`service` starts a watcher at login. `search_writer` brings the full-text index up to date with the transcripts,
`search_rebuild` makes it anew, `search_check` examines it. `complaints` says once a minute what a full disk makes
fail every second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.watch.attribution import attribute
    from jsonlstore.watch.backfill import Summary, backfill_sessions
    from jsonlstore.watch.catch_up import Timing
    from jsonlstore.watch.complaints import complain_once_a_minute
    from jsonlstore.watch.cursors import all_forgotten
    from jsonlstore.watch.handoffs import capture_now
    from jsonlstore.watch.instance import catch_up_unwatched, running, single_instance
    from jsonlstore.watch.loop import Watcher
    from jsonlstore.watch.maintenance import notify
    from jsonlstore.watch.search_check import check_search
    from jsonlstore.watch.search_rebuild import rebuild
    from jsonlstore.watch.search_writer import SearchWriter
    from jsonlstore.watch.service import KINDS, NoServiceManager, Service, default_kind
    from jsonlstore.watch.status import Status, status_of
    from jsonlstore.watch.tail import Progress, Tailer, skipped_by
    from jsonlstore.watch.writer import any_of_older_rules


__all__ = [
    "KINDS",
    "NoServiceManager",
    "Progress",
    "SearchWriter",
    "Service",
    "Status",
    "Summary",
    "Tailer",
    "Timing",
    "Watcher",
    "all_forgotten",
    "any_of_older_rules",
    "attribute",
    "backfill_sessions",
    "capture_now",
    "catch_up_unwatched",
    "check_search",
    "complain_once_a_minute",
    "default_kind",
    "notify",
    "rebuild",
    "running",
    "single_instance",
    "skipped_by",
    "status_of",
]

__getattr__ = lazy(
    __name__,
    {
        "attribution": "attribute",
        "backfill": "Summary backfill_sessions",
        "catch_up": "Timing",
        "complaints": "complain_once_a_minute",
        "cursors": "all_forgotten",
        "handoffs": "capture_now",
        "instance": "catch_up_unwatched running single_instance",
        "loop": "Watcher",
        "maintenance": "notify",
        "search_check": "check_search",
        "search_rebuild": "rebuild",
        "search_writer": "SearchWriter",
        "service": "KINDS NoServiceManager Service default_kind",
        "status": "Status status_of",
        "tail": "Progress Tailer skipped_by",
        "writer": "any_of_older_rules",
    },
)
