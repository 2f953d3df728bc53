"""`restore`, `continue`, `recover`, and `hook` for those who ask for its help."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.app import (
    Session,
    dry_run_option,
    json_option,
    now_option,
    pass_session,
    print_json,
    say,
    with_example,
)
from jsonlstore.cli.brain import brain_memories
from jsonlstore.core.errors import JsonlStoreError, SessionNotFound, UsageError

if TYPE_CHECKING:
    from jsonlstore.restore.manager import SessionPersistenceManager


def _manager(session: Session) -> SessionPersistenceManager:
    from dataclasses import replace

    from jsonlstore.restore.manager import SessionPersistenceManager

    config = session.loaded.config
    if session.debug:
        config = replace(config, debug=True)
    store = session.open_store()
    return SessionPersistenceManager(store, config, memories=brain_memories(store, config), by="operator")


@with_example("jsonlstore restore --channel cli --explain --dry-run", 'jsonlstore restore --into 7f3a --prompt "radio"')
@click.command("restore")
@click.option("--channel", default="unknown", metavar="C", help="The channel of the starting session.")
@click.option("--agent", "agent_id", metavar="A", help="Its agent.")
@click.option("--session-key", metavar="KEY", help="Its session key.")
@click.option("--prompt", metavar="TEXT", help="Its first prompt.")
@click.option("--cwd", metavar="DIR", help="The directory it starts in.")
@click.option("--into", metavar="ID", help="The session to restore into.")
@click.option("--again", is_flag=True, help="Even if it was restored into before.")
@click.option("--explain", is_flag=True, help="Show every factor and every reason.")
@dry_run_option
@json_option
@now_option
@pass_session
def restore(session: Session, /, into: str | None, explain: bool, dry_run: bool, as_json: bool,
            **known: Any) -> None:  # fmt: skip
    """Show what a session starting now would get, or give it to one."""
    from jsonlstore.restore.result import RestoreRequest

    if into is None and not dry_run:
        raise UsageError(
            "restore without --dry-run needs --into ID", hint="add --dry-run to look without changing anything"
        )
    manager = _manager(session)
    target = _known_or_new(manager, into) if into else ""
    request = RestoreRequest(target, **known)
    context = manager.preview(request) if dry_run else manager.on_session_start(target, explain=explain, **known)
    if as_json:
        print_json(context.to_dict(explain=explain))
    else:
        from jsonlstore.cli.explain_restore import show_restored

        show_restored(context, explain=explain)


def _known_or_new(manager: SessionPersistenceManager, session_id: str) -> str:
    """The one session an id or its beginning means; a session nobody has heard of yet is a new one."""
    try:
        return manager.store.resolve(session_id)
    except SessionNotFound:
        return session_id


@with_example("jsonlstore continue a1b2c3d4 --into 7f3a --agent main")
@click.command("continue")
@click.argument("session_id", metavar="ID")
@click.option("--into", metavar="SESSION", help="The session that continues it.")
@click.option("--agent", metavar="NAME", help="Who asks; kept in the audit trail.")
@click.option("--across", is_flag=True, help="Reach into another conversation (operators only; audited).")
@dry_run_option
@json_option
@now_option
@pass_session
def continue_(session: Session, session_id: str, into: str | None, agent: str | None, across: bool, dry_run: bool,
              as_json: bool) -> None:  # fmt: skip
    """Bring one session back, whatever its age and score."""
    from jsonlstore.restore.override import reply

    manager = _manager(session)
    if not manager.config.enabled:
        raise JsonlStoreError("session persistence is disabled", hint="set `enabled: true` to continue a session")
    target = manager.store.resolve(session_id)
    target_into = manager.store.resolve(into) if into else None
    context = manager.force_inherit_session(target, into=target_into, agent=agent, across=across, dry_run=dry_run)
    said = reply(context, manager.store.get(target))
    if as_json:
        print_json({**context.to_dict(), "reply": said})
    else:
        say(said)


@with_example("jsonlstore recover --dry-run")
@click.command("recover")
@dry_run_option
@json_option
@now_option
@pass_session
def recover(session: Session, dry_run: bool, as_json: bool) -> None:
    """Find and close sessions that died without an end."""
    found = _manager(session).detect_and_recover_crashed(dry_run=dry_run)
    if as_json:
        listed = [{"session_id": one.session_id, "end_time": one.end_time, "reason": one.reason} for one in found]
        print_json({"recovered": listed, "dry_run": dry_run})
        return
    for one in found:
        say(f"{one.session_id}  ended {one.end_time}  ({one.reason})")
    say(f"{len(found)} crashed session(s) {'found' if dry_run else 'recovered'}")


@with_example('echo \'{"session_id": "s1", "channel": "cli"}\' | jsonlstore hook session-start')
@click.command("hook")
@click.argument("event", type=click.Choice(["session-start", "turn-end", "session-end"]))
@dry_run_option
@click.option("--json", is_flag=True, expose_value=False, help="Accepted; the answer always is JSON.")
@now_option
@pass_session
def hook(session: Session, event: str, dry_run: bool) -> None:
    """Called by runtimes: a JSON object on stdin, a JSON object on stdout."""
    from jsonlstore.cli.hook import answer_hook

    options = {"state-dir": str(session.state_dir)}
    options |= {"config": session.config_file} if session.config_file else {}
    options |= {"now": session.now.isoformat()} if session.now else {}
    options |= {"dry-run": "1"} if dry_run else {}
    answer, after = answer_hook(event, sys.stdin.buffer.read(), options)
    print_json(answer)
    if after is not None:
        after()
