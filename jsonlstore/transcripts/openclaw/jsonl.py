"""OpenClaw up to 2026.7: one JSONL file per session, live or archived, beside a `sessions.json` index."""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from jsonlstore.core.clock import format_time
from jsonlstore.core.hashes import sha256
from jsonlstore.core.session_key import skip_reason
from jsonlstore.transcripts.lines import MAX_LINE, is_damaged, open_stream, read_entries, skip_bytes
from jsonlstore.transcripts.openclaw import IMPORT_ARCHIVE, INDEX, SESSIONS
from jsonlstore.transcripts.openclaw.endings import reason_of, rollover_reason
from jsonlstore.transcripts.openclaw.files import id_from_stem, imprint, parse_name
from jsonlstore.transcripts.openclaw.session_index import IndexedSession, read_index
from jsonlstore.transcripts.records import Entry, parse_entry
from jsonlstore.transcripts.source import (
    LIVE,
    BegunHash,
    Cursor,
    Ending,
    Reading,
    Transcript,
    TranscriptSource,
    reading_from,
)
from jsonlstore.transcripts.stretches import usable_id

_IMPORTED_INDEX = f"{INDEX}.imported-"
_HEAD = 64 * 1024
_HEADER_CHUNK = 1024  # a header takes a few hundred bytes
_TAIL = 256
_PRECEDENCE = {"backup": 0, "imported": 1, "reset": 2, "deleted": 2, LIVE: 3}
_LEFTOVERS = {"backup": "vanished", "imported": "import"}


@dataclass(frozen=True, slots=True)
class _Indexes:
    """The current index (None if unusable), the file names it lists, and the entries of imported indexes."""

    version: tuple[object, ...]
    current: dict[str, IndexedSession] | None
    named: frozenset[str]
    older: dict[str, IndexedSession]
    warnings: tuple[str, ...]


class JsonlSource(TranscriptSource):
    """The JSONL files of one agent."""

    kind = "jsonl"
    medium = "JSONL files"
    end_reason = staticmethod(reason_of)
    rollover_reason = staticmethod(rollover_reason)

    def __init__(self, agent_dir: Path, *, max_line: int = MAX_LINE) -> None:
        self.agent_id = agent_dir.name
        self.path = agent_dir / SESSIONS
        self._agent_dir = agent_dir
        self._max_line = max_line
        self._warnings: list[str] = []
        self._indexes: _Indexes | None = None
        self._known: dict[str, tuple[tuple[int, ...], Transcript]] = {}
        self._native_ids: dict[str, tuple[tuple[int, ...], str]] = {}

    def transcripts(self) -> list[Transcript]:
        self._warnings = []
        indexes = self._read_indexes()
        before, self._known = self._known, {}
        found = [
            transcript
            for folder in (self.path, self._agent_dir / IMPORT_ARCHIVE)
            for item in self._scan(folder)
            if (transcript := self._remembered(item, indexes, before))
        ]
        self._native_ids = {path: known for path, known in self._native_ids.items() if path in self._known}
        return sorted(found, key=lambda one: (one.session_id, one.updated_at or "", one.path.name))

    def forget_listing(self) -> None:
        self._known, self._native_ids = {}, {}

    def _remembered(
        self, item: os.DirEntry[str], indexes: _Indexes, before: dict[str, tuple[tuple[int, ...], Transcript]]
    ) -> Transcript | None:
        """The cached transcript of a file if neither file nor index changed, which is the common case."""
        if ".jsonl" not in item.name:
            return None
        try:
            stat = item.stat()
        except OSError as problem:
            self._warnings.append(f"cannot read {item.path}: {problem.strerror}")
            return None
        key = _key(stat)
        known = before.get(item.path)
        if known is None or known[0] != key:
            transcript = self._describe(item, stat, key, indexes)
            if transcript is None:
                return None
            known = key, transcript
        self._known[item.path] = known
        return known[1]

    def _read_indexes(self) -> _Indexes:
        """The current and the imported indexes; parsed again only if one of them changed."""
        archived = [item for item in self._scan(self._agent_dir / IMPORT_ARCHIVE) if _IMPORTED_INDEX in item.name]
        version = (_version(self.path / INDEX), *map(_version, archived))
        if self._indexes is None or self._indexes.version != version or self._indexes.warnings:
            before = len(self._warnings)
            index = read_index(self.path / INDEX, self._warnings.append)
            older: dict[str, IndexedSession] = {}
            for item in archived:
                older |= read_index(Path(item.path), self._warnings.append) or {}
            names = frozenset(entry.file_name for entry in (index or {}).values())
            self._indexes = _Indexes(version, index, names, older, tuple(self._warnings[before:]))
            self._known = {}
        return self._indexes

    def _scan(self, folder: Path) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as items:
                return list(items)
        except FileNotFoundError:
            return []
        except OSError as problem:
            self._warnings.append(f"cannot list {folder}: {problem.strerror}")
            return []

    def _describe(
        self, item: os.DirEntry[str], stat: os.stat_result, key: tuple[int, ...], indexes: _Indexes
    ) -> Transcript | None:
        name = parse_name(item.name)
        if not name:
            return None
        try:
            if not item.is_file():
                return None
            native = self._native_id(item.path, name.stem, key)
        except OSError as problem:
            self._warnings.append(f"cannot read {item.path}: {problem.strerror or problem}")
            return None
        index, session_id = indexes.current, sys.intern(usable_id(native))  # the cursors have the same text
        known = (index or {}).get(native) or indexes.older.get(native)
        ending = None
        if name.state in {"reset", "deleted"}:
            ending = Ending(name.state, name.at)
        elif name.state == LIVE and index is not None and native not in index and item.name not in indexes.named:
            ending = Ending("unreferenced")
        return Transcript(
            agent_id=self.agent_id,
            kind="jsonl",
            path=Path(item.path),
            session_id=session_id,
            state=name.state,
            session_key=known.session_key if known else None,
            channel=known.channel if known else "unknown",
            size=stat.st_size,
            updated_at=format_time(datetime.fromtimestamp(stat.st_mtime, UTC)),
            ending=ending,
            skip=("subagent" if known.spawned else skip_reason(known.session_key)) if known else None,
            native_id=native if native != session_id else None,
            context_tokens=known.context_tokens if known else None,
            compactions=known.compactions if known else None,
        )

    def _native_id(self, path: str, stem: str, key: tuple[int, ...]) -> str:
        """The session id in a file, cached because the index changes often and files hardly ever do."""
        known = self._native_ids.get(path)
        if known is None or known[0] != key:
            known = self._native_ids[path] = key, _native_id(Path(path), stem)
        return known[1]

    def version(self) -> object:
        found: list[tuple[str, tuple[int, ...]]] = []
        for folder in (self.path, self._agent_dir / IMPORT_ARCHIVE):
            try:
                with os.scandir(folder) as items:
                    found.extend((item.name, _version(item)) for item in items)
            except OSError as problem:
                found.append((f"{folder}: {problem.errno}", ()))
        return hash(tuple(sorted(found)))

    def file_of(self, transcript: Transcript) -> Path:
        return transcript.path

    def imprint(self, transcript: Transcript, cursor: Cursor) -> bytes | None:
        return imprint(transcript.path, cursor.position)

    def only_grew(self, before: Transcript, now: Transcript, cursor: Cursor, imprint: bytes | None) -> bool:
        if cursor.kind != self.kind:
            return False
        if (now.size, now.updated_at) == (before.size, before.updated_at):
            return True
        # modified without growing: it was overwritten
        return now.size > cursor.position and (imprint is None or self.imprint(now, cursor) == imprint)

    def precedence(self, transcript: Transcript) -> int:
        return _PRECEDENCE[transcript.state]

    def leftover_reason(self, transcript: Transcript) -> str | None:
        """The end of a session of which only an import's moved-aside file or a repair's safety copy is left."""
        return _LEFTOVERS.get(transcript.state)

    def read(self, transcript: Transcript, after: Cursor | None = None) -> Reading:
        reading = Reading()
        return reading.deliver(self._entries(transcript, after, reading))

    def mentions(self, transcript: Transcript, text: bytes) -> bool:
        with (
            suppress(OSError, ValueError),  # an empty file cannot be mapped
            transcript.path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            return content.rfind(text) >= 0  # what is asked for is mostly near the end
        return False

    def start_of(self, transcript: Transcript) -> str | None:
        with reading_from(transcript.path):
            header = _read_header(transcript.path)
        return (header.timestamp if header else None) or super().start_of(transcript)

    def _entries(self, transcript: Transcript, after: Cursor | None, reading: Reading) -> Iterator[Entry]:
        path = transcript.path
        final = transcript.state != LIVE
        with reading_from(path):
            stream = open_stream(path)
        with stream:
            start = self._resume(path, after, reading)
            reading.last_entry_id = after.last_entry_id if after and start else None
            try:
                skip_bytes(stream, start)
                yield from read_entries(stream, reading, start=start, final=final, max_line=self._max_line)
            except OSError as problem:
                reading.problems.append(f"cannot read {path} after {reading.position}: {problem.strerror or problem}")
                return
            if is_damaged(stream):
                reading.skip(reading.position, 0, "undecodable")
        reading.cursor = self._cursor(path, reading.position, reading.last_entry_id)

    def _resume(self, path: Path, after: Cursor | None, reading: Reading) -> int:
        if after is None or after.kind != "jsonl" or after.position <= 0:
            return 0
        now = self._cursor(path, after.position, after.last_entry_id)
        if now and (now.identity, now.generation) == (after.identity, after.generation):
            return after.position
        reading.restarted = True
        return 0

    def _cursor(self, path: Path, position: int, last: str | None) -> Cursor | None:
        """The cursor at the end of what was read of `path`; None if the file is now shorter, missing or unreadable."""
        try:
            stat = path.stat()
            if path.name.endswith(".zst"):
                return Cursor("jsonl", f"{stat.st_dev}:{stat.st_ino}:zst", position, str(stat.st_size), last)
            with path.open("rb", buffering=0) as file:
                if stat.st_size < position:
                    return None
                head = file.read(_HEAD)
                file.seek(max(0, position - _TAIL))
                tail = file.read(min(_TAIL, position))
        except OSError:
            return None
        first = head[: head.find(b"\n") + 1] or head
        identity = f"{stat.st_dev}:{stat.st_ino}:{_digest(first) if position else ''}"
        return Cursor("jsonl", identity, position, _digest(tail), last, stat.st_mtime_ns)

    def has_new(self, transcript: Transcript, cursor: Cursor | None) -> bool:
        try:
            stat = transcript.path.stat()
        except OSError:
            return False
        if cursor is None or cursor.kind != "jsonl" or not cursor.identity.startswith(f"{stat.st_dev}:{stat.st_ino}:"):
            return True
        if transcript.path.name.endswith(".zst"):
            return cursor.generation != str(stat.st_size)
        if stat.st_mtime_ns == cursor.changed_at and stat.st_size == cursor.position:
            return False
        return stat.st_mtime_ns != cursor.changed_at or _has_newline(transcript.path, cursor.position)

    def digest(self, transcript: Transcript, cursor: Cursor, begun: BegunHash | None = None) -> str:
        """Of the bytes up to the last complete line (decision 46)."""
        start = begun.position if begun is not None and begun.position is not None else 0
        if begun is None or start > cursor.position or transcript.path.name.endswith(".zst"):
            begun, start = BegunHash(), 0
        with reading_from(transcript.path), open_stream(transcript.path) as stream:
            if start:
                stream.seek(start)
            return begun.go_on(_blocks(stream, cursor.position - start), cursor.position)

    def measure(self, transcript: Transcript) -> tuple[int, int]:
        size = lines = 0
        with reading_from(transcript.path), open_stream(transcript.path) as stream:
            while block := stream.read(1 << 20):
                size += len(block)
                lines += block.count(b"\n")
        return size, lines


def _blocks(stream: BinaryIO, left: int) -> Iterator[bytes]:
    while left > 0 and (block := stream.read(min(left, 1 << 20))):
        yield block
        left -= len(block)


def _has_newline(path: Path, start: int) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return any(b"\n" in block for block in iter(lambda: file.read(1 << 20), b""))
    except OSError:
        return True  # reading the file will report the error


def _read_header(path: Path) -> Entry | None:
    """The first record if it is a header; little more than that is read."""
    with open_stream(path, _HEADER_CHUNK) as stream:
        line = stream.readline(_HEAD)
    entry = parse_entry(line)
    return entry if entry and entry.type == "session" else None


def _native_id(path: Path, stem: str) -> str:
    """The id in a file's header, else the one in its name."""
    header = _read_header(path)
    return (header.id if header else None) or id_from_stem(stem)


def _version(file: os.DirEntry[str] | Path) -> tuple[int, ...]:
    """A value that is equal as long as the file was not written, replaced or removed."""
    try:
        stat = file.stat()
    except OSError as problem:
        return 0, 0, 0, -(problem.errno or 1)
    return _key(stat)


def _key(stat: os.stat_result) -> tuple[int, ...]:
    return stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:32]


def open_file(path: Path, agent_id: str = "main") -> tuple[JsonlSource, Transcript]:
    """A single transcript file outside any source, with the source that reads it."""
    source = JsonlSource(path.parent.parent)
    name = parse_name(path.name)
    session_id = usable_id(_native_id(path, name.stem if name else path.name))
    state = name.state if name else LIVE
    ending = Ending(state, name.at) if name and state in {"reset", "deleted"} else None
    return source, Transcript(agent_id, "jsonl", path, session_id, state, size=path.stat().st_size, ending=ending)
