"""Following transcripts, so that our logs say what they say.

The `Watcher` (`loop`) hears of changes from the `observer` and looks at everything every few seconds. For each session
that changed, the `Tailer` (`tail`) has a `follower` read on and distil, and the `writer` appends what is news. How far
each transcript was read is known to `cursors` alone. `backfill` does the same for all history at once, `instance` keeps
watchers single, `maintenance` does the chores, `status` says how far behind we are, `service` starts one at login.
`search_writer` brings the full-text index up to date with the transcripts, `search_check` looks it over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.watch.instance import catch_up_unwatched, single_instance
    from jsonlstore.watch.loop import Timing, Watcher
    from jsonlstore.watch.status import Status, status_of
    from jsonlstore.watch.tail import Progress, Tailer

__all__ = [
    "Progress", "Status", "Tailer", "Timing", "Watcher", "catch_up_unwatched", "single_instance", "status_of",
]  # fmt: skip

__getattr__ = lazy(
    __name__,
    {
        "instance": "catch_up_unwatched single_instance",
        "loop": "Timing Watcher",
        "status": "Status status_of",
        "tail": "Progress Tailer",
    },
)
