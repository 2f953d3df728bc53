"""The text of `states/sessions.json`: sorted, a line per session, so that one is found or set without the rest."""

from __future__ import annotations

import gc
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

from jsonlstore.core.files import Piece
from jsonlstore.core.model import SCHEMA_VERSION
from jsonlstore.store.projection import Entry

_HEAD = b'{"schema_version":%d,"sessions":{' % SCHEMA_VERSION
_BETWEEN = b",\n"  # never inside a line: JSON texts have no bare newline
_TAIL = b"\n}}\n"


def serialise(entries: Mapping[str, Entry]) -> bytes:
    """The index file: keys sorted, a line per session."""
    return b"".join(_pieces([_line(session_id, entries[session_id]) for session_id in sorted(entries)]))


def splice(data: bytes, changes: Mapping[str, Entry | None]) -> list[Piece] | None:
    """The pieces of an index file with some entries set or dropped, the others untouched, unread and not copied.

    There are none if nothing changes; None if it is not such a file. Parsing and writing 10,000 entries to change one
    would take most of a session's end.
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
    """Where the line of `key` starts and where the next one does; the same place twice if it would have to go there.

    The line after the last starts behind a separator that is not there yet.
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


def _line(session_id: str, entry: Entry) -> bytes:
    return orjson.dumps(session_id) + b":" + orjson.dumps(entry, option=orjson.OPT_SORT_KEYS)


def _pieces(runs: Sequence[Piece]) -> list[Piece]:
    between = [piece for run in runs for piece in (_BETWEEN, run)][1:]
    return [_HEAD, b"\n", *between, _TAIL] if runs else [_HEAD, _TAIL]


def parse_index(data: bytes) -> dict[str, Entry] | None:
    """The entries in an index file, or None if it is not one we can use."""
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


class Lines(Mapping[str, Entry]):
    """The entries in an index file as we write it, each parsed when it is asked for; a broken one is a `ValueError`."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._end = len(data) - len(_TAIL)

    @classmethod
    def of(cls, data: bytes) -> Lines | None:
        """None if the file does not look like one of ours: `parse_index` will say whether it can be used."""
        return cls(data) if data.startswith(_HEAD + b"\n") and data.endswith(_TAIL) else None

    def __getitem__(self, session_id: str) -> Entry:
        key = session_id.encode(errors="surrogatepass")  # a file's name may be anything
        start, following = _find(self._data, key, len(_HEAD) + 1, self._end)
        if start == following:
            raise KeyError(session_id)
        return self._entry(start, following)[1]

    def __iter__(self) -> Iterator[str]:
        return (session_id for session_id, _ in self.items())

    def __len__(self) -> int:
        return sum(1 for _ in self.each())

    def items(self) -> ItemsView[str, Entry]:
        return _Items(self)

    def each(self) -> Iterator[tuple[str, Entry]]:
        """One line after the other, which is faster than finding each by its name."""
        at = len(_HEAD) + 1
        while at < self._end:
            following = _line_after(self._data, at, self._end)
            yield self._entry(at, following)
            at = following
        if at == self._end:  # behind a comma, where another should be
            raise ValueError("not a line of ours")

    def _entry(self, start: int, following: int) -> tuple[str, Entry]:
        found: dict[str, Any] = orjson.loads(b"{%b}" % self._data[start : following - len(_BETWEEN)])
        for session_id, entry in found.items():
            if len(found) == 1 and isinstance(entry, dict):
                return session_id, entry
        raise ValueError("not a line of ours")


class _Items(ItemsView[str, Entry]):
    _mapping: Lines

    def __iter__(self) -> Iterator[tuple[str, Entry]]:
        return self._mapping.each()


@contextmanager
def gc_paused() -> Iterator[None]:
    """No search for garbage while nothing but what is kept is made: thousands of objects would start several."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
