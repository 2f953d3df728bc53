"""The full-text index made anew from the transcripts, beside the old one."""

from __future__ import annotations

import os
import sqlite3
import zlib
from typing import TYPE_CHECKING

from jsonlstore.core.errors import JsonlStoreError, SearchUnavailable
from jsonlstore.core.logs import logger
from jsonlstore.recall import Document, SearchIndex, remove_index
from jsonlstore.redact import redact_text
from jsonlstore.watch.search_turns import state_turns
from jsonlstore.watch.search_writer import SearchWriter, search_key

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from jsonlstore.core.config import Config
    from jsonlstore.store import SessionStore
    from jsonlstore.transcripts import RecordedSession

log = logger(__name__)


def rebuild(store: SessionStore, config: Config, sessions: Iterable[RecordedSession]) -> int:
    """Make the index anew beside the old one and put it in its place; returns how many transcripts are in it.

    What only the old index still has, because its transcript is gone, is carried over, redacted by today's rules.
    """
    path = store.paths.search
    fresh = path.with_name("search.new.sqlite")
    remove_index(fresh)
    everything = list(sessions)
    SearchIndex.open(fresh).close()  # what cannot be made is told at once
    writer = SearchWriter(store, config, path=fresh)
    try:
        written = writer.catch_up_all(everything)
        if writer.problem is not None:
            raise SearchUnavailable(writer.problem, path=path)
        _carry_over(store, path, fresh, {search_key(one) for one in everything})
        writer.update_memory()
    finally:
        writer.close()
    remove_index(path)
    os.replace(fresh, path)
    return written


def _carry_over(store: SessionStore, path: Path, fresh_path: Path, present: set[str]) -> None:
    if not path.exists():
        return
    try:
        old = SearchIndex.open(path)
    except SearchUnavailable as problem:
        log.warning("nothing is carried over from the old index: %s", problem)
        return
    fresh = SearchIndex.open(fresh_path)
    try:
        for one in old.documents("kind = 'session'"):
            transcript = old.transcript_of(one.no)
            if transcript in present or not _is_kept(store, one.id):
                continue
            turns = [turn._replace(text=redact_text(turn.text)) for turn in old.all_turns(one.no)]
            document = Document("session", one.id, transcript, one.agent_id, one.session_key, one.channel)
            fresh.append(document, turns)
            fresh.set_state(document, state_turns(store.get(one.id)))
    except (sqlite3.Error, zlib.error) as problem:
        log.warning("not all of the old index is carried over: %s", problem)
    finally:
        old.close()
        fresh.close()


def _is_kept(store: SessionStore, session_id: str) -> bool:
    try:
        store.get(session_id)
    except JsonlStoreError:
        return False
    return True
