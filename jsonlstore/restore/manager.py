"""`SessionPersistenceManager`: the one object a runtime talks to. Safe to share between threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from jsonlstore.core.clock import Clock, hours_between, parse_time
from jsonlstore.core.config import Config
from jsonlstore.core.errors import JsonlStoreError, UsageError
from jsonlstore.core.logs import logger
from jsonlstore.core.model import SessionState
from jsonlstore.core.paths import check_session_id
from jsonlstore.core.session_key import is_utility_run
from jsonlstore.restore.crash import Crashed, find_crashed
from jsonlstore.restore.deadline import Budget
from jsonlstore.restore.plan import has_runtime_transcript
from jsonlstore.restore.restorer import SessionRestorer, close, hand_over
from jsonlstore.restore.result import MemorySource, RelevanceSource, RestoredSessionContext, RestoreRequest
from jsonlstore.restore.scope import Scope
from jsonlstore.store import SessionStore

if TYPE_CHECKING:
    from jsonlstore.restore.capture import SessionCapture
    from jsonlstore.signals import HotTopicExtractor

log = logger("jsonlstore.session")


class SessionPersistenceManager:
    """Start, update, end, recover, continue, chain. With `enabled: false` it changes nothing anywhere.

    As a context manager it ends the session it started when the block is left.

    Arguments:
        store: where sessions are kept
        config: the settings; the defaults without it
        memories: what looks up a memory's confidence, such as brain.db; none without it
        clock: a function that returns the present as an aware `datetime`; the store's without it
        by: who the changes are recorded as: hook, operator, watcher, import
        relevance: what says how well sessions fit a prompt, to break ties
        session_id: the id of the session; without it the one this manager started
        channel: where the conversation is: cli, telegram, …
        budget: how long the restore may take; the settings' `restore_budget_ms` without it
        known: what else is known of the starting session: agent_id, session_key, cwd, prompt, pid, reason, clean, again
        request: a starting session, as `on_session_start` is given it
        partial: the changed fields as one mapping
        fields: the changed fields by name
        reason: why the session ended: new, reset, idle, daily, …
        current_session_id: the session that is starting and has not died
        dry_run: say what would happen and change nothing
        target_session_id: the session to bring back
        into: the session that gets it; without it the one this manager started
        agent: who asks, for the audit trail
        across: reach into another conversation
        depth: at most so many sessions
        chain: the session with those before it, oldest first
        left: a function that returns how many seconds are left
    """

    def __init__(
        self,
        store: SessionStore,
        config: Config | None = None,
        *,
        memories: MemorySource | None = None,
        clock: Clock | None = None,
        by: str = "hook",
        relevance: RelevanceSource | None = None,
    ) -> None:
        self.store = store
        self.config = config or Config()
        self._clock = clock or store.clock
        self._memories = memories if memories is not None else store.memories
        self._relevance = relevance
        self._by = by
        self._lock = threading.RLock()
        self._current: str | None = None
        self._extractor: HotTopicExtractor | None = None
        self.warnings: tuple[str, ...] = ()  # of the last update or end: what could not be captured
        self.ended_before = False  # the last end changed nothing: the session had ended
        if self.config.debug:
            log.setLevel("DEBUG")

    def within(self, left: Callable[[], float]) -> Self:
        """The same manager for a caller with a deadline: waits for a lock at most `left()` seconds."""
        return type(self)(
            self.store.within(left), self.config, memories=self._memories, clock=self._clock, by=self._by,
            relevance=self._relevance,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if self.current_session_id is not None:
            self.on_session_end(reason="exit" if kind is None else "error")

    @property
    def current_session_id(self) -> str | None:
        """The session this manager started and has not ended."""
        with self._lock:
            return self._current

    @property
    def extractor(self) -> HotTopicExtractor:
        """Collects the topics of the running session; what it has found is recorded with every update."""
        with self._lock:
            if self._extractor is None:
                from jsonlstore.signals import HotTopicExtractor

                self._extractor = HotTopicExtractor(project_roots=self.config.project_roots)
            return self._extractor

    def on_session_start(
        self, session_id: str, channel: str = "unknown", *, budget: Budget | None = None, **known: Any
    ) -> RestoredSessionContext:
        """Close crashed sessions, bring back what earlier ones left, and record the start, all within the budget.

        `known` is what else a `RestoreRequest` takes: agent_id, session_key, cwd, prompt, pid, reason, clean, again.
        """
        try:
            request = RestoreRequest(session_id, channel, **known)
        except TypeError as problem:
            raise UsageError(str(problem)) from problem
        if not self.records({"session_key": request.session_key}):
            return RestoredSessionContext(check_session_id(session_id))
        context = self._restorer().restore(request, budget=budget)
        with self._lock:
            self._current, self._extractor = session_id, None
        return context

    def preview(self, request: RestoreRequest) -> RestoredSessionContext:
        """What a session starting now would get; nothing is changed."""
        if not self.records({"session_key": request.session_key}):
            return RestoredSessionContext(request.session_id)
        return self._restorer().restore(request._replace(explain=True), dry_run=True)

    def update_session_state(self, partial: Mapping[str, Any] | None = None, /, **fields: Any) -> bool:
        """Record the given fields of the running session (or of `session_id`); False if none is news."""
        given = {**(partial or {}), **fields}
        with self._lock:
            session_id = given.pop("session_id", None) or self._current
            if session_id is None:
                raise UsageError("session_id is missing: no session was started here")
            if not self.records(given):
                return False
            if session_id == self._current:
                given = {**self._found(), **given}
            capture = self._capture()
            news = capture.update(session_id, given)
            self.warnings = tuple(capture.warnings)
            return news

    def on_session_end(
        self, /, session_id: str | None = None, *, reason: str | None = None, **fields: Any
    ) -> SessionState | None:
        """Write the final state and count it; None when disabled. Said twice, it changes nothing: `ended_before`."""
        with self._lock:
            target = session_id or self._current
            if target is None:
                raise UsageError("session_id is missing: no session was started here")
            if not self.records(fields):
                return None
            given = {**self._found(), **fields} if target == self._current else fields
            capture = self._capture()
            state, news = capture.capture(target, given, reason=reason)
            self.warnings, self.ended_before = tuple(capture.warnings), not news
            if target == self._current:
                self._current, self._extractor = None, None
            return state

    def detect_and_recover_crashed(
        self, current_session_id: str | None = None, *, dry_run: bool = False
    ) -> list[Crashed]:
        """Close every session that died; the one named, and any that lives, is left alone."""
        if not self.config.enabled:
            return []
        found = find_crashed(
            self.store,
            self.store.entries(),
            self._clock(),
            stale_after=timedelta(minutes=self.config.stale_after_minutes),
            current=current_session_id or self.current_session_id,
            has_transcript=lambda entry: has_runtime_transcript(self.store, entry),
        )
        if dry_run:
            return found
        closed = [one for one in found if close(self.store, one, self._by)]
        for one in closed if self.config.handoff_enabled else ():
            hand_over(self.store, one, self.config, self._by)
        return closed

    def force_inherit_session(
        self,
        target_session_id: str,
        *,
        into: str | None = None,
        agent: str | None = None,
        across: bool = False,
        dry_run: bool = False,
    ) -> RestoredSessionContext:
        """Bring one session back whatever its age and score; audited. `across` is for operators only."""
        if not self.config.enabled:
            return RestoredSessionContext(into or "")
        from jsonlstore.restore.override import Override, carry_out

        override = Override(target_session_id, into or self.current_session_id, agent, across)
        return carry_out(self._restorer().env, override, dry_run=dry_run)

    def get_session_chain(self, session_id: str, depth: int = 5) -> list[SessionState]:
        """The session and those before it, oldest first, at most `depth`, never out of its conversation."""
        found = self.store.chain(session_id, depth)
        kept = found[-1:]
        scope = Scope.of_session(self.config.scope, found[-1]) if found else None
        for state in reversed(found[:-1]):
            if scope is None or not scope.allows(state):
                break
            kept.insert(0, state)
        self.count_traversal(session_id, depth, kept)
        return kept

    def archive_old(self) -> list[str]:
        """Archive what is old enough, at most once a day."""
        return self._capture().archive_old() if self.config.enabled else []

    def records(self, fields: Mapping[str, Any]) -> bool:
        """Whether a session is to be recorded at all."""
        utility = is_utility_run(fields.get("session_key")) and not self.config.capture_subagents
        return self.config.enabled and not utility

    def count_traversal(self, session_id: str, depth: int, chain: Sequence[SessionState]) -> None:
        """Count a look at a chain, unless everything is switched off."""
        if not self.config.enabled:
            return
        oldest = hours_between(parse_time(chain[0].start_time), self._clock()) if chain else 0.0
        record = {
            "event": "session_chain_traversal",
            "start_session_id": session_id,
            "requested_depth": depth,
            "sessions_found": len(chain),
            "oldest_session_age_hours": round(max(0.0, oldest), 3),
        }
        try:
            self.store.metrics.emit(record)
        except JsonlStoreError as problem:
            log.warning("metrics not written: %s", problem)

    def _found(self) -> dict[str, Any]:
        """What the extractor has found so far; nothing if nobody used it."""
        if self._extractor is None:
            return {}
        found = {
            "hot_topics": self._extractor.current_topics(),
            "active_projects": self._extractor.active_projects(),
            "recent_learnings": self._extractor.recent_learning_ids(),
        }
        return {key: value for key, value in found.items() if value}

    def _restorer(self) -> SessionRestorer:
        return SessionRestorer(
            self.store,
            self.config,
            memories=self._memories,
            clock=self._clock,
            by=self._by,
            relevance=self._relevance,
        )

    def _capture(self) -> SessionCapture:
        from jsonlstore.restore.capture import SessionCapture

        return SessionCapture(self.store, self.config, clock=self._clock, by=self._by)
