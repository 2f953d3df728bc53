"""`task list|add|done|drop|reopen`: the open tasks of a conversation, and what the operator says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import answer, command, command_group, say, with_example
from jsonlstore.cli.formatting import DISABLED, ENABLE_HINT, NO_SESSIONS_HINT, say_folded
from jsonlstore.cli.listing import Span, span_options
from jsonlstore.core.errors import JsonlStoreError, SessionNotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonlstore.cli.app import App
    from jsonlstore.restore import TaskList

_DONE = {"add": "added", "done": "done", "drop": "dropped", "reopen": "open again"}


task = command_group("task", "List, add, close and reopen tasks of a conversation.", "jsonlstore task done 2")


def _key_option(function: Callable[..., Any]) -> Callable[..., Any]:
    option = click.option("--session-key", metavar="KEY", help="The conversation (default: the newest).")
    return option(function)


@with_example("jsonlstore task list")
@command("list", "--json", "--now", group=task)
@_key_option
@span_options(50)
def list_tasks(app: App, session_key: str | None, as_json: bool, **span: Any) -> None:
    """List the open tasks of a conversation."""
    tasks, place = conversation(app, session_key)
    listed = Span(**span).pick(tasks.to_list(), lambda one: one["last_at"], app.clock(), "task")

    def show() -> None:
        say(f"conversation {place or 'without a key'}")
        for one in listed:
            say_folded(f"{one['number']:>3}  {one['title'] or one['task_id']}  [{one['task_id']}] {one['age']}")
        if not listed:
            say("no open tasks")

    answer(as_json, {"session_key": place, "tasks": listed}, show)


def conversation(app: App, session_key: str | None) -> tuple[TaskList, str | None]:
    """The tasks of the named conversation, or of the newest one."""
    from jsonlstore.restore import Scope, TaskList, newest_session

    store = app.open_store()
    newest = newest_session(store, session_key=session_key)
    if newest is None:
        if session_key:
            raise SessionNotFound(
                f"no session has the key {session_key}", hint="`jsonlstore list --json` shows the keys"
            )
        raise SessionNotFound("there are no sessions yet", hint=NO_SESSIONS_HINT)
    scope = Scope.of_session("conversation", newest)
    return TaskList(store, app.config, scope, app.clock()), newest.session_key


def _change(action: str) -> click.Command:
    words = "TITLE" if action == "add" else "TASK"
    named = {"add": '"paint the box"', "reopen": '"the PTT line"'}.get(action, "2")

    @with_example(f"jsonlstore task {action} {named}")
    @command(action, "--dry-run", "--json", "--now")
    @click.argument("wanted", metavar=f"{words}…", nargs=-1, required=True)
    @_key_option
    def run(app: App, wanted: tuple[str, ...], session_key: str | None, dry_run: bool, as_json: bool) -> None:
        if not app.config.enabled:
            raise JsonlStoreError(DISABLED, hint=ENABLE_HINT)
        tasks, place = conversation(app, session_key)
        changed = tasks.change(action, wanted, tasks.newest, who="operator", dry_run=dry_run)
        document = {"session_key": place, "changed": [one.to_dict() for one in changed], "dry_run": dry_run}

        def show() -> None:
            for one in changed:
                would = "would be " if dry_run else ""
                say_folded(f"{would}{_DONE[action]}: {one.title or one.task_id} [{one.task_id}]")

        answer(as_json, document, show)

    run.help = {
        "add": "Add a task; it comes back in the conversation's next sessions.",
        "done": "Close tasks, by number, id or words of their title.",
        "drop": "Close tasks that nobody will do.",
        "reopen": "Open closed tasks again, by id or words of their title.",
    }[action]
    return run


for _action in _DONE:
    task.add_command(_change(_action))
