"""When the watcher captures a handoff: by what the transcript shows, so that a restart changes nothing.

A capture is due when a session ended, 20 messages came since the last one, a turn became tool-heavy, a compaction is
near, or the watcher stops. All but ends and stops wait a minute from the last capture of the session.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from jsonlstore.core.clock import time_before
from jsonlstore.core.config import Config
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger
from jsonlstore.core.model import SessionState
from jsonlstore.handoff import HandoffRecord, WindowFacts, capture, kept_handoff, summarize
from jsonlstore.store import SessionStore

log = logger("jsonlstore.watch")

_PAUSE = timedelta(minutes=1)
_MOST_SESSIONS = 200
_STOP_SECONDS = 2.0
_RESERVE = 20_000
_FLUSH = 4_000
_NEAR = 0.9  # of what OpenClaw compacts at (decision 62)


class _Seen(NamedTuple):
    facts: WindowFacts
    digest: Callable[[], str]


class HandoffTriggers:
    """Captures the handoffs of the sessions one watcher follows."""

    def __init__(self, store: SessionStore, config: Config) -> None:
        self._store = store
        self._config = config
        self._seen: dict[str, _Seen] = {}

    def note(self, session_id: str, facts: WindowFacts, digest: Callable[[], str]) -> None:
        """Remember what a session's transcript shows now."""
        self._seen.pop(session_id, None)
        self._seen[session_id] = _Seen(facts, digest)
        if len(self._seen) > _MOST_SESSIONS:
            del self._seen[next(iter(self._seen))]

    def progressed(self, session_id: str) -> None:
        """Capture a session that goes on, if that is due."""
        seen = self._seen.get(session_id)
        if seen is None:
            return
        folded = self._store.folded(session_id)
        known = kept_handoff(folded)
        near = is_near_compaction(folded.state())
        trigger = self._due(seen.facts, known, near)
        if trigger is None or (known and known.captured_at > time_before(self._store.clock(), _PAUSE)):
            return
        self._capture(session_id, trigger, near=near)

    def ended(self, session_id: str, reason: str) -> None:
        """Capture a session that ended."""
        self._capture(session_id, reason)
        self._seen.pop(session_id, None)

    def stop(self) -> int:
        """Capture what is not captured yet, for two seconds at most: whoever stops us may not wait longer."""
        deadline = time.monotonic() + _STOP_SECONDS
        done = 0
        for session_id, seen in reversed(list(self._seen.items())):
            if time.monotonic() >= deadline:
                break
            known = kept_handoff(self._store.folded(session_id))
            if known is None or known.document.last_message_index < seen.facts.last_index:
                done += self._capture(session_id, "sigterm")
        return done

    def _due(self, facts: WindowFacts, known: HandoffRecord | None, near: bool) -> str | None:
        index = known.document.last_message_index if known else -1
        if near and (known is None or not known.near or index < facts.compacted_at):
            return "compaction"
        if facts.heavy_at > index:
            return "tools"
        return "messages" if facts.last_index - index >= self._config.handoff_every_messages else None

    def _capture(self, session_id: str, trigger: str, *, near: bool = False) -> bool:
        config, seen = self._config, self._seen.get(session_id)
        command = config.handoff_summarizer if trigger not in ("sigterm", "messages", "tools", "compaction") else ()
        rewrite = partial(summarize, command=command, seconds=config.handoff_summarizer_seconds) if command else None
        try:
            document = capture(
                self._store,
                session_id,
                trigger,
                now=self._store.clock(),
                expires_hours=config.handoff_expires_hours,
                facts=seen.facts if seen else None,
                digest=seen.digest() if seen else "",
                near=near,
                rewrite=rewrite,
            )
        except (JsonlStoreError, OSError) as problem:
            # the session itself is captured; the handoff is made from it when the next session starts
            log.warning("no handoff captured of %s: %s", session_id, problem)
            return False
        if document is not None:
            log.info("%s handoff captured (%s)", session_id, trigger)
        return document is not None


def is_near_compaction(state: SessionState) -> bool:
    """Whether the context is so full that OpenClaw is about to summarise it."""
    tokens = state.tokens
    if tokens is None or not tokens.window:
        return False
    room = tokens.window - min(_RESERVE, tokens.window // 4) - _FLUSH
    return room > 0 and tokens.used >= _NEAR * room
