"""The notes of a session: one short sentence each, with its evidence; the same thing said again is noted once."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from jsonlstore.core.hashes import sha256
from jsonlstore.core.model import Note
from jsonlstore.signals.patterns import BLOCKER, GENERAL
from jsonlstore.signals.sentences import shorten
from jsonlstore.signals.tasks import covers, evidence
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

LONGEST_NOTE = 100
MOST_REMEMBERED = 400
_ECHO_REACH = 40


@dataclass(slots=True)
class _Kept:
    note: Note
    words: frozenset[str]


@dataclass(slots=True)
class NoteBook:
    """Collects notes message by message."""

    most: int = 60
    _kept: dict[tuple[str, str], _Kept] = field(default_factory=dict)

    def add(
        self,
        kind: str,
        text: str,
        confidence: float,
        *,
        entry_id: str | None = None,
        at: str = "",
        source: str = "user",
        project: str | None = None,
    ) -> bool:
        """Note one thing; returns whether it is new."""
        content = shorten(text, LONGEST_NOTE)
        words = content_words(text)
        key = (kind, " ".join(sorted(words)) or content.lower())
        if self._is_known(key, words):
            return False
        note = Note(
            id=_note_id(kind, content, entry_id),
            type=kind,
            content=content,
            timestamp=at,
            confidence=confidence,
            source_entry_id=entry_id,
            resolved=False if kind == BLOCKER else None,
            extra={**evidence([entry_id], source), **({"project": project} if project else {})},
        )
        self._kept[key] = _Kept(note, words)
        if len(self._kept) > MOST_REMEMBERED:
            del self._kept[next(iter(self._kept))]
        return True

    def take_back(self, kind: str, words: frozenset[str]) -> Note | None:
        """What was said is taken back: the latest note of the kind, or the one the words are about, goes."""
        for key, kept in reversed(list(self._kept.items())):
            if key[0] == kind and (not words or covers(kept.words, words)):
                del self._kept[key]
                return kept.note
        return None

    def replace(self, kind: str, about: Callable[[str], bool], entry_ids: Collection[str | None]) -> list[Note]:
        """Take back what was said in these entries about the same thing as what is said now."""
        gone = [
            key
            for key, kept in self._kept.items()
            if key[0] == kind and kept.note.source_entry_id in entry_ids and about(kept.note.content)
        ]
        return [self._kept.pop(key).note for key in gone]

    def notes(self) -> list[Note]:
        """The notes kept, oldest first. Too many: the least sure and oldest go."""
        kept = list(self._kept.values())
        if len(kept) > self.most:
            places = {id(one): place for place, one in enumerate(kept)}
            best = sorted(kept, key=lambda one: (-one.note.confidence, -places[id(one)]))[: self.most]
            kept = sorted(best, key=lambda one: places[id(one)])
        return [one.note for one in kept]

    def _is_known(self, key: tuple[str, str], words: frozenset[str]) -> bool:
        """Whether the same was said already, perhaps repeated by the other side."""
        if key in self._kept:
            return True
        latest = (kept for (kind, _), kept in islice(reversed(self._kept.items()), _ECHO_REACH) if kind == key[0])
        return any(is_echo(kept.words, words) for kept in latest) if words else False


def is_echo(before: frozenset[str], words: frozenset[str]) -> bool:
    """Whether two notes share seven words in ten."""
    shared = len(before & words)
    return shared * 10 >= 7 * (len(before) + len(words) - shared)


def _note_id(kind: str, content: str, entry_id: str | None) -> str:
    return sha256(f"{kind}\0{entry_id}\0{content}".encode("utf-8", "replace")).hexdigest()[:12]


def for_project(notes: list[Note], project: str | None) -> list[Note]:
    """The notes that belong to `project`: its own and those of no known project; none for "general"."""
    if not project or project.lower() == GENERAL:
        return []
    wanted = project.lower()
    return [note for note in notes if str(note.extra.get("project", wanted)).lower() == wanted]
