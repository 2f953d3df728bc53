"""`restore`, `continue`, `recover`, and `hook` for those who ask for its help."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.app import App
from jsonlstore.cli.console import answer, command, dry_run_option, print_json, say, with_example
from jsonlstore.cli.formatting import counted, heading, local, say_folded, say_line
from jsonlstore.core.errors import JsonlStoreError, SessionNotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.restore import Candidate, PinDecision, RestoredSessionContext, SessionPersistenceManager


@with_example("jsonlstore restore --channel cli --explain --dry-run", 'jsonlstore restore --into 7f3a --prompt "radio"')
@command("restore", "--dry-run", "--json", "--now")
@click.option("--channel", default="unknown", metavar="C", help="The channel of the starting session.")
@click.option("--agent", "agent_id", metavar="A", help="Its agent.")
@click.option("--session-key", metavar="KEY", help="Its session key.")
@click.option("--prompt", metavar="TEXT", help="Its first prompt.")
@click.option("--cwd", metavar="DIR", help="The directory it starts in.")
@click.option("--into", metavar="ID", help="The session to restore into.")
@click.option("--again", is_flag=True, help="Even if it was restored into before.")
@click.option("--explain", is_flag=True, help="Show every factor and every reason.")
def restore(app: App, /, into: str | None, explain: bool, dry_run: bool, as_json: bool,
            **known: Any) -> None:  # fmt: skip
    """Show what a session starting now would get, or give it to one."""
    from jsonlstore.restore import RestoreRequest

    if into is None and not dry_run:
        raise UsageError(
            "restore without --dry-run needs --into ID", hint="add --dry-run to look without changing anything"
        )
    manager = app.open_manager()
    target = _known_or_new(manager, into) if into else ""
    request = RestoreRequest(target, **known)
    context = manager.preview(request) if dry_run else manager.on_session_start(target, explain=explain, **known)
    answer(as_json, context.to_dict(explain=explain), lambda: _show_restored(context, explain=explain))


def _known_or_new(manager: SessionPersistenceManager, session_id: str) -> str:
    """The one session an id or its beginning means; a session nobody has heard of yet is a new one."""
    try:
        return manager.store.resolve(session_id)
    except SessionNotFound:
        return session_id


@with_example("jsonlstore continue a1b2c3d4 --into 7f3a --agent main")
@command("continue", "--dry-run", "--json", "--now")
@click.argument("session_id", metavar="ID")
@click.option("--into", metavar="SESSION", help="The session that continues it.")
@click.option("--agent", metavar="NAME", help="Who asks; kept in the audit trail.")
@click.option("--across", is_flag=True, help="Reach into another conversation (operators only; audited).")
def continue_(app: App, session_id: str, into: str | None, agent: str | None, across: bool, dry_run: bool,
              as_json: bool) -> None:  # fmt: skip
    """Bring one session back, whatever its age and score."""
    from jsonlstore.restore import reply

    manager = app.open_manager()
    if not manager.config.enabled:
        raise JsonlStoreError("session persistence is disabled", hint="set `enabled: true` to continue a session")
    target = manager.store.resolve(session_id)
    target_into = manager.store.resolve(into) if into else None
    context = manager.force_inherit_session(target, into=target_into, agent=agent, across=across, dry_run=dry_run)
    said = reply(context, manager.store.get(target))
    answer(as_json, {**context.to_dict(), "reply": said}, lambda: say(said))


@with_example("jsonlstore recover --dry-run")
@command("recover", "--dry-run", "--json", "--now")
def recover_crashed(app: App, dry_run: bool, as_json: bool) -> None:
    """Find and close sessions that died without an end."""
    found = app.open_manager().detect_and_recover_crashed(dry_run=dry_run)
    if as_json:
        listed = [{"session_id": one.session_id, "end_time": one.end_time, "reason": one.reason} for one in found]
        print_json({"recovered": listed, "dry_run": dry_run})
        return
    for one in found:
        say(f"{one.session_id}  ended {local(one.end_time)}  ({one.reason})")
    say(f"{counted(len(found), 'crashed session')} {'found' if dry_run else 'recovered'}")


@with_example('echo \'{"session_id": "s1", "channel": "cli"}\' | jsonlstore hook session-start')
@command("hook", "--now")
@click.argument(
    "event",
    type=click.Choice(["session-start", "turn-end", "session-end", "session-recall", "session-task", "handoff"]),
)
@dry_run_option
@click.option("--json", is_flag=True, expose_value=False, help="Accepted; the answer always is JSON.")
def hook(app: App, event: str, dry_run: bool) -> None:
    """Called by runtimes: a JSON object on stdin, a JSON object on stdout."""
    from jsonlstore.cli.hook import answer_hook

    lenient = App(app.state_dir, app.config_file, debug=app.debug, lenient=True)  # a bad setting stops no session
    lenient.now = app.now
    answered, after = answer_hook(event, sys.stdin.buffer.read(), lenient, dry_run=dry_run)
    print_json(answered)
    if after is not None:
        after()


def _show_restored(context: RestoredSessionContext, *, explain: bool) -> None:
    """The preamble as the agent would read it; with `explain` every factor and every reason."""
    if context.error:
        say(f"warning: {context.error}", err=True, fg="yellow")
    if context.already_restored:
        say_folded("already restored; --again does it once more")
    elif context.preamble is None:
        say_folded("nothing to restore (cold start)")
    else:
        say_folded(context.preamble, indent="  ")
    if explain:
        _show_candidates(context.candidates)
        _show_pins(context.pins)


def _show_candidates(candidates: Sequence[Candidate]) -> None:
    from jsonlstore.restore import PENDING_WEIGHT, RECENCY_WEIGHT, TOPIC_WEIGHT

    say()
    if not candidates:
        heading("No candidates.")
        return
    heading("Candidates")
    say_folded(f"  score = {RECENCY_WEIGHT} recency + {TOPIC_WEIGHT} topics + {PENDING_WEIGHT} pending", dim=True)
    for one in candidates:
        style = {"fg": "green"} if one.qualified else {}
        verdict = "yes" if one.qualified else "no"
        say_line(f"  {verdict:<3} {one.score:.3f}  {one.session_id}  {_age(one.hours_elapsed)}", **style)
        factors = f"recency {one.recency:.3f}, topics {one.topic_overlap:.3f}, pending {one.pending:.2f}"
        say_folded(f"      {factors}: {one.reason}", indent="      ")


def _age(hours: float) -> str:
    if hours < 0:
        return "in the future"  # clocks differ, or `--now` is before it
    if hours < 48:
        return f"{hours:.1f}h ago"
    return f"{hours / 24:.1f}d ago"


def _show_pins(pins: Sequence[PinDecision]) -> None:
    if not pins:
        return
    say()
    heading("Pins")
    for pin in pins:
        say_line(f"  {pin.decision}: {pin.label} (from {pin.origin})")
        say_folded(f"      {pin.reason}", indent="      ")
