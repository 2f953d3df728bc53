"""Reading all history at once: both eras and archives, oldest first, idempotent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from jsonlstore.core.errors import JsonlStoreError, SourceUnreadable
from jsonlstore.core.logs import logger
from jsonlstore.store import BulkStore, ProgressCallback, RawIndexEntry, repair_unfinished, silent
from jsonlstore.transcripts import Catalogue, RecordedSession
from jsonlstore.watch.follower import FinishedReading
from jsonlstore.watch.read_ahead import ReadAhead, collecting_seldom
from jsonlstore.watch.search_writer import SearchWriter
from jsonlstore.watch.tail import Progress, Tailer

log = logger("jsonlstore.watch")

_SAVE_INDEX_EVERY = 100
_AND_AT_LEAST_EVERY = 1000  # readers that meanwhile find a session missing in the index have to read its log


@dataclass(slots=True)
class Summary:
    """What a backfill did."""

    transcripts: int = 0
    written: int = 0
    unchanged: int = 0
    skipped: int = 0
    archived: int = 0
    bytes: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def backfill_sessions(
    tailer: Tailer,
    store: BulkStore,
    catalogue: Catalogue,
    sessions: Iterable[RecordedSession],
    *,
    archive_after: timedelta | None,
    progress: ProgressCallback = silent,
    search: SearchWriter | None = None,
    helpers: int | None = None,
) -> Summary:
    """Catch up with every session, oldest first; then archive those that ended long ago.

    An unreadable transcript does not stop the others; the summary names it. An interrupted backfill continues where it
    stopped, because the logs hold the cursors. `helpers` is the number of further processes that read ahead; by default
    as many as are worth it here.
    """
    everything = list(sessions)
    summary = Summary(transcripts=len(everything))
    due = [one for one in everything if tailer.is_behind(one) or not _settled(tailer, one)]
    summary.unchanged = len(everything) - len(due)
    total = sum(one.size for one in due)
    progress(0, total)
    oldest_first = sorted(due, key=lambda one: (_start(catalogue, one, summary), one.agent_id, one.session_id))
    catalogue.forget_listing()
    ahead = ReadAhead([one for one in oldest_first if tailer.is_behind(one)], partial(_read, tailer), helpers)
    try:
        for portion in _portions(oldest_first):
            with store.index.batch() as changed, collecting_seldom():
                for session in portion:
                    _take(tailer, session, summary, ahead.take(session))
                    summary.bytes += session.size
                    progress(summary.bytes, total)
            if search is not None:
                search.catch_up_all(portion)
            summary.archived += _archive(store, archive_after, changed)
        repair_unfinished(store)
        summary.archived += _archive(store, archive_after, store.index.lazy_entries())
        if search is not None:
            _complete(search, everything, summary)
    finally:
        ahead.close()
        store.sync()
    return summary


def _read(tailer: Tailer, session: RecordedSession) -> FinishedReading:
    return tailer.follower(session).finish(session)


def _complete(search: SearchWriter, sessions: list[RecordedSession], summary: Summary) -> None:
    """Index the sessions that were captured before there was a search index: their logs are current, so nothing else
    would.
    """
    search.remove_if_disabled()
    search.catch_up_all(sessions)
    search.reconcile()
    search.update_memory()
    search.tidy(wholly=True)
    if search.problem is not None:
        summary.warnings.append(search.problem)
    search.close()


def _archive(store: BulkStore, older_than: timedelta | None, among: Mapping[str, RawIndexEntry | None]) -> int:
    return 0 if older_than is None else len(store.archive_older(older_than, among))


def _settled(tailer: Tailer, session: RecordedSession) -> bool:
    position = tailer.cursors.get(session.key)
    return position is None or position.is_over(session.end_reason)


def _start(catalogue: Catalogue, session: RecordedSession, summary: Summary) -> str:
    try:
        return catalogue.start_of(session) or session.updated_at or ""
    except (JsonlStoreError, OSError) as problem:
        summary.failed[session.session_id] = str(problem)
        return session.updated_at or ""


def _take(tailer: Tailer, session: RecordedSession, summary: Summary, read: FinishedReading | None) -> None:
    try:
        while (done := tailer.catch_up(session, done=read)) is Progress.MORE:
            read = None  # our log changed meanwhile: it is read once more
    except (SourceUnreadable, OSError) as problem:
        log.warning("%s: %s", session.session_id, problem)
        summary.failed[session.session_id] = str(problem)
        return
    finally:
        tailer.cursors.release(session.key)
    summary.written += done is Progress.WRITTEN
    summary.unchanged += done is Progress.NOTHING
    summary.skipped += done is Progress.REFUSED


def _portions(sessions: list[RecordedSession]) -> Iterator[list[RecordedSession]]:
    """Portions of growing size: the index is written after each portion, and that costs more as the index grows."""
    at = 0
    while at < len(sessions):
        portion = sessions[at : at + min(max(_SAVE_INDEX_EVERY, at // 10), _AND_AT_LEAST_EVERY)]
        yield portion
        at += len(portion)
