"""Which of a session's decisions stand at its end: rules last, what was picked or asked for fades when it is done.

A rule is told by its words. What was merely wished, picked or asked for is told where the rest of the session bears it
out (`backing`): most such sentences are carried out with the next answer and matter to nobody after it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jsonlstore.signals.applied import APPLIED, applied_choices
from jsonlstore.signals.choices import CHOICE, DECISION, WEAK_RULE
from jsonlstore.signals.conversation import USER
from jsonlstore.signals.notes import NoteBook, is_echo
from jsonlstore.signals.shaped import SHAPED, shaped_requests
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jsonlstore.core.model import Note
    from jsonlstore.signals.backing import Backing
    from jsonlstore.signals.conversation import Exchange
    from jsonlstore.signals.language import Language

RECENT = 6  # exchanges
RECENT_YES = 4  # the same for a bare yes: what it agreed to is done sooner than a plan that was picked
FADING = 12  # exchanges, at least half a session: what was decided before, and is no rule, has mostly been done
APPLIED_SHOWN = 2  # of what the agent settled: its latest choices
LEAST_PASTED = 4  # messages in a row


def weighed_notes(notes: Iterable[Note], talk: Sequence[Exchange], backing: Backing) -> list[Note]:
    """The notes; what the user picked or agreed to in the last exchanges is what the next session builds on."""
    recent = {one.user.id for one in talk[-RECENT:]}
    stopped = {one.user.id for one in talk if one.last.aborted}
    agreed = {one.user.id for one in talk[-RECENT_YES:-1]} - stopped  # the last request is told as such
    fading = {one.user.id for one in talk[-FADING:]}
    late = talk[-max(FADING, len(talk) // 2) :]
    lately = {moment.id for one in late for moment in (one.user, *one.answers)}
    since = late[0].user.at if late else ""  # what was picked where a tool asked stands in no message of its own
    in_lines = pasted(talk)
    told: list[Note] = []
    for note in notes:
        if note.source_entry_id in in_lines:
            told.append(replace(note, confidence=min(note.confidence, 0.6)))
        elif note.extra["evidence"]["kind"] == CHOICE and note.confidence < 0.7:
            # a step through a menu, or a yes to what was offered: long done unless it was said just now
            if note.source_entry_id in (agreed if note.confidence < 0.6 else recent):
                told.append(_kept_choice(note))
            elif note.source_entry_id in fading or (note.timestamp >= since and note.confidence > 0.6):
                told.append(note)
        elif note.extra["evidence"]["kind"] == CHOICE and note.timestamp >= since:
            told.append(note)
        elif note.type == DECISION and note.confidence <= _fades(note):
            told.append(_as_backed(note, backing, late=note.source_entry_id in lately))
        else:
            told.append(note)
    return told


def _as_backed(note: Note, backing: Backing, *, late: bool) -> Note:
    """What the user wished or picked, as sure as the rest of the session makes it; what they forbid may be new."""
    place = backing.place(note.source_entry_id, note.timestamp)
    if note.extra["evidence"]["kind"] != USER or place is None:
        return note if late else replace(note, confidence=min(note.confidence, 0.65))
    said = note.content
    if backing.came_back(said, place) or backing.is_called_one(said) or (late and backing.answered(place)):
        return replace(note, confidence=max(note.confidence, 0.7))
    return note if late and note.confidence >= WEAK_RULE else replace(note, confidence=min(note.confidence, 0.65))


def _fades(note: Note) -> float:
    """Up to which confidence a note fades: a mere "only" or "must" does, what was picked by its name does not."""
    return 0.7 if note.extra["evidence"]["kind"] == CHOICE else WEAK_RULE


def settled_notes(
    talk: Sequence[Exchange], told: Sequence[Note], language: Language | None, backing: Backing
) -> list[Note]:
    """What was asked for and done lately, unless it is told already: a reply that picks something is told as such."""
    known = [content_words(note.content) for note in told if note.type == DECISION]
    replies = {note.source_entry_id for note in told if note.extra["evidence"]["kind"] == CHOICE}
    in_lines = pasted(talk)
    book = NoteBook()
    late = talk[-max(FADING, len(talk) // 2) :]
    chosen = ((one, content_words(one[1])) for one in applied_choices(late, language))
    applied = [one for one, words in chosen if not any(is_echo(words, other) for other in known)]
    shown = [said for _, said, against in applied if against and backing.is_named(said)][-APPLIED_SHOWN:]
    for closing, said, _ in applied:  # first: what the user asked for is shown before it
        sure = 0.7 if said in shown else 0.6
        book.add(DECISION, said, sure, entry_id=closing.id, at=closing.at, source=APPLIED)
    for user, wish, corrects in shaped_requests(late, language):
        words = content_words(wish)
        if user.id not in replies and user.id not in in_lines and not any(is_echo(words, one) for one in known):
            place = backing.place(user.id, user.at)
            borne_out = corrects or (place is not None and backing.came_back(wish, place))
            sure = 0.7 if borne_out else 0.6
            book.add(DECISION, wish, sure, entry_id=user.id, at=user.at, source=SHAPED)
    return book.notes()


def _kept_choice(note: Note) -> Note:
    """A choice of the last exchanges: what the session goes on with, whichever directory it was in when it was made."""
    return replace(note, confidence=0.7, extra={key: said for key, said in note.extra.items() if key != "project"})


def pasted(talk: Sequence[Exchange]) -> frozenset[str | None]:
    """The messages of a text that a terminal sent line by line: many in a row that nobody could answer between."""
    found: list[str | None] = []
    run: list[str | None] = []
    for one in talk:
        run.append(one.user.id)
        if one.answers:
            found += run if len(run) >= LEAST_PASTED else []
            run = []
    return frozenset(found + (run if len(run) >= LEAST_PASTED else []))
