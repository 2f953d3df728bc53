"""`archive`, `forget`, `doctor`, `config`, `completion`: looking after the store and its settings."""

from __future__ import annotations

import sys
from dataclasses import fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.app import App
from jsonlstore.cli.console import Duration, answer, command, print_json, progress, say, with_example
from jsonlstore.cli.formatting import counted, say_folded, say_line, table
from jsonlstore.core.config import Config
from jsonlstore.core.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jsonlstore.store import Check, Forgotten, SessionStore


@with_example("jsonlstore archive --older-than 30d --dry-run")
@command("archive", "--now", "--dry-run", "--json")
@click.option("--older-than", type=Duration(), metavar="AGE", help="Ended longer ago than this (default: 30d).")
def archive(app: App, older_than: timedelta | None, dry_run: bool, as_json: bool) -> None:
    """Move sessions that ended long ago to the archive. They still answer `show`, `chain` and `list`."""
    store = app.open_store()
    age = older_than if older_than is not None else timedelta(days=app.loaded.config.archive_after_days)
    due = store.archivable(age) if dry_run else store.archive_older(age, progress=progress("archiving"))
    said = f"{'would archive' if dry_run else 'archived'} {counted(len(due), 'session')}"
    answer(as_json, {"archived": due, "dry_run": dry_run}, lambda: click.echo(said))


@with_example("jsonlstore forget 3fca9cad --dry-run", "jsonlstore forget 3fca9cad --yes")
@command("forget", "--dry-run", "--json")
@click.argument("session_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--only", is_flag=True, help="Only the sessions named, not later stretches of the same OpenClaw session.")
def forget(app: App, session_ids: tuple[str, ...], yes: bool, only: bool, dry_run: bool, as_json: bool) -> None:
    """Remove sessions everywhere they are kept. A tombstone stays, so that no later scan brings them back.

    Since OpenClaw 2026.9 a session keeps its id over resets, and each part between two resets is a session here.
    OpenClaw's id removes all parts; --only removes just the sessions named.
    """
    store = app.open_store()
    wanted: dict[str, None] = {}
    for given in session_ids:
        session_id = store.resolve(given)
        others = [] if only else store.stretches(session_id)
        wanted.update(dict.fromkeys([session_id, *others]))
        if others:
            say_folded(
                f"{session_id} covers {len(others) + 1} stretches of one OpenClaw session: {session_id}, "
                f"{', '.join(others)}; --only forgets just the first",
                err=True,
            )
    if not dry_run and not yes:
        if not sys.stdin.isatty():
            raise UsageError("nothing was forgotten: there is nobody to ask", hint="--yes forgets without asking")
        click.confirm(f"forget {', '.join(wanted)} for good?", abort=True, err=True)
    outcomes = [_forget(app, store, session_id, dry_run=dry_run) for session_id in wanted]
    document = {
        "forgotten": list(wanted),
        "dry_run": dry_run,
        "removed": [file for outcome in outcomes for file in outcome.removed],
        "inherited_by": sorted({heir for outcome in outcomes for heir in outcome.inherited_by}),
    }
    answer(as_json, document, lambda: _say_forgotten(outcomes, dry_run=dry_run))


def _forget(app: App, store: SessionStore, session_id: str, *, dry_run: bool) -> Forgotten:
    from jsonlstore.context import forget_transcripts

    # the transcript first: if that is refused the session is still known, and can be forgotten once more
    transcripts = forget_transcripts(app.state_dir, app.loaded.session, session_id, dry_run=dry_run)
    outcome = store.would_forget(session_id) if dry_run else store.forget(session_id)
    return outcome._replace(removed=(*transcripts, *outcome.removed))


def _say_forgotten(outcomes: Sequence[Forgotten], *, dry_run: bool) -> None:
    for outcome in outcomes:
        say(f"{'would forget' if dry_run else 'forgot'} {outcome.session_id}")
        for file in outcome.removed if dry_run else ():
            say_line(f"  would remove {file}")
        if outcome.inherited_by:
            holders = ", ".join(outcome.inherited_by)
            said = f"words of {outcome.session_id} that later sessions were given stay in the logs of: {holders}"
            say_folded(f"{said}; `jsonlstore forget` removes those sessions, too", err=True)


@with_example("jsonlstore doctor", "jsonlstore doctor --fix", "jsonlstore doctor --fix --quarantine")
@command("doctor", "--json")
@click.option("--fix", is_flag=True, help="Mend what can be mended.")
@click.option("--quarantine", is_flag=True, help="With --fix: also move damaged log lines into quarantine.")
def doctor(app: App, fix: bool, quarantine: bool, as_json: bool) -> int:
    """Check every file that jsonlstore keeps. Changes nothing without --fix. Exit 1 if something is wrong."""
    from jsonlstore.store import Check, Doctor, guarded
    from jsonlstore.transcripts import Catalogue
    from jsonlstore.watch import check_search, skipped_by

    try:
        app.reload()
        checks = [Check("config", True, "valid")]
    except ConfigError as problem:
        checks = [Check("config", False, problem.message, problem.hint)]
        app = App(app.state_dir, app.config_file, lenient=True)  # the store is looked over all the same
    store = app.open_store(live=False)  # an examination must not write to brain.db
    if quarantine and not fix:
        raise UsageError("--quarantine changes the logs: it needs --fix", hint="jsonlstore doctor --fix --quarantine")
    config = app.loaded.config

    def search() -> Check:
        return check_search(store, config, Catalogue.open(app.state_dir, skip=skipped_by(config)), fix=fix)

    def handoffs() -> Check:
        return _check_handoffs(store, fix=fix)

    checks += Doctor(store, progress("reading")).examine(fix=fix, quarantine=quarantine)
    checks.append(guarded(search))
    if config.handoff_enabled:
        checks.append(guarded(handoffs))
    answer(as_json, {"checks": [check.to_dict() for check in checks]}, lambda: _print_checks(checks))
    return 0 if all(check.ok for check in checks) else 1


def _check_handoffs(store: SessionStore, *, fix: bool) -> Check:
    from jsonlstore.bridges.openclaw import HandoffFiles
    from jsonlstore.store import Check

    files = HandoffFiles(store)
    wrong = list(files.problems())
    if fix and wrong:
        files.rebuild()
        left = len(list(files.problems()))
        return Check(
            "handoffs", not left, f"mended: {counted(len(wrong), 'file')}" if not left else f"{left} still wrong"
        )
    if not wrong:
        return Check("handoffs", True, "every file matches the logs")
    path, why = wrong[0]
    detail = f"{counted(len(wrong), 'wrong file')}: {path.name}: {why}"
    return Check("handoffs", False, detail, "`doctor --fix` writes them from the logs")


def _print_checks(checks: list[Check]) -> None:
    for check in checks:
        mark, style = ("ok", {}) if check.ok else ("FAIL", {"fg": "red"})
        say_folded(f"{mark:<4}  {check.name}: {check.detail}", indent="      ", **style)
        if not check.ok and check.fix:
            say_folded(f"      fix: {check.fix}", indent="      ")
    failed = sum(not check.ok for check in checks)
    say("everything is well" if not failed else f"{counted(failed, 'check')} failed", bold=True)


@with_example("jsonlstore config", "jsonlstore config --json | jq .settings.lookback_days")
@command("config", "--json")
def config(app: App, as_json: bool) -> None:
    """Show the settings in force and where each came from."""
    from jsonlstore.core.session_settings import described

    loaded = app.loaded
    settings = {
        item.name: {
            "value": getattr(loaded.config, item.name),
            "origin": loaded.origins[item.name],
            "default": item.default,
            "help": item.metadata["help"],
        }
        for item in fields(Config)
    }
    session = described(loaded.session, loaded.session_block, loaded.session_origin)
    document = {"state_dir": str(app.state_dir), "settings": settings, "session": session}
    if as_json:
        print_json({**document, "unknown": list(loaded.unknown)})
        return
    for part in (settings, session):  # a table each, because the names of the second are much longer
        rows = [[name, _with_origin(each)] for name, each in part.items()]
        table(["setting", "value (origin, unless default)"], rows, flexible=1, whole=True)


def _with_origin(setting: Mapping[str, Any]) -> str:
    origin = setting["origin"]
    return _shown(setting["value"]) + ("" if origin == "default" else f" ({origin})")


def _shown(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(_shown, value)) or "-"
    if isinstance(value, dict):  # a threshold: its words are in the document
        return f"{value['percent']}%"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)


@with_example('eval "$(jsonlstore completion bash)"', "jsonlstore completion fish | source")
@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    from jsonlstore.cli.main import cli

    found = get_completion_class(shell)
    assert found is not None
    script = found(cli, {}, "jsonlstore", "_JSONLSTORE_COMPLETE").source_vars()
    click.echo(found.source_template % script)
