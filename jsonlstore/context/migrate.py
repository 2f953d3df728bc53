"""From one backend to the other, record by record and byte for byte; run again, it goes on where it stopped.

What the target has must be how the source begins: then the rest is appended. Where the two tell different stories
nothing is changed. The source stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jsonlstore.context.records import Line, last_id, read_line
from jsonlstore.context.store import open_backend
from jsonlstore.core.errors import SourceUnreadable, TranscriptConflict
from jsonlstore.core.session_settings import transcript_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from jsonlstore.context.backend import Backend, Build, Stored, Tail
    from jsonlstore.core.session_settings import SessionSettings

_BATCH_BYTES = 1 << 20
_BATCH_LINES = 1000


@dataclass(slots=True)
class Migration:
    """What was carried over; `present` was there already, `hidden` had to lose a secret, `bad` is no record."""

    sessions: int = 0
    records: int = 0
    bytes: int = 0
    present: int = 0
    hidden: int = 0
    bad: int = 0
    conflicts: list[str] = field(default_factory=list)


def open_pair(
    state_dir: Path, settings: SessionSettings, kind: str, *, dry_run: bool = False
) -> tuple[Backend, Backend | None]:
    """The store to carry from and the one of `kind` to carry to; on a dry run none that is not there yet is made."""
    other = "jsonl" if kind == "sqlite" else "sqlite"
    if not transcript_place(state_dir, settings, other).exists():
        raise SourceUnreadable(f"there are no transcripts of ours in {other}", hint="nothing to carry over")
    if dry_run and not transcript_place(state_dir, settings, kind).exists():
        return open_backend(state_dir, settings, other), None
    return open_backend(state_dir, settings, other), open_backend(state_dir, settings, kind)


def migrate_transcripts(
    source: Backend,
    target: Backend | None,
    *,
    dry_run: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Migration:
    """Carry every session of `source` over to `target`; without one, or on a dry run, count what there is to do."""
    found = source.sessions()
    total = Migration()
    for number, stored in enumerate(found):
        progress(number, len(found))
        total.sessions += 1
        try:
            _carry(source, target, stored, total, write=not dry_run)
        except TranscriptConflict as problem:
            total.conflicts.append(problem.message)
    progress(len(found), len(found))
    return total


def _carry(source: Backend, target: Backend | None, stored: Stored, total: Migration, *, write: bool) -> None:
    theirs = source.lines(stored.key)
    last: str | None = None
    if target is not None:
        last = _skip_present(theirs, target.lines(stored.key), stored.key, total)
    for batch in _batches(theirs, total):
        if target is not None and write:
            target.append(stored.key, _after(last, batch, stored.key))
            last = last_id(batch, last)
    if target is not None and write and target.stored(stored.key) is not None:
        target.describe(stored.key, stored.details)


def _skip_present(source: Iterator[bytes], target: Iterator[bytes], key: str, total: Migration) -> str | None:
    """Read as much of `source` as `target` has, which must be the same; the id of the record it ends with."""
    last: str | None = None
    for kept in target:
        line = next((one for data in source if (one := _checked_line(data, total))), None)
        if line is None or line.data != kept:
            raise _conflict(key)
        last = last_id([line], last)
        total.present += 1
        total.records -= 1
        total.bytes -= len(line.data) + 1
        total.hidden -= line.hidden
    return last


def _after(last: str | None, lines: Sequence[Line], key: str) -> Build:
    """Append `lines`, unless the target no longer ends where it did: an agent, or another migration, wrote to it."""

    def build(tail: Tail) -> Sequence[Line]:
        if tail.last_id != last:
            raise _conflict(key)
        return lines

    return build


def _conflict(key: str) -> TranscriptConflict:
    return TranscriptConflict(
        f"{key} has another history in the target", hint="move one of the two stores away and run it again"
    )


def _checked_line(data: bytes, total: Migration) -> Line | None:
    line = read_line(data)
    if line is None:
        total.bad += 1
        return None
    total.records += 1
    total.bytes += len(line.data) + 1
    total.hidden += line.hidden
    return line


def _batches(lines: Iterator[bytes], total: Migration) -> Iterator[list[Line]]:
    batch: list[Line] = []
    size = 0
    for data in lines:
        line = _checked_line(data, total)
        if line is None:
            continue
        batch.append(line)
        size += len(line.data)
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_LINES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
