"""`working_memory.json`: another program's file, read tolerantly and changed with care.

Its format is `{"items": [{"content", "pinnedAt", "label"?}]}`, at most ten items, content at most 500 characters.
Whatever else it holds is kept. The lock lies among our own files, never beside it.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from jsonlstore.core.clock import normalise_time
from jsonlstore.core.config import Config
from jsonlstore.core.errors import JsonlStoreError, Unreadable
from jsonlstore.core.files import read_bytes, write_failed, writing
from jsonlstore.core.logs import logger
from jsonlstore.core.model import WorkingMemoryPin, read_parts, strip_provenance
from jsonlstore.restore.scope import Scope
from jsonlstore.store import SessionFold, SessionStore

log = logger("jsonlstore.session")

_ORIGIN = re.compile(r"\[inherited from (\S+) @ [^\[\]]*\]\s*\Z")

MOST_PINS = 10
UNPINNED = "pin:"  # begins the id of a closing that is a pin's removal
LONGEST_CONTENT = 500


class CurrentPins(NamedTuple):
    """What the pin file holds: its readable pins, how many places are taken, and what is wrong with it, if anything.

    `is_there`: a valid file says what is pinned, also that nothing is; without one nobody knows.
    """

    pins: tuple[WorkingMemoryPin, ...] = ()
    taken: int = 0
    problem: str | None = None
    is_there: bool = False


def with_provenance(pin: WorkingMemoryPin, session_id: str, end_time: str) -> WorkingMemoryPin:
    """The pin as a later session shows it: an older provenance is replaced, never nested (decision 13).

    The file's own program expects a time with every pin: where none was told, it is that session's end.
    """
    label = strip_provenance(pin.label or "").strip()
    mark = f"[inherited from {session_id} @ {end_time}]"
    return replace(
        pin,
        label=f"{label} {mark}" if label else mark,
        content=pin.content[:LONGEST_CONTENT],
        pinned_at=pin.pinned_at or end_time,
    )


def same_pin(pin: WorkingMemoryPin) -> frozenset[str]:
    """What two pins must share to be the same: their bare label; without one, their content.

    An inherited pin that never had a label carries nothing but its provenance there.
    """
    bare = strip_provenance(pin.label or "").strip()
    return frozenset({f"label:{bare}"} if bare else {f"content:{pin.content[:LONGEST_CONTENT]}"})


def pin_mark(pin: WorkingMemoryPin) -> str:
    """What says in a session's closings which pin was taken away; of a pin without secrets."""
    return f"{UNPINNED}{zlib.crc32(min(same_pin(pin)).encode('utf-8', 'replace')):08x}"


class PinFile:
    """The pin file of one workspace."""

    def __init__(self, path: Path, store: SessionStore) -> None:
        self.path = path
        self._store = store

    @classmethod
    def of(cls, store: SessionStore, config: Config) -> PinFile:
        """The pin file that the settings name."""
        return cls(store.paths.workspace_file(config.working_memory), store)

    def read(self) -> CurrentPins:
        """What is pinned. A missing file is empty; a broken one too, and says so. Nothing is changed."""
        try:
            data = read_bytes(self.path)
        except JsonlStoreError as problem:
            return CurrentPins(problem=problem.message)
        if data is None or not data.strip():
            return CurrentPins()
        document = _parse(data)
        if document is None:
            return CurrentPins(problem=f"{self.path} is not a pin file")
        items = document["items"]
        # what is no pin keeps its place
        return CurrentPins(read_parts(WorkingMemoryPin, items), len(items), is_there=True)

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another pin."""
        return self.read().taken >= MOST_PINS

    def add(self, pins: Sequence[WorkingMemoryPin], most: int, *, dry_run: bool = False) -> list[WorkingMemoryPin]:
        """Add what is not there yet, at most `most`, within the file's ten; returns what was, or would be, added.

        The user's own pins are never pushed out. A broken file is copied aside first, beside itself.
        """
        if not pins:
            return []
        if dry_run:
            known = self.read()
            return self._choose(pins, [one.to_dict() for one in known.pins], min(most, MOST_PINS - known.taken))
        self._store.prepare()
        with self._store.locks.pins():
            data = read_bytes(self.path)
            document = _parse(data) if data and data.strip() else {"items": []}
            if document is None:
                assert data is not None
                log.warning("%s is broken; it is kept as %s", self.path, self._keep_aside(data))
                document = {"items": []}
            items: list[Any] = document["items"]
            chosen = self._choose(pins, items, most)
            if chosen:
                self._write({**document, "items": [*items, *(pin.to_dict() for pin in chosen)]})
            return chosen

    def remove(self, names: Sequence[str], *, dry_run: bool = False) -> list[WorkingMemoryPin]:
        """Remove the pins with these labels, numbers (from 1) or contents; returns them. Nothing else is touched."""
        self._store.prepare()
        with self._store.locks.pins():
            data = read_bytes(self.path)
            document = _parse(data) if data and data.strip() else {"items": []}
            if document is None:
                raise Unreadable(f"{self.path} is not a pin file", hint="mend it first; nothing was changed")
            wanted, gone, left, number = set(names), list[WorkingMemoryPin](), list[Any](), 0
            for item in document["items"]:
                found = read_parts(WorkingMemoryPin, [item])
                number += len(found)
                matched = [pin for pin in found if wanted & _names_of(number, pin)]
                gone += matched
                left += [] if matched else [item]  # what is no pin stays where it is
            if gone and not dry_run:
                self._write({**document, "items": left})
            return gone

    @staticmethod
    def _choose(pins: Iterable[WorkingMemoryPin], items: list[Any], most: int) -> list[WorkingMemoryPin]:
        taken = {key for pin in read_parts(WorkingMemoryPin, items) for key in same_pin(pin)}
        room = min(most, MOST_PINS - len(items))
        chosen: list[WorkingMemoryPin] = []
        for pin in pins:
            keys = same_pin(pin)
            if len(chosen) < room and not keys & taken:
                chosen.append(pin)
                taken |= keys
        return chosen

    def _write(self, document: dict[str, Any]) -> None:
        data = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        disk, states = self._store.disk, self._store.paths.states
        disk.make_dir(self.path.parent)
        target = self.path.resolve()  # a link stays a link
        with writing(target):
            mode = os.stat(target).st_mode & 0o777 if target.exists() else 0o600
            same_disk = os.stat(target.parent).st_dev == os.stat(states).st_dev
            disk.replace(target, data, states if same_disk else target.parent)
            os.chmod(target, mode)

    def _keep_aside(self, data: bytes) -> Path:
        """A private copy of a broken file beside it: it may hold secrets, and it is not ours to lose."""
        for number in range(1000):
            aside = self.path.with_name(f"{self.path.name}.corrupt-{number}")
            with suppress(FileNotFoundError):
                if aside.read_bytes() == data:
                    return aside
                continue
            self._store.disk.replace(aside, data, aside.parent)
            return aside
        raise write_failed(self.path, OSError(f"too many broken copies beside {self.path}"))


def _parse(data: bytes) -> dict[str, Any] | None:
    """The file's object, or None if it is not a pin file."""
    try:
        document = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return None
    if not isinstance(document, dict):
        return None
    items = document.get("items")
    if items is None:
        return {**document, "items": []}
    return document if isinstance(items, list) else None


def note_removed(store: SessionStore, gone: Iterable[WorkingMemoryPin]) -> list[str]:
    """Record that an operator took pins away, with the newest session of each conversation that holds one.

    The file alone cannot tell it: the next session would inherit them again. Returns those sessions.
    """
    from jsonlstore.redact import redact_value

    marks = {pin_mark(pin) for pin in read_parts(WorkingMemoryPin, [redact_value(pin.to_dict()) for pin in gone])}
    entries = [one for one in store.entries() if not one.forgotten]
    newest: dict[Scope, str] = {}
    for entry in sorted(entries, key=lambda one: (one.end_time is None, one.end_time or one.start_time), reverse=True):
        newest.setdefault(Scope.of_session("conversation", entry), entry.session_id)
    told: dict[str, None] = {}
    for entry in entries:
        target = newest[Scope.of_session("conversation", entry)]
        if target in told or not entry.pin_count:
            continue
        try:
            if marks & {pin_mark(pin) for pin in store.get(entry.session_id).working_memory}:
                store.change_tasks(target, lambda folded: _with_removed(folded, marks))
                told[target] = None
        except JsonlStoreError as problem:
            log.warning("the removal of pins is not recorded in %s: %s", target, problem)
    return list(told)


def _with_removed(folded: SessionFold, marks: Iterable[str]) -> dict[str, Any]:
    before = list(folded.layers.get("operator", {}).get("closed", ()))
    seen = {one.get("id") for one in before if isinstance(one, dict)}
    fresh = [{"id": one, "title": "", "how": "unpinned by the operator"} for one in sorted(marks) if one not in seen]
    return {"closed": [*before, *fresh]}


def _names_of(number: int, pin: WorkingMemoryPin) -> set[str]:
    label = pin.label or ""
    return {str(number), label, strip_provenance(label).strip(), pin.content} - {""}


def own_pins(
    pins: Sequence[WorkingMemoryPin], scope: Scope, session_id: str, raw: Mapping[str, Mapping[str, Any]], now: str
) -> list[WorkingMemoryPin]:
    """The pins this conversation may call its own.

    An inherited pin belongs to where it came from. Any other belongs to whoever was talking when it was set: while
    another conversation was open at that moment nobody can tell, so it is left to the transcript to say.
    """
    if scope.reach == "all" or not pins:
        return list(pins)
    reaches = scope.in_reach()
    foreign = {
        other: entry
        for other, entry in raw.items()
        if other != session_id and not entry.get("forgotten") and not reaches(entry)
    }
    return [pin for pin in pins if not foreign or not _is_foreign(pin, foreign, raw, now)]


def _is_foreign(
    pin: WorkingMemoryPin, foreign: Mapping[str, Mapping[str, Any]], raw: Mapping[str, Any], now: str
) -> bool:
    origin = _ORIGIN.search(pin.label or "")
    if origin and origin[1] in raw:
        return origin[1] in foreign
    try:
        at = normalise_time(pin.pinned_at)
    except ValueError:
        return True  # set at an unknown time, with strangers about
    return any(entry["start_time"] <= at <= (entry.get("end_time") or now) for entry in foreign.values())
