"""`SessionRestorer`: plans a restore, then carries it out, within a deadline, and never breaks a session start."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from jsonlstore.core.clock import Clock, system_clock
from jsonlstore.core.errors import JsonlStoreError, UsageError
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import check_session_id
from jsonlstore.restore.deadline import Budget
from jsonlstore.restore.plan import Environment, make_plan
from jsonlstore.restore.result import RestoredSessionContext

if TYPE_CHECKING:
    from jsonlstore.core.config import Config
    from jsonlstore.restore.override import Override
    from jsonlstore.restore.result import MemorySource, RelevanceSource, RestoreRequest
    from jsonlstore.store.store import SessionStore

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
        self._env = Environment(store, config, memories, clock, by, relevance)

    def restore(
        self, request: RestoreRequest, *, dry_run: bool = False, budget: Budget | None = None
    ) -> RestoredSessionContext:
        """What the session gets. In time, whatever the disk does; a cold start with `error` if anything went wrong.

        A caller that already runs inside a budget hands it over and waits for it itself.
        """
        if request.session_id or not dry_run:
            check_session_id(request.session_id)
        if not self._env.config.enabled:
            return RestoredSessionContext(request.session_id)
        own = budget or Budget(self._env.config.restore_budget_ms / 1000)
        work = partial(self._restore_within, request, own, dry_run=dry_run)
        try:
            context = work() if budget is not None else own.run(work)
        except UsageError:
            raise
        except Exception as problem:  # noqa: BLE001 - fail open: whatever went wrong, the session starts
            context = cold_start(request.session_id, problem)
        self._env.debug("Restoration complete in %dms", own.elapsed_ms)
        return context.timed(own.elapsed_ms)

    def override(self, override: Override, *, dry_run: bool = False) -> RestoredSessionContext:
        """Bring one named session back, whatever its age and score (FR-011)."""
        from jsonlstore.restore.override import carry_out

        return carry_out(self._env, override, dry_run=dry_run)

    def _restore_within(self, request: RestoreRequest, budget: Budget, *, dry_run: bool) -> RestoredSessionContext:
        """Plan, then apply; every wait for a lock ends with the budget."""
        env = self._env._replace(store=self._env.store.within(budget.left))
        try:
            plan = make_plan(env, request)
        except (AttributeError, KeyError, TypeError, ValueError) as problem:
            # the index reads as JSON, but what stands in it is not what we write: the logs know better
            log.warning("the session index is rebuilt: %s: %s", type(problem).__name__, problem)
            env.store.index.rebuild()
            plan = make_plan(env, request)
        if dry_run:
            return plan.context
        from jsonlstore.restore.apply import apply, wake

        return (wake if plan.context.already_restored else apply)(plan, env, budget)


def cold_start(session_id: str, problem: BaseException) -> RestoredSessionContext:
    """The context of a session that starts without anything, and a warning that tells the operator why."""
    message = problem.message if isinstance(problem, JsonlStoreError) else f"{type(problem).__name__}: {problem}"
    log.warning("restoration failed, cold start of %s: %s", session_id, message)
    return RestoredSessionContext(session_id, error=message)
