"""The hooks of the context window: a flush was offered, a summary is wanted, a compaction is over.

Loaded only when one of them is called. Each fails open: without an answer the runtime goes its own way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.cli.hook_call import PLACE_FIELDS, Answer, hook_manager, hook_session, wrapped_block
from jsonlstore.core.errors import JsonlStoreError, UsageError
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonlstore.cli.app import App
    from jsonlstore.restore import SessionPersistenceManager
    from jsonlstore.store import SessionStore
    from jsonlstore.transcripts import RecordedSession

log = logger("jsonlstore.session")

_MOST_TIMES = 64


def settle_offered_flush(store: SessionStore, document: dict[str, Any], session_id: str) -> bool:
    """Read from the transcript whether the flush was acted upon; nobody waits for this."""
    from jsonlstore.context import settle_flush
    from jsonlstore.signals import Distiller
    from jsonlstore.transcripts import by_stretch

    folded = store.folded(session_id)
    session = _recorded(store, document) if folded.flush and not folded.flush.get("settled") else None
    if session is None:
        return False
    distiller = Distiller()
    for part, entry in by_stretch(session.session_id, session.read()):
        if part.id == session_id:
            distiller.feed(entry)
    return settle_flush(store, session_id, distiller.facts(), by="hook")


def memory_files_of(store: SessionStore, document: dict[str, Any], session_id: str) -> tuple[str, ...] | None:
    """The memory files that a session wrote, read from its transcript, redacted; None if there is no transcript."""
    from jsonlstore.redact import redact
    from jsonlstore.signals import memory_files_in
    from jsonlstore.transcripts import by_stretch

    session = _recorded(store, document)
    if session is None:
        return None
    parts = by_stretch(session.session_id, session.read())
    files = memory_files_in(entry for part, entry in parts if part.id == session_id)
    return tuple(redact(one)[0] for one in files)


def _flush_offered(document: dict[str, Any], app: App, dry_run: bool) -> Answer:
    """The agent is asked in this very turn to write down what must last."""
    offered = document.get("flush")
    answer: dict[str, Any] = {"session_id": document["session_id"], "recorded": False}
    if not isinstance(offered, dict) or type(offered.get("percent")) is not int:
        raise UsageError("flush must be an object with a percent")
    try:
        manager, session_id = _session_of(document, app)
        answer["session_id"] = session_id
        known = {name: document[name] for name in PLACE_FIELDS if document.get(name)}
        if dry_run or not manager.records(known):
            return answer, None
        from jsonlstore.context import offer_flush

        manager.update_session_state({**known, "session_id": session_id})  # one nobody announced begins here
        answer["recorded"] = offer_flush(manager.store, session_id, offered)
    except UsageError:
        raise
    except Exception as problem:  # noqa: BLE001 - fail open: a turn that is not recorded stops nobody
        log.warning("flush of %s not recorded: %s", answer["session_id"], problem)
        return {**answer, "error": str(problem)}, None
    return answer, None


def _compact(document: dict[str, Any], app: App, dry_run: bool) -> Answer:
    """The summary of a session that is about to be compacted; null on any doubt."""
    answer: dict[str, Any] = {"session_id": document["session_id"], "summary": None, "from_checkpoint": False}
    seen, previous, tokens = (document.get(name) for name in ("seen", "previous_summary", "tokens"))
    try:
        manager, session_id = _session_of(document, app)
        answer["session_id"] = session_id
        times = [one for one in seen if type(one) is int][:_MOST_TIMES] if isinstance(seen, list) else []
        session = _recorded(manager.store, document)
        if not times or session is None or not manager.records({"session_key": document.get("session_key")}):
            return {**answer, "reason": "the conversation is not certain"}, None
        from jsonlstore.context import summarize_session

        made = summarize_session(
            manager.store,
            session,
            session_id,
            seen=times,
            previous=previous if isinstance(previous, str) else None,
            tokens=tokens if type(tokens) is int and tokens > 0 else None,
            settings=app.loaded.session,
        )
    except UsageError:
        raise
    except Exception as problem:  # noqa: BLE001 - fail open: the runtime writes its own summary
        log.warning("no summary of %s: %s", answer["session_id"], problem)
        return {**answer, "error": str(problem)}, None
    if made is None:
        return {**answer, "reason": "the transcript does not fit, or says nothing"}, None

    def after() -> None:
        data = {"fromCheckpoint": made.from_checkpoint, "characters": len(made.text)}
        if made.tokens:
            data["tokensBefore"] = made.tokens
        manager.store.note(session_id, "compaction.supplied", data, by="hook")

    return {**answer, "summary": made.text, "from_checkpoint": made.from_checkpoint}, None if dry_run else after


def _compacted(document: dict[str, Any], app: App, dry_run: bool) -> Answer:
    """A compaction is over: the block, which from now on names the memory files written in this session."""
    answer: dict[str, Any] = {"session_id": document["session_id"]}
    try:
        manager, session_id = _session_of(document, app)
        answer["session_id"] = session_id
        store = manager.store
        files = memory_files_of(store, document, session_id)
        if files is None or not manager.records({"session_key": document.get("session_key")}):
            return answer, None
        if not dry_run:
            data = {"memoryFiles": list(files)}
            store.append_if(
                session_id,
                lambda folded: (
                    None if list(folded.memory_files) == data["memoryFiles"] else ("session.compacted", data)
                ),
                by="hook",
            )
        answer["block"] = wrapped_block(manager, session_id)
    except UsageError:
        raise
    except Exception as problem:  # noqa: BLE001 - fail open: the block stays as it was
        log.warning("compaction of %s not noted: %s", answer["session_id"], problem)
        return {**answer, "error": str(problem)}, None
    return answer, None


def _checkpoint(document: dict[str, Any], app: App, dry_run: bool) -> Answer:
    """Without `text`, what a model is asked about the newest checkpoint that none has worded; with it, its answer."""
    answer: dict[str, Any] = {"session_id": document["session_id"], "recorded": False}
    text, at = document.get("text"), document.get("at")
    try:
        manager, session_id = _session_of(document, app)
        answer["session_id"] = session_id
        known = manager.store.folded(session_id).checkpoint
        if not known or known.get("by") or not manager.records({"session_key": document.get("session_key")}):
            return answer, None
        from jsonlstore.context import answer_in, generator_prompt, newest_checkpoint, reworded

        newest = newest_checkpoint(manager.store, session_id)
        if newest is None:
            return answer, None
        if not isinstance(text, str):
            return {**answer, "at": newest.checkpoint.timestamp, "prompt": generator_prompt(newest.checkpoint)}, None
        worded = reworded(newest.checkpoint, answer_in(text))
        if at != newest.checkpoint.timestamp or worded == newest.checkpoint or dry_run:
            return answer, None  # an answer that speaks of an older one, or says nothing
        event = "checkpoint.created", {**newest.data, **worded.to_dict(), "by": "model"}
        answer["recorded"] = manager.store.append_if(
            session_id, lambda now: event if (now.checkpoint or {}).get("at") == at else None, by="hook"
        )
    except UsageError:
        raise
    except Exception as problem:  # noqa: BLE001 - fail open: the words made without a model stay
        log.warning("checkpoint of %s not worded: %s", answer["session_id"], problem)
        return {**answer, "error": str(problem)}, None
    return answer, None


HOOKS: dict[str, Callable[[dict[str, Any], App, bool], Answer]] = {
    "flush-offered": _flush_offered,
    "compact": _compact,
    "compacted": _compacted,
    "checkpoint": _checkpoint,
}


def _session_of(document: dict[str, Any], app: App) -> tuple[SessionPersistenceManager, str]:
    manager = hook_manager(app)
    return manager, hook_session(manager, document)


def _recorded(store: SessionStore, document: dict[str, Any]) -> RecordedSession | None:
    """The transcript the call is about; None if no runtime has it."""
    from jsonlstore.core.session_key import agent_of
    from jsonlstore.transcripts import recorded_session

    agent = agent_of(document.get("agent_id"), document.get("session_key"))
    try:
        return recorded_session(store.paths.state_dir, agent, document["session_id"])
    except JsonlStoreError as problem:
        log.warning("no transcript of %s: %s", document["session_id"], problem.message)
        return None
