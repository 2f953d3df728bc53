"""The summary of a session that is about to be compacted, made from its transcript without a model.

A checkpoint that covers at least half of what is in the window is taken and extended by what came after it; otherwise
one is made anew. Whatever is doubtful makes no summary: the runtime then writes its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from jsonlstore.context.checkpoint import Checkpoint, extended, make_checkpoint
from jsonlstore.context.summary import summary_text
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.session_settings import SessionSettings
from jsonlstore.signals import Distiller
from jsonlstore.transcripts import Cursor, by_stretch

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from jsonlstore.store import SessionStore
    from jsonlstore.transcripts import Entry, RecordedSession

COVERED = 0.5  # of the tokens in the window: so much a checkpoint must have seen (decision 37)
_SPEAKERS = frozenset({"user", "assistant"})
_CUTS = frozenset({"compaction", "reset"})


class CompactionSummary(NamedTuple):
    """A summary, and where it comes from; `checkpoint` is what it says, for whoever keeps it."""

    text: str
    from_checkpoint: bool
    checkpoint: Checkpoint
    tokens: int | None


class RecordedCheckpoint(NamedTuple):
    """A checkpoint as our log has it: how far the transcript was read, and the whole event."""

    checkpoint: Checkpoint
    cursor: Cursor | None
    data: Mapping[str, Any]


def summarize_session(
    store: SessionStore,
    session: RecordedSession,
    stretch_id: str,
    *,
    seen: Collection[int] = (),
    previous: str | None = None,
    tokens: int | None = None,
    settings: SessionSettings | None = None,
) -> CompactionSummary | None:
    """The summary of the stretch as it stands; None on any doubt.

    `seen` are the times (in milliseconds) of messages that are to be summarised: a transcript without one of them is
    not the conversation that is compacted. `tokens` is what the runtime says is in the window.
    """
    wanted = set(seen)
    chosen = settings or SessionSettings()
    last = newest_checkpoint(store, stretch_id) if chosen.compaction.prefer_checkpoint else None
    tail = entries_after(session, last.cursor) if last and last.cursor else None
    made: Checkpoint | None = None
    now = tokens
    if last is not None and tail is not None and not any(one.type in _CUTS for one in tail):
        wanted -= set(_times(tail))
        later = distilled([*session_header(session), *tail])
        now = tokens or later.tokens or last.checkpoint.tokens
        if covers_half(last.checkpoint, now):
            made = extended(last.checkpoint, later) if tail else last.checkpoint
    from_checkpoint = made is not None
    if made is not None and wanted and not _holds(session, stretch_id, wanted):
        return None
    if made is None:
        made = _anew(session, stretch_id, wanted)
        now = tokens or (made.tokens if made else None)
    if made is None or not says_anything(made):
        return None
    return CompactionSummary(summary_text(made, previous), from_checkpoint, made, now)


def _holds(session: RecordedSession, stretch_id: str, times: set[int]) -> bool:
    """Whether the stretch has messages of all these times."""
    source, newest = session.copies[-1]
    alone = stretch_id == session.session_id and not source.ids_span_resets and len(session.copies) == 1
    missing = {at for at in times if not (alone and source.mentions(newest, b'"timestamp":%d' % at))}
    if not missing:
        return True
    for at in _times(_stretch(session, stretch_id)):
        missing.discard(at)
        if not missing:
            return True
    return False


def _anew(session: RecordedSession, stretch_id: str, times: set[int]) -> Checkpoint | None:
    """A checkpoint of the whole stretch; None if a message of these times is not in it."""
    missing = set(times)

    def followed() -> Iterator[Entry]:
        for entry in _stretch(session, stretch_id):
            missing.difference_update(_times((entry,)))
            yield entry

    made = distilled(followed())
    return None if missing else made


def _stretch(session: RecordedSession, stretch_id: str) -> Iterator[Entry]:
    return (entry for part, entry in by_stretch(session.session_id, session.read()) if part.id == stretch_id)


def covers_half(made: Checkpoint, tokens: int | None) -> bool:
    """Whether a checkpoint has seen at least half of what is in the window now."""
    return bool(tokens) and made.tokens >= COVERED * (tokens or 0)


def says_anything(made: Checkpoint) -> bool:
    """Whether there is more in a checkpoint than counts: an empty one is no summary of anything."""
    return any(made.texts(name) for name in ("asks", "done", "files", "constraints", "tasks", "memoryFiles"))


def distilled(entries: Iterable[Entry]) -> Checkpoint:
    """A checkpoint of these entries alone."""
    distiller = Distiller()
    for entry in entries:
        distiller.feed(entry)
    signals = distiller.result()
    return make_checkpoint(signals, distiller.facts(), signals.tokens.used if signals.tokens else 0)


def newest_checkpoint(store: SessionStore, session_id: str) -> RecordedCheckpoint | None:
    """The newest checkpoint in our log."""
    try:
        events = store.events(session_id, ("checkpoint.created",))
    except JsonlStoreError:
        return None
    if not events:
        return None
    data = dict(events[-1].data)
    made = Checkpoint.from_dict(data, None, events[-1].at)
    return RecordedCheckpoint(made, Cursor.from_json(data.get("source")), data)


def entries_after(session: RecordedSession, cursor: Cursor) -> list[Entry] | None:
    """What the transcript holds after a cursor; None if the cursor is of another file, or of one that was rewritten."""
    source, newest = session.copies[-1]
    if len(session.copies) != 1 or cursor.kind != source.kind:
        return None
    reading = source.read(newest, cursor)
    entries = list(reading)
    return None if reading.restarted or reading.problems else entries


def session_header(session: RecordedSession) -> list[Entry]:
    """The first record, which says where the session works."""
    source, newest = session.copies[-1]
    first = next(iter(source.read(newest)), None)
    return [first] if first is not None and first.type == "session" else []


def _times(entries: Iterable[Entry]) -> Iterator[int]:
    """The times of what was said, as the runtime knows them."""
    for entry in entries:
        if entry.role in _SPEAKERS and isinstance(at := entry.message.get("timestamp"), int):
            yield at
