"""Checkpoints of followed sessions, and whether an offered flush was acted upon: both read from the transcript.

Called after a turn is in our log, in the watcher's process: never in the way of the turn.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from jsonlstore.context import GeneratorRun, checkpoint_due, make_checkpoint, percent_used, settle_flush
from jsonlstore.core.config import load_config
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonlstore.core.session_settings import SessionSettings
    from jsonlstore.signals import SessionFacts, Signals
    from jsonlstore.store import SessionFold, SessionStore

log = logger("jsonlstore.watch")


class Checkpoints:
    """Writes `checkpoint.created` and `flush.actioned` into our log, each when it is due."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._running: list[tuple[str, dict[str, Any], GeneratorRun]] = []

    def take_worded(self, *, wait: bool = False) -> None:
        """Record what the configured command made of checkpoints; nobody waits for it but a watcher that leaves."""
        waiting, self._running = self._running, []
        for session_id, data, run in waiting:
            if wait:
                run.wait()
            if not run.done:
                self._running.append((session_id, data, run))
                continue
            worded = run.result().to_dict()
            if worded["summary"] == data["summary"]:
                continue
            try:
                self._store.note(session_id, "checkpoint.created", {**data, **worded, "by": "command"}, by="watcher")
            except JsonlStoreError as problem:
                log.warning("checkpoint of %s not worded: %s", session_id, problem.message)

    @cached_property
    def _settings(self) -> SessionSettings:
        return load_config(self._store.paths.state_dir, lenient=True).session

    def after_turn(
        self,
        session_id: str,
        signals: Signals,
        facts: SessionFacts,
        window: int | None,
        cursor: Mapping[str, Any] | None,
    ) -> bool:
        """Record what this turn makes due; True if something was. A failure costs a line in the log."""
        if not facts.turn_over:
            return False
        try:
            wrote = settle_flush(self._store, session_id, facts, by="watcher")
            folded = self._store.folded(session_id)
            return self._checkpoint(session_id, folded, signals, facts, window, cursor) or wrote
        except JsonlStoreError as problem:
            log.warning("no checkpoint of %s: %s", session_id, problem.message)
            return False

    def _checkpoint(
        self,
        session_id: str,
        folded: SessionFold,
        signals: Signals,
        facts: SessionFacts,
        window: int | None,
        cursor: Mapping[str, Any] | None,
    ) -> bool:
        used = signals.tokens.used if signals.tokens else None
        trigger = checkpoint_due(self._settings.checkpoint, facts, used, window, folded.checkpoint or {})
        if trigger is None:
            return False
        made = make_checkpoint(signals, facts, used or 0)
        data = {
            **made.to_dict(),
            "trigger": trigger,
            "userMessages": facts.user_messages,
            "compactions": facts.compactions,
            "percent": int(percent_used(used, window)) if used and window else 0,
        }
        if window:
            data["window"] = window
        if cursor:
            data["source"] = dict(cursor)
        self._store.note(session_id, "checkpoint.created", data, by="watcher")
        if self._settings.checkpoint.command:
            self._running.append((session_id, data, GeneratorRun(made, self._settings.checkpoint)))
        log.info("%s: checkpoint at %s tokens (%s)", session_id, used, trigger)
        return True
