"""Following transcripts, so that our logs say what they say.

The `Watcher` (`loop`) hears of changes from the `observer` and looks at everything every few seconds. For each session
that changed, the `Tailer` (`tail`) has a `follower` read on and distil, and the `writer` appends what is news. How far
each transcript was read is known to `cursors` alone. `backfill` does the same for all history at once, `instance` keeps
watchers single, `maintenance` does the chores, `status` says how far behind we are, `service` starts a watcher at login.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonlstore.watch.attribution import attribute
    from jsonlstore.watch.backfill import Summary
    from jsonlstore.watch.cursors import Cursors
    from jsonlstore.watch.instance import catch_up_unwatched, running, single_instance
    from jsonlstore.watch.loop import Timing, Watcher
    from jsonlstore.watch.maintenance import notify
    from jsonlstore.watch.status import Status, status_of
    from jsonlstore.watch.tail import Progress, Tailer, skipped_by

__all__ = [
    "Cursors",
    "Progress",
    "Status",
    "Summary",
    "Tailer",
    "Timing",
    "Watcher",
    "attribute",
    "catch_up_unwatched",
    "notify",
    "running",
    "single_instance",
    "skipped_by",
    "status_of",
]

_HOME = {
    "attribute": "attribution",
    "Summary": "backfill",
    "Cursors": "cursors",
    "catch_up_unwatched": "instance",
    "running": "instance",
    "single_instance": "instance",
    "Timing": "loop",
    "Watcher": "loop",
    "notify": "maintenance",
    "Status": "status",
    "status_of": "status",
    "Progress": "tail",
    "Tailer": "tail",
    "skipped_by": "tail",
}


def __getattr__(name: str) -> Any:
    # a hook call loads this package and must not pay for what it does not use
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
