"""The check of the full-text index: whether it is undamaged and as current as the logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.recall import LAYOUT, SearchIndex, has_fts5
from jsonlstore.store import Check
from jsonlstore.watch.search_rebuild import rebuild
from jsonlstore.watch.tail import Tailer

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.core.config import Config
    from jsonlstore.store import SessionStore
    from jsonlstore.transcripts import Catalogue

_FIX = "`doctor --fix` makes the index anew"
_SHOWN = 3


def check_search(store: SessionStore, config: Config, catalogue: Catalogue, *, fix: bool = False) -> Check:
    """Examine the index; with `fix`, rebuild a damaged or stale one."""
    found = _look(store, config, catalogue)
    if found.ok or not fix:
        return found
    rebuild(store, config, catalogue.sessions)
    after = _look(store, config, catalogue)
    return Check("search", after.ok, f"made anew: {found.detail}" if after.ok else after.detail, after.fix)


def _look(store: SessionStore, config: Config, catalogue: Catalogue) -> Check:
    path = store.paths.search
    if not config.search_enabled:
        return Check("search", not path.exists(), "switched off" + (", but still there" if path.exists() else ""), _FIX)
    if not has_fts5():
        return Check("search", True, "the SQLite of this Python has no FTS5: recall looks through topics and tasks")
    if not path.exists():
        return Check("search", True, "no index yet; the watcher or `jsonlstore backfill` makes it")
    index = _opened(path)
    if index is None:
        return Check("search", False, f"{path.name} cannot be read, or is not of layout {LAYOUT}", _FIX)
    return _examined(store, index, catalogue)


def _opened(path: Path) -> SearchIndex | None:
    try:
        return SearchIndex.open_existing(path)
    except JsonlStoreError:
        return None


def _examined(store: SessionStore, index: SearchIndex, catalogue: Catalogue) -> Check:
    try:
        problems = index.problems()
        marks = index.marks() if not problems else {}
    finally:
        index.close()
    if not problems:
        # sessions in the log and not in the index; transcripts that neither has read are reported by `status`
        tailer = Tailer(store)
        behind = [
            one.session_id
            for one in catalogue.sessions
            if marks.get(f"{one.agent_id}/{one.session_id}") != one.extent
            and tailer.accepts(one)
            and not tailer.is_behind(one)
        ]
        problems = [f"{len(behind)} sessions behind their logs: {', '.join(behind[:_SHOWN])}"] if behind else []
    if problems:
        return Check("search", False, "; ".join(problems[:_SHOWN]), _FIX)
    return Check("search", True, f"whole, {len(marks)} {'transcript' if len(marks) == 1 else 'transcripts'}")


def search_status(store: SessionStore, config: Config) -> dict[str, Any]:
    """The index's part of `status`."""
    path = store.paths.search
    known: dict[str, Any] = {
        "enabled": config.search_enabled, "fts5": has_fts5(), "sessions": 0, "memory_files": 0, "bytes": 0,
    }  # fmt: skip
    if not path.exists() or not known["fts5"]:
        return known
    index = _opened(path)
    if index is None:
        return known | {"problem": f"{path.name} cannot be read: `jsonlstore doctor --fix`"}
    kinds = [one.kind for one in index.documents()]
    index.close()
    return known | {
        "sessions": kinds.count("session"), "memory_files": kinds.count("memory"), "bytes": path.stat().st_size,
    }  # fmt: skip
