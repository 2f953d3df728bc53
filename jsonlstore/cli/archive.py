"""`archive`, `forget`: moving sessions to cold storage, and removing them for good."""

from __future__ import annotations

import sys
from datetime import timedelta

import click

from jsonlstore.cli.app import (
    Duration,
    Session,
    dry_run_option,
    json_option,
    now_option,
    pass_session,
    print_json,
    progress,
    with_example,
)


@with_example("jsonlstore archive --older-than 30d --dry-run")
@click.command("archive")
@click.option("--older-than", type=Duration(), metavar="AGE", help="Ended longer ago than this (default: 30d).")
@now_option
@dry_run_option
@json_option
@pass_session
def archive(session: Session, older_than: timedelta | None, dry_run: bool, as_json: bool) -> None:
    """Move sessions that ended long ago to the archive. They still answer `show`, `chain` and `list`."""
    store = session.open_store()
    age = older_than if older_than is not None else timedelta(days=session.loaded.config.archive_after_days)
    due = store.archivable(age)
    show = progress("archiving")
    for number, session_id in enumerate(() if dry_run else due, 1):
        store.archive(session_id)
        show(number, len(due))
    if as_json:
        print_json({"archived": due, "dry_run": dry_run})
    else:
        click.echo(f"{'would archive' if dry_run else 'archived'} {len(due)} session{'' if len(due) == 1 else 's'}")


@with_example("jsonlstore forget 3fca9cad --dry-run", "jsonlstore forget 3fca9cad --yes")
@click.command("forget")
@click.argument("session_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@dry_run_option
@json_option
@pass_session
def forget(session: Session, session_ids: tuple[str, ...], yes: bool, dry_run: bool, as_json: bool) -> None:
    """Remove sessions everywhere they are kept. A tombstone stays, so that no later scan brings them back."""
    store = session.open_store()
    wanted: dict[str, None] = {}
    for given in session_ids:
        session_id = store.resolve(given)
        wanted.update(dict.fromkeys([session_id, *store.stretches(session_id)]))
    if not dry_run and not yes and sys.stdin.isatty():
        click.confirm(f"forget {', '.join(wanted)} for good?", abort=True, err=True)
    outcomes = [] if dry_run else [store.forget(session_id) for session_id in wanted]
    if as_json:
        print_json(
            {
                "forgotten": list(wanted),
                "dry_run": dry_run,
                "removed": [path for outcome in outcomes for path in outcome.removed],
                "inherited_by": sorted({heir for outcome in outcomes for heir in outcome.inherited_by}),
            }
        )
        return
    for session_id in wanted:
        click.echo(f"{'would forget' if dry_run else 'forgot'} {session_id}")
    for outcome in outcomes:
        if outcome.inherited_by:
            heirs = ", ".join(outcome.inherited_by)
            click.echo(f"pins inherited from {outcome.session_id} are still in: {heirs}", err=True)
