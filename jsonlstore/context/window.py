"""The end of a conversation, read backwards: as much of the active path as the model would see, and no more.

A long session is mostly history that a compaction put away, and branches that were left. Reading from the newest record
towards the root keeps neither in memory; which messages the model then sees is decided by the one set of rules in
`transcripts.context`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.transcripts import Entry, parse_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

# How we write the beginning of a record. Lines of other branches are passed over by it without being parsed.
_ENVELOPE = re.compile(rb'\{"type":"[a-z_]{1,40}","id":"([^"\\]{1,200})","parentId":(?:null|"[^"\\]{1,200}"),')
SPOKEN = frozenset({"message", "custom_message", "branch_summary"})


@dataclass(frozen=True, slots=True)
class Window:
    """Part of the active path, oldest first.

    `earlier` holds what still counts from before it: the last model, thinking level and checkpoint. `complete` is false
    where reading stopped because only so many messages were asked for.
    """

    path: tuple[Entry, ...]
    earlier: tuple[Entry, ...]
    complete: bool
    last: int | None = None


def read_window(newest_first: Iterator[bytes], *, last: int | None = None, leaf: str | None = None) -> Window:
    """What the model would see from `leaf` (default: the newest record), at most the last so many messages of it."""
    path: list[Entry] = []
    cut = _Cut()
    spoken = 0
    entries = _path_back(newest_first, leaf)
    for entry in entries:
        path.append(entry)
        spoken += entry.type in SPOKEN
        if cut.reached(entry):
            return Window(tuple(reversed(path)), _earlier(entries, path), complete=True, last=last)
        if last is not None and spoken >= last and not cut.found:
            return Window(tuple(reversed(path)), (), complete=False, last=last)
    return Window(tuple(reversed(path)), (), complete=True, last=last)


class _Cut:
    """Follows a path backwards to the point before which nothing is seen: the first entry that the latest cut keeps.

    A reset outranks a compaction, which is applied to what the reset left visible. Earlier cuts of the same type change
    nothing: the latest one may keep entries from before them.
    """

    def __init__(self) -> None:
        self._type: str | None = None
        self._first_kept: str | None = None

    @property
    def found(self) -> bool:
        return self._type is not None

    def reached(self, entry: Entry) -> bool:
        if (entry.type == "reset" and self._type != "reset") or (entry.type == "compaction" and self._type is None):
            kept = entry.raw.get("firstKeptEntryId")
            self._type, self._first_kept = entry.type, kept if isinstance(kept, str) else None
            return self._first_kept is None
        return self.found and entry.id == self._first_kept


def _path_back(newest_first: Iterator[bytes], leaf: str | None) -> Iterator[Entry]:
    """The entries from the leaf to the root. Records come after their parents, so one pass is enough."""
    wanted = leaf
    for line in newest_first:
        if wanted is not None and (head := _ENVELOPE.match(line)) and head[1].decode("utf-8", "replace") != wanted:
            continue
        entry = parse_entry(line)
        if entry is None or entry.type == "session" or (wanted is not None and entry.id != wanted):
            continue
        if entry.type == "leaf":
            target = entry.raw.get("targetId")
            wanted = target if isinstance(target, str) else None
        else:
            yield entry
            wanted = entry.parent_id
        if wanted is None:
            return


def _earlier(entries: Iterator[Entry], path: list[Entry]) -> tuple[Entry, ...]:
    """The last model, thinking level and checkpoint before the part that was read, oldest first."""
    missing = {"model", "thinking", "checkpoint"} - {_told_by(entry) for entry in path}
    found: list[Entry] = []
    while missing:
        entry = next(entries, None)
        if entry is None:
            break
        told = _told_by(entry)
        if told in missing:
            missing.discard(told)
            found.append(entry)
    return tuple(reversed(found))


def _told_by(entry: Entry) -> str:
    if entry.type == "model_change" or (entry.type == "message" and entry.role == "assistant"):
        return "model"
    return {"thinking_level_change": "thinking", "checkpoint": "checkpoint"}.get(entry.type, "")
