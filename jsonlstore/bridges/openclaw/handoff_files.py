"""`agents/<agentId>/handoff/`: the handoffs of our logs as the specification lays them out, for people and programs.

This folder is the one place under `agents/` that is ours (decision 60). It is only ever written from the log, only
inside an agent directory that exists, and nothing reads it back but this module: losing it loses nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.core.clock import format_time, time_before
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import TEMP_PREFIX, Disk, read_bytes
from jsonlstore.core.locks import locked
from jsonlstore.core.logs import logger
from jsonlstore.handoff import HandoffRecord, as_file, kept_handoff
from jsonlstore.redact import sanitised

if TYPE_CHECKING:
    from jsonlstore.store import SessionFold, SessionStore

log = logger("jsonlstore.session")

STATE = "session-state.json"
PENDING = "resume/pending.json"
_MOST_SNAPSHOTS = 48
_MOST_PENDING = 20
_PATTERN_DAYS = 30
_MOST_PATTERN_BYTES = 1 << 20
_SNAPSHOT_PAUSE = timedelta(minutes=1)
_PATIENCE = 0.5  # seconds: a session start waits for its claim, and not for files that can be written later


class HandoffFiles:
    """A listener of the store that keeps the folders up to date. It never raises: the log has everything."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        # unsynced: a power cut may take the newest file, and `doctor --fix` writes it again from the log
        self._disk = Disk(sync=False)

    def __call__(self, session_id: str, folded: SessionFold) -> None:
        try:
            if folded.forgotten or (folded.ended and not self._store.paths.log(session_id).exists()):
                self.forget(session_id)
            elif (record := kept_handoff(folded)) is not None:
                self.write(record)
        except (JsonlStoreError, OSError, ValueError) as problem:
            log.warning("handoff files of %s not written: %s", session_id, problem)

    def folder_of(self, agent: str) -> Path | None:
        """The folder of an agent; None if the agent has no directory, or its name is not a plain one."""
        home = self._store.paths.state_dir / "agents" / agent
        plain = agent not in ("", ".", "..") and "/" not in agent and "\0" not in agent
        return home / "handoff" if plain and home.is_dir() and not home.is_symlink() else None

    def write(self, record: HandoffRecord) -> None:
        """Write what one session's handoff changes."""
        folder = self.folder_of(record.document.agent_id)
        if folder is None:
            return
        places = (folder, folder / "snapshots", folder / "patterns", folder / "resume")
        if any(path.is_symlink() for path in places):
            log.warning("handoff files not written: %s leads elsewhere", folder)
            return
        for path in places:
            self._disk.make_dir(path)
        self._store.prepare()
        with locked(self._store.paths.states / "handoff-files.lock", _PATIENCE):
            now = self._store.clock()
            document = sanitised(record.to_dict(now))
            self._write_state(folder, document, record)
            self._write_pending(folder, document, record, format_time(now))
            # an offer and a claim say nothing new; what is captured after them does
            if record.cleared_at is None and (record.claimed_at is None or record.captured_at > record.claimed_at):
                self._write_snapshot(folder, document, record)
                self._write_patterns(folder, document, format_time(now))

    def forget(self, session_id: str) -> None:
        """Remove every word of a session that was forgotten or archived from every agent's folder."""
        agents = self._store.paths.state_dir / "agents"
        for folder in agents.glob("*/handoff"):
            if folder.is_symlink() or not folder.is_dir():
                continue
            with locked(self._store.paths.states / "handoff-files.lock", _PATIENCE):
                self._forget_in(folder, session_id)

    def problems(self) -> Iterator[tuple[Path, str]]:
        """The files that are not what they should be: too open, left by a crash, broken, or of a forgotten session."""
        for folder in (self._store.paths.state_dir / "agents").glob("*/handoff"):
            for path in (folder, *folder.rglob("*")):
                if path.is_symlink():
                    continue
                if path.stat().st_mode & 0o077:
                    yield path, "others may read it"
                if path.name.startswith(TEMP_PREFIX):
                    yield path, "left by a crash"
                elif path.suffix in (".json", ".jsonl"):
                    yield from ((path, why) for why in self._wrong_in(path))

    def _wrong_in(self, path: Path) -> Iterator[str]:
        from jsonlstore.store import schema_problems

        if path.suffix == ".jsonl":
            lines = [_parsed(line) for line in (read_bytes(path) or b"").splitlines()]
            if any(schema_problems("handoff-pattern", one) for one in lines):
                yield "not a list of patterns"
            return
        found, kind = _read(path), "handoff-pending" if path.parent.name == "resume" else "handoff"
        if found is None or schema_problems(kind, found):
            yield "not a handoff" if kind == "handoff" else "not a list of handoffs"
        elif kind == "handoff" and self._is_gone(str(found.get("previousSessionId"))):
            yield "of a forgotten session"

    def rebuild(self) -> None:
        """Remove what is wrong and write the newest handoff of every session of the last days again."""
        for path, why in list(self.problems()):
            if why == "others may read it":
                os.chmod(path, 0o700 if path.is_dir() else 0o600)
            else:
                path.unlink(missing_ok=True)
        for session_id in recent_sessions(self._store):
            try:
                record = kept_handoff(self._store.folded(session_id))
            except JsonlStoreError:
                continue
            if record is not None:
                self.write(record)

    # -- the four kinds of files

    def _write_state(self, folder: Path, document: Mapping[str, Any], record: HandoffRecord) -> None:
        """`session-state.json` shows the agent's newest handoff; a cleared one is not shown."""
        target = folder / STATE
        shown = _read(target) or {}
        own = shown.get("previousSessionId") == record.document.session_id
        if record.cleared_at is not None:
            for path in (target, *(folder / "snapshots").glob("*.json")):
                if _session_in(path) == record.document.session_id:
                    path.unlink(missing_ok=True)
            return
        if own or str(shown.get("updatedAt", "")) <= record.document.updated_at:
            self._replace(target, document)

    def _write_pending(self, folder: Path, document: Mapping[str, Any], record: HandoffRecord, now: str) -> None:
        """`resume/pending.json` lists the sessions that wait to be picked up, newest first."""
        target = folder / PENDING
        found = (_read(target) or {}).get("pending")
        rest = [
            one
            for one in (found if isinstance(found, list) else [])
            if isinstance(one, dict)
            and one.get("previousSessionId") != record.document.session_id
            and str(one.get("expiresAt", "")) > now
        ]
        if document["resumeAvailable"]:
            names = ("sessionKey", "previousSessionId", "updatedAt", "expiresAt", "project", "mode")
            rest.append({name: document[name] for name in names} | {"lastTopic": document["summary"]["lastTopic"]})
        rest.sort(key=lambda one: str(one.get("updatedAt")), reverse=True)
        self._replace(target, {"pending": rest[:_MOST_PENDING]})

    def _write_snapshot(self, folder: Path, document: Mapping[str, Any], record: HandoffRecord) -> None:
        """`snapshots/<time>.json`, one a minute and session at most; the last 48 stay."""
        place, session_id = folder / "snapshots", record.document.session_id
        names = sorted((path.name for path in place.glob("*.json")), reverse=True)
        line = _file_time(time_before(self._store.clock(), _SNAPSHOT_PAUSE))
        late = [name for name in names if name > line]
        # of one minute the newest capture says it all
        name = next((one for one in late if _session_in(place / one) == session_id), None)
        if name is None:
            moment, number = _file_time(record.captured_at), 1
            name = f"{moment}.json"
            while name in names and _session_in(place / name) != session_id:  # another's of the same second
                number += 1
                name = f"{moment}-{number}.json"
        self._replace(place / name, document)
        for old in sorted({*names, name}, reverse=True)[_MOST_SNAPSHOTS:]:
            (place / old).unlink(missing_ok=True)

    def _write_patterns(self, folder: Path, document: Mapping[str, Any], now: str) -> None:
        """`patterns/<date>.jsonl`: each note once, on the day it was said; 30 days stay."""
        place = folder / "patterns"
        by_day: dict[str, list[Mapping[str, Any]]] = {}
        for note in document["patterns"]:
            by_day.setdefault(str(note["timestamp"])[:10] or now[:10], []).append(note)
        oldest = time_before(self._store.clock(), timedelta(days=_PATTERN_DAYS))[:10]
        for day, notes in by_day.items():
            path = place / f"{day}.jsonl"
            known = read_bytes(path) or b""
            fresh = [one for one in notes if f'"id":"{one["id"]}"'.encode() not in known]
            if day < oldest or not fresh or len(known) > _MOST_PATTERN_BYTES:
                continue
            owner = {"sessionId": document["previousSessionId"], "project": document["project"]}
            lines = b"".join(orjson.dumps({**one, **owner}) + b"\n" for one in fresh)
            self._disk.replace(path, known + lines, place)
        for path in place.glob("*.jsonl"):
            if path.stem < oldest:
                path.unlink(missing_ok=True)

    def _forget_in(self, folder: Path, session_id: str) -> None:
        for path in (folder / STATE, *(folder / "snapshots").glob("*.json")):
            if _session_in(path) == session_id:
                path.unlink(missing_ok=True)
        found = (_read(folder / PENDING) or {}).get("pending") or []
        kept = [one for one in found if one.get("previousSessionId") != session_id]
        if len(kept) < len(found):
            self._replace(folder / PENDING, {"pending": kept})
        for path in (folder / "patterns").glob("*.jsonl"):
            lines = (read_bytes(path) or b"").splitlines(keepends=True)
            rest = [line for line in lines if f'"sessionId":"{session_id}"'.encode() not in line]
            if len(rest) < len(lines):
                self._disk.replace(path, b"".join(rest), path.parent)
        for path in folder.rglob(TEMP_PREFIX + "*"):
            path.unlink(missing_ok=True)

    def _replace(self, target: Path, document: Mapping[str, Any]) -> None:
        self._disk.replace(target, as_file(document), target.parent)

    def _is_gone(self, session_id: str) -> bool:
        try:
            return self._store.folded(session_id).forgotten
        except JsonlStoreError:
            return True


def recent_sessions(store: SessionStore, days: int = 30) -> list[str]:
    """The sessions of the last days, newest first."""
    since = time_before(store.clock(), timedelta(days=days))
    found = [
        (entry.end_time or entry.updated_at or entry.start_time, entry.session_id)
        for entry in store.entries()
        if not entry.forgotten
    ]
    return [session_id for at, session_id in sorted(found, reverse=True) if at >= since]


def _file_time(at: str) -> str:
    """A time as files are named by it."""
    return at[:19].replace(":", "-")


def _session_in(path: Path) -> str | None:
    return (_read(path) or {}).get("previousSessionId")


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return _parsed(read_bytes(path) or b"")
    except JsonlStoreError:
        return None


def _parsed(data: bytes) -> dict[str, Any] | None:
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None
