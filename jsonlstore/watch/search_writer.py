"""Brings the full-text index up to date with the transcripts: after the log, never in its way.

The index has cursors of its own, so it may lag behind, be removed or be made anew without touching a log. A transcript
that only grew is read on from its cursor; any other change reads it from the start. Everything that reaches the index
has passed the redactor as a whole turn, after all turns before it: a value that was named once is hidden from there on.
What a redactor has learnt is nowhere on disk, so a transcript that taught one something is read again from its start by
the next process.
"""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING, Any

from jsonlstore.core.errors import JsonlStoreError, SearchUnavailable
from jsonlstore.core.logs import logger
from jsonlstore.recall import (
    Document,
    MemoryFiles,
    OutdatedIndex,
    SearchIndex,
    Turn,
    entries_stamp,
    has_fts5,
    is_index_damaged,
    remove_index,
)
from jsonlstore.redact import Redactor, is_secret_id
from jsonlstore.transcripts import Cursor, Stretch
from jsonlstore.watch.search_pass import BATCH_BYTES, SearchPass
from jsonlstore.watch.search_turns import state_turns, talk_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from jsonlstore.core.config import Config
    from jsonlstore.store import SessionStore
    from jsonlstore.transcripts import Entry, RecordedSession

log = logger(__name__)

_DELETED = frozenset({"delete", "deleted"})
_MOST_REDACTORS = 64  # of sessions that go on
_WATCHER_PATIENCE = 0.1  # a capture must not wait for whoever else writes the index


class SearchWriter:
    """Writes one store's index. Failures are noted in `problem`, never raised: a cache must not stop a capture."""

    def __init__(self, store: SessionStore, config: Config, *, patience: float = 5.0, path: Path | None = None) -> None:
        self._store = store
        self._path = path or store.paths.search
        self._config = config
        self._patience = patience
        self._index: SearchIndex | None = None
        self._marks: dict[str, str | None] = {}
        self._due: dict[str, RecordedSession] = {}
        self._begun: dict[str, SearchPass] = {}
        self._redactors: dict[str, tuple[Cursor, Redactor]] = {}  # what each transcript has taught up to a place
        self.enabled = config.enabled and config.search_enabled and has_fts5()
        self.problem: str | None = None

    @classmethod
    def for_watcher(cls, store: SessionStore, config: Config) -> SearchWriter:
        """A writer that gives way at once to whoever else writes."""
        return cls(store, config, patience=_WATCHER_PATIENCE)

    def remove_if_disabled(self) -> bool:
        """What was switched off is not kept: remove the index; False if there was none."""
        return not self._config.search_enabled and remove_index(self._path)

    # -- what is to do

    def note_if_behind(self, session: RecordedSession) -> None:
        """Remember to index a session that has more to say than the index knows."""
        if self.enabled and not self._is_read(session):
            self._due[search_key(session)] = session

    @property
    def unfinished(self) -> bool:
        """Whether a transcript was begun and others came first."""
        return bool(self._begun)

    def run(self, seconds: float = float("inf"), others_wait: Callable[[], bool] = lambda: False) -> int:
        """Work through what was noted, for about `seconds` or until others wait; returns how many were written."""
        deadline = time.monotonic() + seconds

        def pause() -> bool:
            return time.monotonic() >= deadline or others_wait()

        written = 0
        while self._due and not (written and others_wait()) and time.monotonic() < deadline:
            key = next(iter(self._due))
            session = self._due.pop(key)
            if not self._safely(lambda one=session: self._catch_up(one, pause)):  # type: ignore[misc]
                if key in self._begun:
                    break
                if self.problem is not None:
                    self._due[key] = session
                    break
                continue
            written += 1
        return written

    def catch_up_all(self, sessions: Iterable[RecordedSession]) -> int:
        """Bring the index up to date with these sessions, many in one transaction."""
        if not self.enabled:
            return 0
        written, batch, size = 0, [], 0
        for session in sessions:
            if self._is_read(session):
                continue
            batch.append(session)
            size += session.size
            if size >= BATCH_BYTES:
                written += self._batch(batch)
                batch, size = [], 0
        return written + (self._batch(batch) if batch else 0)

    def update_memory(self) -> bool:
        """Read the user's memory files again where they changed."""
        if not self.enabled:
            return False
        return self._safely(lambda: MemoryFiles(self._store.paths.state_dir).update(self._open()))

    def reconcile(self) -> bool:
        """Take out what was forgotten while nobody told the index; take in sessions that have no transcript."""
        return self.enabled and not self._due and self._safely(self._reconcile)

    def _reconcile(self) -> bool:
        stamp = entries_stamp(self._store)
        index = self._open()
        if stamp is None or index.note("entries") == stamp:
            return False
        heard = {one.id: one.no for one in index.documents("kind = 'session'")}
        forgotten, unheard = [], []
        for session_id, entry in self._store.index.lazy_entries().items():
            if self._is_unwanted(entry):
                forgotten += [heard[session_id]] if session_id in heard else []
            elif session_id not in heard:
                unheard.append(session_id)
        with index.transaction():
            index.remove(forgotten)
            for session_id in unheard:
                self._write_state(index, session_id)
            index.set_note("entries", stamp)
        return True

    def _is_unwanted(self, entry: Mapping[str, Any]) -> bool:
        deleted = entry.get("end_reason") in _DELETED and not self._config.search_keep_deleted
        return bool(entry.get("forgotten")) or deleted

    def _write_state(self, index: SearchIndex, session_id: str) -> None:
        try:
            state = self._store.get(session_id)
        except JsonlStoreError as problem:
            log.debug("%s is not indexed: %s", session_id, problem)
            return
        document = Document("session", session_id, "", state.agent_id, state.session_key, state.channel)
        index.set_state(document, state_turns(state))
        index.set_times(document, state.start_time, state.end_time or state.updated_at)

    def tidy(self, *, wholly: bool = False) -> bool:
        """Get rid of what was taken out, a little at a time; True while there is more."""
        index = self._index
        if index is None or self._due:
            return False
        if not wholly:
            return self._safely(index.scrub_some)
        if index.note("unscrubbed"):
            self._safely(index.scrub)
        return False

    def close(self) -> None:
        """Leave nothing in the write-ahead log."""
        self._begun.clear()
        if self._index is not None:
            self._index.checkpoint()
            self._index.close()
            self._index = None

    # -- one transcript

    def _open(self) -> SearchIndex:
        if self._index is None:
            self._store.prepare()
            self._index = SearchIndex.open(self._path, patience=self._patience)
            self._marks = self._index.marks()
        return self._index

    def _is_read(self, session: RecordedSession) -> bool:
        self._safely(lambda: self._open() is not None)
        return self._marks.get(search_key(session)) == session.extent

    def _batch(self, sessions: list[RecordedSession]) -> int:
        def all_at_once() -> bool:
            with self._open().transaction():
                for session in sessions:
                    self._catch_up(session)
            return True

        if self._safely(all_at_once):
            return len(sessions)
        # one of them failed and took the others with it: each by itself, then
        return sum(self._safely(lambda one=one: self._catch_up(one)) for one in sessions)  # type: ignore[misc]

    def _safely(self, work: Callable[[], object]) -> bool:
        """Whether it worked and did something. A damaged index is removed: the next call makes it anew."""
        try:
            done = bool(work())
        except (SearchUnavailable, sqlite3.Error) as problem:
            self.problem = str(problem)
            log.warning("not searchable yet: %s", problem)
            if isinstance(problem, OutdatedIndex) or is_index_damaged(problem) or is_index_damaged(problem.__cause__):
                self._index = None
                remove_index(self._path)
            elif self._index is not None:
                self._marks = {}
                self._index.close()
                self._index = None
            return False
        except (JsonlStoreError, OSError) as problem:
            log.debug("not indexed: %s", problem)
            return False
        self.problem = None
        return done

    def _catch_up(self, session: RecordedSession, pause: Callable[[], bool] = lambda: False) -> bool:
        index = self._open()
        key = search_key(session)
        begun = self._begun.pop(key, None)
        if begun is None:
            if self._marks.get(key) == session.extent:
                return False
            if session.end_reason in _DELETED and not self._config.search_keep_deleted:
                return self._take_out(index, session, key)
            begun = SearchPass(session, self._turns, self._known(index, session, key))
        if not begun.advance(pause):
            self._begun[key], self._due[key] = begun, session
            return False
        with index.transaction():
            if begun.from_start:
                self._drop(index, key)
            for stretch, turns in begun.parts():
                self._write(index, begun.session, key, stretch, turns)
            self._settle(index, begun, key)
        self._marks[key] = begun.extent
        self.note_if_behind(session)  # it may have grown meanwhile
        return True

    def _take_out(self, index: SearchIndex, session: RecordedSession, key: str) -> bool:
        extent = session.extent
        with index.transaction():
            self._drop(index, key)
            index.set_source(key, extent, None, {})
        self._marks[key] = extent
        return True

    @staticmethod
    def _drop(index: SearchIndex, key: str) -> None:
        index.remove([one.no for one in index.documents("transcript = ?", (key,))])
        index.drop_source(key)

    def _known(self, index: SearchIndex, session: RecordedSession, key: str) -> tuple[Cursor, Stretch, Redactor] | None:
        """Where to read on, and what was learnt before; None if only reading from the start will do."""
        place, learnt = self._redactors.pop(key, (None, Redactor()))
        known = index.source(key)
        cursor = Cursor.from_json(known[1]) if known else None
        if known is None or cursor is None or len(session.copies) != 1:
            return None
        source, newest = session.copies[-1]
        imprint = source.imprint(newest, cursor)
        if (imprint.hex() if imprint else None) != known[2].get("imprint") or not known[2].get("stretch"):
            return None
        if known[2].get("taught") is not False and place != cursor:
            return None
        return cursor, Stretch(*known[2]["stretch"]), learnt if place == cursor else Redactor()

    def _settle(self, index: SearchIndex, done: SearchPass, key: str) -> None:
        """Note how far a transcript was read, and keep what it has taught."""
        source, newest = done.session.copies[-1]
        cursor, stretch = done.reading.cursor, done.stretch
        if cursor is not None and is_secret_id(cursor.last_entry_id or ""):
            cursor = None  # not to be kept: it is read from its start next time
        imprint = source.imprint(newest, cursor) if cursor else None
        tail = {
            "imprint": imprint.hex() if imprint else None,
            "stretch": [stretch.id, stretch.number, stretch.runtime_id, stretch.reset_entry_id, stretch.begun_by],
            "taught": not done.redactor.is_new,
        }
        if cursor is not None and not done.redactor.is_new:
            self._redactors[key] = cursor, done.redactor
            if len(self._redactors) > _MOST_REDACTORS:
                del self._redactors[next(iter(self._redactors))]
        index.set_source(key, done.extent, cursor.to_json() if cursor else None, tail)

    def _write(
        self, index: SearchIndex, session: RecordedSession, key: str, stretch: Stretch, turns: list[Turn]
    ) -> None:
        """The words of one stretch, and what its log knows besides; nothing of a session the store does not have."""
        try:
            state = self._store.get(stretch.id)
        except JsonlStoreError as problem:
            log.debug("%s is not indexed: %s", stretch.id, problem)
            return
        if state.agent_id and state.agent_id != session.agent_id:
            log.debug("%s is not indexed as %s's: it is %s's", stretch.id, session.agent_id, state.agent_id)
            return  # the same id under another agent is somebody else's talk
        document = Document(
            "session",
            stretch.id,
            key,
            state.agent_id or session.agent_id,
            state.session_key or session.session_key,
            state.channel if state.channel != "unknown" else session.channel,
        )
        index.append(document, turns)
        index.set_state(document, state_turns(state))

    def _turns(self, entry: Entry, redactor: Redactor) -> Iterator[Turn]:
        return talk_turns(entry, redactor, tools=self._config.search_tools)


def search_key(session: RecordedSession) -> str:
    """The name the index knows a transcript by."""
    return f"{session.agent_id}/{session.session_id}"
