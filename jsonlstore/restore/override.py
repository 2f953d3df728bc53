"""The manual override (FR-011): one named session comes back at any age, and who asked for it is on record."""

from __future__ import annotations

from typing import Any, NamedTuple

from jsonlstore.core.clock import format_time, hours_between, parse_time
from jsonlstore.core.errors import OutOfScope, SessionOpen, UsageError
from jsonlstore.core.logs import logger
from jsonlstore.core.model import SessionState
from jsonlstore.restore.closings import closings_of, without_closed
from jsonlstore.restore.inherit import all_pins, decayed_memories, plan_pins
from jsonlstore.restore.plan import Environment, RestorePlan, format_preamble
from jsonlstore.restore.preamble import PreambleContext
from jsonlstore.restore.restorer import inheritance, restored_metrics
from jsonlstore.restore.result import RestoredSessionContext, RestoreRequest
from jsonlstore.restore.scope import Scope
from jsonlstore.restore.score import DecayRate, factors
from jsonlstore.restore.tasks import Pipeline, surfaced

log = logger("jsonlstore.session")

AUDIT = "session.override"


class Override(NamedTuple):
    """Who asks for which session, into which, and whether another conversation may be reached (operators only)."""

    target: str
    into: str | None = None
    agent: str | None = None
    across: bool = False

    @property
    def asker(self) -> dict[str, Any]:
        return {"agent": self.agent or "unknown", "across": self.across}


def carry_out(env: Environment, override: Override, *, dry_run: bool = False) -> RestoredSessionContext:
    """Everything the named session left, subject to nothing but the pin caps. Audited before anything is taken."""
    store, config, now = env.store, env.config, env.clock()
    if override.into == override.target:
        raise UsageError(f"session {override.target} cannot continue itself")
    state = store.get(override.target)
    _check_scope(env, override, state)
    if state.end_time is None:
        raise SessionOpen(f"session {override.target} is still active", hint="if it died, see `jsonlstore recover`")
    pins = plan_pins(all_pins(state, "asked for by name"), env.pin_file.read(), config.max_inherited_pins)
    ended = parse_time(state.end_time)
    closings = closings_of(store, config, store.index.entries(), Scope.of_session(config.scope, state), now)
    state = without_closed(state, closings)
    tasks = tuple(surfaced([state], Pipeline.read(store.paths, config)))
    shown = PreambleContext([state], pins.add, tasks, state.hot_topics, state.active_projects)
    hours = hours_between(ended, now)
    context = RestoredSessionContext(
        override.into or "",
        preamble=format_preamble(shown, config, now),
        inherited_pins=pins.add,
        pending_task_count=len(tasks),
        memories=decayed_memories([state], env.memories, now, DecayRate.of(config)),
        hot_topics=state.hot_topics,
        active_projects=state.active_projects,
        pins=pins.decisions,
    ).with_sessions(
        [state], [factors(state.hot_topics, len(state.pending_tasks), frozenset(), hours).score], format_time(now)
    )
    if dry_run:
        return context
    _audit(env, override)
    if pins.add:
        added = tuple(env.pin_file.add(pins.add, config.max_inherited_pins))
        shown = shown._replace(inherited_pins=added)
        context = context._replace(inherited_pins=added, preamble=format_preamble(shown, config, now))
    plan = RestorePlan(RestoreRequest(override.into or ""), now, context, shown=shown, tasks=tasks)
    extra = {"forced": True, **override.asker}
    if override.into is not None:
        store.link(override.target, override.into, by=env.by)
        store.note(override.into, "session.inherited", inheritance(plan, context, **extra), by=env.by)
    store.metrics.emit(*restored_metrics(plan, context, **extra))
    return context


def _check_scope(env: Environment, override: Override, state: SessionState) -> None:
    """Without a session to continue in, only what belongs to no particular person's chat is in reach."""
    if override.across:
        return
    if override.into is not None:
        scope = Scope.of_session(env.config.scope, env.store.get(override.into))
    else:
        scope = Scope.of(env.config.scope, state.agent_id, None, state.channel)
    if not scope.allows(state):
        raise OutOfScope(
            f"session {override.target} belongs to another conversation",
            hint="an operator can reach it with `jsonlstore continue ID --across`",
        )


def _audit(env: Environment, override: Override) -> None:
    data = {**override.asker, "at": format_time(env.clock())}
    if override.into:
        data["into"] = override.into
    env.store.note(override.target, AUDIT, data, by=env.by)
    log.info("override: %s continues %s in %s%s", data["agent"], override.target, override.into or "no session",
             ", across conversations" if override.across else "")  # fmt: skip


def reply(context: RestoredSessionContext, state: SessionState) -> str:
    """What is said back to whoever asked, as cortex-api section 7 has it."""
    ended = parse_time(state.end_time or state.start_time).astimezone()
    lines = [
        f"Inherited from session {state.session_id[:8]} ({ended:%Y-%m-%d %H:%M %Z}):",
        f"- {len(context.inherited_pins)} working memory pins restored",
        f"- {context.pending_task_count} pending tasks surfaced",
        f"- {len(context.hot_topics)} hot topics loaded",
        "Pins written to working memory." if context.inherited_pins else "No pins had to be written.",
    ]
    return "\n".join(lines)
