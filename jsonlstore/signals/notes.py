"""The notes of a session: what was told, one short sentence each, and which blockers were got out of the way."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from itertools import islice

from jsonlstore.core.model import Note, PendingTask
from jsonlstore.signals import pattern_rules as rules
from jsonlstore.signals.background import RARE, rarity
from jsonlstore.signals.patterns import GENERAL, STRONG, Detected
from jsonlstore.signals.sentences import shorten
from jsonlstore.signals.words import keywords

LONGEST_NOTE = 100
MOST_REMEMBERED = 400
_PRONOUN_REACH = 30
_ECHO_REACH = 40


@dataclass(slots=True)
class _Kept:
    note: Note
    words: frozenset[str]
    message: int


@dataclass(slots=True)
class NoteBook:
    """Collects notes message by message; the same thing said again is noted once."""

    most: int = 60
    _kept: dict[tuple[str, str], _Kept] = field(default_factory=dict)
    _message: int = 0

    def next_message(self) -> None:
        """A new message begins."""
        self._message += 1

    def add(self, told: Detected, entry_id: str | None, at: str, project: str | None = None) -> bool:
        """Note one thing; returns whether it is new. An accomplishment resolves blockers about the same thing."""
        content = shorten(told.sentence, LONGEST_NOTE)
        words = frozenset(keywords(told.sentence))
        if told.kind == rules.DONE:
            self._resolve(frozenset(keywords(told.clause or told.sentence)))
        key = (told.kind, " ".join(sorted(words)) or content.lower())
        if self._is_known(key, words):
            return False
        note = Note(
            id=_note_id(told.kind, content, entry_id),
            type=told.kind,
            content=content,
            timestamp=at,
            confidence=told.confidence,
            source_entry_id=entry_id,
            resolved=False if told.kind == rules.BLOCKER else None,
            extra={"project": project} if project else {},
        )
        self._kept.pop(key, None)
        self._kept[key] = _Kept(note, words, self._message)
        if len(self._kept) > MOST_REMEMBERED:
            del self._kept[next(iter(self._kept))]
        return True

    def _is_known(self, key: tuple[str, str], words: frozenset[str]) -> bool:
        """Whether the same was said already, perhaps repeated by the other side; a resolved blocker may come back."""
        latest = [kept for (kind, _), kept in islice(reversed(self._kept.items()), _ECHO_REACH) if kind == key[0]]
        echo = [kept for kept in latest if words and len(kept.words & words) * 10 >= 7 * len(kept.words | words)]
        same = [self._kept[key], *echo] if key in self._kept else echo
        return any(kept.note.resolved is not True for kept in same)

    def open_blockers(self) -> list[tuple[PendingTask, Note]]:
        """Strong blockers nobody got out of the way: the task each leaves open, and the note that says so."""
        found = []
        for kept in self._kept.values():
            note = kept.note
            if note.type == rules.BLOCKER and note.confidence >= STRONG and not note.resolved:
                task_id = f"text-{note.id[:10]}"
                task = PendingTask(task_id, note.content, "blocked", flagged_incomplete=True)
                opened = replace(
                    note, id=_note_id(rules.TASK, note.content, note.source_entry_id), type=rules.TASK, resolved=None
                )
                found.append((task, opened))
        return found

    def notes(self) -> list[Note]:
        """The notes kept, oldest first. Too many: the least sure and oldest go."""
        kept = list(self._kept.values())
        if len(kept) > self.most:
            places = {id(one): place for place, one in enumerate(kept)}
            best = sorted(kept, key=lambda one: (-one.note.confidence, -places[id(one)]))[: self.most]
            kept = sorted(best, key=lambda one: places[id(one)])
        return [one.note for one in kept]

    def _resolve(self, words: frozenset[str]) -> None:
        """Close the blockers an accomplishment is about; one without a subject ("fixed it") closes the latest."""
        blockers = [one for one in self._kept.values() if one.note.type == rules.BLOCKER and not one.note.resolved]
        about = [one for one in blockers if _same_thing(one.words, words)]
        telling = [word for word in words if rarity(word) >= RARE]
        if not about and not telling and blockers and self._message - blockers[-1].message <= _PRONOUN_REACH:
            about = blockers[-1:]
        for one in about:
            one.note = replace(one.note, resolved=True)


def _same_thing(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = one & other
    return len(shared) >= 2 or any(rarity(word) >= RARE for word in shared)


def _note_id(kind: str, content: str, entry_id: str | None) -> str:
    return hashlib.sha256(f"{kind}\0{entry_id}\0{content}".encode("utf-8", "replace")).hexdigest()[:12]


def for_project(notes: list[Note], project: str | None) -> list[Note]:
    """The notes that belong to `project`: its own and those of no known project; none for "general"."""
    if not project or project.lower() == GENERAL:
        return []
    wanted = project.lower()
    return [note for note in notes if str(note.extra.get("project", wanted)).lower() == wanted]
