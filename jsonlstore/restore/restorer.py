"""`SessionRestorer`: plans a restore, then carries it out, within a deadline, and never breaks a session start.

The side effects come in one order: recoveries, the start, pins, links, the inheritance record, metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from jsonlstore.core.clock import Clock, hours_between, parse_time, system_clock
from jsonlstore.core.config import Config
from jsonlstore.core.errors import JsonlStoreError, OverBudget, Unreadable, UsageError, WriteFailed
from jsonlstore.core.logs import logger
from jsonlstore.core.model import PendingTask, SessionState, WorkingMemoryPin
from jsonlstore.core.paths import check_session_id
from jsonlstore.restore.block import items_of
from jsonlstore.restore.crash import Crashed, owner_of
from jsonlstore.restore.deadline import Budget
from jsonlstore.restore.plan import Environment, RestorePlan, format_preamble, make_plan
from jsonlstore.restore.preamble import task_ends
from jsonlstore.restore.result import MemorySource, RelevanceSource, RestoredSessionContext, RestoreRequest
from jsonlstore.restore.wrapper import identifier
from jsonlstore.store import SessionStore

log = logger("jsonlstore.session")


class SessionRestorer:
    """Brings back what earlier sessions left, within a budget. It never raises for a restore problem."""

    def __init__(
        self,
        store: SessionStore,
        config: Config,
        *,
        memories: MemorySource | None = None,
        clock: Clock = system_clock,
        by: str = "hook",
        relevance: RelevanceSource | None = None,
    ) -> None:
        self.env = Environment(store, config, memories, clock, by, relevance)

    def restore(
        self, request: RestoreRequest, *, dry_run: bool = False, budget: Budget | None = None
    ) -> RestoredSessionContext:
        """What the session gets. In time, whatever the disk does; a cold start with `error` if anything went wrong.

        A caller that already runs inside a budget hands it over and waits for it itself.
        """
        if request.session_id or not dry_run:
            check_session_id(request.session_id)
        if not self.env.config.enabled:
            return RestoredSessionContext(request.session_id)
        own = budget or Budget(self.env.config.restore_budget_ms / 1000)
        work = partial(self._restore_within, request, own, dry_run=dry_run)
        try:
            context = work() if budget is not None else own.run(work)
        except UsageError:
            raise
        except Exception as problem:  # noqa: BLE001 - fail open: whatever went wrong, the session starts
            context = cold_start(request.session_id, problem)
        self.env.debug("Restoration complete in %dms", own.elapsed_ms)
        return context._replace(elapsed_ms=own.elapsed_ms)

    def _restore_within(self, request: RestoreRequest, budget: Budget, *, dry_run: bool) -> RestoredSessionContext:
        """Plan, then apply; every wait for a lock ends with the budget."""
        env = self.env._replace(store=self.env.store.within(budget.left))
        try:
            plan = make_plan(env, request)
        except (AttributeError, KeyError, TypeError, ValueError) as problem:
            # the index reads as JSON, but what stands in it is not what we write: the logs know better
            log.warning("the session index is rebuilt: %s: %s", type(problem).__name__, problem)
            env.store.index.rebuild()
            plan = make_plan(env, request)
        if dry_run or plan.leaves_no_trace:
            return plan.context
        return (_wake if plan.context.already_restored else _apply)(plan, env, budget)


def cold_start(session_id: str, problem: BaseException) -> RestoredSessionContext:
    """The context of a session that starts without anything, and a warning that tells the operator why."""
    message = problem.message if isinstance(problem, JsonlStoreError) else f"{type(problem).__name__}: {problem}"
    log.warning("restoration failed, cold start of %s: %s", session_id, message)
    return RestoredSessionContext(session_id, error=message)


def _apply(plan: RestorePlan, env: Environment, budget: Budget) -> RestoredSessionContext:
    """Carry a plan out. Each step passes the gate first; a restore whose start was not recorded did not happen."""
    with env.store.metrics.batch():
        with env.store.index.batch():
            context, news = _carry_out(plan, env, budget)
        if news and not context.cold:
            _try(budget, "metrics", partial(env.store.metrics.emit, *restored_metrics(plan, context)))
    return context


def _wake(plan: RestorePlan, env: Environment, budget: Budget) -> RestoredSessionContext:
    """A session that was restored into before goes on: it is open again, and whoever runs it now owns it."""
    owner = owner_of(plan.request.pid) if plan.request.pid else None
    if plan.known is not None and (plan.known.ended or (owner and owner != plan.known.owner)):
        budget.enter("the resumption")
        env.store.resume(plan.request.session_id, by=env.by, owner=owner)
    return plan.context


def _carry_out(plan: RestorePlan, env: Environment, budget: Budget) -> tuple[RestoredSessionContext, bool]:
    """The context, and whether this call took anything that an earlier one had not."""
    store, session_id = env.store, plan.request.session_id
    for left in plan.crashed:
        if _try(budget, "a recovery record", partial(close, store, left, env.by)) and env.config.handoff_enabled:
            _try(budget, "a handoff", partial(hand_over, store, left, env.config, env.by))
    budget.enter("the start record")
    _start(plan, env)
    if plan.handoff is not None and plan.handoff.document is not None:
        plan = _claimed(plan, env, budget)
    context = _add_pins(plan, env, budget) if plan.pins.add else plan.context
    added = context.inherited_pins
    won = plan.handoff.session_id if plan.handoff is not None and plan.handoff.document is not None else None
    news = (
        plan.known is None
        or not plan.known.inherited
        or plan.request.resume is not None
        or any(pin in plan.pins.add for pin in added)
    )
    for prior in dict.fromkeys((*context.session_ids, *plan.pins.sources)):
        news |= _try(budget, "a link", partial(store.link, prior, session_id, by=env.by)) is True
    if not news and plan.known is not None and plan.known.block is not None:
        context = context._replace(block=plan.known.block)  # it stays as it was given, whatever the time is now
    if news:
        budget.enter("the inheritance record")
        why = {} if plan.why is None else {"why": plan.why}
        block = {} if context.block is None else {"block": context.block}
        given = {} if won is None else {"handoff": won}
        record = inheritance(plan, context, **why, **given)
        store.note(session_id, "session.inherited", record, by=env.by, redacted=block)
        if won is not None:
            _try(budget, "the offer", partial(_offer, plan, env, won))
    return context, news


def _claimed(plan: RestorePlan, env: Environment, budget: Budget) -> RestorePlan:
    """The plan once its handoff is claimed; if another session has it, the lines are those of any earlier session."""
    from jsonlstore.handoff import claim

    offered = plan.handoff
    assert offered is not None
    work = partial(
        claim, env.store, offered.session_id, plan.request.session_id, now=plan.now,
        expires_hours=env.config.handoff_expires_hours, forced=plan.request.resume is not None, by=env.by,
    )  # fmt: skip
    found = _try(budget, "the claim", work)
    if found is not None and found.won:  # type: ignore[attr-defined]
        return plan
    lost = offered._replace(document=None, claimed_by=found.by if found is not None else None)  # type: ignore[attr-defined]
    shown = plan.shown._replace(handoff=None, taken=lost.taken)
    preamble = format_preamble(shown, env.config, plan.now)
    context = plan.context._replace(preamble=preamble, block=preamble, handoff=lost.to_dict(env.config))
    return plan._replace(handoff=lost, shown=shown, context=context)


def _offer(plan: RestorePlan, env: Environment, source: str) -> None:
    from jsonlstore.handoff import ProjectContext, offer, set_project

    offer(env.store, source, plan.request.session_id, by=env.by)
    document = plan.handoff.document if plan.handoff is not None else None
    if document is not None and document.project != "general" and plan.request.resume is not None:
        project = ProjectContext(document.project, started_at=env.store.now())
        set_project(env.store, plan.request.session_id, project, by=env.by)


def _add_pins(plan: RestorePlan, env: Environment, budget: Budget) -> RestoredSessionContext:
    """Write the planned pins, and say of them what is true: somebody else may have pinned meanwhile."""
    context = plan.context
    budget.enter("the pins")
    written: list[WorkingMemoryPin] = []
    try:
        written = env.pin_file.add(plan.pins.add, env.config.max_inherited_pins)
    except (Unreadable, WriteFailed) as problem:  # another program's file: tasks and topics come back without it
        log.warning("pins not inherited: %s", problem)
        context = context._replace(error=f"pins not inherited: {problem.message}")
    added = (*written, *(pin for pin in context.inherited_pins if pin not in plan.pins.add))
    if len(added) == len(context.inherited_pins):
        return context
    preamble = format_preamble(plan.shown._replace(inherited_pins=added), env.config, plan.now)
    return context._replace(inherited_pins=added, preamble=preamble, block=preamble)


def close(store: SessionStore, left: Crashed, by: str) -> bool:
    """Close a session that crashed or was superseded, and count it as captured; False if it had ended after all."""
    if left.end_reason == "crash":
        closed = store.recover(left.session_id, left.end_time, by=by)
    else:
        closed = store.end(left.session_id, reason=left.end_reason, end_time=left.end_time, by=by, inferred=True)
    if closed:
        emit_captured(store, left.session_id)
    return closed


def emit_captured(store: SessionStore, session_id: str) -> None:
    """Count a session that was open and is closed now; one that ends twice is captured once."""
    try:
        store.metrics.emit(captured_metric(store.get(session_id)))
    except JsonlStoreError as problem:
        log.warning("metrics of %s not written: %s", session_id, problem)


def hand_over(store: SessionStore, left: Crashed, config: Config, by: str) -> None:
    """Capture where a session stood that nobody ended."""
    from jsonlstore.handoff import capture

    hours = config.handoff_expires_hours
    capture(store, left.session_id, left.end_reason, now=store.clock(), expires_hours=hours, by=by)


def captured_metric(state: SessionState) -> dict[str, Any]:
    """The `session_captured` record of a closed session."""
    minutes = 0.0
    if state.end_time:
        minutes = max(0.0, hours_between(parse_time(state.start_time), parse_time(state.end_time)) * 60)
    return {
        "event": "session_captured",
        "session_id": state.session_id,
        "channel": state.channel,
        "duration_minutes": round(minutes, 3),
        "pin_count": len(state.working_memory),
        "learning_count": len(state.recent_learnings),
        "task_count": len(state.pending_tasks),
        "hot_topic_count": len(state.hot_topics),
        "crash_recovered": state.crash_recovered,
    }


def restored_metrics(plan: RestorePlan, context: RestoredSessionContext, **extra: Any) -> list[dict[str, Any]]:
    """The metrics of a restore that brought something back."""
    events: list[dict[str, Any]] = [
        {
            "event": "session_restored",
            "new_session_id": plan.request.session_id,
            "from_session_ids": list(context.session_ids),
            "pins_inherited": len(context.inherited_pins),
            "relevance_scores": [round(score, 6) for score in context.relevance_scores],
            "pending_task_count": context.pending_task_count,
            "cold_start": False,
            **extra,
        }
    ]
    events += [
        {
            "event": "confidence_decay_applied",
            "memory_id": memory.memory_id,
            "original_confidence": memory.original_confidence,
            "decayed_confidence": round(memory.confidence, 6),
            "hours_elapsed": round(memory.hours_elapsed, 3),
            "excluded": memory.excluded,
        }
        for memory in context.memories
    ]
    ends = task_ends(plan.shown.sessions)
    for task in shown_tasks(context.preamble, plan.tasks):
        ended = ends.get(task.task_id)
        hours = max(0.0, hours_between(parse_time(ended), plan.now)) if ended else 0.0
        events.append(
            {
                "event": "pending_task_surfaced",
                "task_id": task.task_id,
                "title": task.title,
                "stage": task.stage,
                "days_pending": round(hours / 24, 3),
                "source": "working_memory_scan" if task.flagged_incomplete else "pipeline_state",
            }
        )
    return events


def shown_tasks(preamble: str | None, tasks: Sequence[PendingTask]) -> list[PendingTask]:
    """The tasks a preamble had room for."""
    told = {item.id for item in items_of(preamble or "")}
    return [task for task in tasks if identifier(task.task_id) in told]


def _try(budget: Budget, step: str, work: Callable[[], object]) -> object:
    """A step the restore can do without: its failure is logged, but time running out still ends everything."""
    budget.enter(step)
    try:
        return work()
    except OverBudget:
        raise
    except JsonlStoreError as problem:
        log.warning("%s not written: %s", step, problem)
        return None


def inheritance(plan: RestorePlan, context: RestoredSessionContext, **extra: Any) -> dict[str, Any]:
    """The data of a `session.inherited` record: what was taken, from whom, with which scores."""
    return {
        "from": list(context.session_ids),
        "scores": [round(score, 6) for score in context.relevance_scores],
        "pins": len(context.inherited_pins),
        "tasks": [task.task_id for task in plan.tasks],
        **extra,
    }


def _start(plan: RestorePlan, env: Environment) -> None:
    store, request = env.store, plan.request
    owner = owner_of(request.pid) if request.pid else None
    fields = {
        "channel": request.channel or "unknown",
        "agent_id": request.agent_id,
        "session_key": request.session_key,
        "previous_session_id": plan.previous,
    }
    given: dict[str, Any] = {key: value for key, value in fields.items() if value is not None}
    if plan.known is None and store.start(request.session_id, by=env.by, owner=owner, **given):
        return
    # the watcher saw the session first: the start adds what only the runtime knows
    store.resume(request.session_id, by=env.by, owner=owner)
    known = plan.known.state() if plan.known else store.get(request.session_id)
    if known.previous_session_id is not None:
        given.pop("previous_session_id", None)
    store.update(request.session_id, given, by=env.by)
