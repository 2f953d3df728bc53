"""All history at once: both eras and archives, oldest first, as often as you like."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jsonlstore.core.errors import JsonlStoreError, SessionForgotten, SessionNotFound, SessionOpen, SourceUnreadable
from jsonlstore.store.repair import repair_unfinished
from jsonlstore.transcripts.openclaw.endings import ending_of
from jsonlstore.watch.follow import Outcome, Tailer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import timedelta

    from jsonlstore.store.bulk import BulkStore
    from jsonlstore.store.projection import Entry
    from jsonlstore.transcripts.catalogue import Session
    from jsonlstore.watch.sources import Shelf

log = logging.getLogger("jsonlstore.watch")

_SAVE_INDEX_EVERY = 100
_AND_AT_LEAST_EVERY = 1000  # whoever reads meanwhile has to look into the logs of those the index does not tell of
_COLLECT_AFTER = 20_000

Progress = Callable[[int, int], None]


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


def backfill(
    tailer: Tailer,
    store: BulkStore,
    shelf: Shelf,
    sessions: Iterable[Session],
    *,
    archive_after: timedelta | None,
    progress: Progress = lambda _done, _total: None,
) -> Summary:
    """Catch up with every session, oldest first; then file away those that ended long ago.

    One transcript that cannot be read does not stop the others; it is named in the summary. Stopped half-way, the next
    run goes on where this one was: what is done is in the logs.
    """
    everything = list(sessions)
    summary = Summary(transcripts=len(everything))
    due = [one for one in everything if tailer.is_behind(one) or not _settled(tailer, one)]
    summary.unchanged = len(everything) - len(due)
    sizes = {id(one): size_of(one) for one in due}
    total = sum(sizes.values())
    progress(0, total)
    oldest_first = sorted(due, key=lambda one: (_start(shelf, one, summary), one.agent_id, one.session_id))
    try:
        for portion in _portions(oldest_first):
            with store.index.batch() as told, _collecting_seldom():
                for session in portion:
                    _take(tailer, session, summary)
                    summary.bytes += sizes[id(session)]
                    progress(summary.bytes, total)
            summary.archived += _file_away(store, archive_after, told)
        repair_unfinished(store)
        summary.archived += _file_away(store, archive_after, store.index.lazy_entries())
    finally:
        store.sync()
    return summary


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    """What reading makes goes with the next entry, no cycles in it: looking for them all the time takes a tenth."""
    usual = gc.get_threshold()
    gc.set_threshold(_COLLECT_AFTER, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _file_away(store: BulkStore, older_than: timedelta | None, among: Mapping[str, Entry | None]) -> int:
    if older_than is None:
        return 0
    archived = 0
    with store.index.batch():
        for session_id in store.archivable(older_than, among):
            try:
                store.archive(session_id)
            except (SessionOpen, SessionForgotten, SessionNotFound) as problem:
                log.debug("another process was faster: %s", problem)
            else:
                archived += 1
    return archived


def size_of(session: Session) -> int:
    """The bytes to read; rows of a database count as a kilobyte each, which is what they come to."""
    return sum(copy.size or 1024 * ((copy.newest or 0) + 1) for _, copy in session.copies)


def _settled(tailer: Tailer, session: Session) -> bool:
    known = tailer.ledger.get((session.agent_id, session.session_id))
    return known is None or known.is_over(ending_of(session))


def _start(shelf: Shelf, session: Session, summary: Summary) -> str:
    try:
        return shelf.start_of(session) or session.updated_at or ""
    except (JsonlStoreError, OSError) as problem:
        summary.failed[session.session_id] = str(problem)
        return session.updated_at or ""


def _take(tailer: Tailer, session: Session, summary: Summary) -> None:
    try:
        while (outcome := tailer.catch_up(session)) is Outcome.MORE:
            continue
    except (SourceUnreadable, OSError) as problem:
        log.warning("%s: %s", session.session_id, problem)
        summary.failed[session.session_id] = str(problem)
        return
    finally:
        tailer.release((session.agent_id, session.session_id))
    summary.written += outcome is Outcome.WRITTEN
    summary.unchanged += outcome is Outcome.NOTHING
    summary.skipped += outcome is Outcome.REFUSED


def _portions(sessions: list[Session]) -> Iterator[list[Session]]:
    """More and more at a time: after each the index is written anew, and it grows."""
    at = 0
    while at < len(sessions):
        portion = sessions[at : at + min(max(_SAVE_INDEX_EVERY, at // 10), _AND_AT_LEAST_EVERY)]
        yield portion
        at += len(portion)
