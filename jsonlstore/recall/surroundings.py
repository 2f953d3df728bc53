"""The turns around a passage: from the transcript while it is there, else from what the index kept of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger
from jsonlstore.redact import Redactor
from jsonlstore.transcripts import Speaker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jsonlstore.recall.documents import StoredDocument, Turn
    from jsonlstore.recall.fulltext import SearchIndex
    from jsonlstore.store import SessionStore

log = logger(__name__)

_SPOKEN = {Speaker.USER: "user", Speaker.ASSISTANT: "assistant"}


def turns_around(
    store: SessionStore, index: SearchIndex, document: StoredDocument, turn: Turn, count: int
) -> list[dict[str, Any]]:
    """Up to `count` turns before and after a turn, it included, oldest first; every text redacted."""
    if document.kind == "session" and turn.entry_id is not None:
        try:
            found = _window(_from_transcript(store, index, document), turn.entry_id, count)
        except (JsonlStoreError, OSError) as problem:
            log.debug("the transcript of %s cannot be read: %s", document.id, problem)
        else:
            if found:
                return found
    kept = (
        {"entry_id": one.entry_id, "at": one.at, "speaker": one.speaker, "text": one.text.replace("\n", " ")}
        for one in index.all_turns(document.no)
    )
    return _window(kept, turn.entry_id, count)


def _from_transcript(store: SessionStore, index: SearchIndex, document: StoredDocument) -> Iterator[dict[str, Any]]:
    from jsonlstore.transcripts import Catalogue

    wanted = index.transcript_of(document.no)
    for session in Catalogue.open(store.paths.state_dir).sessions:
        if f"{session.agent_id}/{session.session_id}" != wanted:
            continue
        redactor = Redactor()
        for stretch, entry in session.stretches():
            if stretch.id == document.id and entry.speaker in _SPOKEN and entry.text.strip():
                text = redactor.heard(entry.text.strip())
                yield {"entry_id": entry.id, "at": entry.timestamp, "speaker": _SPOKEN[entry.speaker], "text": text}


def _window(turns: Iterable[dict[str, Any]], entry_id: str | None, count: int) -> list[dict[str, Any]]:
    before: list[dict[str, Any]] = []
    left = -1
    for turn in turns:
        if left < 0:
            before = [*before[-count:], turn]
            if turn["entry_id"] == entry_id:
                left = count
        elif left > 0:
            before.append(turn)
            left -= 1
        else:
            break
    return before if left >= 0 else []
