"""What the full-text index says about prior sessions and a first prompt: support for a restore, never its score."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger
from jsonlstore.recall.fulltext import SearchIndex
from jsonlstore.recall.query import read_query
from jsonlstore.recall.ranking import rank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jsonlstore.store import SessionStore

log = logger(__name__)

_PROMPT_WORDS = 60  # a pasted log says little about the past, and every word costs a look-up


class IndexRelevance:
    """Asks the index of one store how well sessions fit a prompt; without an index nobody fits."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store

    def __call__(self, prompt: str, session_ids: Sequence[str]) -> Mapping[str, float]:
        """Session id -> how well its words fit, 0 to 1, for those that fit at all."""
        try:
            index = SearchIndex.open_existing(self._store.paths.search)
        except JsonlStoreError as problem:
            log.debug("no support from the index: %s", problem)
            return {}
        if index is None:
            return {}
        try:
            wanted = set(session_ids)
            among = [one.no for one in index.documents("kind = 'session'") if one.id in wanted]
            query = read_query(prompt.split()[:_PROMPT_WORDS], self._store.clock())
            found = rank(index, query, limit=len(wanted), among=among)
        except sqlite3.Error as problem:
            log.debug("no support from the index: %s", problem)
            return {}
        finally:
            index.close()
        return {one.document.id: one.share for one in found}
