"""The store an agent opens: load, save, append, list, close; which backend is behind it is a setting."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from jsonlstore.context.place import check_place
from jsonlstore.context.records import Prepared, as_json, check_key, make_header, prepare
from jsonlstore.context.session import Session
from jsonlstore.context.window import read_window
from jsonlstore.core.clock import format_time, from_millis, system_clock
from jsonlstore.core.errors import ConfigError, UsageError
from jsonlstore.core.paths import resolve_state_dir
from jsonlstore.core.session_settings import (
    SessionSettings,
    openclaw_key_for,
    read_session_settings,
    transcript_place,
)
from jsonlstore.redact import redact_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

    from jsonlstore.context.backend import Backend, Stored, Tail
    from jsonlstore.context.records import Line
    from jsonlstore.context.window import Window
    from jsonlstore.core.clock import Clock
    from jsonlstore.core.files import Disk


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session from outside."""

    key: str
    session_id: str
    created_at: str
    updated_at: str
    path: Path
    total_tokens: int | None = None
    max_tokens: int | None = None
    compaction_count: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)


class TranscriptStore:
    """An agent's transcripts. Everything that is written passes the redactor first.

    Several processes and threads may use one place at once. `append` always continues the newest record; two
    sessions that were loaded at the same point and saved one after the other become two branches, the later one active.

    Arguments:
        backend: SQLite or JSONL; `open` makes the one that the settings name
        settings: a `session` block, a file with one, or by default openclaw.json's
        state_dir: OpenClaw's state directory; without it `$OPENCLAW_STATE_DIR`, or `~/.openclaw`
        clock: a function that returns the present as an aware `datetime`; for tests
        disk: the write operations; for tests
        key: the name of the conversation; without it `agent:main:main`
        last: read so many messages from the end
        leaf: the id of the record to look from, to branch off there
        session: what `load` returned
        record: a record as OpenClaw writes it: `type`, and what goes with it
    """

    def __init__(
        self,
        backend: Backend,
        settings: SessionSettings | None = None,
        *,
        state_dir: Path | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self.backend = backend
        self.settings = settings or SessionSettings()
        self.state_dir = state_dir or resolve_state_dir()
        self._clock = clock

    @classmethod
    def open(
        cls,
        state_dir: str | os.PathLike[str] | None = None,
        settings: SessionSettings | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        *,
        clock: Clock = system_clock,
        disk: Disk | None = None,
    ) -> TranscriptStore:
        """The store that `settings` describe: a `session` block, a file with one, or by default openclaw.json's."""
        home = resolve_state_dir(state_dir)
        chosen = _settings(home, settings)
        return cls(open_backend(home, chosen, clock=clock, disk=disk), chosen, state_dir=home, clock=clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def load(self, key: str | None = None, *, last: int | None = None, leaf: str | None = None) -> Session:
        """The session as the model would see it; a new one, inherited if so configured, where there is none yet.

        `last` reads so many messages from the end and no more; `leaf` looks from another record, to branch off there.
        Loading writes nothing.
        """
        name = check_key(key or self.settings.key)
        if last is not None and last < 1:
            raise UsageError(f"last must be at least 1, not {last}")
        stored = self.backend.stored(name)
        if stored is None:
            opening = self._opening(name)
            window = read_window((line.data for line in reversed(opening)), last=last, leaf=leaf)
            session = self._session(name, str(opening[0].id), window, {}, opening=opening)
        else:
            window = read_window(self.backend.lines_back(name), last=last, leaf=leaf)
            session = self._session(name, stored.session_id, window, stored.details)
        if leaf is not None and not window.path:
            # taken for an empty one, it would be answered as if nothing had been said
            raise UsageError(f"{name} has no record {leaf!r:.80}")
        return session

    def save(self, session: Session) -> None:
        """Write what was added to `session`, in one append, then its metadata.

        If it is refused, calling it again writes what is missing and nothing twice.
        """
        opening, records = session.pending()
        metadata, _ = as_json(session.metadata, "metadata")  # refused before anything is written
        if opening or records:

            def build(tail: Tail) -> Sequence[Line]:
                if tail.session_id is None:
                    return [*(opening or self._opening(session.key)), *_chain(records, None)]
                if opening:
                    # another process began this session meanwhile: what was to be the first record follows its last
                    return _chain([*map(_unlinked, records[:1]), *records[1:]], tail.last_id)
                return _chain(records, tail.last_id)

            self.backend.append(session.key, build)
        stored = self.backend.stored(session.key)
        assert stored is not None
        session.settle(stored.session_id, len(records))
        compactions = sum(record.record["type"] == "compaction" for record in records)
        self._describe(stored, session, metadata, compactions)

    def append(self, key: str | None, record: Mapping[str, Any]) -> str:
        """Add one record after the newest, durably; its id. A session that does not exist yet begins with it."""
        name = check_key(key or self.settings.key)
        prepared = prepare(record, self._clock())
        opening: Sequence[Line] = ()

        def build(tail: Tail) -> Sequence[Line]:
            if tail.session_id is not None:
                return [prepared.line(tail.last_id)]
            if not opening:
                return ()  # what a new session inherits may take long to read: not while others wait for the lock
            return [*opening, prepared.line(opening[-1].id if len(opening) > 1 else None)]

        written = self.backend.append(name, build)
        if not written:
            opening = self._opening(name)
            written = self.backend.append(name, build)
        if prepared.record["type"] == "compaction":
            stored = self.backend.stored(name)
            assert stored is not None
            self.backend.describe(name, {**stored.details, "compactionCount": _count(stored) + 1})
        return str(written[-1].id)

    def read(self, key: str | None = None) -> Iterator[bytes]:
        """Every line of a session, oldest first, in bounded memory."""
        return self.backend.lines(check_key(key or self.settings.key))

    def close(self) -> None:
        """Let go of files and databases; using the store again opens them again."""
        self.backend.close()

    def list(self) -> tuple[SessionInfo, ...]:
        """Every session, the one that was used last first."""
        found = sorted(self.backend.sessions(), key=lambda one: (-one.updated_at, one.key))
        return tuple(map(_info, found))

    def _session(self, key: str, session_id: str, window: Window, details: Mapping[str, Any], **more: Any) -> Session:
        metadata = details.get("metadata")
        return Session(
            key,
            session_id,
            window,
            settings=self.settings,
            metadata=metadata if isinstance(metadata, dict) else {},
            clock=self._clock,
            **more,
        )

    def _opening(self, key: str) -> Sequence[Line]:
        """The first lines of a new session: its header, and what it inherits."""
        now = self._clock()
        opening = [make_header(key, None, now)]
        if self.settings.inherit.enabled:
            from jsonlstore.context.inherit import inherited_records

            source = self.settings.default_key if key == self.settings.key else openclaw_key_for(key)
            records = inherited_records(self.state_dir, source, self.settings.inherit, now)
            opening += [record.line(None) for record in records]
        return opening

    def _describe(self, stored: Stored, session: Session, metadata: Mapping[str, Any], compactions: int) -> None:
        details = {
            **stored.details,
            "totalTokens": session.total_tokens,
            "contextTokens": session.max_tokens,
            "compactionCount": _count(stored) + compactions,
            "metadata": metadata,
        }
        clean = redact_value(details)
        if clean != stored.details:
            self.backend.describe(session.key, clean)


def open_backend(
    state_dir: Path,
    settings: SessionSettings,
    kind: str | None = None,
    *,
    clock: Clock = system_clock,
    disk: Disk | None = None,
) -> Backend:
    """The backend the settings mean, or the other one at its default place; refuses places that are not ours."""
    wanted = kind or settings.store
    path = transcript_place(state_dir, settings, wanted)
    check_place(path, state_dir, wanted)
    if wanted == "sqlite":
        from jsonlstore.context.sqlite import SqliteBackend

        return SqliteBackend(path, disk=disk, clock=clock)
    from jsonlstore.context.jsonl import JsonlBackend

    return JsonlBackend(path, disk=disk, clock=clock)


def _settings(
    state_dir: Path, given: SessionSettings | Mapping[str, Any] | str | os.PathLike[str] | None
) -> SessionSettings:
    if isinstance(given, SessionSettings):
        return given
    if isinstance(given, Mapping):
        return read_session_settings(given.get("session", given))
    if not isinstance(given, str | os.PathLike | None):
        raise ConfigError(f"settings are an object or a file, not {given!r:.60}", hint="see docs/transcripts.md")
    from jsonlstore.core.config import load_config

    return load_config(state_dir, os.fspath(given) if given is not None else None).session


def _chain(records: Sequence[Prepared], parent: str | None) -> list[Line]:
    lines: list[Line] = []
    for record in records:
        lines.append(record.line(parent))
        parent = lines[-1].id
    return lines


def _unlinked(record: Prepared) -> Prepared:
    return Prepared(record.record, False, record.millis, record.hidden)


def _count(stored: Stored) -> int:
    known = stored.details.get("compactionCount")
    return known if isinstance(known, int) else 0


def _time_text(millis: int) -> str:
    """A time for people; one that no calendar has is the last there is."""
    try:
        return format_time(from_millis(millis))
    except OverflowError:
        return format_time(datetime.max.replace(tzinfo=UTC) if millis > 0 else datetime.min.replace(tzinfo=UTC))


def _info(stored: Stored) -> SessionInfo:
    details = stored.details
    used, window, metadata = details.get("totalTokens"), details.get("contextTokens"), details.get("metadata")
    return SessionInfo(
        stored.key,
        stored.session_id,
        _time_text(stored.created_at),
        _time_text(stored.updated_at),
        stored.path,
        used if isinstance(used, int) else None,
        window if isinstance(window, int) else None,
        _count(stored),
        metadata if isinstance(metadata, dict) else {},
    )


__all__ = ["SessionInfo", "TranscriptStore", "open_backend"]
