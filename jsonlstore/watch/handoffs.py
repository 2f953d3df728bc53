"""When the watcher captures a handoff: by what the transcript shows, so that a restart changes nothing.

A capture is due when a session ended, 20 messages came since the last one, a turn became tool-heavy, a compaction is
near, or the watcher stops. All but ends and stops wait a minute from the last capture of the session. A `/handoff` that
reached the model as text, because no plugin took it, is obeyed when it is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from jsonlstore.core.clock import parse_time, time_before
from jsonlstore.core.config import Config
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger
from jsonlstore.core.model import SessionState
from jsonlstore.handoff import (
    COMMAND,
    Handoff,
    HandoffRecord,
    MessageWindow,
    WindowFacts,
    capture,
    clear,
    cleared_at,
    kept_handoff,
    summarize,
)
from jsonlstore.store import SessionStore
from jsonlstore.transcripts import Catalogue, CopyMerger, CursorOutdated, Reading, by_stretch, read_copies

log = logger("jsonlstore.watch")

_PAUSE = timedelta(minutes=1)
_PLUGIN_IS_FIRST = timedelta(seconds=10)  # OpenClaw stores a command after its plugin has carried it out
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
        self._obey(session_id, seen.facts.asked)
        folded = self._store.folded(session_id)
        known = kept_handoff(folded)
        near = is_near_compaction(folded.state())
        trigger = self._due(seen.facts, known, near)
        if trigger is None or (known and known.captured_at > time_before(self._store.clock(), _PAUSE)):
            return
        self._capture(session_id, trigger, near=near)

    def ended(self, session_id: str, reason: str) -> None:
        """Capture a session that ended."""
        if seen := self._seen.get(session_id):
            self._obey(session_id, seen.facts.asked)
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

    def _obey(self, session_id: str, asked: tuple[str, str] | None) -> None:
        """Do what a `/handoff` in the transcript asks for, unless a plugin has done it, or it was overtaken."""
        if asked is None:
            return
        action, at = asked
        folded = self._store.folded(session_id)
        known, cleared = kept_handoff(folded), cleared_at(folded) or ""
        try:
            lately = time_before(parse_time(at), _PLUGIN_IS_FIRST)
        except ValueError:
            return
        if action == "clear":
            if cleared < lately and (known is None or known.captured_at <= at):
                clear(self._store, session_id, by="watcher")
        elif cleared < at and not (known and known.marked and known.captured_at >= lately):
            self._capture(session_id, COMMAND, asked_at=at)

    def _due(self, facts: WindowFacts, known: HandoffRecord | None, near: bool) -> str | None:
        index = known.document.last_message_index if known else -1
        if near and (known is None or not known.near or index < facts.compacted_at):
            return "compaction"
        if facts.heavy_at > index:
            return "tools"
        return "messages" if facts.last_index - index >= self._config.handoff_every_messages else None

    def _capture(self, session_id: str, trigger: str, *, near: bool = False, asked_at: str | None = None) -> bool:
        config, seen = self._config, self._seen.get(session_id)
        rewrite = rewriter(config) if trigger not in ("sigterm", "messages", "tools", "compaction") else None
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
                asked_at=asked_at,
                rewrite=rewrite,
            )
        except (JsonlStoreError, OSError) as problem:
            # the session itself is captured; the handoff is made from it when the next session starts
            log.warning("no handoff captured of %s: %s", session_id, problem)
            return False
        if document is not None:
            log.info("%s handoff captured (%s)", session_id, trigger)
        return document is not None


def rewriter(config: Config) -> Callable[[Handoff], Handoff] | None:
    """What the external command of the settings makes of a document; None without one."""
    words = config.handoff_summarizer
    return partial(summarize, command=words, seconds=config.handoff_summarizer_seconds) if words else None


def capture_now(
    store: SessionStore,
    config: Config,
    session_id: str,
    trigger: str,
    *,
    by: str,
    rewritten: bool = False,
    dry_run: bool = False,
) -> Handoff | None:
    """Capture a session for somebody who does not follow it: what its transcript shows is read for this once."""
    facts, digest = _read_once(store, config, session_id)
    return capture(
        store,
        session_id,
        trigger,
        now=store.clock(),
        expires_hours=config.handoff_expires_hours,
        facts=facts,
        digest=digest,
        by=by,
        rewrite=rewriter(config) if rewritten else None,
        dry_run=dry_run,
    )


def _read_once(store: SessionStore, config: Config, session_id: str) -> tuple[WindowFacts | None, str]:
    """What a session's transcript shows, and its hash; nothing if it has none, or that cannot be read."""
    source = store.folded(session_id).source or {}
    key = (source.get("agent_id"), source.get("session_id"))
    sessions = Catalogue.open(store.paths.state_dir, skip=frozenset()).sessions if source else []
    session = next((one for one in sessions if one.key == key), None)
    if session is None:
        return None, ""
    window, reading = MessageWindow(config.handoff_tool_bytes, config.handoff_tool_calls), Reading()
    merger = CopyMerger() if len(session.copies) > 1 else None
    try:
        for stretch, entry in by_stretch(session.session_id, read_copies(session.copies, reading, merger)):
            if stretch.id == session_id:
                window.feed(entry)
        newest_source, newest = session.copies[-1]
        return window.facts(), newest_source.digest(newest, reading.cursor) if reading.cursor else ""
    except (JsonlStoreError, OSError, CursorOutdated) as problem:
        log.warning("the transcript of %s is not looked at: %s", session_id, problem)
        return None, ""


def is_near_compaction(state: SessionState) -> bool:
    """Whether the context is so full that OpenClaw is about to summarise it."""
    tokens = state.tokens
    if tokens is None or not tokens.window:
        return False
    room = tokens.window - min(_RESERVE, tokens.window // 4) - _FLUSH
    return room > 0 and tokens.used >= _NEAR * room
