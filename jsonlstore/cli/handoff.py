"""`handoff`, `resume`, `project`: where sessions stood, who picked it up, and what it was about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.app import App
from jsonlstore.cli.console import answer, command, command_group, say, with_example
from jsonlstore.cli.formatting import NO_SESSIONS_HINT, local, say_folded
from jsonlstore.cli.listing import Span, span_options
from jsonlstore.core.errors import JsonlStoreError, SessionNotFound, UsageError

if TYPE_CHECKING:
    from jsonlstore.handoff import HandoffRecord
    from jsonlstore.store import SessionStore

handoff = command_group(
    "handoff",
    "Show where sessions stood, so that the next one can go on. Without a command it captures the newest session.",
    "jsonlstore handoff",
    "jsonlstore handoff list",
    "jsonlstore handoff capture 3fca9cad",
    default="capture",
)
project = command_group(
    "project",
    "Set what a conversation is about. Notes and handoffs of other projects are then left out.",
    "jsonlstore project set radio",
    "jsonlstore project show",
)
_ID = click.argument("session_id", metavar="[ID]", required=False)


def _target(store: SessionStore, given: str | None) -> str:
    """The session meant: the one named, else the newest."""
    if given:
        return store.resolve(given)
    from jsonlstore.bridges.openclaw import recent_sessions

    found = recent_sessions(store)
    if not found:
        raise SessionNotFound("there are no sessions yet", hint=NO_SESSIONS_HINT)
    return found[0]


def _check_enabled(app: App) -> None:
    if not (app.config.enabled and app.config.handoff_enabled):
        raise JsonlStoreError(
            "handoffs are switched off",
            hint="set `handoff_enabled: true` in plugins.entries.jsonlstore.config of openclaw.json",
        )


@with_example("jsonlstore handoff capture", "jsonlstore handoff capture 3fca9cad --dry-run")
@command("capture", "--dry-run", "--json", "--now", group=handoff)
@_ID
def capture_(app: App, session_id: str | None, dry_run: bool, as_json: bool) -> None:
    """Capture where a session stands now (default: the newest one)."""
    from jsonlstore.watch import capture_now

    _check_enabled(app)
    config, store = app.config, app.open_store()
    target = _target(store, session_id)
    document = capture_now(store, config, target, "command", by="operator", rewritten=True, dry_run=dry_run)
    told = document.to_dict() if document else None
    done = f"{'would capture' if dry_run else 'captured'} where session {target} stands"
    said = done if document else f"session {target} has nothing to hand over"
    answer(as_json, {"session_id": target, "captured": document is not None and not dry_run, "handoff": told},
           lambda: say(said))  # fmt: skip


def _records(store: SessionStore) -> list[tuple[str, HandoffRecord]]:
    from jsonlstore.bridges.openclaw import recent_sessions
    from jsonlstore.handoff import kept_handoff

    found = []
    for session_id in recent_sessions(store):
        try:
            record = kept_handoff(store.folded(session_id))
        except JsonlStoreError:
            continue  # another process removed it meanwhile
        if record is not None:
            found.append((session_id, record))
    return found


def _newest_kept(store: SessionStore) -> str | None:
    return next((session_id for session_id, record in _records(store) if not record.cleared_at), None)


@with_example("jsonlstore handoff list", "jsonlstore handoff list --json")
@command("list", "--json", "--now", group=handoff)
@span_options(50)
def list_handoffs(app: App, as_json: bool, **span: Any) -> None:
    """List the handoffs of the last 30 days, newest first."""
    now = app.clock()
    records = _records(app.open_store(live=False))
    found = Span(**span).pick(records, lambda one: one[1].document.updated_at, now, "handoff")
    listed = [{**record.to_dict(now), "trigger": record.trigger, "clearedAt": record.cleared_at} for _, record in found]

    def tell() -> None:
        for session_id, record in found:
            say_folded(f"{local(record.document.updated_at)}  {session_id}  {_status_of(record, app)}", indent="    ")
        if not found:
            say("no handoffs")

    answer(as_json, listed, tell)


def _status_of(record: HandoffRecord, app: App) -> str:
    if record.cleared_at:
        return "cleared"
    if record.claimed_by:
        return f"claimed by {record.claimed_by}"
    expired = record.document.is_expired(app.clock())
    return f"expired, project {record.document.project}" if expired else f"waits, project {record.document.project}"


@with_example("jsonlstore handoff status")
@command("status", "--json", "--now", group=handoff)
@_ID
def status_(app: App, session_id: str | None, as_json: bool) -> None:
    """Show a session's handoff (default: the newest one that has any)."""
    store = app.open_store(live=False)
    found = _records(store)
    if session_id:
        wanted = store.resolve(session_id)
        found = [one for one in found if one[0] == wanted]
    document: dict[str, Any] | None = None
    if found:
        document = {**found[0][1].to_dict(app.clock()), "trigger": found[0][1].trigger}

    def tell() -> None:
        if not found:
            say("there is no handoff")
            return
        from jsonlstore.restore import handoff_lines

        say(f"{found[0][0]}: {_status_of(found[0][1], app)}", bold=True)
        if found[0][1].cleared_at:
            return
        say("\n".join(handoff_lines(found[0][1].document, store.get(found[0][0]))))

    answer(as_json, {"handoff": document}, tell)


@with_example("jsonlstore handoff clear", "jsonlstore handoff clear 3fca9cad --dry-run")
@command("clear", "--dry-run", "--json", "--now", group=handoff)
@_ID
def clear_(app: App, session_id: str | None, dry_run: bool, as_json: bool) -> None:
    """Discard a session's handoff (default: the newest one that has any)."""
    from jsonlstore.handoff import clear

    store = app.open_store()
    target = store.resolve(session_id) if session_id else _newest_kept(store)
    done = target is not None and not dry_run and clear(store, target)
    said = (
        f"{'would discard' if dry_run else 'discarded'} the handoff of session {target}"
        if done or (dry_run and target)
        else "there is no handoff"
    )
    answer(as_json, {"session_id": target, "cleared": bool(done), "dry_run": dry_run}, lambda: say(said))


@with_example("jsonlstore resume", "jsonlstore resume 3fca9cad --into 7f3a")
@command("resume", "--dry-run", "--json", "--now")
@_ID
@click.option("--into", metavar="SESSION", help="The session that continues it; without one it is only shown.")
def resume(app: App, session_id: str | None, into: str | None, dry_run: bool, as_json: bool) -> None:
    """Pick a handoff up, also one that was claimed, has expired or was skipped."""
    from jsonlstore.restore import RestoreRequest

    _check_enabled(app)
    manager = app.open_manager()
    store = manager.store
    source = store.resolve(session_id) if session_id else _newest_kept(store)
    if source is None:
        raise SessionNotFound("there is no handoff", hint="`jsonlstore handoff capture` makes one")
    known = store.get(store.resolve(into) if into else source)
    request = RestoreRequest(
        known.session_id if into else "", known.channel, known.agent_id, known.session_key, resume=source
    )
    if into == source:
        raise UsageError("a session cannot resume itself")
    if into and not dry_run:
        context = manager.on_session_start(
            known.session_id, known.channel, agent_id=known.agent_id, session_key=known.session_key, resume=source
        )
    else:
        context = manager.preview(request)
    if context.error:
        raise JsonlStoreError(context.error)
    shown = context.preamble or "nothing to resume"
    answer(as_json, {**context.to_dict(), "resumed": source if into and not dry_run else None},
           lambda: say_folded(shown, indent="  "))  # fmt: skip


@with_example("jsonlstore project show")
@command("show", "--json", group=project)
@_ID
def show_project(app: App, session_id: str | None, as_json: bool) -> None:
    """Show a session's project, set or inferred. Without an id it is the newest session's."""
    from jsonlstore.handoff import ProjectContext

    store = app.open_store(live=False)
    target = _target(store, session_id)
    state = store.get(target)
    known = ProjectContext.of(store.folded(target))
    inferred = next(iter(state.active_projects), "general")
    shown = known or ProjectContext(inferred, started_at=state.start_time)
    document = {"session_id": target, **shown.to_dict(), "inferred": known is None}
    answer(as_json, document, lambda: say(f"session {target}: {shown.name} ({'set' if known else 'inferred'})"))


@with_example("jsonlstore project set radio")
@command("set", "--dry-run", "--json", group=project)
@click.argument("name")
@_ID
@click.option("--inactive", is_flag=True, help="Note no patterns for it.")
@click.option("--no-handoff", is_flag=True, help="Capture no handoffs for it.")
def set_(app: App, name: str, session_id: str | None, inactive: bool, no_handoff: bool, dry_run: bool,
         as_json: bool) -> None:  # fmt: skip
    """Set the project of a session (default: the newest one)."""
    from jsonlstore.handoff import ProjectContext, set_project

    store = app.open_store()
    target = _target(store, session_id)
    chosen = ProjectContext(" ".join(name.split())[:60], not inactive, store.now(), not no_handoff)
    if not chosen.name:
        raise UsageError("a project needs a name")
    if not dry_run:
        set_project(store, target, chosen)
    said = f"{'would set' if dry_run else 'set'} the project of session {target} to {chosen.name}"
    answer(as_json, {"session_id": target, **chosen.to_dict(), "dry_run": dry_run}, lambda: say(said))


@with_example("jsonlstore project clear")
@command("clear", "--dry-run", "--json", group=project)
@_ID
def clear_project(app: App, session_id: str | None, dry_run: bool, as_json: bool) -> None:
    """Go back to the project that the evidence shows."""
    from jsonlstore.handoff import set_project

    store = app.open_store()
    target = _target(store, session_id)
    done = not dry_run and set_project(store, target, None)
    answer(as_json, {"session_id": target, "cleared": done, "dry_run": dry_run},
           lambda: say(f"{'would clear' if dry_run else 'cleared'} the project of session {target}"))  # fmt: skip
