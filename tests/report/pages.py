"""Pages for the tests: a store, what is read from it, and the file made of that."""

from __future__ import annotations

import base64
import json
import re
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import format_time
from jsonlstore.core.files import Disk
from jsonlstore.core.paths import StatePaths
from jsonlstore.report import Aliases, make_view, read_history, render_page
from jsonlstore.restore import Pipeline
from jsonlstore.store import SessionStore
from tests.conftest import FakeClock
from tests.report.histories import make_history

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.report import History

NOW = datetime(2026, 11, 18, 16, 0, tzinfo=UTC)


def made_up(root: Path, count: int) -> tuple[SessionStore, FakeClock]:
    """A store with made-up sessions."""
    clock = FakeClock()
    store = SessionStore(StatePaths.of(root), clock=clock, disk=Disk(sync=False))
    make_history(store, clock, NOW, count)
    return store, clock


def history_of(store: SessionStore, **chosen: Any) -> History:
    times = {entry.session_id: number % 4 for number, entry in enumerate(store.entries()) if number % 3 == 0}
    # most blocks were looked for and found, one in eight was not there, the oldest nobody looked for
    ids = [entry.session_id for entry in sorted(store.entries(), key=lambda one: one.start_time)][len(times) :]
    looked = {session_id: (format_time(NOW), number % 8 != 3) for number, session_id in enumerate(ids)}
    return read_history(store, Pipeline(None), NOW, compactions=times, arrivals=looked, **chosen)


def page_of(history: History, *, hidden: bool = False, **options: Any) -> bytes:
    view = make_view(history)
    if hidden:
        view = Aliases.of(history).view(view)
    return render_page(view, title="Sessions", made="2026-11-18 16:00", **options).data


def rows_in(page: bytes) -> list[dict[str, Any]]:
    found = re.search(rb'<script type="application/json" id="rows">(.*?)</script>', page, re.DOTALL)
    assert found
    rows: list[dict[str, Any]] = json.loads(found[1])
    return rows


def details_in(page: bytes) -> list[dict[str, Any]]:
    """What the script will find in the blocks."""
    blocks = re.findall(rb'class="block" data-first="(\d+)">([^<]*)</script>', page)
    out: list[dict[str, Any]] = []
    for first, data in blocks:
        assert int(first) == len(out)
        out += json.loads(zlib.decompress(base64.b64decode(data)))
    return out
