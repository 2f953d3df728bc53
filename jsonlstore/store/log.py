"""One append-only JSONL file: append, replay, repair the tail.

A reader needs no lock: it reads whole lines, and a last line without its newline only if that line parses as an event.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from jsonlstore.core.errors import WriteFailed
from jsonlstore.core.files import Disk, opened, read_bytes, read_from, stat_of, writing

FULL_STATE_TYPES = ("state.snapshot", "session.ended", "session.recovered", "session.forgotten")
_FULL_STATE_MARKS = tuple(b'"type":"%s"' % name.encode() for name in FULL_STATE_TYPES)
_TAIL_BYTES = 256 * 1024

# values here are named tuples: a dataclass costs four times as much to create, and every hook call would pay that
Signature = tuple[int, int, int, int]  # device, inode, size, time of last change


class Event(NamedTuple):
    """One line of a session log: what happened, when, and which writer recorded it."""

    seq: int
    at: str
    type: str
    by: str
    data: Mapping[str, Any]
    extra: Mapping[str, Any] = {}

    def to_line(self) -> bytes:
        record = {"seq": self.seq, "at": self.at, "type": self.type, "by": self.by, "data": self.data, **self.extra}
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def parse_event(line: bytes) -> Event | None:
    """Parse one line; None if it is not one of our events."""
    try:
        raw = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(raw, dict):
        return None
    seq, at, kind, data = raw.pop("seq", None), raw.pop("at", None), raw.pop("type", None), raw.pop("data", None)
    by = raw.pop("by", "unknown")
    if isinstance(seq, bool) or not isinstance(seq, int) or not isinstance(data, dict):
        return None
    if not (isinstance(at, str) and isinstance(kind, str) and isinstance(by, str)):
        return None
    return Event(seq, at, kind, by, data, raw)


class LocatedEvent(NamedTuple):
    """An event and the offset where its line ends, counting a newline that is still missing."""

    event: Event
    end: int


class Damage(NamedTuple):
    """A line that is not an event: its offset and length."""

    offset: int
    length: int


class Scan(NamedTuple):
    """The events and the damage found in a range of a log."""

    events: tuple[LocatedEvent, ...]
    damage: tuple[Damage, ...]
    torn: int  # bytes after the last newline that are not a whole event
    size: int


class SessionLog:
    """The append-only file of one session. Appending requires the session's lock; reading requires none."""

    def __init__(
        self, path: Path, quarantine: Path, disk: Disk, is_whole: Callable[[bytes], object | None] = parse_event
    ) -> None:
        self.path = path
        self._is_whole = is_whole  # whether the unfinished last line is a whole event without its newline
        self._quarantine = quarantine
        self._disk = disk

    def signature(self) -> Signature | None:
        """The file's signature, which changes when another process writes; None if there is no file."""
        found = stat_of(self.path)
        return _signature(found) if found else None

    def append(self, lines: bytes) -> Signature:
        """Append whole lines in one write and sync them; returns the new signature.

        A short write and a failed sync are both rolled back. A failed sync is never retried, because the kernel may
        have dropped the bytes and would report success the second time.
        """
        with writing(self.path), opened(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT) as fd:
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":
                size, finish = self._mend_tail(fd, size)
                lines = finish + lines
            if not size:
                os.fchmod(fd, 0o600)  # a new file: the umask may have removed bits from its mode
            with _rolled_back(fd, size):
                self._write(fd, lines)
                self._disk.sync_data(fd)
                if not size:
                    self._disk.sync_dir(self.path.parent)
            return _signature(os.fstat(fd))

    def _write(self, fd: int, lines: bytes) -> None:
        written = os.write(fd, lines)
        if written != len(lines):
            raise WriteFailed(
                f"cannot write {self.path}: only {written} of {len(lines)} bytes were taken",
                hint="the disk is probably full: free some space and try again",
                path=self.path,
            )

    def _mend_tail(self, fd: int, size: int) -> tuple[int, bytes]:
        """Complete a whole last line or quarantine a torn one; returns the offset to append at and the prefix."""
        start, tail = _last_line(fd, size)
        if self._is_whole(tail) is not None:
            return size, b"\n"
        self.quarantine(tail, start)
        os.ftruncate(fd, start)
        return start, b""

    def quarantine(self, data: bytes, offset: int) -> Path:
        """Copy bytes that are about to be cut into quarantine, and sync the copy first."""
        self._disk.make_dir(self._quarantine)
        for attempt in range(1_000_000):
            target = self._quarantine / f"{self.path.stem}.{offset}.{attempt}.torn"
            if not target.exists():
                self._disk.replace(target, data, self._quarantine)
                return target
        raise WriteFailed(f"cannot keep a torn tail in {self._quarantine}: too many there", path=self._quarantine)

    def repair(self) -> bool:
        """Repair the tail now instead of at the next append; True if it needed repair."""
        with writing(self.path), opened(self.path, os.O_RDWR | os.O_APPEND) as fd:
            size = os.fstat(fd).st_size
            if not size or os.pread(fd, 1, size - 1) == b"\n":
                return False
            _, finish = self._mend_tail(fd, size)
            if finish:
                self._write(fd, finish)
            self._disk.sync_data(fd)
        return True

    def cut_damage(self) -> int:
        """Move every line that is not an event into quarantine; returns how many.

        The log is replaced whole, after the copies are synced: a crash in between loses nothing.
        """
        data = read_bytes(self.path) or b""
        damage = scan_bytes(data, 0).damage
        kept, at = [], 0
        for hurt in damage:
            end = hurt.offset + hurt.length + 1
            self.quarantine(data[hurt.offset : end], hurt.offset)
            kept.append(data[at : hurt.offset])
            at = end
        if damage:
            self._disk.replace(self.path, b"".join([*kept, data[at:]]), self.path.parent)
        return len(damage)

    def scan(self) -> Scan | None:
        """Replay the whole file; None if it is missing or empty."""
        data = read_bytes(self.path)
        return scan_bytes(data, 0) if data else None

    def scan_recent(self) -> Scan | None:
        """Replay from the last event with a full state, so that the cost does not grow with the session."""
        window = _TAIL_BYTES
        while True:
            found = read_from(self.path, -window)
            if not found or not found[0]:
                return None
            data, offset = found
            if offset:
                cut = data.find(b"\n") + 1
                data, offset = data[cut:], offset + cut
            start = _last_full_state(data)
            if start is not None:
                return scan_bytes(data[start:], offset + start)
            if not found[1]:
                return scan_bytes(data, offset)
            window *= 8


@contextmanager
def _rolled_back(fd: int, size: int) -> Iterator[None]:
    """Truncate the file to `size` if the block fails."""
    try:
        yield
    except (OSError, WriteFailed):
        # the first error matters; the next append repairs a tail that stays
        with suppress(OSError):
            os.ftruncate(fd, size)
        raise


def _signature(found: os.stat_result) -> Signature:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def scan_bytes(data: bytes, offset: int) -> Scan:
    """Replay lines that start at `offset` of their file."""
    events: list[LocatedEvent] = []
    damage: list[Damage] = []
    *lines, rest = data.split(b"\n")
    at = offset
    for line in lines:
        event = parse_event(line)
        if event is not None:
            events.append(LocatedEvent(event, at + len(line) + 1))
        else:
            damage.append(Damage(at, len(line)))
        at += len(line) + 1
    last = parse_event(rest)
    if last is not None:
        events.append(LocatedEvent(last, at + len(rest) + 1))
    return Scan(tuple(events), tuple(damage), 0 if last else len(rest), offset + len(data))


def _last_line(fd: int, size: int) -> tuple[int, bytes]:
    """The unfinished last line of a file: its offset and its bytes."""
    window = 64 * 1024
    while True:
        start = max(0, size - window)
        tail = os.pread(fd, size - start, start)
        cut = tail.rfind(b"\n") + 1
        if cut or not start:
            return start + cut, tail[cut:]
        window *= 8


def _last_full_state(data: bytes) -> int | None:
    """The offset in `data` of the last line that carries a full state."""
    end = len(data)
    while True:
        hit = max(data.rfind(mark, 0, end) for mark in _FULL_STATE_MARKS)
        if hit < 0:
            return None
        start = data.rfind(b"\n", 0, hit) + 1
        stop = data.find(b"\n", hit)
        event = parse_event(data[start : stop if stop >= 0 else len(data)])
        if (
            event is not None
            and event.type in FULL_STATE_TYPES
            and (event.type == "session.forgotten" or "state" in event.data)
        ):
            return start
        end = hit
