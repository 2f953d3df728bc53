"""Transcripts as OpenClaw keeps them: one append-only JSONL file per session beside a `sessions.json`.

A session's name is durable in `sessions.json` before its file exists, and the file appears with its first records in
it; so no file is ever without a name, and an entry without a file is no session yet. Each header holds its session's
key: a `sessions.json` that is lost or damaged is made again from the files.
"""

from __future__ import annotations

import os
import stat
import threading
import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from jsonlstore.context.backend import Backend, Build, Stored, Tail
from jsonlstore.context.records import HEADER, last_id
from jsonlstore.core.clock import system_clock
from jsonlstore.core.errors import PlaceRefused, WriteFailed
from jsonlstore.core.files import TEMP_PREFIX, Disk, read_bytes, unreadable
from jsonlstore.core.locks import Locks
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import is_session_id
from jsonlstore.store import SessionLog
from jsonlstore.transcripts import MAX_LINE, parse_object, read_millis

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from jsonlstore.context.records import Line
    from jsonlstore.core.clock import Clock
    from jsonlstore.store import Signature

log = logger(__name__)

INDEX = "sessions.json"
ENDING = ".jsonl"
_NEVER = object()  # no version of the index: it was not read yet
_BLOCK = 256 * 1024
_UNFINISHED_SECONDS = 3600
_NOT_DETAILS = frozenset({"sessionId", "updatedAt", "sessionFile", "createdAt"})


class _Known(NamedTuple):
    """A session's file as it was left by the last append: while its signature holds, its end is known unread."""

    file: SessionLog
    signature: Signature | None
    tail: Tail


class JsonlBackend(Backend):
    """One directory of session files; shared between threads and processes by file locks."""

    kind = "jsonl"

    def __init__(self, path: Path, *, disk: Disk | None = None, clock: Clock = system_clock) -> None:
        self.path = path
        self._clock = clock
        self._disk = disk or Disk()
        self._disk.make_dir(path)
        self._index_file = path / INDEX
        self._locks_dir = path / ".locks"
        self._quarantine = path / ".quarantine"
        for helper in (self._locks_dir, self._quarantine):
            if helper.is_symlink():
                raise PlaceRefused(f"{helper} leads elsewhere", hint="move it away: it is made again", path=helper)
        self._disk.make_dir(self._locks_dir)
        self._sweep()
        self._locks = Locks(self._locks_dir)
        self._index: tuple[object, dict[str, dict[str, Any]]] = (_NEVER, {})
        self._known: dict[str, _Known] = {}
        self._mutex = threading.Lock()

    def stored(self, key: str) -> Stored | None:
        entry = self._entries().get(key)
        return self._described(key, entry) if entry else None

    def sessions(self) -> tuple[Stored, ...]:
        found: list[Stored] = []
        for key, entry in sorted(self._entries().items()):
            try:
                stored = self._described(key, entry)
            except PlaceRefused as problem:
                log.warning("%s", problem.message)  # one that is not ours does not hide the others
                continue
            found += [stored] if stored else []
        return tuple(found)

    def _described(self, key: str, entry: Mapping[str, Any]) -> Stored | None:
        path = self._file(entry)
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return None  # named, and not written yet
        except OSError as problem:
            raise unreadable(path, problem) from problem
        if not stat.S_ISREG(found.st_mode):
            # a link may lead to a transcript of OpenClaw's, and what is appended would land there
            raise PlaceRefused(f"{path} is no file of ours", hint="move it away: session files are plain", path=path)
        if not found.st_size:
            return None  # emptied by somebody: without its header it is no session
        written = round(found.st_mtime * 1000)
        known = entry.get("updatedAt")
        updated = max(written, known) if isinstance(known, int) else written
        created = entry.get("createdAt")
        details = {name: value for name, value in entry.items() if name not in _NOT_DETAILS}
        session_id = str(entry["sessionId"])
        return Stored(key, session_id, created if isinstance(created, int) else updated, updated, path, details)

    def lines(self, key: str) -> Iterator[bytes]:
        stored = self.stored(key)
        return read_forward(stored.path) if stored else iter(())

    def lines_back(self, key: str) -> Iterator[bytes]:
        stored = self.stored(key)
        return read_backward(stored.path) if stored else iter(())

    def append(self, key: str, build: Build) -> Sequence[Line]:
        with self._locks.session(key):
            known = self._end_of(key)
            if known is None:
                return self._create(key, build)
            lines = build(known.tail)
            if lines:
                signature = known.file.append(b"".join([line.data + b"\n" for line in lines]))
                tail = Tail(known.tail.session_id, last_id(lines, known.tail.last_id))
                self._remember(key, _Known(known.file, signature, tail))
            return lines

    def _end_of(self, key: str) -> _Known | None:
        """Where the session's file ends; it is read only if somebody else wrote to it since."""
        entry = self._entries().get(key)
        known = self._known.get(key)
        if entry and known and known.tail.session_id == entry["sessionId"]:
            signature = known.file.signature()
            if signature == known.signature:
                return known
        stored = self.stored(key) or self._look_again(key)
        if stored is None:
            return None
        file = SessionLog(stored.path, self._quarantine, self._disk, is_whole=parse_object)
        signature = file.signature()
        records = map(parse_object, read_backward(stored.path))
        ids = (raw["id"] for raw in records if raw and raw.get("type") != HEADER and _is_id(raw.get("id")))
        return _Known(file, signature, Tail(stored.session_id, next(ids, None)))

    def _look_again(self, key: str) -> Stored | None:
        """Before a session is taken for new: times of files are coarse, and the index may have changed unseen."""
        self._index = (_NEVER, {})
        return self.stored(key)

    def _sweep(self) -> None:
        """Remove what killed writers left unfinished; nobody takes an hour to write a file."""
        for left in self._locks_dir.glob(f"{TEMP_PREFIX}*"):
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > _UNFINISHED_SECONDS:
                    left.unlink()

    def _create(self, key: str, build: Build) -> Sequence[Line]:
        lines = build(Tail(None, None))
        if not lines:
            return lines
        header = lines[0] if lines[0].type == HEADER else None
        session_id = header.id if header and header.id else str(uuid.uuid4())
        path = self.path / f"{_file_stem(session_id)}{ENDING}"
        now = round(self._clock().timestamp() * 1000)
        entry = {
            "sessionId": session_id,
            "updatedAt": now,
            "sessionFile": str(path),
            "createdAt": (header.millis if header else None) or now,
        }
        self._change(key, entry, lasting=True)
        # whole or not at all: a session that was taken over from elsewhere must not begin with half of it
        try:
            self._disk.replace(path, (line.data + b"\n" for line in lines), self._locks_dir)
        except WriteFailed:
            # refused is refused: a session that is there after all would hold the same words twice on the next try
            with suppress(OSError):
                os.unlink(path)
            raise
        return lines

    def _remember(self, key: str, known: _Known) -> None:
        with self._mutex:
            if len(self._known) > 1000:
                self._known.clear()
            self._known[key] = known

    def describe(self, key: str, details: Mapping[str, Any]) -> None:
        entry = self._entries().get(key)
        if entry is None:
            return
        kept = {name: value for name, value in entry.items() if name in _NOT_DETAILS}
        kept["updatedAt"] = round(self._clock().timestamp() * 1000)
        self._change(key, {**kept, **details}, lasting=False)

    def remove(self, key: str) -> bool:
        with self._locks.session(key):
            self._index = (_NEVER, {})
            entry = self._entries().get(key)
            if entry is None:
                return False
            path = self._file(entry)
            # an entry without a file is no session: a crash before the last step leaves a name, and no word
            self._change(key, {name: entry[name] for name in entry if name in _NOT_DETAILS}, lasting=True)
            for left in (*self._left_of(path), path):
                self._disk.remove(left)
            self._change(key, None, lasting=True)
        return True

    def scrub(self) -> None:
        """Take out the names of sessions that have no file: a removal was cut short, or a beginning."""
        for key in [key for key, entry in self._entries().items() if not self._file(entry).exists()]:
            with self._locks.session(key):  # nobody is just beginning it
                self._index = (_NEVER, {})
                entry = self._entries().get(key)
                if entry and not self._file(entry).exists():
                    self._change(key, None, lasting=True)

    def _left_of(self, path: Path) -> list[Path]:
        """Torn tails cut from a session's file, copies of a damaged index, and what a killed writer left of either."""
        torn = [one for one in self._quarantine.glob("*") if one.name.startswith((f"{path.stem}.", f"{INDEX}."))]
        return torn + [one for one in self._locks_dir.glob(f"{TEMP_PREFIX}*") if path.stem in one.name]

    def close(self) -> None:
        """Nothing stays open between calls."""

    def _file(self, entry: Mapping[str, Any]) -> Path:
        return self.path / _file_name(entry)

    def _entries(self) -> dict[str, dict[str, Any]]:
        """The index, read again when it changed, made again from the headers when it cannot be read."""
        path = self._index_file
        version = _version(path)
        known = self._index
        if known[0] == version:
            return known[1]
        data = read_bytes(path)
        entries = _parse_index(data)
        if entries is None:
            if data:
                log.warning("%s is damaged: made again from the session files", path)
            entries = {}
        if known[0] is _NEVER:
            entries |= self._unnamed(entries)
        self._index = version, entries
        return entries

    def _unnamed(self, entries: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """Sessions whose files are there though the index does not name them: it is an old one, or was damaged."""
        named = {_file_name(entry): key for key, entry in entries.items()}
        with os.scandir(self.path) as listing:
            files = {
                item.name for item in listing if item.name.endswith(ENDING) and item.is_file(follow_symlinks=False)
            }
        taken = {key for name, key in named.items() if name in files}
        found: dict[str, dict[str, Any]] = {}
        for name in sorted(files.difference(named)):
            path = self.path / name
            header = parse_object(next(read_forward(path), b"")) or {}
            key, session_id = header.get("sessionKey"), header.get("id")
            if isinstance(key, str) and isinstance(session_id, str) and key not in taken:
                written = round(path.stat().st_mtime * 1000)
                began = read_millis(header.get("timestamp")) or written
                entry = {"sessionId": session_id, "updatedAt": written, "sessionFile": str(path), "createdAt": began}
                found[key] = entry
        return found

    def _change(self, key: str, entry: Mapping[str, Any] | None, *, lasting: bool) -> None:
        with self._locks.index():
            if lasting:
                self._disk.sweep(self._locks_dir, INDEX)  # what killed writers left holds words that may have to go
            path = self._index_file
            self._index = (_NEVER, {})
            entries = {name: known for name, known in self._entries().items() if name != key}
            if entry is not None:
                entries[key] = dict(entry)
            self._keep_damaged(path)
            data = orjson.dumps(entries, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
            self._disk.replace(path, data, self._locks_dir, lasting=lasting)
            self._index = _version(path), entries

    def _keep_damaged(self, path: Path) -> None:
        """What cannot be read may still be of use to its owner; it is moved aside before it is replaced."""
        data = read_bytes(path)
        if data and _parse_index(data) is None:
            self._disk.make_dir(self._quarantine)
            self._disk.replace(self._quarantine / f"{INDEX}.{os.urandom(4).hex()}", data, self._locks_dir)


def read_forward(path: Path) -> Iterator[bytes]:
    """The lines of a file without their newlines, blank ones left out; one that is too long for any reader, too."""
    try:
        with open(path, "rb", buffering=1 << 20) as file:
            while line := file.readline(MAX_LINE):
                if line[-1:] != b"\n" and len(line) == MAX_LINE:
                    _skip_line(file)
                elif line.strip():
                    yield line.removesuffix(b"\n")
    except FileNotFoundError:
        return
    except OSError as problem:
        raise unreadable(path, problem) from problem


def _skip_line(file: Any) -> None:
    while piece := file.readline(_BLOCK):
        if piece.endswith(b"\n"):
            return


def read_backward(path: Path) -> Iterator[bytes]:
    """The same, last line first; a last line without its newline counts if it is whole."""
    try:
        with open(path, "rb", buffering=0) as file:
            end = os.fstat(file.fileno()).st_size
            pieces: list[bytes] = []  # of the line whose end was seen and whose beginning was not, last first
            while end > 0:
                start = max(0, end - _BLOCK)
                first, *lines = os.pread(file.fileno(), end - start, start).split(b"\n")
                if lines:
                    pieces.append(lines.pop())
                    yield from _joined(pieces)
                    yield from (line for line in reversed(lines) if line.strip())
                    pieces = []
                pieces.append(first)
                end = start
            yield from _joined(pieces)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise unreadable(path, problem) from problem


def _joined(pieces: list[bytes]) -> Iterator[bytes]:
    if sum(map(len, pieces)) < MAX_LINE:
        line = b"".join(reversed(pieces))
        if line.strip():
            yield line


def _parse_index(data: bytes | None) -> dict[str, dict[str, Any]] | None:
    document = parse_object(data) if data else None
    if document is None:
        return None
    return {
        key: entry
        for key, entry in document.items()
        if isinstance(entry, dict) and isinstance(entry.get("sessionId"), str)
    }


def _is_id(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _version(path: Path) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _file_name(entry: Mapping[str, Any]) -> str:
    """Of the entry's path only the name counts: directories are moved, and mounted elsewhere.

    An index that was tampered with must not lead to a file that is not a session's.
    """
    named = entry.get("sessionFile")
    stem, ending = os.path.splitext(os.path.basename(named)) if isinstance(named, str) else ("", "")
    return f"{stem if ending == ENDING and is_session_id(stem) else _file_stem(entry['sessionId'])}{ENDING}"


def _file_stem(session_id: str) -> str:
    """A session id of ours is a UUID; one that came from elsewhere may be no file name."""
    return session_id if is_session_id(session_id) else str(uuid.uuid5(uuid.NAMESPACE_OID, session_id))
