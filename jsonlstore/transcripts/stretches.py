"""Stretches: the entries between two resets of one runtime session form a session of their own (decision 48)."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.core.paths import is_session_id
from jsonlstore.redact import is_secret_id, sanitised

if TYPE_CHECKING:
    from jsonlstore.transcripts.records import Entry

# Permanent: derived session ids in existing stores depend on it.
STRETCH_NAMESPACE = uuid.UUID("6d1f0c1e-6f0a-5c55-9a55-3d2f4f7b9e10")


def stretch_id(session_id: str, reset_entry_id: str) -> str:
    """The id of the stretch that a `reset` record begins, derived so that every computation gives the same id."""
    return str(uuid.uuid5(STRETCH_NAMESPACE, f"{session_id}:{reset_entry_id}"))


def usable_id(native: str) -> str:
    """`native` if it can be one of our session ids, else a stable id derived from it: ids become file names."""
    if is_session_id(native) and not is_secret_id(native):
        return native
    name = native.encode("utf-8", "backslashreplace").decode()
    return str(uuid.uuid5(STRETCH_NAMESPACE, f"session:{name}"))


@dataclass(frozen=True, slots=True)
class Stretch:
    """One stretch: its id and number, and the reset record that began it."""

    id: str
    number: int
    runtime_id: str
    reset_entry_id: str | None
    begun_by: str | None

    @classmethod
    def first(cls, session_id: str) -> Stretch:
        """The stretch before the first reset."""
        return cls(session_id, 0, session_id, None, None)

    def next(self, reset: Entry) -> Stretch:
        """The stretch that a `reset` record begins after this one."""
        entry_id = reset.id or f"@{reset.timestamp}"
        if is_secret_id(entry_id):
            entry_id = usable_id(entry_id)
        reason = reset.raw.get("reason")
        begun_by = sanitised(reason) if isinstance(reason, str) else "reset"
        return Stretch(stretch_id(self.runtime_id, entry_id), self.number + 1, self.runtime_id, entry_id, begun_by)


def by_stretch(start: Stretch | str, entries: Iterable[Entry]) -> Iterator[tuple[Stretch, Entry]]:
    """Each entry with its stretch; a `reset` record is the first entry of the stretch it begins.

    `start` is a session's id, or the stretch in which an earlier reading stopped.
    """
    stretch = Stretch.first(start) if isinstance(start, str) else start
    for entry in entries:
        if entry.type == "reset":
            stretch = stretch.next(entry)
        yield stretch, entry
