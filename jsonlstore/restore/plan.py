"""The plan of a restore: everything is worked out here, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from jsonlstore.core.clock import Clock, format_time, time_before
from jsonlstore.core.config import Config
from jsonlstore.core.errors import JsonlStoreError, SessionNotFound
from jsonlstore.core.logs import logger
from jsonlstore.core.model import PendingTask, SessionState
from jsonlstore.core.session_key import agent_of
from jsonlstore.restore.closings import closings_of, without_closed, without_stale_tasks
from jsonlstore.restore.crash import Crashed, find_crashed, find_superseded
from jsonlstore.restore.inherit import PinPlan, decayed_memories, merged_topics, offers, once, plan_pins
from jsonlstore.restore.pins import PinFile
from jsonlstore.restore.preamble import PreambleContext, PreambleInjector, PreambleOptions
from jsonlstore.restore.result import MemorySource, RelevanceSource, RestoredSessionContext, RestoreRequest
from jsonlstore.restore.scope import Scope
from jsonlstore.restore.score import DecayRate
from jsonlstore.restore.select import (
    Contributor,
    Entries,
    Prior,
    can_qualify,
    current_keywords,
    previous_session,
    score_priors,
    select,
    tie_level,
)
from jsonlstore.restore.tasks import Pipeline, surfaced
from jsonlstore.store import IndexEntry, SessionFold, SessionStore, project

if TYPE_CHECKING:
    from jsonlstore.restore.handoffs import Offered

log = logger("jsonlstore.session")

_MOST_SUSPECTS = 50  # looked at by one session start; `recover` looks at all
_MOST_SUPERSEDED = 10  # closed by one session start; the next one goes on
_MOST_CRITICAL_LOGS = 8
_TOPIC_SAMPLE = 300  # how common a topic is shows in a few hundred sessions as well as in all
_EVER = "0"  # sorts before every time there is
_NO_PINS = PinPlan((), (), (), ())


class Environment(NamedTuple):
    """What every restore works with: a store, its settings, the memories' source, the time, and the writer's name."""

    store: SessionStore
    config: Config
    memories: MemorySource | None
    clock: Clock
    by: str
    relevance: RelevanceSource | None = None

    @property
    def pin_file(self) -> PinFile:
        return PinFile.of(self.store, self.config)

    def debug(self, message: str, *values: object) -> None:
        """Explain a decision, if the settings ask for that."""
        if self.config.debug:
            log.debug("[session:debug] " + message, *values)


class RestorePlan(NamedTuple):
    """Everything a restore worked out, before anything is changed."""

    request: RestoreRequest
    now: datetime
    context: RestoredSessionContext
    crashed: tuple[Crashed, ...] = ()
    previous: str | None = None
    known: SessionFold | None = None
    pins: PinPlan = _NO_PINS
    shown: PreambleContext = PreambleContext()
    tasks: tuple[PendingTask, ...] = ()
    why: str | None = None  # why nothing was looked for
    handoff: Offered | None = None
    leaves_no_trace: bool = False


def make_plan(env: Environment, request: RestoreRequest) -> RestorePlan:
    """Work everything out. Reads only, except that a broken index is repaired."""
    store, config, now = env.store, env.config, env.clock()
    known = _known(store, request.session_id) if request.session_id else None
    request = _completed(request, known)
    if known is not None and known.inherited and not (request.again or request.resume):
        context = RestoredSessionContext(request.session_id, already_restored=True, block=_own_block(known, now))
        return RestorePlan(request, now, context, known=known)
    if request.under_way and not (request.again or request.resume):
        # it began before we were asked: what it talked about since would be contradicted by an older past
        log.info("nothing is restored into %s: it was under way before", request.session_id)
        block = _own_block(known, now) if known else None
        context = RestoredSessionContext(request.session_id, block=block)
        return RestorePlan(request, now, context, known=known, leaves_no_trace=True)
    entries: Entries = store.index.entries()
    scope = Scope.of(config.scope, request.agent_id, request.session_key, request.channel)
    crashed = _unfinished(env, entries, request, scope, now)
    closed = _as_ended(store, crashed)
    if closed:
        entries = {**entries, **{session_id: entry for session_id, (entry, _) in closed.items()}}
    days = max(config.lookback_days, config.critical_inheritance_days)
    ended = _ended(entries, scope, request.session_id, time_before(now, timedelta(days=days)))
    previous = previous_session(ended, scope.channel)
    if previous is None or ended[previous].get("channel") != scope.channel:
        # the chain has no lookback: the same channel's last session counts, however old it is (decision 17)
        previous = previous_session(_ended(entries, scope, request.session_id, _EVER), scope.channel)
    plan = RestorePlan(
        request, now, RestoredSessionContext(request.session_id), tuple(crashed), previous, known,
        why=_why_nothing(config, request),
    )  # fmt: skip
    if plan.why is not None:
        log.info("nothing is restored into %s: %s", request.session_id, plan.why)
        return _explained(env, plan, entries, scope)

    closings = closings_of(store, config, entries, scope, now)

    def load(session_id: str) -> SessionState:
        state = closed[session_id][1] if session_id in closed else store.get(session_id)
        return without_closed(state, closings)

    if config.handoff_enabled:
        from jsonlstore.restore.handoffs import find_handoff

        offered = find_handoff(env.store, config, request, scope, entries, closed, load, now)
        plan = plan._replace(handoff=offered)
    return _explained(env, _with_contributions(env, plan, ended, load), entries, scope)


def _explained(env: Environment, plan: RestorePlan, entries: Entries, scope: Scope) -> RestorePlan:
    """The plan with the reason for every session it leaves out, if somebody wants to know."""
    if not plan.request.explain:
        return plan
    from jsonlstore.restore.explain import left_out

    context = plan.context
    found = left_out(
        entries, scope, env.config, plan.now, context.candidates, context.session_ids,
        current=plan.request.session_id, why_nothing=plan.why,
    )  # fmt: skip
    return plan._replace(context=context._replace(left_out=tuple(found)))


def _own_block(known: SessionFold, now: datetime) -> str | None:
    """The block a session has already: what it was given, and what it wrote down before it was compacted."""
    if known.block is None and not known.memory_files:
        return None
    from jsonlstore.restore.block import current_block

    return current_block(known, format_time(now))


def format_preamble(shown: PreambleContext, config: Config, now: datetime) -> str | None:
    """The preamble of a restore, within the configured length."""
    return PreambleInjector.format(shown, PreambleOptions(max_chars=config.preamble_max_chars), now=now)


def has_runtime_transcript(store: SessionStore, entry: IndexEntry) -> bool:
    """Whether the runtime has a transcript of an open session; asked only of sessions that look dead."""
    from jsonlstore.transcripts import has_transcript

    return has_transcript(store.paths.state_dir, agent_of(entry.agent_id, entry.session_key), entry.session_id)


def _known(store: SessionStore, session_id: str) -> SessionFold | None:
    try:
        return store.folded(session_id)
    except SessionNotFound:
        return None


def _completed(request: RestoreRequest, known: SessionFold | None) -> RestoreRequest:
    """The request, with what it left out filled in from what another writer recorded before."""
    if known is None:
        return request
    state = known.state()
    return request._replace(
        channel=request.channel if request.channel not in ("", "unknown") else state.channel,
        agent_id=request.agent_id or state.agent_id,
        session_key=request.session_key or state.session_key,
    )


def _why_nothing(config: Config, request: RestoreRequest) -> str | None:
    if request.resume:
        return None  # somebody asked
    if request.clean:
        return "a clean start was asked for"
    from jsonlstore.core.config import BOUNDARY_NAMES

    if request.reason in BOUNDARY_NAMES and request.reason not in config.restore_on:
        return f"restore_on does not name {request.reason}"
    return None


def _unfinished(
    env: Environment, entries: Entries, request: RestoreRequest, scope: Scope, now: datetime
) -> list[Crashed]:
    """The sessions this start closes: the crashed, and those of the same key that the runtime moved on from."""
    store = env.store
    still_open = [
        IndexEntry.of(other, entry)
        for other, entry in entries.items()
        if not entry.get("end_time") and not entry.get("forgotten")
    ]
    still_open.sort(key=lambda entry: entry.updated_at or entry.start_time, reverse=True)
    crashed = find_crashed(
        store,
        still_open,
        now,
        stale_after=timedelta(minutes=env.config.stale_after_minutes),
        current=request.session_id,
        has_transcript=lambda entry: has_runtime_transcript(store, entry),
        most=_MOST_SUSPECTS,
    )
    gone = {one.session_id for one in crashed}
    others = (entry for entry in still_open if entry.session_id not in gone)
    return [*crashed, *islice(find_superseded(store, others, now, scope, request), _MOST_SUPERSEDED)]


def _as_ended(store: SessionStore, crashed: list[Crashed]) -> dict[str, tuple[Mapping[str, Any], SessionState]]:
    """Crashed sessions as they will be once recovered: the index does not know their last turns yet."""
    found: dict[str, tuple[Mapping[str, Any], SessionState]] = {}
    for one in crashed:
        folded = store.folded(one.session_id)
        entry = {**project(folded, 0), "end_time": one.end_time}
        state = replace(
            folded.state(), end_time=one.end_time, end_reason=one.end_reason, crash_recovered=one.end_reason == "crash"
        )
        found[one.session_id] = (entry, state)
    return found


def _ended(entries: Entries, scope: Scope, session_id: str, since: str) -> Entries:
    """The sessions of this conversation that ended at `since` or later, without the one that starts."""
    reaches = scope.in_reach()
    return {
        other: entry
        for other, entry in entries.items()
        if (entry.get("end_time") or "") >= since and other != session_id and reaches(entry)
    }


def _support(env: Environment, prompt: str | None, priors: Sequence[Prior]) -> Mapping[str, float]:
    """What the words of prior sessions say about the first prompt; asked only where scores are as good as equal."""
    if not prompt or env.relevance is None or not env.config.relevance_by_search:
        return {}
    worth = can_qualify(env.config)
    promising = [prior for prior in priors if worth(prior.score, prior.tasks)]
    levels = [tie_level(prior.score) for prior in promising]
    tied = [one.session_id for one, level in zip(promising, levels, strict=True) if levels.count(level) > 1]
    return env.relevance(prompt, tied) if tied else {}


def _with_contributions(
    env: Environment, plan: RestorePlan, entries: Entries, load: Callable[[str], SessionState]
) -> RestorePlan:
    """Score, select and take over: the plan with everything that comes back."""
    config, now, request = env.config, plan.now, plan.request
    pinned = env.pin_file.read()
    if pinned.problem:
        log.warning("pins of this session not read: %s", pinned.problem)
    looked_at = entries
    if config.lookback_days < config.critical_inheritance_days:  # the entries reach further back than scoring may
        since = time_before(now, timedelta(days=config.lookback_days))
        looked_at = {other: entry for other, entry in entries.items() if entry["end_time"] >= since}
    words: frozenset[str] = frozenset()
    if any(entry.get("hot_topics") for entry in looked_at.values()):
        words = current_keywords(pinned.pins, request.cwd, request.prompt, config.project_roots)
    explain = request.explain or config.debug
    priors = score_priors(looked_at, words, now, None if explain else can_qualify(config))
    pipeline = Pipeline.read(env.store.paths, config) if priors else Pipeline(None)
    support = _support(env, request.prompt, priors)
    fresh = without_stale_tasks(load, now, config.task_stale_days)
    selection = select(priors, config, fresh, pipeline, explain=explain, support=support)
    critical = _critical(env, entries, now, load)
    best = selection.contributors[0] if selection.contributors else None
    pins = plan_pins(offers(critical, best, config), pinned, config.max_inherited_pins)
    sources = _with_pin_sources(selection.contributors, critical, pins, priors, config.max_sessions_scored)
    offered = plan.handoff
    handed_over = offered.document if offered is not None else None
    if handed_over is not None and all(state.session_id != handed_over.session_id for state, _ in sources):
        sources.insert(0, (load(handed_over.session_id), 0.0))
    states = [state for state, _ in sources]
    giving = [contributor.state for contributor in selection.contributors]
    tasks = tuple(surfaced(giving, pipeline))
    memories = decayed_memories(giving, env.memories, now, DecayRate.of(config))
    inherited = (*pins.add, *pins.there) if request.again else pins.add
    sample = islice(looked_at.values(), _TOPIC_SAMPLE)
    topics = merged_topics(giving, [entry.get("hot_topics") or () for entry in sample])
    projects = once(name for state in giving for name in state.active_projects)
    taken = offered.taken if offered is not None else None
    shown = PreambleContext(states, inherited, tasks, topics, projects, taken, handed_over)
    preamble = format_preamble(shown, config, now)
    context = plan.context._replace(
        preamble=preamble,
        block=preamble,
        inherited_pins=inherited,
        pending_task_count=len(tasks),
        memories=memories,
        hot_topics=tuple(shown.hot_topics),
        active_projects=tuple(shown.active_projects),
        candidates=selection.candidates,
        pins=pins.decisions,
        handoff=offered.to_dict(config) if offered is not None else None,
    ).with_sessions(states, [score for _, score in sources], format_time(now))
    if config.debug:
        from jsonlstore.restore.explain import log_decisions

        log_decisions(env, priors, selection, pinned.taken, context)
    return plan._replace(context=context, pins=pins, shown=shown, tasks=tasks)


def _critical(
    env: Environment, entries: Entries, now: datetime, load: Callable[[str], SessionState]
) -> list[SessionState]:
    """The latest sessions with a critical pin, latest first."""
    since = time_before(now, timedelta(days=env.config.critical_inheritance_days))
    marked = [(entry["end_time"], other) for other, entry in entries.items() if entry.get("critical")]
    latest = sorted((one for one in marked if one[0] >= since), reverse=True)
    found = []
    for _, session_id in latest[:_MOST_CRITICAL_LOGS]:
        try:
            found.append(load(session_id))
        except JsonlStoreError as problem:
            log.warning("session %s left out: %s", session_id, problem)
    return found


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
