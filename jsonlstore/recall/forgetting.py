"""Forgetting reaches the full-text index: unfindable at once, and in no page of its file a moment later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.errors import SearchUnavailable
from jsonlstore.core.logs import logger
from jsonlstore.recall.fulltext import SearchIndex
from jsonlstore.recall.index_file import has_fts5, is_index_damaged, remove_index

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


log = logger(__name__)


def forget_words(path: Path, session_id: str) -> None:
    """Take a session out of the index at `path`; raises `SearchUnavailable` where somebody else is in the way."""
    try:
        index = SearchIndex.open(path) if has_fts5() else None
    except SearchUnavailable as problem:
        # what cannot be opened cannot be searched for what to take out: a cache may go as a whole
        log.warning("the search index is removed, because %s", problem)
        remove_index(path)
        return
    if index is None:
        remove_index(path)
        return
    damaged = False
    try:
        take_out(index, [session_id])
    except SearchUnavailable as problem:
        damaged = is_index_damaged(problem.__cause__)
        if not damaged:
            raise
    finally:
        index.close()
    if damaged:
        remove_index(path)


def take_out(index: SearchIndex, session_ids: Iterable[str]) -> bool:
    """Take sessions out of an index, and their words out of its file; False if there was nothing to do."""
    found = [one.no for each in session_ids for one in index.documents("kind = 'session' AND id = ?", (each,))]
    if found:
        index.remove(found)
    if not found and not index.note("unscrubbed"):
        return False
    index.scrub()
    return True
