"""The text of `states/sessions.json`: sorted, one line per session, so that one is set without parsing the rest."""

from __future__ import annotations

import gc
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

from jsonlstore.core.files import Piece
from jsonlstore.core.model import SCHEMA_VERSION
from jsonlstore.store.projection import RawIndexEntry

_HEAD = b'{"schema_version":%d,"sessions":{' % SCHEMA_VERSION
_BETWEEN = b",\n"  # safe as a separator: JSON text has no bare newline inside a value
_TAIL = b"\n}}\n"


def serialise(entries: Mapping[str, RawIndexEntry]) -> bytes:
    """The index file: keys sorted, a line per session."""
    return b"".join(_pieces([_line(session_id, entries[session_id]) for session_id in sorted(entries)]))


def splice(data: bytes, changes: Mapping[str, RawIndexEntry | None]) -> list[Piece] | None:
    """The pieces of an index file with some entries set or dropped; the other lines are neither parsed nor copied.

    Returns no pieces if nothing changes, and None if the file does not have our layout. Parsing and writing 10,000
    entries to change one would take most of a session's end.
    """
    if not (data.startswith(_HEAD) and data.endswith(_TAIL)):
        return None
    at, end = len(_HEAD) + 1, len(data) - len(_TAIL)
    view, runs, changed = memoryview(data), list[Piece](), False
    for session_id in sorted(changes):
        start, stop = _find(data, session_id.encode(), at, end)
        entry = changes[session_id]
        line = b"" if entry is None else _line(session_id, entry)
        if line == data[start : stop - len(_BETWEEN)]:
            continue
        if start > at:
            runs.append(view[at : start - len(_BETWEEN)])
        if line:
            runs.append(line)
        at, changed = stop, True
    if at < end:
        runs.append(view[at:end])
    return _pieces(runs) if changed else []


def _find(data: bytes, key: bytes, low: int, end: int) -> tuple[int, int]:
    """The offsets of the line of `key` and of the next line; the same offset twice is where a missing line belongs.

    The line after the last one would start behind a separator that is not written yet.
    """
    high = end
    while low < high:
        middle = (low + high) // 2
        start = data.rfind(_BETWEEN, low, middle)
        start = low if start < 0 else start + len(_BETWEEN)
        following = _line_after(data, start, end)
        found = data[start + 1 : data.find(b'":', start)]
        if found == key:
            return start, following
        if found < key:
            low = following
        else:
            high = start
    return low, low


def _line_after(data: bytes, start: int, end: int) -> int:
    stop = data.find(_BETWEEN, start, end)
    return (end if stop < 0 else stop) + len(_BETWEEN)


def _line(session_id: str, entry: RawIndexEntry) -> bytes:
    return orjson.dumps(session_id) + b":" + orjson.dumps(entry, option=orjson.OPT_SORT_KEYS)


def _pieces(runs: Sequence[Piece]) -> list[Piece]:
    between = [piece for run in runs for piece in (_BETWEEN, run)][1:]
    return [_HEAD, b"\n", *between, _TAIL] if runs else [_HEAD, _TAIL]


def parse_index(data: bytes) -> dict[str, RawIndexEntry] | None:
    """The entries in an index file, or None if the file cannot be used."""
    try:
        with gc_paused():
            raw = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(raw, dict) or raw.get("schema_version") != SCHEMA_VERSION:
        return None
    sessions = raw.get("sessions")
    if not isinstance(sessions, dict) or not {*map(type, sessions.values())} <= {dict}:
        return None
    return sessions


class Lines(Mapping[str, RawIndexEntry]):
    """The entries of an index file, each parsed on access; a broken line raises `ValueError`."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._end = len(data) - len(_TAIL)

    @classmethod
    def of(cls, data: bytes) -> Lines | None:
        """The lines of `data`; None if it has another layout: then `parse_index` decides whether it is usable."""
        return cls(data) if data.startswith(_HEAD + b"\n") and data.endswith(_TAIL) else None

    def __getitem__(self, session_id: str) -> RawIndexEntry:
        key = session_id.encode(errors="surrogatepass")  # `session_id` may come from a file name and be any text
        start, following = _find(self._data, key, len(_HEAD) + 1, self._end)
        if start == following:
            raise KeyError(session_id)
        return self._entry(start, following)[1]

    def __iter__(self) -> Iterator[str]:
        return (session_id for session_id, _ in self.items())

    def __len__(self) -> int:
        return sum(1 for _ in self.each())

    def items(self) -> ItemsView[str, RawIndexEntry]:
        return _Items(self)

    def each(self) -> Iterator[tuple[str, RawIndexEntry]]:
        """The entries line by line, which is faster than a lookup per name."""
        at = len(_HEAD) + 1
        while at < self._end:
            following = _line_after(self._data, at, self._end)
            yield self._entry(at, following)
            at = following
        if at == self._end:  # a comma with no entry behind it
            raise ValueError("not a line of ours")

    def _entry(self, start: int, following: int) -> tuple[str, RawIndexEntry]:
        found: dict[str, Any] = orjson.loads(b"{%b}" % self._data[start : following - len(_BETWEEN)])
        for session_id, entry in found.items():
            if len(found) == 1 and isinstance(entry, dict):
                return session_id, entry
        raise ValueError("not a line of ours")


class _Items(ItemsView[str, RawIndexEntry]):
    _mapping: Lines

    def __iter__(self) -> Iterator[tuple[str, RawIndexEntry]]:
        return self._mapping.each()


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection while many lasting objects are made: collecting costs time and frees nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
