"""The manual override (FR-011): one named session comes back at any age, and it is written down who asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import format_time, hours_between, parse_time
from jsonlstore.core.errors import OutOfScope, SessionOpen, UsageError
from jsonlstore.core.logs import logger
from jsonlstore.restore.apply import restored_metrics
from jsonlstore.restore.inherit import all_pins, decayed_memories, plan_pins
from jsonlstore.restore.inheritor import Inheritor
from jsonlstore.restore.model import RestoredSessionContext, RestoreRequest
from jsonlstore.restore.preamble import PreambleContext
from jsonlstore.restore.restorer import Plan, format_preamble
from jsonlstore.restore.scope import Scope
from jsonlstore.restore.score import factors
from jsonlstore.restore.tasks import Pipeline, surfaced

if TYPE_CHECKING:
    from jsonlstore.core.model import SessionState

log = logger("jsonlstore.session")

AUDIT = "session.override"


@dataclass(frozen=True, slots=True)
class Override:
    """Who asks for which session, into which, and whether another conversation may be reached (operators only)."""

    target: str
    into: str | None = None
    agent: str | None = None
    across: bool = False


class SessionOverride(Inheritor):
    """Carries manual overrides out."""

    def inherit(self, wish: Override, *, dry_run: bool = False) -> RestoredSessionContext:
        """Everything the named session left, subject to nothing but the pin caps. Audited before anything is taken."""
        store, config, now = self._store, self._config, self._clock()
        if wish.into == wish.target:
            raise UsageError(f"session {wish.target} cannot continue itself")
        state = store.get(wish.target)
        self._check_scope(wish, state)
        if state.end_time is None:
            raise SessionOpen(f"session {wish.target} is still active", hint="if it died, see `jsonlstore recover`")
        pin_file = self._pin_file(store)
        pinned = pin_file.read()
        pins = plan_pins(all_pins(state, "asked for by name"), pinned, config.max_inherited_pins)
        tasks = tuple(surfaced([state], Pipeline.read(store.paths.state_dir, config)))
        told = PreambleContext([state], pins.add, tasks, state.hot_topics, state.active_projects)
        hours = hours_between(parse_time(state.end_time), now)
        context = RestoredSessionContext(
            wish.into or "",
            preamble=format_preamble(told, config, now),
            inherited_pins=pins.add,
            session_ids=(wish.target,),
            relevance_scores=(factors(state.hot_topics, len(state.pending_tasks), frozenset(), hours).score,),
            pending_task_count=len(tasks),
            memories=decayed_memories([state], self._memories, now, config.decay_min_floor),
            hot_topics=state.hot_topics,
            active_projects=state.active_projects,
            pins=pins.decisions,
        )
        if dry_run:
            return context
        self._audit(wish)
        if pins.add:
            added = tuple(pin_file.add(pins.add, config.max_inherited_pins))
            told = told._replace(inherited_pins=added)
            context = context._replace(inherited_pins=added, preamble=format_preamble(told, config, now))
        self._record(wish, context, Plan(RestoreRequest(wish.into or ""), now, context, told=told, tasks=tasks))
        return context

    def _check_scope(self, wish: Override, state: SessionState) -> None:
        """Without a session to continue in, only what belongs to no particular person's chat is in reach."""
        if wish.across:
            return
        if wish.into is not None:
            scope = Scope.of_session(self._config.scope, self._store.get(wish.into))
        else:
            scope = Scope.of(self._config.scope, state.agent_id, None, state.channel)
        if not scope.allows(state):
            raise OutOfScope(
                f"session {wish.target} belongs to another conversation",
                hint="an operator can reach it with `jsonlstore continue ID --across`",
            )

    def _audit(self, wish: Override) -> None:
        data: dict[str, Any] = {
            "agent": wish.agent or "unknown",
            "across": wish.across,
            "at": format_time(self._clock()),
        }
        if wish.into:
            data["into"] = wish.into
        self._store.note(wish.target, AUDIT, data, by=self._by)
        log.info("override: %s continues %s in %s%s", data["agent"], wish.target, wish.into or "no session",
                 ", across conversations" if wish.across else "")  # fmt: skip

    def _record(self, wish: Override, context: RestoredSessionContext, plan: Plan) -> None:
        if wish.into is not None:
            self._store.link(wish.target, wish.into, by=self._by)
            inherited = {
                "from": [wish.target],
                "scores": [round(score, 6) for score in context.relevance_scores],
                "pins": len(context.inherited_pins),
                "tasks": [task.task_id for task in plan.tasks],
                "forced": True,
                "agent": wish.agent or "unknown",
                "across": wish.across,
            }
            self._store.note(wish.into, "session.inherited", inherited, by=self._by)
        extra = {"forced": True, "agent": wish.agent or "unknown", "across": wish.across}
        self._store.metrics.emit(*restored_metrics(plan, context, **extra))


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
