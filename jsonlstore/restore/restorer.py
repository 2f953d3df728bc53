"""`SessionRestorer`: first everything is worked out without changing a byte, then the side effects, in one order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from jsonlstore.core.clock import time_before
from jsonlstore.core.errors import JsonlStoreError, SessionNotFound, UsageError
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import check_session_id
from jsonlstore.restore.crash import Crashed, find_crashed, find_superseded
from jsonlstore.restore.deadline import Budget
from jsonlstore.restore.inherit import (
    PinPlan,
    decayed_memories,
    merged_projects,
    merged_topics,
    offers,
    plan_pins,
)
from jsonlstore.restore.inheritor import Inheritor
from jsonlstore.restore.keywords import current_keywords
from jsonlstore.restore.model import RestoredSessionContext, RestoreRequest
from jsonlstore.restore.preamble import PreambleContext, PreambleInjector, PreambleOptions
from jsonlstore.restore.scope import Scope
from jsonlstore.restore.select import (
    Contributor,
    Prior,
    Selection,
    explain_lines,
    may_win,
    previous_session,
    score_priors,
    select,
)
from jsonlstore.restore.tasks import Pipeline, surfaced
from jsonlstore.store.projection import IndexEntry, project

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from jsonlstore.core.config import Config
    from jsonlstore.core.model import PendingTask, SessionState
    from jsonlstore.restore.select import Entries
    from jsonlstore.store.fold import SessionFold
    from jsonlstore.store.store import SessionStore

log = logger("jsonlstore.session")

_MOST_SUSPECTS = 50  # looked at by one session start; `recover` looks at all
_MOST_LEFT_BEHIND = 10  # closed by one session start; the next one goes on
_MOST_CRITICAL_LOGS = 8
_TOPIC_SAMPLE = 300  # how common a topic is shows in a few hundred sessions as well as in all
_EVER = "0"  # before every time there is
_NO_PINS = PinPlan((), (), (), ())


class Plan(NamedTuple):
    """Everything a restore worked out, before anything is changed."""

    request: RestoreRequest
    now: datetime
    context: RestoredSessionContext
    crashed: tuple[Crashed, ...] = ()
    previous: str | None = None
    known: SessionFold | None = None
    pins: PinPlan = _NO_PINS
    told: PreambleContext = PreambleContext()
    tasks: tuple[PendingTask, ...] = ()
    why: str | None = None  # why nothing was looked for


class SessionRestorer(Inheritor):
    """Brings back what earlier sessions left, within a budget. It never raises for a restore problem."""

    def restore(
        self, request: RestoreRequest, *, dry_run: bool = False, budget: Budget | None = None
    ) -> RestoredSessionContext:
        """What the session gets. In time, whatever the disk does; a cold start with `error` if anything went wrong.

        A caller that already runs inside a budget hands it over and waits for it itself.
        """
        if request.session_id or not dry_run:
            check_session_id(request.session_id)
        if not self._config.enabled:
            return RestoredSessionContext(request.session_id)
        own = budget or Budget(self._config.restore_budget_ms / 1000)
        work = partial(self.restore_within, request, own, dry_run=dry_run)
        try:
            context = work() if budget is not None else own.run(work)
        except UsageError:
            raise
        except Exception as problem:  # noqa: BLE001 - fail open: whatever went wrong, the session starts
            context = cold_start(request.session_id, problem)
        _debug(self._config, "Restoration complete in %dms", own.elapsed_ms)
        return context.timed(own.elapsed_ms)

    def restore_within(
        self, request: RestoreRequest, budget: Budget, *, dry_run: bool = False
    ) -> RestoredSessionContext:
        """Plan, then apply; every wait for a lock ends with the budget."""
        from jsonlstore.restore.apply import apply, wake

        store = self._store.within(budget.left)
        try:
            plan = self.plan(request, store)
        except (AttributeError, KeyError, TypeError, ValueError) as problem:
            # the index reads as JSON, but what stands in it is not what we write: the logs know better
            log.warning("the session index is rebuilt: %s: %s", type(problem).__name__, problem)
            store.index.rebuild()
            plan = self.plan(request, store)
        if dry_run:
            return plan.context
        if plan.context.already_restored:
            return wake(plan, store, budget, self._by)
        return apply(plan, store, self._config, budget, self._pin_file(store), self._by)

    def plan(self, request: RestoreRequest, store: SessionStore) -> Plan:
        """Work everything out. Reads only (a broken index may be mended)."""
        now = self._clock()
        known = _known(store, request.session_id) if request.session_id else None
        request = _completed(request, known)
        if known is not None and known.inherited and not request.again:
            context = RestoredSessionContext(request.session_id, already_restored=True)
            return Plan(request, now, context, known=known)
        raw = store.index.entries()
        scope = Scope.of(self._config.scope, request.agent_id, request.session_key, request.channel)
        crashed = self._crashed(store, raw, request, scope, now)
        dead = self._as_ended(store, crashed)
        known_now = {**raw, **{one: entry for one, (entry, _) in dead.items()}} if dead else raw
        days = max(self._config.lookback_days, self._config.critical_inheritance_days)
        ended = _ended(known_now, scope, request.session_id, time_before(now, timedelta(days=days)))
        previous = previous_session(ended, scope.channel)
        if previous is None or ended[previous].get("channel") != scope.channel:
            previous = previous_session(_ended(known_now, scope, request.session_id, _EVER), scope.channel)
        base = Plan(
            request, now, RestoredSessionContext(request.session_id), tuple(crashed), previous, known,
            why=self._why_not(request),
        )  # fmt: skip
        if base.why is not None:
            log.info("nothing is restored into %s: %s", request.session_id, base.why)
            return base

        def load(session_id: str) -> SessionState:
            return dead[session_id][1] if session_id in dead else store.get(session_id)

        return self._take(base, ended, load, store)

    def _why_not(self, request: RestoreRequest) -> str | None:
        if request.clean:
            return "a clean start was asked for"
        from jsonlstore.core.config import BOUNDARY_NAMES

        if request.reason in BOUNDARY_NAMES and request.reason not in self._config.restore_on:
            return f"restore_on does not name {request.reason}"
        return None

    def _take(self, plan: Plan, entries: Entries, load: Callable[[str], SessionState], store: SessionStore) -> Plan:
        config, now = self._config, plan.now
        pinned = self._pin_file(store).read()
        if pinned.problem:
            log.warning("pins of this session not read: %s", pinned.problem)
        since = time_before(now, timedelta(days=config.lookback_days))
        looked_at = entries
        if config.lookback_days < config.critical_inheritance_days:
            looked_at = {other: entry for other, entry in entries.items() if entry["end_time"] >= since}
        words: frozenset[str] = frozenset()
        if any(entry.get("hot_topics") for entry in looked_at.values()):
            words = current_keywords(pinned.pins, plan.request.cwd, plan.request.prompt, config.project_roots)
        explain = plan.request.explain or config.debug
        priors = score_priors(looked_at, words, now, None if explain else may_win(config))
        pipeline = Pipeline.read(store.paths.state_dir, config) if priors else Pipeline(None)
        selection = select(priors, config, load, pipeline, explain=explain)
        self._explain(priors, selection)
        critical = self._critical(entries, now, load)
        best = selection.contributors[0] if selection.contributors else None
        pins = plan_pins(offers(critical, best, config), pinned, config.max_inherited_pins)
        _explain_pins(config, pins, pinned.taken)
        sources = _with_pin_sources(selection.contributors, critical, pins, priors, config.max_sessions_scored)
        states = [state for state, _ in sources]
        giving = [contributor.state for contributor in selection.contributors]
        tasks = tuple(surfaced(giving, pipeline))
        memories = decayed_memories(giving, self._memories, now, config.decay_min_floor)
        for memory in memories:
            fate = "EXCLUDED" if memory.excluded else "kept"
            _debug(config, "Decay %s: %.3f → %.3f after %.0fh (%s)", memory.memory_id,
                   memory.original_confidence, memory.confidence, memory.hours_elapsed, fate)  # fmt: skip
        shown = (*pins.add, *pins.there) if plan.request.again else pins.add
        sample = islice(looked_at.values(), _TOPIC_SAMPLE)
        topics = merged_topics(giving, [entry.get("hot_topics") or () for entry in sample])
        told = PreambleContext(states, shown, tasks, topics, merged_projects(giving))
        context = plan.context._replace(
            preamble=format_preamble(told, config, now),
            inherited_pins=shown,
            session_ids=tuple(state.session_id for state in states),
            relevance_scores=tuple(score for _, score in sources),
            pending_task_count=len(tasks),
            memories=memories,
            hot_topics=tuple(told.hot_topics),
            active_projects=tuple(told.active_projects),
            candidates=selection.candidates,
            pins=pins.decisions,
        )
        _debug(config, "Preamble:\n%s", context.preamble)
        return plan._replace(context=context, pins=pins, told=told, tasks=tasks)

    def _crashed(
        self, store: SessionStore, raw: Mapping[str, Any], request: RestoreRequest, scope: Scope, now: datetime
    ) -> list[Crashed]:
        """The sessions to be closed by this start: the dead, and those of the same key that were left behind."""
        still_open = [
            IndexEntry.of(other, entry)
            for other, entry in raw.items()
            if not entry.get("end_time") and not entry.get("forgotten")
        ]
        still_open.sort(key=lambda entry: entry.updated_at or entry.start_time, reverse=True)
        dead = find_crashed(
            store,
            still_open,
            now,
            stale_after=timedelta(minutes=self._config.stale_after_minutes),
            current=request.session_id,
            has_transcript=lambda entry: has_runtime_transcript(store, entry),
            most=_MOST_SUSPECTS,
        )
        gone = {one.session_id for one in dead}
        others = (entry for entry in still_open if entry.session_id not in gone)
        left = find_superseded(store, others, now, scope, request)
        return [*dead, *islice(left, _MOST_LEFT_BEHIND)]

    @staticmethod
    def _as_ended(store: SessionStore, crashed: list[Crashed]) -> dict[str, tuple[Mapping[str, Any], SessionState]]:
        """Crashed sessions as they will be once recovered: the index does not know their last turns yet."""
        found: dict[str, tuple[Mapping[str, Any], SessionState]] = {}
        for one in crashed:
            folded = store.folded(one.session_id)
            entry = {**project(folded, 0), "end_time": one.end_time}
            crash = one.end_reason == "crash"
            state = replace(folded.state(), end_time=one.end_time, end_reason=one.end_reason, crash_recovered=crash)
            found[one.session_id] = (entry, state)
        return found

    def _critical(self, entries: Entries, now: datetime, load: Callable[[str], SessionState]) -> list[SessionState]:
        """The latest sessions with a critical pin."""
        since = time_before(now, timedelta(days=self._config.critical_inheritance_days))
        marked = [(entry["end_time"], other) for other, entry in entries.items() if entry.get("critical")]
        latest = sorted((one for one in marked if one[0] >= since), reverse=True)
        found = []
        for _, session_id in latest[:_MOST_CRITICAL_LOGS]:
            try:
                found.append(load(session_id))
            except JsonlStoreError as problem:
                log.warning("session %s left out: %s", session_id, problem)
        return found

    def _explain(self, priors: Sequence[Prior], selection: Selection) -> None:
        if not self._config.debug:
            return
        _debug(self._config, "Fetched %d sessions from last %d days", len(priors), self._config.lookback_days)
        qualified = {candidate.session_id: candidate.qualified for candidate in selection.candidates}
        for prior in sorted(priors, reverse=True):
            lines = explain_lines(prior, self._config.relevance_threshold, qualified[prior.session_id])
            _debug(self._config, "%s", lines)


def cold_start(session_id: str, problem: BaseException) -> RestoredSessionContext:
    """The session starts without anything, and the operator can read why."""
    message = problem.message if isinstance(problem, JsonlStoreError) else f"{type(problem).__name__}: {problem}"
    log.warning("restoration failed, cold start of %s: %s", session_id, message)
    return RestoredSessionContext(session_id, error=message)


def format_preamble(told: PreambleContext, config: Config, now: datetime) -> str | None:
    """The preamble of a restore, within the configured length."""
    return PreambleInjector.format(told, PreambleOptions(max_chars=config.preamble_max_chars), now=now)


def has_runtime_transcript(store: SessionStore, entry: IndexEntry) -> bool:
    """Whether the runtime has a transcript of an open session; asked only of sessions that look dead."""
    from jsonlstore.restore.scope import agent_of
    from jsonlstore.transcripts.runtimes import has_transcript

    return has_transcript(store.paths.state_dir, agent_of(entry.agent_id, entry.session_key), entry.session_id)


def _known(store: SessionStore, session_id: str) -> SessionFold | None:
    try:
        return store.folded(session_id)
    except SessionNotFound:
        return None


def _completed(request: RestoreRequest, known: SessionFold | None) -> RestoreRequest:
    """What the call left out, as another writer told it before."""
    if known is None:
        return request
    state = known.state()
    return request._replace(
        channel=request.channel if request.channel not in ("", "unknown") else state.channel,
        agent_id=request.agent_id or state.agent_id,
        session_key=request.session_key or state.session_key,
    )


def _ended(entries: Entries, scope: Scope, session_id: str, since: str) -> Entries:
    """The sessions of this conversation that ended at `since` or later, without the one that starts."""
    reaches = scope.in_reach()
    return {
        other: entry
        for other, entry in entries.items()
        if (entry.get("end_time") or "") >= since and other != session_id and reaches(entry)
    }


def _with_pin_sources(
    contributors: Sequence[Contributor],
    critical: Sequence[SessionState],
    pins: PinPlan,
    priors: Sequence[Prior],
    most: int,
) -> list[tuple[SessionState, float]]:
    """The contributors with their scores; after them, while there is room, sessions that only gave a critical pin."""
    found = [(one.state, one.prior.score) for one in contributors]
    have = {state.session_id for state, _ in found}
    for state in critical:
        if state.session_id in pins.sources and state.session_id not in have and len(found) < most:
            score = next((prior.score for prior in priors if prior.session_id == state.session_id), 0.0)
            found.append((state, score))
    return found


def _explain_pins(config: Config, pins: PinPlan, current: int) -> None:
    if config.debug:
        lines = "".join(
            f'\n  - "{one.label}" → {"ADDED" if one.decision == "added" else "SKIPPED"} ({one.reason})'
            for one in pins.decisions
        )
        _debug(config, "Pin inheritance: %d current pins, %d candidate pins, cap=%d%s", current,
               len(pins.decisions), config.max_inherited_pins, lines)  # fmt: skip


def _debug(config: Config, message: str, *values: object) -> None:
    if config.debug:
        log.debug("[session:debug] " + message, *values)
