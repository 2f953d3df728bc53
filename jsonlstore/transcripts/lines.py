"""Lines of a JSONL stream, in bounded memory, tolerant of damage by crashes and bad disks."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from jsonlstore.transcripts.json_values import parse_object
from jsonlstore.transcripts.records import LAZY_BYTES, Entry, parse_entry
from jsonlstore.transcripts.source import Reading

MAX_LINE = 32 * 1024 * 1024
_CHUNK = 1 << 20
_NEWLINE = 10
_RECORD_START = b'{"type":"'
_SALVAGE_TRIES = 32
_HEAD = 64  # beyond the `parentId` of the first record, whatever the length of its id
_SALVAGE_BYTES = 16 * 1024 * 1024


@cache
def zstd_module() -> Any:
    """The standard library's zstd from Python 3.14 on, its backport before."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


class _Unpacked(io.RawIOBase):
    """A zstd stream that ends where its damage begins, so that the part before the damage is still read."""

    def __init__(self, packed: Path | BinaryIO) -> None:
        self._file = zstd_module().ZstdFile(packed)
        self.damaged = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data: bytes = self._file.read1(len(buffer))
        except (EOFError, zstd_module().ZstdError):
            self.damaged = True
            return 0
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def open_stream(path: Path, chunk: int = _CHUNK) -> BinaryIO:
    """Open `path` for reading in pieces of `chunk` bytes, decompressed if it is a `.zst` archive."""
    if path.name.endswith(".zst"):
        return unpacked(path)
    raw = io.FileIO(path)
    try:  # most files are small, and allocating a megabyte takes longer than reading one of them
        return io.BufferedReader(raw, min(chunk, max(os.fstat(raw.fileno()).st_size, io.DEFAULT_BUFFER_SIZE)))
    except OSError:
        raw.close()
        raise


def unpacked(packed: Path | BinaryIO) -> BinaryIO:
    """The content of a zstd file, as far as it can be decompressed; `is_damaged` tells whether that is all."""
    return io.BufferedReader(_Unpacked(packed), _CHUNK)


def is_damaged(stream: BinaryIO) -> bool:
    """Whether the stream ended early because its compressed form is damaged."""
    raw = getattr(stream, "raw", None)
    return isinstance(raw, _Unpacked) and raw.damaged


def skip_bytes(stream: BinaryIO, count: int) -> None:
    """Skip `count` bytes of a stream that may be unable to seek."""
    if stream.seekable():
        stream.seek(count)
        return
    while count > 0 and (piece := stream.read(min(count, _CHUNK))):
        count -= len(piece)


def read_entries(
    stream: BinaryIO, reading: Reading, *, start: int = 0, final: bool, max_line: int = MAX_LINE
) -> Iterator[Entry]:
    """Yield each good record; afterwards `reading` holds the position after its line and its id.

    A last line without its newline is still being written, unless `final` says that the writer is done.
    """
    position, last = start, reading.last_entry_id
    unproven: tuple[Entry, bytes] | None = None
    readline = stream.readline
    try:
        while line := readline(max_line):
            if line[-1] != _NEWLINE and (skipped := _unfinished(stream, reading, position, line, final, max_line)) >= 0:
                if not skipped:
                    break
                position += skipped
                continue
            begin, position = position, position + len(line)
            entry = parse_entry(line, begin) or _rescued(line, begin, reading)
            if entry is None:
                continue
            if unproven:
                # a record torn by a crash has the next record appended to its line; the entry that follows then names
                # that one as its parent
                if entry.parent_id != unproven[0].id and (glued := _glued(*unproven, reading)):
                    yield glued
                unproven = None
            if len(line) >= LAZY_BYTES and entry.is_unread:
                unproven = entry, line
            last = entry.id or last
            yield entry
        if unproven and (glued := _glued(*unproven, reading)):
            last = glued.id
            yield glued
    finally:
        reading.position, reading.last_entry_id = position, last


def _unfinished(stream: BinaryIO, reading: Reading, position: int, line: bytes, final: bool, max_line: int) -> int:
    """The number of bytes to skip for a line without its newline: 0 to stop here, -1 to accept the line as it is."""
    if len(line) < max_line:
        return -1 if final else 0
    length, complete = _skip_line(stream, max_line)
    if not complete and not final:
        return 0
    reading.skip(position, len(line) + length, "too long")
    return len(line) + length


def _rescued(line: bytes, position: int, reading: Reading) -> Entry | None:
    """The record salvaged from a malformed line, if any; blank lines are not counted as malformed."""
    if not line.strip():
        return None
    entry = salvage(line, position)
    reading.skip(position, (entry.position - position) if entry else len(line), "malformed")
    return entry


def _glued(entry: Entry, line: bytes, reading: Reading) -> Entry | None:
    """The record appended to the line of a long torn one, which is then counted as malformed."""
    if line.find(b'"parentId":', _HEAD) < 0 or parse_object(line) is not None:
        return None
    found = salvage(line, entry.position)
    reading.skip(entry.position, (found.position - entry.position) if found else len(line), "malformed")
    return found


def _skip_line(stream: BinaryIO, max_line: int) -> tuple[int, bool]:
    """Skip the rest of a line without keeping it; returns its length and whether its newline was found."""
    length = 0
    while piece := stream.readline(min(_CHUNK, max_line)):
        length += len(piece)
        if piece.endswith(b"\n"):
            return length, True
    return length, False


def salvage(line: bytes, position: int) -> Entry | None:
    """The whole record at the end of a torn one's line: after a crash the next append follows without a newline."""
    if len(line) > _SALVAGE_BYTES:
        return None
    at = 0
    for _ in range(_SALVAGE_TRIES):
        at = line.find(_RECORD_START, at + 1)
        if at < 0:
            return None
        entry = parse_entry(line[at:], position + at)
        if entry and (entry.type == "session" or "parentId" in entry.raw):
            return entry
    return None
