"""Following transcripts, so that our logs say what they say.

The `Watcher` (`loop`) hears of changes from the `observer` and looks at everything every few seconds. For each session
that changed, the `Tailer` (`tail`) has a `follower` read on and distil, and the `writer` appends what is news. How far
each transcript was read is known to `cursors` alone. `backfill` does the same for all history at once, `instance` keeps
watchers single, `maintenance` does the chores, `status` says how far behind we are, `service` starts one at login.
`search_writer` brings the full-text index up to date with the transcripts, `search_check` looks it over.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonlstore.watch.instance import catch_up_unwatched as catch_up_unwatched
    from jsonlstore.watch.instance import single_instance as single_instance
    from jsonlstore.watch.loop import Timing as Timing
    from jsonlstore.watch.loop import Watcher as Watcher
    from jsonlstore.watch.status import Status as Status
    from jsonlstore.watch.status import status_of as status_of
    from jsonlstore.watch.tail import Progress as Progress
    from jsonlstore.watch.tail import Tailer as Tailer

_HOMES = {
    "instance": "catch_up_unwatched single_instance",
    "loop": "Timing Watcher",
    "status": "Status status_of",
    "tail": "Progress Tailer",
}


def __getattr__(name: str) -> Any:
    # a hook call loads this package and must not pay for what it does not use
    for module, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
