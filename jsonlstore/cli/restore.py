"""`restore`, `continue`, `recover`, and `hook` for those who ask for its help."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.app import App
from jsonlstore.cli.console import answer, command, dry_run_option, print_json, say, with_example
from jsonlstore.cli.formatting import (
    DISABLED,
    ENABLE_HINT,
    NO_SESSIONS_HINT,
    counted,
    heading,
    is_terminal,
    local,
    say_folded,
    say_line,
)
from jsonlstore.core.config import BOUNDARY_NAMES
from jsonlstore.core.errors import JsonlStoreError, SessionNotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jsonlstore.restore import Candidate, LeftOut, PinDecision, RestoredSessionContext, SessionPersistenceManager

_MOST_SHOWN = 30


@with_example(
    "jsonlstore restore --explain --dry-run",
    "jsonlstore restore --channel cli --explain --dry-run",
    'jsonlstore restore --into 7f3a --prompt "radio"',
)
@command("restore", "--dry-run", "--json", "--now")
@click.option("--channel", metavar="C", help="The channel of the starting session (default: the newest conversation).")
@click.option("--agent", "agent_id", metavar="A", help="Its agent.")
@click.option("--session-key", metavar="KEY", help="Its session key.")
@click.option("--prompt", metavar="TEXT", help="Its first prompt.")
@click.option("--cwd", metavar="DIR", help="The directory it starts in.")
@click.option("--into", metavar="ID", help="The session to restore into.")
@click.option("--reason", type=click.Choice(BOUNDARY_NAMES), help="The boundary it starts after.")
@click.option("--again", is_flag=True, help="Even if it was restored into before.")
@click.option("--explain", is_flag=True, help="Show every factor and every reason.")
def restore(app: App, /, into: str | None, explain: bool, dry_run: bool, as_json: bool,
            **known: Any) -> None:  # fmt: skip
    """Show what a session starting now would get (--dry-run), or give it to one (--into)."""
    from jsonlstore.restore import RestoreRequest

    if into is None and not dry_run:
        raise UsageError(
            "restore without --dry-run needs --into ID", hint="add --dry-run to look without changing anything"
        )
    manager = app.open_manager()
    target = _known_or_new(manager, into) if into else ""
    known, place = _placed(manager, target, {key: value for key, value in known.items() if value is not None})
    request = RestoreRequest(target, **known)
    context = manager.preview(request) if dry_run else manager.on_session_start(target, explain=explain, **known)
    document = {**context.to_dict(explain=explain), "conversation": place}
    if explain:
        document["left_out"] = [one.to_dict() for one in context.left_out]
    answer(as_json, document, lambda: _show_restored(context, place if dry_run or explain else None, explain=explain))
    if not as_json and next(manager.store.entries(), None) is None:
        say_folded(f"there are no sessions yet: {NO_SESSIONS_HINT}", err=True)


def _placed(
    manager: SessionPersistenceManager, target: str, known: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is known of the starting session, and its conversation; where none is named it is the newest there is."""
    from jsonlstore.restore import newest_session

    entry = manager.store.entry(target) if target else None
    if entry is None and not ({"channel", "session_key"} & known.keys()):
        entry = newest_session(manager.store, agent_id=known.get("agent_id"))
        if entry is not None and entry.end_time and entry.end_reason in BOUNDARY_NAMES:
            known = {"reason": entry.end_reason, **known}  # what a session that starts now would start after
    names = ("session_key", "agent_id", "channel")
    of_entry = {name: getattr(entry, name) for name in names if entry is not None and getattr(entry, name)}
    known = {**of_entry, **known}
    return known, {name: known.get(name) for name in names}


def _known_or_new(manager: SessionPersistenceManager, session_id: str) -> str:
    """The one session an id or its beginning means; a session nobody has heard of yet is a new one."""
    try:
        return manager.store.resolve(session_id)
    except SessionNotFound:
        from jsonlstore.transcripts import usable_id

        return usable_id(session_id)  # a valid id: one that looks like a secret goes nowhere


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
        raise JsonlStoreError(DISABLED, hint=ENABLE_HINT)
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


_HOOK_EVENTS = (
    "session-start", "turn-end", "session-end", "session-recall", "session-task", "handoff",
    "flush-offered", "compact", "compacted", "checkpoint",
)  # fmt: skip


@with_example('echo \'{"session_id": "s1", "channel": "cli"}\' | jsonlstore hook session-start')
@command("hook", "--now")
@click.argument("event", metavar="EVENT", type=click.Choice(_HOOK_EVENTS))
@dry_run_option
@click.option("--json", is_flag=True, expose_value=False, help="No effect: the answer is always JSON.")
def hook(app: App, event: str, dry_run: bool) -> None:
    """Called by runtimes: a JSON object on stdin, a JSON object on stdout.

    EVENT is session-start, turn-end or session-end; session-recall, session-task or handoff for an agent's tools and
    commands; flush-offered, compact, compacted or checkpoint for the context window.
    """
    from jsonlstore.cli.hook import answer_hook

    lenient = App(app.state_dir, app.config_file, debug=app.debug, lenient=True)  # a bad setting stops no session
    lenient.now = app.now
    answered, after = answer_hook(event, sys.stdin.buffer.read(), lenient, dry_run=dry_run)
    print_json(answered)
    if after is not None:
        after()


def _show_restored(context: RestoredSessionContext, place: Mapping[str, Any] | None, *, explain: bool) -> None:
    """Whose conversation it is, and the preamble as its agent would read it; with `explain` every reason."""
    if place is not None:
        where = ", ".join(
            f"{word} {place[name]}" for word, name in (("channel", "channel"), ("agent", "agent_id")) if place[name]
        )
        say_folded(f"conversation {place['session_key'] or 'without a key'}{f' ({where})' if where else ''}")
    if context.error:
        say(f"warning: {context.error}", err=True, fg="yellow")
    if context.already_restored:
        say_folded("already restored; --again does it once more")
    elif context.preamble is None:
        say_folded("nothing to restore: a session would start without a block (cold start)")
    else:
        say_folded(context.preamble, indent="  ")
    if explain:
        _show_candidates(context.candidates)
        _show_pins(context.pins)
        _show_left_out(context.left_out)


def _show_left_out(left: Sequence[LeftOut]) -> None:
    """Why every other session stays where it is; on a terminal the first of them."""
    if not left:
        return
    say()
    heading("Left out")
    most = _MOST_SHOWN if is_terminal() else len(left)
    for one in left[:most]:
        say_folded(f"  {one.session_id}  {one.reason.replace('_', ' ')}: {one.detail}", indent="      ")
    if len(left) > most:
        say_line(f"  and {len(left) - most} more; --json lists all", dim=True)


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
