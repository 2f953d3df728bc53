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

    from jsonlstore.store import SessionFold

log = logger(__name__)


class ForgetWords:
    """A store's listener that takes forgotten sessions out of the index."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, session_id: str, folded: SessionFold) -> None:
        if not folded.forgotten or not self._path.exists():
            return
        try:
            index = SearchIndex.open(self._path) if has_fts5() else None
        except SearchUnavailable as problem:
            # what cannot be opened cannot be searched for what to take out: a cache may go as a whole
            log.warning("the search index is removed, because %s", problem)
            remove_index(self._path)
            return
        if index is None:
            remove_index(self._path)
            return
        damaged = False
        try:
            forget_words(index, [session_id])
        except SearchUnavailable as problem:
            damaged = is_index_damaged(problem.__cause__)
            if not damaged:
                raise
        finally:
            index.close()
        if damaged:
            remove_index(self._path)


def forget_words(index: SearchIndex, session_ids: Iterable[str]) -> bool:
    """Take sessions out of an index, and their words out of its file; False if there was nothing to do."""
    found = [one.no for each in session_ids for one in index.documents("kind = 'session' AND id = ?", (each,))]
    if found:
        index.remove(found)
    if not found and not index.note("unscrubbed"):
        return False
    index.scrub()
    return True
